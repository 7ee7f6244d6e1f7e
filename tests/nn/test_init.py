"""`nn.init`: each function fills in place as the initializer of its name does."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import ArgumentError, ShapeError
from vitrify.nn import init
from vitrify.nn import initializer as rules

CASES = [
    ("constant_", {"val": 2.0}, rules.Constant(2.0)),
    ("zeros_", {}, rules.Constant(0.0)),
    ("ones_", {}, rules.Constant(1.0)),
    ("uniform_", {"a": -2.0, "b": 3.0}, rules.Uniform(-2.0, 3.0)),
    ("normal_", {"mean": 1.0, "std": 0.5}, rules.Normal(1.0, 0.5)),
    ("trunc_normal_", {"std": 2.0, "a": -1.0, "b": 1.0}, rules.TruncatedNormal(0.0, 2.0, -1.0, 1.0)),
    ("xavier_uniform_", {"gain": 2.0, "fan_in": 3.0}, rules.XavierUniform(fan_in=3.0, gain=2.0)),
    ("xavier_normal_", {"fan_out": 5.0}, rules.XavierNormal(fan_out=5.0)),
    ("kaiming_uniform_", {"a": 5**0.5}, rules.KaimingUniform(negative_slope=5**0.5, nonlinearity="leaky_relu")),
    ("kaiming_normal_", {"mode": "fan_out", "nonlinearity": "relu"}, rules.KaimingNormal(mode="fan_out")),
    ("orthogonal_", {"gain": 3.0}, rules.Orthogonal(3.0)),
    ("dirac_", {"groups": 2}, rules.Dirac(2)),
]


@pytest.mark.parametrize(("name", "arguments", "rule"), CASES, ids=[case[0] for case in CASES])
def test_each_fills_as_its_rule_does(name, arguments, rule):
    layer = paddle.nn.Conv2D(3, 4, 3)
    paddle.seed(3)
    found = getattr(init, name)(layer.weight, **arguments)
    assert found is layer.weight and not found.stop_gradient and found.is_leaf
    other = paddle.zeros([4, 3, 3, 3])
    paddle.seed(3)
    rule(other)
    np.testing.assert_array_equal(found.numpy(), other.numpy())


def test_eye_fills_matrices_alone():
    assert init.eye_(paddle.ones([2, 3])).tolist() == [[1, 0, 0], [0, 1, 0]]
    with pytest.raises(ShapeError, match=r"eye_: needs a matrix, got shape \[2, 2, 2\]"):
        init.eye_(paddle.ones([2, 2, 2]))


def test_a_mode_that_there_is_not():
    with pytest.raises(ArgumentError, match="mode must be 'fan_in' or 'fan_out', got 'q'"):
        init.kaiming_uniform_(paddle.ones([2, 2]), mode="q")


def test_all_names_are_tested():
    assert set(init.__all__) == {case[0] for case in CASES} | {"eye_", "calculate_gain"}
