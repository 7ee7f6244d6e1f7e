"""Convolutions and pooling as steps of programs compiled ahead of time: without NumPy, and without writing windows out.

A convolution is a product whose second matrix is never made: element (p, j) is the input at an offset that depends on p
(channel and place in the window) plus one that depends on j (place of the window).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from ..core.meta import Shape, numel
from .bins import even_bins
from .elementwise import add_op, divide_op, multiply_op
from .open_forms import window_lengths
from .pool_kernel import Windows, lowest, window_sizes, windows_of, windows_of_bins
from .registry import get_op
from .sliding_window import resolve_padding, spatial_of, used_dilation, window_counts

# Places of an image below which one product takes in all images: each alone would read the weights again.
_FEW_PLACES = 256
# Bytes of floats that are added up as they are.
_WIDE = 4
# Dimensions of a table of offsets that a run makes.
_MOST_COUNTED = 4


def conv_form(
    n: Any, x: Any, weight: Any, bias: Any, *, stride: Shape, padding: Any, dilation: Shape, groups: int,
    channel_last: bool,
) -> Any:  # fmt: skip
    """A convolution of float32 or float64."""
    need_products(n, x, weight)
    kernel = weight.shape[2:]
    if channel_last:
        x = n.view(lambda a: np.moveaxis(a, -1, 1), x)
    sizes = x.shape[2:]
    counts = window_counts(sizes, kernel, stride, padding, dilation)
    need_windows(n, counts)
    pads = resolve_padding(padding, sizes, kernel, stride)
    x = padded_form(n, x, [(0, 0), (0, 0), *pads], 0)
    out = n.new((x.shape[0], weight.shape[0], *counts), x.dtype)
    if out.size:
        _product(n, x, weight, bias if groups == 1 else None, out, stride, used_dilation(padding, dilation), groups)
    if bias is not None and groups > 1:
        spread = n.reshape(bias, (-1, *(1,) * len(counts)))
        out = n.apply(add_op, out, spread)
    return n.view(lambda a: np.moveaxis(a, 1, -1), out) if channel_last else out


def need_windows(n: Any, counts: Shape) -> None:
    """Refuse images that are smaller than the window."""
    if any(c < 1 for c in counts):
        n.refuse("the window is larger than the image")


def need_products(n: Any, *operands: Any) -> None:
    """Refuse what is neither float32 nor float64."""
    if any(x.dtype not in (np.float32, np.float64) for x in operands):
        n.refuse(f"products of {operands[0].dtype} have no native form")


def _product(n: Any, x: Any, weight: Any, bias: Any, out: Any, stride: Shape, dilation: Shape, groups: int) -> None:
    """Fill in the results, for each image and group of channels."""
    images, channels, outputs = x.shape[0], weight.shape[1], weight.shape[0]
    steps, counts, kernel = x.strides[2:], out.shape[2:], weight.shape[2:]
    inner = _table(n, [(channels, x.strides[1]), *zip(kernel, (s * d for s, d in zip(steps, dilation)))])
    places = _table(n, [(c, s * st) for c, s, st in zip(counts, steps, stride)])
    per_group = outputs // groups
    flat = n.reshape(weight, (groups, per_group, prod(weight.shape[1:])))
    matrix = replace(flat, shape=(images, *flat.shape), strides=(0, *flat.strides))
    seen = replace(
        x, shape=(images, groups, 1, 1), strides=(x.strides[0], x.strides[1] * channels, 0, x.dtype.itemsize)
    )
    if n.merges_images and images > 1 and groups == 1 and prod(counts) < _FEW_PLACES:
        places = (np.arange(images)[:, None] * x.strides[0] + places).reshape(-1)
        made = n.new((outputs, images, *counts), out.dtype)
        _alone(n, matrix, seen, made, inner, places, bias)
        n.copy(n.view(lambda a: np.moveaxis(a, 1, 0), made), out)
        return
    made = n.reshape(out, (images, groups, per_group, prod(counts)))
    n.windows_product(matrix, seen, made, inner, places, bias)


def _alone(n: Any, matrix: Any, seen: Any, out: Any, inner: Any, places: Any, bias: Any) -> None:
    """One product for all images, whose results lie behind each other in each channel."""
    one, all_of = (replace(v, shape=(1, *v.shape[1:]), strides=(0, *v.strides[1:])) for v in (matrix, seen))
    n.windows_product(one, all_of, n.reshape(out, (1, 1, out.shape[0], len(places))), inner, places, bias)


def _table(n: Any, dims: Sequence[tuple[int, int]]) -> Any:
    """`offsets` as an array, or as what the run makes of open sizes."""
    return n.offsets(dims) if n.has_open_places and len(dims) <= _MOST_COUNTED else offsets(dims)


def offsets(dims: Sequence[tuple[int, int]]) -> Any:
    """The offsets of all places in some dimensions of (size, step), the last one fastest."""
    found = np.zeros(1, np.int64)
    for size, step in dims:
        found = (found[:, None] + np.arange(size) * step).reshape(-1)
    return found


def padded_form(n: Any, x: Any, pairs: Sequence[tuple[int, int]], value: Any) -> Any:
    """x with so many elements of one value before and behind each dimension; fewer where that is negative."""
    if not any(map(any, pairs)):
        return x
    shape = [size + before + after for size, (before, after) in zip(x.shape, pairs)]
    n.note(*[max(end, 0) for ends in pairs for end in ends])
    out = n.new(shape, x.dtype)
    for axis, (size, ends) in enumerate(zip(shape, pairs)):
        for edge in (slice(0, max(ends[0], 0)), slice(size - max(ends[1], 0), size)):
            if edge.start < edge.stop:
                part = n.view(lambda a, at=(*(slice(None),) * axis, edge): a[at], out)
                n.copy(n.full(part.shape, value, x.dtype), part)
    there = tuple(slice(max(b, 0), size - max(a, 0)) for size, (b, a) in zip(shape, pairs))
    here = tuple(slice(max(-b, 0), size - max(-a, 0)) for size, (b, a) in zip(x.shape, pairs))
    n.copy(n.view(lambda a: a[here], x), n.view(lambda a: a[there], out))
    return out


# -- pooling -----------------------------------------------------------------------------------------------------------


def _pooled(n: Any, x: Any, name: str, windows: Windows, start: Any) -> Any:
    """Each window combined, in the memory order of the caller."""
    need_windows(n, windows.counts)
    is_last = windows.lead == 1
    x = n.view(lambda a: np.moveaxis(a, -1, 1), x) if is_last else x
    out = n.pooled(name, x, _dims(windows), start)
    return n.view(lambda a: np.moveaxis(a, 1, -1), out) if is_last else out


def _dims(windows: Windows) -> list[tuple[int, int, int, int]]:
    """For each dimension how many windows, their size, step, and how much lies before the first element."""
    lows = [low for low, _ in windows.pads]
    return list(zip(windows.counts, windows.kernel, windows.stride, lows))


def max_pool_form(
    n: Any, x: Any, *, kernel: Shape, stride: Shape, padding: Any, ceil_mode: bool, channel_last: bool
) -> Any:
    """The largest element of each window."""
    windows = windows_of(x.shape, kernel, stride, padding, ceil_mode, channel_last)
    return _pooled(n, x, "max", windows, lowest(x.dtype))


def max_pool_with_index_form(
    n: Any, x: Any, *, kernel: Shape, stride: Shape, padding: Any, ceil_mode: bool, channel_last: bool
) -> Any:
    """The largest element of each window, and its number within the image, -1 where there is none."""
    windows = windows_of(x.shape, kernel, stride, padding, ceil_mode, channel_last)
    out = _pooled(n, x, "max", windows, lowest(x.dtype))
    first, best = (n.view(lambda a: np.moveaxis(a, -1, 1), v) if windows.lead == 1 else v for v in (x, out))
    found = n.pool_places(first, _dims(windows), best)
    return out, n.view(lambda a: np.moveaxis(a, 1, -1), found) if windows.lead == 1 else found


# Windows in a row (channels, where these are last) below which each row costs more than what is computed for it:
# NumPy's kernels have batches innermost. Measured on the steps of small nets, which took up to twice as long.
_SHORT_ROW = 32


def need_long_rows(n: Any, row: int) -> None:
    """Refuse pooling of rows of so few windows."""
    if row < _SHORT_ROW:
        n.refuse("pooling of short rows is no faster")


def max_pool_native(
    n: Any, x: Any, *, kernel: Shape, stride: Shape, padding: Any, ceil_mode: bool, channel_last: bool
) -> Any:
    """The largest element of each window, one dimension after the other, as `combine` does it."""
    w = windows_of(x.shape, kernel, stride, padding, ceil_mode, channel_last)
    need_long_rows(n, x.shape[-1] if channel_last else w.counts[-1])
    for i, taps in enumerate(w.taps()):
        axis = w.lead + i
        out = n.new((*x.shape[:axis], w.counts[i], *x.shape[axis + 1 :]), x.dtype)
        n.copy(n.full(out.shape, lowest(x.dtype), x.dtype), out)
        for of, at in taps:
            there, here = (n.view(lambda a, s=(*(slice(None),) * axis, s): a[s], v) for s, v in ((of, out), (at, x)))
            n.apply_into(there, get_op("maximum"), there, here)
        x = out
    return x


def avg_pool_form(
    n: Any, x: Any, *, kernel: Shape, stride: Shape, padding: Any, ceil_mode: bool, channel_last: bool, exclusive: bool,
    divisor: float | None,
) -> Any:  # fmt: skip
    """The mean of each window."""
    windows = windows_of(x.shape, kernel, stride, padding, ceil_mode, channel_last)
    total = _pooled(n, x, "sum", windows, 0)
    if n.has_open_places and divisor is None and (any(map(any, windows.pads)) or ceil_mode):
        lengths = window_lengths(
            n, windows.counts, windows.sizes, kernel, stride, windows.pads, exclusive, x.dtype
        )  # fmt: skip
        return n.apply(divide_op, total, n.reshape(lengths, (*lengths.shape, 1)) if channel_last else lengths)
    counts = window_sizes(np, windows, exclusive, x.dtype, x.ndim)
    if divisor is not None:
        counts = counts * x.dtype.type(divisor / numel(kernel))
    same = counts.flat[0]
    by = n.full((), same, x.dtype) if (counts == same).all() else n.constant(counts)
    return n.apply(divide_op, total, by)


def avg_pool_native(
    n: Any, x: Any, *, kernel: Shape, stride: Shape, padding: Any, ceil_mode: bool, channel_last: bool, exclusive: bool,
    divisor: float | None,
) -> Any:  # fmt: skip
    """The mean of each window, one dimension after the other, as the kernel adds them up."""
    w = _within(n, x, windows_of(x.shape, kernel, stride, padding, ceil_mode, channel_last))
    for i, (size, step, count) in enumerate(zip(w.kernel, w.stride, w.counts)):
        before = (slice(None),) * (w.lead + i)
        parts = [(*before, slice(k, k + (count - 1) * step + 1, step)) for k in range(size)]
        first, *others = (n.view(lambda a, at=at: a[at], x) for at in parts)
        x = first
        for number, part in enumerate(others):
            if number:
                n.apply_into(x, add_op, x, part)
            else:
                x = n.apply(add_op, x, part)
    return n.apply(divide_op, x, _places_of(n, kernel, divisor, x.dtype))


def avg_pool_grad_native(
    n: Any, ct: Any, x: Any, *, kernel: Shape, stride: Shape, padding: Any, ceil_mode: bool, channel_last: bool,
    exclusive: bool, divisor: float | None,
) -> Any:  # fmt: skip
    """The cotangent of each window, divided by its places, in all of them, where windows share none."""
    w = _within(n, ct, windows_of(x.shape, kernel, stride, padding, ceil_mode, channel_last))
    if w.kernel != w.stride:
        n.refuse("gradients of means of windows that share places have no native form")
    share = n.apply(divide_op, ct, _places_of(n, kernel, divisor, ct.dtype))
    out, before = n.new(x.shape, ct.dtype), (slice(None),) * w.lead
    ends = [count * size for count, size in zip(w.counts, w.kernel)]
    if any(end < size for end, size in zip(ends, w.sizes)):
        n.copy(n.full(out.shape, 0, out.dtype), out)
    for place in itertools.product(*map(range, w.kernel)):
        at = (*before, *(slice(k, end, step) for k, end, step in zip(place, ends, w.stride)))
        n.copy(share, n.view(lambda a, at=at: a[at], out))
    return out


def _places_of(n: Any, kernel: Shape, divisor: float | None, dtype: Any) -> Any:
    count = dtype.type(numel(kernel))
    return n.full((), count if divisor is None else count * dtype.type(divisor / numel(kernel)), dtype)


def _within(n: Any, x: Any, w: Windows) -> Windows:
    """Windows that lie within an array of 32 or 64 bits, none of them empty."""
    need_products(n, x)
    reach = [(count - 1) * step + size for count, step, size in zip(w.counts, w.stride, w.kernel)]
    if any(map(any, w.pads)) or any(end > size for end, size in zip(reach, w.sizes)) or 0 in (*w.counts, *w.kernel):
        n.refuse("means of windows that reach beyond an array have no native form")
    return w


_MOST_BINS = 256


def adaptive_avg_pool_form(n: Any, x: Any, *, output_size: Any, channel_last: bool) -> Any:
    """The mean of each bin."""
    lead = 1 if channel_last else 2
    sizes = spatial_of(x.shape, channel_last)
    if 0 in sizes:
        n.refuse("bins of nothing have no native form")
    if n.has_open_places and any(o not in (None, 1) for o in output_size):
        x = n.view(lambda a: np.moveaxis(a, -1, 1), x) if channel_last else x
        made = n.binned("mean", x, [s if o is None else int(o) for s, o in zip(sizes, output_size)])
        return n.view(lambda a: np.moveaxis(a, 1, -1), made) if channel_last else made
    bins = [even_bins(s, s if o is None else int(o)) for s, o in zip(sizes, output_size)]
    windows = windows_of_bins(x.shape, tuple(map(len, bins)), channel_last)
    if windows is not None and x.dtype.itemsize >= _WIDE and not n.has_open_places:
        return avg_pool_native(n, x, **windows, exclusive=True, divisor=None)
    axes = tuple(range(lead, lead + len(sizes)))
    if prod(map(len, bins)) > _MOST_BINS:
        n.refuse(f"more than {_MOST_BINS} bins have no native form")
    shape = (*x.shape[:lead], *map(len, bins), *x.shape[lead + len(sizes) :])
    out = n.new(shape, x.dtype)
    before = (slice(None),) * lead
    for place in itertools.product(*(range(len(b)) for b in bins)):
        ends = [b[i] for b, i in zip(bins, place)]
        here = (*before, *(slice(*e) for e in ends))
        there = (*before, *(slice(i, i + 1) for i in place))
        total = n.reduce("sum", n.view(lambda a, at=here: a[at], x), axes, True)
        mean = n.apply(divide_op, total, n.full((), prod(b - a for a, b in ends), x.dtype))
        n.copy(mean, n.view(lambda a, at=there: a[at], out))
    return out


def adaptive_avg_pool_grad_form(n: Any, ct: Any, x: Any, *, channel_last: bool) -> Any:
    """The cotangent of each bin, divided by its elements, in all of them."""
    lead = 1 if channel_last else 2
    sizes, targets = spatial_of(x.shape, channel_last), spatial_of(ct.shape, channel_last)
    if ct.dtype.itemsize < 4:
        n.refuse("bins of 16-bit floats, which are divided in float32, have no native form")
    if 0 in sizes or (n.has_open_places and prod(targets) > 1):
        n.refuse("bins whose sizes only the run knows, or of nothing, have no native form")
    windows = windows_of_bins(x.shape, targets, channel_last)
    if windows is not None:
        return avg_pool_grad_native(n, ct, x, **windows, exclusive=True, divisor=None)
    bins = [even_bins(s, o) for s, o in zip(sizes, targets)]
    if prod(targets) > _MOST_BINS or any(a[1] > b[0] for each in bins for a, b in itertools.pairwise(each)):
        n.refuse(f"more than {_MOST_BINS} bins, and bins that share elements, have no native form")
    out = n.new(x.shape, ct.dtype)
    before = (slice(None),) * lead
    for place in itertools.product(*map(range, targets)):
        ends = [b[i] for b, i in zip(bins, place)]
        there = (*before, *(slice(i, i + 1) for i in place))
        share = n.view(lambda a, at=there: a[at], ct)
        for start, stop in ends:  # one by one, as the kernel divides
            share = n.apply(divide_op, share, n.full((), stop - start, ct.dtype))
        here = (*before, *(slice(*e) for e in ends))
        part = n.view(lambda a, at=here: a[at], out)
        n.copy(n.view(lambda a, shape=part.shape: np.broadcast_to(a, shape), share), part)
    return out


# -- statistics --------------------------------------------------------------------------------------------------------


def _statistics(n: Any, x: Any) -> Any:
    """The values of x, one a channel, in float64."""
    found = None if x is None else n.known(x)
    if found is None and x is not None:
        n.refuse("its statistics are known only when the program runs")
    return None if found is None else found.astype(np.float64).reshape(-1)


def batch_norm_form(
    n: Any, x: Any, mean: Any, variance: Any, weight: Any, bias: Any, *, channel: int, epsilon: float
) -> Any:
    """Normalization by statistics that are known when the program is compiled."""
    middle, spread, factor, shift = (_statistics(n, v) for v in (mean, variance, weight, bias))
    scale = 1 / np.sqrt(spread + epsilon) * (1.0 if factor is None else factor)
    moved = (0.0 if shift is None else shift) - middle * scale
    if channel == 1 and n.scale_rows(x, scale, moved):
        return x
    shape = [1] * x.ndim
    shape[channel] = -1
    by, to = (n.constant(v.astype(x.dtype).reshape(shape)) for v in (scale, moved))
    return n.apply(add_op, n.apply(multiply_op, x, by), to)
