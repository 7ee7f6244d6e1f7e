"""PyLayer: forward and backward written by the user."""

import numpy as np
import pytest

from vitrify.core.errors import ArgumentError, ShapeError, StaleBackwardError
from vitrify.eager.autograd import grad
from vitrify.eager.grad_mode import is_grad_enabled, no_grad
from vitrify.eager.pylayer import PyLayer
from vitrify.eager.tensor import to_tensor


def leaf(*values):
    return to_tensor(np.array(values, "float64"), stop_gradient=False)


class Tanh(PyLayer):
    @staticmethod
    def forward(ctx, x):
        y = x.tanh()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, dy):
        (y,) = ctx.saved_tensor()
        return dy * (1 - y * y)


def test_forward_and_backward():
    x = leaf(0.5, -1.0)
    Tanh.apply(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 1 - np.tanh([0.5, -1.0]) ** 2)


def test_backward_of_backward():
    x = leaf(0.5)
    (dx,) = grad(Tanh.apply(x), x, create_graph=True)
    (ddx,) = grad(dx, x)
    y = np.tanh(0.5)
    np.testing.assert_allclose(ddx.item(), -2 * y * (1 - y * y))


def test_arguments_that_are_no_tensors_pass_through():
    class Scale(PyLayer):
        @staticmethod
        def forward(ctx, x, factor, *, shift=0.0):
            ctx.factor = factor
            return x * factor + shift

        @staticmethod
        def backward(ctx, dy):
            return dy * ctx.factor

    x = leaf(1.0)
    out = Scale.apply(x, 3.0, shift=1.0)
    out.sum().backward()
    assert out.tolist() == [4.0] and x.grad.tolist() == [3.0]


class MulAdd(PyLayer):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y, x + y, "label", None

    @staticmethod
    def backward(ctx, product, total):
        x, y = ctx.saved_tensors
        return product * y + total, product * x + total


def test_several_inputs_and_outputs():
    x, y = leaf(2.0), leaf(3.0)
    product, total, label, nothing = MulAdd.apply(x, y)
    assert label == "label" and nothing is None
    (product + total * 10).sum().backward()
    assert x.grad.tolist() == [13.0] and y.grad.tolist() == [12.0]


def test_unused_outputs_arrive_as_zeros_or_as_none():
    seen = []

    class Two(PyLayer):
        @staticmethod
        def forward(ctx, x, materialize):
            ctx.set_materialize_grads(materialize)
            return x * 1, x * 2

        @staticmethod
        def backward(ctx, first, second):
            seen.append(second if second is None else second.tolist())
            return first

    for materialize in (True, False):
        Two.apply(leaf(1.0), materialize)[0].sum().backward()
    assert seen == [[0.0], None]


def test_none_for_an_input_without_gradient():
    class First(PyLayer):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, ct):
            return ct, None

    x, y = leaf(1.0), leaf(2.0)
    First.apply(x, y).sum().backward()
    assert x.grad.tolist() == [1.0] and y.grad is None


def test_gradients_may_be_given_for_the_wanted_inputs_alone():
    class Wanted(PyLayer):
        @staticmethod
        def forward(ctx, a, b, c):
            return a * b * c

        @staticmethod
        def backward(ctx, ct):
            return ct * 7

    a, b, c = to_tensor([1.0]), to_tensor([1.0], stop_gradient=False), to_tensor([1.0])
    Wanted.apply(a, b, c).backward()
    assert b.grad.tolist() == [7.0]


def test_an_input_returned_as_it_is_becomes_a_new_tensor():
    class Reverse(PyLayer):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, ct):
            return -ct

    x = leaf(1.0)
    out = Reverse.apply(x)
    assert out is not x and x.is_leaf
    out.sum().backward()
    assert x.grad.tolist() == [-1.0]


def test_outputs_without_gradient():
    class Marked(PyLayer):
        @staticmethod
        def forward(ctx, x):
            index, copy = x.argmax(), x * 1
            ctx.mark_non_differentiable(copy)
            return index, copy, x * 2

        @staticmethod
        def backward(ctx, *cts):
            return cts[-1] * 2

    index, copy, double = Marked.apply(leaf(1.0, 2.0))
    assert index.stop_gradient and copy.stop_gradient and not double.stop_gradient


def test_modes_inside():
    class Watch(PyLayer):
        @staticmethod
        def forward(ctx, x):
            modes.append(is_grad_enabled())
            return x * 1

        @staticmethod
        def backward(ctx, ct):
            modes.append(is_grad_enabled())
            return ct * 1

    modes = []
    x = leaf(1.0)
    grad(Watch.apply(x), x)
    grad(Watch.apply(x), x, create_graph=True)
    with no_grad():
        assert Watch.apply(x).stop_gradient
    assert modes == [False, False, False, True, False]


def test_saved_tensors_are_checked_and_freed():
    x = leaf(0.5)
    y = Tanh.apply(x)
    with no_grad():
        y.add_(leaf(1.0))
    with pytest.raises(StaleBackwardError, match="Tanh: backward needs a saved tensor"):
        y.sum().backward()
    z = Tanh.apply(x)
    z.backward()
    with pytest.raises(StaleBackwardError, match="Tanh: backward ran through"):
        z.backward()


def test_wrong_gradients_are_named():
    class Wrong(PyLayer):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, ct):
            return results

    x, y = leaf(1.0, 2.0), leaf(1.0, 2.0)
    results = (leaf(1.0), leaf(1.0, 2.0))
    with pytest.raises(ShapeError, match=r"Wrong.backward: gradient 0 has shape \[1\], its input has \[2\]"):
        Wrong.apply(x, y).sum().backward()
    results = leaf(1.0, 2.0)
    with pytest.raises(ArgumentError, match="returned 1 gradients, forward got 2 tensors"):
        Wrong.apply(x, y).sum().backward()


def test_both_methods_must_be_defined():
    with pytest.raises(NotImplementedError, match="forward"):
        PyLayer.apply(leaf(1.0))
