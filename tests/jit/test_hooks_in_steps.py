"""Hooks that a program registers, on leaves and on what it computes, and what they do to Python objects."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import UnsupportedError
from vitrify.nn import functional as F


class Net(paddle.nn.Layer):
    """Two layers, the first of which is looked at."""

    def __init__(self):
        super().__init__()
        paddle.seed(0)
        self.first, self.last = paddle.nn.Linear(4, 6), paddle.nn.Linear(6, 1)
        self.seen, self.count = None, 0

    def forward(self, x):
        return self.last(self.first(x).tanh())


def class_activation(net):
    def step(x):
        activations, slopes = [], []
        h = net.first(x).tanh()
        activations.append(h)
        h.register_hook(lambda ct: slopes.append(ct))
        net.last(h).sum().backward()
        net.clear_gradients()
        return F.relu((slopes[0].mean(0) * activations[0]).sum(1)).detach()

    return step


def by_name_and_in_order(net):
    def step(x):
        slopes, order = {}, []

        def save(name):
            def hook(ct):
                slopes[name] = ct.detach()
                order.append(name)
                return ct * 2

            return hook

        h = net.first(x)
        h.register_hook(save("h"))
        t = h.tanh()
        t.register_hook(save("t"))
        u = t * 1.5 + h
        u.register_hook(save("u"))
        net.last(u).mean().backward()
        net.clear_gradients()
        return order, list(slopes), slopes["h"], slopes["t"]

    return step


def into_attributes(net):
    def note(ct):
        net.seen, net.count = ct.detach(), net.count + 1

    def step(x):
        h = net.first(x)
        h.register_hook(note)
        loss = net.last(h).sum()
        loss.backward(retain_graph=True)
        loss.backward()
        net.clear_gradients()
        return net.seen + 0, net.count

    return step


def a_counter(net):
    def step(x):
        n = 0

        def hook(ct):
            nonlocal n
            n += 1
            return ct * n

        h = net.first(x)
        h.register_hook(hook)
        loss = net.last(h).sum()
        loss.backward(retain_graph=True)
        loss.backward()
        slope = net.first.bias.grad.detach() + 0
        net.clear_gradients()
        return n, slope

    return step


def of_a_parameter(net):
    def step(x):
        norms, w = [], net.first.weight
        handles = [w.register_hook(lambda ct: norms.append(ct.norm().item())), w.register_hook(lambda ct: ct * 0.5)]
        net(x).sum().backward()
        removed = [handle.remove() for handle in (*handles, *handles)]
        net(x).mean().backward()
        slope = w.grad.detach() + 0
        net.clear_gradients()
        return norms, removed, slope

    return step


def in_turns_and_on_a_path(net):
    def step(x):
        n, w = 0, net.first.weight
        while n < 3 and w.norm() > 0.1:
            handle = w.register_hook(lambda ct: ct.clip(-0.1, 0.1))
            loss = (net(x) ** 2).mean()
            if loss > 0.5:
                other = w.register_hook(lambda ct: ct * 3)
                loss.backward()
                other.remove()
            else:
                loss.backward()
            handle.remove()
            n += 1
        slope = w.grad.detach() + 0
        net.clear_gradients()
        return n, slope

    return step


def of_an_argument_and_a_made_leaf(net):
    def step(x):
        x.stop_gradient = False
        handle = x.register_hook(lambda ct: ct * 3)
        own = x.detach() * 2
        own.stop_gradient = False
        own.register_hook(lambda ct: ct + 1)
        (x * x + own * own).sum().backward()
        handle.remove()
        return x.grad.detach(), own.grad.detach()

    return step


def plain(value):
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value.numpy() if isinstance(value, paddle.Tensor) else value


def close(one, other):
    if isinstance(one, list):
        assert len(one) == len(other)
        for a, b in zip(one, other):
            close(a, b)
    elif isinstance(one, (float, np.ndarray)):
        np.testing.assert_allclose(other, one, 1e-5, 1e-6)
    else:
        assert one == other


@pytest.mark.parametrize(
    "make",
    [
        class_activation, by_name_and_in_order, into_attributes, a_counter, of_a_parameter, in_turns_and_on_a_path,
        of_an_argument_and_a_made_leaf,
    ],
)  # fmt: skip
def test_as_in_eager_code(make):
    ends = []
    for is_compiled in (False, True):
        step = make(Net())
        if is_compiled:
            step = paddle.jit.to_static(step, full_graph=True)
        rng = np.random.default_rng(0)
        ends.append([plain(step(paddle.to_tensor(rng.normal(size=(3, 4)).astype("float32")))) for _ in range(3)])
        if is_compiled:
            assert step.cache_info().misses <= 3  # gradients are None at first, zeros afterwards; counts become inputs
    close(*ends)


def left_behind(net, log):
    def step(x):
        net.first.weight.register_hook(lambda ct: ct * 2)
        net(x).sum().backward()

    return step


def of_a_backward_outside(net, log):
    def step(x):
        h = net.first(x)
        h.register_hook(lambda ct: log.append(1))
        loss = net.last(h).sum()
        loss.backward(retain_graph=True)
        return loss

    return step


def of_a_backward_on_a_path(net, log):
    def step(x):
        h = net.first(x)
        h.register_hook(lambda ct: log.append(1))
        loss = net.last(h).sum()
        if loss > 0:
            loss.backward()

    return step


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (left_behind, "stays there when it has ended"),
        (of_a_backward_outside, "the hook changes Python objects"),
        (of_a_backward_on_a_path, "the hook changes Python objects"),
    ],
)
def test_what_no_program_does(make, message):
    net, log = Net(), []
    with pytest.raises(UnsupportedError, match=message):
        paddle.jit.to_static(make(net, log), full_graph=True)(paddle.ones([2, 4]))
    assert log == []
    assert not net.first.weight._hooks
