"""Training steps that end with the update: each builds its own model, and is run eagerly and as a program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import vitrify as paddle
from vitrify import optimizer as opt
from vitrify.nn import functional as F

BATCH, WIDTH = 6, 4


@dataclass
class Case:
    """`step(x, y)` is one step; `state()`, what it leaves behind beside parameters and the optimizers' state."""

    step: Callable[..., Any]
    parameters: list[Any]
    optimizers: list[Any]
    state: Callable[[], Any] = field(default=lambda: None)


def mlp(seed: int = 0, width: int = WIDTH, out: int = 1) -> Any:
    paddle.seed(seed)
    return paddle.nn.Sequential(paddle.nn.Linear(width, 5), paddle.nn.ReLU(), paddle.nn.Linear(5, out))


def plain(make: Callable[[list[Any]], Any], set_to_zero: bool = True) -> Case:
    model = mlp()
    optimizer = make(model.parameters())

    def step(x, y):
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad(set_to_zero)
        return loss

    return Case(step, model.parameters(), [optimizer])


def scheduled() -> Case:
    model, rate = mlp(), opt.lr.StepDecay(0.1, 2, 0.5)
    momentum = opt.Momentum(rate, parameters=model.parameters())

    def step(x, y):
        loss = F.mse_loss(model(x), y)
        loss.backward()
        momentum.step()
        momentum.clear_grad()
        rate.step()
        return loss

    return Case(step, model.parameters(), [momentum], lambda: (rate.state_dict(), rate()))


def scheduled_before() -> Case:
    """The rate after the scheduler's step is what the update takes, and what the function gives back."""
    model, rate = mlp(), opt.lr.CosineAnnealingDecay(0.1, 4)
    sgd = opt.SGD(rate, parameters=model.parameters())

    def step(x, y):
        before = sgd.get_lr()
        rate.step()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        sgd.step()
        sgd.clear_grad(False)
        return loss, before, sgd.get_lr(), rate()

    return Case(step, model.parameters(), [sgd], rate.state_dict)


def rate_set() -> Case:
    """A rate that the step sets itself: by a count of Python's, by the rate before, and by the loss."""
    model = mlp()
    adam, sgd = opt.Adam(0.1, parameters=model.parameters()), opt.SGD(0.1, parameters=model.parameters())
    done = {"steps": 0}

    def step(x, y):
        done["steps"] += 1
        adam.set_lr(0.1 * min(1.0, done["steps"] / 4))
        loss = F.mse_loss(model(x), y)
        loss.backward()
        adam.step()
        sgd.set_lr(float(loss) * 0.01)
        sgd.step()
        adam.clear_grad(set_to_zero=False)
        adam.set_lr(adam.get_lr() * 0.5)
        return loss, adam.get_lr()

    return Case(step, model.parameters(), [adam, sgd], lambda: [adam.get_lr(), sgd.get_lr(), done["steps"]])


def several_steps() -> Case:
    model, rate = mlp(), opt.lr.LinearWarmup(opt.lr.ExponentialDecay(0.1, 0.5), 4, 0.01, 0.1)
    adam = opt.Adam(rate, parameters=model.parameters())

    def step(x, y):
        losses = []
        for i in range(3):
            loss = F.mse_loss(model(x[2 * i : 2 * i + 2]), y[2 * i : 2 * i + 2])
            loss.backward()
            adam.step()
            adam.clear_grad()
            rate.step()
            losses.append(loss)
        return losses

    return Case(step, model.parameters(), [adam], rate.state_dict)


def plateau() -> Case:
    model, rate = mlp(), opt.lr.ReduceOnPlateau(0.1, patience=0)
    sgd = opt.SGD(rate, parameters=model.parameters())

    def step(x, y):
        loss = F.mse_loss(model(x), y)
        loss.backward()
        sgd.minimize(loss)
        sgd.clear_grad()
        rate.step(loss)
        return loss

    return Case(step, model.parameters(), [sgd], rate.state_dict)


class Count:
    """Steps so far."""

    steps = 0


def accumulated() -> Case:
    """Gradients of two calls are added up; a Python number tells when the update comes."""
    model, count = mlp(), Count()
    adam = opt.Adam(0.1, parameters=model.parameters())

    def step(x, y):
        loss = F.mse_loss(model(x), y) / 2
        loss.backward()
        count.steps += 1
        if count.steps % 2 == 0:
            adam.step()
            adam.clear_grad(set_to_zero=False)
        return loss

    return Case(step, model.parameters(), [adam], lambda: count.steps)


def scaled() -> Case:
    """The first scales are too large for float16: those steps are left out."""
    model, scaler = mlp(), paddle.amp.GradScaler(init_loss_scaling=2.0**18, incr_every_n_steps=2)
    adam = opt.Adam(0.1, parameters=model.parameters())

    def step(x, y):
        with paddle.amp.auto_cast(dtype="float16"):
            loss = F.mse_loss(model(x).astype("float32"), y)
        scaler.scale(loss).backward()
        scaler.step(adam)
        scaler.update()
        adam.clear_grad()
        return loss

    return Case(step, model.parameters(), [adam], scaler.state_dict)


def scaled_and_clipped() -> Case:
    model, scaler = mlp(), paddle.amp.GradScaler(init_loss_scaling=1024.0, incr_every_n_steps=2)
    sgd = opt.SGD(0.1, parameters=model.parameters())

    def step(x, y):
        loss = F.mse_loss(model(x), y)
        loss = scaler.scale(loss)
        loss.backward()
        scaler.unscale_(sgd)
        norm = paddle.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        scaler.minimize(sgd, loss)
        sgd.clear_grad()
        return loss, norm

    return Case(step, model.parameters(), [sgd], scaler.state_dict)


def scaled_and_accumulated() -> Case:
    """Every second step updates; the scales are too large at first."""
    model, scaler = mlp(), paddle.amp.GradScaler(init_loss_scaling=2.0**130, incr_every_n_steps=2)
    sgd, count = opt.SGD(0.1, parameters=model.parameters()), Count()

    def step(x, y):
        loss = F.mse_loss(model(x), y)
        scaler.scale(loss / 2).backward()
        count.steps += 1
        if count.steps % 2 == 0:
            scaler.unscale_(sgd)
            scaler.step(sgd)
            scaler.update()
            sgd.clear_grad()
        return loss

    return Case(step, model.parameters(), [sgd], scaler.state_dict)


def averaged() -> Case:
    """A moving average of the parameters, and a leaf that wants a gradient changed under no_grad."""
    model = mlp()
    sgd = opt.SGD(0.1, parameters=model.parameters())
    average = [p.detach().clone() for p in model.parameters()]

    def step(x, y):
        loss = F.mse_loss(model(x), y)
        loss.backward()
        sgd.step()
        sgd.clear_grad(set_to_zero=False)
        with paddle.no_grad():
            for mean, p in zip(average, model.parameters()):
                mean.set_value(mean * 0.9 + p * 0.1)
            model[0].bias.clip_(-0.5, 0.5)
        return loss

    return Case(step, model.parameters(), [sgd], lambda: [mean.tolist() for mean in average])


def followed() -> Case:
    """A second network that takes over the first one's parameters now and then, by a counter and by a tensor."""
    model, target = mlp(1), mlp(2)
    sgd, calls = opt.SGD(0.1, parameters=model.parameters()), [0]

    def step(x, y):
        loss = F.mse_loss(model(x), y + 0.1 * target(x).detach())
        loss.backward()
        sgd.step()
        sgd.clear_grad()
        calls[0] += 1
        if calls[0] % 2 == 0:
            target.set_state_dict(model.state_dict())
        with paddle.no_grad():
            i = 0
            while model[0].weight.abs().sum() * i < 3:
                target[0].bias.set_value(target[0].bias * 0.5 + model[0].bias * 0.5)
                i += 1
        return loss

    return Case(step, model.parameters(), [sgd], lambda: [p.tolist() for p in target.parameters()])


def by_hand() -> Case:
    model = mlp()

    def step(x, y):
        loss = F.mse_loss(model(x), y)
        grads = paddle.grad(loss, model.parameters())
        with paddle.no_grad():
            for p, g in zip(model.parameters(), grads):
                p.subtract_(0.1 * g)
        return loss, grads[0]

    return Case(step, model.parameters(), [])


def adversaries() -> Case:
    """Two optimizers; what one updates, the other's loss depends on."""
    maker, judge = mlp(1, out=WIDTH), mlp(2)
    first = opt.Adam(0.1, parameters=judge.parameters())
    second = opt.Adam(0.05, parameters=maker.parameters())
    entropy = F.binary_cross_entropy_with_logits

    def step(x, y):
        made = maker(x)
        told = entropy(judge(x), paddle.ones_like(y)) + entropy(judge(made.detach()), paddle.zeros_like(y))
        first.clear_grad()
        told.backward()
        first.step()
        fooled = entropy(judge(made), paddle.ones_like(y))
        second.clear_grad()
        fooled.backward()
        second.step()
        return told, fooled

    return Case(step, [*maker.parameters(), *judge.parameters()], [first, second])


def penalty() -> Case:
    """The norm of a gradient is part of the loss."""
    model = mlp()
    sgd = opt.SGD(0.1, parameters=model.parameters())

    def step(x, y):
        between = x * 0.5 + 0.1
        between.stop_gradient = False
        out = model(between).tanh()
        (slope,) = paddle.grad(out.sum(), [between], create_graph=True)
        loss = F.mse_loss(out, y) + ((slope.norm(2, axis=1) - 1) ** 2).mean()
        loss.backward()
        sgd.step()
        sgd.clear_grad()
        return loss

    return Case(step, model.parameters(), [sgd])


def told_of_updated() -> Case:
    """What leaves the function was computed from the parameters as the step left them; so was an average of them."""
    model = mlp()
    adam = opt.Adam(0.1, parameters=model.parameters())
    average = [p.clone() for p in model.parameters()]

    def step(x, y):
        loss = F.mse_loss(model(x), y)
        loss.backward()
        adam.step()
        adam.clear_grad()
        with paddle.no_grad():
            for mean, p in zip(average, model.parameters()):
                mean.set_value(0.9 * mean + 0.1 * p)
        return loss, sum((p**2).sum() for p in model.parameters()).sqrt(), average[0].sum()

    return Case(step, model.parameters(), [adam], lambda: [mean.numpy() for mean in average])


def attacked() -> Case:
    """A leaf that the function makes itself."""
    model = mlp()
    sgd = opt.SGD(0.1, parameters=model.parameters())

    def step(x, y):
        noise = paddle.zeros_like(x)
        noise.stop_gradient = False
        F.mse_loss(model(x + noise), y).backward()
        worse = x + 0.1 * noise.grad.sign()
        sgd.clear_grad(set_to_zero=False)
        loss = F.mse_loss(model(worse), y)
        loss.backward()
        sgd.step()
        return loss

    return Case(step, model.parameters(), [sgd])


def on_some_paths() -> Case:
    """Layers that only some inputs reach: then their parameters get no gradient, and no update."""
    model, often, rarely = mlp(), paddle.nn.Linear(WIDTH, WIDTH), paddle.nn.Linear(WIDTH, WIDTH)
    parameters = [*model.parameters(), *often.parameters(), *rarely.parameters()]
    adam = opt.Adam(0.1, parameters=parameters, grad_clip=paddle.nn.ClipGradByGlobalNorm(0.5))

    def step(x, y):
        n = (x.sum() > 0).astype("int64") * 2
        for _ in range(n):
            x = often(x).tanh()
        if y.sum() > 0:
            x = rarely(x)
        loss = F.mse_loss(model(x), y)
        loss.backward()
        adam.step()
        adam.clear_grad(set_to_zero=False)
        return loss

    return Case(step, parameters, [adam])


def nothing_to_train() -> Case:
    """A loss without parameters, alone and beside another: backward leaves `.grad` as it is."""
    model = mlp()
    adam = opt.Adam(0.1, parameters=model.parameters())

    def step(x, y):
        with paddle.no_grad():
            apart = F.mse_loss(model(x), y)
        apart.backward()
        adam.step()
        paddle.autograd.backward([apart, F.mse_loss(model(x), y)])
        adam.step()
        adam.clear_grad()
        return apart

    return Case(step, model.parameters(), [adam])


def half_precision() -> Case:
    model = mlp()
    adamw = opt.AdamW(0.1, parameters=model.parameters(), multi_precision=True, grad_clip=paddle.nn.ClipGradByNorm(1.0))
    model, adamw = paddle.amp.decorate(model, adamw, level="O2", dtype="bfloat16")

    def step(x, y):
        with paddle.amp.auto_cast(level="O2", dtype="bfloat16"):
            loss = F.mse_loss(model(x).astype("float32"), y)
        loss.backward()
        adamw.step()
        adamw.clear_grad(set_to_zero=False)
        return loss

    def masters():
        return {name: value.tolist() for name, value in adamw.state_dict()["master_weights"].items()}

    return Case(step, model.parameters(), [adamw], masters)


def half_without_copy() -> Case:
    model = mlp()
    model.to(dtype="bfloat16")
    adam = opt.Adam(0.1, parameters=model.parameters())

    def step(x, y):
        loss = F.mse_loss(model(x.astype("bfloat16")).astype("float32"), y)
        loss.backward()
        adam.step()
        adam.clear_grad(set_to_zero=False)
        return loss

    return Case(step, model.parameters(), [adam])


def hooked() -> Case:
    model = mlp()
    sgd = opt.SGD(0.1, parameters=model.parameters())
    model[0].weight.register_hook(lambda grad: grad * 0.5)

    def step(x, y):
        loss = F.mse_loss(model(x), y)
        loss.backward()
        sgd.step()
        sgd.clear_grad(set_to_zero=False)
        return loss

    return Case(step, model.parameters(), [sgd])


def normalized() -> Case:
    """Random numbers, and buffers that change."""
    paddle.seed(0)
    nn = paddle.nn
    model = nn.Sequential(nn.Linear(WIDTH, 5), nn.BatchNorm1D(5), nn.Dropout(0.5), nn.Linear(5, 1))
    adam = opt.Adam(0.1, parameters=model.parameters())

    def step(x, y):
        loss = F.mse_loss(model(x), y)
        loss.backward()
        adam.step()
        adam.clear_grad()
        return loss

    return Case(step, model.parameters(), [adam], lambda: [b.tolist() for b in model.buffers()])


def changed_gradients() -> Case:
    model = mlp()
    sgd = opt.SGD(0.1, parameters=model.parameters())

    def step(x, y):
        hidden = model[0](x)
        hidden.retain_grads()
        loss = F.mse_loss(model[2](F.relu(hidden)), y)
        loss.backward(retain_graph=True)
        loss.backward()
        total = 0
        for p in model.parameters():
            if p.grad is not None:
                p.grad = p.grad * 2
                total = total + p.grad.abs().sum()
        model[0].weight.grad *= 0.5
        sgd.step()
        model.clear_gradients()
        return loss, total, model[0].weight.grad, hidden.grad

    return Case(step, model.parameters(), [sgd])


def gradients_stay() -> Case:
    """Nobody clears the gradients: each call adds to them."""
    model = mlp()

    def step(x, y):
        loss = F.mse_loss(model(x), y)
        loss.backward()
        return loss

    return Case(step, model.parameters(), [])


def until_good_enough() -> Case:
    """Steps on one batch, of which the losses leave in a list of unknown length."""
    model = mlp()
    adam = opt.Adam(0.1, parameters=model.parameters())

    def step(x, y):
        losses = []
        for _ in range(3):
            losses.append(F.mse_loss(model(x), y))
            losses[-1].backward()
            adam.step()
            adam.clear_grad()
            if losses[-1] < 1.5:
                break
        return losses

    return Case(step, model.parameters(), [adam])


CASES = [
    scheduled, scheduled_before, rate_set, several_steps, plateau, accumulated, scaled, scaled_and_clipped,
    scaled_and_accumulated, averaged,
    followed, by_hand, adversaries, penalty, attacked, told_of_updated, on_some_paths, half_precision,
    half_without_copy, hooked, normalized, changed_gradients, gradients_stay, nothing_to_train,
    until_good_enough,
]  # fmt: skip


def batches(count: int) -> Any:
    """`count` pairs of input and target."""
    rng = np.random.default_rng(0)
    for _ in range(count):
        yield [paddle.to_tensor(rng.normal(size=(BATCH, width)).astype("float32")) for width in (WIDTH, 1)]
