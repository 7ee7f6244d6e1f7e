"""The ONNX forms of what takes images apart and puts them together: patches, maxima put back, regions, diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtype import int64
from ..core.errors import UnsupportedError
from ..core.sequences import as_list
from ..ops.registry import get_op
from ..ops.sliding_window import window_counts
from .graph import Value
from .table import FORMS, Context

_LAST = np.iinfo(np.int64).max


@FORMS("unfold_patches")
def unfold_patches(g: Context, x: Value, *, kernel: Any, stride: Any, pads: Any, dilation: Any) -> Value:
    """Pad, and a Slice for each place of the kernel: exact for every dtype, which a Conv with ones would not be."""
    images, channels = g.size(x, 0), g.size(x, 1)
    (top, bottom), (left, right) = pads
    padded = g.node("Pad", x, g.ints([0, 0, top, left, 0, 0, bottom, right])) if any(map(any, pads)) else x
    places = [padded]
    for axis, size, step, gap in zip((2, 3), kernel, stride, dilation):
        starts = [k * gap for k in range(size)]
        stops = [(k - size + 1) * gap or _LAST for k in range(size)]
        places = [g.slice(place, axis, a, b, step) for place in places for a, b in zip(starts, stops)]
    area = len(places)
    found = g.node("Concat", *places, axis=1) if area > 1 else places[0]
    split = g.reshape(found, [images, area, channels, -1])
    return g.reshape(g.transpose(split, [0, 2, 1, 3]), [images, channels * area, -1])


@FORMS("fold_patches")
def fold_patches(g: Context, x: Value, *, sizes: Any, kernel: Any, stride: Any, pads: Any, dilation: Any) -> Value:
    """Each place of the kernel spread by the strides, padded to its place and added: exact for every dtype."""
    wanted = as_list(sizes)
    if any(isinstance(size, Value) for size in wanted):
        raise UnsupportedError("an output size known only at run time has no ONNX form")
    counts = window_counts(tuple(wanted), kernel, stride, pads, dilation, False)
    spread = [count * step for count, step in zip(counts, stride)]
    reach = [(k - 1) * gap for k, gap in zip(kernel, dilation)]
    whole = [max(s + r, low + w) for s, r, (low, _), w in zip(spread, reach, pads, wanted)]
    split = g.reshape(x, [g.size(x, 0), -1, kernel[0] * kernel[1], counts[0], counts[1]])
    found = None
    for place in range(kernel[0] * kernel[1]):
        part = _spread(g, g.gather(split, place, 2), g.size(x, 0), counts, stride)
        at = [p * gap for p, gap in zip(divmod(place, kernel[1]), dilation)]
        ends = [w - a - s for w, a, s in zip(whole, at, spread)]
        part = g.node("Pad", part, g.ints([0, 0, *at, 0, 0, *ends]))
        found = part if found is None else found + part
    assert found is not None
    for axis, (low, _), size in zip((2, 3), pads, wanted):
        found = g.slice(found, axis, low, low + size)
    return found


def _spread(g: Context, x: Value, images: Any, counts: Any, stride: Any) -> Value:
    """Images with zeros behind each element, as many as the strides leave out."""
    if all(step == 1 for step in stride):
        return x
    apart = g.unsqueeze(x, [3, 5])
    ends = [step - 1 for step in stride]
    padded = g.node("Pad", apart, g.ints([0] * 6 + [0, 0, 0, ends[0], 0, ends[1]]))
    return g.reshape(padded, [images, -1, *[c * s for c, s in zip(counts, stride)]])


@FORMS("max_unpool")
def max_unpool(
    g: Context, x: Value, indices: Value, *, kernel: Any, stride: Any, padding: Any, output_size: Any
) -> Value:
    """ScatterElements into the zeros of a plane."""
    wanted = as_list(output_size) if output_size is not None else [
        (g.size(x, axis) - 1) * step + k - low - high
        for axis, (k, step, (low, high)) in enumerate(zip(kernel, stride, padding), 2)
    ]  # fmt: skip
    images, channels = g.size(x, 0), g.size(x, 1)
    area = g.scalar(1)
    for size in wanted:
        area = area * g.scalar(size)
    plane = g.node("Expand", g.constant(0, x.dtype), g.ints([images, channels, area]))
    at, values = (g.node("Reshape", v, g.ints([images, channels, -1])) for v in (indices.cast(int64), x))
    put = g.node("ScatterElements", plane, at, values, axis=2)
    return g.node("Reshape", put, g.ints([images, channels, *wanted]))


@FORMS("diagonal_scatter")
def diagonal_scatter(g: Context, x: Value, y: Value, *, offset: int, axis1: int, axis2: int) -> Value:
    """Where, with y spread along the diagonal by its places and a mask of the diagonal."""
    rest = [i for i in range(x.ndim) if i not in (axis1, axis2)]
    perm = [*rest, axis1, axis2]
    turned = g.transpose(x, perm)
    rows, columns = g.arange(g.size(x, axis1)), g.arange(g.size(x, axis2))
    mask = g.unsqueeze(rows, [1]) + offset == columns
    first = max(-offset, 0)
    last = g.size(y, y.ndim - 1)
    place = g.node("Clip", rows - first, g.constant(0, int64), g.scalar(last) - 1)
    spread = g.unsqueeze(g.node("Gather", y, place, axis=y.ndim - 1), [y.ndim])
    return g.transpose(g.where(mask, spread, turned), [perm.index(i) for i in range(x.ndim)])


@FORMS("roi_align")
def roi_align(
    g: Context, x: Value, boxes: Value, counts: Value, *, output_size: Any, scale: float, sampling: int, aligned: bool
) -> Value:
    """RoiAlign, the image of each box counted from how many each image has."""
    ends = g.node("CumSum", counts.cast(int64), g.scalar(0))
    boxes_at = g.unsqueeze(g.arange(g.size(boxes, 0)), [1])
    images = g.reduce("ReduceSum", (boxes_at >= ends).cast(int64), [1], False)
    return g.node(
        "RoiAlign", x, boxes, images, output_height=output_size[0], output_width=output_size[1],
        sampling_ratio=max(sampling, 0), spatial_scale=scale,
        coordinate_transformation_mode="half_pixel" if aligned else "output_half_pixel",
    )  # fmt: skip


@FORMS("base_grid")
def base_grid(g: Context, *, sizes: Any, align_corners: bool, dtype: Any) -> Value:
    """A constant."""
    wanted = as_list(sizes)
    if any(isinstance(size, Value) for size in wanted):
        raise UnsupportedError("a grid of sizes known only at run time has no ONNX form")
    return g.constant(get_op("base_grid").kernel(np, sizes=wanted, align_corners=align_corners, dtype=dtype))


@FORMS("unique")
def unique(
    g: Context, x: Value, *, axis: int, index: bool, inverse: bool, counts: bool, dtype: Any
) -> list[Value | None]:
    """Unique."""
    outs = g.nodes_of("Unique", [x], [x.dtype, int64, int64, int64], axis=axis, sorted=1)
    return [
        outs[0],
        *[out.cast(dtype) if is_wanted else None for out, is_wanted in zip(outs[1:], (index, inverse, counts))],
    ]


@FORMS("unique_consecutive")
def unique_consecutive(
    g: Context, x: Value, *, axis: int, inverse: bool, counts: bool, dtype: Any
) -> list[Value | None]:
    """Compress of the slices that differ from the one before."""
    size = g.scalar(g.size(x, axis))
    before, after = g.slice(x, axis, 0, size - 1), g.slice(x, axis, 1, size)
    same = g.node("Not", g.node("Equal", before, after)).cast("int32")
    rest = [i for i in range(x.ndim) if i != axis]
    differs = g.reduce("ReduceMax", same, rest, False) if rest else same
    starts = g.slice(g.node("Concat", g.constant(np.ones(1, np.int32)), differs, axis=0), 0, 0, size)  # none of none
    place = g.node("CumSum", starts.cast(int64), g.scalar(0)) - 1
    at = g.node("Compress", g.arange(size), starts.cast("bool"), axis=0)
    ends = g.node("Concat", g.slice(at, 0, 1, np.iinfo(np.int64).max), g.reshape(size, [1]), axis=0)
    out = g.node("Compress", x, starts.cast("bool"), axis=axis)
    lengths = g.slice(ends, 0, 0, g.node("Size", at)) - at
    return [out, place.cast(dtype) if inverse else None, lengths.cast(dtype) if counts else None]
