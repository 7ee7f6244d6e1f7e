"""ONNX forms of reductions, running results, sorting and products of matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.dtype import DType, bool_, float32, int64
from ..core.errors import UnsupportedError
from ..core.meta import UNKNOWN
from ..core.sequences import as_list
from .graph import Value
from .scalars import OnnxScalars
from .table import FORMS, Context
from .tensors import flip

# -- reductions --------------------------------------------------------------------------------------------------------


def _axes(x: Value, axis: Any) -> list[int]:
    return list(range(x.ndim)) if axis is None else as_list(axis)


@FORMS("sum")
def sum_(g: Context, x: Value, *, axis: Any, keepdim: bool) -> Value:
    """ReduceSum; of bool and int32 as int64."""
    wide = x.cast(int64) if x.dtype is bool_ or x.dtype.name == "int32" else x
    return g.reduce("ReduceSum", wide, _axes(x, axis), keepdim)


@FORMS("mean")
def mean(g: Context, x: Value, *, axis: Any, keepdim: bool) -> Value:
    """ReduceMean; of integers cut towards zero."""
    if x.dtype.is_floating:
        return g.reduce("ReduceMean", x, _axes(x, axis), keepdim)
    return OnnxScalars(g).trunc(g.reduce("ReduceMean", x.cast("float64"), _axes(x, axis), keepdim)).cast(x.dtype)


@FORMS("max", "min", "prod")
def extreme(g: Context, x: Value, *, axis: Any, keepdim: bool) -> Value:
    """ReduceMax, ReduceMin or ReduceProd; of types that these do not take as int32, of NaN as NaN."""
    op = "Reduce" + g.op_name.capitalize()
    if x.dtype is bool_ or (x.dtype.itemsize < 4 and not x.dtype.is_floating):
        return g.reduce(op, x.cast("int32"), _axes(x, axis), keepdim).cast(x.dtype)
    out = g.reduce(op, x, _axes(x, axis), keepdim)
    if not x.dtype.is_floating or op == "ReduceProd":
        return out
    # A runtime may pass NaN over; the sum of what is not a number tells.
    bad = g.reduce("ReduceMax", g.node("IsNaN", x).cast("int32"), _axes(x, axis), keepdim) > 0
    return g.where(bad, g.constant(math.nan, x.dtype), out)


@FORMS("all")
def all_(g: Context, x: Value, *, axis: Any, keepdim: bool) -> Value:
    """The smallest is True."""
    return g.reduce("ReduceMin", x.cast(bool_).cast("int32"), _axes(x, axis), keepdim) > 0


@FORMS("any")
def any_(g: Context, x: Value, *, axis: Any, keepdim: bool) -> Value:
    """The largest is True."""
    return g.reduce("ReduceMax", x.cast(bool_).cast("int32"), _axes(x, axis), keepdim) > 0


@FORMS("logsumexp")
def logsumexp(g: Context, x: Value, *, axis: Any, keepdim: bool) -> Value:
    """The logarithm of the sum of exp(x - largest), plus the largest."""
    axes = _axes(x, axis)
    top = g.reduce("ReduceMax", x, axes, True)
    scalars = OnnxScalars(g)
    safe = g.where(scalars.isinf(top), 0, top)
    total = scalars.log(g.reduce("ReduceSum", scalars.exp(x - safe), axes, True)) + safe
    return total if keepdim else g.squeeze(total, axes)


@FORMS("p_norm")
def p_norm(g: Context, x: Value, *, p: float, axis: Any, keepdim: bool) -> Value:
    """ReduceL2, scaled so that squares do not overflow; other powers by Pow."""
    axes, scalars = _axes(x, axis), OnnxScalars(g)
    wide = x.cast(float32) if x.dtype.itemsize == 2 else x
    size = scalars.abs(wide)
    if p == 2:
        top = g.reduce("ReduceMax", size, axes, True)
        unit = g.where((top == 0) | scalars.isinf(top), 1, top)
        scaled = size / unit
        total = scalars.sqrt(g.reduce("ReduceSum", scaled * scaled, axes, True)) * unit
    else:
        total = g.reduce("ReduceSum", size**p, axes, True) ** (1 / p)
    return (total if keepdim else g.squeeze(total, axes)).cast(x.dtype)


@FORMS("argmax", "argmin")
def position(g: Context, x: Value, *, axis: Any, keepdim: bool, dtype: DType) -> Value:
    """ArgMax or ArgMin; TopK of int64, which these do not take in every runtime."""
    op = "ArgMax" if g.op_name == "argmax" else "ArgMin"
    rank = x.ndim
    if axis is None or not rank:
        x = Value(g, g.reshape(x, [-1]).name, x.dtype, (UNKNOWN,))
    at = 0 if axis is None or not rank else axis
    if x.dtype is int64:
        largest = int(op == "ArgMax")
        _, found = g.nodes_of("TopK", [x, g.ints(1)], [x.dtype, int64], axis=at, largest=largest)
        found = found if keepdim and rank else g.squeeze(found, [at])
    else:
        narrow = x.cast("int32") if x.dtype is bool_ or x.dtype.name in ("int16", "uint16") else x
        found = g.node(op, narrow, axis=at, keepdims=int(bool(keepdim) and rank > 0))
    if axis is None and keepdim and rank:
        found = g.reshape(found, [1] * rank)
    return found.cast(dtype)


@FORMS("equal_all")
def equal_all(g: Context, x: Value, y: Value) -> Value:
    """Whether all are Equal; False for other shapes."""
    sizes = (*(x.shape or ()), *(y.shape or ()))
    if x.ndim != y.ndim or (x.shape != y.shape and UNKNOWN not in sizes):
        return g.constant(False)
    if UNKNOWN in sizes:
        raise UnsupportedError("the ONNX form of equal_all needs known sizes")
    return g.reduce("ReduceMin", g.both("Equal", x, y).cast("int32"), _axes(x, None), False) > 0


@FORMS("sum_to")
def sum_to(g: Context, x: Value, *, shape: Any) -> Value:
    """ReduceSum over what was broadcast."""
    lead = x.ndim - len(shape)
    axes = [*range(lead), *[i + lead for i, s in enumerate(shape) if s == 1 and x.shape[i + lead] != 1]]  # type: ignore[index]
    return g.reshape(g.reduce("ReduceSum", x, axes, True), list(shape))


# -- running results ---------------------------------------------------------------------------------------------------


@FORMS("cumsum")
def cumsum(g: Context, x: Value, *, axis: int, reverse: bool) -> Value:
    """CumSum."""
    if not x.ndim:
        return g.node("Identity", x)
    wide = x.cast("int32") if x.dtype is bool_ or (x.dtype.is_integer and x.dtype.itemsize < 4) else x
    return g.node("CumSum", wide, g.constant(axis, int64), reverse=int(reverse)).cast(x.dtype)


@FORMS("cumprod", "logcumsumexp", "cummax_index", "cummin_index")
def running(g: Context, x: Value, *, axis: int, reverse: bool = False, dtype: Any = None) -> Value:
    """The result over a triangle: row i holds the elements up to i and the neutral element beyond."""
    if not x.ndim:
        return g.node("Identity", x) if dtype is None else g.constant(0, dtype)
    last = x.ndim - 1
    perm = [*[i for i in range(x.ndim) if i != axis], axis]
    moved = Value(g, g.transpose(x, perm).name, x.dtype, x.shape and tuple(x.shape[i] for i in perm))
    moved = Value(g, flip(g, moved, axis=last).name, x.dtype, moved.shape) if reverse else moved
    n = g.size(moved, last)
    rows, columns = g.unsqueeze(g.arange(n), [1]), g.unsqueeze(g.arange(n), [0])
    table = g.unsqueeze(moved, [last])
    out = _over_triangle(g, table, columns <= rows, last + 1, columns)
    out = flip(g, Value(g, out.name, out.dtype, moved.shape), axis=last) if reverse else out
    back = [perm.index(i) for i in range(x.ndim)]
    found = g.transpose(out, back)
    return found if dtype is None else found.cast(dtype)


def _over_triangle(g: Context, table: Value, inside: Value, axis: int, columns: Value) -> Value:
    scalars = OnnxScalars(g)
    if g.op_name == "cumprod":
        return g.reduce("ReduceProd", g.where(inside, table, 1), [axis], False)
    if g.op_name == "logcumsumexp":
        shown = g.where(inside, table, g.constant(-math.inf, table.dtype))
        top = g.reduce("ReduceMax", shown, [axis], True)
        safe = g.where(scalars.isinf(top), 0, top)
        total = scalars.log(g.reduce("ReduceSum", scalars.exp(shown - safe), [axis], True)) + safe
        return g.squeeze(total, [axis])
    wide = table if table.dtype is int64 else table.cast("float64")
    worst = np.iinfo(np.int64) if table.dtype is int64 else None
    is_max = g.op_name == "cummax_index"
    edge = (worst.min if is_max else worst.max) if worst else (-math.inf if is_max else math.inf)
    shown = g.where(inside, wide, g.constant(edge, wide.dtype))
    best = g.reduce("ReduceMax" if is_max else "ReduceMin", shown, [axis], True)
    reached = inside & ((shown == best) | scalars.isnan(shown))
    bad = scalars.isnan(shown)
    if wide.dtype is not int64:
        has_nan = g.reduce("ReduceMax", bad.cast("int32"), [axis], True) > 0
        reached = inside & ((~has_nan & (shown == best)) | bad)
    return g.reduce("ReduceMax", g.where(reached, columns, 0), [axis], False)


# -- order -------------------------------------------------------------------------------------------------------------


def _top(g: Context, x: Value, k: Any, axis: int, largest: bool) -> tuple[Value, Value]:
    """TopK; ties keep their order. What it does not take is compared as int32; NaN counts as the largest.

    ONNX does not say where NaN goes: all is sorted with infinity in its place, then once more by what is NaN.
    """
    if x.dtype.is_floating:
        n = g.ints(g.size(x, axis))
        bad = g.node("IsNaN", x)
        key = g.where(bad, g.constant(math.inf, x.dtype), x)
        _, order = g.nodes_of("TopK", [key, n], [x.dtype, int64], axis=axis, largest=int(largest))
        flags = g.node("GatherElements", bad.cast("int32"), order, axis=axis)
        _, again = g.nodes_of("TopK", [flags, g.ints(k)], [flags.dtype, int64], axis=axis, largest=int(largest))
        places = g.node("GatherElements", order, again, axis=axis)
        return g.node("GatherElements", x, places, axis=axis), places
    narrow = x.dtype is bool_ or (x.dtype.is_integer and x.dtype.itemsize < 4)
    key = x.cast("int32") if narrow else x
    values, places = g.nodes_of("TopK", [key, g.ints(k)], [key.dtype, int64], axis=axis, largest=int(largest), sorted=1)
    return values.cast(x.dtype), places


@FORMS("sort")
def sort(g: Context, x: Value, *, axis: int, descending: bool) -> tuple[Value, Value]:
    """TopK of all."""
    if not x.ndim:
        return g.node("Identity", x), g.constant(0)
    return _top(g, x, g.size(x, axis), axis, descending)


@FORMS("sort_values")
def sort_values(g: Context, x: Value, *, axis: int, descending: bool) -> Value:
    """The values of TopK of all."""
    values: Value = sort(g, x, axis=axis, descending=descending)[0]
    return values


@FORMS("topk")
def topk(g: Context, x: Value, *, k: Any, axis: int, largest: bool) -> tuple[Value, Value]:
    """TopK."""
    if not x.ndim:
        return g.node("Identity", x), g.constant(0)
    return _top(g, x, k, axis, largest)


@FORMS("kthvalue")
def kthvalue(g: Context, x: Value, *, k: int, axis: int, keepdim: bool) -> list[Value]:
    """The last of the k smallest."""
    if not x.ndim:
        return [g.node("Identity", x), g.constant(0)]
    found = [g.slice(v, axis, k - 1, k) for v in _top(g, x, k, axis, False)]
    return found if keepdim else [g.squeeze(v, [axis]) for v in found]


@FORMS("searchsorted")
def searchsorted(g: Context, sequence: Value, values: Value, *, right: bool, dtype: DType) -> Value:
    """How many of the sequence lie before each value."""
    if sequence.ndim == 1:
        table, keys = sequence, g.unsqueeze(values, [values.ndim])
    else:
        table, keys = g.unsqueeze(sequence, [sequence.ndim - 1]), g.unsqueeze(values, [values.ndim])
    before = g.both("LessOrEqual" if right else "Less", table, keys)
    return g.node("ReduceSum", before.cast(int64), g.ints([-1]), keepdims=0).cast(dtype)


@FORMS("isin")
def isin(g: Context, x: Value, test_x: Value, *, assume_unique: bool, invert: bool) -> Value:
    """Whether any is Equal."""
    same = g.both("Equal", g.unsqueeze(x, [x.ndim]), g.reshape(test_x, [-1]))
    found = g.reduce("ReduceMax", same.cast("int32"), [x.ndim], False) > 0
    return ~found if invert else found


# -- products ----------------------------------------------------------------------------------------------------------


def _swapped(g: Context, x: Value, transposed: bool) -> Value:
    n = x.ndim
    return g.transpose(x, [*range(n - 2), n - 1, n - 2]) if transposed else x


@FORMS("matmul")
def matmul(g: Context, x: Value, y: Value, *, transpose_x: bool, transpose_y: bool) -> Value:
    """MatMul; of narrow integers as int64."""
    a, b = _swapped(g, x, transpose_x), _swapped(g, y, transpose_y)
    if x.dtype.is_integer and x.dtype.name not in ("int32", "int64"):
        return g.node("MatMul", a.cast(int64), b.cast(int64)).cast(x.dtype)
    return g.node("MatMul", a, b)


@FORMS("linear")
def linear(g: Context, x: Value, weight: Value, bias: Value | None) -> Value:
    """MatMul and Add; Gemm of matrices."""
    if bias is not None and x.ndim == 2 and x.dtype.is_floating and 0 not in (*x.shape, *weight.shape):  # type: ignore[misc]
        return g.node("Gemm", x, weight, bias)
    out = g.node("MatMul", x, weight)
    return out if bias is None else out + bias


@FORMS("mul")
def mul(g: Context, x: Value, y: Value, *, x_num_col_dims: int) -> Value:
    """MatMul, of rows that Reshape makes."""
    if x_num_col_dims < x.ndim - 1:
        x = g.node("Reshape", x, g.ints([*[g.size(x, i) for i in range(x_num_col_dims)], g.size(y, 0)]))
    return g.node("MatMul", x, y)


@FORMS("contract")
def contract(g: Context, x: Value, y: Value, *, left: str, right: str, out: str) -> Value:
    """Einsum."""
    if not x.dtype.is_floating and x.dtype.name not in ("int32", "int64"):
        raise UnsupportedError(f"Einsum takes no {x.dtype.name} tensors in every runtime", hint="cast to float32")
    labels = dict(zip(dict.fromkeys(left + right), "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    x, left = _without_ones(g, x, left, y, right)
    y, right = _without_ones(g, y, right, x, left)
    a, b, c = ("".join(labels[label] for label in term) for term in (left, right, out))
    return g.node("Einsum", x, y, equation=f"{a},{b}->{c}")


def _without_ones(g: Context, x: Value, labels: str, other: Value, others: str) -> tuple[Value, str]:
    """x without the dimensions of size 1 that the other operand has as well: there they are broadcast."""
    assert x.shape is not None and other.shape is not None
    ones = [i for i, c in enumerate(labels) if x.shape[i] == 1 and c in others]
    kept = [i for i in range(len(labels)) if i not in ones]
    out = g.squeeze(x, ones)
    return Value(g, out.name, x.dtype, tuple(x.shape[i] for i in kept)), "".join(labels[i] for i in kept)


@FORMS("det")
def det(g: Context, x: Value) -> Value:
    """Det."""
    return g.node("Det", x)
