"""Gradients where a function has none or several: the choices, most of them Paddle's, measured."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.ops import activation as F
from vitrify.ops import norms

INF, NAN = float("inf"), float("nan")
ONE_INPUT = [
    ("abs at 0", paddle.abs, [0.0, -0.0, -2.0], [0.0, 0.0, -1.0]),
    ("a root of abs at 0", lambda x: paddle.sqrt(paddle.abs(x)), [0.0, -4.0], [0.0, -0.25]),
    ("max shares ties", paddle.max, [1.0, 3.0, 3.0], [0.0, 0.5, 0.5]),
    ("amin shares ties", paddle.amin, [1.0, 1.0, 3.0], [0.5, 0.5, 0.0]),
    ("clip keeps at its bounds", lambda x: paddle.clip(x, -1.0, 1.0), [-2.0, -1.0, 1.0, 2.0, NAN], [0, 1, 1, 0, 0]),
    ("relu at 0", F.relu, [-1.0, 0.0, 1.0], [0.0, 0.0, 1.0]),
    ("relu6 at 6", F.relu6, [0.0, 3.0, 6.0], [0.0, 1.0, 0.0]),
    ("leaky_relu at 0", F.leaky_relu, [0.0, -1.0], [1.0, 0.01]),
    ("hardtanh at its bounds", F.hardtanh, [-1.0, 0.5, 1.0], [0.0, 1.0, 0.0]),
    ("hardsigmoid outside", F.hardsigmoid, [-4.0, 4.0], [0.0, 0.0]),
    ("hardswish at ±3", F.hardswish, [-3.0, 3.0], [0.0, 1.0]),
    ("elu at 0", F.elu, [0.0], [1.0]),
    ("softshrink at its bounds", F.softshrink, [-0.5, 0.5], [0.0, 0.0]),
    ("floor has slope 0", paddle.floor, [1.5], [0.0]),
    ("round has slope 0", paddle.round, [1.5], [0.0]),
    ("sign has slope 0", paddle.sign, [1.5], [0.0]),
    ("x ** 0", lambda x: x**0, [0.0, 1.0], [0.0, 0.0]),
    ("x ** 1 at 0", lambda x: x**1.0, [0.0], [1.0]),
    ("sqrt at 0", paddle.sqrt, [0.0], [INF]),
    ("prod with a zero", paddle.prod, [0.0, 2.0, 3.0], [6.0, 0.0, 0.0]),
    ("prod with two zeros", paddle.prod, [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]),
    ("norm of the zero vector", norms.norm, [0.0, 0.0], [0.0, 0.0]),
    ("logsumexp of infinities", paddle.logsumexp, [INF, 1.0], [1.0, 0.0]),
    ("nan_to_num", lambda x: paddle.nan_to_num(x), [NAN, INF, 1.0], [0.0, 0.0, 1.0]),
    ("nansum", paddle.nansum, [NAN, 1.0], [0.0, 1.0]),
    ("sinc at 0", paddle.sinc, [0.0], [0.0]),
    ("logit outside eps", lambda x: paddle.logit(x, 0.1), [0.0, 0.5, 1.0], [0.0, 4.0, 0.0]),
]
TWO_INPUTS = [
    ("maximum shares ties", paddle.maximum, [1.0, 2.0, 1.0], [1.0, 3.0, 0.0], [0.5, 0.0, 1.0], [0.5, 1.0, 0.0]),
    ("minimum with NaN", paddle.minimum, [1.0, NAN], [NAN, 1.0], [0.0, 0.0], [0.0, 0.0]),
    ("fmax takes x on ties", paddle.fmax, [1.0, 1.0], [1.0, NAN], [1.0, 1.0], [0.0, 0.0]),
    ("fmin takes x on ties", paddle.fmin, [1.0, NAN], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]),
    ("atan2 at the origin", paddle.atan2, [0.0], [0.0], [0.0], [0.0]),
    ("hypot at the origin", paddle.hypot, [0.0], [0.0], [0.0], [0.0]),
    ("0 ** y", paddle.pow, [0.0, 0.0], [2.0, 0.0], [0.0, 0.0], [0.0, 0.0]),
]


def gradients(fn, *values):
    inputs = [paddle.to_tensor(v, "float64", stop_gradient=False) for v in values]
    return [g.numpy() for g in paddle.grad(fn(*inputs).sum(), inputs)]


@pytest.mark.parametrize("fn, x, wanted", [case[1:] for case in ONE_INPUT], ids=[case[0] for case in ONE_INPUT])
def test_one_input(fn, x, wanted):
    np.testing.assert_allclose(gradients(fn, x)[0], wanted, rtol=1e-12)


@pytest.mark.parametrize("fn, x, y, dx, dy", [case[1:] for case in TWO_INPUTS], ids=[case[0] for case in TWO_INPUTS])
def test_two_inputs(fn, x, y, dx, dy):
    np.testing.assert_allclose(gradients(fn, x, y), [dx, dy], rtol=1e-12)


def test_where_passes_no_nan_from_the_branch_not_taken():
    """The gradient of log(x) at 0 is infinite, but where() does not choose it."""
    x = paddle.to_tensor([0.0, 1.0], stop_gradient=False)
    safe = paddle.where(x > 0, x, paddle.ones_like(x))
    paddle.where(x > 0, paddle.log(safe), paddle.zeros_like(x)).sum().backward()
    assert x.grad.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("pool", [paddle.nn.functional.adaptive_avg_pool2d, paddle.nn.functional.adaptive_max_pool2d])
def test_the_gradient_of_bins_of_nothing_is_nothing_and_its_own_is_zeros(pool):
    x = paddle.zeros([1, 2, 0, 3])
    x.stop_gradient = False
    out = pool(x, 2)
    ct = paddle.zeros(out.shape)
    ct.stop_gradient = False
    (grad,) = paddle.grad(out, x, ct, create_graph=True)
    assert grad.shape == x.shape
    (again,) = paddle.grad(grad, ct, paddle.zeros(grad.shape), allow_unused=True)
    assert again.shape == out.shape
