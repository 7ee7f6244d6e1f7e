"""Paddle's forms of reading and writing at indices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core.dtype import bool_, int64
from ..core.errors import UnsupportedError
from ..core.meta import UNKNOWN, Meta, broadcast_shapes
from ..ops.index_form import basic_shape
from .emitter import FORMS, OF_ONEDNN, Emitter, Value, known

_LAST = (1 << 31) - 1

# -- reading ---------------------------------------------------------------------------------------------------------


@dataclass
class _Cuts:
    """What an index takes of a tensor: cuts forwards, dimensions that go or turn round, and new ones."""

    axes: list[int] = field(default_factory=list)
    starts: list[Any] = field(default_factory=list)
    ends: list[Any] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    taken: list[int] = field(default_factory=list)
    turned: list[int] = field(default_factory=list)  # dimensions of the result before new ones
    new: list[int] = field(default_factory=list)

    def add(self, axis: int, bounds: tuple[Any, Any, int] | None) -> None:
        """Cut this dimension."""
        if bounds is not None:
            for held, value in zip((self.axes, self.starts, self.ends, self.steps), (axis, *bounds)):
                held.append(value)


@FORMS("getitem")
def getitem(g: Emitter, x: Value, *, index: Any) -> Value:
    """slice or strided_slice, flip for what runs backwards, then unsqueeze for new dimensions."""
    cuts = _Cuts()
    axis = place = 0
    x, index = _turned_round(g, x, index)
    for part in index:
        if part is None:
            cuts.new.append(place)
            place += 1
            continue
        if isinstance(part, slice):
            bounds, turns = _bounds(x.shape[axis], part)
            cuts.add(axis, bounds)
            cuts.turned += [axis - len(cuts.taken)] * turns
            place += 1
        else:
            cuts.add(axis, (part, _next(g, part), 1))
            cuts.taken.append(axis)
        axis += 1
    shape = tuple(s for i, s in enumerate(g.metas[0].shape) if i not in cuts.new)
    out = _cut(g, x, cuts, Meta(shape, x.dtype))
    if cuts.turned:
        out = g.op("flip", out, axis=cuts.turned)
    return g.unsqueeze(out, cuts.new)


def _turned_round(g: Emitter, x: Value, index: Any) -> tuple[Value, list[Any]]:
    """x turned round, and slices that run forwards there, for those that run backwards over an unknown size."""
    parts, turned = [], []
    axis = 0
    for part in index:
        if isinstance(part, slice) and _is_backwards(x.shape[axis], part):
            turned.append(axis)
            part = slice(_from_behind(g, part.start), _from_behind(g, part.stop), -part.step)
        parts.append(part)
        axis += part is not None
    return (g.op("flip", x, axis=turned) if turned else x), parts


def _is_backwards(size: int, part: slice) -> bool:
    if part.step is None or isinstance(part.step, Value) or part.step >= 0:
        return False
    is_known = not isinstance(part.start, Value) and not isinstance(part.stop, Value)
    return not (is_known and (size != UNKNOWN or (part.start is None and part.stop is None and part.step == -1)))


def _from_behind(g: Emitter, place: Any) -> Any:
    """The place counted from the other end, in which -1 is 0."""
    if not isinstance(place, Value):
        return None if place is None else -1 - place
    return g.op("scale", place, -1.0, bias=-1.0, bias_after_scale=True)


def _next(g: Emitter, part: Any) -> Any:
    if isinstance(part, Value):
        return g.op("scale", part, 1.0, bias=1.0, bias_after_scale=True)
    return _LAST if part == -1 else part + 1


def _bounds(size: int, part: slice) -> tuple[tuple[Any, Any, int] | None, bool]:
    """Start, end and step of a cut that runs forwards (None: all of it), and whether the result is turned round.

    Versions of Paddle disagree about the ends of slices that run backwards, so none is written.
    """
    step = 1 if part.step is None else part.step
    if isinstance(step, Value):
        raise UnsupportedError("a slice whose step only the run knows has no form in Paddle's programs")
    if part.start is None and part.stop is None and abs(step) == 1:
        return None, step < 0
    if size != UNKNOWN and not isinstance(part.start, Value) and not isinstance(part.stop, Value):
        places = range(*part.indices(size))
        if not places:
            return (0, 0, 1), False
        first, last = min(places), max(places)
        return (first, last + 1, abs(step)), step < 0
    if step < 0:
        raise UnsupportedError("writing backwards over an unknown size has no form in Paddle's programs")
    return (0 if part.start is None else part.start, _LAST if part.stop is None else part.stop, step), False


def _cut(g: Emitter, x: Value, cuts: _Cuts, meta: Meta) -> Value:
    if not cuts.axes:
        return x if cuts.turned or cuts.new else g.op("assign", x)
    starts, ends = g.sizes(cuts.starts), g.sizes(cuts.ends)
    known_now = isinstance(starts, list) and isinstance(ends, list)
    flags = [1 if known_now else -1] * len(cuts.axes)  # -1: PaddlePaddle looks at the bounds when it runs
    if all(step == 1 for step in cuts.steps):
        taken = cuts.taken if meta.ndim or x.dtype not in OF_ONEDNN else []
        kept = meta if taken or not cuts.taken else Meta((1,) * x.ndim, x.dtype)
        found = g.op("slice", x, starts, ends, meta=kept, axes=cuts.axes, infer_flags=flags, decrease_axis=taken)
        # oneDNN's slices have a dimension always, or stop the process.
        return found if kept is meta else g.op("reshape", found, [], meta=meta)
    kept = Meta(_with_ones(meta.shape, cuts.taken), x.dtype)
    out = g.op("strided_slice", x, starts, ends, cuts.steps, meta=kept, axes=cuts.axes, infer_flags=flags)
    return g.op("squeeze", out, cuts.taken, meta=meta) if cuts.taken else out


def _with_ones(shape: Sequence[int], places: Sequence[int]) -> tuple[int, ...]:
    found = list(shape)
    for place in sorted(places):
        found.insert(place, 1)
    return tuple(found)


@FORMS("gather")
def gather(g: Emitter, x: Value, index: Value, *, axis: int) -> Value:
    """gather; of an index of any rank by way of a flat one."""
    if index.ndim == 1:
        return g.op("gather", x, index, axis, meta=g.metas[0])
    count = UNKNOWN if UNKNOWN in index.shape else int(np.prod(index.shape, dtype=int))
    flat = g.reshape(index, [-1] if count else [0], Meta((count,), index.dtype))
    shape = (*x.shape[:axis], count, *x.shape[axis + 1 :])
    found = g.op("gather", x, flat, axis, meta=Meta(shape, x.dtype))
    around = [g.size(x, i) for i in range(x.ndim)]
    sizes = [*around[:axis], *[g.size(index, i) for i in range(index.ndim)], *around[axis + 1 :]]
    return g.reshape(found, sizes, g.metas[0])


@FORMS("gather_nd")
def gather_nd(g: Emitter, x: Value, index: Value) -> Value:
    """gather_nd."""
    return g.op("gather_nd", x, index, meta=g.metas[0])


@FORMS("take_along_axis")
def take_along_axis(g: Emitter, x: Value, index: Value, *, axis: int, broadcast: bool) -> Value:
    """take_along_axis, of an index that is spread first where it broadcasts."""
    if broadcast:
        (index,) = _along(g, x, index, axis, index)
    elif index.shape[:axis] + index.shape[axis + 1 :] != x.shape[:axis] + x.shape[axis + 1 :]:
        x = _as_wide_as(g, x, index, axis)
    return g.op("take_along_axis", x, index, meta=g.metas[0], axis=axis)


def _as_wide_as(g: Emitter, x: Value, index: Value, axis: int) -> Value:
    """What the index reaches of x: it is as long as the index but along the axis."""
    axes = [i for i in range(x.ndim) if i != axis]
    ends = g.sizes([g.size(index, i) for i in axes])
    flags = [1 if isinstance(ends, list) else -1] * len(axes)
    meta = Meta(tuple(x.shape[i] if i == axis else index.shape[i] for i in range(x.ndim)), x.dtype)
    starts = [0] * len(axes) if isinstance(ends, list) else g.stored(np.zeros(len(axes), np.int64))
    return g.op("slice", x, starts, ends, meta=meta, axes=axes, infer_flags=flags, decrease_axis=[])


def _along(g: Emitter, x: Value, index: Value, axis: int, *values: Value) -> list[Value]:
    """Values in the shape of x, but that of the index along the axis."""
    shape = (*x.shape[:axis], index.shape[axis], *x.shape[axis + 1 :])
    if UNKNOWN not in shape:
        return [v if v.shape == shape else g.expand(v, list(shape), shape) for v in values]
    sizes = g.sizes([g.size(index if i == axis else x, i) for i in range(x.ndim)])
    return [g.expand(v, sizes, shape) for v in values]


@FORMS("index_get")
def index_get(g: Emitter, x: Value, *indices: Value, axes: Any) -> Value:
    """gather at one index of one dimension; else gather_nd, behind a transposition where other dimensions lead."""
    axes = list(axes)
    if any(v.dtype is bool_ for v in indices):
        return _gather_mask(g, x, indices, axes)
    if len(indices) == 1 and indices[0].ndim == 1:
        return g.op("gather", x, _wrapped(g, x, indices[0], axes[0]), axes[0], meta=g.metas[0])
    order = [*axes, *[i for i in range(x.ndim) if i not in axes]]
    out = g.metas[0]
    depth = len(out.shape) - x.ndim + len(axes)  # dimensions of the index
    lead = axes[0] if axes == list(range(axes[0], axes[0] + len(axes))) else 0
    shape = (*out.shape[lead : lead + depth], *out.shape[:lead], *out.shape[lead + depth :])
    moved = x if order == sorted(order) else g.transpose(x, order)
    found = g.op("gather_nd", moved, _places(g, x, indices, axes), meta=Meta(shape, x.dtype))
    if not lead:
        return found
    return g.transpose(found, [*range(depth, depth + lead), *range(depth), *range(depth + lead, len(shape))])


def _wrapped(g: Emitter, x: Value, index: Value, axis: int) -> Value:
    """An index without negative numbers."""
    size = g.size(x, axis)
    wide = size if isinstance(size, Value) else g.full(size, int64)
    return g.op("remainder", g.cast(index, int64), wide, meta=Meta(index.shape, int64))


def _places(g: Emitter, x: Value, indices: Sequence[Value], axes: Sequence[int]) -> Value:
    """What indices of these dimensions spell out, broadcast against each other, as gather_nd takes it."""
    parts = [_wrapped(g, x, index, axis) for index, axis in zip(indices, axes)]
    names = [f"index {i}" for i in range(len(parts))]
    shape = broadcast_shapes("getitem", [v.shape for v in parts], names)
    if any(v.shape != shape for v in parts):  # sums of zeros broadcast, for sizes that only the run knows, too
        zero = g.full(0, int64)
        total = g.op("multiply", parts[0], zero, meta=Meta(parts[0].shape, int64))
        for other in parts[1:]:
            wide = Meta(broadcast_shapes("getitem", [total.shape, other.shape], names), int64)
            total = g.op("add", total, g.op("multiply", other, zero, meta=other.meta), meta=wide)
        parts = [g.op("add", v, total, meta=Meta(shape, int64)) for v in parts]
    return g.op("stack", parts, meta=Meta((*shape, len(parts)), int64), axis=len(shape))


@FORMS("embedding")
def embedding(g: Emitter, x: Value, weight: Value, *, padding_idx: int | None) -> Value:
    """embedding; rows of the padding are zero."""
    padding = -1 if padding_idx is None else padding_idx
    return g.op("embedding", x, weight, meta=g.metas[0], padding_idx=padding, sparse=False)


@FORMS("one_hot")
def one_hot(g: Emitter, x: Value, *, num_classes: Any) -> Value:
    """one_hot."""
    return g.op("one_hot", x, known(num_classes), meta=g.metas[0])


def _gather_mask(g: Emitter, x: Value, indices: Sequence[Value], axes: Sequence[int]) -> Value:
    """gather_nd at the places of a mask over the first dimensions; gather at those of one over a later dimension."""
    if len(indices) > 1:
        raise UnsupportedError("an index of a mask and other tensors has no form in Paddle's programs")
    mask, first = indices[0], axes[0]
    places = g.op("nonzero", mask, meta=Meta((UNKNOWN, mask.ndim), int64))
    if not first:
        return g.op("gather_nd", x, places, meta=g.metas[0])
    if mask.ndim > 1:
        raise UnsupportedError("a mask of several dimensions behind others has no form in Paddle's programs")
    flat = g.reshape(places, [-1], Meta((UNKNOWN,), int64))
    return g.op("gather", x, flat, first, meta=g.metas[0])


# -- writing ---------------------------------------------------------------------------------------------------------


@FORMS("index_put")
@FORMS("setitem")
def setitem(g: Emitter, x: Value, value: Value, *indices: Value, index: Any, axes: Any) -> Value:
    """set_value of a slice; index_put at indices that are tensors."""
    value = g.cast(value, x.dtype)
    if not indices:
        return _put_slice(g, x, value, index)
    whole = all(isinstance(part, slice) and part == slice(None) for part in index)
    part = x if whole else _part(g, x, index)
    part = _put_at(g, part, value, indices, axes, False)
    return part if whole else _put_slice(g, x, part, index)


def _part(g: Emitter, x: Value, index: Any) -> Value:
    shape = basic_shape("setitem", x.meta, tuple(slice(None) if isinstance(p, Value) else p for p in index))
    if any(isinstance(p, Value) for p in index):
        raise UnsupportedError("writing at an index of tensors behind a number that only the run knows has no form")
    around = g.metas
    g.metas = (Meta(tuple(shape), x.dtype),)
    found: Value = getitem(g, x, index=index)
    g.metas = around
    return found


def _put_slice(g: Emitter, x: Value, value: Value, index: Any) -> Value:
    value, index = _without_new(g, x, value, index)
    cuts = _Cuts()
    turned: list[int] = []  # dimensions of the region, counted from the end, that run backwards
    for axis, part in enumerate(index):
        if isinstance(part, slice):
            bounds, turns = _bounds(x.shape[axis], part)
            cuts.add(axis, bounds)
            turned += [axis - x.ndim + sum(not isinstance(p, slice) for p in index[axis + 1 :])] * turns
        else:
            cuts.add(axis, (part, _next(g, part), 1))
            cuts.taken.append(axis)
    value = _turned(g, value, turned)
    if not cuts.axes:
        cuts.add(0, (0, _LAST, 1))
    starts, ends = g.scalars(cuts.starts), g.scalars(cuts.ends)
    attrs = {"axes": cuts.axes, "decrease_axes": cuts.taken, "none_axes": []}
    copy = g.op("assign", x)  # the operator writes into what it is given
    return g.op("set_value_with_tensor_", copy, value, starts, ends, cuts.steps, meta=x.meta, **attrs)


def _without_new(g: Emitter, x: Value, value: Value, index: Any) -> tuple[Value, list[Any]]:
    """The value without what stands at new dimensions of the index, all of size 1, and the index without these."""
    kept = [part for part in index if part is not None]
    if len(kept) == len(index):
        return value, kept
    after = x.ndim - len(kept)  # dimensions that the index does not name
    places = []
    for part in reversed(index):
        if part is None:
            places.append(after)
        after += part is None or isinstance(part, slice)
    gone = sorted(value.ndim - 1 - place for place in places if place < value.ndim)
    if not gone:
        return value, kept
    shape = tuple(size for i, size in enumerate(value.shape) if i not in gone)
    return g.op("squeeze", value, gone, meta=Meta(shape, value.dtype)), kept


def _turned(g: Emitter, value: Value, places: Sequence[int]) -> Value:
    """The value turned round along these dimensions, counted from the end, where it has more than one element."""
    found = [place for place in places if value.ndim >= -place and value.shape[place] != 1]
    if any(value.shape[place] == UNKNOWN for place in found):
        raise UnsupportedError("writing backwards what has an unknown size has no form in Paddle's programs")
    return g.op("flip", value, axis=[place + value.ndim for place in found]) if found else value


def _put_at(g: Emitter, x: Value, value: Value, indices: Sequence[Value], axes: Any, add: bool) -> Value:
    """index_put, whose indices stand before the other dimensions."""
    axes = list(axes)
    number = g.number(value)
    if number is not None and g.old:  # oneDNN makes what fill_constant gives, in a layout that index_put takes not
        value = g.stored(np.full([1], number, value.dtype.np))
    given = [v if v.dtype is bool_ or v.dtype is int64 else g.cast(v, int64) for v in indices]
    if axes == list(range(len(axes))):
        value = value if value.ndim else g.reshape(value, [1])
        return g.op("index_put", x, given, value, meta=x.meta, accumulate=add)
    if any(v.dtype is bool_ for v in given):
        raise UnsupportedError("writing at a mask behind other dimensions has no form in Paddle's programs")
    order = [*axes, *[i for i in range(x.ndim) if i not in axes]]
    turned = g.transpose(x, order)
    depth = max(v.ndim for v in given)
    one = _in_order(g, value, axes, x.ndim - len(axes), depth)
    put = g.op("index_put", turned, given, one, meta=turned.meta, accumulate=add)
    return g.transpose(put, [order.index(i) for i in range(x.ndim)])


def _in_order(g: Emitter, value: Value, axes: Any, rest: int, depth: int) -> Value:
    """The value with the dimensions of the indices in front, as index_put has them.

    They already are there where the indices are not beside each other.
    """
    if all(size == 1 for size in value.shape):
        return g.reshape(value, [1])
    lead = axes[0] if axes == list(range(axes[0], axes[0] + len(axes))) else 0
    whole = g.unsqueeze(value, list(range(depth + rest - value.ndim)))
    if not lead:
        return whole
    places = range(lead, lead + depth)
    return g.transpose(whole, [*places, *[i for i in range(whole.ndim) if i not in places]])


@FORMS("index_put_add")
def index_put_add(g: Emitter, x: Value, value: Value, *indices: Value, axes: Any) -> Value:
    """index_put that adds."""
    return _put_at(g, x, value, indices, axes, True)


@FORMS("getitem_adjoint")
def getitem_adjoint(g: Emitter, x: Value, like: Value, *, index: Any) -> Value:
    """Zeros with x written at a slice."""
    zeros = g.op("full_like", like, 0.0, meta=Meta(like.shape, x.dtype), dtype=x.dtype)
    return _put_slice(g, zeros, x, index)


@FORMS("scatter")
def scatter(g: Emitter, x: Value, index: Value, updates: Value, *, overwrite: bool) -> Value:
    """scatter."""
    return g.op("scatter", x, index, updates, overwrite=overwrite)


@FORMS("scatter_nd_add")
def scatter_nd_add(g: Emitter, x: Value, index: Value, updates: Value) -> Value:
    """scatter_nd_add."""
    return g.op("scatter_nd_add", x, index, updates)


@FORMS("index_add")
def index_add(g: Emitter, x: Value, index: Value, value: Value, *, axis: int) -> Value:
    """index_add."""
    return g.op("index_add", x, index, value, axis=axis)


@FORMS("put_along_axis", "put_along_axis_chosen")
def put_along_axis(
    g: Emitter, x: Value, index: Value, values: Value, *, axis: int, reduce: str, include_self: bool, broadcast: bool
) -> Value:
    """put_along_axis; index and values are spread first where they broadcast."""
    if broadcast:
        index, values = _along(g, x, index, axis, index, values)
    return g.op("put_along_axis", x, index, values, axis=axis, reduce=reduce, include_self=include_self)
