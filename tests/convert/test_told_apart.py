"""Tensors in sets and under `id`, which tell objects apart: a tensor may decide which of several a variable is."""

import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare
from vitrify.convert.values.foreign import ForkedError

ROWS = [([0.1, 0.7, -0.2],), ([-1.0, -2.0, -3.0],), ([2.0, 3.0, 4.0],)]


def found_in_a_set(x):
    y, z = x * 2, x * 3
    chosen = y if x.sum() > 0 else x
    return chosen in {x, z}, chosen not in {y}, chosen in frozenset([z])


def found_behind_a_loop(x):
    y, chosen = x * 2, x
    for v in x:
        if v > 0:
            chosen = y
    return chosen in {x}


def found_by_number(x):
    y = x * 2
    seen = {id(x)}
    chosen = y if x.sum() > 0 else x
    return id(chosen) in seen, id(chosen) == id(y), {id(x): "x", id(y): "y"}[id(chosen)]


def number_asked_before(x):
    y = x * 2
    chosen = y if x.sum() > 0 else x
    return id(chosen) == id(y), id(chosen) == id(x), id(chosen) == id(chosen)


def numbers_of_lists(x):
    first, second = [x], [x]
    return id(first) == id(second), id(first) == id(first)


FUNCTIONS = [found_in_a_set, found_behind_a_loop, found_by_number, number_asked_before, numbers_of_lists]


def index_in_a_loop(x):
    rows, n = paddle.stack([x, x * 2]), 0
    while x.sum() < 4 and n < 3:
        kept = {x * 2, x * 3}
        x, n = rows[(x > 0).astype("int64").sum() % 2].abs() + len(kept), n + 1
    return rows[x.astype("int64") % 2], x


@pytest.mark.parametrize("function", [*FUNCTIONS, index_in_a_loop])
def test_by_path(function):
    compare(function, *ROWS)


def test_one_tensor_for_two_arguments():
    def function(x, y):
        return len({x, y}), x in {y}, id(x) == id(y)

    static = paddle.jit.to_static(function, full_graph=True)
    x, y = paddle.ones([2]), paddle.zeros([2])
    for args in ((x, x), (x, y), (x, x)):
        assert static(*args) == function(*args)


def put_into_a_set(x):
    y = x * 2
    kept = {x}
    kept.add(y if x.sum() > 0 else x)
    return len(kept)


def in_a_display(x):
    return len({x, x * 2 if x.sum() > 0 else x})


def carried_into_a_set(x):
    kept = set()
    while x.sum() < 4:
        kept.add(x)
        x = x.abs() + 1
    return len(kept)


def hashed(x):
    return hash(x * 2 if x.sum() > 0 else x) == hash(x)


def numbers_in_a_loop(x):
    seen = {id(x)}
    while x.sum() < 4:
        x = x.abs() + 1
        seen.add(id(x))
    return len(seen)


@pytest.mark.parametrize("function", [put_into_a_set, in_a_display, carried_into_a_set, hashed, numbers_in_a_loop])
def test_refused(function):
    static = paddle.jit.to_static(function, full_graph=True)
    with pytest.raises(ForkedError, match="a tensor decided which tensor it is"):
        static(paddle.to_tensor([0.1, 0.7, -0.2]))
