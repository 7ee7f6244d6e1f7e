"""Max pooling as steps of native programs, with images innermost in memory, as `batch_last` leaves them."""

from __future__ import annotations

import itertools
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..core.meta import Shape
from .batch_last import images_last, lies_images_last
from .pool_kernel import Windows, lowest, windows_of
from .window_forms import max_pool_native, offsets
from .window_grads import max_pool_grad_form

# Images below which most of a vector would be idle, and windows in a row below which rows make no vectors.
_LEAST_IMAGES, _LONG_ROW = 4, 32
# Windows in a row from which on vectors of them are full.
_FULL_ROW = 16
_MOST_PLACES = 1 << 14


class _Places(NamedTuple):
    """Where windows begin in x and in out, which of the offsets each reads, and those."""

    begins: tuple[Any, Any]
    taps: Any
    offsets: Any


def _suits(x: Any, count: int, row: int, channel_last: bool) -> bool:
    """Whether vectors of images are the better way."""
    is_short = row < _LONG_ROW and not channel_last
    lies = not channel_last and lies_images_last(x)
    enough = x.shape[0] >= _LEAST_IMAGES and 0 < count <= _MOST_PLACES and x.size > 0
    return bool(x.dtype == np.float32 and enough and (lies or is_short))


def _has_rows(x: Any, w: Windows, channel_last: bool) -> bool:
    """Whether vectors of windows that lie in a row of an image are full."""
    if channel_last or len(w.counts) != 2 or x.dtype != np.float32 or 0 in w.counts or not x.size:
        return False
    return bool(w.counts[1] >= _FULL_ROW and w.stride[1] <= 2 and x.strides[3] == x.dtype.itemsize)


def max_pool_in_place(
    n: Any, x: Any, *, kernel: Shape, stride: Shape, padding: Any, ceil_mode: bool, channel_last: bool
) -> Any:
    """The largest element of each window."""
    w = windows_of(x.shape, kernel, stride, padding, ceil_mode, channel_last)
    if not _suits(x, prod(w.counts), w.counts[-1], channel_last):
        if _has_rows(x, w, channel_last):
            out = n.new((*x.shape[:2], *w.counts), x.dtype)
            n.pool_rows(x, out, [*zip(w.kernel, w.stride, (low for low, _ in w.pads))], lowest(x.dtype))
            return out
        return max_pool_native(
            n, x, kernel=kernel, stride=stride, padding=padding, ceil_mode=ceil_mode, channel_last=channel_last
        )
    x = _moved(n, x)
    out = images_last(n, x.shape[0], x.shape[1], w.counts, x.dtype)
    n.pool_max(x, out, _places(w, x, out), lowest(x.dtype))
    return out


def max_pool_grad_in_place(
    n: Any, ct: Any, x: Any, out: Any, *, kernel: Shape, stride: Shape, padding: Any, ceil_mode: bool,
    channel_last: bool,
) -> Any:  # fmt: skip
    """The cotangent of x: each window's cotangent goes to its first maximum (`pool_kernel.max_adjoint`)."""
    w = windows_of(x.shape, kernel, stride, padding, ceil_mode, channel_last)
    if ct.dtype != x.dtype or not _suits(x, prod(w.counts), w.counts[-1], channel_last):
        attrs = {"kernel": kernel, "stride": stride, "padding": padding, "ceil_mode": ceil_mode}
        return max_pool_grad_form(n, ct, x, out, **attrs, channel_last=channel_last)
    x, out, ct = (_moved(n, v) for v in (x, out, ct))
    dx = images_last(n, x.shape[0], x.shape[1], x.shape[2:], x.dtype)
    if x.strides != dx.strides:
        x = n.copy(x, images_last(n, x.shape[0], x.shape[1], x.shape[2:], x.dtype))
    if out.strides != ct.strides:
        out, ct = (n.copy(v, images_last(n, v.shape[0], v.shape[1], v.shape[2:], v.dtype)) for v in (out, ct))
    places = _places(w, x, out)
    overlap = any(s < k for s, k in zip(w.stride, w.kernel))
    if overlap or prod(w.sizes) != sum(end - first for first, end in places.taps):
        n.copy(n.full(dx.shape, 0, dx.dtype), dx)
    n.pool_max_grad(dx, x, out, ct, places, overlap)
    return dx


def _moved(n: Any, x: Any) -> Any:
    """x with images innermost."""
    return x if lies_images_last(x) else n.copy(x, images_last(n, x.shape[0], x.shape[1], x.shape[2:], x.dtype))


def _places(w: Windows, x: Any, out: Any) -> _Places:
    """The windows over x [images, channels, *sizes]: places beside x are left out."""
    along = []
    for size, kernel, stride, (low, _), count in zip(w.sizes, w.kernel, w.stride, w.pads, w.counts):
        starts = [i * stride - low for i in range(count)]
        along.append([(s, (max(0, -s), max(min(kernel, size - s), max(0, -s)))) for s in starts])
    kinds: dict[Any, tuple[int, int]] = {}
    listed: list[int] = []
    taps, begins = [], []
    for window in itertools.product(*along):
        reach = tuple(r for _, r in window)
        if reach not in kinds:
            own = offsets([(1, 0)])
            for (first, end), step in zip(reach, x.strides[2:]):
                own = (own[:, None] + np.arange(first, end) * step).reshape(-1)
            kinds[reach] = (len(listed), len(listed) + len(own))
            listed += own.tolist()
        taps.append(kinds[reach])
        begins.append(sum(s * step for (s, _), step in zip(window, x.strides[2:])))
    targets = offsets([*zip(w.counts, out.strides[2:])])
    return _Places((np.array(begins, np.int64), targets), np.array(taps, np.int64), np.array(listed, np.int64))


__all__ = ["max_pool_grad_in_place", "max_pool_in_place"]
