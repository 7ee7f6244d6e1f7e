"""Means of windows, and their gradients, as parts of native programs."""

import numpy as np
import pytest

import vitrify as paddle
from tests.codegen.test_whole import check, numbers, program_of
from vitrify.codegen.errors import NoNativeForm
from vitrify.core.config import flags_guard
from vitrify.nn import functional as F
from vitrify.ops.pool import avg_pool_grad_op

# Sizes of images, kernel, stride.
WINDOWS = [((6, 8), (2, 2), (2, 2)), ((7, 9), (2, 3), (2, 3)), ((7, 7), (3, 3), (2, 2)), ((5, 6), (1, 2), (1, 1)),
           ((4, 4), (4, 4), (4, 4)), ((6, 6), (1, 1), (1, 1))]  # fmt: skip


def shape_of(sizes, channel_last):
    return (2, *sizes, 3) if channel_last else (2, 3, *sizes)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("channel_last", [False, True])
@pytest.mark.parametrize(("sizes", "kernel", "stride"), WINDOWS)
def test_means_of_windows(sizes, kernel, stride, channel_last, dtype):
    def pooled(x):
        return F.avg_pool2d(x, kernel, stride, data_format="NHWC" if channel_last else "NCHW") * 2

    check(pooled, numbers(*shape_of(sizes, channel_last), dtype=dtype), rtol=1e-6)


def test_lines_volumes_and_divisors():
    check(lambda x: F.avg_pool1d(x, 3, 2), numbers(2, 3, 9))
    check(lambda x: F.avg_pool3d(x, 2), numbers(2, 3, 4, 6, 2))
    check(lambda x: F.avg_pool2d(x, 2, divisor_override=3), numbers(2, 3, 4, 6))


@pytest.mark.parametrize("channel_last", [False, True])
@pytest.mark.parametrize(("sizes", "kernel"), [(s, k) for s, k, stride in WINDOWS if k == stride])
def test_gradients_of_means(sizes, kernel, channel_last):
    counts = [s // k for s, k in zip(sizes, kernel)]

    def spread(ct, x):
        return avg_pool_grad_op(
            ct, x, kernel=kernel, stride=kernel, padding=((0, 0), (0, 0)), ceil_mode=False, channel_last=channel_last,
            exclusive=True, divisor=None,
        ) + 1  # fmt: skip

    check(spread, numbers(*shape_of(counts, channel_last)), numbers(*shape_of(sizes, channel_last)), rtol=1e-6)


@pytest.mark.parametrize("given", [{"padding": 1}, {"ceil_mode": True}])
def test_windows_that_reach_beyond_are_left_to_numpy(given):
    x = numbers(2, 3, 5, 5)
    with pytest.raises(NoNativeForm, match="beyond"):
        program_of(lambda x: F.avg_pool2d(x, 2, **given), (x.shape, "float32")).plan((x,))


def test_a_step_gives_what_eager_code_gives():
    weight = paddle.to_tensor(numbers(4, 3, 3, 3), stop_gradient=False)
    x = paddle.to_tensor(numbers(16, 3, 8, 8))

    def step(x):
        return (F.avg_pool2d(F.relu(F.avg_pool2d(F.conv2d(x, weight, padding=1), 2)), 3, 1) ** 2).sum()

    step(x).backward()
    wanted, static = weight.grad.numpy(), paddle.jit.to_static(step)
    with flags_guard({"native_after_ms": 0}):
        for _ in range(3):
            weight.clear_grad()
            static(x).backward()
            np.testing.assert_allclose(weight.grad.numpy(), wanted, rtol=1e-4, atol=1e-4)
