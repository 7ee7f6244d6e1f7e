"""Prints tell of a tensor whether it wants a gradient, also where a loop or a recursive function is given it."""

import pytest

import vitrify as paddle


def in_a_loop(x):
    while x.sum() < 5:
        x = x + 1
        print("inside", x)
    print("behind", x)
    return x


def descended(x):
    print(x)
    return x if x.sum() > 5 else descended(x + 1)


def in_texts_and_lists(x):
    found = []
    while x.sum() < 5:
        x = x + 1
        found.append(x.detach())
        print(f"{x} {x.detach()}", [found[-1], {"a": (x, 1)}])
    return x


CASES = [
    (function, stop, enabled)
    for function in (in_a_loop, descended, in_texts_and_lists)
    for stop in (True, False)
    for enabled in (True, False)
    if function is not descended or stop or enabled  # else the first call alone is given what wants one
]


@pytest.mark.parametrize(("function", "stop", "enabled"), CASES)
def test_printed_as_in_eager_code(function, stop, enabled, capsys):
    static = paddle.jit.to_static(function, full_graph=True)

    def printed(called):
        with paddle.set_grad_enabled(enabled):
            called(paddle.to_tensor([1.0, 1.0], stop_gradient=stop))
        return capsys.readouterr().out

    expected = printed(function)
    assert "stop_gradient" in expected
    assert printed(static) == printed(static) == expected


def test_a_parameter_wants_a_gradient_inside_of_a_loop(capsys):
    layer = paddle.nn.Linear(2, 2)

    def applied(x):
        while x.sum() < 5:
            x = x + layer(x) ** 2 + 1
            print(x)
        return x

    x = paddle.to_tensor([1.0, 1.0])
    applied(x)
    expected = capsys.readouterr().out
    paddle.jit.to_static(applied, full_graph=True)(x)
    assert capsys.readouterr().out == expected
    assert "stop_gradient=False" in expected
