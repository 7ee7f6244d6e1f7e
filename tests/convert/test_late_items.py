"""any(), all() and loops over what makes its items late, visibly or without an end: a tensor says when it is enough."""

from __future__ import annotations

import pytest

import vitrify as paddle
from vitrify.core.errors import UnsupportedError

from ..end_to_end.differential import compare


def prints(x):
    def values():
        for v in x:
            print(v)
            yield v > 1

    return any(values())


def test_items_with_effects_are_made_as_long_as_they_are_wanted():
    compare(prints, ([1.0, 2.0, 3.0],), ([2.0, 1.0, 3.0],), ([0.0, 1.0, 0.5],))


def without_end(x):
    def same():
        while True:
            yield x

    for v in same():
        x = x + v * v + 1
        if x.sum() > 30:
            break
    return x


def test_a_generator_without_end_is_left_by_a_tensor():
    compare(without_end, ([1.0, 2.0, 3.0],), ([10.0, 20.0, 3.0],))


def watched(x):
    ended = []

    def same():
        try:
            while True:
                yield x
        finally:
            ended.append(True)

    for v in same():
        x = x + v * v + 1
        if x.sum() > 30:
            break
    return x


def test_one_that_stays_pythons_is_not_traced_for_ever():
    x = paddle.to_tensor([1.0, 2.0, 3.0])
    with pytest.raises(UnsupportedError, match="items are no end of it"):
        paddle.jit.to_static(watched, full_graph=True)(x)
    compare(watched, ([1.0, 2.0, 3.0],), full_graph=False)


class Rising:
    def __init__(self, x):
        self.x = x

    def __getitem__(self, i):
        if self.x.sum() * i > 30:
            raise IndexError
        return self.x * i


def summed(x):
    return sum(Rising(x))


def test_an_end_that_a_tensor_finds_is_refused_where_no_loop_looks_for_it():
    with pytest.raises(UnsupportedError, match="a tensor decides whether IndexError is raised"):
        paddle.jit.to_static(summed, full_graph=True)(paddle.to_tensor([1.0, 2.0, 3.0]))
    compare(summed, ([1.0, 2.0, 3.0],), full_graph=False)
