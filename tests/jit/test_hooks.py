"""Hooks that cannot be part of a program."""

import pytest

import vitrify as paddle
from vitrify.core.errors import ArgumentError, UnsupportedError


def doubled(grad):
    return grad * 2


def removed_on_a_path(x):
    y = x * 3
    handle = y.register_hook(doubled)
    if x.sum() > 0:
        handle.remove()
    return y


def of_a_constant(x):
    y = paddle.ones([2])
    y.register_hook(doubled)
    return x * y


@paddle.jit.not_to_static
def registered(y):
    y.register_hook(doubled)
    return y


def in_code_that_is_not_converted(x):
    return registered(x * 3)


def leaf():
    return paddle.to_tensor([1.0, 2.0], stop_gradient=False)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (removed_on_a_path, "the hook of a tensor of a program is removed after its run, or where a tensor decides"),
        (in_code_that_is_not_converted, "register_hook\\(\\) on a tensor of a program, in code that is not converted"),
    ],
)
def test_such_hooks_are_refused(function, words):
    with pytest.raises(UnsupportedError, match=words):
        paddle.jit.to_static(function, full_graph=True)(leaf())


@pytest.mark.parametrize("function", [removed_on_a_path, in_code_that_is_not_converted])
def test_they_run_between_segments(function):
    def gradient(called):
        x = leaf()
        called(x).sum().backward()
        return x.grad.tolist()

    assert gradient(paddle.jit.to_static(function)) == gradient(function)


@pytest.mark.parametrize("full_graph", [None, True])
def test_a_tensor_without_gradient_takes_no_hook(full_graph):
    function = of_a_constant if full_graph is None else paddle.jit.to_static(of_a_constant, full_graph=True)
    with pytest.raises(ArgumentError, match="register_hook: tensor has stop_gradient=True, so it gets no gradient"):
        function(leaf())
