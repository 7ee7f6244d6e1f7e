"""Cotangents of convolutions and pooling as steps of whole programs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..core.meta import Shape
from .pool_kernel import windows_of
from .sliding_window import Pair, resolve_padding, taps_over, used_dilation
from .window_forms import need_long_rows, need_products, offsets, padded_form

# Channels of the input, and outputs, below which windows take longer to gather than the product with them: NumPy's
# kernels have batches innermost, and spread the product's columns.
_FEW_CHANNELS, FEW_OUTPUTS = 16, 8

# --- convolution -----------------------------------------------------------------------------------------------------


def channel_second(n: Any, x: Any, channel_last: bool) -> Any:
    """x with its channels behind the batch."""
    return n.view(lambda a: np.moveaxis(a, -1, 1), x) if channel_last else x


def weight_grad_form(
    n: Any, ct: Any, x: Any, weight: Any, *, stride: Shape, padding: Any, dilation: Shape, groups: int,
    channel_last: bool,
) -> Any:  # fmt: skip
    """The weight's cotangent: one product over all places of all images, whose second matrix is windows."""
    need_products(n, ct, x)
    if groups > 1 or weight.shape[0] < FEW_OUTPUTS:
        n.refuse("weights of groups and of few outputs are no faster")
    ct, x = (channel_second(n, v, channel_last) for v in (ct, x))
    kernel, counts = weight.shape[2:], ct.shape[2:]
    dilation = used_dilation(padding, dilation)
    pads = resolve_padding(padding, x.shape[2:], kernel, stride)
    x = padded_form(n, x, [(0, 0), (0, 0), *pads], 0)
    out = n.new(weight.shape, ct.dtype)
    if not out.size or not ct.size:
        return n.copy(n.full(out.shape, 0, out.dtype), out)
    steps = x.strides[2:]
    places = offsets([(x.shape[0], x.strides[0]), *zip(counts, (s * st for s, st in zip(steps, stride)))])
    inner = offsets([(x.shape[1], x.strides[1]), *zip(kernel, (s * d for s, d in zip(steps, dilation)))])
    flowing = n.contiguous(n.view(lambda a: np.moveaxis(a, 0, 1), ct))
    flowing = n.reshape(flowing, (1, 1, weight.shape[0], len(places)))
    seen = replace(x, shape=(1, 1, 1, 1), strides=(0, 0, 0, x.dtype.itemsize))
    n.windows_product(flowing, seen, n.reshape(out, (1, 1, weight.shape[0], len(inner))), places, inner, None)
    return out


class Phase(NamedTuple):
    """Every stride-th element of the input along one dimension, and the places of the window that reach them.

    first: the first such element; reached: how many; taps: places; lags: how many windows before the last one that
    reaches an element each place belongs to; start: the window that, less the largest lag, is the first to be read.
    """

    first: int
    reached: int
    taps: slice
    lags: tuple[int, ...]
    start: int


def phases_along(size: int, kernel: int, stride: int, low: int, dilation: int) -> list[Phase]:
    """The phases of a stride along a dimension."""
    found = []
    for rest in range(stride):
        first = (rest - low) % stride
        places = [t for t in range(kernel) if t * dilation % stride == rest]
        if first >= size:
            continue
        step = places[1] - places[0] if len(places) > 1 else 1
        taps = slice(places[0], places[-1] + 1, step) if places else slice(0, 0)
        lags = tuple((t * dilation - rest) // stride for t in places)
        count = -(-(size - first) // stride)
        found.append(Phase(first, count, taps, lags, (first + low - rest) // stride - max(lags, default=0)))
    return found


def input_grad_form(
    n: Any, ct: Any, weight: Any, x: Any, *, stride: Shape, padding: Any, dilation: Shape, groups: int,
    channel_last: bool,
) -> Any:  # fmt: skip
    """The input's cotangent: for each phase of the stride a convolution of ct with the places that reach it."""
    need_products(n, ct, weight)
    if groups > 1:
        n.refuse("inputs of groups are no faster")
    if weight.shape[1] < _FEW_CHANNELS or weight.size > 2 * ct.size:
        n.refuse("few channels take longer to gather, and large weights to reorder")
    ct, x = (channel_second(n, v, channel_last) for v in (ct, x))
    sizes, kernel = x.shape[2:], weight.shape[2:]
    pads = resolve_padding(padding, sizes, kernel, stride)
    out = n.new(x.shape, ct.dtype)
    along = [
        phases_along(size, k, s, lo, d)
        for size, k, s, (lo, _), d in zip(sizes, kernel, stride, pads, used_dilation(padding, dilation))
    ]
    for phases in itertools.product(*along):
        _one_phase(n, ct, weight, out, phases, stride)
    return n.view(lambda a: np.moveaxis(a, 1, -1), out) if channel_last else out


def _one_phase(n: Any, ct: Any, weight: Any, out: Any, phases: Sequence[Phase], stride: Shape) -> None:
    there = (slice(None), slice(None), *(slice(p.first, None, s) for p, s in zip(phases, stride)))
    part = n.view(lambda a: a[there], out)
    if not part.size:
        return
    if not ct.size or not all(p.lags for p in phases):
        n.copy(n.full(part.shape, 0, part.dtype), part)
        return
    pads: list[Pair] = [
        (-p.start, p.start + max(p.lags) + p.reached - min(p.lags) - size) for p, size in zip(phases, ct.shape[2:])
    ]
    flowing = padded_form(n, ct, [(0, 0), (0, 0), *pads], 0)
    taps = (slice(None), slice(None), *(p.taps for p in phases))
    matrix = n.contiguous(n.view(lambda a: a[taps].swapaxes(0, 1), weight))
    matrix = n.reshape(matrix, (1, 1, weight.shape[1], prod(matrix.shape[1:])))
    images = ct.shape[0]
    matrix = replace(matrix, shape=(images, *matrix.shape[1:]), strides=(0, *matrix.strides[1:]))
    steps = flowing.strides[2:]
    inner = offsets([(ct.shape[1], flowing.strides[1])])
    for p, step in zip(phases, steps):
        inner = (inner[:, None] + np.array([max(p.lags) - lag for lag in p.lags]) * step).reshape(-1)
    places = offsets([(p.reached, step) for p, step in zip(phases, steps)])
    seen = replace(flowing, shape=(images, 1, 1, 1), strides=(flowing.strides[0], 0, 0, ct.dtype.itemsize))
    is_whole = part.is_contiguous
    made = part if is_whole else n.new(part.shape, part.dtype)
    n.windows_product(matrix, seen, n.reshape(made, (images, 1, part.shape[1], len(places))), inner, places, None)
    if not is_whole:
        n.copy(made, part)


# --- pooling ---------------------------------------------------------------------------------------------------------


def max_pool_grad_form(
    n: Any, ct: Any, x: Any, out: Any, *, kernel: Shape, stride: Shape, padding: Any, ceil_mode: bool,
    channel_last: bool,
) -> Any:  # fmt: skip
    """The cotangent of x: each window's cotangent goes to its first maximum (`pool_kernel.max_adjoint`)."""
    if ct.dtype != x.dtype:
        n.refuse("cotangents of another dtype have no native form")
    need_long_rows(n, out.shape[-1])
    w = windows_of(x.shape, kernel, stride, padding, ceil_mode, channel_last)
    free = n.copy(n.full(out.shape, True, np.dtype(bool)))
    dx = n.copy(n.full(x.shape, 0, x.dtype))
    for of, at in taps_over(w.taps(), w.lead):
        best, left, flowing = (n.view(lambda a: a[of], v) for v in (out, free, ct))  # noqa: B023 - called at once
        seen, to = (n.view(lambda a: a[at], v) for v in (x, dx))  # noqa: B023 - likewise
        n.compute_into((left, to), _one_place, seen, best, left, flowing, to)
    return dx


def _one_place(x: Any, best: Any, free: Any, ct: Any, dx: Any) -> tuple[Any, Any]:
    """Which windows have not found their maximum yet, and the cotangent so far, behind one place of the windows."""
    hit = (x == best) & free
    return free ^ hit, dx + ct * hit.astype(ct.dtype)


def channel_sum_form(n: Any, x: Any, *, channel_last: bool) -> Any:
    """The sum over all dimensions but the channels."""
    channel = x.ndim - 1 if channel_last else 1
    return n.reduce("sum", x, tuple(i for i in range(x.ndim) if i != channel), False)
