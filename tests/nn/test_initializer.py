"""Initializers: what they draw, and that a seed draws it again."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.stats

import vitrify as paddle
from vitrify.core.dtype import as_dtype, bfloat16, float32
from vitrify.core.errors import ArgumentError, ShapeError
from vitrify.core.rng import rng_guard
from vitrify.eager.create_parameter import create_parameter
from vitrify.eager.tensor import to_tensor
from vitrify.nn import initializer as I

WEIGHT = (64, 32, 3, 3)  # fan_in 288, fan_out 576


def drawn(initializer, shape=(100, 200), dtype="float32"):
    with rng_guard(1):
        return np.asarray(initializer.values(tuple(shape), as_dtype(dtype)))


def test_an_initializer_fills_a_tensor():
    x = to_tensor([[0.0, 0.0]])
    I.Constant(2.0)(x)
    assert x.tolist() == [[2.0, 2.0]]
    assert create_parameter([2], "float32", default_initializer=I.Assign([1, 2])).tolist() == [1.0, 2.0]


UNIFORM = [
    (I.Uniform(-2.0, 3.0), (100, 200), -2.0, 3.0),
    (I.XavierUniform(), (100, 200), -np.sqrt(6 / 300), np.sqrt(6 / 300)),
    (I.XavierUniform(), WEIGHT, -np.sqrt(6 / 864), np.sqrt(6 / 864)),
    (I.XavierUniform(fan_in=2, fan_out=4, gain=3.0), WEIGHT, -3.0, 3.0),
    (I.KaimingUniform(), WEIGHT, -np.sqrt(6 / 288), np.sqrt(6 / 288)),
    (I.KaimingUniform(mode="fan_out"), WEIGHT, -np.sqrt(6 / 576), np.sqrt(6 / 576)),
    (I.KaimingUniform(negative_slope=1.0, nonlinearity="leaky_relu"), WEIGHT, -np.sqrt(3 / 288), np.sqrt(3 / 288)),
]


@pytest.mark.parametrize(("initializer", "shape", "low", "high"), UNIFORM, ids=lambda v: repr(v)[:40])
def test_uniform_ones_keep_their_bounds(initializer, shape, low, high):
    values = drawn(initializer, shape)
    assert values.shape == shape and values.dtype == np.float32
    assert low <= values.min() < low + 0.01 * (high - low) and high - 0.01 * (high - low) < values.max() <= high
    np.testing.assert_allclose(values.std(), (high - low) / np.sqrt(12), rtol=0.03)


NORMAL = [
    (I.Normal(1.0, 2.0), (100, 200), 1.0, 2.0),
    (I.XavierNormal(), (100, 200), 0.0, np.sqrt(2 / 300)),
    (I.XavierNormal(gain=2.0), WEIGHT, 0.0, 2 * np.sqrt(2 / 864)),
    (I.KaimingNormal(), WEIGHT, 0.0, np.sqrt(2 / 288)),
    (I.KaimingNormal(fan_in=8), WEIGHT, 0.0, 0.5),
]


@pytest.mark.parametrize(("initializer", "shape", "mean", "std"), NORMAL, ids=lambda v: repr(v)[:40])
def test_normal_ones_have_mean_and_deviation(initializer, shape, mean, std):
    values = drawn(initializer, shape).ravel()
    assert scipy.stats.kstest(values, scipy.stats.norm(mean, std).cdf).pvalue > 0.01


def test_truncated_normal_stays_within_its_cuts():
    values = drawn(I.TruncatedNormal(1.0, 2.0, a=0.0, b=2.0))
    assert 0.0 <= values.min() < 0.01 and 1.99 < values.max() <= 2.0
    expected = scipy.stats.truncnorm(-0.5, 0.5, 1.0, 2.0)
    assert scipy.stats.kstest(values.ravel(), expected.cdf).pvalue > 0.01
    assert drawn(I.TruncatedNormal(10.0, 0.1), (4,)).tolist() == [2.0] * 4  # all mass lies beyond the cut
    assert abs(drawn(I.TruncatedNormal(0.0, 0.02))).max() < 0.11  # the cuts are in units of the numbers


@pytest.mark.parametrize("shape", [(6, 4), (4, 6), (8, 2, 3)])
def test_orthogonal_rows_or_columns(shape):
    values = drawn(I.Orthogonal(gain=2.0), shape).reshape(shape[0], -1)
    gram = values @ values.T if values.shape[0] <= values.shape[1] else values.T @ values
    np.testing.assert_allclose(gram, 4 * np.eye(len(gram)), atol=1e-5)


def test_dirac_passes_channels_on():
    values = drawn(I.Dirac(), (4, 2, 3))
    assert np.argwhere(values).tolist() == [[0, 0, 1], [1, 1, 1]]
    grouped = drawn(I.Dirac(groups=2), (4, 2, 3, 3))
    assert np.argwhere(grouped).tolist() == [[0, 0, 1, 1], [1, 1, 1, 1], [2, 0, 1, 1], [3, 1, 1, 1]]


def test_bilinear_is_what_paddle_gives():
    kernel = drawn(I.Bilinear(), (1, 1, 3, 3))[0, 0]
    np.testing.assert_allclose(kernel[:2], [[0.0625, 0.3125, 0.4375], [0.1875, 0.6875, 0.6875]], rtol=1e-6)
    assert (drawn(I.Bilinear(), (2, 3, 3, 3)) == kernel).all()


def test_assign_takes_arrays_lists_and_tensors():
    for value in (np.arange(4.0), [0, 1, 2, 3], to_tensor([0.0, 1.0, 2.0, 3.0])):
        assert drawn(I.Assign(value), (4,)).tolist() == [0.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_other_dtypes(dtype):
    for initializer in (I.Normal(), I.Uniform(), I.TruncatedNormal(), I.Orthogonal(), I.XavierNormal()):
        values = drawn(initializer, (20, 30), dtype)
        assert values.dtype == as_dtype(dtype).np and np.isfinite(values.astype("float64")).all()


def test_integer_parameters_round_down():
    assert create_parameter([3], "int64", default_initializer=I.Uniform(5.0, 6.0)).tolist() == [5, 5, 5]


def test_a_seed_draws_the_same_again_and_draws_differ():
    assert (drawn(I.Normal()) == drawn(I.Normal())).all()
    with rng_guard(1):
        one, two = (I.Normal().values((4,), float32) for _ in range(2))
    assert (one != two).all()


GAINS = {"linear": 1, "conv2d": 1, "sigmoid": 1, "tanh": 5 / 3, "relu": np.sqrt(2), "selu": 0.75}


@pytest.mark.parametrize(("name", "gain"), GAINS.items())
def test_gains(name, gain):
    assert I.calculate_gain(name) == pytest.approx(gain)


def test_the_gain_of_leaky_relu_depends_on_its_slope():
    assert I.calculate_gain("leaky_relu") == pytest.approx(np.sqrt(2 / 1.0001))
    assert I.calculate_gain("leaky_relu", 1.0) == 1.0


ERRORS = [
    (lambda: I.calculate_gain("gelu"), ArgumentError, "nonlinearity must be one of"),
    (lambda: I.KaimingNormal(mode="fan"), ArgumentError, "mode must be 'fan_in' or 'fan_out'"),
    (lambda: I.Dirac(0), ArgumentError, "groups must be a positive int"),
    (lambda: drawn(I.Dirac(3), (4, 2, 3)), ShapeError, "divisible by 3"),
    (lambda: drawn(I.Dirac(), (4, 2)), ShapeError, "needs a kernel"),
    (lambda: drawn(I.Bilinear(), (1, 1, 3, 4)), ShapeError, "square kernel"),
    (lambda: drawn(I.Orthogonal(), (4,)), ShapeError, "at least 2 dimensions"),
]


def test_a_parameter_takes_over_the_shape_of_what_is_assigned():
    """Models make parameters of one shape and give them values of another, as Paddle lets them."""
    value = np.arange(6.0).reshape(3, 2)
    made = paddle.create_parameter([3], "float32", default_initializer=I.Assign(value))
    bias = paddle.nn.Linear(2, 4).bias
    I.Assign(paddle.to_tensor(value))(bias)
    for param in (made, bias):
        assert param.shape == [3, 2] and param.dtype == paddle.float32 and param.tolist() == value.tolist()
        param.sum().backward()
        assert param.grad.shape == [3, 2]


def test_a_variable_of_a_program_keeps_its_shape():
    with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        paddle.enable_static()
        try:
            with pytest.raises(ShapeError, match=r"value has shape \[2\], the variable has \[3\]"):
                paddle.create_parameter([3], "float32", default_initializer=I.Assign([1.0, 2.0]))
        finally:
            paddle.disable_static()


def test_a_parameter_is_of_no_block():
    """Initializers take it as their second argument."""
    weight = paddle.nn.Linear(2, 2).weight
    I.Constant(2.0)(weight, weight.block)
    assert weight.tolist() == [[2.0, 2.0], [2.0, 2.0]]


@pytest.mark.parametrize(("call", "error", "text"), ERRORS)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_low_precision_weights_of_a_seed_are_the_wide_ones_rounded():
    wide, narrow = drawn(I.Normal(), (64,)), drawn(I.Normal(), (64,), "bfloat16")
    assert (wide.astype(bfloat16.np) == narrow).all()


@pytest.mark.parametrize("name", ["XavierUniform", "Normal", "TruncatedNormal", "KaimingNormal", "Uniform", "Constant"])
def test_a_large_parameter_takes_little_more_than_its_own_memory(name):
    """In a process of its own, whose peak of memory is that of the parameter: 256 MiB."""
    code = f"""
import vitrify as paddle
initializer = paddle.nn.initializer.{name}()
paddle.create_parameter([8, 8], "float32", default_initializer=initializer)
def peak():
    return int(next(x for x in open("/proc/self/status") if x.startswith("VmHWM")).split()[1]) / 1024
before = peak()
paddle.create_parameter([65536, 1024], "float32", default_initializer=initializer)
print(peak() - before)
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(found.stdout) < 1.25 * 256
