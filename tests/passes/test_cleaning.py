"""Constant folding, repeats, dead code, loops: what goes, what stays, and that results stay the same to the bit."""

from __future__ import annotations

import numpy as np
import pytest

import vitrify as paddle
from tests.passes.programs import names, ran, same, specials, traced
from vitrify.ir.ssa import Literal
from vitrify.ir.ssa_verify import verify_graph
from vitrify.passes.common import without_repeats
from vitrify.passes.dead import without_dead_code
from vitrify.passes.fold import folded
from vitrify.passes.invariants import hoisted


def loop(cond, body, values):
    return paddle.static.nn.while_loop(cond, body, values)


def check(graph, result, arrays):
    verify_graph(result)
    assert same(ran(result, arrays), ran(graph, arrays))


def test_constants_become_numbers():
    def build(x):
        mean = paddle.full([], 1.0) / 4.0
        return paddle.tanh(x) * mean.reshape([1, 1]) + paddle.exp(paddle.full([4, 3], 0.5))

    graph = traced(build, [4, 3])
    result = without_dead_code(folded(graph))
    assert names(result) == ["tanh", "multiply", "add"]
    assert all(type(op.inputs[1]) is Literal for op in result.ops[1:])
    check(graph, result, [specials([4, 3], "float32")])


@pytest.mark.parametrize("value", [np.nan, -np.inf, -0.0, 1e-45])
def test_constants_of_all_kinds(value):
    graph = traced(lambda x: x + paddle.full([3], value) * 1.5, [3])
    check(graph, without_dead_code(folded(graph)), [np.array([0.0, -0.0, 1.0], "float32")])


@pytest.mark.parametrize(
    "build",
    [
        lambda x: x + paddle.arange(4, dtype="float32"),  # not one number
        lambda x: x + paddle.rand([4]),
        lambda x: x * paddle.full([3, 4], 2.0),  # gives the result its shape
    ],
)
def test_what_is_no_number_stays(build):
    graph = traced(build, [4])
    assert names(without_dead_code(folded(graph))) == names(graph)


def test_an_error_waits_for_the_run():
    one, zero = (lambda: paddle.full([2], 1, "int64")), (lambda: paddle.full([2], 0, "int64"))
    graph = traced(lambda x: x + paddle.floor_divide(one(), zero()), ([2], "int64"))
    assert "floor_divide" in names(folded(graph))


def test_repeats_are_computed_once():
    graph = traced(lambda x: paddle.tanh(x) * 2 + paddle.exp(paddle.tanh(x) * 2), [5])
    result = without_repeats(graph)
    assert names(result) == ["tanh", "multiply", "exp", "add"]
    check(graph, result, [specials([5], "float32")])


@pytest.mark.parametrize(
    "build",
    [
        lambda x: paddle.rand([4]) + paddle.rand([4]),
        lambda x: (x + 0.0) * (x + -0.0),
        lambda x: x.sum(axis=0, keepdim=True) + x.sum(axis=0, keepdim=False),
        lambda x: [paddle.tanh(x), paddle.tanh(x)],  # two results: who changes one must not change the other
        lambda x: [paddle.tanh(x).reshape([2, 2]), paddle.tanh(x).reshape([4, 1])],
    ],
)
def test_what_is_no_repeat(build):
    graph = traced(build, [4])
    assert names(without_repeats(graph)) == names(graph)


def test_memory_decides_about_repeats():
    """The first tanh would have to be kept while the large product is there."""

    def build(x):
        first = paddle.tanh(x).sum()
        large = paddle.matmul(paddle.concat([x, x, x], axis=0), x).sum()
        return first + large + paddle.tanh(x).mean()

    graph = traced(build, [64, 64])
    assert names(without_repeats(graph)).count("tanh") == 2
    assert names(without_repeats(traced(build, [4, 4]))).count("tanh") == 1


def counted(body, *values):
    """A loop of three iterations over values, the first of them the counter."""
    start = paddle.full([1], 0, "int64")
    return loop(lambda i, *rest: i < 3, lambda i, *rest: [i + 1, *body(*rest)], [start, *values])[1:]


def test_invariants_leave_the_loop():
    def build(x, w):
        return counted(lambda v: [paddle.matmul(v, paddle.transpose(w, [1, 0]) * 2.0)], x)

    graph = traced(build, [2, 2], [2, 2])
    result = hoisted(graph)
    verify_graph(result)
    (op,) = [op for op in result.ops if op.op.name == "while"]
    assert "multiply" not in names(op.attrs["body"]) and "multiply" in names(result)
    check(graph, result, [specials([2, 2], "float32", i) for i in range(2)])


def test_what_may_fail_stays_in_the_loop():
    """It may run no iteration."""
    graph = traced(lambda x, w: counted(lambda v: [v + paddle.exp(w) * paddle.tanh(x)], x), [None, 2], [None, 2])
    assert len(hoisted(graph)) == len(graph)


def test_each_iteration_gives_arrays_of_its_own():

    graph = traced(lambda x: counted(lambda v, w: [v + 1, paddle.full([2], 7.0)], x, x), [2])
    (op,) = [op for op in hoisted(graph).ops if op.op.name == "while"]
    assert "full" in names(op.attrs["body"])


def test_loops_carry_what_is_used():
    def build(x, y):
        return counted(lambda a, b, c: [a + 1, b * 2 + a, paddle.tanh(c)], x, y, y)[0]

    graph = traced(build, [2], [2])
    result = without_dead_code(graph)
    (op,) = [op for op in result.ops if op.op.name == "while"]
    assert op.attrs["n_carried"] == 2 and len(op.outputs) == 3
    assert "tanh" not in names(op.attrs["body"]) and "multiply" not in names(op.attrs["body"])
    check(graph, result, [specials([2], "float32", i) for i in range(2)])


def test_what_the_condition_needs_is_carried():
    def build(x):
        start = [paddle.zeros([1]), x, x]
        return loop(lambda i, s, v: s.sum() < 10.0, lambda i, s, v: [i + 1, s + v, v * 2], start)[0]

    graph = traced(build, [2])
    result = without_dead_code(graph)
    (op,) = [op for op in result.ops if op.op.name == "while"]
    assert op.attrs["n_carried"] == 3
    check(graph, result, [np.ones(2, "float32")])
