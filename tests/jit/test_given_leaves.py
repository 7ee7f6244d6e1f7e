"""`backward()` inside of a program to the leaves that a call is given, whose `.grad` is what eager code makes of it."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.nn import functional as F


def squared(x):
    (x * x).sum().backward()


def twice(x):
    (x * x).sum().backward()
    (x * 3).mean().backward()
    return x


def read(x):
    x.stop_gradient = False
    loss = (x**3).sum()
    loss.backward()
    return x.grad.detach() + 1, loss


def assigned(x):
    x.grad = x * 2
    (x * x).sum().backward()


def given_up(x):
    (x * x).sum().backward()
    x.grad = None
    (x * 5).sum().backward()


def cleared(x):
    (x * x).sum().backward()
    found = x.grad.detach().clone()
    x.clear_grad()
    return found


def on_a_path(x):
    if x.sum() > 0:
        (x * x).sum().backward()


def of_one_path(x):
    y = (x * x).sum() if x.sum() > 0 else (x.detach() * 2).sum()
    y.backward()
    return y.item()


def in_turns(x):
    n, total = 0, paddle.zeros([])
    while n < 4 and total < 9:
        loss = (x * x).sum() * (n + 1)
        loss.backward()
        total = total + loss.detach()
        n += 1
    return n


def of_second_order(x):
    x.stop_gradient = False
    (slope,) = paddle.grad((x**3).sum(), x, create_graph=True)
    (slope**2).sum().backward()
    return x.grad.detach()


def descends(x):
    x.stop_gradient = False
    F.mse_loss(x, x.detach() * 0.5).backward()
    with paddle.no_grad():
        x.subtract_(0.1 * x.grad)
    x.clear_grad()
    return x.sum().detach()


def asked_for_none(x):
    return x * 2 if x.grad is None else x * 3


def leaf(values, **kwargs):
    return paddle.to_tensor(values, **kwargs)


def computed(values):
    return leaf(values, stop_gradient=False) * 2


def hooked(values):
    x = leaf(values, stop_gradient=False)
    x.register_hook(lambda ct: ct * 10)
    return x


def wanted(values):
    return leaf(values, stop_gradient=False)


BODIES = [
    squared, twice, read, assigned, given_up, cleared, on_a_path, of_one_path, in_turns, of_second_order, descends,
    asked_for_none,
]  # fmt: skip
CALLS = [[1.0, -0.5, 2.0], [-1.0, 0.25, -2.0], [3.0, 0.5, 0.75]]


def seen(value):
    if isinstance(value, tuple):
        return [seen(item) for item in value]
    return value.tolist() if isinstance(value, paddle.Tensor) else value


@pytest.mark.parametrize(
    ("body", "make"),
    [*[(body, make) for body in BODIES for make in (wanted, hooked)], (squared, computed), (on_a_path, computed)],
)
def test_as_eager_code_leaves_them(body, make):
    compiled = paddle.jit.to_static(body, full_graph=True)
    for values in CALLS:
        ends = []
        for function in (body, compiled):
            x = make(values)
            given = seen(function(x))
            ends.append((given, None if x.grad is None else x.grad.tolist(), x.tolist(), x.stop_gradient))
        np.testing.assert_equal(ends[1], ends[0])
    assert compiled.cache_info().misses == 1


@pytest.mark.parametrize("body", BODIES)
def test_gradients_come_to_those_that_are_there(body):
    compiled = paddle.jit.to_static(body, full_graph=True)
    ends = []
    for function in (body, compiled):
        x = wanted(CALLS[0])
        found = []
        for _ in range(3):
            found.append(seen(function(x)))
            found.append(None if x.grad is None else x.grad.tolist())
        ends.append(found)
    assert ends[1] == ends[0]


def test_what_is_kept_goes_on_in_the_graph_of_the_caller():
    def kept(x):
        loss = (x * x).sum()
        loss.backward(retain_graph=True)
        return loss

    ends = []
    for function in (kept, paddle.jit.to_static(kept, full_graph=True)):
        x = wanted(CALLS[0])
        (function(x) * 2).backward()
        ends.append(x.grad.tolist())
    assert ends[0] == ends[1] == [6.0, -3.0, 12.0]


def test_points_of_an_equation():
    """Derivatives by the given points make the loss, whose gradient comes to them, too: one program."""
    ends = []
    for is_compiled in (False, True):
        paddle.seed(0)
        net = paddle.nn.Sequential(paddle.nn.Linear(2, 8), paddle.nn.Tanh(), paddle.nn.Linear(8, 1))
        adam = paddle.optimizer.Adam(0.01, parameters=net.parameters())

        def step(x, net=net, adam=adam):
            x.stop_gradient = False
            (first,) = paddle.grad(net(x).sum(), x, create_graph=True)
            (second,) = paddle.grad(first[:, 0].sum(), x, create_graph=True)
            loss = ((second[:, 0] + first[:, 1]) ** 2).mean()
            loss.backward()
            adam.step()
            adam.clear_grad(set_to_zero=False)
            return loss

        function = paddle.jit.to_static(step, full_graph=True) if is_compiled else step
        points = np.random.default_rng(0).normal(size=(3, 5, 2)).astype("float32")
        ends.append([function(paddle.to_tensor(x)).item() for x in points])
        if is_compiled:
            assert function.cache_info().misses == 1
    np.testing.assert_allclose(ends[1], ends[0], 1e-5)
