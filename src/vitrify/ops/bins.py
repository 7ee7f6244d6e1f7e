"""Pooling of arrays over bins: ranges of unequal length along each spatial dimension."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.meta import Shape
from .accumulate import add_rows, wide

Bins = list[tuple[int, int]]
# Ranges that Python makes in less time than NumPy does.
_FEW = 64
# Elements of a bin up to which sums one after the other lose no more digits than sums in pairs are worth.
_SHORT = 1024


def even_bins(size: int, count: int) -> Bins:
    """`count` ranges that cover [0, size), overlapping by one element where the sizes do not divide."""
    if count <= _FEW:
        return [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]
    edges = np.arange(count + 1) * size  # which says at once where there is no memory for them
    return list(zip((edges[:-1] // count).tolist(), (-(-edges[1:] // count)).tolist()))


def fractional_bins(size: int, count: int, kernel: int, u: float) -> Bins:
    """`count` ranges of a pseudo-random sequence that u in (0, 1) chooses: disjoint where kernel is 0, else of that
    length. Source: Graham, "Fractional Max-Pooling" (2015), section 2.
    """
    if kernel:
        alpha = (size - kernel) / max(count - 1, 1)
        starts = [int(alpha * (i + u)) - int(alpha * u) for i in range(count - 1)]
        return [(s, s + kernel) for s in [*starts, size - kernel]]
    alpha = size / count
    # The largest u that keeps the first and the last range within the input.
    u *= min((size // count + 2) / alpha - 1, (size + 1 - size // count) / alpha - (count - 1))
    edges = [int(alpha * (i + u)) - int(alpha * u) for i in range(count)]
    return list(itertools.pairwise([*edges, size]))


def _shaped(xp: Any, x: Any, axis: int, size: int) -> Any:
    """An uninitialized array like x, in the same memory order, with another size along `axis`."""
    return xp.empty_like(x, shape=(*x.shape[:axis], size, *x.shape[axis + 1 :]))


def _is_whole(bins: Sequence[Bins], sizes: Sequence[int]) -> bool:
    """Whether all is one bin."""
    return all(ranges == [(0, size)] for ranges, size in zip(bins, sizes))


def bin_means(xp: Any, x: Any, bins: Sequence[Bins], lead: int) -> Any:
    """The mean of each n-dimensional bin, NaN of an empty one; spatial dimensions start at `lead`."""
    if 0 in x.shape:
        return xp.full((*x.shape[:lead], *map(len, bins), *x.shape[lead + len(bins) :]), math.nan, x.dtype)
    total = wide(xp, x)
    lies_last = lead + len(bins) == x.ndim and x.strides[-1] == x.itemsize
    if lies_last and _is_whole(bins, x.shape[lead:]):  # in one go: a dimension at a time takes three times as long
        count = math.prod(x.shape[lead:])
        ones = (1,) * len(bins)
        if count <= _SHORT and total.dtype.kind == "f" and total.flags.c_contiguous:
            sums = total.reshape(-1, count) @ xp.ones(count, total.dtype)  # many times as fast as one by one
            return (sums / total.dtype.type(count)).reshape(*x.shape[:lead], *ones).astype(x.dtype, copy=False)
        axes = tuple(range(lead, x.ndim))
        out = xp.empty_like(total, shape=(*x.shape[:lead], *ones))
        return xp.mean(total, axis=axes, keepdims=True, out=out).astype(x.dtype, copy=False)
    for i, ranges in enumerate(bins):
        axis = lead + i
        index = (slice(None),) * axis
        out = _shaped(xp, total, axis, len(ranges))
        for at, (start, stop) in enumerate(ranges):
            xp.mean(total[(*index, slice(start, stop))], axis=axis, out=out[(*index, at)])
        total = out
    return total.astype(x.dtype, copy=False)


def spread_means(xp: Any, ct: Any, bins: Sequence[Bins], sizes: Shape, lead: int) -> Any:
    """The adjoint of `bin_means`."""
    if 0 in sizes:
        return xp.empty((*ct.shape[:lead], *sizes, *ct.shape[lead + len(sizes) :]), ct.dtype)
    total = wide(xp, ct)
    if _is_whole(bins, sizes):
        out = xp.empty_like(total, shape=(*ct.shape[:lead], *sizes, *ct.shape[lead + len(sizes) :]))
        out[...] = total / total.dtype.type(math.prod(sizes))
        return out.astype(ct.dtype, copy=False)
    for i, ranges in enumerate(bins):
        axis = lead + i
        index = (slice(None),) * axis
        out = _shaped(xp, total, axis, sizes[i])
        out[...] = 0
        for at, (start, stop) in enumerate(ranges):
            part = out[(*index, slice(start, stop))]
            part += total[(*index, slice(at, at + 1))] / total.dtype.type(stop - start)
        total = out
    return total.astype(ct.dtype, copy=False)


def bin_maxima(xp: Any, x: Any, bins: Sequence[Bins]) -> tuple[Any, Any]:
    """The maximum of each bin of x [n, c, *spatial], and its int32 row-major position in the spatial dimensions.

    Where a spatial size is 0: NaN, at position 0.
    """
    sizes = x.shape[2:]
    number = xp.arange(math.prod(sizes), dtype=xp.int32).reshape(sizes)
    shape = (*x.shape[:2], *map(len, bins))
    if 0 in sizes:
        return xp.full(shape, math.nan, x.dtype), xp.zeros(shape, xp.int32)
    out, index = xp.empty(shape, x.dtype), xp.empty(shape, xp.int32)
    for place in itertools.product(*[list(enumerate(b)) for b in bins]):
        at = (slice(None), slice(None), *[i for i, _ in place])
        window = tuple(slice(start, stop) for _, (start, stop) in place)
        there = number[window].reshape(-1)
        flat = x[(slice(None), slice(None), *window)].reshape(*x.shape[:2], there.size)
        best = flat.argmax(axis=-1)
        index[at] = there[best]
        out[at] = xp.take_along_axis(flat, best[..., None], axis=-1)[..., 0]
    return out, index


def _flat_index(xp: Any, index: Any, plane: int) -> Any:
    """Positions within each plane [n, c, *] as positions in the whole array, one-dimensional."""
    planes = xp.arange(index.shape[0] * index.shape[1]).reshape(*index.shape[:2], *(1,) * (index.ndim - 2))
    return (index + planes * plane).reshape(-1)


def plane_gather(xp: Any, g: Any, index: Any) -> Any:
    """g [n, c, *spatial] at the positions `index` [n, c, *s] of each plane: [n, c, *s]; zeros of planes of nothing."""
    if not g.size:
        return xp.zeros(index.shape, g.dtype)
    return g.reshape(-1)[_flat_index(xp, index, math.prod(g.shape[2:]))].reshape(index.shape)


def plane_scatter(xp: Any, ct: Any, index: Any, shape: Shape, *, add: bool) -> Any:
    """Zeros of `shape` with ct [n, c, *s] added (or put) at the positions `index` of each plane."""
    out = xp.zeros(shape, ct.dtype)
    if not out.size:
        return out
    flat = _flat_index(xp, index, math.prod(shape[2:]))
    if add:
        add_rows(xp, out.reshape(-1), flat, ct.reshape(-1))
    else:
        out.reshape(-1)[flat] = ct.reshape(-1)
    return out
