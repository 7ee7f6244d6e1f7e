"""ONNX forms of reading and writing at indices."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from ..core.dtype import DType, bool_, float32, float64, int64
from ..core.errors import UnsupportedError
from ..core.meta import UNKNOWN
from .graph import Value
from .table import FORMS, Context

_LAST = np.iinfo(np.int64).max
_FIRST = np.iinfo(np.int64).min

# -- reading -----------------------------------------------------------------------------------------------------------


@FORMS("getitem")
def getitem(g: Context, x: Value, *, index: Any) -> Value:
    """Slice, then Gather for the ints, then Unsqueeze for new dimensions."""
    cuts, picks, new = [], [], []
    axis = place = 0
    for part in index:
        if part is None:
            new.append(place)
            place += 1
            continue
        if isinstance(part, slice):
            bounds = _bounds(x.shape[axis] if x.shape else UNKNOWN, part)
            if bounds is not None:
                cuts.append((axis, *bounds))
            place += 1
        else:
            picks.append((axis, part))
        axis += 1
    if cuts:
        axes, starts, stops, steps = zip(*cuts)
        x = g.node("Slice", x, *map(g.ints, (list(starts), list(stops), list(axes), list(steps))))
    for at, part in reversed(picks):
        x = g.gather(x, g.scalar(part) if isinstance(part, Value) else part, at)
    return g.unsqueeze(x, new)


def _bounds(size: int, part: slice) -> tuple[Any, Any, Any] | None:
    """Start, stop and step as Slice wants them; None for the whole dimension."""
    step = 1 if part.step is None else part.step
    given = (part.start, part.stop, step)
    if part.start is None and part.stop is None and step == 1 and isinstance(step, int):
        return None
    if size != UNKNOWN and not any(isinstance(v, Value) for v in given):
        start, stop, step = part.indices(size)
        if not len(range(start, stop, step)):
            return 0, 0, 1
        return start, _FIRST if stop < 0 else stop, step
    if isinstance(step, Value):
        raise UnsupportedError("a slice whose step is known only at run time has no ONNX form")
    first, last = (0, _LAST) if step > 0 else (_LAST, _FIRST)
    return first if part.start is None else part.start, last if part.stop is None else part.stop, step


def _places(g: Context, indices: Sequence[Value], axes: Any) -> tuple[list[Value], list[int], bool]:
    """Integer index tensors, the dimensions that they take, and whether these lie side by side."""
    found: list[Value] = []
    taken: list[int] = []
    for index, axis in zip(indices, axes):
        if index.dtype is bool_:
            rows = g.node("NonZero", index)
            for i in range(index.ndim):
                place = g.gather(rows, i, 0)
                found.append(Value(g, place.name, int64, (UNKNOWN,)))
                taken.append(axis + i)
        else:
            wide = index.cast(int64)
            found.append(Value(g, wide.name, int64, index.shape))
            taken.append(axis)
    return found, taken, taken == list(range(taken[0], taken[0] + len(taken)))


def index_get_value(g: Context, x: Value, indices: Sequence[Value], axes: Any) -> tuple[Value, int]:
    """x at index arrays, by NumPy's rules, and how many dimensions that has."""
    found, taken, adjacent = _places(g, indices, axes)
    rest = [i for i in range(x.ndim) if i not in taken]
    joint = max(len(f.shape or ()) for f in found)
    rank = joint + len(rest)
    if len(found) == 1:
        return g.node("Gather", x, found[0], axis=taken[0]), rank
    zero = reduce(operator.add, [f * 0 for f in found])
    coordinates = g.node("Concat", *[g.unsqueeze(f + zero, [joint]) for f in found], axis=joint)
    out = g.node("GatherND", g.transpose(x, [*taken, *rest]), _from_start(g, x, coordinates, taken))
    at = taken[0] if adjacent else 0
    before = list(range(joint, joint + at))
    return g.transpose(out, [*before, *range(joint), *range(joint + at, rank)]), rank


def _from_start(g: Context, x: Value, coordinates: Value, axes: Sequence[int]) -> Value:
    """Coordinates in which none is negative: runtimes differ in whether they take those."""
    sizes = g.ints([g.size(x, a) for a in axes])
    return g.where(coordinates < 0, coordinates + sizes, coordinates)


@FORMS("index_get")
def index_get(g: Context, x: Value, *indices: Value, axes: Any) -> Value:
    """Gather, or GatherND of all index arrays side by side."""
    return index_get_value(g, x, indices, axes)[0]


@FORMS("gather")
def gather(g: Context, x: Value, index: Value, *, axis: int) -> Value:
    """Gather."""
    return g.gather(x, index, axis)


@FORMS("gather_nd")
def gather_nd(g: Context, x: Value, index: Value) -> Value:
    """GatherND."""
    depth = index.shape[-1] if index.shape else UNKNOWN
    if depth < 1:
        raise UnsupportedError("GatherND takes indices of at least one coordinate")
    return g.node("GatherND", x, _from_start(g, x, index.cast(int64), range(depth)))


def _along(g: Context, x: Value, index: Value, axis: int, broadcast: bool) -> Value:
    """The index with x's sizes in the other dimensions, if it is broadcast; int64, not negative."""
    n = g.size(x, axis)
    wide = index.cast(int64)
    if broadcast:
        sizes: list[Any] = [1 if i == axis else g.size(x, i) for i in range(x.ndim)]
        wide = g.node("Expand", wide, g.ints(sizes))
    return g.where(wide < 0, wide + g.scalar(n), wide)


@FORMS("take_along_axis")
def take_along_axis(g: Context, x: Value, index: Value, *, axis: int, broadcast: bool) -> Value:
    """GatherElements."""
    return g.node("GatherElements", x, _along(g, x, index, axis, broadcast), axis=axis)


@FORMS("embedding")
def embedding(g: Context, x: Value, weight: Value, *, padding_idx: int | None) -> Value:
    """Gather; rows of the padding id are zero."""
    rows = g.gather(weight, x, 0)
    if padding_idx is None:
        return rows
    is_padding = g.unsqueeze(g.both("Equal", x, padding_idx), [x.ndim])
    return g.where(is_padding, g.constant(0, weight.dtype), rows)


# -- writing -----------------------------------------------------------------------------------------------------------


def _numbered(g: Context, x: Value) -> Value:
    """The number of each element of x, in x's shape."""
    places = g.node("Reshape", g.arange(g.node("Size", x)), g.sizes(x), allowzero=1)
    return Value(g, places.name, int64, x.shape)


def _written(g: Context, x: Value, places: Value, values: Value, reduction: str = "none") -> Value:
    """x with `values` at the elements numbered `places`, of one shape."""
    flat, at, new = (g.reshape(v, [-1]) for v in (x, places, values))
    kind = None if reduction == "none" else reduction
    out = g.node("ScatterElements", flat, at, new, axis=0, reduction=kind)
    return g.node("Reshape", out, g.sizes(x), allowzero=1)


@FORMS("index_put")
@FORMS("setitem")
def setitem(g: Context, x: Value, value: Any, *indices: Value, index: Any, axes: Any) -> Value:
    """The numbers of the elements are indexed like x itself; ScatterElements puts the value there."""
    region = getitem(g, _numbered(g, x), index=index)
    rank = sum(1 for part in index if part is None or isinstance(part, slice))
    if indices:
        part = Value(g, region.name, int64, (UNKNOWN,) * rank)
        region, rank = index_get_value(g, part, indices, axes)
    given = g.like(value, x).cast(x.dtype)
    extra = len(given.shape or ()) - rank
    given = g.squeeze(given, list(range(extra))) if extra > 0 else given
    return _written(g, x, region, g.node("Expand", given, g.node("Shape", region)))


@FORMS("scatter")
def scatter(g: Context, x: Value, index: Value, updates: Value, *, overwrite: bool) -> Value:
    """ScatterND of rows; without `overwrite` these are first set to zero and then added to."""
    if not index.ndim:
        index, updates = Value(g, g.unsqueeze(index, [0]).name, index.dtype, (1,)), g.unsqueeze(updates, [0])
    rows = g.unsqueeze(_from_start(g, x, index.cast(int64), [0]), [1])
    if overwrite:
        return g.node("ScatterND", x, rows, updates)
    cleared = g.node("ScatterND", x, rows, updates * 0)
    return g.node("ScatterND", cleared, rows, updates, reduction="add")


@FORMS("scatter_nd_add")
def scatter_nd_add(g: Context, x: Value, index: Value, updates: Value) -> Value:
    """ScatterND that adds."""
    depth = index.shape[-1] if index.shape else UNKNOWN
    if depth < 1:
        raise UnsupportedError("ScatterND takes indices of at least one coordinate")
    return g.node("ScatterND", x, _from_start(g, x, index.cast(int64), range(depth)), updates, reduction="add")


@FORMS("index_add")
def index_add(g: Context, x: Value, index: Value, value: Value, *, axis: int) -> Value:
    """ScatterElements that adds at the numbers of the slices' elements."""
    return _written(g, x, g.gather(_numbered(g, x), index, axis), value, "add")


@FORMS("index_put_add")
def index_put_add(g: Context, x: Value, value: Value, *indices: Value, axes: Any) -> Value:
    """ScatterElements that adds at the numbers of the elements."""
    region, _ = index_get_value(g, _numbered(g, x), indices, axes)
    return _written(g, x, region, g.node("Expand", value, g.node("Shape", region)), "add")


@FORMS("put_along_axis", "put_along_axis_chosen")
def put_along_axis(
    g: Context, x: Value, index: Value, values: Value, *, axis: int, reduce: str, include_self: bool, broadcast: bool
) -> Value:
    """ScatterElements with a reduction."""
    places = _along(g, x, index, axis, broadcast)
    size = g.node("Shape", places)
    given = g.node("Expand", values, size)
    kind = {"assign": "none", "add": "add", "mul": "mul", "amin": "min", "amax": "max"}.get(reduce)
    if kind is None:
        raise UnsupportedError(f"ScatterElements has no reduction {reduce!r}")
    if kind in ("min", "max"):
        g.needs_opset(18, f"put_along_axis with reduce={reduce!r}")
    if kind != "none" and not include_self:  # what changes nothing stands there first
        start = g.node("Expand", g.scalar(_neutral(kind, x.dtype), x.dtype), size)
        x = g.node("ScatterElements", x, places, start, axis=axis)
    reduction = None if kind == "none" else kind
    return g.node("ScatterElements", x, places, given, axis=axis, reduction=reduction)


def _neutral(kind: str, dtype: DType) -> Any:
    """What combines with any number to that number."""
    if kind in ("add", "mul"):
        return int(kind == "mul")
    limits = np.iinfo(dtype.np) if dtype.np.kind in "iu" else None
    if limits is None:
        return np.inf if kind == "min" else -np.inf
    return limits.max if kind == "min" else limits.min


@FORMS("masked_scatter")
def masked_scatter(g: Context, x: Value, mask: Value, value: Value) -> Value:
    """Each True takes the value of its number, counted by CumSum."""
    sizes = g.node("Shape", g.where(mask, x, x))
    hits = g.node("Expand", mask, sizes)
    count = g.node("CumSum", g.reshape(hits, [-1]).cast(int64), g.constant(0)) - 1
    found = g.node("Gather", g.reshape(value, [-1]), g.node("Max", count, g.constant(0)), axis=0)
    return g.where(hits, g.node("Reshape", found, sizes), g.node("Expand", x, sizes))


@FORMS("nonzero")
def nonzero(g: Context, x: Value) -> Value:
    """NonZero, transposed."""
    return g.node("Transpose", g.node("NonZero", x), perm=[1, 0])


@FORMS("getitem_adjoint")
def getitem_adjoint(g: Context, x: Value, like: Value, *, index: Any) -> Value:
    """Zeros with x at an index: what writing into a part of a tensor is made of where a loop carries it."""
    zeros = g.node("Expand", g.scalar(0, x.dtype), g.sizes(like))
    found: Value = setitem(g, Value(g, zeros.name, x.dtype, like.shape), x, index=index, axes=())
    return found


@FORMS("bincount")
def bincount(g: Context, x: Value, weights: Value | None, *, minlength: int) -> Value:
    """Each number is compared with all that may occur."""
    numbers = x.cast(int64)
    least = g.constant(np.array([-1, minlength - 1]), int64)
    largest = g.reduce("ReduceMax", g.node("Concat", numbers, least, axis=0), [0], False)
    known = g.arange(largest + 1)
    hits = g.node("Equal", g.unsqueeze(numbers, [1]), g.unsqueeze(known, [0]))
    kind = int64 if weights is None else float32 if weights.dtype is float32 else float64
    counted: Value = Value(g, hits.name, bool_, (UNKNOWN, UNKNOWN)).cast(kind)
    if weights is not None:
        counted = counted * g.unsqueeze(weights.cast(kind), [1])
    found: Value = g.reduce("ReduceSum", counted, [0], False)
    return found
