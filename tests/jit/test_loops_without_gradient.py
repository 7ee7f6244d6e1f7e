"""Loops under no_grad: what their iterations merely hand on keeps its gradient, from whatever place it came."""

import pytest

import vitrify as paddle


def exchanged_with_a_detached_one(x, n):
    y, i = (x * 3).detach(), 0
    with paddle.no_grad():
        while i < n:
            x, y = y, x
            i += 1
    return x * y


def exchanged_with_one_set_in_place(x, n):
    y = paddle.zeros_like(x)
    y[0] = x.sum()
    with paddle.no_grad():
        i = 0
        while i < 1 and n == 2:
            i += 1
            y, x = x, y
    return x * x


def handed_round(x, n):
    a, b, c = x.detach() * 2, x.detach() * 3, x.detach() * 4
    with paddle.no_grad():
        for _ in range(n):
            a, b, c, x = x, a, b, c
    return a + b * 2 + c * 4 + x * 8


def handed_on_by_an_inner_loop(x, n):
    y = x.detach() * 2
    with paddle.no_grad():
        for _ in range(n):
            for _ in range(n - 1):
                x, y = y, x
    return x * y


def collected(x, n):
    found = []
    with paddle.no_grad():
        for _ in range(n):
            found.append(x)
            found.append(x * 2)
    return paddle.stack([x, *found]).sum(0) if n > 0 else x * 1


def kept_in_an_object(x, n):
    class Box:
        held = None

    box = Box()
    box.held = x.detach()
    with paddle.no_grad():
        for _ in range(n):
            box.held, x = x, box.held
    return box.held * 2 + x


FUNCTIONS = [
    exchanged_with_a_detached_one, exchanged_with_one_set_in_place, handed_round, handed_on_by_an_inner_loop,
    collected, kept_in_an_object,
]  # fmt: skip


def outcome(function, turns):
    x = paddle.to_tensor([0.5, -1.5], stop_gradient=False)
    result = function(x, paddle.to_tensor(turns))
    if not result.stop_gradient:
        (result * paddle.to_tensor([1.0, 3.0])).sum().backward()
    return result.tolist(), result.stop_gradient, None if x.grad is None else x.grad.tolist()


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_gradients_are_those_of_eager_code(function, full_graph):
    static = paddle.jit.to_static(function, full_graph=full_graph)
    for turns in [2, 0, 1, 3, 2]:
        assert outcome(static, turns) == outcome(function, turns), turns
