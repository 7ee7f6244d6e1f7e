"""The first few of many elements, by a partition: what sorting all of them gives, equal ones in their order."""

from __future__ import annotations

import numpy as np
import pytest

import vitrify as paddle


def expected(x, k, axis, largest):
    """The first k of a stable sort; nan is the largest."""
    if largest:
        size = x.shape[axis]
        order = size - 1 - np.flip(np.argsort(np.flip(x, axis), axis=axis, kind="stable"), axis)
    else:
        order = np.argsort(x, axis=axis, kind="stable")
    order = np.take(order, np.arange(k), axis=axis)
    return np.take_along_axis(x, order, axis), order


def values(kind, rng, shape):
    x = rng.standard_normal(shape).astype("float32")
    if kind == "few different":
        return rng.integers(-2, 3, shape).astype("int64")
    if kind == "half zeros":
        return np.maximum(x, 0)
    if kind == "infinite":
        return np.where(rng.random(shape) < 0.95, np.float32(-np.inf), x)
    if kind == "nan":
        return np.where(rng.random(shape) < 0.1, np.float32(np.nan), x)
    return x


@pytest.mark.parametrize("kind", ["different", "few different", "half zeros", "infinite", "nan"])
@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize(
    ("shape", "axis"), [((3000,), 0), ((40, 70), 1), ((70, 5, 9), 0), ((6, 400, 2), 1), ((3, 1500, 2), 1)]
)
def test_topk(shape, axis, largest, kind):
    rng = np.random.default_rng([*shape, largest])
    x = values(kind, rng, shape)
    for k in (1, 3, shape[axis] // 8, shape[axis] // 2):
        found = paddle.topk(paddle.to_tensor(x), k, axis, largest)
        for a, b in zip(found, expected(x, k, axis, largest), strict=True):
            np.testing.assert_array_equal(a.numpy(), b)


@pytest.mark.parametrize("kind", ["different", "few different", "half zeros", "infinite", "nan"])
@pytest.mark.parametrize(("shape", "axis"), [((3000,), 0), ((40, 70), 1), ((70, 5, 9), 0), ((6, 9), 1)])
def test_kthvalue(shape, axis, kind):
    x = values(kind, np.random.default_rng(shape), shape)
    order = np.argsort(x, axis=axis, kind="stable")
    for k in (1, 2, shape[axis] // 2, shape[axis]):
        value, index = paddle.kthvalue(paddle.to_tensor(x), k, axis, keepdim=True)
        place = np.take(order, [k - 1], axis=axis)
        np.testing.assert_array_equal(index.numpy(), place)
        np.testing.assert_array_equal(value.numpy(), np.take_along_axis(x, place, axis))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int32", "uint8"])
@pytest.mark.parametrize("largest", [True, False])
def test_long_rows_of_other_dtypes_and_of_one_number(dtype, largest):
    rng = np.random.default_rng(1)
    x = paddle.to_tensor(rng.integers(0, 200, (4, 2500)).astype("int32")).astype(dtype)
    x[1] = 7
    wide = x.astype("float64").numpy()
    for k in (1, 4, 30):
        found = paddle.topk(x, k, 1, largest)
        for a, b in zip(found, expected(wide, k, 1, largest), strict=True):
            np.testing.assert_array_equal(a.astype("float64").numpy(), b)
