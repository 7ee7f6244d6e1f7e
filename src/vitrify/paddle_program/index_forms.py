"""Paddle's forms of reading and writing at indices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core.dtype import bool_, int64
from ..core.errors import UnsupportedError
from ..core.meta import UNKNOWN, Meta
from .emitter import FORMS, Emitter, Value, known

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
        raise UnsupportedError("a slice backwards over an unknown size has no form in Paddle's programs")
    return (0 if part.start is None else part.start, _LAST if part.stop is None else part.stop, step), False


def _cut(g: Emitter, x: Value, cuts: _Cuts, meta: Meta) -> Value:
    if not cuts.axes:
        return x if cuts.turned or cuts.new else g.op("assign", x)
    starts, ends, flags = g.sizes(cuts.starts), g.sizes(cuts.ends), [1] * len(cuts.axes)
    if all(step == 1 for step in cuts.steps):
        return g.op("slice", x, starts, ends, meta=meta, axes=cuts.axes, infer_flags=flags, decrease_axis=cuts.taken)
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
    if UNKNOWN in index.shape:
        raise UnsupportedError("a gather at an index of several dimensions of unknown size has no form")
    flat = g.reshape(index, [int(np.prod(index.shape, dtype=int))])
    shape = (*x.shape[:axis], flat.shape[0], *x.shape[axis + 1 :])
    return g.reshape(g.op("gather", x, flat, axis, meta=Meta(shape, x.dtype)), list(g.metas[0].shape), g.metas[0])


@FORMS("gather_nd")
def gather_nd(g: Emitter, x: Value, index: Value) -> Value:
    """gather_nd."""
    return g.op("gather_nd", x, index, meta=g.metas[0])


@FORMS("take_along_axis")
def take_along_axis(g: Emitter, x: Value, index: Value, *, axis: int, broadcast: bool) -> Value:
    """take_along_axis, without broadcasting."""
    if index.shape[:axis] + index.shape[axis + 1 :] != x.shape[:axis] + x.shape[axis + 1 :]:
        raise UnsupportedError("take_along_axis that broadcasts has no form in Paddle's programs")
    return g.op("take_along_axis", x, index, meta=g.metas[0], axis=axis)


@FORMS("index_get")
def index_get(g: Emitter, x: Value, *indices: Value, axes: Any) -> Value:
    """gather at one index of one dimension."""
    if len(indices) != 1 or indices[0].ndim != 1 or indices[0].dtype is bool_:
        raise UnsupportedError("an index of several tensors, or of bool, has no form in Paddle's programs here")
    size = g.size(x, axes[0])
    index = g.cast(indices[0], int64)
    wide = size if isinstance(size, Value) else g.full(size, int64)
    return g.op("gather", x, g.op("remainder", index, wide), axes[0], meta=g.metas[0])


@FORMS("embedding")
def embedding(g: Emitter, x: Value, weight: Value, *, padding_idx: int | None) -> Value:
    """embedding; rows of the padding are zero."""
    padding = -1 if padding_idx is None else padding_idx
    return g.op("embedding", x, weight, meta=g.metas[0], padding_idx=padding, sparse=False)


@FORMS("one_hot")
def one_hot(g: Emitter, x: Value, *, num_classes: Any) -> Value:
    """one_hot."""
    return g.op("one_hot", x, known(num_classes), meta=g.metas[0])
