"""Which items of a list that a call gives back, or leaves in an object, stop gradients, where a tensor decides it."""

from __future__ import annotations

from collections import deque

import pytest

import vitrify as paddle

ROWS = ([1.0, 2.0, 3.0], [-1.0, -2.0, 0.5], [0.25, -0.5, 4.0])


class Held:
    """Something with attributes."""


HELD = Held()


def turns(x):
    i = paddle.zeros([])
    while i < x.sum():
        yield i
        i = i + 1


def detached_from_some_turn_on(x):
    found = []
    for i in turns(x):
        found.append((x * i).detach() if i > 1 else x * i)
    return found


def every_second_one(x):
    found = []
    for i in turns(x):
        found.append((x * i).detach())
        found.append(x * i)
    return found, x * 2


def kept_in_an_object(x):
    HELD.found = []
    for i in turns(x):
        HELD.found.append(x * i)
        HELD.found.append((x * i).detach())
    return x * 2


def the_argument_among_them(x):
    found = []
    for i in turns(x):
        found.append(x if i > 1 else (x * 2).detach())
    return found


def on_some_paths(x):
    found = []
    for v in x:
        if v > 0:
            found.append(v.detach())
        elif v < -1.5:
            found.append(v * 2)
    return found


def in_lists(x):
    found = []
    for i in turns(x):
        inner = []
        for j in turns(i):
            inner.append(x * j if j > 1 else (x * j).detach())
        found.append(inner)
    return found


def in_tuples(x):
    found = []
    for i in turns(x):
        found.append((i.detach(), x * i if i < 2 else x.detach() * i))
    return tuple(found)


def in_objects(x):
    found = []
    for i in turns(x):
        held = Held()
        held.value, held.number = x * i if i < 2 else (x * i).detach(), float(i)
        found.append(held)
    return [held.value for held in found], [held.number for held in found]


def in_a_deque(x):
    found = deque(maxlen=3)
    for i in turns(x):
        found.append(x * i if i < 2 else x.detach() * i)
    return found


def under_no_grad(x):
    found = []
    for i in turns(x):
        with paddle.no_grad():
            y = x * i
        found.append(y if i > 1 else y + x)
    return found


def by_key(x):
    found = {}
    for v in x:
        found[int(v)] = v.detach() if v > 1 else v * 2
    return found


def beside_none(x):
    found = []
    for v in x:
        if v > -1.5:
            found.append(None if v < 0.3 else v.detach() if v > 1 else v * 2)
    return found


def told(value, x):
    """What is to be compared: values, flags, and which of them is the argument itself."""
    if isinstance(value, dict):
        return {key: told(item, x) for key, item in value.items()}
    if isinstance(value, (list, tuple, deque)):
        return type(value), [told(item, x) for item in value]
    return (value.tolist(), value.stop_gradient, value is x) if isinstance(value, paddle.Tensor) else value


def found_by(function, row):
    x = paddle.to_tensor(row, stop_gradient=False)
    HELD.found = None
    result = function(x)
    wanted = [v for v in paddle.utils.flatten([result, HELD.found]) if isinstance(v, paddle.Tensor)]
    shown = told(result, x), told(HELD.found, x)
    sum([v.sum() * (i + 1) for i, v in enumerate(wanted)], x.sum()).backward()
    return shown, x.grad.tolist()


FUNCTIONS = [detached_from_some_turn_on, every_second_one, kept_in_an_object, the_argument_among_them, on_some_paths]
FUNCTIONS += [in_lists, in_tuples, in_objects, in_a_deque, under_no_grad, by_key, beside_none]


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_items_stop_gradients_as_in_eager_code(function, whole):
    static = paddle.jit.to_static(function, full_graph=whole)
    for row in ROWS * 2:
        assert found_by(static, row) == found_by(function, row)
