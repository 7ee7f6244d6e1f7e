"""Leaves changed in place under no_grad: what is computed from any version of one gives its gradient to it."""

from __future__ import annotations

import sys

import pytest

import vitrify as paddle
from vitrify.core.errors import StaleBackwardError

from ..end_to_end.differential import compare

X = [1.0, 1.0, 2.0]


def add_one(p):
    with paddle.no_grad():
        p.add_(paddle.ones([3]))


def before_and_after(p, x):
    before = (p * x).sum()
    add_one(p)
    return before + (p * p * x).sum()


def on_a_path(p, x):
    if x.sum() > 0:
        with paddle.no_grad():
            p.set_value(p * 2)
        return (p * p * x).sum()
    return (p * x).sum()


def after_a_path(p, x):
    if x.sum() > 3:
        add_one(p)
    return (p * p * x).sum()


def in_a_loop(p, x):
    total = x.sum() * 0
    for _ in range(paddle.to_tensor(3)):
        total = total + (p * x).sum()
        add_one(p)
    return total + (p * p).sum()


def asked_for(p, x):
    before = (p * x).sum()
    add_one(p)
    (found,) = paddle.grad(before + (p * p * x).sum(), [p])
    return found


def backward_inside(p, x):
    before = (p * x).sum()
    if x.sum() > 0:
        add_one(p)
        before = before + (p * p * x).sum()
    before.backward()
    return before.detach()


def backward_twice(p, x):
    for _ in range(2):
        loss = (p * p * x).sum()
        loss.backward()
        with paddle.no_grad():
            p.set_value(p - 0.1 * p.grad)
        p.clear_gradient()
    return p.norm()


def nothing_reads_it(p, x):
    add_one(p)
    return x * 2


def told(make, calls, run):
    """What calls of a function that changes its own leaf gave, with the gradient and the content of the leaf."""
    p = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
    p = p * 1 if calls == "no leaf" else p
    held, found = p, []
    function = run(lambda x: make(held, x))
    for _ in range(3):
        out = function(paddle.to_tensor(X))
        if not out.stop_gradient and calls != "no backward":
            out.sum().backward(retain_graph=True)
        found.append((out.tolist(), out.stop_gradient, None if p.grad is None else p.grad.tolist(), p.tolist()))
    return found


WAYS = {
    "eager": lambda f: f,
    "whole": lambda f: paddle.jit.to_static(f, full_graph=True),
    "plain": paddle.jit.to_static,
}
CASES = [
    before_and_after, on_a_path, after_a_path, in_a_loop, asked_for, backward_inside, backward_twice, nothing_reads_it
]  # fmt: skip


@pytest.mark.parametrize("calls", ["backward", "no backward"])
@pytest.mark.parametrize("make", CASES, ids=lambda f: f.__name__)
def test_the_same_as_eager(make, calls):
    eager = told(make, calls, WAYS["eager"])
    assert told(make, calls, WAYS["whole"]) == eager
    assert told(make, calls, WAYS["plain"]) == eager


@pytest.mark.parametrize("make", [before_and_after, on_a_path, in_a_loop, nothing_reads_it], ids=lambda f: f.__name__)
def test_a_tensor_that_is_no_leaf_keeps_its_place_on_the_tape(make):
    assert told(make, "no leaf", WAYS["whole"]) == told(make, "no leaf", WAYS["eager"])


@pytest.mark.parametrize("make", CASES, ids=lambda f: f.__name__)
def test_no_python_runs_on_later_calls(make):
    p = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
    static = paddle.jit.to_static(lambda x: make(p, x), full_graph=True)
    x = paddle.to_tensor(X)
    for _ in range(3):  # the third has the gradient that the second met, if any
        static(x)
    ran = []
    sys.setprofile(lambda frame, event, _: ran.append(frame.f_code.co_name) if frame.f_code is make.__code__ else None)
    try:
        static(x)
    finally:
        sys.setprofile(None)
    assert not ran


def read_before(p, x):
    out = (p * p * x).sum()
    add_one(p)
    return out


def test_what_was_computed_before_the_change_is_stale():
    p = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
    for run in WAYS.values():
        out = run(lambda x: read_before(p, x))(paddle.to_tensor(X))
        with pytest.raises(StaleBackwardError, match="modified in place"):
            out.backward()


def changed_argument(x):
    y = x * 2
    with paddle.no_grad():
        x.add_(paddle.ones([3]))
    return (x * y.detach()).sum() + y.sum()


def test_arguments_keep_their_place_on_the_tape():
    compare(changed_argument, (X,))


def adversaries(run):
    """Steps of which a function does one half, and gives out the loss of the other, whose backward is outside of it."""
    paddle.seed(3)
    maker, judge = paddle.nn.Linear(3, 2), paddle.nn.Linear(2, 1)
    first, second = (paddle.optimizer.SGD(0.1, parameters=m.parameters()) for m in (maker, judge))

    def judged(noise, real):
        loss = judge(maker(noise).detach()).mean() - judge(real).mean()
        loss.backward()
        second.step()
        second.clear_grad()
        return -judge(maker(noise)).mean()

    function, told = run(judged), []
    for _ in range(3):
        loss = function(paddle.full([4, 3], 0.5), paddle.ones([4, 2]))
        loss.backward()
        first.step()
        told.append([loss.tolist(), *[p.grad.tolist() for p in judge.parameters()]])
        first.clear_grad()
        second.clear_grad()
    return [*told, *[p.tolist() for p in (*maker.parameters(), *judge.parameters())]]


def test_backward_outside_reaches_parameters_that_an_update_inside_changed():
    assert adversaries(WAYS["whole"]) == adversaries(WAYS["eager"])
