"""What a loop keeps for its backward goes iteration by iteration, as the reverse loop reads it."""

from __future__ import annotations

import gc
import tracemalloc

import numpy as np
import pytest

import vitrify as paddle
from vitrify.ops.control_flow import HandedList, _taken
from vitrify.ops.registry import all_ops, define_op

ROW = 64 * 64 * 4
STEPS = 12
WATCHED: list[int] = []


def _watching(xp, x):
    WATCHED.append(tracemalloc.get_traced_memory()[0])
    return x + 1


watching = define_op("watching_for_tests", kernel=_watching, meta=lambda x: x, vjp={"x": lambda ct: watching(ct)})


def carried(x, n):
    """Each iteration keeps one array; its gradient is looked at as backward passes."""
    i = paddle.zeros([], "int64")
    while i < n:
        x = watching(paddle.sin(x))
        i = i + 1
    return x.mean()


def listed(x, n):
    """A list is filled, and read by another loop."""
    kept = []
    i = paddle.zeros([], "int64")
    while i < n:
        x = x + 1.0
        kept.append(x)
        i = i + 1
    total = paddle.zeros([])
    for item in kept:
        total = total + paddle.sin(item).sum()
    return total


def traced(run):
    """The most bytes in use while `run` runs, beyond those before."""
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        run()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def leaf():
    return paddle.to_tensor(np.linspace(-1, 1, 64 * 64, dtype="float32").reshape(64, 64), stop_gradient=False)


def test_residuals_of_an_iteration_go_when_the_reverse_loop_has_read_them():
    fn = paddle.jit.to_static(carried, full_graph=True)
    x, n = leaf(), paddle.to_tensor(STEPS)
    fn(x, n).backward()

    def step():
        loss = fn(x, n)
        WATCHED.clear()
        loss.backward()

    traced(step)
    falls = np.diff(WATCHED)
    assert len(falls) == STEPS - 1
    assert (falls[1:] < -0.9 * ROW).all(), "each iteration gives up the array that it has read"


def test_they_stay_for_another_backward():
    fn = paddle.jit.to_static(carried, full_graph=True)
    x, n = leaf(), paddle.to_tensor(STEPS)
    loss = fn(x, n)
    loss.backward(retain_graph=True)
    first = x.grad.numpy().copy()
    loss.backward()
    np.testing.assert_array_equal(x.grad.numpy(), 2 * first)


def test_a_list_that_a_second_loop_reads_is_kept_once():
    fn = paddle.jit.to_static(listed, full_graph=True)
    x, n = leaf(), paddle.to_tensor(STEPS)
    fn(x, n).backward()
    wanted = x.grad.numpy().copy()
    x.clear_gradient()
    peak = traced(lambda: fn(x, n).backward())
    np.testing.assert_array_equal(x.grad.numpy(), wanted)
    # The list and its cotangent, which takes its place item by item. Three of them before.
    assert peak < 2.3 * STEPS * ROW


def test_a_list_that_someone_holds_is_not_emptied():
    def f(items):
        total = paddle.zeros([])
        for item in items:
            total = total + (item * item).sum()
        return total

    items = [leaf(), leaf()]
    for fn in (f, paddle.jit.to_static(f, full_graph=True)):
        fn(items).backward()
        fn(items).backward()
        assert all(item is not None and item.grad is not None for item in items)


@pytest.mark.parametrize("kind", [list, HandedList])
def test_only_a_list_that_was_handed_over_is_emptied(kind):
    items = kind([1, 2])
    assert _taken(items, 1) == 2
    assert items == ([1, None] if kind is HandedList else [1, 2])


def test_numbers_of_attributes_are_values_whatever_an_op_asks_the_shape_of():
    some = [op for op in all_ops() if op.shape_only and op.dynamic and not op.variadic]
    assert some
    assert not any(op.asks_shape(len(op.inputs)) for op in some)
