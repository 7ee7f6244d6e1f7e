"""saved_tensors_hooks: what is kept for backward, packed and unpacked."""

import numpy as np
import pytest

from vitrify.core.errors import DTypeError
from vitrify.eager.autograd import grad
from vitrify.eager.packing import saved_tensors_hooks
from vitrify.eager.pylayer import PyLayer
from vitrify.eager.tensor import to_tensor


def leaf(*values):
    return to_tensor(np.array(values, "float64"), stop_gradient=False)


def test_saved_tensors_are_packed_and_unpacked():
    log = []

    def pack(tensor):
        log.append(("pack", tensor.tolist()))
        return tensor.numpy()

    def unpack(array):
        log.append(("unpack", array.tolist()))
        return to_tensor(array)

    x, y = leaf(2.0), leaf(3.0)
    with saved_tensors_hooks(pack, unpack):
        z = x * y
    w = z * z  # outside: not packed
    assert sorted(log) == [("pack", [2.0]), ("pack", [3.0])]
    w.sum().backward()
    assert x.grad.tolist() == [36.0] and y.grad.tolist() == [24.0]
    assert sorted(log[2:]) == [("unpack", [2.0]), ("unpack", [3.0])]


def test_outputs_and_pylayers_are_packed_too():
    class Exp(PyLayer):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx, ct):
            return ct * ctx.saved_tensor()[1]

    packed = []
    x = leaf(0.5)
    with saved_tensors_hooks(lambda t: packed.append(t.item()) or t.numpy(), to_tensor):
        y = Exp.apply(x) + x.exp()
    y.sum().backward()
    np.testing.assert_allclose(packed, [0.5, np.exp(0.5), np.exp(0.5)])
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.exp(0.5))


def test_packed_content_is_what_it_was():
    x = leaf(2.0) * 1
    with saved_tensors_hooks(lambda t: t.numpy(), to_tensor):
        y = x * x
    x.add_(leaf(1.0))
    y.sum().backward()


def test_second_derivatives_through_packed_tensors():
    x = leaf(2.0)
    with saved_tensors_hooks(lambda t: t.numpy(), to_tensor):
        y = (x * 1) ** 3 + x.exp()
        (dx,) = grad(y, x, create_graph=True)
        (ddx,) = grad(dx, x)
    np.testing.assert_allclose(ddx.item(), 12 + np.exp(2.0))


def test_unpacking_must_give_a_tensor():
    x = leaf(2.0)
    with saved_tensors_hooks(lambda t: 1, lambda packed: packed):
        y = x * x
    with pytest.raises(DTypeError, match="unpack_hook must return a Tensor, got int"):
        y.backward()
