"""A call like the one before takes a short way: everything that makes it another call must be noticed there."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import vitrify as paddle
from tests.jit.other_calls import (
    OTHERS,
    check_another_trace_and_switching_off,
    check_names_and_wrong_numbers,
    check_other_arguments,
    double,
    tensor,
)
from vitrify.core.dtype import default_dtype_guard
from vitrify.jit import to_static


@pytest.fixture
def called():
    """A function that was called with two tensors before."""
    fn = to_static(double, full_graph=True)
    x, y = tensor(1, 2), tensor(3, 4)
    for _ in range(2):
        assert fn(x, y).tolist() == [5, 8]
    assert fn.program_cache.recent is not None
    return fn


@pytest.mark.parametrize("name", OTHERS)
def test_other_arguments(called, name):
    check_other_arguments(called, OTHERS[name](), 2)


def test_by_name_and_wrongly(called):
    check_names_and_wrong_numbers(called)


def test_modes():
    fn = to_static(lambda x: paddle.matmul(x, x) + paddle.ones([2, 2]), full_graph=True)
    x = paddle.to_tensor(np.eye(2, dtype="float32"), stop_gradient=False)
    for _ in range(2):
        assert not fn(x).stop_gradient
        with paddle.no_grad():
            assert fn(x).stop_gradient
        with paddle.amp.auto_cast(level="O2", dtype="bfloat16"):
            assert fn(x).dtype == fn.dygraph_function(x).dtype
        assert fn(x).dtype == paddle.float32
        with default_dtype_guard("float64"):
            assert fn(x).dtype == fn.dygraph_function(x).dtype == paddle.float64


def test_what_the_program_assumed(monkeypatch, called):
    x, y = tensor(1, 2), tensor(3, 4)
    monkeypatch.setitem(double.__globals__, "SCALE", 3.0)
    assert called(x, y).tolist() == [6, 10]
    monkeypatch.setitem(double.__globals__, "SCALE", 2.0)
    assert called(x, y).tolist() == [5, 8]


def test_layers_that_change():
    net = paddle.nn.Sequential(paddle.nn.Linear(2, 2), paddle.nn.Dropout(1.0))
    fn = to_static(net, full_graph=True)
    x = paddle.ones([1, 2])
    for _ in range(2):
        net.train()
        assert [fn(x).abs().sum().item() for _ in range(2)] == [0, 0]
        net.eval()
        assert all(fn(x).abs().sum().item() > 0 for _ in range(2))
    net[0] = paddle.nn.Linear(2, 3)
    assert fn(x).shape == [1, 3]


def test_inside_another_trace_and_switched_off(called):
    check_another_trace_and_switching_off(called, partial(to_static, full_graph=True))


def test_what_was_forgotten_is_built_again(called):
    x, y = tensor(1, 2), tensor(3, 4)
    called.program_cache.clear()
    assert called(x, y).tolist() == [5, 8]
    assert len(called.program_cache) == 1


def test_a_failing_call_and_the_next():
    def check(x):
        assert (x > 0).all(), "not positive"
        return x + 1

    fn = to_static(check, full_graph=True)
    for _ in range(3):
        assert fn(tensor(1, 2)).tolist() == [2, 3]
        with pytest.raises(AssertionError, match="not positive"):
            fn(tensor(1, -2))


def test_calls_are_counted(called):
    before = called.program_cache.info().hits
    called(tensor(1, 2), tensor(3, 4))
    assert called.program_cache.info().hits == before + 1
