"""Sorting by a `<` of the user's own asks what Python's sort asks, as far as anybody notices."""

import functools

import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare
from vitrify.core.errors import UnsupportedError

CALLS = ([1.0, -2.0, 3.0, 0.5, -1.0],), ([-1.0, -2.0, 0.5, 7.0, 3.0],)


class Logged:
    def __init__(self, value, log):
        self.value = value
        self.log = log

    def __lt__(self, other):
        self.log.append((self.value, other.value))
        return self.value < other.value


def of_known_values(x):
    log = []
    found = sorted([Logged(i, log) for i in [3, 1, 2, 5, 4]], reverse=True)
    found.sort()
    return [item.value for item in found], log, x


def by_a_function(x):
    asked = []

    def against(a, b):
        asked.append((a, b))
        return a - b

    return sorted([3, 1, 2, 5, 4], key=functools.cmp_to_key(against)), asked, x


def of_tensors_by_a_function(x):
    def against(a, b):
        return -1 if a < b else 1 if a > b else 0

    return sorted(x, key=functools.cmp_to_key(against))


def of_tensors(x):
    log = []
    found = sorted([Logged(v, log) for v in x])
    return [item.value for item in found], len(log)


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize("function", [of_known_values, by_a_function, of_tensors_by_a_function])
def test_it_is_sorted_as_python_sorts(function, full_graph):
    compare(function, *CALLS, full_graph=full_graph)


def test_what_would_be_asked_more_often_is_left_to_python():
    compare(of_tensors, *CALLS, full_graph=False)
    with pytest.raises(UnsupportedError, match="whose own `<` changes or prints something"):
        paddle.jit.to_static(of_tensors, full_graph=True)(paddle.to_tensor(CALLS[0][0]))
