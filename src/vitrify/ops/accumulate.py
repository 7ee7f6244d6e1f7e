"""Writing or adding many rows into an array when several go to the same place."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from ..core.config import DETERMINISTIC
from ..core.lazy import extension_module

# From so many numbers on, a product with a sparse matrix of ones beats `add.at` on the CPU: 3 to 30 times for rows of
# 4 to 256 float32. Sums run in the order of the index on both ways.
SPARSE_FROM = 4096


def wide(xp: Any, x: Any) -> Any:
    """`x` in a dtype whose sums keep their digits: float32 for the 16-bit floating types."""
    return x.astype(xp.float32) if x.dtype.itemsize == 2 and x.dtype.kind in "fV" else x


def _in_range(xp: Any, index: Any, size: int) -> Any:
    """`index` with negative places counted from the end; raises IndexError outside [-size, size)."""
    low, high = (int(index.min()), int(index.max())) if index.size else (0, -1)
    if low < -size or high >= size:
        raise IndexError(f"index {low if low < -size else high} is out of bounds for a dimension of size {size}")
    return xp.where(index < 0, index + size, index) if low < 0 else index


def add_rows(xp: Any, out: Any, index: Any, rows: Any) -> None:
    """out[index[k]] += rows[k] for every k, repeated indices included.

    out: [n, *rest], index: [k] integers in [-n, n), rows: [k, *rest]. Changes `out`. Raises IndexError.
    """
    sums = wide(xp, out)
    rows = wide(xp, rows)
    if xp is not np and DETERMINISTIC.value:
        sums = _added_on_host(xp, sums, [index], rows)
    elif xp is np and _suits_sparse(sums, rows):
        _add_by_product(sums, _in_range(xp, index, out.shape[0]), rows)
    else:
        xp.add.at(sums, index, rows)
    if sums is not out:
        out[...] = sums.astype(out.dtype)


def _added_on_host(xp: Any, sums: Any, index: Sequence[Any], rows: Any) -> Any:
    """`sums` with the rows added in the order of the index: a GPU adds them by atomic operations, in any order."""
    added = xp.asnumpy(sums)
    where = tuple(xp.asnumpy(part) if hasattr(part, "dtype") else part for part in index)
    np.add.at(added, where, xp.asnumpy(rows))
    return xp.asarray(added)


def _suits_sparse(sums: Any, rows: Any) -> bool:
    return bool(
        rows.size >= SPARSE_FROM
        and rows.size > rows.shape[0]
        and sums.dtype.kind in "fc"
        and sums.dtype == rows.dtype
        and _product_by_columns() is not None
    )


@cache
def _product_by_columns() -> Any:
    """SciPy's product of a sparse matrix by columns with a dense one, added to a third; None where it has no such.

    Of the extension module alone: `scipy.sparse` around it takes a tenth of a second to import, and adds up in memory
    of its own first.
    """
    try:
        return getattr(extension_module("scipy.sparse._sparsetools"), "csc_matvecs", None)
    except ImportError:
        return None


def _add_by_product(sums: Any, index: Any, rows: Any) -> None:
    """sums += ones @ rows, where column k of `ones` has its single 1 in row index[k]."""
    count = rows.shape[0]
    out = np.ascontiguousarray(sums)
    starts = np.arange(count + 1, dtype=np.int64)
    places = np.ascontiguousarray(index, np.int64)
    ones = np.ones(count, rows.dtype)
    width = rows.size // count
    _product_by_columns()(sums.shape[0], count, width, starts, places, ones, rows.reshape(-1), out.reshape(-1))
    if out is not sums:
        sums[...] = out


def add_along(xp: Any, out: Any, index: Any, src: Any, axis: int) -> None:
    """`add_rows` along another axis: out[..., index[k], ...] += src[..., k, ...]. Changes `out`."""
    add_rows(xp, xp.moveaxis(out, axis, 0), index, xp.moveaxis(src, axis, 0))


def add_at(xp: Any, out: Any, index: Sequence[Any], values: Any) -> None:
    """out[index] += values for a tuple of arrays and slices, repeated places included. Changes `out`.

    Raises IndexError for a place outside.
    """
    arrays = [i for i in index if isinstance(i, (np.ndarray, xp.ndarray))]
    leading = len(arrays) == len([i for i in index if i is not Ellipsis]) and all(a.dtype.kind in "iu" for a in arrays)
    if leading and arrays and out.flags.c_contiguous:
        _add_at_leading(xp, out, arrays, values)
        return
    sums = wide(xp, out)
    if xp is not np and DETERMINISTIC.value:
        sums = _added_on_host(xp, sums, index, wide(xp, values))
    else:
        xp.add.at(sums, tuple(index), wide(xp, values))
    if sums is not out:
        out[...] = sums.astype(out.dtype)


def _add_at_leading(xp: Any, out: Any, arrays: Sequence[Any], values: Any) -> None:
    """`add_at` for integer arrays on the first dimensions: they become one index into rows."""
    depth = len(arrays)
    lead, rest = out.shape[:depth], out.shape[depth:]
    places = 0
    for array, size in zip(arrays, lead):
        places = places * size + _in_range(xp, array, size)
    joint = xp.asarray(places).shape
    rows = xp.broadcast_to(values, joint + rest).reshape((math.prod(joint), *rest))
    add_rows(xp, out.reshape((math.prod(lead), *rest)), xp.asarray(places).reshape(-1), rows)


def put_at(xp: Any, out: Any, index: Sequence[Any], values: Any) -> None:
    """out[index] = values; of several values for one place the last in row-major order stays. Changes `out`.

    NumPy itself promises no order: it follows the memory layout of the arrays, so they are made contiguous here.
    """
    arrays = xp.broadcast_arrays(*[i for i in index if _is_places(xp, i)])
    ordered = iter([xp.ascontiguousarray(a) for a in arrays])
    out[tuple([next(ordered) if _is_places(xp, i) else i for i in index])] = xp.ascontiguousarray(values)


def _is_places(xp: Any, part: Any) -> bool:
    return isinstance(part, (np.ndarray, xp.ndarray)) and part.ndim > 0 and part.dtype.kind in "iu"
