"""ONNX forms of ops that make, move, cut and join tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtype import DType, bool_, int64
from ..core.errors import UnsupportedError
from ..core.meta import UNKNOWN
from ..core.sequences import as_list
from ..ops.like import IN_FILES_THE_SAME
from .graph import Value
from .table import FORMS, Context

_FIRST = np.iinfo(np.int64).min

# -- made of attributes ------------------------------------------------------------------------------------------------


@FORMS("full")
def full(g: Context, *, shape: Any, fill_value: Any, dtype: DType) -> Value:
    """Expand of the value."""
    value = g.scalar(fill_value, dtype)
    sizes = list(shape) if isinstance(shape, (list, tuple)) else shape
    return value if sizes == [] else g.node("Expand", value, g.ints(sizes))


@FORMS("full_like")
def full_like(g: Context, x: Value, *, fill_value: Any, dtype: DType) -> Value:
    """Expand of the value to the shape of x."""
    return g.node("Expand", g.constant(fill_value, dtype), g.sizes(x))


@FORMS("assign_value")
def assign_value(g: Context, *, values: Any, shape: Any, dtype: DType) -> Value:
    """A constant."""
    return g.constant(np.asarray(values, dtype.np).reshape(shape))


@FORMS("arange")
def arange(g: Context, *, start: Any, end: Any, step: Any, dtype: DType) -> Value:
    """A constant, or Range; computed as start + i * step, so that errors do not add up."""
    if not any(isinstance(v, Value) for v in (start, end, step)):
        count = max(int(np.ceil((end - start) / step)), 0)
        return g.constant((start + np.arange(count) * step).astype(dtype.np))
    wide = any(v.dtype.is_floating if isinstance(v, Value) else isinstance(v, float) for v in (start, end, step))
    kind = "float64" if wide else int64
    first, last, by = (g.scalar(v, kind) for v in (start, end, step))
    steps = g.node("Ceil", (last - first).cast("float64") / by.cast("float64")).cast(int64)
    return (g.arange(steps).cast(kind) * by + first).cast(dtype)


@FORMS("linspace")
def linspace(g: Context, *, start: Any, stop: Any, num: Any, base: Any, dtype: DType) -> Value:
    """A constant; at run time start + i * (stop - start) / (num - 1)."""
    if not any(isinstance(v, Value) for v in (start, stop, num, base)):
        points = np.linspace(start, stop, num)
        return g.constant((points if base is None else base**points).astype(dtype.np))
    first, last, count = (g.scalar(v, "float64") for v in (start, stop, num))
    gaps = g.node("Max", count - 1, g.constant(1.0))
    found = g.arange(g.scalar(num)).cast("float64") * ((last - first) / gaps) + first
    return (found if base is None else g.both("Pow", g.scalar(base, "float64"), found)).cast(dtype)


@FORMS("eye")
def eye(g: Context, *, num_rows: Any, num_columns: Any, dtype: DType) -> Value:
    """A constant, or rows compared with columns."""
    if not isinstance(num_rows, Value) and not isinstance(num_columns, Value):
        return g.constant(np.eye(num_rows, num_columns, dtype=dtype.np))
    rows, columns = g.arange(num_rows), g.arange(num_columns)
    return (g.unsqueeze(rows, [1]) == g.unsqueeze(columns, [0])).cast(dtype)


@FORMS("one_hot")
def one_hot(g: Context, x: Value, *, num_classes: Any) -> Value:
    """Each number compared with all classes."""
    count = num_classes
    if isinstance(count, int) and count == -1:
        count = g.node("ReduceMax", x.cast(int64), keepdims=0) + 1
    return (g.unsqueeze(x, [x.ndim]).cast(int64) == g.arange(count)).cast("float32")


@FORMS("triangle_indices")
def triangle_indices(g: Context, *, rows: Any, cols: Any, offset: Any, lower: bool, dtype: DType) -> Value:
    """A constant, or the places where columns and rows compare."""
    if any(isinstance(v, Value) for v in (rows, cols, offset)):
        row, column = g.unsqueeze(g.arange(rows), [1]) + offset, g.unsqueeze(g.arange(cols), [0])
        inside = g.node("LessOrEqual", column, row) if lower else g.node("GreaterOrEqual", column, row)
        return g.node("NonZero", inside).cast(dtype)
    find = np.tril_indices if lower else np.triu_indices
    return g.constant(np.stack(find(rows, offset, cols)).astype(dtype.np))


# -- sizes -------------------------------------------------------------------------------------------------------------


@FORMS("shape")
def shape(g: Context, x: Value) -> Value:
    """Shape."""
    return g.sizes(x)


@FORMS("dim_size")
def dim_size(g: Context, x: Value, *, axis: int) -> Value:
    """One item of Shape."""
    return g.scalar(g.size(x, axis))


@FORMS("numel")
def numel(g: Context, x: Value) -> Value:
    """Size."""
    return g.node("Size", x)


@FORMS("rank")
def rank(g: Context, x: Value) -> Value:
    """A constant."""
    return g.constant(x.ndim, "int32")


@FORMS("is_empty")
def is_empty(g: Context, x: Value) -> Value:
    """Whether Size is 0."""
    return g.node("Size", x) == 0


# -- the same elements -------------------------------------------------------------------------------------------------


@FORMS("with_gradient")
def with_gradient(g: Context, *values: Value, backward: Any, count: int) -> list[Value]:
    """Identity of each result"""
    return [g.node("Identity", value) for value in values[:count]]


@FORMS(*IN_FILES_THE_SAME)
def identity(g: Context, x: Value, *_: Any, **__: Any) -> Value:
    """Identity."""
    return g.node("Identity", x)


@FORMS("one_element")
def one_element(g: Context, x: Value, *, what: str) -> Value:
    """Reshape."""
    return g.node("Reshape", x, g.ints([]))


@FORMS("cast")
def cast(g: Context, x: Value, *, dtype: DType) -> Value:
    """Cast; of floats to integers that are narrower than 32 bits by way of these, which all runtimes agree on."""
    if dtype.is_integer and dtype.itemsize < 4 and x.dtype.is_floating:
        return x.cast("int32").cast(dtype)
    return x.cast(dtype)


@FORMS("reshape")
def reshape(g: Context, x: Value, *, shape: Any) -> Value:
    """Reshape; a 0 copies a size, as in ONNX."""
    if not isinstance(shape, (list, tuple)):
        return g.reshape(x, shape)
    known = g.metas[0].shape
    if UNKNOWN not in known:
        return g.reshape(x, list(known))
    sizes = [g.size(x, i) if s == 0 and not isinstance(s, Value) and i < x.ndim else s for i, s in enumerate(shape)]
    return g.node("Reshape", x, g.ints(sizes))


@FORMS("reshape_like")
def reshape_like(g: Context, x: Value, y: Value) -> Value:
    """Reshape to the shape of y."""
    return g.node("Reshape", x, g.sizes(y), allowzero=1)


@FORMS("flatten")
def flatten(g: Context, x: Value, *, start_axis: int, stop_axis: int) -> Value:
    """Reshape."""
    known = g.metas[0].shape
    if UNKNOWN not in known:
        return g.reshape(x, list(known))
    sizes = [g.size(x, i) for i in range(x.ndim)]
    return g.node("Reshape", x, g.ints([*sizes[:start_axis], -1, *sizes[stop_axis + 1 :]]))


@FORMS("unflatten")
def unflatten(g: Context, x: Value, *, axis: int, shape: Any) -> Value:
    """Reshape."""
    known = g.metas[0].shape
    if UNKNOWN not in known:
        return g.reshape(x, list(known))
    parts = as_list(shape)
    sizes = [g.size(x, i) for i in range(x.ndim)]
    parts = [sizes[axis] if isinstance(p, int) and p == 0 else p for p in parts]
    return g.node("Reshape", x, g.ints([*sizes[:axis], *parts, *sizes[axis + 1 :]]))


@FORMS("squeeze")
def squeeze(g: Context, x: Value, *, axes: Any) -> Value:
    """Squeeze."""
    return g.squeeze(x, axes)


@FORMS("unsqueeze")
def unsqueeze(g: Context, x: Value, *, axes: Any) -> Value:
    """Unsqueeze."""
    return g.unsqueeze(x, axes)


@FORMS("transpose")
def transpose(g: Context, x: Value, *, perm: Any) -> Value:
    """Transpose."""
    return g.transpose(x, perm)


def to_channel_first(g: Context, x: Value) -> Value:
    """x [n, *s, c] as [n, c, *s]."""
    n = x.ndim
    return g.transpose(x, [0, n - 1, *range(1, n - 1)])


def to_channel_last(g: Context, x: Value, ndim: int | None = None) -> Value:
    """x [n, c, *s] as [n, *s, c]."""
    n = x.ndim if ndim is None else ndim
    return g.transpose(x, [0, *range(2, n), 1])


# -- repeated ----------------------------------------------------------------------------------------------------------


@FORMS("expand", "expand_view")
def expand(g: Context, x: Value, *, shape: Any) -> Value:
    """Expand; -1 keeps a size, which a 1 does in ONNX."""
    sizes = [1 if isinstance(s, int) and s == -1 else s for s in shape] if isinstance(shape, (list, tuple)) else shape
    if isinstance(sizes, Value):
        sizes = g.as_vector(sizes)
        sizes = g.where(sizes == -1, 1, sizes)
    return g.node("Expand", x, g.ints(sizes))


@FORMS("expand_like")
def expand_like(g: Context, x: Value, y: Value) -> Value:
    """Expand to the shape of y."""
    return g.node("Expand", x, g.sizes(y))


@FORMS("broadcast_tensors")
def broadcast_tensors(g: Context, *xs: Value) -> list[Value]:
    """Expand of each to the common shape."""
    known = g.metas[0].shape
    sizes = g.constant(list(known), int64) if UNKNOWN not in known else common_shape(g, xs)
    return [g.node("Expand", x, sizes) for x in xs]


def common_shape(g: Context, xs: Any) -> Value:
    """The shape that these broadcast to."""
    total = None
    for x in xs:
        zeros = g.node("Expand", g.constant(False), g.sizes(x))
        total = zeros if total is None else total | zeros
    assert total is not None
    return g.node("Shape", total)


@FORMS("tile")
def tile(g: Context, x: Value, *, repeat_times: Any) -> Value:
    """Tile, with ones in front of the shorter of sizes and repeats."""
    if not isinstance(repeat_times, (list, tuple)):
        return g.node("Tile", x, g.ints(repeat_times))
    missing = x.ndim - len(repeat_times)
    times = [*[1] * missing, *repeat_times]
    return g.node("Tile", g.unsqueeze(x, range(-missing)), g.ints(times)) if times else g.node("Identity", x)


@FORMS("repeat_interleave")
def repeat_interleave(g: Context, x: Value, repeats: Value | None, *, times: Any, axis: int) -> Value:
    """Gather of each slice as often as it is repeated."""
    size = g.size(x, axis)
    if repeats is None:
        places = g.unsqueeze(g.arange(size), [1])
        return g.gather(x, g.reshape(g.node("Expand", places, g.ints([1, times])), [-1]), axis)
    ends = g.node("CumSum", repeats.cast(int64), g.constant(0))
    total = g.node("ReduceSum", repeats.cast(int64), keepdims=0)
    passed = g.unsqueeze(g.arange(total), [1]) >= g.unsqueeze(ends, [0])
    return g.gather(x, g.node("ReduceSum", passed.cast(int64), g.ints([1]), keepdims=0), axis)


# -- cut and joined ----------------------------------------------------------------------------------------------------


@FORMS("concat")
def concat(g: Context, *xs: Value, axis: int) -> Value:
    """Concat."""
    return g.node("Concat", *xs, axis=axis)


@FORMS("stack")
def stack(g: Context, *xs: Value, axis: int) -> Value:
    """Concat along a new dimension."""
    return g.node("Concat", *[g.unsqueeze(x, [axis]) for x in xs], axis=axis)


@FORMS("split")
def split(g: Context, x: Value, *, sections: Any, axis: int) -> list[Value]:
    """Split into the sizes given."""
    dtypes = [x.dtype] * len(g.metas)
    if not isinstance(sections, (list, tuple)):
        if isinstance(g.size(x, axis), int):
            sections = [g.size(x, axis) // len(dtypes)] * len(dtypes)
        elif g.opset >= 18:
            return g.nodes_of("Split", [x], dtypes, axis=axis, num_outputs=len(dtypes))
        else:
            return g.nodes_of("Split", [x], dtypes, axis=axis)
    parts = list(sections)
    at = next((i for i, p in enumerate(parts) if isinstance(p, int) and p < 0), None)
    if at is not None:
        rest = g.scalar(g.size(x, axis))
        for part in [p for i, p in enumerate(parts) if i != at]:
            rest = rest - g.scalar(part)
        parts[at] = rest
    return g.nodes_of("Split", [x, g.ints(parts)], dtypes, axis=axis)


@FORMS("unstack")
def unstack(g: Context, x: Value, *, axis: int, num: Any) -> list[Value]:
    """A Gather for each slice."""
    return [g.gather(x, i, axis) for i in range(len(g.metas))]


@FORMS("flip")
def flip(g: Context, x: Value, *, axis: Any) -> Value:
    """Slice with steps of -1."""
    axes = as_list(axis)
    if not axes:
        return g.node("Identity", x)
    n = len(axes)
    return g.node("Slice", x, *map(g.ints, ([-1] * n, [_FIRST] * n, axes, [-1] * n)))


@FORMS("roll")
def roll(g: Context, x: Value, *, shifts: Any, axis: Any) -> Value:
    """Gather of the places (i - shift) mod n."""
    shape = g.sizes(x)
    if axis is None:
        flat = Value(g, g.reshape(x, [-1]).name, x.dtype, (UNKNOWN,))
        return g.node("Reshape", _rolled(g, flat, shifts, 0), shape)
    moves = shifts if isinstance(shifts, (list, tuple)) else [shifts]
    for shift, at in zip(moves, axis if isinstance(axis, (list, tuple)) else [axis]):
        x = Value(g, _rolled(g, x, shift, at).name, x.dtype, x.shape)
    return x


def _rolled(g: Context, x: Value, shift: Any, axis: int) -> Value:
    by = shift[0] if isinstance(shift, (list, tuple)) else shift
    size = g.size(x, axis)
    if isinstance(size, int) and not isinstance(by, Value):
        return g.gather(x, g.constant(np.remainder(np.arange(size) - by, max(size, 1))), axis)
    n = g.scalar(size)
    return g.gather(x, g.node("Mod", g.arange(n) - g.scalar(by), n), axis)


@FORMS("pad")
def pad(g: Context, x: Value, *, pads: Any, mode: str, value: Any) -> Value:
    """Pad: all that comes before, then all that comes after; wrapped around by Gather."""
    if not isinstance(pads, (list, tuple)):
        ends = g.node("Transpose", g.reshape(g.as_vector(pads), [-1, 2]), perm=[1, 0])
        amounts = g.reshape(ends, [-1])
    elif mode == "circular":
        return _wrapped(g, x, list(zip(pads[::2], pads[1::2])))
    else:
        amounts = g.ints([*pads[::2], *pads[1::2]])
    kind = {"constant": "constant", "reflect": "reflect", "replicate": "edge"}.get(mode)
    if kind is None:
        raise UnsupportedError(f"ONNX pads in no mode {mode!r} by amounts known only at run time")
    if x.dtype is bool_:
        return g.node("Pad", x.cast("uint8"), amounts, g.constant(int(value), "uint8"), mode=kind).cast(bool_)
    fill = g.constant(value, x.dtype) if kind == "constant" else None
    return g.node("Pad", x, amounts, fill, mode=kind)


def _wrapped(g: Context, x: Value, pairs: list[Any]) -> Value:
    for axis, (before, after) in enumerate(pairs):
        if isinstance(before, int) and isinstance(after, int) and not before and not after:
            continue
        n, low, high = (g.scalar(v) for v in (g.size(x, axis), before, after))
        places = g.node("Mod", g.arange(n + low + high) - low, n)
        x = Value(g, g.gather(x, places, axis).name, x.dtype, x.shape and tuple(
            UNKNOWN if i == axis else s for i, s in enumerate(x.shape)
        ))  # fmt: skip
    return x


# -- triangles and diagonals -------------------------------------------------------------------------------------------


@FORMS("tril")
def tril(g: Context, x: Value, *, diagonal: int) -> Value:
    """Trilu."""
    return g.node("Trilu", x, g.constant(diagonal, int64), upper=0)


@FORMS("triu")
def triu(g: Context, x: Value, *, diagonal: int) -> Value:
    """Trilu."""
    return g.node("Trilu", x, g.constant(diagonal, int64), upper=1)


@FORMS("causal_mask")
def causal_mask(g: Context, x: Value, *, fill: Any) -> Value:
    """`fill` above the diagonal, by comparing rows and columns."""
    return g.where(above_diagonal(g, g.size(x, -2), g.size(x, -1)), g.constant(fill, x.dtype), x)


def above_diagonal(g: Context, rows: Any, columns: Any) -> Value:
    """A matrix of so many rows and columns, true above the diagonal."""
    return g.unsqueeze(g.arange(columns), [0]) > g.unsqueeze(g.arange(rows), [1])


def known_sizes(x: Value, axes: Any, what: str) -> list[int]:
    """The sizes of these dimensions; raises UnsupportedError where one is unknown."""
    assert x.shape is not None
    sizes = [x.shape[a] for a in axes]
    if UNKNOWN in sizes:
        raise UnsupportedError(f"the ONNX form of {what} needs known sizes in dimensions {list(axes)}")
    return sizes


@FORMS("diagonal")
def diagonal(g: Context, x: Value, *, offset: int, axis1: int, axis2: int) -> Value:
    """Gather of the diagonal's places in the two dimensions merged into one."""
    rows, columns = known_sizes(x, (axis1, axis2), "diagonal")
    places = np.arange(rows * columns).reshape(rows, columns).diagonal(offset)
    rest = [i for i in range(x.ndim) if i not in (axis1, axis2)]
    moved = g.transpose(x, [*rest, axis1, axis2])
    flat = g.node("Reshape", moved, g.ints([*[g.size(x, i) for i in rest], rows * columns]))
    return g.gather(flat, g.constant(np.ascontiguousarray(places)), len(rest))


@FORMS("diag_embed")
def diag_embed(g: Context, x: Value, *, offset: int, dim1: int, dim2: int, padding_value: Any = 0) -> Value:
    """The last dimension times a pattern of ones."""
    (n,) = known_sizes(x, (-1,), "diag_embed")
    size = n + abs(offset)
    places = np.full((size, size), n)
    places[np.arange(n) + max(-offset, 0), np.arange(n) + max(offset, 0)] = np.arange(n)
    ends = [0] * (2 * x.ndim)
    ends[-1] = 1
    padded = pad(g, x, pads=_interleaved(ends, x.ndim), mode="constant", value=padding_value)
    out = g.gather(padded, g.constant(places), x.ndim - 1)
    rank = x.ndim + 1
    a, b = dim1 % rank, dim2 % rank
    rest = iter(range(rank - 2))
    return g.transpose(out, [rank - 2 if i == a else rank - 1 if i == b else next(rest) for i in range(rank)])


def _interleaved(ends: list[int], ndim: int) -> list[int]:
    """Pads as (before, after) of each dimension, from all before and then all after."""
    return [n for pair in zip(ends[:ndim], ends[ndim:]) for n in pair]


@FORMS("fill_diagonal")
def fill_diagonal(g: Context, x: Value, *, value: Any, offset: int, wrap: bool) -> Value:
    """Where, with a mask of the diagonal."""
    sizes = known_sizes(x, range(x.ndim), "fill_diagonal")
    mask = np.zeros(sizes, bool)
    if x.ndim > 2:
        mask[(np.arange(min(sizes)),) * x.ndim] = True
    else:
        rows, columns = sizes
        period = columns + 1 if wrap else rows + columns
        for row in range(rows):
            column = row % period + offset
            if 0 <= column < columns:
                mask[row, column] = True
    return g.where(g.constant(mask), g.constant(value, x.dtype), x)


@FORMS("matching_diagonal")
def matching_diagonal(g: Context, x: Value, *, axis1: int, axis2: int) -> Value:
    """As `diagonal`."""
    found: Value = diagonal(g, x, offset=0, axis1=axis1, axis2=axis2)
    return found


@FORMS("as_strided")
def as_strided(g: Context, x: Value, *, shape: Any, stride: Any, offset: Any) -> Value:
    """Gather of the flattened tensor at places worked out now."""
    places = np.full(tuple(shape), offset)
    for axis, (size, step) in enumerate(zip(shape, stride)):
        places = places + (np.arange(size) * step).reshape([-1 if i == axis else 1 for i in range(len(shape))])
    return g.gather(g.reshape(x, [-1]), g.constant(places), 0)


@FORMS("unfold_windows")
def unfold_windows(g: Context, x: Value, *, axis: int, size: int, step: int) -> Value:
    """Gather of all windows; their elements become the last dimension."""
    (n,) = known_sizes(x, (axis,), "unfold")
    places = np.arange(0, n - size + 1, step)[:, None] + np.arange(size)
    found = g.gather(x, g.constant(places), axis)
    perm = [i for i in range(x.ndim + 1) if i != axis + 1]
    return g.transpose(found, [*perm, axis + 1])
