"""Weights stored in 8 and 4 bits: what is left of them, and the linear functions that take them."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import ArgumentError, DTypeError, ShapeError
from vitrify.nn import quant

RNG = np.random.default_rng(0)
WEIGHT = RNG.normal(size=(128, 6)).astype("float32")
X = RNG.normal(size=(2, 3, 128)).astype("float32")
KINDS = [
    ("weight_only_int8", -1), ("weight_only_int8", 64), ("weight_only_int4", -1), ("weight_only_int4", 128),
    ("llm.int8", -1),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize(("algo", "group_size"), KINDS)
def test_a_weight_is_half_a_step_from_what_is_left_of_it(algo, group_size, dtype):
    weight = paddle.to_tensor(WEIGHT).astype(dtype)
    out, scale = quant.weight_quantize(weight, algo, arch=80, group_size=group_size)
    assert str(out.dtype) == "paddle.int8" and out.shape == [3 if "int4" in algo else 6, 128]
    assert scale.dtype == (paddle.float32 if algo == "llm.int8" else weight.dtype)
    assert scale.shape == ([6] if group_size < 0 else [128 // group_size, 6])
    left = quant.weight_dequantize(out, scale, algo, group_size=group_size)
    assert left.dtype == scale.dtype
    room = 0.51 if dtype == "float32" else 1.3  # 16 bits hold less than the scale needs
    steps = scale.astype("float32").numpy().reshape(-1, 1, 6)
    apart = np.abs(left.astype("float32").numpy() - weight.astype("float32").numpy()).reshape(len(steps), -1, 6)
    assert (apart <= room * steps).all()


def test_the_largest_number_of_an_output_is_127_steps():
    weight = paddle.to_tensor([[1.0, -0.3], [0.26, 0.7], [-0.9, 0.0]], dtype="float16")
    out, scale = quant.weight_quantize(weight, "llm.int8", arch=80)
    assert out.tolist() == [[127, 33, -114], [-54, 127, 0]]
    np.testing.assert_allclose(scale.numpy(), [0.00787402, 0.00551181], 1e-3)


@pytest.mark.parametrize("full_graph", [None, True])
@pytest.mark.parametrize(("algo", "group_size"), KINDS)
def test_linear_functions(algo, group_size, full_graph):
    out, scale = quant.weight_quantize(paddle.to_tensor(WEIGHT), algo, group_size=group_size)
    bias = paddle.arange(6, dtype="float32")
    expected = X @ quant.weight_dequantize(out, scale, algo, group_size=group_size).numpy() + bias.numpy()

    def linear(x):
        if algo == "llm.int8":
            return quant.llm_int8_linear(x, out, bias, scale)
        return quant.weight_only_linear(x, out, bias, scale, algo.rpartition("_")[2], group_size=group_size)

    if full_graph:
        linear = paddle.jit.to_static(linear, full_graph=True, input_spec=[paddle.static.InputSpec([None, None, 128])])
    tolerance = 0.15 if algo == "llm.int8" else 1e-4  # there x is rounded, too
    np.testing.assert_allclose(linear(paddle.to_tensor(X)).numpy(), expected, 1e-3, tolerance)


def test_outliers_are_not_rounded():
    out, scale = quant.weight_quantize(paddle.to_tensor(WEIGHT), "llm.int8")
    x = np.zeros([1, 128], "float32")
    x[0, 5], x[0, 7] = 1000.0, 0.5
    expected = x @ quant.weight_dequantize(out, scale, "llm.int8").numpy()
    found = quant.llm_int8_linear(paddle.to_tensor(x), out, weight_scale=scale)
    np.testing.assert_allclose(found.numpy(), expected, 1e-4)


def test_the_input_has_a_gradient_and_zeros_a_scale():
    out, scale = quant.weight_quantize(paddle.zeros([4, 2]))
    assert out.abs().sum() == 0 and scale.tolist() == [0.0, 0.0]
    x = paddle.ones([2, 4], dtype="float32")
    x.stop_gradient = False
    stored = paddle.ones([2, 4], dtype="int8")
    quant.weight_only_linear(x, stored).sum().backward()
    assert x.grad.tolist() == [[2.0] * 4] * 2


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: quant.weight_quantize(paddle.ones([4, 2]), "w4a8"), ArgumentError, "algo must be"),
        (lambda: quant.weight_quantize(paddle.ones([64, 2]), group_size=32), ArgumentError, "group_size must be"),
        (lambda: quant.weight_quantize(paddle.ones([65, 2]), group_size=64), ShapeError, "do not divide"),
        (lambda: quant.weight_quantize(paddle.ones([4, 3]), "weight_only_int4"), ShapeError, "must be even"),
        (lambda: quant.weight_quantize(paddle.ones([4])), ShapeError, "two dimensions"),
        (lambda: quant.weight_quantize(paddle.ones([4, 2], "int64")), DTypeError, "floating"),
        (lambda: quant.weight_only_linear(X, WEIGHT, weight_dtype="fp8"), ArgumentError, "weight_dtype"),
    ],
)
def test_what_is_refused(call, error, match):
    with pytest.raises(error, match=match):
        call()
