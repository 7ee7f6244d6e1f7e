"""Objects and dicts that a list of unknown length may hold twice: it holds them by value, so nobody gets them apart."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare
from vitrify.core.errors import UnsupportedError

CALLS = [([1.0, 2.0, 3.0],), ([-1.0, -2.0, 0.5],), ([0.25, -0.5, 4.0],)]


@dataclass
class Held:
    value: object


def turns(x):
    i = paddle.zeros([])
    while i < x.sum():
        yield i
        i = i + 1


def put_twice(x):
    found = []
    for i in turns(x):
        held = Held(i)
        found.append(held)
        found.append(held)
    return found


def put_in_each_turn(x):
    found, held = [], Held(x)
    for _ in turns(x):
        found.append(held)
    return found


def put_once_more_on_a_path(x):
    held = {"value": x}
    found = [held]
    if x.sum() > 0:
        found.append(held)
    return found


def put_as_a_pair(x):
    found = []
    for v in x:
        held = {"value": v}
        if v > 0:
            found.append((held, held))
    return found


def exchanged_in_some_turns(x):
    found, held = [], Held(x)
    for i in turns(x):
        if i > 1:
            held = Held(held.value * 2)
        found.append(held)
    return found


def exchanged_in_a_tuple(x):
    found, pair, i = [], (Held(x), 0), 0
    while i < x.sum():
        if i > 1:
            pair = (Held(pair[0].value * 2), 1)
        found.append(pair[0])
        i += 1
    return found


def exchanged_by_an_inner_function(x):
    found, held, i = [], Held(x), 0

    def put(i):
        nonlocal held
        if x[0] > i:
            held = Held(held.value * 2)
        found.append(held)

    while i < x.sum():
        put(i)
        i += 1
    return found


TWICE = [
    put_twice, put_in_each_turn, put_once_more_on_a_path, put_as_a_pair, exchanged_in_some_turns, exchanged_in_a_tuple,
    exchanged_by_an_inner_function,
]  # fmt: skip


@pytest.mark.parametrize("function", TWICE)
def test_one_that_is_twice_in_a_list_is_not_made_two(function):
    compare(function, *CALLS, full_graph=False)
    with pytest.raises(
        UnsupportedError, match=r"a dict or object, or have one twice|one branch gives a Held and the other a Held"
    ):
        paddle.jit.to_static(function, full_graph=True)(paddle.to_tensor(CALLS[0][0]))


def exchanged_in_each_turn(x):
    found, held = [], Held(x)
    for _ in turns(x):
        found.append(held)
        held = Held(held.value * 2)
    return found


def new_ones(x):
    found = []
    for i in turns(x):
        found.append(Held(i))
        found.append(Held({"value": i * 2}))
    return found[::2]


def chosen_ones(x):
    found = []
    for v in x:
        if v > -1.5:
            found.append({"value": v})
    return [held for held in found if held["value"] > 0.3]


def summed_up(x):
    found, held = [], Held(x)
    for _ in turns(x):
        found.append(held)
    return sum([held.value for held in found], x)


@pytest.mark.parametrize("function", [exchanged_in_each_turn, new_ones, chosen_ones, summed_up])
def test_what_is_there_once_leaves(function):
    compare(function, *CALLS)
