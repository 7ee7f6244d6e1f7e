"""Convolutions as steps of native programs that read windows where they lie, with images innermost in memory.

Results lie as those of NumPy's kernels do (`conv_kernel`): [channels, *spatial, batch]. The places of a row and their
images are neighbours, so vectors are full whatever an image's size, and neither windows nor weights are copied.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..core.meta import Shape
from .sliding_window import Pair, resolve_padding, used_dilation, window_counts
from .window_forms import conv_form, need_products, offsets
from .window_grads import FEW_OUTPUTS, Phase, channel_second, input_grad_form, phases_along, weight_grad_form

# The share of lanes that must have work, below which gathering windows takes less time.
_LEAST_USED = 0.75
# The same for groups of channels, whose products are small: gathering takes longer than what is computed.
_LEAST_OF_GROUPS = 0.25
# Vectors of columns from which on dots with them take less time than a product of what was gathered.
_LONG = 12
# Pieces of columns that a plan holds a table of.
_MOST_PIECES = 1 << 15


class Laid(NamedTuple):
    """An array as windows find it: the step from channel to channel in bytes, the offsets of the places of a window (of
    one channel), and those of the windows; images lie side by side.
    """

    array: Any
    channel: int
    steps: Shape  # from place to place in each dimension, where the stride along rows is 1
    taps: Any
    places: Any

    def rows(self, channels: int) -> Any:
        """The offsets of all places in a window, channel by channel."""
        return (np.arange(channels)[:, None] * self.channel + self.taps).reshape(-1)


def conv_native(
    n: Any, x: Any, weight: Any, bias: Any, *, stride: Shape, padding: Any, dilation: Shape, groups: int,
    channel_last: bool,
) -> Any:  # fmt: skip
    """A convolution, by windows in place where that fills vectors."""
    attrs = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    need_products(n, x, weight)
    seen, kernel = channel_second(n, x, channel_last), weight.shape[2:]
    counts = window_counts(seen.shape[2:], kernel, stride, padding, dilation)
    images, outputs, channels = x.shape[0], weight.shape[0], weight.shape[1]
    if 0 not in counts and weight.size and seen.size:
        pads = resolve_padding(padding, seen.shape[2:], kernel, stride)
        grid = _Grid(seen.shape[2:], kernel, counts, stride, pads, used_dilation(padding, dilation))
        pieces = grid.pieces(n, images, x.dtype)
        if _is_full(n, pieces, x.dtype, groups):
            out = images_last(n, images, outputs, counts, x.dtype)
            bias = None if bias is None else n.contiguous(bias)
            by_windows = partial(_by_windows, n, grid, seen, weight, out, bias, groups)
            if groups == 1 and grid.has_tiles:
                filters = (weight, outputs, channels, *weight.strides[:2], False)
                _by_tiles(n, seen, filters, out, pads, bias, len(pieces), by_windows)
            else:
                by_windows()
            return _channel_first(n, out, channel_last)
    return conv_form(n, x, weight, bias, **attrs, channel_last=channel_last)


def _by_windows(n: Any, grid: _Grid, x: Any, weight: Any, out: Any, bias: Any, groups: int) -> None:
    """out = the convolution of x, both [images, channels, *sizes], by products with windows where they lie."""
    laid, (images, outputs, *counts), channels = grid.laid(n, x), out.shape, weight.shape[1]
    pieces = n.pieces(laid.places, _places(out, tuple(counts)), images, out.dtype, may_spread=True)
    taps, rows = offsets([*zip(weight.shape[1:], weight.strides[1:])]), outputs // groups
    n.product_in_place(
        (weight, weight.strides[0], taps, rows * weight.strides[0]), rows,
        (laid.array, 0, laid.rows(channels), channels * laid.channel),
        (out, out.strides[1], None, rows * out.strides[1]), pieces, bias, groups,
    )  # fmt: skip


def _by_tiles(
    n: Any, x: Any, filters: tuple[Any, ...], out: Any, pads: Sequence[Pair], bias: Any, pieces: int,
    by_windows: Callable[[], None],
) -> None:  # fmt: skip
    """A convolution of 3 x 3 by Winograd's tiles where that pays, for x and out [images, channels, *sizes]; else by
    windows, whose columns are so many pieces. filters: as `Assembler.tiles_product` has them.
    """
    step = out.shape[0] * out.dtype.itemsize
    is_dense = out.strides[2:] == (out.shape[3] * step, step)
    if not is_dense or not filters[0].is_contiguous:
        by_windows()
        return
    x = x if lies_images_last(x) else _copied(n, x)
    seen, made = (n.view(lambda a: np.moveaxis(a, 0, -1), v) for v in (x, out))
    n.tiles_product(seen, filters, made, [low for low, _ in pads], bias, pieces, by_windows)


def _channel_first(n: Any, x: Any, channel_last: bool) -> Any:
    return n.view(lambda a: np.moveaxis(a, 1, -1), x) if channel_last else x


def images_last(n: Any, images: int, channels: int, sizes: Shape, dtype: Any) -> Any:
    """A new array [images, channels, *sizes] with images innermost in memory."""
    return n.view(lambda a: np.moveaxis(a, -1, 0), n.new((channels, *sizes, images), dtype))


def _places(x: Any, sizes: Shape) -> Any:
    """Where the places of x [images, channels, *sizes] lie in a channel."""
    return offsets([*zip(sizes, x.strides[2:])])


def _is_full(n: Any, pieces: Any, dtype: Any, groups: int) -> bool:
    """Whether vectors of these pieces have few idle lanes, and the table of them is no large one."""
    count, least = len(pieces), _LEAST_USED if groups == 1 else _LEAST_OF_GROUPS
    return count <= _MOST_PIECES and int(pieces[:, 2].sum()) >= least * count * n.lanes(dtype)


@dataclass(frozen=True)
class _Grid:
    """How windows lie on an image."""

    sizes: Shape
    kernel: Shape
    counts: Shape
    stride: Shape
    pads: Sequence[Pair]
    dilation: Shape

    @property
    def has_tiles(self) -> bool:
        """Whether windows are 3 x 3 places side by side, one beside the other."""
        return self.kernel == (3, 3) and (*self.stride, *self.dilation) == (1, 1, 1, 1)

    def pieces(self, n: Any, images: int, dtype: Any, may_spread: bool = True) -> Any:
        """The pieces of its columns, of an image that is laid out for them."""
        each, step = images * dtype.itemsize, self.stride[-1] if self.counts[-1] > 1 else 1
        wide = [max(size + low + high, 0) for size, (low, high) in zip(self.sizes, self.pads)]
        pitch = -(-wide[-1] // step) * step * each
        dims = [(self.counts[-1], each)]
        for count, stride, size in reversed([*zip(self.counts[:-1], self.stride, wide)]):
            dims.append((count, stride * pitch))
            pitch *= size
        places = offsets(dims[::-1])
        return n.pieces(places, np.arange(len(places)) * each, images, dtype, may_spread)

    def laid(self, n: Any, x: Any) -> Laid:
        """x [images, channels, *sizes], padded, images innermost; of a stride along rows each phase by itself."""
        step, item = self.stride[-1] if self.counts[-1] > 1 else 1, x.dtype.itemsize
        images = x.shape[0]
        is_there = images == 1 or x.strides[0] == item
        is_dense = is_there and (x.shape[-1] == 1 or x.strides[-1] == images * item)
        if is_dense and step == 1 and not any(map(any, self.pads)):
            outer, phase, along = x.strides[1:-1], 0, images * item
        else:
            x = _spread(n, x, self.pads, step)  # [channels, *outer sizes, phases, places, images]
            outer, phase, along = x.strides[:-3], x.strides[-3], x.strides[-2]
        lasts = np.arange(self.kernel[-1]) * self.dilation[-1]
        last = lasts % step * phase + lasts // step * along
        before = offsets([(k, s * d) for k, s, d in zip(self.kernel[:-1], outer[1:], self.dilation)])
        taps = (before[:, None] + last).reshape(-1)
        starts = offsets([(c, s * st) for c, s, st in zip(self.counts[:-1], outer[1:], self.stride)])
        places = (starts[:, None] + np.arange(self.counts[-1]) * along).reshape(-1)
        return Laid(x, outer[0], (*outer[1:], along), taps, places)


def _spread(n: Any, x: Any, pads: Sequence[Pair], step: int) -> Any:
    """x [images, channels, *sizes] padded with zeros (cut where that is negative), as [channels, *sizes but the last,
    phases of the last, places, images].
    """
    images, channels, *sizes = x.shape
    wide = [size + low + high for size, (low, high) in zip(sizes, pads)]
    places = -(-wide[-1] // step)
    out = n.new((channels, *wide[:-1], step, places, images), x.dtype)
    seen = n.view(lambda a: np.moveaxis(a, 0, -1), x)
    before = [slice(max(low, 0), low + size + min(high, 0)) for size, (low, high) in zip(sizes[:-1], pads)]
    rows = [slice(max(-low, 0), size + min(high, 0)) for size, (low, high) in zip(sizes[:-1], pads)]
    low, high = pads[-1]
    first, end = max(low, 0), low + sizes[-1] + min(high, 0)
    for axis, (own, size) in enumerate(zip(before, wide[:-1])):
        for edge in (slice(0, own.start), slice(own.stop, size)):
            _clear(n, out, (slice(None), *before[:axis], edge))
    for phase in range(step):
        start, stop = (-(-(end_of - phase) // step) for end_of in (first, max(end, first)))
        place = (slice(None), *before, phase)
        for edge in (slice(0, start), slice(max(stop, start), places)):
            _clear(n, out, (*place, edge))
        if start < stop:
            there = n.view(lambda a: a[(*place, slice(start, stop))], out)  # noqa: B023 - called at once
            at = phase + step * start - low
            columns = slice(at, at + (stop - start - 1) * step + 1, step)
            n.copy(n.view(lambda a: a[(slice(None), *rows, columns)], seen), there)  # noqa: B023 - likewise
    return out


def _clear(n: Any, out: Any, index: Any) -> None:
    part = n.view(lambda a: a[index], out)
    if part.size:
        n.copy(n.full(part.shape, 0, part.dtype), part)


# --- cotangents ------------------------------------------------------------------------------------------------------


def weight_grad_native(
    n: Any, ct: Any, x: Any, weight: Any, *, stride: Shape, padding: Any, dilation: Shape, groups: int,
    channel_last: bool,
) -> Any:  # fmt: skip
    """The weight's cotangent: the dots of its rows with windows, where there are many columns."""
    need_products(n, ct, x)
    flowing, seen = (channel_second(n, v, channel_last) for v in (ct, x))
    kernel, counts, images = weight.shape[2:], flowing.shape[2:], x.shape[0]
    rows, channels = weight.shape[0] // groups, weight.shape[1]
    if weight.size and ct.size:
        pads = resolve_padding(padding, seen.shape[2:], kernel, stride)
        grid = _Grid(seen.shape[2:], kernel, counts, stride, pads, used_dilation(padding, dilation))
        pieces = grid.pieces(n, images, ct.dtype, may_spread=False)
        if (len(pieces) >= _LONG or rows < FEW_OUTPUTS) and _is_full(n, pieces, ct.dtype, groups):
            laid = grid.laid(n, seen)
            flowing = flowing if lies_images_last(flowing) else _copied(n, flowing)
            pieces = n.pieces(laid.places, _places(flowing, counts), images, ct.dtype)
            out = n.new(weight.shape, ct.dtype)
            flat = n.reshape(out, (weight.shape[0], prod(weight.shape[1:])))
            n.dots_in_place(
                (flowing, flowing.strides[1], None, rows * flowing.strides[1]), rows,
                (laid.array, 0, laid.rows(channels), channels * laid.channel),
                (flat, flat.strides[0], None, rows * flat.strides[0]), pieces, groups,
            )  # fmt: skip
            return out
    return weight_grad_form(
        n, ct, x, weight, stride=stride, padding=padding, dilation=dilation, groups=groups, channel_last=channel_last
    )


def lies_images_last(x: Any) -> bool:
    """Whether the images of a place, and the places of a row, lie side by side."""
    images, item = x.shape[0], x.dtype.itemsize
    return bool((images == 1 or x.strides[0] == item) and (x.shape[-1] == 1 or x.strides[-1] == images * item))


def _copied(n: Any, x: Any) -> Any:
    return n.copy(x, images_last(n, x.shape[0], x.shape[1], x.shape[2:], x.dtype))


def input_grad_native(
    n: Any, ct: Any, weight: Any, x: Any, *, stride: Shape, padding: Any, dilation: Shape, groups: int,
    channel_last: bool,
) -> Any:  # fmt: skip
    """The input's cotangent: for each phase of the stride a convolution of ct with the places that reach it."""
    need_products(n, ct, weight)
    flowing, like = (channel_second(n, v, channel_last) for v in (ct, x))
    sizes, kernel = like.shape[2:], weight.shape[2:]
    if weight.size and ct.size and x.size:
        pads = resolve_padding(padding, sizes, kernel, stride)
        used = used_dilation(padding, dilation)
        along = [phases_along(*of) for of in zip(sizes, kernel, stride, (low for low, _ in pads), used)]
        found = [_Reached(flowing, weight, phases, groups) for phases in itertools.product(*along)]
        if all(p.is_full(n) for p in found):
            out = images_last(n, x.shape[0], weight.shape[1] * groups, sizes, ct.dtype)
            for one in found:
                there = (slice(None), slice(None), *(slice(p.first, None, s) for p, s in zip(one.phases, stride)))
                one.write(n, n.view(lambda a: a[there], out))  # noqa: B023 - called at once
            return _channel_first(n, out, channel_last)
    return input_grad_form(
        n, ct, weight, x, stride=stride, padding=padding, dilation=dilation, groups=groups, channel_last=channel_last
    )


class _Reached:
    """Every stride-th element of the input in each dimension, as a convolution of ct [images, outputs, *counts]."""

    def __init__(self, ct: Any, weight: Any, phases: Sequence[Phase], groups: int) -> None:
        self.ct, self.weight, self.phases, self.groups = ct, weight, phases, groups
        counts = tuple(p.reached for p in phases)
        self.is_zero = not all(p.lags for p in phases)
        most = [max(p.lags, default=0) for p in phases]
        pads = [
            (-p.start, p.start + high + p.reached - min(p.lags, default=0) - size)
            for p, high, size in zip(phases, most, ct.shape[2:])
        ]
        ones = (1,) * len(phases)
        self.spans = [[high - lag for lag in p.lags] for p, high in zip(phases, most)]
        self.grid = _Grid(ct.shape[2:], ones, counts, ones, pads, ones)

    def is_full(self, n: Any) -> bool:
        """Whether vectors of its columns have few idle lanes."""
        ct = self.ct
        return self.is_zero or _is_full(n, self.grid.pieces(n, ct.shape[0], ct.dtype), ct.dtype, self.groups)

    def write(self, n: Any, part: Any) -> None:
        """Compute it where it belongs."""
        if self.is_zero or not part.size:
            n.copy(n.full(part.shape, 0, part.dtype), part)
            return
        images, channels, *counts = part.shape
        made = part if lies_images_last(part) else images_last(n, images, channels, tuple(counts), part.dtype)
        by_windows = partial(self._by_windows, n, made)
        if self.weight.shape[2:] == (3, 3) and all(p.lags == (0, 1, 2) for p in self.phases) and self.groups == 1:
            steps, pieces = self.weight.strides, len(self.grid.pieces(n, images, part.dtype))
            filters = (self.weight, channels, self.weight.shape[0], steps[1], steps[0], True)
            _by_tiles(n, self.ct, filters, made, self.grid.pads, None, pieces, by_windows)
        else:
            by_windows()
        if made is not part:
            n.copy(made, part)

    def _by_windows(self, n: Any, made: Any) -> None:
        laid = self.grid.laid(n, self.ct)
        reach = np.zeros(1, np.int64)
        for span, step in zip(self.spans, laid.steps):
            reach = (reach[:, None] + np.array(span) * step).reshape(-1)
        images, channels = made.shape[:2]
        pieces = n.pieces(laid.places, _places(made, self.grid.counts), images, made.dtype, may_spread=True)
        weight, rows, outputs = self.weight, channels // self.groups, self.weight.shape[0] // self.groups
        n.product_in_place(
            (weight, weight.strides[1], self._taps(outputs), outputs * weight.strides[0]), rows,
            (laid.array, 0, laid._replace(taps=reach).rows(outputs), outputs * laid.channel),
            (made, made.strides[1], None, rows * made.strides[1]), pieces, None, self.groups,
        )  # fmt: skip

    def _taps(self, outputs: int) -> Any:
        """The offsets of the weights that reach these elements, output by output of a group."""
        taps = offsets([(outputs, self.weight.strides[0])])
        for p, step in zip(self.phases, self.weight.strides[2:]):
            own = np.arange(p.taps.start, p.taps.stop, p.taps.step or 1) * step
            taps = (taps[:, None] + own).reshape(-1)
        return taps


__all__ = ["conv_native", "images_last", "input_grad_native", "lies_images_last", "weight_grad_native"]
