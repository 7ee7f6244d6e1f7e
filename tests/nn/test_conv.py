"""Convolution Layers: sizes, weights, padding modes, what they refuse. The numbers are tested with the ops."""

import numpy as np
import pytest

from vitrify import ParamAttr, nn, to_tensor
from vitrify.core.errors import ArgumentError
from vitrify.core.names import guard
from vitrify.core.rng import rng_guard
from vitrify.nn import functional as F


def drawn(*shape):
    return np.random.default_rng(0).normal(size=shape).astype("float32")


def test_a_layer_holds_what_the_function_takes():
    layer, x = nn.Conv2D(4, 6, [3, 2], stride=2, padding=1, dilation=[1, 2], groups=2), to_tensor(drawn(2, 4, 9, 9))
    expected = F.conv2d(x, layer.weight, layer.bias, stride=2, padding=1, dilation=[1, 2], groups=2)
    assert (layer(x).numpy() == expected.numpy()).all()


SIZES = [
    (lambda: nn.Conv1D(4, 6, 3), (2, 4, 9), [2, 6, 7], [6, 4, 3]),
    (lambda: nn.Conv2D(4, 6, 3, padding="same"), (2, 4, 9, 9), [2, 6, 9, 9], [6, 4, 3, 3]),
    (lambda: nn.Conv2D(4, 6, 3, groups=2), (2, 4, 9, 9), [2, 6, 7, 7], [6, 2, 3, 3]),
    (lambda: nn.Conv2D(4, 6, 3, data_format="NHWC"), (2, 9, 9, 4), [2, 7, 7, 6], [6, 4, 3, 3]),
    (lambda: nn.Conv3D(4, 6, 3), (2, 4, 5, 5, 5), [2, 6, 3, 3, 3], [6, 4, 3, 3, 3]),
    (lambda: nn.Conv1DTranspose(4, 6, 3, stride=2), (2, 4, 5), [2, 6, 11], [4, 6, 3]),
    (lambda: nn.Conv2DTranspose(4, 6, 3, 2, 1, 1, groups=2), (2, 4, 5, 5), [2, 6, 10, 10], [4, 3, 3, 3]),
    (lambda: nn.Conv3DTranspose(4, 6, 2, stride=2), (2, 4, 3, 3, 3), [2, 6, 6, 6, 6], [4, 6, 2, 2, 2]),
]


@pytest.mark.parametrize(("make", "given", "made", "weight"), SIZES)
def test_sizes(make, given, made, weight):
    layer = make()
    assert layer(to_tensor(drawn(*given))).shape == made and layer.weight.shape == weight
    assert layer.bias.shape == [6] and (layer.bias.numpy() == 0).all()


def test_an_output_size_settles_what_the_stride_leaves_open():
    layer, x = nn.Conv2DTranspose(2, 2, 3, stride=2, padding=1), to_tensor(drawn(1, 2, 4, 4))
    assert layer(x).shape == [1, 2, 7, 7] and layer(x, output_size=[8, 8]).shape == [1, 2, 8, 8]


def test_weights_are_hes_and_those_of_transposes_xaviers():
    with rng_guard(0):
        plain, transposed = nn.Conv2D(64, 128, 3, groups=4), nn.Conv2DTranspose(64, 128, 3)
    np.testing.assert_allclose(plain.weight.numpy().std(), np.sqrt(2 / (64 * 9)), rtol=0.02)
    limit = np.sqrt(6 / ((64 + 128) * 9))
    assert 0.99 * limit < abs(transposed.weight.numpy()).max() <= limit


def test_only_false_leaves_the_bias_out():
    attr = ParamAttr(initializer=nn.initializer.Constant(3.0))
    assert all(nn.Conv1D(2, 2, 1, bias=bias).bias is not None for bias in (True, None, 0, attr))
    assert nn.Conv1D(2, 2, np.int64(1), bias=False).bias is None


def test_parameters_are_named_and_can_be_left_out():
    with guard():
        layer = nn.Conv2D(2, 3, 3)
    assert [p.name for p in layer.parameters()] == ["conv2d_0.w_0", "conv2d_0.b_0"]
    assert nn.Conv2D(2, 3, 3, bias=False).bias is None is nn.Conv2D(2, 3, 3, bias_attr=False).bias
    assert nn.Conv2D(2, 3, 3, dtype="float64").weight.dtype.name == "float64"
    assert nn.Conv2d is nn.Conv2D


MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@pytest.mark.parametrize(("mode", "numpys"), MODES.items())
@pytest.mark.parametrize(
    ("padding", "widths"), [(1, (1, 1, 1, 1)), ([1, 2], (1, 1, 2, 2)), ([1, 0, 2, 1], (1, 0, 2, 1))]
)
def test_padding_modes(mode, numpys, padding, widths):
    layer, x = nn.Conv2D(2, 3, 3, padding=padding, padding_mode=mode), drawn(1, 2, 5, 6)
    top, bottom, left, right = widths
    padded = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), mode=numpys)
    expected = F.conv2d(to_tensor(padded), layer.weight, layer.bias)
    np.testing.assert_allclose(layer(to_tensor(x)).numpy(), expected.numpy(), rtol=1e-5, atol=1e-5)


ERRORS = [
    (lambda: nn.Conv2D(3, 4, 3, weight_attr=False), "weight_attr must not be False"),
    (lambda: nn.Conv2D(3, 4, 3, groups=2), "in_channels 3 must be divisible by groups 2"),
    (lambda: nn.Conv2D(4, 3, 3, groups=2), "out_channels 3 must be divisible by groups 2"),
    (lambda: nn.Conv2D(4, 4, 3, padding_mode="mirror"), "padding_mode must be one of"),
    (lambda: nn.Conv2D(4, 4, [3, 3, 3]), "kernel_size needs 1 or 2 values"),
    (
        lambda: nn.Conv2D(4, 4, 3, padding="same", padding_mode="reflect")(to_tensor(drawn(1, 4, 5, 5))),
        "needs padding in numbers",
    ),
]


@pytest.mark.parametrize(("call", "text"), ERRORS)
def test_errors(call, text):
    with pytest.raises(ArgumentError, match=text):
        call()
