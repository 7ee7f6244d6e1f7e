"""Transposed convolutions as parts of native programs."""

import numpy as np
import pytest

import vitrify as paddle
from tests.codegen.test_whole import check, numbers, program_of
from vitrify.codegen.errors import NoNativeForm
from vitrify.core.config import flags_guard
from vitrify.nn import functional as F

# Images, channels in and out, sizes, kernel, and what the layer is given.
FORMS = {
    "twice as large": ((16, 8, 12, (5, 6), (4, 4)), {"stride": 2, "padding": 1}),
    "without a stride": ((16, 8, 8, (5, 6), (3, 3)), {"padding": 1}),
    "kernels smaller than strides": ((16, 8, 8, (5, 4), (2, 2)), {"stride": 3}),
    "output padding": ((16, 8, 8, (5, 6), (3, 3)), {"stride": 2, "padding": 1, "output_padding": 1}),
    "an output size": ((16, 8, 8, (5, 6), (3, 3)), {"stride": 2, "padding": 1, "output_size": [10, 12]}),
    "dilation": ((16, 8, 8, (5, 6), (3, 3)), {"stride": 2, "padding": 2, "dilation": 2}),
    "uneven padding": ((16, 8, 8, (5, 6), (3, 4)), {"stride": (1, 2), "padding": [1, 0, 2, 1]}),
    "groups": ((32, 8, 8, (5, 6), (3, 3)), {"stride": 2, "groups": 2}),
    "one image": ((1, 32, 32, (16, 16), (4, 4)), {"stride": 2, "padding": 1}),
}


@pytest.mark.parametrize("has_bias", [True, False])
@pytest.mark.parametrize("channel_last", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_planes(form, channel_last, has_bias):
    (images, inputs, outputs, sizes, kernel), given = FORMS[form]
    of = {**given, "data_format": "NHWC" if channel_last else "NCHW"}
    x = numbers(images, *sizes, inputs) if channel_last else numbers(images, inputs, *sizes)
    weight, bias = numbers(inputs, outputs // given.get("groups", 1), *kernel) / 8, numbers(outputs)
    if has_bias:
        check(lambda x, w, b: F.conv2d_transpose(x, w, b, **of) * 2, x, weight, bias)
    else:
        check(lambda x, w: F.conv2d_transpose(x, w, **of) * 2, x, weight)


def test_lines_and_volumes():
    check(lambda x, w: F.conv1d_transpose(x, w, stride=2, padding=1), numbers(16, 8, 9), numbers(8, 8, 4))
    check(lambda x, w: F.conv3d_transpose(x, w, stride=2), numbers(16, 8, 3, 4, 5), numbers(8, 8, 2, 2, 2))


def test_whole_strides_of_output_padding_are_left_to_numpy():
    def odd(x, w):
        return F.conv2d_transpose(x, w, stride=1, dilation=2, output_padding=1)

    arrays = numbers(16, 8, 5, 6), numbers(8, 8, 3, 3)
    with pytest.raises(NoNativeForm, match="output padding"):
        program_of(odd, *[(a.shape, "float32") for a in arrays]).plan(arrays)


def test_a_decoder_trains_as_it_does_eagerly():
    paddle.seed(5)
    net = paddle.nn.Sequential(
        paddle.nn.Conv2DTranspose(8, 16, 4, stride=2, padding=1), paddle.nn.ReLU(),
        paddle.nn.Conv2DTranspose(16, 8, 3, padding=1), paddle.nn.Sigmoid(),
    )  # fmt: skip
    x = paddle.to_tensor(numbers(16, 8, 4, 4), stop_gradient=False)

    def gradients(run):
        net.clear_gradients()
        x.clear_grad()
        (run(x) ** 2).mean().backward()
        return [v.grad.numpy().copy() for v in (x, *net.parameters())]

    wanted, static = gradients(net), paddle.jit.to_static(net.forward)
    with flags_guard({"native_after_ms": 0}):
        for _ in range(3):
            for found, expected in zip(gradients(static), wanted, strict=True):
                np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)
