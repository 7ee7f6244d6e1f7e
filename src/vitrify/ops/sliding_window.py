"""Sliding windows over spatial dimensions: arguments as users give them, sizes, and which elements meet."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from ..core.errors import ArgumentError, DTypeError, ShapeError
from ..core.meta import UNKNOWN, Meta, Shape
from .arguments import is_tensor, static_int

Pair = tuple[int, int]
Padding = Any  # "SAME", or a tuple of one (low, high) pair for each spatial dimension

FORMATS = {1: ("NCL", "NLC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


# --- arguments -----------------------------------------------------------------------------------------------------


def is_channel_last(op: str, data_format: str, n: int) -> bool:
    """Whether `data_format` puts channels last, for n spatial dimensions. Raises ArgumentError for other formats."""
    if data_format not in FORMATS[n]:
        raise ArgumentError(f"{op}: data_format must be one of {', '.join(FORMATS[n])}, got {data_format!r}")
    return data_format == FORMATS[n][1]


def per_dim(op: str, value: Any, n: int, name: str, least: int = 1) -> Shape:
    """One int for each of n spatial dimensions, from an int or a list of them; raises ArgumentError below `least`."""
    given = list(value) if isinstance(value, (list, tuple)) or (is_tensor(value) and value.ndim) else [value]
    sizes = tuple(static_int(op, v, name) for v in given)
    if len(sizes) == 1:
        sizes *= n
    if len(sizes) != n:
        raise ArgumentError(f"{op}: {name} must be an int or {n} ints, got {value}")
    if min(sizes) < least:
        raise ArgumentError(f"{op}: {name} must be at least {least}, got {value}")
    return sizes


def window_padding(op: str, padding: Any, n: int, channel_last: bool) -> Padding:
    """The padding of n spatial dimensions as (low, high) pairs, or "SAME".

    Accepts an int, n ints, 2n ints (low and high of each dimension), n + 2 pairs (batch and channel ones being zero),
    "SAME" and "VALID".
    """
    if isinstance(padding, str):
        return _named_padding(op, padding, n)
    if isinstance(padding, (list, tuple)) and padding and isinstance(padding[0], (list, tuple)):
        return _nested_padding(op, padding, n, channel_last)
    if isinstance(padding, (list, tuple)) and len(padding) == 2 * n:
        flat = per_dim(op, padding, 2 * n, "padding", least=0)
        return tuple(zip(flat[0::2], flat[1::2]))
    return tuple((p, p) for p in per_dim(op, padding, n, "padding", least=0))


def _named_padding(op: str, padding: str, n: int) -> Padding:
    known: dict[str, Padding] = {"SAME": "SAME", "VALID": ((0, 0),) * n}
    if padding.upper() not in known:
        raise ArgumentError(f"{op}: padding must be 'SAME', 'VALID' or ints, got {padding!r}")
    return known[padding.upper()]


def _nested_padding(op: str, padding: Sequence[Any], n: int, channel_last: bool) -> Padding:
    pairs = tuple(per_dim(op, pair, 2, "padding", least=0) for pair in padding)
    spatial = range(1, n + 1) if channel_last else range(2, n + 2)
    if len(pairs) != n + 2 or any(any(p) for i, p in enumerate(pairs) if i not in spatial):
        raise ArgumentError(
            f"{op}: padding as pairs needs {n + 2} of them, zero for batch and channel, got {list(padding)}"
        )
    return tuple(pairs[i] for i in spatial)


def spatial_of(shape: Sequence[int], channel_last: bool) -> Shape:
    """The spatial part of a shape."""
    return tuple(shape[1:-1] if channel_last else shape[2:])


def with_spatial(batch: int, channels: int, spatial: Sequence[int], channel_last: bool) -> Shape:
    """A whole shape from its parts."""
    return (batch, *spatial, channels) if channel_last else (batch, channels, *spatial)


def need_rank(op: str, x: Meta, n: int, name: str = "x") -> None:
    """Raise ShapeError unless `x` has n spatial dimensions, and DTypeError unless it is floating."""
    if x.ndim != n + 2:
        raise ShapeError(f"{op}: {name} is {x}, expected {n + 2} dimensions")
    if not x.dtype.is_floating:
        raise DTypeError(f"{op}: {name} is {x}, expected a floating dtype")


# --- sizes ---------------------------------------------------------------------------------------------------------


def resolve_padding(padding: Padding, sizes: Shape, kernel: Shape, stride: Shape) -> tuple[Pair, ...]:
    """Padding as pairs, with "SAME" worked out for these sizes: ceil(size / stride) outputs, the odd one at the end."""
    if padding != "SAME":
        return tuple(padding)
    total = [max((-(-s // st) - 1) * st + k - s, 0) for s, k, st in zip(sizes, kernel, stride)]
    return tuple((t // 2, t - t // 2) for t in total)


def used_dilation(padding: Padding, dilation: Shape) -> Shape:
    """The dilation that takes effect: "SAME" means none, as in Paddle."""
    return (1,) * len(dilation) if padding == "SAME" else dilation


def span(kernel: int, dilation: int) -> int:
    """How many elements a dilated window covers."""
    return (kernel - 1) * dilation + 1


def window_count(size: int, kernel: int, stride: int, pad: Pair, dilation: int = 1, ceil: bool = False) -> int:
    """How many windows fit along one dimension, the last one partly outside when `ceil`."""
    room = size + pad[0] + pad[1] - span(kernel, dilation)
    return (room + stride - 1 if ceil else room) // stride + 1


def window_counts(
    sizes: Shape, kernel: Shape, stride: Shape, padding: Padding, dilation: Shape, ceil: bool = False
) -> Shape:
    """`window_count` of each dimension; -1 where a size or the kernel is unknown.

    Raises ArgumentError for a stride of 0.
    """
    if min(stride, default=1) < 1:
        raise ArgumentError(f"stride must be positive, got {list(stride)}")
    dilation = used_dilation(padding, dilation)
    pads = resolve_padding(padding, sizes, kernel, stride)
    counts = map(window_count, sizes, kernel, stride, pads, dilation, [ceil] * len(sizes))
    return tuple(UNKNOWN if UNKNOWN in (s, k) else known_count(c) for s, k, c in zip(sizes, kernel, counts))


def known_count(count: int) -> int:
    """A count of windows that is known: -2 for any that is negative, since -1 says that it is not known."""
    return count if count >= 0 else -2


def pool_counts(sizes: Shape, kernel: Shape, stride: Shape, padding: Padding, ceil: bool) -> Shape:
    """How many windows a pooling has along each dimension; UNKNOWN where the size is.

    As in Paddle the quotient is rounded towards zero: a window that is larger than the padded input, but by less than
    the stride, still counts and sees what there is.
    """
    pads = resolve_padding(padding, sizes, kernel, stride)
    counts = []
    for size, k, step, pad in zip(sizes, kernel, stride, pads):
        room = size + pad[0] + pad[1] - k + (step - 1 if ceil else 0)
        count = 1 + (room // step if room >= 0 else -(-room // step))
        counts.append(UNKNOWN if size == UNKNOWN else known_count(count))
    return tuple(counts)


def check_counts(op: str, counts: Shape, x: Meta, kernel: Shape) -> None:
    """Raise ShapeError when no window fits."""
    if any(c <= 0 and c != UNKNOWN for c in counts):
        raise ShapeError(f"{op}: the window {list(kernel)} is larger than the padded x {x}")


# --- which elements meet ---------------------------------------------------------------------------------------------

Taps = list[tuple[slice, slice]]


def taps_along(size: int, kernel: int, stride: int, low: int, dilation: int, count: int) -> Taps:
    """For each place in the window: the output positions at which it lies inside the input, and what it reads there.

    `low` elements of padding come before the input. An empty range gives two empty slices.
    """
    taps = []
    for k in range(kernel):
        offset = k * dilation - low
        first = max(0, -(offset // stride))
        last = min(count, -((offset - size) // stride))
        if last <= first:
            taps.append((slice(0, 0), slice(0, 0)))
        else:
            start = first * stride + offset
            taps.append((slice(first, last), slice(start, start + (last - first - 1) * stride + 1, stride)))
    return taps


def taps_over(taps: Sequence[Taps], lead: int) -> Iterator[tuple[tuple[slice, ...], tuple[slice, ...]]]:
    """Output and input index for every place of an n-dimensional window, behind `lead` whole dimensions."""
    whole = (slice(None),) * lead
    for place in itertools.product(*taps):
        yield (*whole, *(o for o, _ in place)), (*whole, *(i for _, i in place))
