"""Backward gives up what it has used: residuals and cotangents are freed while the backward program runs."""

from __future__ import annotations

import weakref

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import StaleBackwardError


class Probe:
    """Which arrays are still alive whenever a kernel of the backward program runs."""

    def __init__(self, monkeypatch, segment):
        self.alive = []
        self.watched = []
        core = segment.backward_core
        groups = [i.attrs["body"] for i in core.instructions if i.operator.op.name == "fused"]
        for looked_at in (core, *groups):
            monkeypatch.setattr(looked_at, "_steps", [self.looking(step) for step in looked_at._steps])

    def watch(self, arrays):
        self.watched = [weakref.ref(a) for a in arrays if a.base is None and a.nbytes >= 4096]

    def looking(self, step):
        def look(frame):
            step(frame)
            self.alive.append(sum(ref() is not None for ref in self.watched))

        return look


def chain(x):
    for _ in range(6):
        x = paddle.tanh(x)
    return x.sum()


def run(monkeypatch, retain_graph):
    fn = paddle.jit.to_static(chain, full_graph=True)
    x = paddle.to_tensor(np.ones((32, 32), "float32"), stop_gradient=False)
    fn(x).backward()
    loss = fn(x)
    node = loss._node
    probe = Probe(monkeypatch, node.segment)
    probe.watch(node.residuals)
    loss.backward(retain_graph=retain_graph)
    return loss, probe


def test_residuals_go_one_by_one(monkeypatch):
    loss, probe = run(monkeypatch, retain_graph=False)
    assert len(probe.watched) == 6
    assert probe.alive == sorted(probe.alive, reverse=True) and probe.alive[-1] == 0
    assert len(set(probe.alive)) >= 6
    with pytest.raises(StaleBackwardError):
        loss.backward()


def test_a_graph_that_is_retained_keeps_them(monkeypatch):
    loss, probe = run(monkeypatch, retain_graph=True)
    assert set(probe.alive) == {6}
    loss.backward()
    assert probe.alive[-1] == 0


def test_cotangents_go_too():
    """The seed of backward is freed before the last instruction: nobody on the way holds on to it."""
    fn = paddle.jit.to_static(lambda x: paddle.tanh(paddle.tanh(x)) * 1.5, full_graph=True)
    x = paddle.to_tensor(np.ones((32, 32), "float32"), stop_gradient=False)
    y = fn(x)
    seen = []
    ct = paddle.to_tensor(np.ones((32, 32), "float32")) * 2
    node = y._node
    core = node.segment.backward_core
    alive = weakref.ref(ct._data)
    steps = list(core._steps)
    core._steps = [*steps[:-1], lambda frame: (steps[-1](frame), seen.append(alive()))]
    given = [ct]
    del ct, y
    with paddle.no_grad():
        node.vjp(given, last=True)
    assert given == [] and seen == [None]


@pytest.mark.parametrize("retain_graph", [False, True])
def test_gradients_are_the_same(retain_graph):
    x = paddle.to_tensor(np.linspace(-1, 1, 12, dtype="float32").reshape(3, 4), stop_gradient=False)
    paddle.jit.to_static(chain, full_graph=True)(x).backward(retain_graph=retain_graph)
    compiled = x.grad.numpy()
    x.clear_gradient(False)
    chain(x).backward()
    np.testing.assert_allclose(compiled, x.grad.numpy(), rtol=1e-6)


def test_a_loop_gives_up_what_it_carried():
    """While an iteration computes, the values that the one before it got are gone."""
    alive = []

    @paddle.jit.to_static(full_graph=True)
    def loop(x, n):
        i = paddle.zeros([], "int64")
        while i < n:
            x = paddle.tanh(x) + 1
            i = i + 1
        return x

    x = paddle.to_tensor(np.ones((64, 64), "float32"))
    with paddle.no_grad():
        loop(x, paddle.to_tensor(3))
        core = loop.program_cache.programs().__next__().segment.forward_core
        body = next(i.attrs["body"] for i in core.instructions if "body" in i.attrs)
        steps = list(body._steps)
        seen = []

        def last(frame):
            steps[-1](frame)
            alive.append({id(array) for array in (ref() for ref in seen) if array is not None})
            seen.extend(weakref.ref(a) for a in frame if isinstance(a, np.ndarray) and a.size == 4096)

        body._steps = [*steps[:-1], last]
        loop(x, paddle.to_tensor(12))
    assert len(alive) == 12 and all(len(found) <= 1 for found in alive)  # one where it is written in place


@pytest.mark.parametrize("n", [4, 64])
def test_a_loop_without_gradients_needs_the_same_memory_however_long(n):
    """Nothing of an iteration outlives it when no backward will come; with one, its residuals do."""
    assert peak_of_loop(n, no_grad=True) < 6 * 128 * 128 * 4
    assert peak_of_loop(n, no_grad=False) > n * 128 * 128 * 4


def peak_of_loop(n, no_grad):
    @paddle.jit.to_static(full_graph=True)
    def loop(x, n):
        i = paddle.zeros([], "int64")
        while i < n:
            x = paddle.tanh(paddle.tanh(x) + 1)
            i = i + 1
        return x

    x = paddle.to_tensor(np.ones((128, 128), "float32"), stop_gradient=False)
    with paddle.set_grad_enabled(not no_grad):
        for _ in range(4):  # passes, and their modules, come with a program's later runs
            loop(x, paddle.to_tensor(1))
        with paddle.device.count_host_memory():
            loop(x, paddle.to_tensor(n))
            return paddle.device.max_memory_allocated("cpu")
