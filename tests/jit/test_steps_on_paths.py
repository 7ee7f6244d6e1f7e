"""Training steps of which a tensor decides what they do to rates and optimizers: ten steps, as in eager code."""

import numpy as np
import pytest

import vitrify as paddle
from tests.jit.training_steps import Case, batches, mlp
from vitrify import optimizer as opt
from vitrify.nn import functional as F


def rate_on_a_path() -> Case:
    model = mlp()
    adam = opt.Adam(0.05, parameters=model.parameters())

    def step(x, y):
        loss = F.mse_loss(model(x), y)
        if loss < 0.9:
            if x[0, 0] > 0:
                adam.set_lr(0.02)
            else:
                adam.set_lr(float(loss) * 0.01)
        loss.backward()
        adam.step()
        adam.clear_grad()
        if x[0, 1] > 0.5:
            adam.set_lr(adam.get_lr() * 1.5)
        return loss, adam.get_lr()

    return Case(step, model.parameters(), [adam], adam.get_lr)


def rate_in_turns() -> Case:
    model = mlp()
    sgd = opt.SGD(0.05, parameters=model.parameters())

    def step(x, y):
        n = 0
        while n < 4 and F.mse_loss(model(x), y) > 0.05:
            F.mse_loss(model(x), y).backward()
            sgd.step()
            sgd.clear_grad()
            sgd.set_lr(sgd.get_lr() * 0.8)
            n += 1
        return sgd.get_lr(), n

    return Case(step, model.parameters(), [sgd], sgd.get_lr)


def scheduler_on_a_path() -> Case:
    model, rate = mlp(), opt.lr.ExponentialDecay(0.05, 0.9)
    adam = opt.Adam(rate, parameters=model.parameters())

    def step(x, y):
        loss = F.mse_loss(model(x), y)
        loss.backward()
        adam.step()
        adam.clear_grad()
        if loss < 0.9:
            rate.step()
            if x[0, 0] > 0:
                rate.step()
        rate.step()
        return loss

    return Case(step, model.parameters(), [adam], lambda: (rate.state_dict(), rate()))


def one_of_two_optimizers() -> Case:
    model = mlp()
    warm = opt.lr.LinearWarmup(0.1, 4, 0.0, 0.1)
    adam, sgd = opt.Adam(0.01, parameters=model.parameters()), opt.SGD(warm, parameters=model.parameters())

    def step(x, y):
        loss = F.mse_loss(model(x), y)
        loss.backward()
        chosen = adam if loss > 0.9 else sgd
        chosen.step()
        chosen.clear_grad()
        if loss < 0.9:
            warm.step()
        return loss

    return Case(step, model.parameters(), [adam, sgd], lambda: (warm.state_dict(), warm()))


def accumulated_until_a_tensor_says_so() -> Case:
    model, count = mlp(), paddle.zeros([], "int64")
    sgd = opt.SGD(0.05, parameters=model.parameters())

    def step(x, y):
        loss = F.mse_loss(model(x), y) / 2
        loss.backward()
        with paddle.no_grad():
            count.add_(paddle.ones([], "int64"))
        if count % 3 == 0:
            sgd.step()
            sgd.clear_grad()
        return loss

    return Case(step, model.parameters(), [sgd], count.numpy)


def seen(value):
    if isinstance(value, paddle.Tensor):
        return value.numpy()
    if isinstance(value, dict):
        return [(name, seen(held)) for name, held in value.items()]
    return [seen(item) for item in value] if isinstance(value, (list, tuple)) else value


def ten_steps(make, compiled):
    case = make()
    step = paddle.jit.to_static(case.step, full_graph=True) if compiled else case.step
    found = []
    for x, y in batches(10):
        result = seen(step(x, y))
        gradients = [None if p.grad is None else p.grad.numpy() for p in case.parameters]
        states = [list(map(seen, o.state_dict().values())) for o in case.optimizers]
        found.append((result, [p.numpy() for p in case.parameters], gradients, seen(case.state())))
    return found, states, step


def close(a, b):
    if isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            close(x, y)
    elif a is None or isinstance(a, str):
        assert a == b
    else:
        np.testing.assert_allclose(b, a, 1e-4, 1e-5)


@pytest.mark.parametrize(
    "make",
    [
        rate_on_a_path, rate_in_turns, scheduler_on_a_path, one_of_two_optimizers,
        accumulated_until_a_tensor_says_so,
    ],
)  # fmt: skip
def test_ten_steps(make):
    expected, states, _ = ten_steps(make, compiled=False)
    found, own_states, step = ten_steps(make, compiled=True)
    close(expected, found)
    close(states, own_states)
    assert step.cache_info().misses <= 2  # gradients are None at first, zeros afterwards
