"""The rules of real numbers: applied where the flag asks for them alone, and right but for rounding."""

from __future__ import annotations

import numpy as np
import pytest

import vitrify as paddle
from tests.passes.programs import names, ran, traced
from vitrify.passes.common import without_repeats
from vitrify.passes.dead import without_dead_code
from vitrify.passes.fast_algebra import RULES, simplified_fast
from vitrify.passes.rewrite import rewritten

SHAPE = [4, 6]
FLOATS = ("float32", "float64", "float16")
# rule -> the operators that are left, and what it applies to (behind an absolute value, for roots and logarithms)
EACH = {
    "x + 0 is x": ([], lambda x: x + 0.0),
    "0 + x is x": ([], lambda x: 0.0 + x),
    "x - -0 is x": ([], lambda x: x - (-0.0)),
    "0 - x is -x": (["neg"], lambda x: 0.0 - x),
    "x / c is x * (1 / c)": (["multiply"], lambda x: x / 3.0),
    "(x * c) * d is x * (c * d)": (["multiply"], lambda x: x * 3.0 * 0.7),
    "(x + c) + d is x + (c + d)": (["add"], lambda x: x + 3.0 + 0.7),
    "sqrt(x) * sqrt(x) is x": ([], lambda x: paddle.sqrt(x) * paddle.sqrt(x)),
    "square(sqrt(x)) is x": ([], lambda x: paddle.square(paddle.sqrt(x))),
    "exp(log(x)) is x": ([], lambda x: paddle.exp(paddle.log(x))),
    "log(exp(x)) is x": ([], lambda x: paddle.log(paddle.exp(x))),
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_both_sides_differ_by_rounding_alone(rule, dtype):
    left, fn = EACH[rule.name]
    graph = traced(lambda x: -fn(paddle.abs(x)), (SHAPE, dtype))
    found = graph
    for _ in range(2):  # the two roots of sqrt(x) * sqrt(x) are two operators until repeats are merged
        found = without_dead_code(rewritten(without_repeats(found), [rule]))
    assert names(found) == ["abs", *left, "neg"]
    given = [np.random.default_rng(0).uniform(0.5, 4, SHAPE).astype(dtype)]
    np.testing.assert_allclose(
        ran(found, given)[0].astype("float64"), ran(graph, given)[0].astype("float64"), rtol=20 * np.finfo(dtype).eps
    )


@pytest.mark.parametrize(
    ("fn", "dtype"),
    [
        (lambda x: x / 0.0, "float32"),
        (lambda x: x / 1e-40, "float32"),  # its reciprocal is infinite
        (lambda x: x * 1e30 * 1e30, "float32"),
        (lambda x: x * 3 * 5, "int32"),
        (lambda x: x // 3, "int64"),
    ],
)
def test_what_is_left_alone(fn, dtype):
    graph = traced(lambda x: -fn(-x), (SHAPE, dtype))
    assert names(without_dead_code(simplified_fast(graph))) == names(graph)


@pytest.mark.parametrize("is_fast", [False, True])
def test_a_switch_asks_for_them(is_fast):
    """-0.0 + 0.0 is 0.0, unless nobody cares; of gradients as of results."""
    strategy = paddle.static.BuildStrategy()
    strategy.fast_math = is_fast

    @paddle.jit.to_static(full_graph=True, build_strategy=strategy)
    def f(x):
        return x * 2.0 + 0.0

    x = paddle.full([4], -0.0)
    x.stop_gradient = False
    for _ in range(100):
        y = f(x)
    y.sum().backward()
    assert bool(np.signbit(y.numpy()).all()) == is_fast
    assert x.grad.tolist() == [2.0] * 4
