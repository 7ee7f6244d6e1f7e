"""Convolutions and max pooling as steps of native programs: what NumPy's kernels give, for windows of all kinds."""

import numpy as np
import pytest

from tests.codegen.test_pointwise import guarded
from tests.codegen.test_whole import program_of
from vitrify.codegen import pool_steps
from vitrify.codegen.own_products import any_gemm
from vitrify.core.config import flags_guard
from vitrify.ops.activation import relu
from vitrify.ops.conv import channel_sum_op, conv_arguments, conv_input_grad_op, conv_op, conv_weight_grad_op
from vitrify.ops.pool import max_pool_grad_op, max_pool_op
from vitrify.ops.shape import flatten
from vitrify.ops.transpose import transpose

F32 = np.dtype(np.float32)
needs_own = pytest.mark.skipif(any_gemm(F32) is None, reason="windows are measured with AVX2 and AVX-512 alone")


def numbers(rng, *shape):
    return rng.standard_normal(shape).astype(F32)


def is_native(op, arrays, attrs):
    """Whether the op has a form for these arrays, which gives what its kernel does."""
    program = program_of(lambda *xs: op(*xs, **attrs), *[(a.shape, a.dtype.name) for a in arrays])
    found = program(arrays)
    if found is None:
        return False
    np.testing.assert_allclose(found[0], op.on_numpy(*arrays, **attrs), rtol=1e-4, atol=5e-4)
    return True


def windows(rng, dims, channel_last, groups=1):
    """Attributes, input and weight of a convolution that fits; channels and outputs are those of a group."""
    images, channels, outputs = (int(rng.choice(s)) for s in ((1, 2, 5, 9), (1, 3, 16, 19), (1, 5, 8, 17)))
    kernel = [int(k) for k in rng.integers(1, 6, dims)]
    stride, dilation = ([int(s) for s in rng.integers(1, 4, dims)] for _ in range(2))
    pads = [int(p) for p in rng.integers(0, 4, 2 * dims)]
    least = [max(1, (k - 1) * d + 1 - sum(pads[2 * i : 2 * i + 2])) for i, (k, d) in enumerate(zip(kernel, dilation))]
    sizes = [int(n + rng.integers(0, 23)) for n in least]
    layout = {1: ("NCL", "NLC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}[dims][channel_last]
    attrs = conv_arguments(f"conv{dims}d", dims, stride, pads, dilation, groups, layout)
    shape = (images, *sizes, channels * groups) if channel_last else (images, channels * groups, *sizes)
    return attrs, numbers(rng, *shape), numbers(rng, outputs * groups, channels, *kernel)


@needs_own
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_convolutions_and_their_cotangents(dims, threads):
    rng = np.random.default_rng([dims, threads])
    found = dict.fromkeys((conv_op, conv_input_grad_op, conv_weight_grad_op), 0)
    with flags_guard({"num_threads": threads}):
        for trial in range(20):
            attrs, x, weight = windows(rng, dims, trial % 3 == 0)
            bias = numbers(rng, weight.shape[0])
            found[conv_op] += is_native(conv_op, (x, weight, bias), attrs)
            ct = numbers(rng, *conv_op.on_numpy(x, weight, bias, **attrs).shape)
            found[conv_input_grad_op] += is_native(conv_input_grad_op, (ct, weight, x), attrs)
            found[conv_weight_grad_op] += is_native(conv_weight_grad_op, (ct, x, weight), attrs)
    assert found[conv_op] == 20 and all(found.values())


@needs_own
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("groups", [2, 3, 19])
def test_groups(groups, threads):
    rng = np.random.default_rng([groups, threads])
    found = dict.fromkeys((conv_op, conv_input_grad_op, conv_weight_grad_op), 0)
    with flags_guard({"num_threads": threads}):
        for trial in range(16):
            attrs, x, weight = windows(rng, 1 + trial % 3, trial % 4 == 0, groups)
            bias, lie = numbers(rng, weight.shape[0]), images_innermost if trial % 2 else np.asarray
            found[conv_op] += is_native(conv_op, (lie(x), weight, bias), attrs)
            ct = numbers(rng, *conv_op.on_numpy(x, weight, bias, **attrs).shape)
            found[conv_input_grad_op] += is_native(conv_input_grad_op, (lie(ct), weight, x), attrs)
            found[conv_weight_grad_op] += is_native(conv_weight_grad_op, (lie(ct), lie(x), weight), attrs)
    assert all(count >= 8 for count in found.values())  # where vectors have work, as most have


@needs_own
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("size", [1, 2, 7, 14, 28])
def test_a_filter_for_each_channel(size, threads):
    rng = np.random.default_rng([size, threads])
    with flags_guard({"num_threads": threads}):
        for images, channels, kernel, stride in ((1, 5, 3, 1), (8, 96, 3, 2), (3, 40, 5, 1), (1, 64, 7, 2)):
            attrs = conv_arguments("conv2d", 2, stride, kernel // 2, 1, channels, "NCHW")
            x, weight = numbers(rng, images, channels, size, size), numbers(rng, channels, 1, kernel, kernel)
            bias = numbers(rng, channels)
            ct = numbers(rng, *conv_op.on_numpy(x, weight, bias, **attrs).shape)
            found = [
                is_native(conv_op, (x, weight, bias), attrs),
                is_native(conv_input_grad_op, (ct, weight, x), attrs),
                is_native(conv_weight_grad_op, (ct, x, weight), attrs),
            ]
            assert all(found) or images * size < 8  # no vector would have work for a quarter of its lanes


@needs_own
def test_arrays_that_lie_in_another_order():
    rng = np.random.default_rng(2)
    attrs = conv_arguments("conv2d", 2, 2, 1, 1, 1, "NCHW")
    x = numbers(rng, 16, 31, 29, 3).transpose(3, 0, 1, 2)
    weight = numbers(rng, 3, 3, 16, 17).transpose(3, 2, 0, 1)
    assert is_native(conv_op, (x, weight, numbers(rng, 17)), attrs)
    ct = numbers(rng, 17, 16, 15, 3).transpose(3, 0, 1, 2)
    assert is_native(conv_weight_grad_op, (ct, x, weight), attrs)
    assert is_native(conv_input_grad_op, (ct, weight, x), attrs)


@needs_own
@pytest.mark.parametrize("pad", [0, 1])
@pytest.mark.parametrize("groups", [1, 4, 16])
def test_nothing_beside_the_arrays_is_touched(pad, groups):
    rng = np.random.default_rng(3)
    outputs, channels = (9, 16) if groups == 1 else (16, 16 // groups)
    attrs = conv_arguments("conv2d", 2, 1, pad, 1, groups, "NCHW")
    (x, kept_x), (weight, kept_weight) = guarded(2 * 16 * 13 * 19, F32), guarded(outputs * channels * 9, F32)
    x[:], weight[:] = numbers(rng, x.size), numbers(rng, weight.size)
    given = x.reshape(2, 16, 13, 19), weight.reshape(outputs, channels, 3, 3)
    assert is_native(conv_op, (*given, numbers(rng, outputs)), attrs)
    shape = conv_op.on_numpy(*given, None, **attrs).shape
    (ct, kept_ct), (other, kept_other) = (guarded(int(np.prod(shape)), F32) for _ in range(2))
    ct[:] = other[:] = numbers(rng, ct.size)
    assert is_native(conv_input_grad_op, (ct.reshape(shape), given[1], given[0]), attrs)
    assert is_native(conv_weight_grad_op, (other.reshape(shape), *given), attrs)
    del kept_x, kept_weight, kept_ct, kept_other


def images_innermost(x):
    """The same array, images innermost in memory."""
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 0, -1)), -1, 0)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_images_fill_vectors(dims, threads):
    rng = np.random.default_rng([dims, threads, 7])
    found = dict.fromkeys((conv_op, conv_input_grad_op, conv_weight_grad_op), 0)
    with flags_guard({"num_threads": threads}):
        for trial in range(16):
            attrs, x, weight = windows(rng, dims, trial % 4 == 0)
            images = (8, 16, 33, 64)[trial % 4] if dims < 3 else 8
            x = numbers(rng, images, *x.shape[1:])
            bias, lie = numbers(rng, weight.shape[0]), images_innermost if trial % 2 else np.asarray
            found[conv_op] += is_native(conv_op, (lie(x), weight, bias), attrs)
            ct = numbers(rng, *conv_op.on_numpy(x, weight, bias, **attrs).shape)
            found[conv_input_grad_op] += is_native(conv_input_grad_op, (lie(ct), weight, x), attrs)
            found[conv_weight_grad_op] += is_native(conv_weight_grad_op, (lie(ct), lie(x), weight), attrs)
    assert found[conv_op] == 16 and all(count >= 8 for count in found.values())


@pytest.mark.parametrize("images", [8, 16, 64])
def test_nothing_beside_arrays_of_many_images_is_touched(images):
    rng = np.random.default_rng(images)
    for pad, kernel in ((0, 1), (0, 3), (1, 3), (2, 5)):
        attrs = conv_arguments("conv2d", 2, 1, pad, 1, 1, "NCHW")
        (x, kept_x), (weight, kept_weight) = guarded(images * 3 * 7 * 6, F32), guarded(5 * 3 * kernel**2, F32)
        x[:], weight[:] = numbers(rng, x.size), numbers(rng, weight.size)
        given = np.moveaxis(x.reshape(3, 7, 6, images), -1, 0), weight.reshape(5, 3, kernel, kernel)
        assert is_native(conv_op, (*given, numbers(rng, 5)), attrs)
        shape = conv_op.on_numpy(*given, None, **attrs).shape
        ct, kept_ct = guarded(int(np.prod(shape)), F32)
        ct[:] = numbers(rng, ct.size)
        ct = np.moveaxis(ct.reshape(*shape[1:], images), -1, 0)
        assert is_native(conv_input_grad_op, (ct, given[1], given[0]), attrs)
        assert is_native(conv_weight_grad_op, (ct, *given), attrs)
        del kept_x, kept_weight, kept_ct


def test_layers_hand_on_arrays_as_they_lie():
    """Elementwise operators, sums and reshapes of what convolutions and pooling leave with images innermost."""
    rng = np.random.default_rng(5)
    attrs = conv_arguments("conv2d", 2, 1, 2, 1, 1, "NCHW")
    pool = {"kernel": (2, 2), "stride": (2, 2), "padding": ((0, 0), (0, 0)), "ceil_mode": False, "channel_last": False}

    def net(x, weight, scale):
        y = max_pool_op(relu(conv_op(x, weight, None, **attrs)), **pool)
        return flatten(y * scale + y, 1), channel_sum_op(y, channel_last=False)

    x, weight, scale = numbers(rng, 16, 2, 12, 10), numbers(rng, 6, 2, 5, 5), numbers(rng, 6, 1, 1)
    program = program_of(net, *[(a.shape, "float32") for a in (x, weight, scale)])
    y = max_pool_op.on_numpy(np.maximum(conv_op.on_numpy(x, weight, None, **attrs), 0), **pool)
    y = y * scale + y, y
    rows, sums = program([x, weight, scale])
    np.testing.assert_allclose(rows, y[0].reshape(16, -1), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(sums, y[1].sum((0, 2, 3)), rtol=1e-4, atol=1e-2)


@pytest.mark.parametrize("shape", [(1, 1), (8, 8), (7, 64), (64, 7), (17, 31), (40, 3, 24), (9, 1, 9), (5, 0, 9)])
def test_copies_into_another_order_touch_nothing_else(shape):
    rng = np.random.default_rng(6)
    axes = tuple(range(len(shape)))[::-1]
    for dtype in ("float32", "int32", "float64"):
        x, kept = guarded(int(np.prod(shape)), np.dtype(dtype))
        x[:] = rng.integers(0, 99, x.size)
        x = x.reshape(shape)
        program = program_of(lambda v: flatten(transpose(v, axes), 0) * 2, (shape, dtype))
        np.testing.assert_array_equal(program([x])[0], x.transpose(axes).reshape(-1) * 2)
        del kept


@pytest.mark.parametrize("threads", [1, 2])
def test_max_pooling_of_many_images(threads):
    rng = np.random.default_rng([8, threads])
    with flags_guard({"num_threads": threads}):
        for trial in range(24):
            kernel, stride = (tuple(int(v) for v in rng.integers(1, 4, 2)) for _ in range(2))
            pads = tuple((int(rng.integers(0, k)), int(rng.integers(0, k))) for k in kernel)
            shape = (int(rng.choice([4, 8, 17, 64])), 5, *(int(s) for s in rng.integers(4, 15, 2)))
            attrs = {"kernel": kernel, "stride": stride, "padding": pads, "ceil_mode": trial % 2 == 0}
            attrs["channel_last"] = False
            (x, kept_x), lie = guarded(int(np.prod(shape)), F32), trial % 3
            x[:] = rng.integers(0, 9, x.size)
            if trial % 4 == 0:
                x[:: trial + 3] = np.nan
            x = np.moveaxis(x.reshape(*shape[1:], shape[0]), -1, 0) if lie else x.reshape(shape)
            assert is_native(max_pool_op, (x,), attrs)
            out = max_pool_op.on_numpy(x, **attrs)
            ct = numbers(rng, *out.shape)
            given = (images_innermost(ct) if lie == 1 else ct, x, images_innermost(out) if lie else out)
            assert is_native(max_pool_grad_op, given, attrs)
            del kept_x


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("channel_last", [False, True])
def test_max_pooling(threads, channel_last):
    rng = np.random.default_rng(4)
    with flags_guard({"num_threads": threads}):
        for trial in range(12):
            kernel, stride = (tuple(int(v) for v in rng.integers(1, 4, 2)) for _ in range(2))
            pads = tuple((int(rng.integers(0, k)), int(rng.integers(0, k))) for k in kernel)
            sizes = [int(s) for s in rng.integers(4, 21, 2)]
            shape = (3, *sizes, 37) if channel_last else (3, 5, sizes[0], sizes[1] + 96)
            attrs = {"kernel": kernel, "stride": stride, "padding": pads, "ceil_mode": trial % 2 == 0}
            attrs["channel_last"] = channel_last
            x = rng.integers(0, 9, shape).astype(F32)  # with equal elements, of which the first counts
            if trial % 4 == 0:
                x.flat[:: trial + 3] = np.nan
            assert is_native(max_pool_op, (x,), attrs)
            out = max_pool_op.on_numpy(x, **attrs)
            assert is_native(max_pool_grad_op, (numbers(rng, *out.shape), x, out), attrs)


@pytest.mark.parametrize("threads", [1, 2])
def test_max_pooling_of_rows_touches_nothing_else(threads, monkeypatch):
    """Windows of a row at a time, of images that end where their memory does; what is infinite, and NaN."""
    rng, rows, add_rows = np.random.default_rng([9, threads]), [], pool_steps.add_rows
    monkeypatch.setattr(pool_steps, "add_rows", lambda *given: (rows.append(given), add_rows(*given)))
    monkeypatch.setattr(pool_steps, "_LARGE", 1 << 10)  # so that threads share the work
    with flags_guard({"num_threads": threads}):
        for trial in range(24):
            kernel = tuple(int(v) for v in rng.integers(1, 6, 2))
            stride = int(rng.integers(1, 4)), 1 + trial % 2
            pads = tuple((int(rng.integers(0, k)), int(rng.integers(0, k))) for k in kernel)
            shape = (int(rng.choice([1, 2, 3])), int(rng.choice([1, 5, 9])), int(rng.integers(5, 24)), 31 + 3 * trial)
            attrs = {"kernel": kernel, "stride": stride, "padding": pads, "ceil_mode": trial % 3 == 0}
            attrs["channel_last"] = False
            x, kept = guarded(int(np.prod(shape)), F32)
            x[:] = numbers(rng, x.size)
            x[rng.random(x.size) < 0.01 * (trial % 4)] = (np.nan, np.inf, -np.inf)[trial % 3]
            if -(-(shape[3] - kernel[1] + 1) // stride[1]) >= 16:
                assert is_native(max_pool_op, (x.reshape(shape),), attrs)
            del kept
    assert len(rows) >= 20


@pytest.mark.parametrize(("shape", "channel_last"), [((2, 3, 64, 8), False), ((2, 64, 64, 3), True)])
def test_short_rows_are_left_to_numpy(shape, channel_last):
    attrs = {"kernel": (2, 2), "stride": (2, 2), "padding": ((0, 0), (0, 0)), "ceil_mode": False}
    attrs["channel_last"] = channel_last
    x = numbers(np.random.default_rng(4), *shape)
    out = max_pool_op.on_numpy(x, **attrs)
    assert not is_native(max_pool_op, (x,), attrs)
    assert not is_native(max_pool_grad_op, (np.ones_like(out), x, out), attrs)
