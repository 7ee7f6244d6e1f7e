"""Objects that turns of a loop make and leave in a variable of an inner function, in a tuple, or behind a generator."""

from dataclasses import dataclass
from typing import Any

import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare
from vitrify.convert.values.foreign import ForkedError

ROWS = [([0.1, 0.7, -0.2],), ([-1.0, -2.0, -3.0],), ([0.2, 0.3, 0.9],), ([2.0, 3.0, 4.0],)]


@dataclass
class State:
    h: Any
    n: int = 0


def countdown(n):
    while n:
        yield n
        n -= 1


def returned_from_a_loop_over_a_generator(x):
    for n in countdown(3):
        if x[n - 1] > 0.5:
            return State(x * 1, n)
    return State(x * 2, -2)


def one_of_them_or_the_class(x):
    for n in countdown(3):
        if x.max() > 0.5:
            return State(n)
    return State


def returned_in_a_tuple(x, flag=True):
    turn = 0
    if x.sum() > -5 and flag:
        while turn < 4 and flag:
            turn += 1
            if x.sum() > 0:
                return x, State(x * 1, int(flag)), x * 2
            x = x + 0.1
    return x * 1, State(x * 2, -2), x


def kept_by_an_inner_function(x):
    best, first = State(x, 0), State(x * 3, 7)

    def look(v, n):
        nonlocal best
        if v.sum() > best.h.sum():
            best = State(v, n)

    n = 0
    while n < 3 and x.sum() < 4:
        n += 1
        x = x + 0.5
        look(x if n % 2 else -x, n)
    best.n = best.n + 1
    return best, first, x


@pytest.mark.parametrize(
    "function",
    [
        returned_from_a_loop_over_a_generator,
        one_of_them_or_the_class,
        returned_in_a_tuple,
        kept_by_an_inner_function,
    ],
)
def test_object(function):
    compare(function, *ROWS)


def one_from_before(x):
    best, first = State(x, 0), State(x * 3, 7)
    n = 0
    while n < 3 and x.sum() < 4:
        n += 1
        x = x + 0.5
        if x.sum() > 3:
            best = State(x, n)
        elif x[0] < 1:
            best = first
    best.n = best.n + 1
    return best, first, x


def one_from_before_by_an_inner_function(x):
    best, first = State(x, 0), State(x * 3, 7)

    def look(v, n):
        nonlocal best
        if v.sum() > 3:
            best = State(v, n)
        elif v[0] < 1:
            best = first

    n = 0
    while n < 3 and x.sum() < 4:
        n += 1
        x = x + 0.5
        look(x, n)
    best.n = best.n + 1
    return best, first, x


def given_back(x):
    best, first = State(x, 0), State(x * 3, 7)
    n = 0
    while n < 3 and x.sum() < 4:
        n += 1
        x = x + 0.5
        best = State(x, n) if x.sum() > 3 else first
    return best, first


@pytest.mark.parametrize("function", [one_from_before, one_from_before_by_an_inner_function, given_back])
def test_object_from_before_that_turns_take_up_is_not_taken_for_a_new_one(function):
    with pytest.raises(ForkedError):
        paddle.jit.to_static(function, full_graph=True)(paddle.to_tensor(ROWS[2][0]))
    compare(function, *ROWS, full_graph=False)
