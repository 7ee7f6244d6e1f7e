"""A static function is static: on a repeated call with the same signature no Python of the user's runs."""

from __future__ import annotations

import sys
from collections import Counter, deque
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

import vitrify as paddle

from .models import Average, Scale, Stack

HERE = __file__
MODELS = sys.modules[Scale.__module__].__file__


@dataclass
class State:
    """What a recurrent function hands on."""

    h: object
    step: int = 0

    def __post_init__(self):
        assert self.step >= 0


def branches(x):
    if x.sum() > 0:
        return x * 2
    return -x


def loops(x):
    total = x
    while total.sum() < 10:
        total = total + 1
    for row in x:
        total = total + row
    return total


def calls(x):
    twice = lambda part: part * 2  # noqa: E731 - a lambda is meant
    return sum(map(twice, [helper(x), x]))


def helper(x):
    return paddle.nn.functional.relu(x)


def returns_objects(x):
    return State(x * 2, 3), {"a": [x]}


def changes_objects(x, out):
    out.append(x * 2)
    return x


@dataclass
class Sum:
    """A running sum, with defaults that its class holds."""

    total: object = 0
    count: int = 0


def changes_what_it_made(x):
    state, space = Sum(), SimpleNamespace(steps=1, more=2)
    for v in x:
        state.total += v
        state.count += 1
        space.steps += space.more
    return state.total * state.count * space.steps


def adds_objects(x):
    a, b = Added(x), Added(x * 2)
    if x.sum() > 0:
        b = Added(x * 3)
    return sum([a, b]).value


class Added:
    """A value that `sum` adds."""

    def __init__(self, value):
        self.value = value

    def __radd__(self, other):
        return Added(self.value + (other.value if isinstance(other, Added) else other))

    __add__ = __radd__


TURNS = 0


def counts_in_a_global(x):
    global TURNS  # noqa: PLW0603 - that is the question
    TURNS += 1
    return x * TURNS


def counts_in_a_closure(x):
    return counter(x)


def made_counter():
    turns = 0

    def count(x):
        nonlocal turns
        turns += 1
        return x * turns

    return count


counter = made_counter()


COUNTS = {"calls": 0, "of": {"sum": [0.5]}}


def counts_in_a_dict(x):
    COUNTS["calls"] += 1
    COUNTS["of"]["sum"][0] += float(x.sum())
    return x * COUNTS["calls"] / max(COUNTS["of"]["sum"])


OF_CLASSES = Counter(), deque([0, 1])


def counts_in_containers_of_classes(x):
    calls, latest = OF_CLASSES
    calls["calls"] += 1
    latest[0], latest[1] = latest[1], latest[0] + 2
    return x * calls["calls"] + latest[0]


class Gained:
    """A number behind a property, which a tensor decides."""

    amount = 1.0

    @property
    def gain(self):
        return self.amount * 1

    @gain.setter
    def gain(self, amount):
        self.amount = amount


GAINED = Gained()


def sets_a_property(x):
    if x.sum() > 100:
        GAINED.gain = 2.0
    else:
        GAINED.gain = GAINED.gain + 1
    return x * GAINED.gain


class Box:
    """Keeps the last value."""

    def __init__(self):
        self.last = None
        self.count = 0


BOX = Box()


def keeps(x):
    BOX.last = x * 2
    BOX.count += 1
    return x


def user_calls(f, *args):
    """Names of the Python functions of this file and of the models that a call runs."""
    seen = []

    def watch(frame, event, arg):
        if event == "call" and frame.f_code.co_filename in (HERE, MODELS):
            seen.append(frame.f_code.co_name)

    sys.setprofile(watch)
    try:
        f(*args)
    finally:
        sys.setprofile(None)
    return seen


@pytest.mark.parametrize(
    "f",
    [
        branches,
        loops,
        calls,
        returns_objects,
        keeps,
        changes_what_it_made,
        adds_objects,
        counts_in_a_global,
        counts_in_a_closure,
        counts_in_a_dict,
        counts_in_containers_of_classes,
        sets_a_property,
    ],
    ids=lambda f: f.__name__,
)
def test_functions(f):
    static = paddle.jit.to_static(f)
    x = paddle.ones([2, 3])
    for _ in range(4):  # a counter is an input from the third program on
        static(x)
    assert user_calls(static, x) == []
    assert user_calls(f, x) != []


def test_a_function_that_changes_its_arguments():
    static = paddle.jit.to_static(changes_objects)
    static(paddle.ones([2]), [])
    assert user_calls(static, paddle.ones([2]), []) == []


@pytest.mark.parametrize("make", [Scale, Average, Stack])
def test_layers_forward_and_backward(make):
    static = paddle.jit.to_static(make())

    x = paddle.ones([3])
    x.stop_gradient = False

    def step():
        static(x).sum().backward()

    step()
    step()
    assert user_calls(step) == ["step"]


def test_new_sizes_need_no_python_once_they_vary():
    static = paddle.jit.to_static(branches)
    for n in (1, 2, 3):
        static(paddle.ones([n]))
    assert user_calls(static, paddle.ones([17])) == []
