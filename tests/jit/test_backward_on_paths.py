"""backward(), paddle.grad and optimizer steps in branches and loops that a tensor decides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import StaleBackwardError, UnsupportedError

F = paddle.nn.functional
opt = paddle.optimizer
CASES: dict[str, Any] = {}


def case(f):
    CASES[f.__name__] = f
    return f


def taught(model, optimizer, x, y):
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    return loss.detach()


@case
def only_if_finite(model, optimizer, x, y):
    loss = F.cross_entropy(model(x), y)
    if paddle.isfinite(loss):
        loss.backward()
        optimizer.step()
    optimizer.clear_grad()
    return loss


@case
def early_return(model, optimizer, x, y):
    loss = F.cross_entropy(model(x), y)
    if loss < 0.6:
        return loss * 0
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    return loss


@case
def on_either_path(model, optimizer, x, y):
    hidden = model(x)
    if x.sum() > 0:
        F.cross_entropy(hidden, y).backward()
    else:
        hidden.square().mean().backward()
    if hidden.sum() > 0:
        optimizer.step()
    optimizer.clear_grad()
    return hidden.detach()


@case
def step_on_a_path(model, optimizer, x, y):
    if x.sum() > 0:
        return taught(model, optimizer, x, y)
    with paddle.no_grad():
        return F.cross_entropy(model(x), y)


@case
def until_it_is_small(model, optimizer, x, y):
    for _ in range(5):
        loss = taught(model, optimizer, x, y)
        if loss < 0.6:
            break
    return loss


@case
def while_it_is_large(model, optimizer, x, y):
    loss, n = paddle.to_tensor(10.0), 0
    while loss > 0.6 and n < 4:
        last = F.cross_entropy(model(x), y)
        last.backward()
        optimizer.step()
        optimizer.clear_grad(set_to_zero=False)
        loss = last.detach()
        n += 1
    return loss, n


@case
def accumulated(model, optimizer, x, y):
    for _ in range(paddle.to_tensor(3)):
        F.cross_entropy(model(x), y).backward()
    optimizer.step()
    found = model[0].weight.grad.clone()
    optimizer.clear_grad()
    return found


@case
def sample_by_sample(model, optimizer, x, y):
    for row, label in zip(x, y):
        loss = taught(model, optimizer, row.unsqueeze(0), label.reshape([1]))
    return loss


@case
def truncated_in_time(model, optimizer, x, y):
    h, i = paddle.zeros([5, 2]), paddle.zeros([], "int64")
    while i < 3:
        h = model(x) + 0.5 * h.detach()
        loss = F.cross_entropy(h, y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        i += 1
    return loss.detach()


@case
def gradient_on_a_path(model, optimizer, x, y):
    loss = F.cross_entropy(model(x), y)
    if loss > 0.5:
        (found,) = paddle.grad(loss, [model[0].weight], retain_graph=True)
        return found.norm()
    return loss * 1


@case
def descent_on_the_input(model, optimizer, x, y):
    z = x.detach()
    for _ in range(paddle.to_tensor(4)):
        z.stop_gradient = False
        (found,) = paddle.grad(model(z).square().sum(), [z])
        z = (z - 0.1 * found).detach()
    return z


@case
def leaf_of_each_iteration(model, optimizer, x, y):
    z, i = x.detach(), paddle.zeros([], "int64")
    while i < 4:
        z = z.detach()
        z.stop_gradient = False
        F.cross_entropy(model(z), y).backward()
        with paddle.no_grad():
            z = z - 0.1 * z.grad
        i = i + 1
    optimizer.clear_grad()
    return z


@case
def noise_on_a_path(model, optimizer, x, y):
    if x.sum() > 0:
        noise = paddle.zeros_like(x)
        noise.stop_gradient = False
        F.cross_entropy(model(x + noise), y).backward()
        x = x + 0.1 * noise.grad.sign()
        optimizer.clear_grad()
    return taught(model, optimizer, x, y)


@case
def retained_on_a_path(model, optimizer, x, y):
    hidden = model(x)
    if x.sum() > 0:
        F.cross_entropy(hidden, y).backward(retain_graph=True)
    hidden.square().mean().backward()
    optimizer.step()
    found = model[0].weight.grad * 1
    optimizer.clear_grad()
    return found


@case
def nested(model, optimizer, x, y):
    total = paddle.zeros([])
    for _ in range(paddle.to_tensor(2)):
        if x.sum() > -100:
            for _ in range(2):
                loss = F.cross_entropy(model(x), y)
                if loss > 0.3:
                    loss.backward()
                    optimizer.step()
                    optimizer.clear_grad()
                total = total + loss.detach()
    return total


@case
def line_search(model, optimizer, x, y):
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    rate, k = paddle.ones([]), 0
    start = [(p, p.clone(), p.grad.clone()) for p in model.parameters()]
    while k < 5:
        with paddle.no_grad():
            for p, value, slope in start:
                p.set_value(value - rate * slope)
            if F.cross_entropy(model(x), y) < loss:
                break
        rate = rate * 0.5
        k += 1
    optimizer.clear_grad()
    return rate


def trained(step: Any, make_optimizer: Any, compiled: bool) -> tuple[Any, Any]:
    """What six calls gave and left behind, and the function that did them."""
    paddle.seed(1)
    model = paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.Tanh(), paddle.nn.Linear(4, 2))
    optimizer = make_optimizer(model.parameters())

    def function(x, y):
        return step(model, optimizer, x, y)

    run = paddle.jit.to_static(function, full_graph=True) if compiled else function
    rng, told = np.random.default_rng(0), []
    for _ in range(6):
        x, y = rng.normal(size=(5, 3)).astype("float32"), rng.integers(0, 2, 5)
        told.append(plain(run(paddle.to_tensor(x), paddle.to_tensor(y))))
        told.append([(p.numpy(), plain(p.grad)) for p in model.parameters()])
    return told, run


def plain(value: Any) -> Any:
    """Arrays for tensors."""
    return paddle.utils.map_structure(lambda v: v.numpy() if isinstance(v, paddle.Tensor) else v, value)


def close(found: Any, wanted: Any) -> None:
    """Assert that two nests of arrays are alike."""
    assert type(found) is type(wanted)
    if isinstance(wanted, (list, tuple)):
        assert len(found) == len(wanted)
        for pair in zip(found, wanted):
            close(*pair)
    elif wanted is not None:
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)


def momentum(parameters: Any) -> Any:
    return opt.Momentum(0.1, parameters=parameters, grad_clip=paddle.nn.ClipGradByGlobalNorm(0.5))


def adam(parameters: Any) -> Any:
    return opt.Adam(0.05, parameters=parameters)


@pytest.mark.parametrize("step", CASES.values(), ids=CASES)
def test_the_same_as_eager(step):
    found, run = trained(step, adam, compiled=True)
    close(found, trained(step, adam, compiled=False)[0])
    assert 0 < run.cache_info().misses <= 2


@pytest.mark.parametrize("name", ["only_if_finite", "until_it_is_small", "nested"])
def test_with_clipped_gradients(name):
    close(trained(CASES[name], momentum, compiled=True)[0], trained(CASES[name], momentum, compiled=False)[0])


def twice(x):
    w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    if x.sum() > 0:
        loss = (w * x).sum()
        loss.backward()
        loss.backward()
    return x


def test_what_backward_freed_on_a_path_stays_freed():
    for run in (twice, paddle.jit.to_static(twice)):
        with pytest.raises(StaleBackwardError, match="freed it"):
            run(paddle.to_tensor([1.0, 2.0]))
        assert run(paddle.to_tensor([-1.0, -2.0])).tolist() == [-1.0, -2.0]


def recursive(x):
    w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)

    def down(x):
        if x.sum() < 1:
            return x
        (w * x).sum().backward()
        return down(x * 0.5) + down(x * 0.25)

    return down(x), w.grad


def test_in_recursion():
    static = paddle.jit.to_static(recursive, full_graph=True)
    for values in ([1.0, 2.0], [4.0, 2.0], [0.5, 0.0]):
        x = paddle.to_tensor(values)
        close(plain(static(x)), plain(recursive(x)))


def through_the_caller(x):
    w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)

    def down(x, h):
        if x.sum() < 1:
            return x
        (h * x).sum().backward(retain_graph=True)
        return down(x * 0.5, h) + down(x * 0.25, h)

    return down(x, w * x)


def through_iterations(x):
    w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    total = x * 0
    while total.sum() < 20:
        total = total + w * x
        total.sum().backward(retain_graph=True)
    return w.grad


@pytest.mark.parametrize("f", [through_the_caller, through_iterations])
def test_what_other_iterations_and_calls_computed_is_out_of_reach(f):
    with pytest.raises(UnsupportedError, match="through what it got from the iteration or call before"):
        paddle.jit.to_static(f, full_graph=True)(paddle.to_tensor([1.0, 2.0]))
    found, wanted = (run(paddle.to_tensor([1.0, 2.0])).tolist() for run in (paddle.jit.to_static(f), f))
    assert found == wanted
