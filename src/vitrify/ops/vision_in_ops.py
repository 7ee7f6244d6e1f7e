"""Sampling of images and the places of deformable convolutions, written in simpler ops: for formats and compilers that
have nothing for them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtype import int64
from ..core.meta import UNKNOWN, Shape
from .arrange import flip
from .compare import equal, greater_equal, greater_than, less_equal, less_than, logical_and
from .creation import arange, constant
from .gather import take_along_axis
from .join import stack
from .like import cast, zeros_like
from .select import maximum, minimum, where
from .shape import flatten, reshape, unsqueeze
from .sizes import shape_op, size_of
from .unary import floor, round


def _extents(x: Any, dtype: Any) -> Any:
    """The sizes of x behind the first two dimensions, the last one first, as a tensor of numbers."""
    if UNKNOWN in x.shape[2:]:
        return cast(flip(shape_op(x)[2:], 0), dtype)
    return constant(np.asarray(x.shape[:1:-1], dtype.np))


def positions_in_ops(grid: Any, x: Any, *, padding_mode: str, align_corners: bool) -> tuple[Any, Any]:
    """Where a grid of coordinates from -1 to 1 is, in elements, and how fast that changes with the grid."""
    sizes = _extents(x, grid.dtype)
    scale = (sizes - 1) / 2 if align_corners else sizes / 2
    at = (grid + 1) * scale
    slope = where(equal(grid, grid), scale, scale)  # not zeros plus it: a constant as long as a batch left open is none
    if not align_corners:
        at = at - 0.5
    if padding_mode == "reflection":
        low = 0.0 if align_corners else -0.5
        width = sizes - 1 if align_corners else sizes
        rounds = floor((at - low) / maximum(width, constant(np.ones((), grid.dtype.np))))
        is_odd = (rounds - floor(rounds / 2) * 2) == 1
        at = where(is_odd, (rounds + 1) * width - (at - low) + low, at - rounds * width)
        slope = where(is_odd, -slope, slope)
    if padding_mode != "zeros":
        zero = zeros_like(at)
        slope = slope * cast(logical_and(greater_equal(at, zero), less_equal(at, sizes - 1)), grid.dtype)
        at = minimum(maximum(at, zero), sizes - 1)
    return at, slope


def corner_in_ops(at: Any, *, steps: Shape) -> Any:
    """The places `steps` further."""
    return at + constant(np.asarray(steps, at.dtype.np))


def picked_in_ops(x: Any, at: Any) -> Any:
    """The elements of x at integer places, the last dimension first; zeros outside."""
    number = inside = None
    for i in range(x.ndim - 2):
        along, size = at[..., x.ndim - 3 - i], size_of(x, i + 2)
        is_own = logical_and(greater_equal(along, 0), less_than(along, size))
        within = minimum(maximum(along, zeros_like(along)), zeros_like(along) + (size - 1))
        number = within if number is None else number * size + within
        inside = is_own if inside is None else logical_and(inside, is_own)
    places = [size_of(at, i) for i in range(1, at.ndim - 1)]
    index, valid = (unsqueeze(flatten(v, 1, -1), 1) for v in (number, inside))
    found = take_along_axis(flatten(x, 2, -1), index, 2) * cast(valid, x.dtype)
    return reshape(found, [size_of(x, 0), size_of(x, 1), *places])


def nearest_in_ops(x: Any, at: Any) -> Any:
    """The elements of x that are nearest to places between them; zeros outside."""
    return picked_in_ops(x, cast(round(at), int64))


def window_places_in_ops(
    offset: Any, *, kernel: Shape, stride: Shape, padding: Shape, dilation: Shape, groups: int
) -> Any:
    """Where windows read that `offset` shifts: [n * groups, taps, oh, ow, 2], first x, then y."""
    counts, taps = [size_of(offset, 2), size_of(offset, 3)], kernel[0] * kernel[1]
    batch = size_of(offset, 0)
    apart = reshape(offset, [batch * groups, taps, 2, *counts])
    found = []
    for i in (1, 0):
        within = np.indices(kernel)[i].reshape(taps, 1, 1) * dilation[i] - padding[i]
        starts = arange(0, counts[i], 1, dtype="int64") * stride[i]
        regular = constant(within.astype(np.int64)) + reshape(starts, [1, -1, 1] if i == 0 else [1, 1, -1])
        found.append(apart[:, :, i] + cast(regular, offset.dtype))
    at = stack(found, axis=-1)
    return where(greater_than(at, constant(np.asarray(-1, offset.dtype.np))), at, at - 1)


__all__ = ["corner_in_ops", "nearest_in_ops", "picked_in_ops", "positions_in_ops", "window_places_in_ops"]
