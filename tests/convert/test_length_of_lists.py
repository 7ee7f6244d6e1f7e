"""`list(v)` and `tuple(v)` ask an object of the user's for its length, which may raise."""

import pytest

import vitrify as paddle


class Rows:
    def __init__(self, value):
        self.value = value
        self.asked = 0

    def __len__(self):
        self.asked += 1
        if self.value.sum() > 0:
            raise ValueError("no length")
        return 2

    def __iter__(self):
        yield self.value
        yield self.value * 2


def as_list(x):
    rows = Rows(x)
    try:
        return list(rows), rows.asked
    except ValueError:
        return [x * 3], rows.asked


def as_tuple(x):
    rows = Rows(x)
    try:
        return tuple(rows)[1]
    except ValueError:
        return x * 3


@pytest.mark.parametrize("function", [as_list, as_tuple])
def test_the_length_is_asked_for(function):
    static = paddle.jit.to_static(function, full_graph=True)
    for values in ([1.0, 2.0], [-1.0, 0.5]) * 2:
        x = paddle.to_tensor(values)
        assert repr(static(x)) == repr(function(x))
