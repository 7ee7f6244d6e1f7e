"""What ONNX's pooling means here: our own ops where these say the same, else one dimension after another."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.dtype import float32, int64
from ..core.errors import UnsupportedError
from ..ir.known_values import as_tensor
from ..ops import functions as F
from ..ops.like import cast
from ..ops.registry import get_op
from .layer_operators import window_pairs
from .node import Node
from .operator_table import operator
from .sizes import extent


@dataclass(frozen=True)
class Windows:
    """The windows of one dimension: how many, where each reads, and whether that is inside; both [windows, kernel]."""

    axis: int
    count: Any
    kernel: int
    places: Any
    inside: Any

    @staticmethod
    def of(size: Any, axis: int, kernel: int, stride: int, apart: int, pads: Any, ceil: bool) -> Windows:
        """The windows of a dimension of `size`; a last one that would begin behind its elements is none."""
        count = window_count(size, kernel, stride, apart, pads, ceil)
        starts = F.arange(count, dtype=int64) * stride - pads[0]
        places = F.unsqueeze(starts, 1) + F.arange(kernel, dtype=int64) * apart
        return Windows(axis, count, kernel, places, (places >= 0) & (places < size))

    def taken(self, x: Any, outside: float) -> Any:
        """x with its elements in windows, behind the dimension of these; `outside` in the padding."""
        kept = F.where(self.inside, self.places, F.zeros_like(self.places))
        found = get_op("gather")(x, F.reshape(kept, [-1]), axis=self.axis)
        sizes = [extent(x, d) for d in range(x.ndim)]
        sizes[self.axis : self.axis + 1] = [self.count, self.kernel]
        inside = F.reshape(self.inside, [*[1] * self.axis, self.count, self.kernel, *[1] * (x.ndim - self.axis - 1)])
        return F.where(inside, F.reshape(found, sizes), F.full([], outside, x.dtype))


def window_count(size: Any, kernel: int, stride: int, apart: int, pads: Any, ceil: bool) -> Any:
    """How many windows a dimension has."""
    room = size + pads[0] + pads[1] - (kernel - 1) * apart - 1
    if not ceil:
        return room // stride + 1
    count = (room + stride - 1) // stride + 1
    ends_behind = (count - 1) * stride >= size + pads[0]
    return count - (ends_behind if isinstance(ends_behind, bool) else cast(ends_behind, int64))


@dataclass(frozen=True)
class _Pool:
    """A node's windows."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    apart: tuple[int, ...]
    pads: Any
    ceil: bool

    @staticmethod
    def of(node: Node, x: Any) -> _Pool:
        kernel = tuple(node.ints("kernel_shape"))
        ones = [1] * len(kernel)
        apart, stride = tuple(node.ints("dilations", ones)), tuple(node.ints("strides", ones))
        return _Pool(kernel, stride, apart, window_pairs(node, len(kernel), x, kernel),
                     bool(node.number("ceil_mode", 0)))  # fmt: skip

    @property
    def is_ours(self) -> bool:
        """Whether our own ops have such windows: ours keep a last one that begins behind the elements."""
        if any(d != 1 for d in self.apart):
            return False
        return self.pads == "SAME" or not self.ceil or all(
            by + pads[1] <= k for by, pads, k in zip(self.stride, self.pads, self.kernel)
        )  # fmt: skip

    @property
    def attrs(self) -> dict[str, Any]:
        """What our own ops take."""
        return {"kernel": self.kernel, "stride": self.stride, "padding": self.pads, "ceil_mode": self.ceil,
                "channel_last": False}  # fmt: skip

    def windows(self, x: Any) -> list[Windows]:
        """The windows of each dimension behind the channels."""
        if self.pads == "SAME":
            raise UnsupportedError("pooling with auto_pad of sizes that are not known cannot be read")
        parts = zip(self.kernel, self.stride, self.apart, self.pads)
        return [Windows.of(extent(x, d), d, *part, self.ceil) for d, part in enumerate(parts, 2)]


@operator("MaxPool")
def max_pool(node: Node, x: Any) -> Any:
    """The largest of each window, and where it stands in the whole tensor."""
    given = as_tensor(x)
    found = given if given.dtype.is_floating else cast(given, float32)  # of 8-bit integers, which float32 holds
    pool = _Pool.of(node, found)
    if not pool.is_ours:
        out, places = _largest(found, pool.windows(found), node.outputs > 1)
    elif node.outputs == 1:
        out, places = get_op("max_pool")(found, **pool.attrs), None
    else:
        out, places = get_op("max_pool_with_index")(found, **pool.attrs)
    out = cast(out, given.dtype)
    if places is None:
        return out
    whole = _in_whole(found, places)
    return out, _by_columns(found, whole) if node.number("storage_order", 0) else whole


def _largest(x: Any, windows: Sequence[Windows], wants_places: bool) -> tuple[Any, Any]:
    """The largest of each window, and the first place of it in its plane, rows before columns."""
    places, step = None, 1
    for window in reversed(windows):
        parts, axis = window.taken(x, -math.inf), window.axis + 1
        if wants_places:
            first = F.argmax(parts, axis, keepdim=True)
            held = F.reshape(window.places, [window.count, window.kernel, *[1] * (x.ndim - window.axis - 1)])
            at = F.take_along_axis(F.zeros_like(parts, int64) + held, first, axis) * step
            if places is not None:
                at = at + F.take_along_axis(cast(window.taken(places, 0), int64), first, axis)
            places, step = F.squeeze(at, axis), step * extent(x, window.axis)
        x = get_op("max")(parts, axis=(axis,), keepdim=False)
    return x, places


def _in_whole(x: Any, places: Any) -> Any:
    """Places in a plane as they are counted through the whole tensor."""
    plane = math.prod(extent(x, d) for d in range(2, x.ndim))
    planes = F.arange(extent(x, 0) * extent(x, 1), dtype=int64)
    starts = F.reshape(planes * plane, [-1, extent(x, 1), *[1] * (x.ndim - 2)])
    return cast(places, int64) + starts


def _by_columns(x: Any, places: Any) -> Any:
    """Places as they are counted where the last dimension is the slowest of a plane."""
    sizes = [extent(x, d) for d in range(2, x.ndim)]
    plane, rest, step = math.prod(sizes), places % math.prod(sizes), 1
    found = places - rest
    for size in sizes:
        plane = plane // size
        found, rest, step = found + rest // plane * step, rest % plane, step * size
    return found


def _totals(x: Any, windows: Sequence[Windows]) -> Any:
    """The sum of each window."""
    for window in reversed(windows):
        x = get_op("sum")(window.taken(x, 0.0), axis=(window.axis + 1,), keepdim=False)
    return x


@operator("AveragePool")
def average_pool(node: Node, x: Any) -> Any:
    """The mean of each window, of what is inside or, with `count_include_pad`, of the padding too."""
    found = as_tensor(x)
    pool, whole = _Pool.of(node, found), bool(node.number("count_include_pad", 0))
    if pool.is_ours:
        return get_op("avg_pool")(found, exclusive=not whole, divisor=None, **pool.attrs)
    windows = pool.windows(found)
    counts: Any = 1
    for window, (low, high) in zip(windows, pool.pads):
        last = extent(found, window.axis) + high
        counted = (window.places >= -low) & (window.places < last) if whole else window.inside
        per_window = F.sum(cast(counted, found.dtype), 1)
        counts = F.reshape(per_window, [window.count, *[1] * (found.ndim - window.axis - 1)]) * counts
    return _totals(found, windows) / counts


@operator("LpPool")
def power_pool(node: Node, x: Any) -> Any:
    """The norm of each window."""
    found, p = as_tensor(x), node.number("p", 2)
    return F.pow(_totals(F.pow(F.abs(found), p), _Pool.of(node, found).windows(found)), 1.0 / p)


_GLOBAL: dict[str, Callable[[Node, Any, tuple[int, ...]], Any]] = {
    "GlobalAveragePool": lambda node, x, axes: get_op("mean")(x, axis=axes, keepdim=True),
    "GlobalMaxPool": lambda node, x, axes: get_op("max")(x, axis=axes, keepdim=True),
    "GlobalLpPool": lambda node, x, axes: get_op("p_norm")(x, p=float(node.number("p", 2)), axis=axes, keepdim=True),
}


@operator(*_GLOBAL)
def global_pool(node: Node, x: Any) -> Any:
    """The mean, maximum or norm of each channel."""
    found = as_tensor(x)
    return _GLOBAL[node.type](node, found, tuple(range(2, found.ndim)))
