"""What a method changed before it raised, where a tensor decides that, stays changed for whoever catches it."""

import pytest

import vitrify as paddle


class Rows:
    def __init__(self, value):
        self.value = value
        self.asked = 0
        self.log = []

    def size(self):
        self.asked += 1
        self.log.append(self.value * 2)
        if self.value.sum() > 0:
            raise ValueError("no length")
        self.asked += 1
        if self.value.max() > 0.4:
            raise KeyError("odd")
        return 2

    __len__ = size

    def __add__(self, other):
        return self.size() + other

    def __getitem__(self, index):
        return self.size() + index

    @property
    def prop(self):
        return self.size()

    @property
    def told(self):
        print("asked")
        return self.size()


def by_len(rows):
    try:
        return len(rows), rows.asked, rows.log
    except ValueError:
        return 7, rows.asked, rows.log
    except KeyError:
        return 8, rows.asked, rows.log


def by_operator(rows):
    try:
        found = rows + 1
    except (ValueError, KeyError):
        found = 7
    return found, rows.asked, rows.log


def by_item(rows):
    try:
        found = rows[1]
    except (ValueError, KeyError):
        found = 7
    return found, rows.asked, rows.log


def by_property(rows):
    try:
        found = rows.prop
    except ValueError:
        found = 7
    except KeyError:
        found = 8
    return found, rows.asked, rows.log


def by_property_that_prints(rows):
    try:
        found = rows.told
    except (ValueError, KeyError):
        found = 7
    return found, rows.asked, rows.log


VALUES = ([1.0, 2.0], [-1.0, 0.5], [-1.0, 0.25])


@pytest.mark.parametrize("function", [by_len, by_operator, by_item, by_property])
@pytest.mark.parametrize("is_given", [True, False])
def test_it_stays_changed(function, is_given):
    def own(x):
        return function(Rows(x))

    static = paddle.jit.to_static(function if is_given else own, full_graph=True)
    for values in VALUES * 2:
        x = paddle.to_tensor(values)
        assert repr(static(Rows(x) if is_given else x)) == repr(function(Rows(x)))


def test_what_is_printed_is_printed_once(capsys):
    static = paddle.jit.to_static(by_property_that_prints, full_graph=False)
    for values in VALUES * 3:
        x = paddle.to_tensor(values)
        found, wanted = [(repr(f(Rows(x))), capsys.readouterr().out) for f in (static, by_property_that_prints)]
        assert found == wanted
