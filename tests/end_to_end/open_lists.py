"""Functions that go through a list whose length a tensor decides: reduced, its extremes, looked through, joined."""

import functools

import vitrify as paddle

from .functions import N, X


def above_one(x):
    found = []
    for v in x:
        if v > 1:
            found.append(v)
    return found


def reduced(x):
    return functools.reduce(lambda a, b: a * 2 + b, above_one(x), x.sum())


def reduced_without_a_start(x):
    return functools.reduce(lambda a, b: a * 2 + b, above_one(x))


def extremes(x):
    found = above_one(x)
    return max(found), min(found)


def extremes_by_key(x):
    found = above_one(x)
    return max(found, key=lambda v: -v), min(found, key=lambda v: (v - 2.5) ** 2)


def looked_through(x):
    found = above_one(x)
    return x * 2 if x[1] in found else x, 2.0 in found, 7.0 not in found


def side_by_side(x):
    rows = [x]
    while x.sum() < 10:
        x = x + 1
        rows.append(x)
    return paddle.hstack(rows), paddle.vstack(rows), paddle.dstack(rows)


def filtered(x):
    found = list(filter(lambda v: v > 0, x))
    return len(found), paddle.stack(found) if len(found) > 0 else x


def filtered_sum(x):
    return sum(filter(lambda v: v > 1, [x[0], x[1], x[2]]))


FUNCTIONS = [
    *(reduced, reduced_without_a_start, extremes, extremes_by_key, looked_through, side_by_side, filtered),
    filtered_sum,
]
CASES = [(function, [(X,), (N,)]) for function in FUNCTIONS]
