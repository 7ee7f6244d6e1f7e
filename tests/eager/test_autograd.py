"""backward and grad: values, accumulation, hooks, higher orders, freed graphs, and no reference cycles."""

import gc
import weakref

import numpy as np
import pytest

from vitrify.core.errors import ArgumentError, DTypeError, ShapeError, StaleBackwardError
from vitrify.eager.autograd import backward, grad
from vitrify.eager.grad_mode import no_grad
from vitrify.eager.pylayer import PyLayer
from vitrify.eager.tensor import Tensor, to_tensor
from vitrify.jit import to_static


def leaf(*values):
    return to_tensor(np.array(values, "float64"), stop_gradient=False)


# --- backward -------------------------------------------------------------------------------------------------------


def test_backward_fills_the_gradient_of_every_leaf():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    (x * y + x).sum().backward()
    assert x.grad.tolist() == [4.0, 5.0] and y.grad.tolist() == [1.0, 2.0]


def test_gradients_accumulate_until_cleared():
    x = leaf(1.0, 2.0)
    (x * 3).sum().backward()
    first = x.grad
    (x * 3).sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]
    x.clear_gradient()
    assert x.grad.tolist() == first.tolist() == [0.0, 0.0]
    x.clear_gradient(set_to_zero=False)
    assert x.grad is None
    x.clear_grad()
    assert x.grad is None


@pytest.mark.parametrize("compiled", [False, True])
def test_who_has_read_a_gradient_sees_what_is_added_and_cleared_but_not_what_comes_later(compiled):
    def step(x, w):
        (x * w).sum().backward()
        held, copied = w.grad, w.grad.clone()
        (x * w * 2).sum().backward()
        sums = held * 1, copied, w.grad * 1
        w.clear_gradient()
        (x * w * 4).sum().backward()
        w.grad, given = held, w.grad
        (x * w).sum().backward()
        return [v.tolist() for v in (*sums, held, given, w.grad)] if not compiled else (*sums, held, given, w.grad)

    w, x = leaf(1.0, 2.0), to_tensor([1.0, 10.0])
    found = (to_static(lambda x: step(x, w), full_graph=True) if compiled else lambda x: step(x, w))(x)
    found = [v if isinstance(v, list) else v.tolist() for v in found]
    # As PaddlePaddle 3.3.1 gives it: who holds a gradient has what is assigned in its place, too.
    assert found == [[3, 30], [1, 10], [3, 30], [0, 0], [1, 10], [1, 10]]


def test_a_tensor_used_many_times_waits_for_all_its_cotangents():
    x = leaf(2.0)
    y = x * x
    z = y * x + y * y + y
    z.sum().backward()
    assert x.grad.tolist() == [3 * 4 + 4 * 8 + 4]


def test_a_deep_graph_needs_no_recursion():
    x = leaf(1.0)
    y = x
    for _ in range(20_000):
        y = y + 0.0
    y.sum().backward()
    assert x.grad.tolist() == [1.0]


def test_backward_of_a_leaf_and_with_a_given_cotangent():
    x = leaf(1.0, 2.0)
    x.backward()
    assert x.grad.tolist() == [1.0, 1.0]
    given = leaf(5.0, 6.0)
    (x * 1).backward(given)
    assert x.grad.tolist() == [6.0, 7.0]


def test_no_gradient_shares_memory_with_the_cotangent_or_with_another_gradient():
    x, y, given = leaf(1.0), leaf(2.0), leaf(1.0)
    (x + y).backward(given)
    with no_grad():  # a gradient is a leaf that wants one
        x.grad.add_(to_tensor(np.ones(1)))
    assert y.grad.tolist() == [1.0] and given.tolist() == [1.0]


def test_what_backward_gives_is_a_leaf_that_wants_a_gradient():
    """As PaddlePaddle 3.3.1 has it: what is assigned keeps its flag, zeros have that of what they replace."""
    x = leaf(1.0, 2.0)
    (x * x).sum().backward()
    assert not x.grad.stop_gradient and x.grad.is_leaf and not (x.grad * 2).stop_gradient
    (x.grad**2).sum().backward()
    assert x.grad.grad.tolist() == [4.0, 8.0]
    with pytest.raises(ArgumentError):
        x.grad.scale_(2.0)
    with no_grad():
        assert (x.grad * 2).stop_gradient
    x.clear_gradient()
    assert not x.grad.stop_gradient
    x.grad = to_tensor([1.0, 1.0], dtype="float64")
    assert not x.grad.stop_gradient
    x.clear_gradient(set_to_zero=False)
    x.grad = to_tensor([1.0, 1.0], dtype="float64")
    (x * x).sum().backward()
    assert x.grad.stop_gradient
    assert grad((x * x).sum(), x)[0].stop_gradient


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ("bTcb", [False, True, False]),
        ("bTccbb", [False, True, True, False, False]),
        ("bTbcb", [False, True, True, False]),
        ("bTzb", [False, True, True]),
        ("Acb", [True, True, False]),
        ("Abcb", [True, True, True, False]),
        ("bATcb", [False, False, True, False]),
        ("AcAb", [True, True, True, False]),
    ],
)
def test_the_first_gradient_after_a_clear_wants_one_whatever_the_old_did(steps, expected, compiled):
    """b: backward, T: `.grad.stop_gradient = True`, c: clear, z: `.grad.zero_()`, A: assign. As PaddlePaddle 3.3.1."""
    x = leaf(1.0, 2.0)

    def backward(x):
        (x * x).sum().backward()

    run = to_static(backward) if compiled else backward
    found = []
    for step in steps:
        if step == "T":
            x.grad.stop_gradient = True
            continue
        if step == "A":
            x.grad = to_tensor([1.0, 1.0], dtype="float64")
        elif step == "b":
            run(x)
        else:
            {"c": x.clear_grad, "z": lambda: x.grad.zero_()}[step]()
        found.append(x.grad.stop_gradient)
    assert found == expected


def test_broadcasting_is_summed_back():
    row, col = to_tensor(np.ones((1, 3)), stop_gradient=False), to_tensor(np.ones((2, 1)), stop_gradient=False)
    (row * col).sum().backward()
    assert row.grad.tolist() == [[2.0, 2.0, 2.0]] and col.grad.tolist() == [[3.0], [3.0]]


def test_several_tensors_at_once():
    x = leaf(2.0)
    backward([x * x, x * 3], [None, leaf(10.0)])
    assert x.grad.tolist() == [34.0]


def test_a_gradient_has_its_tensors_dtype():
    x = to_tensor([1.0, 2.0], dtype="float32", stop_gradient=False)
    (x.astype("float64") * 2).sum().backward()
    assert x.grad.dtype is x.dtype


def test_integers_and_stopped_tensors_get_no_gradient():
    x, n, stopped = leaf(1.0), to_tensor([2]), to_tensor([3.0], dtype="float64")
    (x * n.astype("float64") * stopped).sum().backward()
    assert x.grad.tolist() == [6.0] and n.grad is None and stopped.grad is None
    assert (x * 2).detach().stop_gradient
    assert (x > 0).stop_gradient


def test_backward_of_what_wants_no_gradient_does_nothing():
    x, stopped = leaf(1.0, 2.0), to_tensor([1.0])
    stopped.backward()
    (x > 1.5).astype("float32").sum().backward()
    to_static(lambda v: v * 2, full_graph=True)(stopped).backward()
    assert stopped.grad is None and x.grad is None
    backward([stopped * 2, x * 3], [None, leaf(1.0, 2.0)])
    assert stopped.grad is None and x.grad.tolist() == [3.0, 6.0]


def test_backward_says_why_it_cannot():
    x = leaf(1.0, 2.0)
    with pytest.raises(ShapeError, match=r"grad_tensor has shape \[1\]"):
        (x * 2).backward(leaf(1.0))
    with pytest.raises(DTypeError, match="grad_tensor must be a Tensor, got list"):
        (x * 2).backward([1.0, 1.0])
    with pytest.raises(ArgumentError, match="2 entries, there are 1"):
        backward([x], [None, None])


# --- freed and stale graphs -----------------------------------------------------------------------------------------


def test_a_graph_is_freed_unless_retained():
    x = leaf(1.0, 2.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4.0, 8.0]
    with pytest.raises(StaleBackwardError, match="retain_graph=True"):
        y.backward()


def test_freeing_drops_the_residuals():
    x = leaf(1.0)
    y = x * 1
    held = weakref.ref(y)
    z = (y * y).sum()
    del y
    z.backward()
    assert held() is None


# --- grad -----------------------------------------------------------------------------------------------------------


def test_grad_returns_gradients_and_leaves_grad_alone():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    dx, dy = grad((x * y).sum(), [x, y])
    assert dx.tolist() == [3.0, 4.0] and dy.tolist() == [1.0, 2.0]
    assert x.grad is None and dx.stop_gradient


def test_grad_with_respect_to_an_intermediate_tensor():
    x = leaf(2.0)
    y = x * x
    z = y * y
    (dy,) = grad(z, y)
    assert dy.tolist() == [8.0]
    (same,) = grad(x, x)
    assert same.tolist() == [1.0]


def test_grad_takes_cotangents_and_several_outputs():
    x = leaf(2.0)
    (dx,) = grad([x * x, x * 3], x, grad_outputs=[leaf(10.0), None])
    assert dx.tolist() == [43.0]


def test_unused_inputs():
    x, y = leaf(1.0), leaf(1.0)
    with pytest.raises(ArgumentError, match="not used to compute the outputs"):
        grad(x * 2, [x, y])
    assert grad(x * 2, [x, y], allow_unused=True)[1] is None


def test_no_grad_vars_stop_gradients():
    x = leaf(3.0)
    y = x * x
    (dx,) = grad(y * x, x, no_grad_vars=[y])
    assert dx.tolist() == [9.0]


def test_gradients_of_gradients():
    x = leaf(2.0)
    derivatives = []
    y = x**4
    for _ in range(4):
        (y,) = grad(y, x, create_graph=True)
        derivatives.append(y.item())
    assert derivatives == [32.0, 48.0, 48.0, 24.0]


def test_double_grad_through_a_mixed_expression():
    x, y = leaf(0.5), leaf(1.5)
    (dx,) = grad((x * y).exp(), x, create_graph=True)
    (dxy,) = grad(dx, y)
    np.testing.assert_allclose(dxy.item(), np.exp(0.75) * (1 + 0.75))


def test_a_gradient_penalty_trains():
    w = leaf(3.0)
    x = leaf(2.0)
    (dx,) = grad((w * x * x).sum(), x, create_graph=True)
    (dx * dx).sum().backward()
    assert w.grad.tolist() == [2 * (2 * 3 * 2) * 2 * 2]


def test_create_graph_keeps_the_graph_and_plain_grad_frees_it():
    x = leaf(2.0)
    y = x * x
    grad(y, x, create_graph=True)
    grad(y, x)
    with pytest.raises(StaleBackwardError):
        grad(y, x)


def test_grad_refuses_what_it_does_not_support():
    x = leaf(1.0)
    with pytest.raises(ArgumentError, match="only_inputs"):
        grad(x, x, only_inputs=False)
    with pytest.raises(DTypeError, match="outputs must be a Tensor"):
        grad(1.0, x)


# --- hooks ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("middle", [False, True])
def test_a_hook_sees_and_replaces_the_gradient(middle):
    x = leaf(1.0, 2.0)
    y = x * 3
    seen = []
    handle = (y if middle else x).register_hook(lambda g: seen.append(g.tolist()) or g * 10)
    y.sum().backward(retain_graph=True)
    assert x.grad.tolist() == [30.0, 30.0] and seen == ([[1.0, 1.0]] if middle else [[3.0, 3.0]])
    assert handle.remove() and not handle.remove()
    y.sum().backward()
    assert x.grad.tolist() == [33.0, 33.0]


def test_hooks_run_in_order_once_the_gradient_is_complete():
    x = leaf(1.0)
    order = []
    x.register_hook(lambda g: order.append(("first", g.item())))
    x.register_hook(lambda g: order.append(("second", g.item())))
    (x * 2 + x * 3).sum().backward()
    assert order == [("first", 5.0), ("second", 5.0)]


def test_a_leaf_hook_runs_in_grad_too():
    x = leaf(1.0)
    x.register_hook(lambda g: g * 2)
    assert grad(x * 3, x)[0].tolist() == [6.0]


def test_a_tensor_without_gradient_takes_no_hook():
    for error in (ArgumentError, RuntimeError):
        with pytest.raises(error, match="gets no gradient"):
            to_tensor([1.0]).register_hook(lambda g: g)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_cotangent_is_brought_to_the_dtype_of_the_tensor(compiled):
    def step(x, ct):
        (x * 2).backward(ct)
        return x.grad

    x = leaf(1.0)
    found = (to_static(step) if compiled else step)(x, to_tensor([3.0], dtype="float64"))
    assert found.dtype == x.dtype and found.tolist() == [6.0]


def test_retain_grads_keeps_the_gradient_of_a_middle_tensor():
    x = leaf(2.0)
    y = x * x
    y.retain_grads()
    (y * 3).sum().backward()
    assert y.grad.tolist() == [3.0] and x.grad.tolist() == [12.0]


@pytest.mark.parametrize("compiled", [False, True])
def test_a_middle_tensor_keeps_the_gradient_of_the_last_backward(compiled):
    def step(x):
        x = x * 1
        x.stop_gradient = False
        y = x * 2
        y.retain_grads()
        (y * y).sum().backward(retain_graph=True)
        (y * 3).sum().backward()
        return y.grad

    assert (to_static(step, full_graph=True) if compiled else step)(to_tensor([1.0])).tolist() == [3.0]


# --- memory ---------------------------------------------------------------------------------------------------------


class Twice(PyLayer):
    @staticmethod
    def forward(ctx, x):
        out = x + x
        ctx.save_for_backward(x, out)
        return out

    @staticmethod
    def backward(ctx, ct):
        x, out = ctx.saved_tensor()
        return ct * (out / x)


def _inplace(x):
    y = x * 1
    y.sin_()
    y.multiply_(x)
    return y


def _second_order(x):
    (dx,) = grad((x * x * x).sum(), x, create_graph=True)
    return dx


WORK = {
    "arithmetic": lambda x: (x * x + x.exp()) / x,
    "in place": _inplace,
    "views": lambda x: x.reshape([1, -1])[0] * x[:1],
    "PyLayer": Twice.apply,
    "second order": _second_order,
}


@pytest.mark.parametrize("work", WORK.values(), ids=WORK)
@pytest.mark.parametrize("backwards", [True, False])
def test_no_reference_cycles(work, backwards):
    """With the garbage collector off, reference counts alone bring the number of live tensors back."""
    x = leaf(1.0, 2.0)
    work(x).sum().backward()  # whatever is cached by the first call
    x.clear_gradient(False)
    gc.collect()
    gc.disable()
    try:
        before = _live_tensors()
        for _ in range(3):
            out = work(x)
            if backwards:
                out.sum().backward()
            x.clear_gradient(False)
            del out
        assert _live_tensors() == before
    finally:
        gc.enable()


def _live_tensors():
    return sum(isinstance(o, Tensor) for o in gc.get_objects())


def test_no_graph_is_kept_under_no_grad():
    x = leaf(1.0)
    with no_grad():
        y = x * x
    assert y.is_leaf and y.grad_fn is None
    z = x * x
    assert not z.is_leaf and z.grad_fn.name == "multiply"
