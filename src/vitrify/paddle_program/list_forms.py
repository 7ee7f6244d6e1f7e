"""Paddle's forms of lists whose length only the run knows: a list is the tensor of its items, one above the other.

Items must be of one shape then: PaddlePaddle says so where they are not. Its own arrays of tensors hold any, but in
programs of its two formats they are not the same thing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.dtype import DType, bool_, int64
from ..core.errors import UnsupportedError
from ..core.meta import UNKNOWN, Meta
from .emitter import FORMS, Emitter, Value
from .index_forms import getitem


@FORMS("list_of")
def list_of(g: Emitter, *items: Value, item: Any) -> Value:
    """stack; full of no items where there are none."""
    meta = g.metas[0]
    if items:
        return g.op("stack", [g.cast(i, meta.dtype) for i in items], meta=meta, axis=0)
    return g.full(0, meta.dtype, (0, *[0 if size == UNKNOWN else size for size in meta.shape[1:]]))


@FORMS("list_len")
def list_len(g: Emitter, x: Value) -> Value:
    """The first size."""
    return _length(g, x)


@FORMS("list_append")
def list_append(g: Emitter, x: Value, item: Value) -> Value:
    """concat."""
    new = _alone(g, item)
    return _joined(g, [_fitted(g, x, new), new])


@FORMS("list_extend")
def list_extend(g: Emitter, x: Value, y: Value) -> Value:
    """concat."""
    return _joined(g, [_fitted(g, x, y), _fitted(g, y, x)])


@FORMS("list_get")
def list_get(g: Emitter, x: Value, *, index: Any) -> Value:
    """gather, which refuses a place outside of the list."""
    at = g.reshape(_counted(g, x, index), [1])
    found = g.op("gather", x, at, 0, meta=Meta((1, *x.shape[1:]), x.dtype))
    return g.op("squeeze", found, [0], meta=Meta(x.shape[1:], x.dtype))


@FORMS("list_set", "list_put")
def list_set(g: Emitter, x: Value, item: Value, *, index: Any) -> Value:
    """concat of what is before, the item and what is behind."""
    at, new = _counted(g, x, index), _alone(g, item)
    x = _fitted(g, x, new)
    return _joined(g, [_part(g, x, None, at), new, _part(g, x, _after(g, at), None)])


@FORMS("list_remove")
def list_remove(g: Emitter, x: Value, *, index: Any) -> Value:
    """concat of what is before and what is behind."""
    at = _counted(g, x, index)
    return _joined(g, [_part(g, x, None, at), _part(g, x, _after(g, at), None)])


@FORMS("list_slice")
def list_slice(g: Emitter, x: Value, *, start: Any, stop: Any, step: Any) -> Value:
    """As x[start:stop:step]."""
    found: Value = getitem(g, x, index=(slice(start, stop, step),))
    return found


@FORMS("list_order")
def list_order(g: Emitter, x: Value, order: Value) -> Value:
    """gather."""
    return g.op("gather", x, order, 0, meta=g.metas[0])


@FORMS("list_cast")
def list_cast(g: Emitter, x: Value, *, dtype: DType) -> Value:
    """cast."""
    return g.cast(x, dtype)


@FORMS("list_sum")
def list_sum(g: Emitter, x: Value, *, dtype: DType) -> Value:
    """sum over the items."""
    meta = g.metas[0]
    return g.op("sum", g.cast(x, meta.dtype), [0], meta=meta, dtype=meta.dtype, keepdim=False, reduce_all=False)


@FORMS("list_stack")
def list_stack(g: Emitter, x: Value, *, axis: int) -> Value:
    """The list, its items along another dimension."""
    places = list(range(1, x.ndim))
    places.insert(axis % x.ndim, 0)
    return g.transpose(x, places) if axis % x.ndim else g.op("assign", x)


@FORMS("list_join")
def list_join(g: Emitter, x: Value, *, axis: int) -> Value:
    """The items beside that dimension of theirs, and both made one."""
    at = axis % (x.ndim - 1)
    if x.shape[at + 1] == UNKNOWN:
        raise UnsupportedError("tensors of a list joined where sizes may differ have no form in Paddle's programs")
    places = list(range(1, x.ndim))
    places.insert(at, 0)
    beside = g.transpose(x, places) if at else x
    sizes = [g.size(beside, i) for i in range(beside.ndim) if i not in (at, at + 1)]
    return g.reshape(beside, [*sizes[:at], -1, *sizes[at:]], Meta(g.metas[0].shape, x.dtype))


@FORMS("list_unstack")
def list_unstack(g: Emitter, x: Value, *, axis: int) -> Value:
    """x, that dimension first."""
    at = axis % x.ndim
    return g.transpose(x, [at, *(i for i in range(x.ndim) if i != at)]) if at else g.op("assign", x)


def _fitted(g: Emitter, x: Value, other: Value) -> Value:
    """A list whose items have sizes that only the run knows; of no items, it takes the sizes of the other's.

    They are 0 where it begins, which `concat` refuses beside other sizes.
    """
    if UNKNOWN not in x.shape[1:]:
        return x
    own, theirs = g.shape(x), g.shape(other)
    length = g.op("slice", own, [0], [1], meta=Meta((1,), int64), axes=[0], infer_flags=[1], decrease_axis=[])
    is_empty = g.op("equal", length, g.full(0, int64, [1]), meta=Meta((1,), bool_))
    sizes = g.op("where", g.expand(is_empty, [x.ndim], (x.ndim,)), theirs, own, meta=own.meta)
    first = g.stored(np.arange(x.ndim) == 0)
    return g.reshape(x, g.op("where", first, own, sizes, meta=own.meta), x.meta)


def _length(g: Emitter, x: Value) -> Value:
    size = g.size(x, 0)
    return size if isinstance(size, Value) else g.full(size, int64)


def _counted(g: Emitter, x: Value, index: Any) -> Value:
    """A place counted from the start."""
    if not isinstance(index, Value):
        return g.full(index, int64) if index >= 0 else _shifted(g, _length(g, x), index)
    at = g.cast(g.reshape(index, []) if index.ndim else index, int64)
    behind = g.op("add", at, _length(g, x), meta=Meta((), int64))
    is_behind = g.op("less_than", at, g.full(0, int64), meta=Meta((), bool_))
    return g.op("where", is_behind, behind, at, meta=Meta((), int64))


def _after(g: Emitter, at: Value) -> Value:
    return _shifted(g, at, 1)


def _shifted(g: Emitter, at: Value, by: int) -> Value:
    return g.op("scale", at, 1.0, bias=float(by), bias_after_scale=True)


def _part(g: Emitter, x: Value, start: Any, stop: Any) -> Value:
    found: Value = getitem(g, x, index=(slice(start, stop),))
    return found


def _alone(g: Emitter, item: Value) -> Value:
    return g.unsqueeze(item, [0])


def _joined(g: Emitter, parts: Sequence[Value]) -> Value:
    meta = g.metas[0]
    return g.op("concat", [g.cast(p, meta.dtype) for p in parts], 0, meta=meta)
