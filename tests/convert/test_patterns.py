"""Patterns of `match` by themselves: what is tried, in which order, what is captured."""

from __future__ import annotations

import pytest

import vitrify as paddle
from vitrify.convert.calls.patterns import capture, either, instance, mapping, match, same, sequence, star


class Point:
    __match_args__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y


@pytest.mark.parametrize(
    ("subject", "pattern", "expected"),
    [
        (1, 1, (True, ())),
        (1.0, same(None), (False, ())),
        ([1, 2, 3], sequence(capture("b"), star("a")), (True, ([2, 3], 1))),
        ([1, 2, 3], sequence(star(), capture("z")), (True, (3,))),
        ("ab", sequence(capture("a"), capture("b")), (False, ())),
        ({"a": 1, "b": 2}, mapping(("a", 1), star("rest")), (True, ({"b": 2},))),
        ({"a": 1}, mapping(("b", capture("x"))), (False, ())),
        (Point(1, 2), instance(Point, 1, y=capture("y")), (True, (2,))),
        (5, instance(int, capture("n")), (True, (5,))),
        ([2, 1], either(sequence(1, capture("n")), sequence(capture("n"), 1)), (True, (2,))),
    ],
)
def test_match(subject, pattern, expected):
    found = match(subject, pattern)
    assert (found.matched, found.captures) == expected


def test_a_class_pattern_needs_a_class():
    with pytest.raises(TypeError, match="must be a class"):
        match(1, instance(3))


def test_items_of_what_python_makes_of_a_tensor():
    def first(x):
        match x.tolist():
            case [a, *rest] if a > 0:
                return rest
            case _:
                return None

    static = paddle.jit.to_static(first)
    for _ in range(3):
        assert static(paddle.to_tensor([1.0, 2.0])) == [2.0]
        assert static(paddle.to_tensor([-1.0, 2.0])) is None
