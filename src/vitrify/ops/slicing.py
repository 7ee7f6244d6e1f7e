"""slice, strided_slice, narrow, crop: basic indexing spelled as functions."""

from __future__ import annotations

from typing import Any

from ..core.errors import ArgumentError, IndexRangeError, ShapeError
from ..core.meta import UNKNOWN, normalize_axis
from .arguments import as_int, as_ints, is_tensor, rank_of, static_int, static_ints
from .index import getitem_op
from .index_form import FULL
from .like import cast
from .same_sizes import sized_op
from .select import where

BEYOND = 2**62
"""More elements than a dimension has: a block of so many ends with it."""

Part = type(FULL)  # Python's slice, whose name means Paddle's function here


def _bounds(op: str, values: Any, name: str, count: int) -> tuple[Any, ...]:
    """Slice bounds as ints and 0-D tensors, one for each of `count` axes."""
    if is_tensor(values):
        values = [values[i] for i in range(count)] if values.ndim else [values]
    found = as_ints(op, values, name)
    if len(found) != count:
        raise ArgumentError(f"{op}: axes has {count} entries, {name} has {len(found)}")
    return tuple(found)


def _cut(op: str, x: Any, axes: Any, starts: Any, ends: Any, strides: Any) -> Any:
    rank_of(op, x)
    places = static_ints(op, axes, "axes")
    count = len(places)
    bounds = [_bounds(op, v, n, count) for v, n in ((starts, "starts"), (ends, "ends"), (strides, "strides"))]
    parts = [FULL] * x.ndim
    for axis, start, end, stride in zip(places, *bounds):
        at = normalize_axis(op, axis, x.ndim, "axes")
        parts[at] = Part(start, _last(x.shape[at], end, stride), stride)
    return getitem_op(x, index=tuple(parts))


def _last(size: int, end: Any, stride: Any) -> Any:
    """The end bound; with a negative stride, one below -size means "through the first element"."""
    if isinstance(stride, int) and stride == 0:
        raise ArgumentError("strided_slice: strides must not be 0")
    if all(isinstance(v, int) for v in (end, stride)) and stride < 0 and size != UNKNOWN and end < -size:
        return None
    return end


def slice(input: Any, axes: Any, starts: Any, ends: Any) -> Any:
    """input cut along `axes` to [starts, ends); negative bounds count from the end, those outside are clipped.

    Bounds may be integer tensors. Shares memory with input. Source: paddle.slice.

    Example:
        >>> import vitrify as paddle
        >>> paddle.slice(paddle.to_tensor([[1, 2, 3], [4, 5, 6]]), [1], [-2], [3]).tolist()
        [[2, 3], [5, 6]]
    """
    return _cut("slice", input, axes, starts, ends, [1] * _length(axes))


def _length(axes: Any) -> int:
    return len(axes) if hasattr(axes, "__len__") else 1


def strided_slice(x: Any, axes: Any, starts: Any, ends: Any, strides: Any, name: str | None = None) -> Any:
    """`slice` with steps, which may be negative. Source: paddle.strided_slice.

    Example:
        >>> import vitrify as paddle
        >>> paddle.strided_slice(paddle.to_tensor([1, 2, 3, 4, 5]), [0], [0], [5], [2]).tolist()
        [1, 3, 5]
    """
    return _cut("strided_slice", x, axes, starts, ends, strides)


def narrow(input: Any, dim: int, start: Any, length: int) -> Any:
    """`length` slices of input along `dim`, from `start` on. Source: paddle.narrow.

    Raises IndexRangeError when they reach beyond the end.

    Example:
        >>> import vitrify as paddle
        >>> paddle.narrow(paddle.to_tensor([1, 2, 3, 4]), 0, 1, 2).tolist()
        [2, 3]
    """
    rank_of("narrow", input, "input")
    at = normalize_axis("narrow", dim, input.ndim, "dim")
    first, size = static_int("narrow", start, "start"), input.shape[at]
    if length < 0:
        raise ArgumentError(f"narrow: length must be >= 0, got {length}")
    if size != UNKNOWN and first < 0:
        first += size
    if size != UNKNOWN and not 0 <= first <= first + length <= size:
        raise IndexRangeError(f"narrow: start {start} and length {length} reach beyond dimension {at} of size {size}")
    parts = [FULL] * input.ndim
    last = first + length
    parts[at] = Part(first, None if first < 0 == last else last)
    return getitem_op(input, index=tuple(parts))


def crop(x: Any, shape: Any = None, offsets: Any = None, name: str | None = None) -> Any:
    """The block of x of `shape` (-1: up to the end) that starts at `offsets` (0 by default).

    Sizes and offsets may be integer tensors. Raises ShapeError when the block reaches beyond x. Source: paddle.crop.

    Example:
        >>> import vitrify as paddle
        >>> paddle.crop(paddle.to_tensor([[1, 2, 3], [4, 5, 6]]), shape=[2, 2], offsets=[0, 1]).tolist()
        [[2, 3], [5, 6]]
    """
    rank_of("crop", x)
    sizes = _bounds("crop", list(x.shape) if shape is None else shape, "shape", x.ndim)
    starts = _bounds("crop", [0] * x.ndim if offsets is None else offsets, "offsets", x.ndim)
    if shape is None and any(isinstance(start, int) and start != 0 for start in starts):
        raise ShapeError(f"crop: all of x {list(x.shape)} from {list(starts)} on does not lie within x")
    parts = tuple(_block(x.shape[i], sizes[i], starts[i]) for i in range(x.ndim))
    block = getitem_op(x, index=parts)
    if not any(map(_may_reach_beyond, x.shape, sizes, starts)):
        return block
    wanted = tuple(n if is_tensor(n) or (isinstance(n, int) and n >= 0) else UNKNOWN for n in sizes)
    return sized_op(block, sizes=wanted, what="crop: so many elements from the offsets on do not lie within x")


def _may_reach_beyond(size: int, wanted: Any, start: Any) -> bool:
    """Whether only a run can tell if the block lies within a dimension."""
    if is_tensor(wanted) or is_tensor(start):
        return True
    return size == UNKNOWN and isinstance(wanted, int) and isinstance(start, int) and (wanted > 0 or start > 0)


def _block(size: int, wanted: Any, start: Any) -> Any:
    if isinstance(wanted, int) and wanted == -1:
        return Part(start, None)
    known = isinstance(wanted, int) and isinstance(start, int)
    if known and (start < 0 or (size != UNKNOWN and start + wanted > size)):
        raise ShapeError(f"crop: {wanted} elements from offset {start} on do not lie within a dimension of size {size}")
    if is_tensor(wanted):
        wanted = where(wanted < 0, BEYOND, cast(wanted, "int64"))
    return Part(start, as_int("crop", start + wanted, "offsets"))


METHODS = {"slice": slice, "strided_slice": strided_slice, "narrow": narrow}
__all__ = ["crop", "narrow", "slice", "strided_slice"]
