"""A compiled segment on the eager tape: accumulation, retained graphs, higher derivatives, stale tensors."""

import weakref

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import StaleBackwardError

from .models import Scale, tensor

X = (1.0, 2.0, 3.0)


def cube(x):
    if x.sum() > 0:
        return x * x * x
    return x * x


def looped(x):
    y = x
    while y.sum() < 100:
        y = y * x + x
    return y


def noisy(x):
    return x * x * paddle.rand([3])


def grads(f, *orders, x=X):
    """The derivatives of f(x).sum() up to the given orders, by repeated `paddle.grad`."""
    x = tensor(*x, grad=True)
    y = f(x).sum()
    found = []
    for _ in range(max(orders)):
        (g,) = paddle.grad(y, x, create_graph=True)
        found.append(g.numpy())
        y = g.sum()
    return [found[o - 1] for o in orders]


def test_a_segment_between_eager_code():
    f = paddle.jit.to_static(cube)
    x = tensor(*X, grad=True)
    (f(x * 2) * 3).sum().backward()
    assert x.grad.tolist() == [72.0, 288.0, 648.0]


def test_backward_twice_accumulates():
    f = paddle.jit.to_static(cube)
    x = tensor(*X, grad=True)
    for _ in range(2):
        f(x).sum().backward()
    assert x.grad.tolist() == [6.0, 24.0, 54.0]


def test_a_freed_graph_says_so_and_a_retained_one_works():
    f = paddle.jit.to_static(cube)
    x = tensor(*X, grad=True)
    y = f(x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [6.0, 24.0, 54.0]
    with pytest.raises(StaleBackwardError, match="retain_graph=True"):
        y.backward()


@pytest.mark.parametrize("f", [cube, looped])
def test_higher_derivatives(f):
    for a, b in zip(grads(f, 1, 2, 3), grads(paddle.jit.to_static(f), 1, 2, 3)):
        assert np.allclose(a, b, rtol=1e-5)


def test_higher_derivatives_draw_the_same_numbers():
    results = []
    for f in (noisy, paddle.jit.to_static(noisy)):
        paddle.seed(3)
        results.append(grads(f, 1, 2))
        results.append([paddle.rand([2]).numpy()])
    assert np.allclose(results[0], results[2])
    assert np.allclose(results[1], results[3])


def test_backward_of_a_gradient_reaches_the_leaf():
    f = paddle.jit.to_static(cube)
    x = tensor(*X, grad=True)
    (g,) = paddle.grad(f(x).sum(), x, create_graph=True)
    (g * g).sum().backward()
    assert np.allclose(x.grad.numpy(), 36 * np.array(X) ** 3)


def test_gradient_penalty_through_a_layer():
    results = []
    for convert in (lambda net: net, paddle.jit.to_static):
        net = convert(Scale())
        net.w.set_value(tensor(0.5, 1.0, 2.0))
        x = tensor(*X, grad=True)
        (g,) = paddle.grad((net(x) ** 2).sum(), x, create_graph=True)
        (g * g).sum().backward()
        results.append((x.grad.numpy(), net.w.grad.numpy(), net.b.grad.numpy()))
    for a, b in zip(*results):
        assert np.allclose(a, b, rtol=1e-5)


def test_a_parameter_changed_before_backward_is_noticed():
    net = paddle.jit.to_static(Scale())
    loss = net(tensor(*X, grad=True)).sum()
    with paddle.no_grad():
        net.w.set_value(net.w * 2)
    with pytest.raises(StaleBackwardError, match="modified in place"):
        loss.backward()


def test_a_change_that_backward_does_not_need_is_fine():
    net = paddle.jit.to_static(Scale())
    loss = net(tensor(*X, grad=True)).sum()
    with paddle.no_grad():
        net.b.set_value(net.b * 2)
    loss.backward()
    assert net.b.grad is not None


def test_no_grad_and_outputs_without_gradient():
    f = paddle.jit.to_static(lambda x: (x * 2, (x > 1).astype("int64"), x.detach() * 3))
    x = tensor(*X, grad=True)
    a, b, c = f(x)
    assert (a.stop_gradient, b.stop_gradient, c.stop_gradient) == (False, True, True)
    with paddle.no_grad():
        assert all(t.stop_gradient for t in f(x))


def test_unused_outputs_and_partial_cotangents():
    f = paddle.jit.to_static(lambda x, y: (x * y, x + y, y * 2))
    x, y = tensor(*X, grad=True), tensor(*X, grad=True)
    out = f(x, y)
    out[1].sum().backward()
    assert x.grad.tolist() == [1, 1, 1] and y.grad.tolist() == [1, 1, 1]


def test_an_input_used_twice():
    f = paddle.jit.to_static(lambda x, y: x * y)
    x = tensor(*X, grad=True)
    f(x, x).sum().backward()
    assert x.grad.tolist() == [2, 4, 6]


def test_hooks_on_inputs_and_outputs():
    f = paddle.jit.to_static(cube)
    x = tensor(*X, grad=True)
    seen = []
    x.register_hook(lambda g: seen.append("in"))
    y = f(x)
    y.register_hook(lambda g: seen.append("out") or g * 2)
    y.sum().backward()
    assert seen == ["out", "in"] and x.grad.tolist() == [6.0, 24.0, 54.0]


def test_residuals_go_after_backward():
    f = paddle.jit.to_static(lambda x: (x * 2).exp() * x)
    x = tensor(*X, grad=True)
    y = f(x)
    kept = [weakref.ref(a) for a in y.grad_fn.residuals if a is not x._data]
    assert kept
    y.sum().backward()
    assert [ref() for ref in kept] == [None] * len(kept)


@pytest.mark.parametrize("steps", [0, 1, 5])
def test_trip_counts(steps):
    def f(x, n):
        y = x
        while n > 0:
            y = y * x
            n = n - 1
        return y

    static = paddle.jit.to_static(f)
    for fn in (f, static, static):
        x = tensor(*X, grad=True)
        fn(x, tensor(steps, dtype="int64")).sum().backward()
        assert np.allclose(x.grad.numpy(), (steps + 1) * np.array(X) ** steps)


@pytest.mark.parametrize("path", ["output", "input", "two steps"])
def test_an_output_that_is_a_view_follows_in_place_changes_on_the_tape(path):
    def make(x):
        y = x * 1
        if path == "output":
            return y, y[1:]
        if path == "input":
            return x, x[1:]
        return y, y.reshape([3, 1])[1:]

    def gradient(function):
        leaf = paddle.to_tensor([5.0, 6.0, 7.0], stop_gradient=False)
        base, view = function(leaf * 2)
        base[1] = 0.0
        view[1] *= 3
        (view.sum() + (base * base).sum()).backward()
        return leaf.grad.tolist()

    static = paddle.jit.to_static(make, full_graph=True)
    for _ in range(3):
        assert gradient(static) == gradient(make)


def refuse_large(x):
    y = x * 3
    if y.sum() > 2:
        raise KeyError(y)
    return y


def test_tensors_of_what_a_program_raises_have_their_gradient():
    static = paddle.jit.to_static(refuse_large, full_graph=True)
    for _ in range(2):
        x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        try:
            static(x)
        except KeyError as err:
            (err.args[0] * 2).sum().backward()
        assert x.grad.tolist() == [6.0, 6.0]


@pytest.mark.parametrize(
    "choose",
    [
        lambda x, y: max(x.sum(), y.sum()),
        lambda x, y: min([x, y], key=lambda v: v.sum()),
        lambda x, y: [[x, y], [max(x.sum(), y.sum())]][-1][0],
    ],
    ids=["max", "key", "nested"],
)
def test_what_is_not_chosen_has_no_gradient(choose):
    for values in ([1.0, 2.0], [5.0, 6.0]):
        grads = []
        for fn in (choose, paddle.jit.to_static(choose, full_graph=True)):
            x, y = (paddle.to_tensor(v, stop_gradient=False) for v in (values, [3.0, 4.0]))
            fn(x, y).sum().backward()
            grads.append([None if t.grad is None else t.grad.tolist() for t in (x, y)])
        assert grads[0] == grads[1] and None in grads[0]
