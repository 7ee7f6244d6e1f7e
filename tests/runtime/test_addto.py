"""Gradients of one variable are added into one buffer, where liveness shows that nobody needs what was in it."""

from __future__ import annotations

import gc
import tracemalloc

import numpy as np
import pytest

import vitrify as paddle
from tests.runtime.graphs import operators
from vitrify.runtime.lowering import lower
from vitrify.runtime.options import ExecutionOptions
from vitrify.static import InputSpec

WAYS = 6


def many_uses(x):
    """x is used six times, each time by a matrix product of its own: its gradient has six parts."""
    return sum(paddle.matmul(x, x * float(k)).sum() for k in range(1, WAYS + 1))


def segment(inplace, addto, size=64, fn=many_uses, shape=None):
    strategy = paddle.static.BuildStrategy()
    strategy.enable_inplace, strategy.enable_addto, strategy.sequential_run = inplace, addto, True
    spec = [InputSpec(shape, "float32")] if shape else None
    compiled = paddle.jit.to_static(fn, build_strategy=strategy, full_graph=True, input_spec=spec)
    x = paddle.to_tensor(np.linspace(-1, 1, size * size, dtype="float32").reshape(size, size), stop_gradient=False)
    return compiled, x, compiled(x)._node.segment


def additions(core):
    """How many sums there are, and how many of them go into a buffer that is there."""
    adds = [i for i in operators(core) if i.operator.op.name == "add"]
    return len(adds), sum(bool(i.access.overwrites) for i in adds)


def test_the_switch_decides_about_sums_of_gradients_alone():
    found = {}
    for switches in ((False, False), (False, True), (True, False)):
        _, _, made = segment(*switches)
        total, into = additions(made.backward_core)
        others = sum(bool(i.access.overwrites) for i in operators(made.backward_core)) - into
        found[switches] = into, others
    assert total >= 2 * WAYS - 1
    assert found[False, False] == (0, 0)
    assert found[False, True] == (total, 0)
    assert found[True, False][0] == total and found[True, False][1] > 0


def peak(compiled, x):
    compiled(x).backward()
    x.clear_gradient(False)
    loss = compiled(x)
    gc.collect()
    tracemalloc.start()
    loss.backward()
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


def chained(x):
    """Six uses of one value, with gradients that need no memory but their own: what counts is the sum."""
    y = x * 1.0
    return sum((y * float(k)).sum() for k in range(1, WAYS + 1))


def test_fewer_buffers_are_made():
    made_bytes, measured, gradients = [], [], []
    for addto in (False, True):
        compiled, x, made = segment(False, addto, 512, chained)  # large, for NumPy may take 32 KiB to itself
        made_bytes.append(sum(map(_bytes, operators(made.backward_core))))
        measured.append(peak(compiled, x))
        gradients.append(x.grad.numpy())
    buffer = 512 * 512 * 4
    assert made_bytes[0] - made_bytes[1] == (WAYS - 1) * buffer
    assert measured[1] <= measured[0] - 0.9 * buffer
    np.testing.assert_array_equal(*gradients)


def _bytes(instruction):
    if instruction.access.overwrites or instruction.operator.op.view:
        return 0
    return sum(int(np.prod(v.meta.shape)) * v.meta.dtype.np.itemsize for v in instruction.operator.outputs)


@pytest.mark.parametrize("shape", [[64, 64], [None, None]])
def test_sizes_may_be_unknown(shape):
    """Then the run asks whether the shapes are the same."""
    compiled, x, made = segment(True, False, shape=shape)
    total, into = additions(made.backward_core)
    assert into == total
    compiled(x).backward()
    got = x.grad.numpy()
    x.clear_gradient(False)
    many_uses(x).backward()
    np.testing.assert_allclose(got, x.grad.numpy(), rtol=2e-5)


def test_a_smaller_array_of_unknown_size_is_left_alone():
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [None, 64])
        y = paddle.static.data("y", [None, 64])
        z = paddle.tanh(x) + y

    core = lower(main.global_block(), [x, y], [z])
    assert additions(core) == (1, 1)
    for rows in ((4, 4), (1, 4), (4, 1)):
        a, b = (np.full((n, 64), 0.5, "float32") for n in rows)
        np.testing.assert_array_equal(core(a, b)[0], np.tanh(a) + b)


@pytest.mark.parametrize("passes", [False, True])
def test_what_the_caller_holds_is_never_written(passes):
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [64, 64])
        y = paddle.exp(x)

    core = lower(main.global_block(), [x], [y], options=ExecutionOptions(passes=passes))
    # A group finds out when it runs what it may overwrite.
    assert [bool(i.access.overwrites) for i in core.instructions] == [not passes]
    held = np.ones((64, 64), "float32")
    core(held)
    core.consume([held])
    assert (held == 1).all()
    locked = np.ones((64, 64), "float32")
    locked.setflags(write=False)
    frame = [locked]
    del locked
    np.testing.assert_array_equal(core.consume(frame)[0], np.exp(held))
    address = (given := np.ones((64, 64), "float32")).ctypes.data
    frame = [given]
    del given
    assert core.consume(frame)[0].ctypes.data == address  # nobody else had it


def test_a_loop_adds_up_in_one_buffer():
    """The gradient of a weight that each iteration uses: the sum is carried, and each part is added to it."""

    def loop(x, w, n):
        i = paddle.zeros([], "int64")
        while i < n:
            x = paddle.tanh(paddle.matmul(x, w))
            i = i + 1
        return x.sum()

    compiled = paddle.jit.to_static(loop, full_graph=True)
    w = paddle.to_tensor(np.full((64, 64), 0.01, "float32"), stop_gradient=False)
    x, n = paddle.ones([8, 64]), paddle.to_tensor(4)
    loss = compiled(x, w, n)
    (body,) = [i.attrs["body"] for i in loss._node.segment.backward_core.instructions if "body" in i.attrs]
    assert additions(body)[1] >= 1
    loss.backward()
    got = w.grad.numpy()
    w.clear_gradient(False)
    loop(x, w, n).backward()
    np.testing.assert_allclose(got, w.grad.numpy(), rtol=2e-5)
