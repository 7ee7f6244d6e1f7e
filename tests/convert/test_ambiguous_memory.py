"""What may be one object on some paths only, and cannot be followed, is refused where it is changed."""

import pytest

import vitrify as paddle
from vitrify.core.errors import UnsupportedError


def chosen_view(x):
    y = x * 1
    v = y[:2] if x.sum() > 0 else y[1:3]
    v.add_(paddle.ones([1]))
    return y, v


def names_swapped_in_a_loop(x):
    a, b = x * 1, x * 2
    first, second = a, b
    i = paddle.to_tensor(0)
    while i < 3:
        a, b = b, a
        a.add_(paddle.ones([1]))
        i = i + 1
    return a, b, first, second


def twins_on_one_path(x):
    if x.sum() > 0:
        a = b = x * 2
    else:
        a, b = x * 3, x * 4
    a.add_(paddle.ones([1]))
    return a, b


def another_held_tensor_in_a_loop(x):
    a, held = x * 1, x * 3
    out, i = x * 0, paddle.to_tensor(0)
    while i < 3:
        out = out + a
        a = held
        held.add_(paddle.ones([1]))
        i = i + 1
    return out, a, held


def memory_left_on_one_path(x):
    y = x * 1
    row = y[1:]
    if x.sum() > 0:
        y.greater_than_(x * x)
        y.cast_("float32")
    else:
        y.add_(x)
    return y, row * 1


@pytest.mark.parametrize(
    "function",
    [
        chosen_view, names_swapped_in_a_loop,
        another_held_tensor_in_a_loop, memory_left_on_one_path,
    ],
)  # fmt: skip
def test_refused_with_the_line_and_a_way_out(function):
    static = paddle.jit.to_static(function, full_graph=True)
    with pytest.raises(UnsupportedError, match=r"same object|shares memory") as info:
        static(paddle.to_tensor([1.0, -2.0, 3.0]))
    assert "hint" in str(info.value)
    assert function.__name__ in str(info.value)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_twins_on_one_path_are_changed_together(sign):
    values = [sign, -2.0 * sign, 3.0 * sign]
    found = paddle.jit.to_static(twins_on_one_path, full_graph=True)(paddle.to_tensor(values))
    assert [t.tolist() for t in found] == [t.tolist() for t in twins_on_one_path(paddle.to_tensor(values))]
    assert (found[0] is found[1]) == (sign > 0)


def test_a_list_that_nobody_else_holds_may_be_changed():
    def f(x):
        h = [x * 1, x * 2]
        if x.sum() > 0:
            h = [h[0] + 1, h[1]]
        h[0] = h[0] * 2
        return h

    x = paddle.to_tensor([1.0, -2.0, 3.0])
    assert [t.tolist() for t in paddle.jit.to_static(f, full_graph=True)(x)] == [t.tolist() for t in f(x)]
