"""Gradients of joined, repeated and pooled arrays as parts of native programs."""

import numpy as np
import pytest

import vitrify as paddle
from tests.codegen.test_whole import check, numbers, program_of
from vitrify.codegen.errors import NoNativeForm
from vitrify.core.config import flags_guard
from vitrify.nn import functional as F
from vitrify.ops.adaptive_pool import adaptive_avg_pool_grad_op
from vitrify.ops.expand import sum_repeats_op
from vitrify.ops.split import split_like_op


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_the_gradient_of_a_concatenation(axis):
    shape = [2, 3, 4]
    sizes = [1, 5, 2]

    def parts(ct, *likes):
        return [part * 2 for part in split_like_op(ct, *likes, axis=axis)]

    likes = [numbers(*shape[:axis], size, *shape[axis + 1 :], seed=size) for size in sizes]
    check(parts, numbers(*shape[:axis], sum(sizes), *shape[axis + 1 :]), *likes)


def test_parts_are_arrays_of_their_own():
    ct, a, b = numbers(4, 3), numbers(1, 3), numbers(3, 3)
    found = check(lambda ct, a, b: split_like_op(ct, a, b, axis=0), ct, a, b)((ct, a, b))
    found[0][:] = 7
    assert (ct != 7).all() and (found[1] == ct[1:]).all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_the_gradient_of_repeated_slices(axis, dtype):
    shape = [2, 3, 4]
    repeated = [*shape[:axis], 3 * shape[axis], *shape[axis + 1 :]]

    def summed(ct, like):
        return sum_repeats_op(ct, like, None, times=3, axis=axis) * 2

    rtol = 1e-2 if dtype == "float16" else 1e-5
    check(summed, numbers(*repeated, dtype=dtype), numbers(*shape, dtype=dtype), rtol=rtol)


# Sizes of images and how many bins: one, some that divide them, some of unlike sizes that share nothing.
BINS = [((6, 8), (1, 1)), ((6, 8), (3, 2)), ((6, 8), (6, 8)), ((7, 5), (1, 1)), ((4,), (2,)), ((4, 2, 6), (2, 1, 3))]


@pytest.mark.parametrize("channel_last", [False, True])
@pytest.mark.parametrize(("sizes", "bins"), BINS)
def test_the_gradient_of_pooling_to_a_size(sizes, bins, channel_last):
    def shape(spatial):
        return (2, *spatial, 3) if channel_last else (2, 3, *spatial)

    def spread(ct, x):
        return adaptive_avg_pool_grad_op(ct, x, channel_last=channel_last) + 1

    check(spread, numbers(*shape(bins)), numbers(*shape(sizes)), rtol=1e-6)


@pytest.mark.parametrize("bins", [(4, 4), (17, 17)])
def test_bins_that_share_elements_and_many_bins_are_left_to_numpy(bins):
    arrays = numbers(1, 1, *bins), numbers(1, 1, 34, 6)
    program = program_of(
        lambda ct, x: adaptive_avg_pool_grad_op(ct, x, channel_last=False), *[(a.shape, "float32") for a in arrays]
    )
    with pytest.raises(NoNativeForm, match="bins"):
        program.plan(arrays)


def test_a_step_with_all_of_them():
    weight = paddle.to_tensor(numbers(6, 4), stop_gradient=False)

    def step(x):
        wide = paddle.concat([x, F.adaptive_avg_pool2d(x, 1) * x], 1)
        heads = paddle.repeat_interleave(wide, 2, 1).mean([2, 3])
        return (paddle.matmul(heads[:, 1:7], weight) ** 2).sum()

    x = paddle.to_tensor(numbers(2, 2, 4, 4), stop_gradient=False)
    step(x).backward()
    wanted = x.grad.numpy(), weight.grad.numpy()
    static = paddle.jit.to_static(step)
    with flags_guard({"native_after_ms": 0}):
        for _ in range(3):
            x.clear_grad()
            weight.clear_grad()
            static(x).backward()
            np.testing.assert_allclose(x.grad.numpy(), wanted[0], rtol=1e-5, atol=1e-5)
            np.testing.assert_allclose(weight.grad.numpy(), wanted[1], rtol=1e-5, atol=1e-5)
