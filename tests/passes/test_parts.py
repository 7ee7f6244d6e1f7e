"""Gradients of parts of one array, put together: the same bits as their sum, and only where they cover it once."""

from __future__ import annotations

import numpy as np
import pytest

import vitrify as paddle
from tests.passes.programs import names, ran, same, specials, traced
from vitrify.ir.ssa_verify import verify_graph
from vitrify.passes.dead import without_dead_code
from vitrify.passes.parts import gathered


def of_parts(*picks, shape):
    """The graph of the gradient of x whose parts are what `picks` take, given the gradients of those."""

    def build(x, *given):
        x.stop_gradient = False
        parts = [pick(x) for pick in picks]
        return paddle.static.gradients(parts, [x], list(given))[0]

    sizes = [tuple(pick(np.empty(shape)).shape) for pick in picks]
    return traced(build, list(shape), *[list(s) for s in sizes]), [shape, *sizes]


def checked(graph, shapes, dtype="float32"):
    """The graph without sums of parts, which gives the same bits."""
    gathered_graph = gathered(graph)
    verify_graph(gathered_graph)  # before what is dead is dropped, as well
    result = without_dead_code(gathered_graph)
    verify_graph(result)
    given = [specials(s, dtype, seed=i) for i, s in enumerate(shapes)]
    assert same(ran(result, given), ran(graph, given))
    return names(result)


COVERED = {
    "rows": ((3, 4), [lambda x: x[0], lambda x: x[1], lambda x: x[2]], "stack"),
    "in another order, from the end": ((3, 4), [lambda x: x[-1], lambda x: x[1], lambda x: x[0]], "stack"),
    "columns": ((5, 2, 7), [lambda x: x[:, 1], lambda x: x[:, 0]], "stack"),
    "slices": ((2, 13), [lambda x: x[:, :7], lambda x: x[:, 7:]], "concat"),
    "slices from the end": ((11, 3), [lambda x: x[-2:], lambda x: x[:4], lambda x: x[4:9]], "concat"),
    "rows of nothing": ((2, 0), [lambda x: x[0], lambda x: x[1]], "stack"),
    "rows of one element": ((2, 1), [lambda x: x[0], lambda x: x[1]], "stack"),
}


@pytest.mark.parametrize("case", COVERED)
def test_parts_that_cover_an_array_are_laid_side_by_side(case):
    shape, picks, op = COVERED[case]
    graph, shapes = of_parts(*picks, shape=shape)
    assert names(graph).count("getitem_adjoint") == len(picks)
    assert checked(graph, shapes) == [*["add"] * len(picks), op]


UNCOVERED = {
    "a gap": ((3, 4), [lambda x: x[0], lambda x: x[2]]),
    "an overlap": ((4, 4), [lambda x: x[:3], lambda x: x[2:]]),
    "one part twice": ((2, 4), [lambda x: x[0], lambda x: x[0]]),
    "steps": ((4, 4), [lambda x: x[::2], lambda x: x[1::2]]),
    "two dimensions": ((2, 2), [lambda x: x[0], lambda x: x[:, 0]]),
    "rows and slices": ((2, 4), [lambda x: x[0], lambda x: x[1:]]),
    "places": ((2, 2), [lambda x: x[0, 0], lambda x: x[1]]),
}


@pytest.mark.parametrize("case", UNCOVERED)
def test_other_parts_are_added_up(case):
    shape, picks = UNCOVERED[case]
    graph, shapes = of_parts(*picks, shape=shape)
    assert checked(graph, shapes) == names(without_dead_code(graph))


def test_a_gradient_of_a_part_that_others_use_stays():
    def build(x, a, b):
        x.stop_gradient = False
        given = paddle.static.gradients([x[0]], [x], [a])[0]
        return given, given + paddle.static.gradients([x[1]], [x], [b])[0]

    graph = traced(build, [2, 3], [3], [3])
    assert checked(graph, [(2, 3), (3,), (3,)]) == names(without_dead_code(graph))


def test_a_sum_with_something_else_stays():
    def build(x, a, b):
        x.stop_gradient = False
        return paddle.static.gradients([x[0]], [x], [a])[0] + paddle.static.gradients([x[1]], [x], [b])[0] + x * 2

    graph = traced(build, [2, 3], [3], [3])
    assert checked(graph, [(2, 3), (3,), (3,)]).count("stack") == 1


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_what_is_stacked_for_a_reshape_is_transposed_before(dtype):
    """As the gradient of a linear that gives queries, keys and values at once."""

    def build(x, q, k, v):
        x.stop_gradient = False
        qkv = paddle.transpose(x.reshape([2, 5, 3, 7, 4]), [2, 0, 3, 1, 4])
        return paddle.static.gradients([qkv[0], qkv[1], qkv[2]], [x], [q, k, v])[0]

    shapes = [(2, 5, 84), *[(2, 7, 5, 4)] * 3]
    graph = traced(build, *[(list(s), dtype) for s in shapes])
    assert checked(graph, shapes, dtype) == [*["add"] * 3, *["transpose"] * 3, "stack", "reshape"]


def test_sums_of_many_parts_are_found():
    count = 1500
    graph, shapes = of_parts(*[lambda x, i=i: x[i] for i in range(count)], shape=(count, 2))
    assert checked(graph, shapes) == [*["add"] * count, "stack"]


@pytest.mark.parametrize("length", [1, 3, 16])
def test_attention_trains_alike(length):
    """The gradients of attention by parts of one projection, compiled and eager."""
    paddle.seed(3)
    x = paddle.randn([2, length, 12])
    weight = paddle.randn([12, 36])

    def loss(x, weight):
        qkv = paddle.matmul(x, weight).reshape([2, length, 3, 2, 6]).transpose([2, 0, 3, 1, 4])
        mixed = paddle.matmul(paddle.nn.functional.softmax(paddle.matmul(qkv[0], qkv[1], transpose_y=True)), qkv[2])
        return (mixed * mixed).sum()

    def gradient(fn):
        own = weight.clone().detach()
        own.stop_gradient = False
        fn(x, own).backward()
        return own.grad.numpy()

    compiled = paddle.jit.to_static(loss)
    want = gradient(loss)
    for _ in range(30):
        np.testing.assert_allclose(gradient(compiled), want, rtol=2e-5, atol=2e-5)
