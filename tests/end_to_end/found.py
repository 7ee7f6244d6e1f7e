"""What random programs found (see tests/fuzz), as small as shrinking made it."""

# ruff: noqa: C419, B010

from dataclasses import dataclass
from typing import Any

import numpy as np

import vitrify as paddle

from .functions import N, X


@dataclass
class State:
    """An object of the user's."""

    value: Any


PAIR = [np.array([1.0, 2.0], "float32"), np.array([3.0, 4.0], "float32")]


def item_out_of_range_on_the_other_path(x, xs):
    if x.sum() > 0:
        xs[5] = x
    return x * 2


def item_missing_on_the_other_path(x, d):
    if x.sum() > 0:
        del d["none"]
    return x * 2


def division_by_zero_on_the_other_path(x, n):
    if x.sum() > 0:
        n //= 0
    return x * n


def condition_that_python_decides_after_a_turn(x):
    turn = 0
    while turn < 1 and all([v > -9 for v in x]):
        turn += 1
    return turn


def counter_of_a_branch_in_arithmetic(x):
    n = 1
    if x.sum() > 0:
        n = 2
    return x + n, x.astype("float64") * n


def kind_of_a_number_that_a_branch_changed(x):
    n = 0
    if x.sum() > 0:
        n += 1
    return isinstance(n, int), isinstance(n, (float, str)), isinstance(n, paddle.Tensor), type(n) is int


def least_of_numbers_that_a_branch_changed(x):
    n = 0
    if x.sum() > 0:
        n += 1
    print(min(n, 3), max(2, n) > 1)
    return x * min(n, 2)


def setattr_in_a_branch(x, state):
    if x.sum() > 0:
        setattr(state, "value", x)
    return state.value


def kept_by_a_loop_without_gradients(x):
    with paddle.no_grad():
        for _ in range(4):
            if x.sum() > 0:
                break
            x = x * 1
    return x * 2


def changed_by_a_loop_without_gradients(x):
    y = x
    n = 0
    with paddle.no_grad():
        while y.sum() < 5:
            y = y + 1
            n += 1
    return y * x * n


def kept_beside_what_a_loop_without_gradients_changes(x):
    y = x * 1
    n = 0
    with paddle.no_grad():
        while y.sum() * 0 + n < 5:
            n += 1
            if n > 100:
                y = y + 1
    return y * x * n


def item_of_a_comprehension(x, xs):
    made = [a for a, b in zip(xs, xs)]
    made[0] += x
    if x.sum() > 0:
        xs[0] = x
    return made


CASES = [
    *[(f, ((X,), (N,))) for f in (
        condition_that_python_decides_after_a_turn, kind_of_a_number_that_a_branch_changed,
        counter_of_a_branch_in_arithmetic, least_of_numbers_that_a_branch_changed,
        kept_by_a_loop_without_gradients, changed_by_a_loop_without_gradients,
        kept_beside_what_a_loop_without_gradients_changes,
    )],
    (item_of_a_comprehension, ((X, [np.ones(3, "float32"), np.zeros(3, "float32")]),)),
    (item_out_of_range_on_the_other_path, ((N, PAIR), (X, PAIR))),
    (item_missing_on_the_other_path, ((N, {"a": X}), (X, {"a": X}))),
    (division_by_zero_on_the_other_path, ((N, 2), (X, 2))),
    (setattr_in_a_branch, ((X, State(paddle.to_tensor(N))), (N, State(paddle.to_tensor(X))))),
]  # fmt: skip
