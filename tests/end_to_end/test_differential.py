"""The comparison itself sees what it must see: content after the call, kinds of values, state across calls."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import vitrify as paddle

from .differential import Fresh, Given, difference, given, run
from .functions import N, X


@dataclass
class State:
    """A mutable argument."""

    h: Any
    steps: int = 0


def outcome(fn, *args):
    return run(fn, args)


def kind_of_difference(one, other, *args, strict=False):
    found = difference(outcome(one, *args), outcome(other, *args), strict)
    return found and found.split(":")[0]


def appends(xs):
    xs.append(xs[0] * 2)


def nothing(*args):
    return None


def steps(state):
    state.steps += 1
    state.h = state.h + 1


@pytest.mark.parametrize(
    ("one", "other", "args", "expected"),
    [
        (appends, nothing, ([np.array(X)],), "arguments[0]"),
        (appends, appends, ([np.array(X)],), None),
        (lambda d: d.update(a=d["b"]), nothing, ({"a": X, "b": N},), "arguments[0]['a']"),
        (steps, nothing, (State(paddle.to_tensor(X)),), "arguments[0]['h']"),
        (lambda s: setattr(s, "steps", 3), nothing, (State(paddle.to_tensor(X)),), "arguments[0]['steps']"),
        (lambda x: x.sum() * 0 + 2, lambda x: 2, (X,), "result"),
        (lambda x: (x, 1), lambda x: [x, 1], (X,), "result"),
        (lambda x: x.astype("int64"), lambda x: x, (X,), "result"),
        (lambda x: True, lambda x: 1, (X,), "result"),
        (lambda x: print("a"), nothing, (X,), "printed"),
        (lambda x: x * 1, lambda x: x.detach() * 1, (X,), "gradients[0]"),
        (lambda x: 1 // 0, lambda x: {}[0], (X,), "error"),
        (lambda x: 2, lambda x: x.sum().astype("int64") * 0 + 2, (X,), None),
    ],
)
def test_differences_are_seen(one, other, args, expected):
    assert kind_of_difference(one, other, *args) == expected


def test_strict_tells_numbers_from_tensors():
    assert kind_of_difference(lambda x: 2, lambda x: x.sum().astype("int64") * 0 + 2, X, strict=True) == "result"


def test_one_list_twice_is_not_two_lists():
    def once(x):
        held = [x]
        return held, held

    assert kind_of_difference(once, lambda x: ([x], [x]), X) == "result[1]"


def test_arguments_are_made_anew_unless_shared():
    state = State(paddle.to_tensor(X))
    assert given(state) is not state
    assert given(Fresh(lambda: state)) is state
    made = Given.of((State(paddle.to_tensor(X)),))
    assert run(steps, (None,), made).error is None
    assert run(steps, (None,), made).error is None
    assert made.arguments[0].steps == 2
