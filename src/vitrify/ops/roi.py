"""Regions of images brought to one size: roi_align, psroi_pool (weighted means) and roi_pool (maxima).

A mean over a rectangle is separable: a region's output is `rows @ x @ columns`, where `rows` [bins, h] and `columns`
[bins, w] say how much of each line a bin takes. The regions of one image are one product with a large matrix.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from ..core.dtype import int32
from ..core.errors import ArgumentError, DTypeError, ShapeError
from ..core.meta import UNKNOWN, Meta, Shape
from .accumulate import wide
from .registry import OpDef, define_op
from .sliding_window import per_dim

# How many numbers a step may hold at once: regions are done in parts so that large batches don't fill the memory.
_AT_ONCE = 1 << 24

# --- which regions belong to which image -----------------------------------------------------------------------------


def _check_counts(op: str, x: Any, boxes: Any, counts: Any) -> None:
    if len(counts) != x.shape[0] or int(counts.sum()) != len(boxes):
        raise ArgumentError(
            f"{op}: boxes_num is {counts.tolist()}, expected {x.shape[0]} counts that sum to the {len(boxes)} boxes"
        )


def _parts(counts: Any, each: int) -> Iterator[tuple[int, slice]]:
    """(image, range of its regions) with about `_AT_ONCE` numbers in each part when a region needs `each` of them."""
    step, start = max(_AT_ONCE // max(each, 1), 1), 0
    for image, count in enumerate(counts.tolist()):
        for first in range(start, start + count, step):
            yield image, slice(first, min(first + step, start + count))
        start += count


def _round(xp: Any, x: Any) -> Any:
    """x rounded, halves away from zero."""
    return xp.copysign(xp.floor(xp.abs(x) + 0.5), x)


# --- how much of each line a bin takes -------------------------------------------------------------------------------


def _sampled(xp: Any, low: Any, length: Any, bins: int, size: int, sampling: int) -> Any:
    """Weights [regions, bins, size] of the mean of `sampling` points in each bin, read between lines; 0 chooses as many
    as lines.
    """
    points = xp.full(low.shape, sampling) if sampling > 0 else xp.ceil(length / bins).astype(int)
    points = xp.maximum(points, 0)
    most = int(points.max()) if points.size else 0
    share = (xp.arange(most) + low.dtype.type(0.5)) / xp.maximum(points, 1)[:, None, None].astype(low.dtype)
    at = low[:, None, None] + (xp.arange(bins)[:, None].astype(low.dtype) + share) * (length / bins)[:, None, None]
    counts = (at >= -1) & (at <= size) & (xp.arange(most) < points[:, None, None])
    at = xp.clip(at, 0, size - 1)
    lower = xp.floor(at).astype(int)
    above = at - lower
    weight = counts / xp.maximum(points, 1)[:, None, None]
    rows = xp.arange(len(low) * bins).reshape(len(low), bins, 1) * size
    out = xp.bincount((rows + lower).ravel(), (weight * (1 - above)).ravel(), len(low) * bins * size)
    out += xp.bincount((rows + xp.minimum(lower + 1, size - 1)).ravel(), (weight * above).ravel(), len(out))
    return out.reshape(len(low), bins, size).astype(low.dtype)


def _align_weights(
    xp: Any, boxes: Any, sizes: Shape, *, output_size: Shape, scale: float, sampling: int, aligned: bool
) -> Any:
    box = boxes * boxes.dtype.type(scale) - boxes.dtype.type(0.5 if aligned else 0)
    out = []
    for axis, size, bins in zip((1, 0), sizes, output_size):
        low, length = box[:, axis], box[:, axis + 2] - box[:, axis]
        out.append(_sampled(xp, low, length if aligned else xp.maximum(length, 1), bins, size, sampling))
    return out


def _bin_edges(xp: Any, low: Any, length: Any, bins: int, size: int, whole: bool) -> tuple[Any, Any]:
    """First and last + 1 line of each bin [regions, bins]. whole: `low` is rounded before bins are added to it."""
    at = xp.arange(bins + 1).astype(low.dtype) * (length / bins)[:, None].astype(low.dtype)
    at = at if whole else at + low[:, None]
    start, stop = xp.floor(at[:, :-1]), xp.ceil(at[:, 1:])
    shift = low[:, None] if whole else 0
    return tuple(xp.clip(edge + shift, 0, size).astype(int) for edge in (start, stop))


def _mean_weights(xp: Any, boxes: Any, sizes: Shape, *, output_size: Shape, scale: float, **_: Any) -> Any:
    corners = _round(xp, boxes)
    out = []
    for axis, size, bins in zip((1, 0), sizes, output_size):
        low, high = corners[:, axis] * scale, (corners[:, axis + 2] + 1) * scale
        start, stop = _bin_edges(xp, low, xp.maximum(high - low, 0.1), bins, size, whole=False)
        line = xp.arange(size)
        inside = (line >= start[..., None]) & (line < stop[..., None])
        out.append((inside / xp.maximum(stop - start, 1)[..., None]).astype(boxes.dtype))
    return out


# --- means of regions ------------------------------------------------------------------------------------------------


def _plain(xp: Any, image: Any, rows: Any, columns: Any) -> Any:
    """rows @ image @ columns for each region: image [c, h, w] -> [regions, c, *bins]."""
    c, h, w = image.shape
    (n, p), q = rows.shape[:2], columns.shape[1]
    across = (image.reshape(c * h, w) @ columns.reshape(n * q, w).T).reshape(c, h, n, q)
    down = rows @ across.transpose(2, 1, 0, 3).reshape(n, h, c * q)
    return down.reshape(n, p, c, q).transpose(0, 2, 1, 3)


def _plain_adjoint(xp: Any, ct: Any, rows: Any, columns: Any) -> Any:
    n, c, p, q = ct.shape
    h, w = rows.shape[2], columns.shape[2]
    down = rows.transpose(0, 2, 1) @ ct.transpose(0, 2, 1, 3).reshape(n, p, c * q)
    across = down.reshape(n, h, c, q).transpose(2, 1, 0, 3).reshape(c * h, n * q)
    return (across @ columns.reshape(n * q, w)).reshape(c, h, w)


def _sensitive(xp: Any, image: Any, rows: Any, columns: Any) -> Any:
    """As `_plain`, where bin (i, j) has channels of its own: image [c * p * q, h, w] -> [regions, c, p, q]."""
    (p, h), (q, w) = rows.shape[1:], columns.shape[1:]
    maps = image.reshape(-1, p, q, h, w)
    across = xp.einsum("cijhw,njw->cijhn", maps, columns, optimize=True)
    return xp.einsum("cijhn,nih->ncij", across, rows, optimize=True)


def _sensitive_adjoint(xp: Any, ct: Any, rows: Any, columns: Any) -> Any:
    down = xp.einsum("ncij,nih->cijhn", ct, rows, optimize=True)
    across = xp.einsum("cijhn,njw->cijhw", down, columns, optimize=True)
    return across.reshape(-1, *across.shape[3:])


def _check(op: str, x: Meta, boxes: Meta, counts: Meta) -> None:
    if x.ndim != 4 or boxes.ndim != 2 or boxes.shape[1] not in (4, UNKNOWN) or counts.ndim != 1:
        raise ShapeError(
            f"{op}: x is {x}, boxes is {boxes}, boxes_num is {counts}, expected [n, c, h, w], [boxes, 4] and [n]"
        )
    if not x.dtype.is_floating or boxes.dtype is not x.dtype or not counts.dtype.is_integer:
        raise DTypeError(
            f"{op}: x is {x}, boxes is {boxes}, boxes_num is {counts}, expected x and boxes of one floating dtype and "
            "integer counts"
        )


def _mean_op(name: str, weights: Callable[..., Any], forward: Any, adjoint: Any, sensitive: bool) -> OpDef:
    """The op x, boxes, boxes_num -> means of regions, linear in x, and its adjoint."""

    def kernel(xp: Any, x: Any, boxes: Any, counts: Any, *, output_size: Shape, scale: float, sampling: int,
               aligned: bool) -> Any:  # fmt: skip
        settings = {"output_size": output_size, "scale": scale, "sampling": sampling, "aligned": aligned}
        _check_counts(name, x, boxes, counts)
        rows, columns = weights(xp, wide(xp, boxes), x.shape[2:], **settings)
        channels = x.shape[1] // math.prod(output_size) if sensitive else x.shape[1]
        out = xp.empty((len(boxes), channels, *output_size), x.dtype)
        maps = wide(xp, x)
        for image, part in _parts(counts, x.shape[1] * x.shape[2] * output_size[1]):
            out[part] = forward(xp, maps[image], rows[part], columns[part])
        return out

    def adjoint_kernel(xp: Any, ct: Any, x: Any, boxes: Any, counts: Any, *, output_size: Shape, scale: float,
                       sampling: int, aligned: bool) -> Any:  # fmt: skip
        settings = {"output_size": output_size, "scale": scale, "sampling": sampling, "aligned": aligned}
        rows, columns = weights(xp, wide(xp, boxes), x.shape[2:], **settings)
        out = wide(xp, xp.zeros(x.shape, ct.dtype))
        for image, part in _parts(counts, x.shape[1] * x.shape[2] * output_size[1]):
            out[image] += adjoint(xp, wide(xp, ct[part]), rows[part], columns[part])
        return out.astype(ct.dtype, copy=False)

    def meta(x: Meta, boxes: Meta, counts: Meta, *, output_size: Shape, **_: Any) -> Meta:
        _check(name, x, boxes, counts)
        channels, bins = x.shape[1], math.prod(output_size)
        if sensitive and channels != UNKNOWN:
            if channels % bins:
                raise ShapeError(
                    f"{name}: the {channels} channels of x must be a multiple of {bins}, the number of bins"
                )
            channels //= bins
        return x.with_shape((boxes.shape[0], channels, *output_size))

    op = define_op(
        name,
        kernel=kernel,
        meta=meta,
        vjp={
            "x": lambda ct, *, x_like, boxes, counts, output_size, scale, sampling, aligned: adjoint_op(
                ct, x_like, boxes, counts, output_size=output_size, scale=scale, sampling=sampling, aligned=aligned
            )
        },
        maps={"paddle": name},
    )
    adjoint_op: OpDef = define_op(
        f"{name}_adjoint",
        kernel=adjoint_kernel,
        meta=lambda ct, x, boxes, counts, **_: x.with_dtype(ct.dtype),
        vjp={
            "ct": lambda g, *, boxes, counts, output_size, scale, sampling, aligned: op(
                g, boxes, counts, output_size=output_size, scale=scale, sampling=sampling, aligned=aligned
            )
        },
        shape_only=["x"],
    )
    return op


roi_align_op = _mean_op("roi_align", _align_weights, _plain, _plain_adjoint, False)
psroi_pool_op = _mean_op("psroi_pool", _mean_weights, _sensitive, _sensitive_adjoint, True)

# --- maxima of regions -----------------------------------------------------------------------------------------------


def _lines(xp: Any, start: Any, stop: Any) -> tuple[Any, Any]:
    """The lines of each bin [regions, bins, most], and which of them are its own."""
    most = max(int((stop - start).max()), 1) if start.size else 1
    at = start[..., None] + xp.arange(most)
    return at, at < stop[..., None]


def _largest(xp: Any, image: Any, rows: Any, columns: Any) -> tuple[Any, Any]:
    """The maxima [regions, c, p, q] of bins with the given edges, and their row-major places; 0 and -1 if empty."""
    c, h, w = image.shape
    (y, own_y), (x, own_x) = _lines(xp, *rows), _lines(xp, *columns)
    own = own_y[:, :, None, :, None] & own_x[:, None, :, None, :]
    place = xp.minimum(y, h - 1)[:, :, None, :, None] * w + xp.minimum(x, w - 1)[:, None, :, None, :]
    flat = (*place.shape[:3], -1)
    own, place = own.reshape(flat), place.reshape(flat)
    values = xp.where(own, image.reshape(c, -1)[:, place], -math.inf)
    best = values.argmax(axis=-1)
    filled = own.any(axis=-1)
    found = xp.where(filled, xp.take_along_axis(values, best[..., None], axis=-1)[..., 0], 0)
    at = xp.where(filled, xp.take_along_axis(place[None], best[..., None], axis=-1)[..., 0], -1)
    return xp.moveaxis(found, 0, 1), xp.moveaxis(at, 0, 1)


def _pool_kernel(
    xp: Any, x: Any, boxes: Any, counts: Any, *, output_size: Shape, scale: float
) -> tuple[Any, Any]:  # fmt: skip
    _check_counts("roi_pool", x, boxes, counts)
    corners = _round(xp, wide(xp, boxes) * scale)
    edges = []
    for axis, size, bins in zip((1, 0), x.shape[2:], output_size):
        low, high = corners[:, axis], corners[:, axis + 2]
        edges.append(_bin_edges(xp, low, xp.maximum(high - low + 1, 1), bins, size, whole=True))
    shape = (len(boxes), x.shape[1], *output_size)
    out, index = xp.empty(shape, x.dtype), xp.empty(shape, xp.int32)
    for image, part in _parts(counts, math.prod(x.shape[1:])):
        rows, columns = [[edge[part] for edge in pair] for pair in edges]
        out[part], index[part] = _largest(xp, wide(xp, x[image]), rows, columns)
    return out, index


def _pool_meta(x: Meta, boxes: Meta, counts: Meta, *, output_size: Shape, scale: float) -> tuple[Meta, Meta]:
    _check("roi_pool", x, boxes, counts)
    out = x.with_shape((boxes.shape[0], x.shape[1], *output_size))
    return out, out.with_dtype(int32)


def _planes(xp: Any, index: Any, counts: Any, shape: Shape) -> Any:
    """Places within planes [regions, c, p, q] as places in a whole array [n, c, h, w]."""
    image = xp.repeat(xp.arange(len(counts)), counts.tolist())
    plane = image[:, None] * shape[1] + xp.arange(shape[1])
    return plane[:, :, None, None] * math.prod(shape[2:]) + index


def _put_kernel(xp: Any, ct: Any, index: Any, counts: Any, x: Any) -> Any:
    own = (index >= 0).ravel()
    places = _planes(xp, index, counts, x.shape).ravel()[own]
    total = xp.bincount(places, wide(xp, ct).ravel()[own], math.prod(x.shape))
    return total.reshape(x.shape).astype(ct.dtype)


def _pick_kernel(xp: Any, g: Any, index: Any, counts: Any) -> Any:
    places = _planes(xp, xp.maximum(index, 0), counts, g.shape)
    return xp.where(index >= 0, g.ravel()[places], g.dtype.type(0))


roi_pool_op: OpDef = define_op(
    "roi_pool",
    kernel=_pool_kernel,
    meta=_pool_meta,
    vjp={"x": lambda cts, *, index, counts, x_like: region_put_op(cts[0], index, counts, x_like)},
    outputs=("out", "index"),
    maps={"paddle": "roi_pool"},
)
region_put_op: OpDef = define_op(
    "region_put",
    kernel=_put_kernel,
    meta=lambda ct, index, counts, x: x.with_dtype(ct.dtype),
    vjp={"ct": lambda g, *, index, counts: region_pick_op(g, index, counts)},
    shape_only=["x"],
)
region_pick_op: OpDef = define_op(
    "region_pick",
    kernel=_pick_kernel,
    meta=lambda g, index, counts: g.with_shape(index.shape),
    vjp={"g": lambda ct, *, index, counts, g_like: region_put_op(ct, index, counts, g_like)},
)

# --- public ----------------------------------------------------------------------------------------------------------


def roi_align(
    x: Any, boxes: Any, boxes_num: Any, output_size: Any, spatial_scale: float = 1.0, sampling_ratio: int = -1,
    aligned: bool = True, name: str | None = None,
) -> Any:  # fmt: skip
    """The mean of x in each bin of each box, read between elements.

    x: [n, c, h, w], boxes: [k, 4] as x1, y1, x2, y2 (times spatial_scale: places in x), boxes_num: [n] integers, how
    many of the boxes belong to each image, one floating dtype -> [k, c, *output_size]. sampling_ratio: points in each
    bin and dimension, as many as elements if not positive. aligned: elements are points at half numbers. Gradients flow
    to x alone. Raises ArgumentError when boxes_num does not sum to k. Source: He et al., "Mask R-CNN" (2017);
    paddle.vision.ops.roi_align.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
        >>> box, one = paddle.to_tensor([[0.0, 0.0, 2.0, 2.0]]), paddle.to_tensor([1])
        >>> paddle.vision.ops.roi_align(x, box, one, 1).item()
        2.5
    """
    size = per_dim("roi_align", output_size, 2, "output_size")
    return roi_align_op(
        x, boxes, boxes_num, output_size=size, scale=float(spatial_scale), sampling=int(sampling_ratio),
        aligned=bool(aligned),
    )  # fmt: skip


def roi_pool(
    x: Any, boxes: Any, boxes_num: Any, output_size: Any, spatial_scale: float = 1.0, name: str | None = None
) -> Any:
    """The maximum of x in each bin of each box, whose corners are rounded; empty bins give 0.

    Arguments and result as of `roi_align`. Source: Girshick, "Fast R-CNN" (2015); paddle.vision.ops.roi_pool.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
        >>> box, one = paddle.to_tensor([[0.0, 0.0, 1.0, 1.0]]), paddle.to_tensor([1])
        >>> paddle.vision.ops.roi_pool(x, box, one, 1).item()
        4.0
    """
    size = per_dim("roi_pool", output_size, 2, "output_size")
    return roi_pool_op(x, boxes, boxes_num, output_size=size, scale=float(spatial_scale))[0]


def psroi_pool(
    x: Any, boxes: Any, boxes_num: Any, output_size: Any, spatial_scale: float = 1.0, name: str | None = None
) -> Any:
    """The mean of x in each bin of each box, where every bin has channels of its own.

    x: [n, c * p * q, h, w] with output_size (p, q) -> [k, c, p, q]; the other arguments as of `roi_align`. Raises
    ShapeError unless the channels are a multiple of p * q. Source: Dai et al., "R-FCN" (2016);
    paddle.vision.ops.psroi_pool.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.arange(4, dtype="float32").reshape([1, 4, 1, 1]).expand([1, 4, 2, 2])
        >>> box, one = paddle.to_tensor([[0.0, 0.0, 1.0, 1.0]]), paddle.to_tensor([1])
        >>> paddle.vision.ops.psroi_pool(x, box, one, 2).tolist()
        [[[[0.0, 1.0], [2.0, 3.0]]]]
    """
    size = per_dim("psroi_pool", output_size, 2, "output_size")
    return psroi_pool_op(
        x, boxes, boxes_num, output_size=size, scale=float(spatial_scale), sampling=0, aligned=False
    )  # fmt: skip


__all__ = ["psroi_pool", "roi_align", "roi_pool"]
