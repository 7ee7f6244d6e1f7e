"""What is asked for its shape only does not keep memory: within a program, across to its backward, and in loops."""

from __future__ import annotations

import numpy as np
import pytest

import vitrify as paddle
from tests.runtime import graphs
from vitrify.static import InputSpec

MATRIX = InputSpec([None, None], "float32")
X = np.arange(10_000, dtype="float32").reshape(100, 100)


def compiled(fn, *specs):
    return paddle.jit.to_static(fn, full_graph=True, input_spec=list(specs))


def tensor(array, stop_gradient=False):
    return paddle.to_tensor(array, stop_gradient=stop_gradient)


def held(loss):
    """Bytes that a compiled segment keeps for backward, beside its inputs."""
    node = loss._node
    inputs = {id(t._data) for t in node.inputs}
    items = [a for r in node.residuals for a in (r if isinstance(r, list) else [r]) if id(a) not in inputs]
    return sum(a.nbytes for a in items if any(a.strides))


def lowered(build, size, **options):
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [size, 128])
        outputs = build(x)
    return graphs.core((main, [x], outputs), **options)


def shape_after_use(x):
    y = paddle.tanh(x)
    z = paddle.exp(y)
    return [z, paddle.shape(y)]


@pytest.mark.parametrize(("size", "wanted"), [(64, 1), (2, 0), (None, 1)])
def test_a_stand_in_takes_the_place_of_a_large_buffer(size, wanted):
    core = lowered(shape_after_use, size)
    kinds = [i.operator.op.name for i in core.instructions]
    assert kinds.count("stand_in") == wanted
    x = np.ones((64, 128), "float32")
    z, shape = core(x)
    assert shape.tolist() == [64, 128]
    np.testing.assert_array_equal(z, np.exp(np.tanh(x)))


def test_the_buffer_is_free_when_its_values_are_used():
    core = lowered(shape_after_use, 64)
    kinds = [i.operator.op.name for i in core.instructions]
    tanh = core.instructions[kinds.index("tanh")].writes[0]
    freed = next(k for k, i in zip(kinds, core.instructions) if tanh in i.dead)
    assert freed == "exp" and kinds.index("exp") < kinds.index("shape")


def test_none_where_the_values_are_needed_later_or_given_out():
    assert "stand_in" not in str(lowered(lambda x: [paddle.shape(x), paddle.tanh(x)], 64))
    assert "stand_in" not in str(lowered(lambda x: (y := paddle.tanh(x), [y, paddle.shape(y)])[1], 64))


def sums(x, w):
    y = x * 2
    z = (y + w).reshape([-1])
    return z.sum() + y.mean()


def test_residuals_that_are_only_shapes_hold_no_memory():
    x, w = tensor(X), tensor(X[0])
    loss = compiled(sums, MATRIX, InputSpec([None], "float32"))(x, w)
    assert held(loss) < 100  # the numbers of elements, where four arrays of 40 kB had been
    loss.backward()
    got = x.grad.numpy(), w.grad.numpy()
    x.clear_gradient(False)
    w.clear_gradient(False)
    sums(x, w).backward()
    np.testing.assert_allclose(got[0], x.grad.numpy(), rtol=1e-6)
    np.testing.assert_allclose(got[1], w.grad.numpy(), rtol=1e-6)


def test_an_input_asked_for_its_shape_may_change_before_backward():
    """As in eager code, whose tape keeps the shape alone."""

    def both(fn):
        x, w = tensor(X), tensor(X[0])
        loss = fn(x, w)
        with paddle.no_grad():
            w.add_(paddle.ones([100]))
        loss.backward()
        return x.grad.numpy(), w.grad.numpy()

    for a, b in zip(both(compiled(sums, MATRIX, InputSpec([None], "float32"))), both(sums)):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def loop(x, n):
    i = paddle.zeros([], "int64")
    s = paddle.zeros([], "float32")
    while i < n:
        s = s + (x * 2 * 3).sum()
        x = x + 1
        i = i + 1
    return s


def branch(x, flag):
    if flag > 0:
        y = (x * 2).reshape([-1]).sum()
    else:
        y = x.sum() * 2
    return y


@pytest.mark.parametrize("fn", [loop, branch])
def test_so_do_those_of_loops_and_branches(fn):
    x, n = tensor(X), paddle.to_tensor(3)
    loss = compiled(fn, MATRIX, InputSpec([], "int64"))(x, n)
    assert held(loss) < 100
    loss.backward()
    got = x.grad.numpy()
    x.clear_gradient(False)
    fn(x, n).backward()
    np.testing.assert_allclose(got, x.grad.numpy(), rtol=1e-6)


@pytest.mark.parametrize("mode", ["threads", "streams"])
def test_other_modes_do_the_same(mode):
    core = lowered(shape_after_use, 64, mode=mode)
    assert [i.operator.op.name for i in core.instructions].count("stand_in") == 1
    z, shape = core(np.ones((64, 128), "float32"))
    assert shape.tolist() == [64, 128] and z.shape == (64, 128)
