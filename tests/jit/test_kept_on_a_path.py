"""What an object gets as an attribute on one path is the very tensor that the function gives back, or was given."""

from __future__ import annotations

import pytest

import vitrify as paddle

ROWS = ([1.0, 2.0, 3.0], [-1.0, -2.0, 0.5])


class Holder:
    """Something with attributes."""


def result_on_a_path(x, holder):
    y = x * 2
    if y.sum() > 0:
        holder.positive = y
    return y


def result_on_either_path(x, holder):
    y = x * 2
    if y.sum() > 0:
        holder.positive = y
    else:
        holder.negative = y
    return y


def argument_by_a_name_of_the_path(x, holder):
    setattr(holder, "positive" if x.sum() > 0 else "negative", x)
    return x


FUNCTIONS = [result_on_a_path, result_on_either_path, argument_by_a_name_of_the_path]


def kept(function, row):
    holder, x = Holder(), paddle.to_tensor(row, stop_gradient=False)
    result = function(x, holder)
    (result * 3).sum().backward()
    gradient = None if x.grad is None else x.grad.tolist()
    return gradient, {name: (v is result, v is x, v.stop_gradient, v.tolist()) for name, v in vars(holder).items()}


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_it_is_the_same_object(function, whole):
    static = paddle.jit.to_static(lambda x, holder: function(x, holder), full_graph=whole)
    for row in ROWS * 2:
        assert kept(static, row) == kept(function, row)


def test_later_calls_find_it_there():
    holder = Holder()
    static = paddle.jit.to_static(lambda x: result_on_either_path(x, holder), full_graph=True)
    for row in ROWS * 2:
        result = static(paddle.to_tensor(row))
        assert result is (holder.positive if row is ROWS[0] else holder.negative)
