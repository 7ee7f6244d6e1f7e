"""What backward reads may lie in the memory of a program's inputs, which the program or its caller changes later."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import StaleBackwardError


def gradients(fn, *values):
    """What one call and backward give for the first of some arguments, the only one that wants a gradient."""
    tensors = [paddle.to_tensor(v, stop_gradient=i > 0) for i, v in enumerate(values)]
    out = fn(*tensors)
    out.sum().backward()
    return tensors[0].grad.tolist(), [t.tolist() for t in tensors[1:]]


def changed_itself(x, b):
    b.multiply_(x.sum())
    return b * 7


def changed_by_a_view(x, b):
    v = b[:2]
    w = v.unsqueeze(0)
    v.multiply_(x.sum())
    return w * 7


def changed_on_one_path(x, b):
    v = b[:2]
    if x.sum() > 0:
        v.multiply_(x.sum())
    return b * x.sum()


def changed_in_a_loop(x, b):
    i = 0
    while i < x.sum():
        b[0].multiply_(x.sum())
        i = i + 1
    return b[1:] * b[0]


@pytest.mark.parametrize("fn", [changed_itself, changed_by_a_view, changed_on_one_path, changed_in_a_loop])
def test_a_program_may_change_what_its_backward_reads(fn):
    static = paddle.jit.to_static(fn, full_graph=True)
    for _ in range(2):
        assert gradients(static, [1.0, 2.0], [1.0, 2.0, 3.0]) == gradients(fn, [1.0, 2.0], [1.0, 2.0, 3.0])


def test_a_view_of_an_input_that_the_caller_changes_is_noticed():
    @paddle.jit.to_static(full_graph=True)
    def f(x, w):
        return (w[:2] * x).sum()

    x, w = paddle.to_tensor([1.0, 2.0], stop_gradient=False), paddle.to_tensor([1.0, 2.0, 3.0])
    out = f(x, w)
    w.add_(paddle.ones([3]))
    with pytest.raises(StaleBackwardError):
        out.backward()


def test_a_backward_that_computes_forward_again_says_that_the_function_changed_its_input():
    @paddle.jit.to_static(full_graph=True)
    def f(x, b):
        b.multiply_(x.sum())
        return b * x.sum()

    x, b = paddle.to_tensor([1.0, 2.0], stop_gradient=False), paddle.to_tensor([1.0, 2.0])
    out = f(x, b)
    with pytest.raises(StaleBackwardError, match="by the function"):
        paddle.grad(out.sum(), x, create_graph=True)


@pytest.mark.parametrize("name", ["multiply_", "hypot_", "pow_"])
def test_what_an_in_place_change_of_unknown_sizes_keeps_is_not_stale(name):
    """The program checks between the change and the argument that the sizes fit."""

    def changed(x, y):
        return getattr(paddle, name)(x, y)

    spec = [paddle.static.InputSpec([None, 3])] * 2
    gradients = []
    for function in (changed, paddle.jit.to_static(changed, full_graph=True, input_spec=spec)):
        x = paddle.full([2, 3], 1.5)
        y = paddle.full([2, 3], 2.0)
        x.stop_gradient = y.stop_gradient = False
        function(x * 1, y).sum().backward()
        gradients.append((x.grad.numpy(), y.grad.numpy()))
    np.testing.assert_allclose(gradients[1], gradients[0], rtol=1e-6)
