"""Adding rows at repeated places: each way gives what NumPy's `add.at` gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vitrify.core.config import flags_guard
from vitrify.ops.accumulate import SPARSE_FROM, add_along, add_at, add_rows, put_at

FEW, MANY = 5, SPARSE_FROM


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "float16", "complex128"])
@pytest.mark.parametrize(("shape", "count"), [((7,), FEW), ((50, 3), FEW), ((50, 3), MANY), ((3, 2, 2), MANY)])
def test_rows(dtype: str, shape: tuple[int, ...], count: int) -> None:
    generator = np.random.default_rng(0)
    index = generator.integers(-shape[0], shape[0], count)
    rows = (generator.standard_normal((count, *shape[1:])) * 3).astype(dtype)
    got = np.zeros(shape, dtype)
    add_rows(np, got, index, rows)
    want = np.zeros(shape, np.result_type(dtype, "float32") if dtype == "float16" else dtype)
    np.add.at(want, index, rows.astype(want.dtype))
    np.testing.assert_allclose(
        got, want.astype(dtype), rtol=1e-3 if dtype in ("float16", "float32") else 1e-10, atol=1e-4
    )


@pytest.mark.parametrize(
    ("index", "values"),
    [
        ((np.array([[0], [1]]), np.array([0, 2, 2])), (2, 3, 5)),
        ((np.array([0, -1]), slice(None), np.array([1, 1])), (2, 4)),
        ((np.array([1, 1]),), (4, 5)),
        ((slice(None), np.array([1, 1])), (3, 2, 5)),
        ((np.array([True, False, True]),), (2, 4, 5)),
        ((np.array(1), Ellipsis), (4, 5)),
        ((np.array([1, 1]), np.array([2, 2]), np.array([-1, 4])), ()),
    ],
)
def test_index_tuples(index: Any, values: tuple[int, ...]) -> None:
    added = np.random.default_rng(1).standard_normal(values)
    got, want = np.zeros((3, 4, 5)), np.zeros((3, 4, 5))
    add_at(np, got, index, added)
    np.add.at(want, index, added)
    np.testing.assert_allclose(got, want)


def test_another_axis() -> None:
    got = np.zeros((2, 3))
    add_along(np, got, np.array([2, 2]), np.ones((2, 2)), 1)
    assert got.tolist() == [[0, 0, 2], [0, 0, 2]]


@pytest.mark.parametrize("has_product", [True, False])
def test_many_rows_are_added_one_by_one_to_what_is_there_however_it_lies(
    has_product: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not has_product:
        monkeypatch.setattr("vitrify.ops.accumulate._product_by_columns", lambda: None)
    generator = np.random.default_rng(2)
    index = generator.integers(0, 5, MANY, "int32")
    src, start = generator.standard_normal((2, MANY)).astype("float32"), generator.standard_normal((2, 5), "float32")
    got, want = start.copy(), start.copy()
    add_along(np, got, index, src, 1)
    np.add.at(want, (slice(None), index), src)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("place", [3, -4])
def test_places_outside(place: int) -> None:
    with pytest.raises(IndexError, match=f"index {place} is out of bounds for a dimension of size 3"):
        add_at(np, np.zeros((3, 2)), (np.array([place]),), 1.0)
    with pytest.raises(IndexError):
        add_rows(np, np.zeros((3, 2000)), np.array([0, 0, place]), np.ones((3, 2000)))


@pytest.mark.parametrize("step", [1, -1])
def test_the_last_value_stays_in_any_memory_order(step: int) -> None:
    index, values = np.array([0, 0, 1, 0])[::step].copy()[::step], np.arange(4.0)[::step].copy()[::step]
    got = np.zeros(2)
    put_at(np, got, (index,), values)
    assert got.tolist() == [3, 2]
    rows, columns = np.zeros((3, 1), int), np.zeros((1, 2), int)
    got = np.zeros((2, 2))
    put_at(np, got, (rows[::step], columns[:, ::step]), np.arange(6.0).reshape(3, 2))
    assert got.tolist() == [[5, 0], [0, 0]]


class _Device:
    """NumPy, dressed as the library of a device whose `add.at` adds in any order."""

    ndarray = np.ndarray
    where, broadcast_to, asarray, asnumpy, float32 = np.where, np.broadcast_to, np.asarray, np.array, np.float32

    class add:
        @staticmethod
        def at(sums: Any, index: Any, rows: Any) -> None:
            order = np.argsort(rows.reshape(len(rows), -1)[:, 0])
            index = index if isinstance(index, tuple) else (index,)
            np.add.at(sums, tuple(i[order] for i in index), rows[order])


def test_deterministic_sums_follow_the_index_on_devices_too() -> None:
    index = np.zeros(3, "int64")
    rows = np.array([1e8, -1e8, 1.0], "float32")  # the order shows in the rounding
    sums = {}
    for flag in (False, True):
        with flags_guard({"FLAGS_cudnn_deterministic": flag}):
            sums[flag] = [np.zeros(2, "float32"), np.zeros((2, 2), "float32")[:, ::-1]]
            add_rows(_Device, sums[flag][0], index, rows)
            add_at(_Device, sums[flag][1], (index, index), rows)
    assert all(a.max() == 1.0 for a in sums[True])
    assert all(a.max() == 0.0 for a in sums[False])
