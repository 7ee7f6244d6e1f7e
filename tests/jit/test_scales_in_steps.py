"""The scale of a GradScaler within a program: adapted where the run comes by, as often as it does, and told of."""

import numpy as np
import pytest

import vitrify as paddle
from tests.jit.training_steps import mlp
from vitrify.nn import functional as F


def in_turns(model, sgd, scaler):
    def step(x, y):
        n, loss = 0, paddle.ones([])
        while n < 4 and loss > 0.05:
            loss = F.mse_loss(model(x), y)
            scaler.scale(loss).backward()
            scaler.step(sgd)
            scaler.update()
            sgd.clear_grad()
            n += 1
        return n, scaler.state_dict()["scale"]

    return step


def by_rows(model, sgd, scaler):
    def step(x, y):
        n = 0
        for row, wanted in zip(x, y):
            loss = F.mse_loss(model(row.unsqueeze(0)), wanted.unsqueeze(0))
            if loss < 0.05:
                continue
            scaler.scale(loss).backward()
            scaler.unscale_(sgd)
            for p in model.parameters():
                p.grad = p.grad.clip(-0.5, 0.5)
            scaler.step(sgd)
            scaler.update()
            sgd.clear_grad()
            n += 1
            if scaler.state_dict()["scale"] < 500:
                break
        return n

    return step


def accumulated(model, sgd, scaler):
    def step(x, y):
        print(scaler.state_dict())
        for i in range(4):
            scaler.scale(F.mse_loss(model(x), y) / 2).backward()
            if i % 2 == 1:
                scaler.step(sgd)
                scaler.update()
                sgd.clear_grad()
        print(scaler.state_dict())

    return step


def on_a_path(model, sgd, scaler):
    def step(x, y):
        for _ in range(3):
            loss = F.mse_loss(model(x), y)
            if loss > 0.3:
                scaler.scale(loss).backward()
                scaler.minimize(sgd, scaler.scale(loss))
                sgd.clear_grad()
        return loss

    return step


@pytest.mark.parametrize("dynamic", [True, False])
@pytest.mark.parametrize("make", [in_turns, by_rows, accumulated, on_a_path])
def test_as_eager_code_adapts_it(make, dynamic, capsys):
    rng = np.random.default_rng(3)
    batches = [[rng.normal(size=(5, 4)).astype("float32"), rng.normal(size=(5, 1)).astype("float32")] for _ in range(5)]
    batches[2][0][:] *= np.float32(1e30)  # whose gradients are not finite
    ends = []
    for is_compiled in (False, True):
        model = mlp()
        sgd = paddle.optimizer.SGD(0.02, parameters=model.parameters())
        scaler = paddle.amp.GradScaler(True, 1024.0, incr_every_n_steps=2, use_dynamic_loss_scaling=dynamic)
        step = make(model, sgd, scaler)
        if is_compiled:
            step = paddle.jit.to_static(step, full_graph=True)
        found = []
        for x, y in batches:
            result = step(paddle.to_tensor(x), paddle.to_tensor(y))
            found.append(result.item() if isinstance(result, paddle.Tensor) else result)
            found += [p.numpy() for p in model.parameters()]
            found.append(list(scaler.state_dict().values()))
        ends.append((found, capsys.readouterr().out))
        if is_compiled:
            assert step.cache_info().misses <= 2  # gradients are None at first, zeros afterwards
    assert ends[1][1] == ends[0][1]
    for one, other in zip(*[end[0] for end in ends]):
        np.testing.assert_allclose(np.asarray(other, "float64"), np.asarray(one, "float64"), 1e-4, 1e-5)


def test_other_settings_need_another_program():
    model = mlp()
    sgd, scaler = paddle.optimizer.SGD(0.02, parameters=model.parameters()), paddle.amp.GradScaler(True, 8.0)

    @paddle.jit.to_static(full_graph=True)
    def step(x):
        scaler.scale(model(x).mean()).backward()
        scaler.step(sgd)
        scaler.update()
        sgd.clear_grad(set_to_zero=False)

    scales = []
    for every in (3, 1):
        scaler.set_incr_every_n_steps(every)
        step(paddle.ones([2, 4]))
        scales.append(scaler.state_dict()["scale"])
    assert scales == [8.0, 16.0]
