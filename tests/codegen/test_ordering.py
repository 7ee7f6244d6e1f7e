"""Ordering, running over, moving and reducing as steps of native programs: what NumPy's kernels give."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vitrify as paddle
from tests.codegen.test_pointwise import block_of, guarded
from tests.codegen.test_whole import check, eagerly, program_of
from vitrify.codegen.errors import NoNativeForm
from vitrify.codegen.ranks import SHORT_ROW
from vitrify.codegen.whole import WholeProgram
from vitrify.core.config import flags_guard
from vitrify.core.dtype import as_dtype
from vitrify.nn import functional as F
from vitrify.ops.gather import take_along_axis_adjoint_op
from vitrify.ops.index import with_item

ROWS = {
    "argmax": lambda x: paddle.argmax(x, -1),
    "argmin of columns": lambda x: paddle.argmin(x, 0, keepdim=True),
    "argmax of all": paddle.argmax,
    "argsort": lambda x: paddle.argsort(x, -1),
    "argsort, falling": lambda x: paddle.argsort(x, 0, descending=True),
    "sort": lambda x: paddle.sort(x, -1),
    "topk": lambda x: paddle.topk(x, 1, 0),
    "cumsum": lambda x: paddle.cumsum(x, -1),
    "cumsum of columns": lambda x: paddle.cumsum(x, 0),
    "cumprod": lambda x: paddle.cumprod(x, 1),
    "cummax": lambda x: paddle.cummax(x, -1),
    "cummax of columns": lambda x: (*paddle.cummax(x, 0), paddle.cummax(x, 1, dtype="int32")[1]),
    "cummin": lambda x: paddle.cummin(x, -1),
    "cummin of columns": lambda x: paddle.cummin(x, 1),
    "logcumsumexp": lambda x: paddle.logcumsumexp(x, -1),
    "logcumsumexp of columns": lambda x: (paddle.logcumsumexp(x, 0), paddle.logcumsumexp(x, 1)),
    "sum of columns": lambda x: x.sum(0),
    "max of columns": lambda x: (x.max(0), x.min([0, 1]), x.max(1)),
    "flip": lambda x: (paddle.flip(x, [-1]), paddle.flip(x, [0])),
    "roll": lambda x: paddle.roll(x, 1, -1),
    "tril": lambda x: (paddle.tril(x), paddle.triu(x, 1)),
    "prod": lambda x: (x.prod(0), x.prod(-1, keepdim=True)),
    "any": lambda x: (paddle.any(x > 1, 0), paddle.all(x > -1, -1), (x > 0).sum()),
    "written": lambda x: written(x),
}


def written(x):
    """Elements and rows of x are others."""
    return with_item(with_item(x, 0, 2), (slice(None), 0), x[:, -1])


def values(shape, dtype, seed):
    """Numbers of which many are equal, with what is no number among those that have such."""
    rng = np.random.default_rng([seed, *shape])
    found = rng.integers(-3, 4, shape)
    if np.dtype(dtype).kind == "i":
        return found.astype(dtype)
    odd = rng.choice([0.0, -0.0, np.nan, np.inf, -np.inf], shape)
    return np.where(rng.random(shape) < 0.1, odd, found + 0.0).astype(dtype)


def check_rows(name, array):
    """Compare a native program, whose input nobody may read beside, with eager code."""
    fn = ROWS[name]
    x, kept = guarded(array.size, array.dtype)
    x = x.reshape(array.shape)
    x[...] = array
    block = block_of(fn, (array.shape, array.dtype.name))
    found = WholeProgram(block.inputs, block.ops, block.outputs, is_part=True).plan([x]).function(x)
    with np.errstate(all="ignore"):
        wanted = eagerly(fn, x)
    for out, want in zip(found, wanted, strict=True):
        assert out.dtype == want.dtype
        np.testing.assert_allclose(out, want, rtol=1e-5, atol=1e-6, equal_nan=True)
    del kept


SIZES = st.sampled_from([1, 2, 3, 7, 8, 13, 17, 33, 64, 67])


@pytest.mark.parametrize("name", ROWS)
@settings(max_examples=8, deadline=None)
@given(shape=st.tuples(SIZES, SIZES, SIZES), dtype=st.sampled_from(["float32", "float64", "int64", "int32"]))
def test_rows_of_all_sizes(name, shape, dtype):
    if shape[-1] > 64 and name == "sort":
        return
    check_rows(name, values(shape, dtype, len(name)))


@pytest.mark.parametrize("count", [63, 64, 65, SHORT_ROW // 2 - 1, SHORT_ROW // 2])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("name", ["argsort", "argmax", "cumsum", "topk", "cummax", "cummin", "logcumsumexp"])
def test_long_rows(name, dtype, count):
    check_rows(name, values((3, count), dtype, count))


def test_rows_that_numpy_orders_in_less_time_are_left_to_it():
    for fn, count in ((lambda x: paddle.argsort(x), 1 << 12), (lambda x: paddle.sort(x), 1 << 8)):
        with pytest.raises(NoNativeForm, match="in less time"):
            program_of(fn, ([-1], "float32")).plan([np.zeros(count, np.float32)])


def test_sums_of_columns_are_at_least_as_accurate_as_in_pairs():
    for dtype, exact in (("float32", np.float64), ("float64", np.longdouble)):
        x = (np.random.default_rng(0).uniform(-1, 1, (10007, 9)) * 1e3).astype(dtype)
        (found,) = program_of(lambda x: (x.sum(0),), (x.shape, dtype)).plan([x]).function(x)
        wanted = x.sum(0, dtype=exact)
        assert (abs(found - wanted) <= np.abs(x.T.copy().sum(1) - wanted) + np.finfo(dtype).eps * np.abs(wanted)).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "uint8", "int8", "bool"])
def test_running_extremes_and_logarithms_of_short_types(dtype):
    x = np.random.default_rng(0).integers(0, 2 if dtype == "bool" else 9, (3, 5, 4)).astype(as_dtype(dtype).np)

    def fn(x):
        logs = (paddle.logcumsumexp(x, 1), paddle.logcumsumexp(x)) if x.dtype.is_floating else ()
        return [*paddle.cummax(x, 0), *paddle.cummin(x, 2), *paddle.cummax(x), *logs]

    check(fn, x, rtol=1e-2)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_gradients_of_running_extremes_and_logarithms(axis):
    """A compiled step gives those of eager code, which are checked against differences elsewhere."""
    x = np.random.default_rng(axis).normal(size=(4, 9, 5)).astype(np.float32)
    weight = paddle.to_tensor(np.random.default_rng(7).normal(size=(3, *x.shape)).astype(np.float32))

    def loss(x):
        parts = paddle.cummax(x, axis)[0], paddle.cummin(x, axis)[0], paddle.logcumsumexp(x, axis)
        return (paddle.stack(parts) * weight).sum()

    compiled, grads = paddle.jit.to_static(loss, full_graph=True), []
    with flags_guard({"native_after_ms": 0}):
        for fn in (loss, compiled, compiled, compiled):
            given = paddle.to_tensor(x, stop_gradient=False)
            fn(given).backward()
            grads.append(given.grad.numpy())
    for found in grads[1:]:
        np.testing.assert_allclose(found, grads[0], rtol=1e-4, atol=1e-5)


OTHERS = {
    "softmax of columns": lambda x: (F.softmax(x, 0), F.log_softmax(x, 1)),
    "logsumexp": lambda x: (paddle.logsumexp(x, -1), paddle.logsumexp(x, 0, keepdim=True)),
    "norm": lambda x: (paddle.linalg.norm(x, 2, 0), paddle.linalg.norm(x, 2)),
    "one_hot": lambda x: F.one_hot(paddle.argmax(x, -1), x.shape[-1]),
    "taken and put": lambda x: put(x, paddle.argsort(x, -1)),
    "division": lambda x: ((x * 10).astype("int64") // 3, (x * 10).astype("int32") % 3),
    "range": lambda x: x + paddle.arange(x.shape[-1], dtype="float32"),
    "group norm": lambda x: F.group_norm(x.unsqueeze(0), 1),
    "adaptive pool": lambda x: F.adaptive_avg_pool2d(x.unsqueeze(0), 2),
    "enlarged": lambda x: (F.interpolate(x.unsqueeze(0), scale_factor=2), enlarged(x.unsqueeze(0))),
    "added": lambda x: paddle.index_add(x, paddle.zeros([x.shape[0]], "int64"), 0, x),
    "scattered": lambda x: paddle.scatter(x, paddle.arange(x.shape[0]), x, overwrite=False),
}


def put(x, order):
    """Values written, added and read where an order says."""
    taken = paddle.take_along_axis(x, order, -1)
    back = take_along_axis_adjoint_op(taken, x, order, axis=-1 % x.ndim, broadcast=False)
    written = paddle.put_along_axis(x, order, taken, -1)
    return taken, written, back, paddle.put_along_axis(x, order, 1.0, -1, reduce="add")


def enlarged(x):
    """Images of twice the size."""
    return F.interpolate(x, scale_factor=2, mode="bilinear")


@pytest.mark.parametrize("shape", [(2, 3, 5), (7, 13, 4), (8, 16, 17), (1, 2, 33)])
@pytest.mark.parametrize("name", OTHERS)
def test_what_is_written_in_these_steps(name, shape):
    x = np.random.default_rng(shape).uniform(-2, 2, shape).astype(np.float32)
    block = block_of(OTHERS[name], (shape, "float32"))
    found = WholeProgram(block.inputs, block.ops, block.outputs, is_part=True).plan([x]).function(x)
    for out, want in zip(found, eagerly(OTHERS[name], x), strict=True):
        assert out.dtype == want.dtype
        np.testing.assert_allclose(out, want, rtol=1e-5, atol=1e-5)


def test_a_divisor_of_zero_and_a_place_outside_end_the_run():
    ints = program_of(lambda x, y: (x // y) + 1, ([3], "int64"), ([3], "int64"))
    assert ints([np.arange(3), np.ones(3, np.int64)]) is not None
    assert ints([np.arange(3), np.arange(3)]) is None
    taken = program_of(lambda x, i: paddle.take_along_axis(x, i, 0) * 1, ([3], "float32"), ([2], "int64"))
    assert taken([np.ones(3, np.float32), np.array([0, -3])]) is not None
    assert taken([np.ones(3, np.float32), np.array([0, 3])]) is None
