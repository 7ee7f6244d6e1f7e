"""ONNX forms of pooling: ONNX's own operators where these say the same, else windows and bins taken by their places."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.dtype import int64
from ..core.errors import UnsupportedError
from ..core.meta import UNKNOWN
from ..core.sequences import as_list
from ..ops.bins import even_bins
from ..ops.pool_kernel import lowest
from ..ops.sliding_window import window_counts
from .graph import Value
from .layers import window_attrs
from .table import FORMS, Context
from .tensors import to_channel_first, to_channel_last

# -- windows -----------------------------------------------------------------------------------------------------------


def _first(g: Context, x: Value, channel_last: bool) -> Value:
    """x with channels in dimension 1, its shape known as far as it was."""
    if not channel_last:
        return x
    shape = x.shape or ()
    return Value(g, to_channel_first(g, x).name, x.dtype, (shape[0], shape[-1], *shape[1:-1]))


def _as_given(g: Context, outs: Sequence[Value], ndim: int, channel_last: bool) -> list[Value]:
    return [to_channel_last(g, out, ndim) if channel_last else out for out in outs]


def _is_onnx(x: Value, kernel: Any, stride: Any, padding: Any, ceil_mode: bool) -> bool:
    """Whether ONNX's operators have these windows: it leaves out a last one that lies in the padding alone, and has no
    other such."""
    if padding == "SAME":
        return True
    if any(max(pads) >= k for pads, k in zip(padding, kernel)):
        raise UnsupportedError("ONNX pools no window that lies in the padding alone", hint="pad less than the window")
    if not ceil_mode:
        return True
    sizes = (x.shape or ())[2:]
    if UNKNOWN in sizes:
        return False
    counts = window_counts(tuple(sizes), kernel, stride, padding, (1,) * len(kernel), True)
    return all((c - 1) * st < s + lo for c, st, s, (lo, _) in zip(counts, stride, sizes, padding))


def _padded(g: Context, x: Value, stride: Any, padding: Any, fill: Any) -> Value:
    """x with its padding, and with as much behind it as the last window that `ceil_mode` adds may need."""
    before = [0, 0, *[lo for lo, _ in padding]]
    behind = [0, 0, *[hi + by - 1 for (_, hi), by in zip(padding, stride)]]
    out = g.node("Pad", x, g.ints([*before, *behind]), g.constant(fill, x.dtype))
    return Value(g, out.name, x.dtype, (UNKNOWN,) * x.ndim)


def _max_pooled(g: Context, x: Value, dtypes: list[Any], kernel: Any, stride: Any, padding: Any, ceil: bool) -> Any:
    """The nodes of MaxPool, and what it pools: x, or x with its padding where ONNX has no such windows."""
    attrs = {"kernel_shape": list(kernel), "strides": list(stride)}
    if _is_onnx(x, kernel, stride, padding, ceil):
        attrs = window_attrs(padding, None, ceil_mode=int(ceil) or None, **attrs)
        return g.nodes_of("MaxPool", [x], dtypes, **attrs), x
    wide = _padded(g, x, stride, padding, lowest(x.dtype.np))
    return g.nodes_of("MaxPool", [wide], dtypes, **attrs), wide


@FORMS("max_pool")
def max_pool(
    g: Context, x: Value, *, kernel: Any, stride: Any, padding: Any, ceil_mode: bool, channel_last: bool
) -> Value:
    """MaxPool."""
    first = _first(g, x, channel_last)
    outs, _ = _max_pooled(g, first, [x.dtype], kernel, stride, padding, ceil_mode)
    return _as_given(g, outs, x.ndim, channel_last)[0]


@FORMS("max_pool_with_index")
def max_pool_with_index(
    g: Context, x: Value, *, kernel: Any, stride: Any, padding: Any, ceil_mode: bool, channel_last: bool
) -> list[Value]:
    """MaxPool; the places of ONNX count through the whole tensor, ours through a plane."""
    first = _first(g, x, channel_last)
    (out, places), pooled = _max_pooled(g, first, [x.dtype, int64], kernel, stride, padding, ceil_mode)
    rest = g.both("Mod", places, _product([g.size(pooled, axis) for axis in range(2, x.ndim)]))
    if pooled is not first:
        rest = _without_padding(g, rest, first, pooled, padding)
    return _as_given(g, [out, rest], x.ndim, channel_last)


def _product(sizes: Sequence[Any]) -> Any:
    found = sizes[0]
    for size in sizes[1:]:
        found = found * size if isinstance(found, Value) or not isinstance(size, Value) else size * found
    return found


def _without_padding(g: Context, places: Value, x: Value, padded: Value, padding: Any) -> Value:
    """Places in a padded plane as places in the plane itself; those in the padding are -1, as ours are."""
    found: Any = g.constant(0, int64)
    outside, step, rest = None, g.constant(1, int64), places
    for axis, (low, _) in reversed([*enumerate(padding, 2)]):
        size, own = g.size(padded, axis), g.scalar(g.size(x, axis))
        at = g.both("Mod", rest, size) - low
        beyond = (at < 0) | (at >= own)
        outside = beyond if outside is None else outside | beyond
        found, step, rest = at * step + found, step * own, rest / size
    assert outside is not None
    return g.where(outside, g.constant(-1, int64), found)


@FORMS("avg_pool")
def avg_pool(
    g: Context, x: Value, *, kernel: Any, stride: Any, padding: Any, ceil_mode: bool, channel_last: bool,
    exclusive: bool, divisor: float | None,
) -> Value:  # fmt: skip
    """AveragePool; another divisor than the window's size scales the result."""
    first = _first(g, x, channel_last)
    attrs: dict[str, Any] = {"kernel_shape": list(kernel), "strides": list(stride)}
    total = float(math.prod(kernel))
    # Runtimes differ in how they count the padding where both ceil_mode and count_include_pad are set.
    if _is_onnx(first, kernel, stride, padding, ceil_mode) and (exclusive or not ceil_mode):
        attrs = window_attrs(
            padding, None, ceil_mode=int(ceil_mode) or None, count_include_pad=int(not exclusive), **attrs
        )
        out = g.node("AveragePool", first, **attrs)
    elif padding == "SAME":
        raise UnsupportedError("runtimes differ in how AveragePool with ceil_mode counts the padding")
    else:
        out = g.node("AveragePool", _padded(g, first, stride, padding, 0.0), **attrs) * total
        out = out / _counts(g, first, kernel, stride, padding, exclusive)
    out = out if divisor is None else out * (total / divisor)
    return _as_given(g, [out], x.ndim, channel_last)[0]


def _counts(g: Context, x: Value, kernel: Any, stride: Any, padding: Any, exclusive: bool) -> Value:
    """Of how many elements each window is the mean: those inside, or those of the padding too."""
    found: Value | None = None
    for axis, (k, by, (low, high)) in enumerate(zip(kernel, stride, padding), 2):
        size = g.scalar(g.size(x, axis))
        starts = g.arange((size + (low + high - k + by - 1)) / by + 1) * by - low
        stops = g.node("Min", starts + k, size + (0 if exclusive else high))
        counts = stops - (g.node("Max", starts, g.constant(0, int64)) if exclusive else starts)
        counts = g.reshape(counts.cast(x.dtype), [1] * axis + [-1] + [1] * (x.ndim - axis - 1))
        found = counts if found is None else found * counts
    assert found is not None
    return found


# -- bins --------------------------------------------------------------------------------------------------------------


def _pooled_nothing(g: Context, x: Value, axes: range, output_size: Any) -> Value | None:
    """NaN, as means and maxima of nothing are, where a pooled dimension is known to have no elements; else None."""
    assert x.shape is not None
    if not any(x.shape[axis] == 0 for axis in axes):
        return None
    wanted = {axis: size for axis, size in zip(axes, output_size) if size is not None}
    sizes = [wanted.get(axis, g.size(x, axis)) for axis in range(x.ndim)]
    return g.node("Expand", g.constant(float("nan"), x.dtype), g.ints(sizes))


def _bins(g: Context, size: Any, wanted: Any) -> tuple[Value, Value, Value]:
    """The places of each bin, [bins, longest], the last repeated; which count; and how many do, as int64."""
    n, bins = g.scalar(size), g.scalar(wanted)
    numbers, by = g.arange(bins), g.node("Max", bins, g.constant(1, int64))
    starts = numbers * n / by
    stops = ((numbers + 1) * n + bins - 1) / by
    lengths = g.unsqueeze(stops - starts, [1])
    longest = (n + by - 1) / by + 1  # or one less
    steps = g.unsqueeze(g.arange(longest), [0])
    inside = steps < lengths
    return g.unsqueeze(starts, [1]) + g.node("Min", steps, lengths - 1), inside, lengths


def _something(g: Context, x: Value, axis: int, size: Any, ndim: int) -> tuple[Value, Any]:
    """x and its size, with one NaN in a dimension that turns out to have no elements: means and maxima of nothing."""
    if isinstance(size, int):
        return x, size
    missing = g.reshape(g.where(g.scalar(size) == 0, g.constant(1, int64), g.constant(0, int64)), [1])
    pads = [*[0] * (ndim + axis), missing, *[0] * (ndim - axis - 1)]
    wide = g.node("Pad", x, g.ints(pads), g.constant(float("nan"), x.dtype))
    return wide, g.node("Max", g.scalar(size), g.constant(1, int64))


def _along(g: Context, held: Value, axis: int, ndim: int) -> Value:
    """What is said of [bins, longest], as it stands beside x with its bins in dimension `axis`."""
    return g.unsqueeze(held, [*range(axis), *range(axis + 2, ndim + 1)])


@FORMS("adaptive_avg_pool")
def adaptive_avg_pool(g: Context, x: Value, *, output_size: Any, channel_last: bool) -> Value:
    """ReduceMean to one element; else each dimension times a matrix of means, or the means of bins of open sizes."""
    lead = 1 if channel_last else 2
    axes, sizes = range(lead, lead + len(output_size)), as_list(output_size)
    nothing = _pooled_nothing(g, x, axes, sizes)
    if nothing is not None:
        return nothing
    if all(isinstance(o, int) and o == 1 for o in sizes):
        return g.reduce("ReduceMean", x, list(axes), True)
    out = x
    for axis, wanted in zip(axes, sizes):
        size = g.size(x, axis)
        if wanted is None or (isinstance(size, int) and isinstance(wanted, int) and size == wanted):
            continue
        if isinstance(size, int) and isinstance(wanted, int):
            out = _by_matrix(g, out, x.ndim, axis, size, even_bins(size, wanted))
            continue
        out, size = _something(g, out, axis, size, x.ndim)
        places, inside, lengths = _bins(g, size, wanted)
        parts = g.gather(out, places, axis)
        parts = g.where(_along(g, inside, axis, x.ndim), parts, g.constant(0, x.dtype))
        count = g.squeeze(_along(g, lengths, axis, x.ndim), [axis + 1])
        out = g.reduce("ReduceSum", parts, [axis + 1], False) / count.cast(x.dtype)
    return out if out is not x else g.node("Identity", x)


def _by_matrix(g: Context, x: Value, ndim: int, axis: int, size: int, bins: Any) -> Value:
    """The means of bins by a product, in one dimension."""
    means = np.zeros((size, len(bins)), np.float32)
    for column, (start, stop) in enumerate(bins):
        means[start:stop, column] = 1 / (stop - start)
    perm = [*[i for i in range(ndim) if i != axis], axis]
    product = g.node("MatMul", g.transpose(x, perm), g.constant(means.astype(x.dtype.np)))
    return g.transpose(product, [perm.index(i) for i in range(ndim)])


@FORMS("adaptive_max_pool")
def adaptive_max_pool(g: Context, x: Value, *, output_size: Any) -> list[Value | None]:
    """ReduceMax of each bin; with places, of the elements of each bin and what of them is first."""
    sizes = as_list(output_size)
    axes = range(2, 2 + len(sizes))
    nothing = _pooled_nothing(g, x, axes, sizes)
    if nothing is not None:
        if 1 in g.wanted:
            raise UnsupportedError("the places of maxima of nothing have no ONNX form", hint="use return_mask=False")
        return [nothing, None]
    if 1 in g.wanted:
        return _with_places(g, x, axes, sizes)
    out = x
    for axis, wanted in zip(axes, sizes):
        size = g.size(x, axis)
        if isinstance(size, int) and isinstance(wanted, int) and wanted == 1:
            out = g.reduce("ReduceMax", out, [axis], True)
        elif wanted is None or (isinstance(size, int) and isinstance(wanted, int)):
            bins = even_bins(size, wanted) if isinstance(size, int) and wanted is not None else None
            out = out if bins is None else _by_slices(g, out, axis, bins)
        else:
            out, size = _something(g, out, axis, size, x.ndim)
            places, _, _ = _bins(g, size, wanted)
            out = g.reduce("ReduceMax", g.gather(out, places, axis), [axis + 1], False)
    return [out if out is not x else g.node("Identity", x), None]


def _by_slices(g: Context, x: Value, axis: int, bins: Any) -> Value:
    parts = [g.reduce("ReduceMax", g.slice(x, axis, a, b), [axis], True) for a, b in bins]
    return g.node("Concat", *parts, axis=axis) if parts else g.slice(x, axis, 0, 0)


def _with_places(g: Context, x: Value, axes: range, output_size: Any) -> list[Value | None]:
    """The largest of each bin, and where it stands in its plane: of equal ones the first, rows before columns."""
    out, places, step = x, None, g.constant(1, int64)
    for axis, wanted in reversed([*zip(axes, output_size)]):
        size = g.size(x, axis)
        bins = size if wanted is None else wanted
        out, size = _something(g, out, axis, size, x.ndim)
        at, _, _ = _bins(g, size, bins)
        parts = g.gather(out, at, axis)
        best = g.node("ArgMax", parts, axis=axis + 1, keepdims=1, dtype=int64)
        rows = g.node("Expand", _along(g, at, axis, x.ndim), g.node("Shape", parts))
        found = g.node("GatherElements", rows, best, axis=axis + 1) * step
        if places is not None:
            found = found + g.node("GatherElements", g.gather(places, at, axis), best, axis=axis + 1)
        places = g.squeeze(found, [axis + 1])
        out = g.squeeze(g.node("GatherElements", parts, best, axis=axis + 1), [axis + 1])
        step = step * g.scalar(size)
    assert places is not None
    plane = g.scalar(_product([g.size(x, axis) for axis in axes]))
    return [out, places * g.node("Min", plane, g.constant(1, int64))]  # of nothing they are 0
