"""Ops that move elements around, as steps of programs compiled ahead of time: copies between parts of arrays.

What is cut where depends on sizes that may be open: `n.note` tells sizes of parts, which must go on as they began.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from ..core.dtype import as_dtype
from ..core.meta import Shape
from .arguments import entries
from .flat_index import Rows
from .like import cast_op
from .order_forms import range_form
from .registry import get_op

_ALL = slice(None)
# Elements of a mask that a native program keeps.
_MOST_KEPT = 1 << 18
# Elements of an image that is enlarged element by element.
_MOST_TAKEN = 1 << 16


def _cut(n: Any, x: Any, axis: int, part: slice) -> Any:
    """A part of x along an axis."""
    found = n.view(lambda a: a[(*(_ALL,) * axis, part)], x)
    n.note(found.shape[axis])
    return found


def joined(n: Any, parts: Sequence[Any], axis: int) -> Any:
    """Parts put together along an axis."""
    shape = list(parts[0].shape)
    shape[axis] = sum(x.shape[axis] for x in parts)
    out, start = n.new(shape, parts[0].dtype), 0
    for x in parts:
        end = start + x.shape[axis]
        if x.size:
            n.copy(x, n.view(lambda a, part=slice(start, end): a[(*(_ALL,) * axis, part)], out))
        start = end
    return out


def broadcast_form(n: Any, *xs: Any) -> Any:
    """Each array, repeated to their common shape."""
    shape = np.broadcast_shapes(*[x.shape for x in xs])
    return tuple(n.copy(n.view(lambda a: np.broadcast_to(a, shape), x)) for x in xs)


def triangle_form(is_lower: bool) -> Callable[..., Any]:
    """The form that keeps what stands on a diagonal and below, or above."""

    def form(n: Any, x: Any, *, diagonal: int) -> Any:
        kept = _triangle(n, x.shape[-2:], diagonal, is_lower)
        return n.apply(get_op("where"), kept, x, n.full((), 0, x.dtype))

    return form


def _triangle(n: Any, sizes: Shape, diagonal: int, is_lower: bool) -> Any:
    """Where a matrix has its triangle: a constant where sizes are known, which is what it is for all of a stack."""
    if n.chooses_by_size:
        if prod(sizes) > _MOST_KEPT:
            n.refuse(f"the triangle of {sizes} is computed when it is needed")
        lower = np.tri(sizes[0], sizes[1], diagonal if is_lower else diagonal - 1, dtype=np.bool_)
        return n.constant(lower if is_lower else ~lower)
    rows, columns = (range_form(n, size, 0, 1, as_dtype("int64")) for size in sizes)
    edge = n.reshape(n.apply(get_op("add"), rows, n.full((), diagonal, rows.dtype)), (sizes[0], 1))
    return n.apply(get_op("greater_equal" if is_lower else "less_equal"), edge, columns)


def diagonal_written(n: Any, out: Any, value: Any, offset: int, axis1: int, axis2: int) -> Any:
    """`out`, whose memory is its own, with a value on a diagonal."""
    part = n.view(lambda a: a.diagonal(offset, axis1, axis2), out)
    n.note(part.shape[-1])
    n.copy(n.view(lambda a: np.broadcast_to(a, part.shape), value), part)
    return out


def flip_form(n: Any, x: Any, *, axis: Shape) -> Any:
    """x with its elements in the opposite order."""
    return n.copy(n.view(lambda a: np.flip(a, axis), x))


def roll_form(n: Any, x: Any, *, shifts: Any, axis: Shape | None) -> Any:
    """x with its elements moved, those that leave coming in again."""
    if axis is None:
        flat = roll_form(n, n.reshape(x, (prod(x.shape),)), shifts=shifts, axis=(0,))
        return n.reshape(flat, x.shape)
    moved = entries(shifts)
    for by, d in zip(moved * len(axis) if len(moved) == 1 else moved, axis):
        size = x.shape[d]
        at = (-by) % size if size else 0
        if at:
            x = joined(n, [_cut(n, x, d, slice(at, None)), _cut(n, x, d, slice(0, at))], d)
    return x


# Parts of a dimension of n elements that stand before and behind it.
_EDGES: dict[str, tuple[Any, Any]] = {
    "reflect": (lambda n, by: slice(by, 0, -1), lambda n, by: slice(n - 2, None if n < by + 2 else n - 2 - by, -1)),
    "circular": (lambda n, by: slice(n - by, n), lambda n, by: slice(0, by)),
}


def padded_by_own(n: Any, x: Any, pairs: Sequence[tuple[int, int]], mode: str) -> Any:
    """x with elements of its own before and behind each dimension."""
    if any(by < 0 for pair in pairs for by in pair):
        n.refuse(f"mode {mode!r} with negative sizes has no native form")
    for axis, (before, after) in enumerate(pairs):
        size = x.shape[axis]
        parts = [_edge(n, x, axis, size, 0, before, mode), x, _edge(n, x, axis, size, 1, after, mode)]
        found = [part for part in parts if part is not None]
        x = joined(n, found, axis) if len(found) > 1 else x
    return x


def _edge(n: Any, x: Any, axis: int, size: int, end: int, by: int, mode: str) -> Any:
    if not by:
        return None
    if mode == "replicate":
        edge = _cut(n, x, axis, slice(size - 1, size) if end else slice(0, 1))
        shape = [by if d == axis else s for d, s in enumerate(x.shape)]
        return n.view(lambda a: np.broadcast_to(a, shape), edge)
    found = _cut(n, x, axis, _EDGES[mode][end](size, by))
    if found.shape[axis] != by:
        n.refuse(f"mode {mode!r} takes more elements than there are")
    return found


def resized(n: Any, x: Any, taps: Sequence[tuple[Any, Any]], first: int, is_nearest: bool) -> Any:
    """x with each dimension from `first` on as weighted sums of its elements: (places, weights), [out, taps] each."""
    if not is_nearest and x.dtype not in (np.float32, np.float64):
        n.refuse(f"resizing {x.dtype} has no native form")
    count = prod(x.shape[:first]) * prod(len(index) for index, _ in taps)
    if is_nearest and n.chooses_by_size and count > _MOST_TAKEN:
        n.refuse("NumPy copies so many elements in less time")
    for d, (index, weights) in enumerate(taps, start=first):
        if is_nearest:
            x = n.take(x, n.constant(np.asarray(index[:, 0], np.int64)), d)
            continue
        matrix = np.zeros((x.shape[d], len(index)))
        np.add.at(matrix, (index, np.arange(len(index))[:, None]), weights)
        last = n.view(lambda a, d=d: np.moveaxis(a, d, -1), x)
        made = n.matmul(n.contiguous(last), n.constant(matrix.astype(x.dtype)))
        x = n.view(lambda a, d=d: np.moveaxis(a, -1, d), made)
    return n.contiguous(x)


def _split_places(index: Sequence[Any]) -> tuple[tuple[Any, ...], list[tuple[int, Any]]]:
    """An index with what only the run knows taken whole, and the dimensions of the result where those stand."""
    basic: list[Any] = []
    places: list[tuple[int, Any]] = []
    dim = 0
    for item in index:
        is_known = item is None or isinstance(item, (int, np.integer, slice))
        if not is_known:
            places.append((dim, item))
        basic.append(item if is_known else _ALL)
        dim += 0 if isinstance(item, (int, np.integer)) else 1
    return tuple(basic), places


def getitem_form(n: Any, x: Any, *, index: tuple[Any, ...]) -> Any:
    """The part of x at an index, of which the run may know numbers."""
    basic, places = _split_places(index)
    found = n.view(lambda a: a[(*basic, Ellipsis)], x)
    for axis, place in reversed(places):
        found = n.take(found, n.reshape(place, ()), axis, wraps=True)
    return found


def setitem_form(n: Any, x: Any, value: Any, *indices: Any, index: tuple[Any, ...], axes: Shape) -> Any:
    """A copy of x in which a part is another value."""
    if value.dtype != x.dtype:
        value = n.apply(cast_op, value, dtype=as_dtype(x.dtype))
    out = n.copy(x)
    index, places_of_run = _split_places(index)
    if not indices:
        part = n.view(lambda a: a[(*index, Ellipsis)], out)
        n.note(*part.shape)
        if places_of_run:
            _put_at(n, part, value, places_of_run)
        elif part.size:
            n.copy(_spread(n, value, part.shape), part)
        return out
    if places_of_run or any(i != _ALL for i in index):
        n.refuse("an array beside other parts of an index has no native form")
    rows = Rows(n, x, indices, axes)
    table = rows.table(out)
    n.put_rows(table, rows.places, rows.of_part(_spread(n, value, rows.indexed_shape)))
    return rows.array(table)


def write_at(n: Any, x: Any, value: Any, index: tuple[Any, ...]) -> None:
    """Write a value, as large as the part of x at an index, there; the run may know one number of the index."""
    basic, places = _split_places(index)
    part = n.view(lambda a: a[(*basic, Ellipsis)], x)
    if places:
        _put_at(n, part, value, places)
    else:
        n.copy(value, part)


def _put_at(n: Any, part: Any, value: Any, places: list[tuple[int, Any]]) -> None:
    """Write a value where the run says, along one dimension of a part of an array."""
    if len(places) > 1:
        n.refuse("several places that only the run knows have no native form")
    ((axis, place),) = places
    front = n.view(lambda a: np.moveaxis(a, axis, 0), part)
    table = n.copy(front)
    rows = n.copy(_spread(n, value, front.shape[1:]))
    n.put_rows(table, n.reshape(place, (1,)), n.reshape(rows, (1, *rows.shape)))
    n.copy(table, front)


def scatter_nd_form(n: Any, x: Any, index: Any, updates: Any) -> Any:
    """x with slices added at places of its first dimension."""
    if index.shape[-1] != 1:
        n.refuse("places with several coordinates have no native form")
    places = n.reshape(index, index.shape[:-1])
    return n.apply(get_op("add"), x, n.add_rows(updates, places, x.shape, wraps=True))


def _spread(n: Any, value: Any, shape: Shape) -> Any:
    if value.ndim > len(shape):
        value = n.reshape(value, value.shape[value.ndim - len(shape) :])
    return n.view(lambda a: np.broadcast_to(a, shape), value)


def scatter_form(n: Any, x: Any, index: Any, updates: Any, *, overwrite: bool) -> Any:
    """A copy of x with rows written, or else with sums of rows in place of those that are named."""
    out = n.copy(x)
    if overwrite:
        n.put_rows(out, index, updates)
        return out
    n.put_rows(out, index, n.copy(n.full(x.shape[1:], 0, x.dtype)))
    return n.apply(get_op("add"), out, n.add_rows(updates, index, x.shape, wraps=True))
