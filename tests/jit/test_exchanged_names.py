"""Names in libraries that somebody exchanges, as tests do, mean something else to programs that read them."""

import math
import sys
import threading

import numpy as np
import pytest

import vitrify as paddle
import vitrify.nn.functional as F
from vitrify.nn.functional import relu

HERE = sys.modules[__name__]
X = [1.0, -2.0]


def by_module(x):
    return F.relu(x) + 1


def by_package(x):
    return paddle.nn.functional.relu(x) + 1


def by_name(x):
    return relu(x) + 1


def in_a_helper(x):
    return by_name(x) * 1


def beside_a_branch(x):
    if x.sum() > 100:
        return x * 2
    y = F.relu(x) + 1
    return y * 1


def beside_a_text(x):
    y = F.relu(x) * 2
    words = [str(round(float(y.sum()), 2))]
    return y * len(words) / 2 + 1


def in_parts(x):
    y = F.relu(x) * 2
    y = y * 3 + 4
    size = len(y.numpy().tobytes())
    z = F.relu(y) * size
    return z * 3 + y


class Block(paddle.nn.Layer):
    def forward(self, x):
        return F.relu(x) + 1


def of_math(x):
    return x * math.floor(2.5)


def of_numpy(x):
    return x * float(np.sqrt(4.0))


def of_a_creation(x):
    return paddle.ones([2]) + x


def times(number):
    return lambda x: x * number


RELU = [lambda: by_module, lambda: by_package, lambda: by_name, lambda: in_a_helper, lambda: beside_a_branch]
CASES = [(make, HERE if make in RELU[2:4] else F, "relu", times) for make in [*RELU, lambda: beside_a_text, Block]] + [
    (lambda: of_math, math, "floor", lambda number: lambda x: number),
    (lambda: of_numpy, np, "sqrt", lambda number: lambda x: np.float64(number)),
    (lambda: of_a_creation, paddle, "ones", lambda number: lambda shape: paddle.full(shape, number)),
    (lambda: by_module, HERE, "F", lambda number: type("Fake", (), {"relu": staticmethod(times(number))})),
]


def outcome(function):
    x = paddle.to_tensor(X, stop_gradient=False)
    result = function(x)
    result.sum().backward()
    return result.tolist(), x.grad.tolist()


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize(("make", "module", "name", "other"), CASES)
def test_what_is_exchanged_is_called_until_it_comes_back(make, module, name, other, full_graph, monkeypatch):
    eager = make()
    static = paddle.jit.to_static(make(), full_graph=full_graph)
    before = outcome(eager)
    for _ in range(3):
        assert outcome(static) == before
    for number in (100, 10, 100):
        with monkeypatch.context() as patched:
            patched.setattr(module, name, other(number))
            for _ in range(3):
                assert outcome(static) == outcome(eager) != before
    for _ in range(3):
        assert outcome(static) == before


def test_in_functions_that_run_as_segments(monkeypatch):
    static = paddle.jit.to_static(in_parts, full_graph=False)
    for number in (None, 100, None, 10):
        with monkeypatch.context() as patched:
            if number is not None:
                patched.setattr(F, "relu", times(number))
            for _ in range(4):
                assert outcome(static) == outcome(in_parts)


def test_it_may_be_exchanged_before_the_first_call(monkeypatch):
    static = paddle.jit.to_static(by_module, full_graph=True)
    with monkeypatch.context() as patched:
        patched.setattr(F, "relu", times(3))
        assert static(paddle.to_tensor(X)).tolist() == [4, -5]
        assert static(paddle.to_tensor(X)).tolist() == [4, -5]
    assert static(paddle.to_tensor(X)).tolist() == [2, 1]


@pytest.mark.parametrize(("module", "name"), [(F, "relu"), (HERE, "F")])
def test_a_name_that_is_gone_is_an_error_as_in_eager_code(module, name, monkeypatch):
    x = paddle.to_tensor(X)
    static = paddle.jit.to_static(by_module, full_graph=True)
    static(x), static(x)
    with monkeypatch.context() as patched:
        patched.delattr(module, name)
        with pytest.raises((AttributeError, NameError), match=name):
            static(x)
    assert static(x).tolist() == [2, 1]


def test_other_threads_see_it_as_well(monkeypatch):
    x = paddle.to_tensor(X)
    static = paddle.jit.to_static(by_module, full_graph=True)
    static(x), static(x)
    found = []
    with monkeypatch.context() as patched:
        patched.setattr(F, "relu", times(100))
        thread = threading.Thread(target=lambda: found.append(static(x).tolist()))
        thread.start()
        thread.join()
    assert found == [[101, -199]]


def test_names_that_the_function_does_not_read_change_nothing(monkeypatch):
    x = paddle.to_tensor(X)
    static = paddle.jit.to_static(by_module, full_graph=True)
    static(x), static(x)
    monkeypatch.setattr(F, "gelu", lambda x: x)
    static(x)
    assert len(static.program_cache) == 1


def with_builtins(x):
    return x * len([1, 2]) + max(1, 2)


def with_a_builtin_inside(x):
    if x.sum() > 100:
        return x
    return with_builtins(x) * abs(-1)


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize("function", [with_builtins, with_a_builtin_inside])
def test_a_builtin_means_what_the_module_calls_by_its_name(function, full_graph, monkeypatch):
    static = paddle.jit.to_static(function, full_graph=full_graph)
    before = outcome(function)
    for _ in range(3):
        assert outcome(static) == before
    for name in ("len", "max", "len"):
        with monkeypatch.context() as patched:
            patched.setattr(HERE, name, lambda *given: 7, raising=False)
            for _ in range(3):
                assert outcome(static) == outcome(function) != before
    for _ in range(3):
        assert outcome(static) == before
