"""Convolution of arrays as matrix products, and its two adjoints.

Inside, arrays are [channels, *spatial, batch] in memory. With the batch innermost, the columns that a window gathers
are long contiguous runs, one product serves the whole batch, and results need no reordering: they leave as views in
the caller's dimension order, so that a chain of layers keeps this memory order from end to end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.meta import Shape
from .accumulate import wide
from .sliding_window import Pair, resolve_padding, span, taps_along, taps_over, used_dilation, window_counts

# Bytes of gathered columns that one product works on, so that they stay in the cache.
_BLOCK = 1 << 19
# The same where columns are scattered, in fewer and larger steps.
_SPREAD_BLOCK = 2 << 20
# Elements of a weight that stays in the cache while it is copied.
_SMALL_WEIGHT = 1 << 18


class Geometry(NamedTuple):
    """How windows lie on the input, with the padding worked out for its sizes."""

    kernel: Shape
    stride: Shape
    pads: tuple[Pair, ...]
    dilation: Shape
    groups: int


def geometry(sizes: Shape, kernel: Shape, stride: Shape, padding: Any, dilation: Shape, groups: int) -> Geometry:
    """The Geometry of a convolution over an input of these spatial sizes."""
    pads = resolve_padding(padding, sizes, kernel, stride)
    return Geometry(kernel, stride, pads, used_dilation(padding, dilation), groups)


def batch_last(x: Any, channel_last: bool) -> Any:
    """A view of x as [channels, *spatial, batch]."""
    ndim = x.ndim
    return x.transpose((ndim - 1, *range(1, ndim - 1), 0) if channel_last else (*range(1, ndim), 0))


def batch_first(y: Any, channel_last: bool) -> Any:
    """A view of y [channels, *spatial, batch] in the caller's dimension order."""
    last = y.ndim - 1
    return y.transpose((last, *range(1, last), 0) if channel_last else (last, *range(last)))


def padded(xp: Any, x: Any, pads: Sequence[Pair]) -> Any:
    """x [channels, *spatial, batch] with zeros around the spatial dimensions (cut where negative), contiguous."""
    if not any(map(any, pads)):
        return xp.ascontiguousarray(x)
    sizes = [s + lo + hi for s, (lo, hi) in zip(x.shape[1:-1], pads)]
    out = xp.zeros((x.shape[0], *sizes, x.shape[-1]), x.dtype)
    to, of = [slice(None)], [slice(None)]
    for size, (lo, hi) in zip(x.shape[1:-1], pads):
        to.append(slice(max(lo, 0), max(lo, 0) + size + min(lo, 0) + min(hi, 0)))
        of.append(slice(max(-lo, 0), size + min(hi, 0)))
    out[tuple(to)] = x[tuple(of)]
    return out


def _windows(xp: Any, x: Any, g: Geometry, counts: Shape) -> Any:
    """A view [channels, *kernel, *counts, batch] of the padded x: every window's elements."""
    lead, *spatial, last = x.strides
    strides = (
        lead, *(s * d for s, d in zip(spatial, g.dilation)), *(s * st for s, st in zip(spatial, g.stride)), last,
    )  # fmt: skip
    shape = (x.shape[0], *g.kernel, *counts, x.shape[-1])
    if xp is np and x.size:
        return np.ndarray(shape, x.dtype, x, 0, strides)  # `as_strided` takes as long as all else around small images
    return xp.lib.stride_tricks.as_strided(x, shape, strides)


def _blocks(windows: Any, rank: int) -> Iterator[tuple[int, int]]:
    """Ranges of the first spatial output dimension whose columns fit in a block."""
    rows = windows.shape[1 + rank]
    step = max(1, _BLOCK * rows // max(windows.size * windows.itemsize, 1))
    for start in range(0, rows, step):
        yield start, min(start + step, rows)


def in_one_piece(part: Any) -> Any:
    """The elements of a view in order, in any shape. NumPy copies runs that lie together faster as one element each."""
    run, axes = part.itemsize, part.ndim
    while axes and (part.shape[axes - 1] == 1 or part.strides[axes - 1] == run):
        run *= part.shape[axes - 1]
        axes -= 1
    if part.__class__ is not np.ndarray or axes == 0 or run == part.itemsize or not part.size:
        return part
    merged = part.reshape(*part.shape[:axes], run // part.itemsize)  # still a view
    return np.ascontiguousarray(merged.view(f"V{run}")).view(part.dtype)


def _columns(windows: Any, rank: int, groups: int, start: int, stop: int) -> Any:
    """[groups, channels * kernel of a group, positions] of one block; a copy unless the window is one element."""
    index = (slice(None),) * (1 + rank) + (slice(start, stop),)
    rows = windows.shape[0] // groups
    for k in windows.shape[1 : 1 + rank]:
        rows *= k
    part = in_one_piece(windows[index])
    return part.reshape(groups, rows, part.size // (groups * rows) if part.size else 0)


def _grouped(weight: Any, groups: int) -> Any:
    """weight [out, in / groups, *kernel] as [groups, out / groups, in / groups * kernel]."""
    return weight.reshape(groups, weight.shape[0] // groups, -1)


def _flat(y: Any, groups: int) -> Any:
    """y [out, *counts, batch], contiguous, as [groups, out / groups, positions]."""
    return y.reshape(groups, y.shape[0] // groups, y.size // y.shape[0])


def convolve(xp: Any, x: Any, weight: Any, g: Geometry, reverse: bool = False) -> Any:
    """x [in, *spatial, batch], weight [out, in / groups, *kernel] -> [out, *counts, batch].

    reverse: with the kernel reversed in every spatial dimension.
    """
    rank = len(g.kernel)
    zeros = ((0, 0),) * rank
    x = padded(xp, x, g.pads)
    counts = window_counts(x.shape[1:-1], g.kernel, g.stride, zeros, g.dilation)
    windows = _windows(xp, x, g, counts)
    if reverse:
        windows = windows[(slice(None), *(slice(None, None, -1),) * rank)]
    out = xp.empty((weight.shape[0], *counts, x.shape[-1]), x.dtype)
    flat, matrix = _flat(out, g.groups), _grouped(weight, g.groups)
    row = flat.shape[-1] // counts[0]
    for start, stop in _blocks(windows, rank):
        columns = _columns(windows, rank, g.groups, start, stop)
        xp.matmul(matrix, columns, out=flat[:, :, start * row : stop * row])
    return out


def weight_adjoint(xp: Any, ct: Any, x: Any, shape: Shape, g: Geometry) -> Any:
    """The cotangent of the weight: ct [out, *counts, batch], x [in, *spatial, batch] -> `shape`."""
    rank = len(g.kernel)
    windows = _windows(xp, padded(xp, x, g.pads), g, ct.shape[1:-1])
    flat = _flat(xp.ascontiguousarray(ct), g.groups)
    total = None
    row = flat.shape[-1] // max(ct.shape[1], 1)
    for start, stop in _blocks(windows, rank):
        columns = _columns(windows, rank, g.groups, start, stop)
        part = xp.matmul(flat[:, :, start * row : stop * row], columns.swapaxes(1, 2))
        total = part if total is None else xp.add(total, part, out=total)
    return xp.zeros(shape, ct.dtype) if total is None else total.reshape(shape)


def input_adjoint(xp: Any, ct: Any, weight: Any, sizes: Shape, g: Geometry) -> Any:
    """The cotangent of the input: ct [out, *counts, batch], weight -> [in, *sizes, batch]."""
    mirrored = _mirrored_geometry(ct, weight, sizes, g)
    if mirrored is not None:
        return convolve(xp, ct, _exchanged(weight, g.groups), mirrored, reverse=True)
    rank = len(g.kernel)
    channels = weight.shape[1] * g.groups
    out = xp.zeros((channels, *sizes, ct.shape[-1]), ct.dtype)
    flat = _flat(xp.ascontiguousarray(ct), g.groups)
    matrix = _grouped(weight, g.groups).swapaxes(1, 2)
    counts = ct.shape[1:-1]
    row = flat.shape[-1] // max(counts[0], 1)
    step = max(1, _SPREAD_BLOCK // max(matrix.size // matrix.shape[2] * row * ct.itemsize, 1))
    for start in range(0, counts[0], step):
        part = (min(step, counts[0] - start), *counts[1:])
        flowing = flat[:, :, start * row : (start + part[0]) * row]
        columns = matrix * flowing if matrix.shape[2] == 1 else xp.matmul(matrix, flowing)  # no sum: no product
        _spread(out, columns.reshape(channels, *g.kernel, *part, ct.shape[-1]), start, g, rank)
    return out


def _spread(out: Any, columns: Any, start: int, g: Geometry, rank: int) -> None:
    """Add each column element to the input element it was gathered from; `start` output rows come before."""
    lows = [g.pads[0][0] - start * g.stride[0], *(lo for lo, _ in g.pads[1:])]
    along = [
        taps_along(out.shape[1 + i], g.kernel[i], g.stride[i], lows[i], g.dilation[i], columns.shape[1 + rank + i])
        for i in range(rank)
    ]
    places = _places(g.kernel)
    for place, (of, to) in zip(places, taps_over(along, 1)):
        out[to] += columns[(slice(None), *place)][of]


def _places(kernel: Shape) -> list[tuple[int, ...]]:
    places: list[tuple[int, ...]] = [()]
    for size in kernel:
        places = [(*p, k) for p in places for k in range(size)]
    return places


def _mirrored_geometry(ct: Any, weight: Any, sizes: Shape, g: Geometry) -> Geometry | None:
    """The convolution over `ct` that is the input's cotangent, where that is the faster way, else None.

    With stride 1 and no more outputs than inputs it gathers less than the other way scatters: measured 15 to 50 %
    faster where the copy of the weight stays in the cache, or the product is large enough to pay for it.
    """
    out, positions = weight.shape[0] // g.groups, ct.size // max(ct.shape[0], 1)
    pays = out <= weight.shape[1] and (out >= 4 or g.groups > 1)
    pays = pays and (weight.size <= _SMALL_WEIGHT or positions >= 8 * out)
    if not pays or any(s != 1 for s in g.stride):
        return None
    spans = list(map(span, g.kernel, g.dilation))
    lows = [s - 1 - lo for s, (lo, _) in zip(spans, g.pads)]
    pads = tuple((lo, size + s - 1 - count - lo) for lo, size, s, count in zip(lows, sizes, spans, ct.shape[1:-1]))
    return g._replace(pads=pads)


def _exchanged(weight: Any, groups: int) -> Any:
    """weight [out, in / groups, *kernel] as [in, out / groups, *kernel]."""
    parts = weight.reshape(groups, weight.shape[0] // groups, *weight.shape[1:]).swapaxes(1, 2)
    return in_one_piece(parts).reshape(-1, *parts.shape[2:])


def widened(xp: Any, *arrays: Any) -> list[Any]:
    """The arrays in a dtype that products are fast and exact enough in."""
    return [wide(xp, a) for a in arrays]
