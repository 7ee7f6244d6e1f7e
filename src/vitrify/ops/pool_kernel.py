"""Pooling of arrays over windows, one spatial dimension after the other where the operation allows it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ..core.meta import Shape, numel
from .accumulate import wide
from .sliding_window import Padding, Pair, Taps, pool_counts, resolve_padding, taps_along, taps_over


class Windows(NamedTuple):
    """The windows of one pooling call: sizes along each spatial dimension, and where those dimensions start."""

    sizes: Shape
    kernel: Shape
    stride: Shape
    pads: tuple[Pair, ...]
    counts: Shape
    lead: int

    def taps(self) -> list[Taps]:
        """`taps_along` of each spatial dimension, without the places that lie behind the input in every window."""
        lows = [lo for lo, _ in self.pads]
        ones = (1,) * len(self.sizes)
        reached = [min(k, size + lo) for k, size, lo in zip(self.kernel, self.sizes, lows)]
        return list(map(taps_along, self.sizes, reached, self.stride, lows, ones, self.counts))


def windows_of(
    shape: Shape, kernel: Shape, stride: Shape, padding: Padding, ceil_mode: bool, channel_last: bool
) -> Windows:
    """The windows over an array of this shape."""
    lead = 1 if channel_last else 2
    sizes = tuple(shape[lead : lead + len(kernel)])
    pads = resolve_padding(padding, sizes, kernel, stride)
    return Windows(sizes, kernel, stride, pads, pool_counts(sizes, kernel, stride, padding, ceil_mode), lead)


def windows_of_bins(shape: Shape, targets: Shape, channel_last: bool) -> dict[str, Any] | None:
    """The bins of adaptive pooling as pooling's arguments, where there are several, all of one size; else None.

    Bins are computed one by one, and all places of windows at once.
    """
    lead = 1 if channel_last else 2
    sizes = shape[lead : lead + len(targets)]
    if 0 in (*sizes, *targets) or numel(targets) == 1 or any(s % t for s, t in zip(sizes, targets)):
        return None
    kernel = tuple(s // t for s, t in zip(sizes, targets))
    padding = ((0, 0),) * len(kernel)
    return {"kernel": kernel, "stride": kernel, "padding": padding, "ceil_mode": False, "channel_last": channel_last}


def _empty(xp: Any, x: Any, axis: int, count: int, fill: Any) -> Any:
    """An array like x, in the same memory order, with another size along `axis`."""
    out = xp.empty_like(x, shape=(*x.shape[:axis], count, *x.shape[axis + 1 :]))
    out[...] = fill
    return out


def combine(xp: Any, x: Any, w: Windows, ufunc: Callable[..., Any], start: Any) -> Any:
    """x with each window combined by an associative, commutative ufunc whose neutral element is `start`."""
    for i, taps in enumerate(w.taps()):
        axis = w.lead + i
        index = (slice(None),) * axis
        out = _empty(xp, x, axis, w.counts[i], start)
        for of, at in taps:
            part = out[(*index, of)]
            ufunc(part, x[(*index, at)], out=part)
        x = out
    return x


def spread_sum(xp: Any, ct: Any, w: Windows) -> Any:
    """The adjoint of a window sum: each input element gets the sum of ct over the windows it lies in."""
    for i, taps in reversed(list(enumerate(w.taps()))):
        axis = w.lead + i
        index = (slice(None),) * axis
        out = _empty(xp, ct, axis, w.sizes[i], 0)
        for of, at in taps:
            out[(*index, at)] += ct[(*index, of)]
        ct = out
    return ct


# --- maxima ----------------------------------------------------------------------------------------------------------


def lowest(dtype: Any) -> Any:
    """What a maximum over nothing is: the smallest finite number, as in Paddle."""
    return dtype.type(-3.4028234663852886e38) if dtype.itemsize > 2 else dtype.type(-65504)


def firsts(xp: Any, x: Any, out: Any, w: Windows) -> Iterator[tuple[Any, Any, Any]]:
    """(output index, input index, mask) for each place in the window; the mask is where the window's maximum is found
    first, counting row by row.
    """
    free = xp.ones_like(out, dtype=bool)
    for of, at in taps_over(w.taps(), w.lead):
        left = free[of]
        hit = xp.equal(x[at], out[of])
        hit &= left
        left ^= hit
        yield of, at, hit


def max_adjoint(xp: Any, ct: Any, x: Any, out: Any, w: Windows) -> Any:
    """The cotangent of x: each window's cotangent goes to its first maximum."""
    if ct.strides != out.strides:
        ct = like_layout(xp, ct, out)
    dx = xp.zeros_like(x)
    apart = all(s >= k for s, k in zip(w.stride, w.kernel))
    for of, at, hit in firsts(xp, x, out, w):
        if apart:
            xp.multiply(ct[of], hit, out=dx[at])
        else:
            dx[at] += ct[of] * hit
    return dx


def max_gather(xp: Any, g: Any, x: Any, out: Any, w: Windows) -> Any:
    """g, of x's shape, at each window's first maximum."""
    picked = xp.zeros_like(out)
    for of, at, hit in firsts(xp, x, out, w):
        picked[of] += g[at] * hit
    return picked


def max_positions(xp: Any, x: Any, out: Any, w: Windows) -> Any:
    """int32 of out's shape: the row-major number, within x's spatial dimensions, of each window's first maximum, or -1
    where a window sees padding alone.
    """
    number = xp.arange(math.prod(w.sizes), dtype=xp.int32).reshape(w.sizes)
    found = xp.full_like(out, -1, dtype=xp.int32)
    for of, at, hit in firsts(xp, x, out, w):
        xp.copyto(found[of], number[at[w.lead :]], where=hit)
    return found


def like_layout(xp: Any, a: Any, b: Any) -> Any:
    """a in b's memory order."""
    out = xp.empty_like(b, dtype=a.dtype)
    out[...] = a
    return out


# --- averages --------------------------------------------------------------------------------------------------------


def window_sizes(xp: Any, w: Windows, exclusive: bool, dtype: Any, ndim: int) -> Any:
    """How many elements each window averages over, shaped to broadcast against the output.

    Padding counts unless `exclusive`; what `ceil_mode` reaches beyond the padding never does. A window that reaches
    nothing but padding averages over 0 elements, which is not a number, as in Paddle.
    """
    total = xp.ones((1,) * ndim, dtype)
    for i, (size, k, s, (lo, hi), count) in enumerate(zip(w.sizes, w.kernel, w.stride, w.pads, w.counts)):
        first = xp.arange(count) * s - lo
        last = xp.minimum(first + k, size if exclusive else size + hi)
        lengths = last - (xp.maximum(first, 0) if exclusive else first)
        shape = [1] * ndim
        shape[w.lead + i] = count
        total = total * lengths.astype(dtype).reshape(shape)
    return total


def average(xp: Any, x: Any, w: Windows, exclusive: bool, divisor: float | None) -> Any:
    """The mean of each window, counted as if `divisor` were the number of places in a window."""
    total = combine(xp, wide(xp, x), w, xp.add, 0)
    total /= _divisor(xp, total, w, exclusive, divisor)
    return total.astype(x.dtype, copy=False)


def average_adjoint(xp: Any, ct: Any, w: Windows, exclusive: bool, divisor: float | None) -> Any:
    """The cotangent of x."""
    share = wide(xp, ct)
    return spread_sum(xp, share / _divisor(xp, share, w, exclusive, divisor), w).astype(ct.dtype, copy=False)


def _divisor(xp: Any, x: Any, w: Windows, exclusive: bool, divisor: float | None) -> Any:
    sizes = window_sizes(xp, w, exclusive, x.dtype, x.ndim)
    return sizes if divisor is None else sizes * x.dtype.type(divisor / numel(w.kernel))
