"""Sampling of images at given places: grid_sample, affine_grid; and temporal_shift of video features."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from ..core.alias import aliased
from ..core.dtype import DType, float64, int64
from ..core.errors import ArgumentError, DTypeError, ShapeError
from ..core.meta import UNKNOWN, Meta, Shape
from .accumulate import add_rows
from .arguments import as_ints, dims, entries, finish, is_tensor, rank_of
from .creation import arange, ones
from .expand import expand
from .join import concat, stack
from .like import cast, zeros_like
from .matmul import matmul
from .registry import NoGradient, OpDef, define_op
from .shape import flatten, reshape, unflatten, unsqueeze
from .sizes import size_of
from .transpose import swapaxes
from .unary import floor, round
from .vision_in_ops import corner_in_ops, nearest_in_ops, picked_in_ops, positions_in_ops

# --- where to sample -------------------------------------------------------------------------------------------------


def _positions_kernel(xp: Any, grid: Any, x: Any, *, padding_mode: str, align_corners: bool) -> tuple[Any, Any]:
    sizes = xp.asarray(x.shape[:1:-1], dtype=grid.dtype)  # the grid names the last dimension first
    slope = xp.broadcast_to((sizes - 1) / 2 if align_corners else sizes / 2, grid.shape).astype(grid.dtype)
    at = (grid + 1) * slope
    if not align_corners:
        at -= grid.dtype.type(0.5)
    if padding_mode == "reflection":
        low = grid.dtype.type(0 if align_corners else -0.5)
        width = sizes - 1 if align_corners else sizes
        rounds = xp.floor((at - low) / xp.maximum(width, 1))
        odd = rounds % 2 == 1
        at = xp.where(odd, (rounds + 1) * width - (at - low) + low, at - rounds * width)
        slope = xp.where(odd, -slope, slope)
    if padding_mode != "zeros":
        inside = (at >= 0) & (at <= sizes - 1)
        at, slope = xp.clip(at, 0, sizes - 1), slope * inside
    return at.astype(grid.dtype, copy=False), slope.astype(grid.dtype, copy=False)


def _positions_meta(grid: Meta, x: Meta, *, padding_mode: str, align_corners: bool) -> tuple[Meta, Meta]:
    if x.ndim not in (4, 5) or grid.ndim != x.ndim or grid.shape[-1] not in (x.ndim - 2, UNKNOWN):
        raise ShapeError(
            f"grid_sample: x is {x}, grid is {grid}, expected [n, c, h, w] and [n, oh, ow, 2], or [n, c, d, h, w] and "
            "[n, od, oh, ow, 3]"
        )
    if UNKNOWN not in (x.shape[0], grid.shape[0]) and x.shape[0] != grid.shape[0]:
        raise ShapeError(f"grid_sample: x is {x}, grid is {grid}: batches differ ({x.shape[0]} != {grid.shape[0]})")
    if not x.dtype.is_floating or grid.dtype is not x.dtype:
        raise DTypeError(f"grid_sample: x is {x}, grid is {grid}, expected one floating dtype")
    return grid, grid


sample_positions_op: OpDef = define_op(
    "sample_positions",
    kernel=_positions_kernel,
    meta=_positions_meta,
    vjp={"grid": lambda cts, *, slope: cts[0] * slope},
    outputs=("positions", "slope"),
    decompose=positions_in_ops,
)

# --- the elements there ----------------------------------------------------------------------------------------------


def _inside(xp: Any, at: Any, sizes: Shape) -> tuple[Any, Any]:
    """Row-major numbers [n, places] of the positions (last dimension first), and whether they lie inside."""
    valid = xp.ones(at.shape[:-1], bool)
    index = xp.zeros(at.shape[:-1], at.dtype)
    for size, along in zip(sizes, xp.moveaxis(at, -1, 0)[::-1]):
        valid &= (along >= 0) & (along < size)
        index = index * size + xp.clip(along, 0, max(size - 1, 0))
    places = (at.shape[0], math.prod(at.shape[1:-1]))
    return index.reshape(places), valid.reshape(places)


def _gather_kernel(xp: Any, x: Any, at: Any) -> Any:
    index, valid = _inside(xp, at, x.shape[2:])
    flat = x.reshape(*x.shape[:2], math.prod(x.shape[2:]))
    picked = _at_places(xp, flat, index)
    if not valid.all():
        picked = picked * valid[:, None]
    return picked.astype(x.dtype, copy=False).reshape(*x.shape[:2], *at.shape[1:-1])


def _at_places(xp: Any, flat: Any, index: Any) -> Any:
    """[n, c, places]: the elements of each image [c, plane] at its places, which lie inside."""
    if xp is not np or not flat.size:
        return xp.take_along_axis(flat, index[:, None], axis=2)
    out = np.empty((*flat.shape[:2], index.shape[1]), flat.dtype)
    for image, places, found in zip(flat, index, out):  # a fourth of the time that an index for each channel takes
        np.take(image, places, axis=1, out=found, mode="clip")
    return out


def _scatter_kernel(xp: Any, ct: Any, at: Any, x: Any) -> Any:
    index, valid = _inside(xp, at, x.shape[2:])
    plane = math.prod(x.shape[2:])
    out = xp.zeros((x.shape[0] * plane, x.shape[1]), ct.dtype)
    rows = ct.reshape(*ct.shape[:2], index.shape[1]).swapaxes(1, 2) * valid[..., None]
    places = index + xp.arange(x.shape[0])[:, None] * plane
    add_rows(xp, out, places.reshape(-1), rows.reshape(index.size, x.shape[1]).astype(ct.dtype, copy=False))
    return xp.ascontiguousarray(out.reshape(x.shape[0], plane, x.shape[1]).swapaxes(1, 2)).reshape(x.shape)


place_gather_op: OpDef = define_op(
    "place_gather",
    kernel=_gather_kernel,
    meta=lambda x, at: x.with_shape((*x.shape[:2], *at.shape[1:-1])),
    vjp={"x": lambda ct, *, at, x_like: place_scatter_op(ct, at, x_like)},
    decompose=picked_in_ops,
)
place_scatter_op: OpDef = define_op(
    "place_scatter",
    kernel=_scatter_kernel,
    meta=lambda ct, at, x: x.with_dtype(ct.dtype),
    vjp={"ct": lambda g, *, at: place_gather_op(g, at)},
    shape_only=["x"],
)


def _nearest_kernel(xp: Any, x: Any, at: Any) -> Any:
    return _gather_kernel(xp, x, xp.rint(at).astype(xp.int64))


nearest_op: OpDef = define_op(
    "nearest_gather",
    kernel=_nearest_kernel,
    meta=lambda x, at: x.with_shape((*x.shape[:2], *at.shape[1:-1])),
    vjp={
        "x": lambda ct, *, at, x_like: place_scatter_op(ct, cast(round(at), int64), x_like),
        "at": lambda ct, *, at_like: zeros_like(at_like),  # it jumps, and is level everywhere else
    },
    decompose=nearest_in_ops,
)


@aliased(x="input")
def grid_sample(
    x: Any, grid: Any, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool = True,
    name: str | None = None, *, out: Any = None,
) -> Any:  # fmt: skip
    """x at the places that grid names in coordinates from -1 to 1, last dimension first.

    x: [n, c, h, w], grid: [n, oh, ow, 2] -> [n, c, oh, ow]; or [n, c, d, h, w] and [n, od, oh, ow, 3].
    mode: "bilinear" or "nearest". padding_mode: outside are "zeros", the "border", or the image again by "reflection".
    align_corners: -1 and 1 are the middles of the corner elements, else their outer edges. Raises ShapeError when
    dimensions do not fit. Source: paddle.nn.functional.grid_sample.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
        >>> paddle.nn.functional.grid_sample(x, paddle.zeros([1, 1, 1, 2])).item()
        2.5
    """
    for value, known, what in (
        (mode, ("bilinear", "nearest"), "mode"),
        (padding_mode, ("zeros", "reflection", "border"), "padding_mode"),
    ):
        if value not in known:
            raise ArgumentError(f"grid_sample: {what} must be one of {', '.join(known)}, got {value!r}")
    at = sample_positions_op(grid, x, padding_mode=padding_mode, align_corners=bool(align_corners))[0]
    return finish("grid_sample", nearest_op(x, at) if mode == "nearest" else sample_linear(x, at), out)


def sample_linear(x: Any, at: Any) -> Any:
    """x [n, c, *sizes] between its elements: each place of at [n, *places, d] (last dimension first, in elements) is
    the mean of its 2**d neighbours, the nearer the heavier; outside are zeros. -> [n, c, *places].
    """
    low = floor(at)
    above = at - low
    corner = cast(low, int64)
    total = None
    for steps in itertools.product((0, 1), repeat=x.ndim - 2):
        weight = None
        for i, step in enumerate(steps):
            part = above[..., i] if step else 1 - above[..., i]
            weight = part if weight is None else weight * part
        found = place_gather_op(x, corner_op(corner, steps=steps)) * unsqueeze(weight, 1)
        total = found if total is None else total + found
    return total


corner_op = define_op(
    "corner",
    kernel=lambda xp, at, *, steps: at + xp.asarray(steps, dtype=at.dtype),
    meta=lambda at, *, steps: at,
    vjp=NoGradient("places are integers"),
    decompose=corner_in_ops,
)

# --- grids -----------------------------------------------------------------------------------------------------------


def _base_kernel(xp: Any, *, sizes: Any, align_corners: bool, dtype: DType) -> Any:
    sizes = entries(sizes)
    axes = []
    for size in sizes:
        if align_corners:
            axes.append(xp.linspace(-1, 1, size) if size > 1 else xp.zeros(size))
        else:
            axes.append((2 * xp.arange(size) + 1) / size - 1)
    mesh = xp.meshgrid(*axes, indexing="ij")
    return xp.stack([*mesh[::-1], xp.ones(sizes)], axis=-1).astype(dtype.np)


base_grid_op = define_op(
    "base_grid",
    kernel=_base_kernel,
    meta=lambda *, sizes, align_corners, dtype: Meta((*dims(sizes), len(entries(sizes)) + 1), dtype),
    vjp=NoGradient("a regular grid"),
    dynamic=("sizes",),
)


def _base_grid(sizes: Shape, align_corners: bool, dtype: DType) -> Any:
    """`base_grid`; where only the run knows sizes in simpler ops, which every format has, in double precision."""
    if not any(is_tensor(size) for size in sizes):
        return base_grid_op(sizes=sizes, align_corners=align_corners, dtype=dtype)
    axes = [_coordinates(size, align_corners) for size in sizes]
    mesh = [expand(reshape(x, [-1 if i == d else 1 for i in range(len(sizes))]), sizes) for d, x in enumerate(axes)]
    return cast(stack([*mesh[::-1], ones(sizes, "float64")], axis=-1), dtype)


def _coordinates(size: Any, align_corners: bool) -> Any:
    """From -1 to 1 along a dimension: of the elements' middles, or of the first and the last, and of one alone 0."""
    places, count = arange(0, size, dtype="float64"), cast(size, float64) if is_tensor(size) else float(size)
    if not align_corners:
        return (2 * places + 1) / count - 1
    several = cast(count > 1, float64) if is_tensor(count) else float(count > 1)
    return 2 * places / (count - several) - several


def affine_grid(theta: Any, out_shape: Any, align_corners: bool = True, name: str | None = None) -> Any:
    """The grid for `grid_sample` that maps each output place through the affine transformations theta.

    theta: [n, 2, 3] floating with out_shape [n, c, h, w] -> [n, h, w, 2]; or [n, 3, 4] with [n, c, d, h, w] ->
    [n, d, h, w, 3]. Raises ShapeError for other shapes. Source: paddle.nn.functional.affine_grid.

    Example:
        >>> import vitrify as paddle
        >>> identity = paddle.to_tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
        >>> paddle.nn.functional.affine_grid(identity, [1, 1, 2, 2])[0, 0].tolist()
        [[-1.0, -1.0], [1.0, -1.0]]
    """
    rank_of("affine_grid", theta, "theta")
    shape = as_ints("affine_grid", out_shape, "out_shape")
    if not isinstance(shape, tuple):
        shape = tuple(shape[i] for i in range(len(shape)))
    n = len(shape) - 2
    if n not in (2, 3) or theta.ndim != 3 or any(d not in (w, UNKNOWN) for d, w in zip(theta.shape[1:], (n, n + 1))):
        rank_of("affine_grid", theta, "theta")
        raise ShapeError(
            f"affine_grid: theta has shape {list(theta.shape)} and out_shape {len(shape)} entries, expected [n, 2, 3] "
            "and 4, or [n, 3, 4] and 5"
        )
    base = _base_grid(shape[2:], bool(align_corners), theta.dtype)
    flat = matmul(flatten(base, 0, -2), swapaxes(theta, 1, 2))
    return unflatten(flat, 1, list(shape[2:]))


# --- video -----------------------------------------------------------------------------------------------------------


def temporal_shift(
    x: Any, seg_num: int, shift_ratio: float = 0.25, name: str | None = None, data_format: str = "NCHW"
) -> Any:
    """x with a share of the channels taken from the frame before, another from the frame after, zeros at the ends.

    x: [n * seg_num, c, h, w] (or [n * seg_num, h, w, c]) -> the same. Raises ArgumentError unless shift_ratio lies in
    [0, 0.5]. Source: Lin, Gan, Han, "TSM" (2019); paddle.nn.functional.temporal_shift.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([[1.0, 1.0], [2.0, 2.0]]).reshape([2, 2, 1, 1])
        >>> paddle.nn.functional.temporal_shift(x, 2, 0.5).flatten().tolist()
        [0.0, 2.0, 1.0, 0.0]
    """
    if data_format not in ("NCHW", "NHWC"):
        raise ArgumentError(f"temporal_shift: data_format must be one of NCHW, NHWC, got {data_format!r}")
    if not 0 <= shift_ratio <= 0.5:
        raise ArgumentError(f"temporal_shift: shift_ratio must lie in [0, 0.5], got {shift_ratio}")
    if rank_of("temporal_shift", x) != 4:
        raise ShapeError(f"temporal_shift: x has shape {list(x.shape)}, expected 4 dimensions")
    last = data_format == "NHWC"
    frames = unflatten(x, 0, [-1, seg_num])
    channels = size_of(x, 3 if last else 1)
    first, second = _whole(channels * shift_ratio), _whole(channels * 2 * shift_ratio)

    def part(start: int, stop: int) -> Any:
        return frames[..., start:stop] if last else frames[:, :, start:stop]

    def zeros(like: Any) -> Any:
        return zeros_like(like[:, :1])

    before, after, same = part(0, first), part(first, second), part(second, channels)
    shifted = [
        concat([zeros(before), before[:, :-1]], 1),
        concat([after[:, 1:], zeros(after)], 1),
        same,
    ]
    return flatten(concat(shifted, -1 if last else 2), 0, 1)


def _whole(share: Any) -> Any:
    """A number of channels without its fraction, also where it is known only when the program runs."""
    return int(share) if isinstance(share, float) else cast(share, int64)


__all__ = ["affine_grid", "grid_sample", "temporal_shift"]
