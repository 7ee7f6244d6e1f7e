"""Row kernels: reductions with what stands before and behind them, over rows of all sizes."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vitrify as paddle
from tests.codegen.test_pointwise import UNKNOWN, block_of, eagerly, guarded, kernel_of, numbers
from tests.passes.programs import specials
from vitrify.codegen.llvm import host
from vitrify.codegen.native import RowKernel, ir_of, why_not
from vitrify.core.config import flags_guard
from vitrify.core.dtype import as_dtype
from vitrify.core.errors import ShapeError
from vitrify.ops.normalization import layer_norm_op, norm_grad_op
from vitrify.runtime import fused
from vitrify.runtime.lowering import lower
from vitrify.runtime.options import ExecutionOptions

F = paddle.nn.functional
CLOSE = {"float64": 1e-12, "float32": 3e-6, "float16": 4e-3, "bfloat16": 3e-2}


def normed(x, w):
    """Three loops over a row, numbers of a row between them."""
    y = F.softmax(x * w)
    return F.layer_norm(y, [int(x.shape[-1])]) if x.shape[-1] > 0 else y - y.mean(-1, keepdim=True)


def test_a_group_with_reductions_becomes_one_function():
    kernel = kernel_of(normed, ([4, 5], "float32"), ([5], "float32"))
    assert isinstance(kernel, RowKernel)
    x, w = numbers(4, 5), numbers(5)
    (out,) = kernel(x, w)
    np.testing.assert_allclose(out, eagerly(normed, x, w), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", CLOSE)
@pytest.mark.parametrize("size", [2, 3, 8, 15, 16, 17, 31, 63, 64, 65, 257])
def test_rows_of_all_sizes(size, dtype):
    def fn(x):
        return F.softmax(x), F.log_softmax(x * 2), x.max(-1, keepdim=True) - x

    x = numbers(5, size).astype(as_dtype(dtype).np)
    found = kernel_of(fn, ([5, size], dtype))(x)
    for out, wanted in zip(found, fn(paddle.to_tensor(x)), strict=True):
        wanted = wanted.numpy()
        assert out.shape == wanted.shape and out.dtype == wanted.dtype
        np.testing.assert_allclose(out.astype(float), wanted.astype(float), rtol=CLOSE[dtype], atol=CLOSE[dtype])


def test_lengths_neither_overflow_nor_vanish():
    x = np.array([[0, 0, 0], [np.inf, 1, 2], [np.nan, 1, np.inf], [1e30, -1e30, 2], [1e-30, 2e-30, 0], [3, -4, 0]])
    x = x.astype("float32")
    fn = lambda x: x.norm(axis=-1, keepdim=True)  # noqa: E731
    (found,) = kernel_of(fn, ([6, 3], "float32"))(x)
    np.testing.assert_allclose(found, eagerly(fn, x), rtol=1e-6)


REDUCTIONS = ("sum", "mean", "max", "min", "prod", "any", "all")


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int8", "int32", "int64", "bool"])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name, dtype):
    """Of special numbers too: NaN, infinities, overflow, zeros of both signs."""
    if dtype == "bool" and name in ("mean", "prod"):
        return  # they are of another dtype
    metas = (([3, 21], dtype),)
    kernel = kernel_of(lambda x: getattr(paddle, name)(x, -1, keepdim=True), *metas)
    plain = numbers(3, 21, seed=1).astype(as_dtype(dtype).np)
    for x in (plain, specials((3, 21), as_dtype(dtype).np)):
        with np.errstate(all="ignore"):
            wanted = eagerly(lambda x: getattr(paddle, name)(x, -1, keepdim=True), x)
        (out,) = kernel(x)
        assert out.dtype == wanted.dtype and out.shape == wanted.shape
        if dtype in CLOSE and name not in ("max", "min"):
            tolerance = CLOSE[dtype]
            np.testing.assert_allclose(out.astype(float), wanted.astype(float), rtol=tolerance, atol=tolerance)
        else:
            # NumPy knows no NaN of bfloat16.
            exact = "float64" if dtype in CLOSE else out.dtype
            np.testing.assert_array_equal(out.astype(exact), wanted.astype(exact))


@pytest.mark.parametrize("shape", [(2, 3, 4), (1, 3, 5), (3, 1, 7)])
def test_rows_of_several_dimensions(shape):
    def fn(x, b):
        y = x * b
        return y / y.sum([1, 2], keepdim=True), (x * 2).max([1, 2])

    kernel = kernel_of(fn, (shape, "float32"), ([], "float32"))
    x, b = numbers(*shape), np.array(0.5, "float32")
    for out, wanted in zip(kernel(x, b), fn(paddle.to_tensor(x), paddle.to_tensor(b)), strict=True):
        np.testing.assert_allclose(out, wanted.numpy(), rtol=1e-5)


def test_all_elements_as_one_row():
    kernel = kernel_of(lambda x, y: ((x - y) ** 2).mean(), (UNKNOWN, "float32"), (UNKNOWN, "float32"))
    x, y = numbers(37, 41), numbers(37, 41, seed=1)
    (out,) = kernel(x, y)
    assert out.shape == () and abs(float(out) - float(((x - y) ** 2).mean())) < 1e-5


BROADCAST = [
    ((4, 6), (6,)),
    ((4, 6), (4, 1)),
    ((4, 6), (1, 6)),
    ((4, 6), ()),
    ((2, 3, 5), (3, 1)),
    ((2, 3, 5), (2, 1, 5)),
]


@pytest.mark.parametrize(("shape", "other"), BROADCAST)
def test_operands_broadcast_into_rows(shape, other):
    def fn(x, b):
        return F.softmax(x + b) * b

    x, b = numbers(*shape), numbers(*other)
    (out,) = kernel_of(fn, (shape, "float32"), (other, "float32"))(x, b)
    np.testing.assert_allclose(out, eagerly(fn, x, b), rtol=1e-5, atol=1e-6)


@settings(max_examples=30, deadline=None, database=None, derandomize=True)
@given(
    rows=st.sampled_from([1, 2, 7, 13]), size=st.integers(2, 70), step=st.sampled_from([1, 2, -1]),
    is_turned=st.booleans(),
)  # fmt: skip
def test_layouts(rows, size, step, is_turned):
    kernel = kernel_of(lambda x: F.softmax(x), (UNKNOWN, "float32"))
    x = numbers(rows, size * abs(step))[:, ::step]
    x = x.T.copy().T if is_turned else x
    np.testing.assert_allclose(kernel(x)[0], eagerly(F.softmax, x), rtol=1e-5, atol=1e-7)


def test_sums_are_as_accurate_as_those_in_pairs():
    """Of numbers that grow and cancel: exact to the last places, in float32 and float64."""
    for dtype, size in (("float32", 100_003), ("float64", 10_007)):
        x = (numbers(1, size, seed=3) + 1e3).astype(dtype)
        (out,) = kernel_of(lambda x: (x * 1).sum(-1), (UNKNOWN, dtype))(x)
        exact = math.fsum(x[0].tolist())
        assert abs(float(out[0]) - exact) <= abs(float(x.sum(-1)[0]) - exact) + np.finfo(dtype).eps * exact


@pytest.mark.parametrize("name", ["sum", "mean"])
@pytest.mark.parametrize("axis", [0, 1])
def test_what_is_too_large_is_infinite(name, axis):
    """A mean whose sum is too large, too; nobody is warned of it."""
    x = np.full((4, 4), 3e38, "float32")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (out,) = kernel_of(lambda x: getattr(x * 1, name)(axis), (UNKNOWN, "float32"))(x)
    assert np.isposinf(out).all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("size", [1, 16, 65, 130])
def test_extremes_of_rows_with_nan(size, dtype):
    """Wherever it stands; infinities, and rows of one number, beside it."""
    x = np.full((size + 2, size), -np.inf, as_dtype(dtype).np)
    x[np.arange(size), np.arange(size)] = np.nan
    x[size, size // 2] = np.inf
    for name, reduced in (("max", np.maximum), ("min", np.minimum)):
        (out,) = kernel_of(lambda x, name=name: getattr(x * 1, name)(-1), (UNKNOWN, dtype))(x)
        np.testing.assert_array_equal(out.astype(float), reduced.reduce(x.astype(float), axis=-1))


def test_what_is_kept_lies_where_something_else_was_kept():
    """Division and exp are kept for later loops one after the other, both in the memory of the result to come."""

    def fn(x):
        return F.layer_norm(F.softmax(x), [300])

    kernel = kernel_of(fn, ([-1, 300], "float32"))
    assert kernel._signature.scratch == ()
    x = numbers(9, 300)
    np.testing.assert_allclose(kernel(x)[0], fn(paddle.to_tensor(x)).numpy(), rtol=1e-4, atol=1e-5)


def test_what_is_kept_between_loops():
    """In memory of its own where no result of its dtype is to come: exp would be computed twice."""

    def fn(x):
        y = (x * 3).exp()
        z = y.sum(-1, keepdim=True)
        return (y / z + y).astype("float64"), z

    kernel = kernel_of(fn, (UNKNOWN, "float32"))
    assert kernel._signature.scratch == (4,)
    x = numbers(9, 45)
    for out, wanted in zip(kernel(x), fn(paddle.to_tensor(x)), strict=True):
        np.testing.assert_allclose(out, wanted.numpy(), rtol=1e-5)


@pytest.mark.parametrize("count", [2, 7, 8, 9, 16, 31, 257])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
def test_nothing_beside_the_arrays_is_touched(count, dtype):
    kernel = kernel_of(lambda x: x.max(-1, keepdim=True) - x, (UNKNOWN, dtype))
    (x, kept_x), (out, kept_out) = (guarded(count, dtype) for _ in range(2))
    x[:] = numbers(count).astype(dtype)
    kernel._ufunc(x, out=out)
    assert np.array_equal(out, x.max() - x)
    del kept_x, kept_out


@pytest.mark.parametrize(
    ("fn", "loops"),
    [(F.softmax, 1), (lambda x: x - x.mean(-1, keepdim=True), 1), (lambda x: (x * 2).sum(0), 0)],
    ids=["the second of two", "the only one", "columns"],
)
def test_one_loop_that_gathers_fetches_the_next_row(fn, loops):
    text = ir_of(block_of(fn, ([5, 64], "float32")), host())[0]
    blocks = [block for block in text.split(":\n") if "call void @llvm.prefetch" in block]
    assert len(blocks) == loops


@pytest.mark.parametrize("size", [1 << 14, (1 << 14) + 1])
def test_rows_too_large_to_fetch_are_computed_alike(size):
    x = numbers(3, size)
    np.testing.assert_allclose(kernel_of(F.softmax, (UNKNOWN, "float32"))(x)[0], eagerly(F.softmax, x), rtol=1e-5)


def test_arrays_that_do_not_suit_are_left_to_the_operators():
    kernel = kernel_of(lambda x, y: x - (x + y).max(-1, keepdim=True), (UNKNOWN, "float32"), (UNKNOWN, "float32"))
    assert kernel(numbers(3, 4), numbers(3, 4)) is not None
    assert kernel(numbers(3, 4), numbers(3, 1)) is None  # broadcasts, though recorded as unknown
    assert kernel(numbers(3, 4), numbers(1, 4)) is None
    assert kernel(numbers(3, 4, dtype="float64"), numbers(3, 4)) is None
    assert kernel(numbers(3, 0), numbers(3, 0)) is None  # no element is the largest: the operator says so
    assert kernel(numbers(0, 3), numbers(0, 3)) is None


@pytest.mark.parametrize(
    "shapes", [((3, 4), (3, 1)), ((3, 4), (1, 4)), ((1, 1), (5, 7)), ((0, 4), (0, 4)), ((3, 1), (3, 1))]
)
def test_sizes_known_only_when_it_runs(shapes):
    def fn(x, y):
        return F.softmax(x + y) * x, (x * y).mean(-1, keepdim=True)

    arrays = [numbers(*shape, seed=i) for i, shape in enumerate(shapes)]
    block = block_of(fn, (UNKNOWN, "float32"), (UNKNOWN, "float32"))
    found = lower(block, options=ExecutionOptions(native="always"))(*[a.copy() for a in arrays])
    for out, wanted in zip(found, fn(*map(paddle.to_tensor, arrays)), strict=True):
        assert out.shape == tuple(wanted.shape)
        np.testing.assert_allclose(out, wanted.numpy(), rtol=1e-5, atol=1e-6)


def test_the_largest_of_nothing_raises_what_it_raises_without_a_kernel():
    block = block_of(lambda x: x - (x * 2).max(-1, keepdim=True), (UNKNOWN, "float32"))
    for choice in ("always", "never"):
        with pytest.raises((ShapeError, ValueError)):
            lower(block, options=ExecutionOptions(native=choice))(numbers(3, 0))


def test_rows_on_several_threads():
    body = block_of(lambda x, m: F.softmax(x * 2 + m), ([4, 64, 5000], "float32"), ([4, 1, 5000], "float32"))
    run = fused.runner(body, lower(body), ExecutionOptions(native="always"))
    x, m = numbers(4, 64, 5000), numbers(4, 1, 5000)
    with flags_guard({"num_threads": 2}):
        (out,) = run([x, m])
    np.testing.assert_allclose(out, eagerly(lambda x, m: F.softmax(x * 2 + m), x, m), rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "int32", "bool"])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_over_all_rows(name, dtype):
    if dtype == "bool" and name in ("mean", "prod"):
        return  # they are of another dtype
    for axes, keepdim in ((0, True), ([0, 1], False)):

        def fn(x):
            return getattr(paddle, name)(x, axes, keepdim=keepdim)

        kernel = kernel_of(fn, ([3, 4, 21], dtype))
        x = numbers(3, 4, 21, seed=1).astype(as_dtype(dtype).np)
        (out,), wanted = kernel(x), eagerly(fn, x)
        assert out.dtype == wanted.dtype and out.shape == wanted.shape and out.base is None
        tolerance = CLOSE.get(dtype, 0)
        np.testing.assert_allclose(out.astype(float), wanted.astype(float), rtol=tolerance, atol=tolerance)


def columns(x, w):
    """Rows, numbers of rows and columns at once."""
    y = F.softmax(x * w)
    return y.max(-1), (y * w).sum([0, 1]), y, (x - y).mean([0, 1], keepdim=True)


def test_rows_and_columns_together():
    x, w = numbers(5, 7, 19), numbers(5, 1, 1)
    found = kernel_of(columns, ([5, -1, -1], "float32"), ([5, 1, 1], "float32"))(x, w)
    for out, wanted in zip(found, columns(paddle.to_tensor(x), paddle.to_tensor(w)), strict=True):
        assert out.shape == tuple(wanted.shape)
        np.testing.assert_allclose(out, wanted.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("outputs", [slice(0, 4), slice(1, 2)])
def test_columns_of_rows_on_several_threads(outputs):
    shapes = ([128, 3, 3000], "float32"), ([1, 3, 3000], "float32")
    body = block_of(lambda x, w: columns(x, w)[outputs], *shapes)
    run = fused.runner(body, lower(body), ExecutionOptions(native="always"))
    x, w = numbers(128, 3, 3000), numbers(1, 3, 3000)
    results = []
    for threads in (1, 2):
        with flags_guard({"num_threads": threads}):
            results.append(run([x, w]))
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    wanted = columns(paddle.to_tensor(x), paddle.to_tensor(w))[outputs]
    for out, other in zip(results[0], wanted, strict=True):
        np.testing.assert_allclose(out, other.numpy(), rtol=1e-3, atol=1e-5)


def test_the_gradient_of_layer_norm_is_one_function():
    def fn(ct, x, w, b, mean, rstd):
        return norm_grad_op(
            ct, x, w, b, mean, rstd, axes=(1,), param_axes=(1,), groups=0, epsilon=1e-5, with_params=True
        )

    x, w = numbers(6, 19), numbers(19)
    _, mean, rstd = layer_norm_op.on_numpy(x, w, w, axes=(1,), param_axes=(1,), groups=0, epsilon=1e-5)
    arrays = [numbers(6, 19, seed=2), x, w, w, mean, rstd]
    found = kernel_of(fn, *[(a.shape, "float32") for a in arrays])(*arrays)
    wanted = fn(*map(paddle.to_tensor, arrays))
    for out, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(out, other.numpy(), rtol=1e-4, atol=1e-5)


def test_groups_that_differ_in_sizes_share_their_code():
    first, second = (kernel_of(lambda x: F.softmax(x * 1.25), ([n, 5], "float32")) for n in (3, 4))
    assert first._ufunc is second._ufunc


def test_what_has_no_native_form_says_why():
    assert "complex" in why_not(block_of(lambda x: (x * 2).sum(-1), ([3, 4], "complex64")))
    assert "erfinv" in why_not(block_of(lambda x: paddle.erfinv(x).sum(-1), ([3, 4], "float32")))
    assert "sum" in why_not(block_of(lambda x: (x * 2).sum(0) + 1, ([3, 4], "float32")))
    assert why_not(block_of(lambda x: F.softmax(x), ([3, 4], "float32"))) == ""
