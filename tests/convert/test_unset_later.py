"""Variables that are read before the statement that sets them, where what sets or reads them becomes a function."""

# ruff: noqa: F821, F841
from __future__ import annotations

import pytest

import vitrify as paddle


def set_on_a_path_that_nobody_reads_behind(x):
    y = f"{w}"
    if x.sum() > 0:
        w = 1
    return x, y


def in_a_called_function(x):
    def inner(t):
        r = t * v
        if t.sum() > 0:
            v = 2
        return r

    return inner(x)


def in_a_ternary(x):
    y = x * 2 if x.sum() < 0 else w
    w = 1
    return y, w


def in_a_logical_operator(x):
    y = x.sum() > 0 and w
    w = 1
    return y, w


def in_a_chain(x):
    y = 0 < x.sum() < w
    w = 1
    return y, w


def before_and_in_a_ternary(x):
    y = w + 1 if x is None else w
    w = 1
    return y, w


def in_a_comprehension(x):
    ys = [w + x for _ in range(2)]
    w = 1
    return ys


def in_a_clause_and_a_condition(x):
    ys = {i for i in (1, 2) if i for _ in range(w)}
    w = 1
    return x, ys


def in_a_generator_expression(x):
    ys = tuple(x * 2 if x.sum() > 9 else w for _ in range(2))
    w = 1
    return ys


def in_values_of_a_dict(x):
    ys = {i: w + x * i for i in range(2)}
    w = 1
    return ys


def in_a_lambda(x):
    y = (lambda: w + x)()
    w = 1
    return y


FUNCTIONS = (
    in_a_comprehension,
    in_a_clause_and_a_condition,
    in_a_generator_expression,
    in_values_of_a_dict,
    in_a_lambda,
    set_on_a_path_that_nobody_reads_behind,
    in_a_called_function,
    in_a_ternary,
    in_a_logical_operator,
    in_a_chain,
    before_and_in_a_ternary,
)


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_variables_that_are_set_later_raise_what_python_raises(function, full_graph):
    static = paddle.jit.to_static(function, full_graph=full_graph)
    x = paddle.to_tensor([1.0, 2.0])
    with pytest.raises(NameError) as expected:
        function(x)
    for _ in range(3):
        with pytest.raises(NameError) as raised:
            static(x)
        assert raised.type is expected.type
        assert str(raised.value).splitlines()[0] == str(expected.value)


@pytest.mark.parametrize("full_graph", [True, False])
def test_the_path_that_does_not_read_it_raises_nothing(full_graph):
    static = paddle.jit.to_static(in_a_ternary, full_graph=full_graph)
    for _ in range(3):
        y, w = static(paddle.to_tensor([-1.0, -2.0]))
        assert y.tolist() == [-2.0, -4.0] and w == 1
