"""Views in programs behave as in eager code: values, arguments; gradients follow the values."""

import numpy as np
import pytest

import vitrify as paddle

from .differential import run, same
from .functions import N, X
from .views import MUTATING


def both(fn, args):
    """Outcomes of eager and of two calls of the static function, without gradients."""
    static = paddle.jit.to_static(fn)
    outcomes = [run(f, args) for f in (fn, static, static)]
    for outcome in outcomes:
        outcome.gradients = ()
    return outcomes


@pytest.mark.parametrize("fn", MUTATING)
@pytest.mark.parametrize("values", [X, N])
def test_arguments_change_under_no_grad(fn, values):
    eager, *static = both(fn, (values,))
    for outcome in static:
        same(eager, outcome)


def test_gradients_follow_the_values():
    def f(x):
        y = x * 2
        z = y[1:]
        z.multiply_(x[1:])
        return y.sum()

    x = paddle.to_tensor(X, stop_gradient=False)
    paddle.jit.to_static(f)(x).backward()
    assert x.grad.tolist() == [2, 8, 12]


def test_no_operator_is_recorded_for_views_that_nobody_reads():
    def f(x):
        out = paddle.zeros([20, 3])
        out[0] = x
        for i in range(1, 20):
            out[i] = out[i - 1] * 0.5 + x
        return out

    static = paddle.jit.to_static(f)
    assert np.allclose(static(paddle.to_tensor(X)).numpy(), f(paddle.to_tensor(X)).numpy())
    assert len(static.main_program.global_block().ops) <= 20 * 4 + 2


def test_a_test_that_changes_an_argument():
    def f(x):
        while x[0].add_(paddle.ones([])).sum() < 10:
            pass
        return x * 2

    args = [paddle.to_tensor(X) for _ in range(2)]
    results = [g(x) for g, x in zip((f, paddle.jit.to_static(f, full_graph=True)), args)]
    assert results[0].tolist() == results[1].tolist() == [20, 4, 6]
    assert args[0].tolist() == args[1].tolist()
