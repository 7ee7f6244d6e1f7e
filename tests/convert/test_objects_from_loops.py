"""Objects that turns of a loop make and leave in a variable of an inner function, in a tuple, or behind a generator."""

from dataclasses import dataclass
from typing import Any

import pytest

import vitrify as paddle
from tests.end_to_end.differential import Fresh, compare

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


def dict_from_before(x):
    best, first = {"h": x, "n": 0}, {"h": x * 3, "n": 7}
    while x.sum() < 4:
        x = x + 0.5
        best = {"h": x, "n": 1} if x.sum() > 3 else first
    return best, first


def new_in_each_turn(x):
    first = State(x * 3, 7)
    best, n = first, 0
    while n < 3 and x.sum() < 4:
        n += 1
        x = x + 0.5
        best = State(x, n)
    best.n += 1
    return best, first


def best_of_many(x):
    states = [State(x * i, i) for i in range(4)]
    best = states[0]
    while best.h.sum() < 4 and best.n < 5:
        for state in states:
            if state.h.sum() > best.h.sum():
                best = state
        best.h = best.h + 1
        best.n += 1
    return best, states


FROM_BEFORE = [
    one_from_before,
    one_from_before_by_an_inner_function,
    given_back,
    dict_from_before,
    new_in_each_turn,
    best_of_many,
]


@pytest.mark.parametrize("function", FROM_BEFORE)
def test_object_from_before_that_turns_take_up_is_not_taken_for_a_new_one(function):
    compare(function, *ROWS)
    compare(function, *ROWS, full_graph=False)


def returned_if(x, state):
    if x.all():
        return state
    return None


def this_or_a_new_one(x, state):
    made = State(x, 1)
    kept, chosen = [made], made
    if x.all():
        chosen = state
    chosen.n += 2
    return chosen, kept, state


def out_of_a_loop(x, state):
    for i in range(3):
        if x.sum() > i:
            return state
        x = x + 1
    return State(x, 1), state


def out_of_a_tensor_loop(x, state):
    for v in x:
        if v < 0:
            state.n += 1
            return state, x
        if v == 0:
            return State(v, 5), x
    return state, x * 2


@pytest.mark.parametrize("function", [returned_if, this_or_a_new_one, out_of_a_loop, out_of_a_tensor_loop])
def test_object_that_the_caller_gives(function):
    given = Fresh(lambda: State(paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False), 3))
    compare(function, *[(row, given) for (row,) in ROWS], ([1.0, 0.0, 0.0], given))
