"""Adding many rows into an array when several go to the same place: the core of every gather's gradient."""

from __future__ import annotations

from typing import Any


def wide(xp: Any, x: Any) -> Any:
    """`x` in a dtype whose sums keep their digits: float32 for the 16-bit floating types."""
    return x.astype(xp.float32) if x.dtype.itemsize == 2 and x.dtype.kind in "fV" else x


def add_rows(xp: Any, out: Any, index: Any, rows: Any) -> None:
    """out[index[k]] += rows[k] for every k, repeated indices included.

    out: [n, *rest], index: [k] integers in [-n, n), rows: [k, *rest] (or what broadcasts to it). Changes `out`.
    """
    if out.size == 0 or index.size == 0:
        return
    sums = wide(xp, out)
    xp.add.at(sums, index, wide(xp, rows))
    if sums is not out:
        out[...] = sums.astype(out.dtype)


def add_along(xp: Any, out: Any, index: Any, src: Any, axis: int) -> None:
    """`add_rows` along another axis: out[..., index[k], ...] += src[..., k, ...]. Changes `out`."""
    add_rows(xp, xp.moveaxis(out, axis, 0), index, xp.moveaxis(src, axis, 0))


def add_at(xp: Any, out: Any, index: Any, values: Any) -> None:
    """out[index] += values for a tuple of integer arrays and slices, repeated places included. Changes `out`."""
    sums = wide(xp, out)
    xp.add.at(sums, index, wide(xp, values))
    if sums is not out:
        out[...] = sums.astype(out.dtype)
