"""Backward, in loops that a tensor stops, through a loss that the iteration before computed: as in eager code."""

import numpy as np
import pytest

import vitrify as paddle
from tests.jit.test_steps_on_paths import close, seen
from tests.jit.training_steps import Case, batches, mlp
from vitrify import optimizer as opt
from vitrify.core.errors import UnsupportedError
from vitrify.nn import functional as F


def until_small(make):
    model = mlp()
    rate = opt.lr.ExponentialDecay(0.05, 0.9)
    optimizer = make(rate, model.parameters())

    def step(x, y):
        loss, n = F.mse_loss(model(x), y), 0
        while loss > 0.05 and n < 5:
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            rate.step()
            loss = F.mse_loss(model(x), y)
            n += 1
        return loss, n

    return Case(step, model.parameters(), [optimizer], rate.state_dict)


def by_momentum():
    clip = paddle.nn.ClipGradByGlobalNorm(0.5)
    return until_small(lambda rate, p: opt.Momentum(rate, 0.9, p, weight_decay=0.01, grad_clip=clip))


def by_adam():
    return until_small(lambda rate, p: opt.AdamW(rate, parameters=p))


def of_two_networks():
    a, b = mlp(), mlp(seed=1)
    first, second = opt.SGD(0.1, a.parameters()), opt.SGD(0.1, b.parameters())

    def step(x, y):
        one, two, n = F.mse_loss(a(x), y), F.mse_loss(b(x), y), 0
        while one + two > 0.3 and n < 4:
            if one > two:
                (one * 2 + two**2).backward()
            else:
                one.backward()
                two.backward()
            first.step()
            second.step()
            first.clear_grad()
            second.clear_grad()
            one, two = F.mse_loss(a(x), y), F.mse_loss(b(x), y)
            n += 1
        return one.item(), two.item(), n

    return Case(step, [*a.parameters(), *b.parameters()], [first, second])


def joined_by_a_penalty():
    model = mlp()
    model[0].weight.register_hook(lambda ct: ct * 2)
    sgd = opt.SGD(0.05, model.parameters())

    def step(x, y):
        loss, n = F.mse_loss(model(x), y), 0
        while loss > 0.1 and n < 4:
            (loss + 0.1 * (model[0].weight ** 2).sum()).backward()
            sgd.step()
            sgd.clear_grad()
            loss = F.mse_loss(model(x), y)
            n += 1
        return loss.item(), n

    return Case(step, model.parameters(), [sgd])


def scaled():
    model = mlp()
    sgd, scaler = opt.SGD(0.05, model.parameters()), paddle.amp.GradScaler(True, 64.0, incr_every_n_steps=2)

    def step(x, y):
        loss, n = F.mse_loss(model(x), y), 0
        while loss > 0.1 and n < 4:
            scaler.scale(loss).backward()
            scaler.step(sgd)
            scaler.update()
            sgd.clear_grad()
            loss = F.mse_loss(model(x), y)
            n += 1
        return loss.item(), n

    return Case(step, model.parameters(), [sgd], lambda: list(scaler.state_dict().values()))


def summed_and_retained():
    model = mlp()
    sgd = opt.SGD(0.05, model.parameters())

    def step(x, y):
        total, n = F.mse_loss(model(x), y), 0
        while n < 3 and total < 50:
            total.backward(retain_graph=True)
            total = total + F.mse_loss(model(x) * (n + 1), y)
            n += 1
        sgd.step()
        sgd.clear_grad()
        return total.item(), n

    return Case(step, model.parameters(), [sgd])


def in_rows():
    model = mlp()
    adam = opt.Adam(0.05, parameters=model.parameters())

    def step(x, y):
        loss, n = F.mse_loss(model(x), y), 0
        for row in x:
            if row.sum() > 1:
                continue
            loss.backward()
            adam.step()
            adam.clear_grad()
            loss = F.mse_loss(model(x), y)
            n += 1
        return loss.item(), n

    return Case(step, model.parameters(), [adam])


def truncated_where_a_tensor_says_so():
    w = paddle.create_parameter([4], "float32", default_initializer=paddle.nn.initializer.Constant(0.5))
    sgd = opt.SGD(0.1, parameters=[w])

    def step(x, y):
        h, loss, n = paddle.zeros([4]), paddle.zeros([]), 0
        for row in x:
            h = paddle.tanh(h * w + row)
            loss = loss + (h**2).sum()
            if loss > 2:
                loss.backward()
                sgd.step()
                sgd.clear_grad()
                h, loss = h.detach(), paddle.zeros([])
                n += 1
        return h.detach(), loss.item(), n

    return Case(step, [w], [sgd])


def descent_by_hand():
    w = paddle.create_parameter([4, 1], "float32", default_initializer=paddle.nn.initializer.Constant(0.5))

    def step(x, y):
        loss, n = F.mse_loss(x @ w, y), 0
        while loss > 0.2 and n < 5:
            (slope,) = paddle.grad(loss, w)
            with paddle.no_grad():
                w.subtract_(0.1 * slope)
            loss = F.mse_loss(x @ w, y)
            n += 1
        return loss.item(), n

    return Case(step, [w], [])


def learning_to_learn():
    w = paddle.create_parameter([4, 1], "float32", default_initializer=paddle.nn.initializer.Constant(0.5))
    adam = opt.Adam(0.05, parameters=[w])

    def step(x, y):
        fast, n = w, 0
        loss = F.mse_loss(x @ fast, y)
        while loss > 0.1 and n < 4:
            (slope,) = paddle.grad(loss, [fast], create_graph=True)
            fast = fast - 0.1 * slope
            loss = F.mse_loss(x @ fast, y)
            n += 1
        loss.backward()
        adam.step()
        adam.clear_grad()
        return loss, n

    return Case(step, [w], [adam])


def learning_the_head():
    body, head = paddle.nn.Linear(4, 6), paddle.nn.Linear(6, 1)
    parameters = [*body.parameters(), *head.parameters()]
    adam = opt.Adam(0.05, parameters=parameters)

    def step(x, y):
        w, b, n = head.weight, head.bias, 0
        h = body(x).tanh()
        loss = F.mse_loss(h @ w + b, y)
        while loss > 0.1 and n < 4:
            of_w, of_b = paddle.grad(loss, [w, b], create_graph=True)
            w, b = w - 0.1 * of_w, b - 0.1 * of_b
            loss = F.mse_loss(h @ w + b, y)
            n += 1
        loss.backward()
        adam.step()
        adam.clear_grad()
        return loss, n

    return Case(step, parameters, [adam])


def downhill():
    model = mlp()

    def step(x, y):
        z = x.detach()
        z.stop_gradient = False
        energy, n = model(z).sum(), 0
        while energy > -1 and n < 6:
            (slope,) = paddle.grad(energy, z)
            z = (z - 0.2 * slope).detach()
            z.stop_gradient = False
            energy = model(z).sum()
            n += 1
        return z.detach(), n

    return Case(step, model.parameters(), [])


def six_steps(make, compiled):
    paddle.seed(0)
    case = make()
    step = paddle.jit.to_static(case.step, full_graph=True) if compiled else case.step
    found = []
    for x, y in batches(6):
        result = seen(step(x, y))
        gradients = [None if p.grad is None else p.grad.numpy() for p in case.parameters]
        found.append((result, [p.numpy() for p in case.parameters], gradients, seen(case.state())))
    return found, step


@pytest.mark.parametrize(
    "make",
    [
        by_momentum, by_adam, of_two_networks, joined_by_a_penalty, scaled, summed_and_retained, in_rows,
        truncated_where_a_tensor_says_so, descent_by_hand, learning_to_learn, learning_the_head, downhill,
    ],
)  # fmt: skip
def test_six_steps(make):
    expected, _ = six_steps(make, compiled=False)
    found, step = six_steps(make, compiled=True)
    close(expected, found)
    assert step.cache_info().misses <= 2  # gradients are None at first, zeros afterwards


def again(loss, total):
    loss.backward()
    loss.backward()
    return loss


def summed(loss, total):
    total.backward()
    return total


@pytest.mark.parametrize("body", [again, summed])
def test_what_was_freed_is_not_passed_again(body):
    """Eager code raises in the iteration that comes to what was freed; a program does, or is refused."""
    w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)

    def function(x):
        loss = total = (w * x).sum()
        n = 0
        while n < 3 and total < 50:
            body(loss, total)
            loss = (w * x).sum()
            total = total + loss
            n += 1
        return w.grad

    with pytest.raises(RuntimeError, match="freed it"):
        function(paddle.ones([2]))
    w.grad = None
    with pytest.raises((UnsupportedError, RuntimeError), match=r"freed it|from the iteration or call before"):
        paddle.jit.to_static(function, full_graph=True)(paddle.ones([2]))


def leaf_and_what_it_gives(x):
    h, n = x.detach(), 0
    h.stop_gradient = False
    loss = (h * h).sum()
    while n < 3 and loss < 5:
        h = (x * (n + 2)).detach()
        h.stop_gradient = False
        loss = (h * h).sum()
        n += 1
    return h, loss


def test_a_leaf_of_a_loop_leaves_with_what_it_gives():
    found = []
    for function in (leaf_and_what_it_gives, paddle.jit.to_static(leaf_and_what_it_gives)):
        h, loss = function(paddle.ones([2]))
        loss.backward()
        found.append(h.grad.tolist())
    assert found[0] == found[1]
    with pytest.raises(UnsupportedError, match="a leaf that was made inside leaves the function"):
        paddle.jit.to_static(leaf_and_what_it_gives, full_graph=True)(paddle.ones([2]))


def asked_behind(x):
    h, loss = leaf_and_what_it_gives(x)
    return paddle.grad(loss, [h])[0]


def test_gradients_between_what_a_loop_gives():
    np.testing.assert_equal(
        paddle.jit.to_static(asked_behind)(paddle.ones([2])).numpy(), asked_behind(paddle.ones([2])).numpy()
    )
    with pytest.raises(UnsupportedError, match="through what it got from the iteration or call before"):
        paddle.jit.to_static(asked_behind, full_graph=True)(paddle.ones([2]))


def changed_on_a_path(x):
    w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    loss = (w * w * x).sum()
    if x.sum() > 0:
        with paddle.no_grad():
            w.add_(paddle.ones([2]))
    loss.backward()
    return w.grad


def test_a_leaf_that_a_path_may_have_changed():
    with pytest.raises(UnsupportedError, match="as it was before a branch or loop that a tensor decides"):
        paddle.jit.to_static(changed_on_a_path, full_graph=True)(-paddle.ones([2]))
    for value in (1.0, -1.0):
        found = []
        for function in (changed_on_a_path, paddle.jit.to_static(changed_on_a_path)):
            try:
                found.append(function(paddle.full([2], value)).tolist())
            except RuntimeError:
                found.append("raised")
        assert found[0] == found[1]
