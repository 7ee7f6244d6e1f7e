"""Special methods that a class gets, exchanges or loses between two calls: programs ask the class that it is then."""

from __future__ import annotations

import pytest

import vitrify as paddle


def by_truth(value, x):
    return x * 2 if value else x


def by_length(value, x):
    return x * (len(value) + 1)


def by_items(value, x):
    return paddle.stack([x * item for item in value])


def by_item(value, x):
    return x * value[0]


def by_membership(value, x):
    return x * 2 if 3 in value else x


def by_equality(value, x):
    return x * 2 if value == 3 else x


def by_difference(value, x):
    return x * 2 if value != 3 else x


def by_order(value, x):
    return x * 2 if value < 1 else x


def by_operator(value, x):
    return x * (value + 1)


def by_swapped_operator(value, x):
    return x * (1 + value)


def by_conversion(value, x):
    return x * float(value)


def by_text(value, x):
    return x * len(f"{value}"[:3] + repr(value)[:4])


CASES = [
    (object, by_truth, "__bool__", lambda self: False),
    (object, by_truth, "__len__", lambda self: 0),
    (list, by_length, "__len__", lambda self: 5),
    (list, by_items, "__iter__", lambda self: iter([7])),
    (list, by_item, "__getitem__", lambda self, index: 9),
    (list, by_membership, "__contains__", lambda self, item: True),
    (object, by_equality, "__eq__", lambda self, other: True),
    (object, by_difference, "__ne__", lambda self, other: False),
    (int, by_order, "__lt__", lambda self, other: False),
    (int, by_operator, "__add__", lambda self, other: 7),
    (int, by_swapped_operator, "__radd__", lambda self, other: 7),
    (int, by_conversion, "__float__", lambda self: 1.5),
    (object, by_text, "__str__", lambda self: "a"),
    (object, by_text, "__repr__", lambda self: "a"),
    (object, by_text, "__format__", lambda self, spec: "a"),
]


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize(("base", "function", "name", "method"), CASES, ids=[f"{c[1].__name__}{c[2]}" for c in CASES])
def test_programs_ask_a_class_that_has_changed(base, function, name, method, full_graph):
    class Value(base):
        pass

    value = Value([2]) if base is list else Value()
    static = paddle.jit.to_static(lambda x: function(value, x), full_graph=full_graph)
    x = paddle.to_tensor([1.0, 2.0])

    def compared():
        found = [static(x).tolist() for _ in range(3)]
        assert found == [function(value, x).tolist()] * 3
        return found[0]

    before = compared()
    setattr(Value, name, method)
    assert compared() != before
    delattr(Value, name)
    assert compared() == before
