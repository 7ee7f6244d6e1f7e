"""Windows over the stored elements of a sparse tensor [N, *sizes, C]: where they are, and what lies in them.

Everything is made of ordinary ops, so that gradients flow and programs record it. An element is known by its place: the
number of its position among all, counted row by row.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...core.errors import ArgumentError, ShapeError
from ...ops.creation import full
from ...ops.gather import gather
from ...ops.join import concat
from ...ops.masked import masked_select
from ...ops.search import searchsorted
from ...ops.select import where
from ...ops.sizes import size_of
from ...ops.sliding_window import per_dim, resolve_padding, used_dilation, window_padding
from ...ops.sparse_tensor import SparseCooTensor, unraveled
from ...ops.unique import unique
from ..unary import need_sparse


@dataclass(frozen=True)
class Window:
    """What slides over the sizes of a tensor, and over how many positions."""

    sizes: tuple[int, ...]
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]
    dilation: tuple[int, ...]
    ceil_mode: bool = False

    def positions(self) -> list[int]:
        """How many windows there are in each dimension."""
        found = []
        for size, kernel, stride, (low, high), dilation in zip(
            self.sizes, self.kernel, self.stride, self.pads, self.dilation
        ):
            room = size + low + high - dilation * (kernel - 1) - 1
            found.append((-(-room // stride) if self.ceil_mode else room // stride) + 1)
        return found

    def taps(self) -> Iterator[tuple[int, ...]]:
        """The positions in the kernel, row by row."""
        return itertools.product(*map(range, self.kernel))


def window_of(
    op: str, x: Any, kernel: Sequence[int], stride: Any, padding: Any, dilation: Any, ceil_mode: bool = False
) -> Window:
    """The window for x. Raises ArgumentError for settings that it cannot have."""
    dims = len(kernel)
    sizes = tuple(x.shape[1:-1])
    strides, dilations = per_dim(op, stride, dims, "stride"), per_dim(op, dilation, dims, "dilation")
    named = window_padding(op, padding, dims, True)
    pads = resolve_padding(named, sizes, tuple(kernel), strides)
    return Window(sizes, tuple(kernel), strides, pads, used_dilation(named, dilations), ceil_mode)


def need_voxels(op: str, x: Any, dims: int) -> SparseCooTensor:
    """x with each place stored once, in order. Raises DTypeError or ShapeError unless it is COO [N, *sizes, C]."""
    found: SparseCooTensor = need_sparse(op, x).coo()
    if found.ndim != dims + 2 or found.dense_dim() != 1:
        raise ShapeError(
            f"sparse.nn.{op}: x must have {dims + 2} dimensions, all but the last with indices, got shape "
            f"{list(found.shape)} with {found.dense_dim()} without"
        )
    return found.coalesce()


def need_channels(op: str, x: Any, weight: Any, dims: int, groups: int, data_format: str) -> None:
    """Raises ShapeError or ArgumentError unless weight is [*kernel, C, out] for x, channels last and in one group."""
    wanted = {2: "NHWC", 3: "NDHWC"}[dims]
    if data_format != wanted:
        raise ArgumentError(f"sparse.nn.{op}: data_format must be {wanted!r}, got {data_format!r}")
    if groups != 1:
        raise ArgumentError(f"sparse.nn.{op}: groups must be 1, got {groups}")
    if weight.ndim != dims + 2 or weight.shape[dims] != x.shape[-1]:
        raise ShapeError(
            f"sparse.nn.{op}: weight must be [*kernel of {dims}, {x.shape[-1]}, out], got {list(weight.shape)}"
        )


class Stored:
    """The elements of a coalesced tensor, found by their places."""

    def __init__(self, x: SparseCooTensor, absent: float) -> None:
        self._sizes = list(x.shape[1:-1])
        total = math.prod(x.shape[:-1])
        beyond = full([1], total, "int64")
        self._places = concat([x.flat_places(), beyond])
        rest = full([1, int(x.shape[-1])], absent, x.dtype)
        self._values = concat([x.values(), rest])
        self._last = size_of(x.values(), 0)

    def at(self, batch: Any, columns: Sequence[Any]) -> Any:
        """The values [n, C] at these indices, `absent` where none is stored."""
        place, inside = batch, batch >= 0
        for column, size in zip(columns, self._sizes):
            place = place * size + column
            inside = inside & (column >= 0) & (column < size)
        place = where(inside, place, self._places[-1])
        found = searchsorted(self._places, place)
        is_there = inside & (gather(self._places, found) == place)
        return gather(self._values, where(is_there, found, found * 0 + self._last))


def tap_columns(window: Window, tap: Sequence[int], columns: Sequence[Any]) -> list[Any]:
    """The indices of the elements under one position of the kernel, of the windows at `columns`."""
    return [
        column * stride - low + at * dilation
        for column, stride, (low, _), at, dilation in zip(columns, window.stride, window.pads, tap, window.dilation)
    ]


def reached(x: SparseCooTensor, window: Window) -> Any:
    """The indices [1 + dims, n] of the windows that hold a stored element, in order."""
    positions = window.positions()
    indices = x.indices()
    nowhere = math.prod([int(x.shape[0]), *positions])
    candidates = [full([1], nowhere, "int64")]
    for tap in window.taps():
        place, is_one = indices[0], indices[0] >= 0
        for axis, count in enumerate(positions):
            low, stride = window.pads[axis][0], window.stride[axis]
            start = indices[axis + 1] + low - tap[axis] * window.dilation[axis]
            is_one = is_one & (start % stride == 0) & (start >= 0) & (start < count * stride)
            place = place * count + start // stride
        candidates.append(where(is_one, place, candidates[0]))
    found = unique(concat(candidates))
    return unraveled(masked_select(found, found < nowhere), [int(x.shape[0]), *positions])
