"""Sorting, running sums and elements that integers name, as steps of programs compiled ahead of time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.dtype import as_dtype
from .registry import get_op


def _last(n: Any, x: Any, axis: int) -> Any:
    """x with an axis as its last dimension, and its elements in that order."""
    return n.contiguous(n.view(lambda a: np.moveaxis(a, axis, -1), x))


def _back(n: Any, x: Any, axis: int) -> Any:
    return n.view(lambda a: np.moveaxis(a, -1, axis), x)


def sort_form(n: Any, x: Any, *, axis: int, descending: bool) -> Any:
    """The elements in order, and where they were."""
    if not x.ndim:
        return x, n.full((), 0, np.dtype(np.int64))
    return first_form(n, x, k=x.shape[axis], axis=axis, largest=descending)


def first_form(n: Any, x: Any, *, k: int, axis: int, largest: bool) -> Any:
    """The k first elements in order, and where they were."""
    if not x.ndim:
        return x, n.full((), 0, np.dtype(np.int64))
    if not min(1, x.shape[axis]) <= k <= x.shape[axis]:
        n.refuse(f"there are no {k} of {x.shape[axis]} elements")
    n.note(x.shape[axis] - k)
    rows = _last(n, x, axis)
    places = n.contiguous(n.view(lambda a: a[..., :k], n.order(rows, largest)))
    return tuple(_back(n, found, axis) for found in (n.pick_along(rows, places), places))


def take_along_form(n: Any, x: Any, index: Any, *, axis: int, broadcast: bool) -> Any:
    """For each place the element of x that an index names along an axis."""
    if broadcast:
        shape = tuple(i if d == axis else max(i, s) for d, (s, i) in enumerate(zip(x.shape, index.shape)))
        given = tuple(s if d == axis else max(i, s) for d, (s, i) in enumerate(zip(x.shape, index.shape)))
        index, x = (n.view(lambda a, to=to: np.broadcast_to(a, to), v) for v, to in ((index, shape), (x, given)))
    elif any(i != s for d, (s, i) in enumerate(zip(x.shape, index.shape)) if d != axis):
        part = tuple(slice(None) if d == axis else slice(0, i) for d, i in enumerate(index.shape))
        x = n.view(lambda a: a[part], x)
    return _back(n, n.pick_along(_last(n, x, axis), _last(n, index, axis)), axis)


def put_along_form(
    n: Any, x: Any, index: Any, values: Any, *, axis: int, reduce: str, include_self: bool, broadcast: bool
) -> Any:
    """x with values written, or added, where an index names places along an axis: elements of one long row."""
    if not x.ndim:
        n.refuse("one number has no places along an axis")
    if reduce != "assign" and (reduce != "add" or not include_self):
        n.refuse(f"reduce={reduce!r} with include_self={include_self} has no native form")
    shape = tuple(i if d == axis or not broadcast else max(i, s) for d, (s, i) in enumerate(zip(x.shape, index.shape)))
    if shape[:axis] + shape[axis + 1 :] != x.shape[:axis] + x.shape[axis + 1 :]:
        n.refuse("places for a part of the other dimensions have no native form")
    integer, length = np.dtype(np.int64), x.shape[axis]
    index, values = (
        n.contiguous(n.view(lambda a: np.moveaxis(np.broadcast_to(a, shape), axis, 0), v)) for v in (index, values)
    )
    count = int(np.prod(index.shape[1:], dtype=np.int64))
    wide = index if index.dtype == integer else n.apply(get_op("cast"), index, dtype=as_dtype(integer))
    is_behind = n.apply(get_op("less_than"), wide, n.full((), 0, integer))
    from_end = n.apply(get_op("add"), wide, n.full((), length, integer))
    rows = n.reshape(n.contiguous(n.apply(get_op("where"), is_behind, from_end, wide)), (index.shape[0], count))
    columns = n.reshape(range_form(n, count, 0, 1, as_dtype(integer)), (1, count))
    starts = n.apply(get_op("multiply"), rows, n.full((), count, integer))
    places = n.reshape(n.contiguous(n.apply(get_op("add"), starts, columns)), (index.shape[0] * count,))
    table = n.copy(n.view(lambda a: np.moveaxis(a, axis, 0), x))
    front, flat = table.shape, n.reshape(table, (length * count, 1))
    values = n.reshape(values, (index.shape[0] * count, 1))
    if reduce == "assign":
        n.put_rows(flat, places, values)
    else:
        flat = n.apply(get_op("add"), flat, n.add_rows(values, places, flat.shape))
    return n.copy(n.view(lambda a: np.moveaxis(a.reshape(front), 0, axis), flat))


def take_along_adjoint_form(n: Any, x: Any, like: Any, index: Any, *, axis: int, broadcast: bool) -> Any:
    """Zeros with the elements of x added where an index names places along an axis."""
    zeros = n.full(like.shape, 0, x.dtype)
    return put_along_form(n, zeros, index, x, axis=axis, reduce="add", include_self=True, broadcast=broadcast)


def running_form(name: str) -> Callable[..., Any]:
    """The form of a running "sum" or "prod"."""

    def form(n: Any, x: Any, *, axis: int, reverse: bool) -> Any:
        return n.run_over(name, x, axis, reverse) if x.ndim else n.copy(x)

    return form


def running_logs_form(n: Any, x: Any, *, axis: int, reverse: bool) -> Any:
    """The logarithms of running sums of exp(x): each pass joins runs twice as long as those of the one before."""
    dtype, wide = as_dtype(x.dtype), as_dtype("float32") if x.dtype.itemsize == 2 else as_dtype(x.dtype)
    found, step = n.copy(x) if x.dtype == wide.np else n.apply(get_op("cast"), x, dtype=wide), 1
    while x.ndim and step < x.shape[axis]:
        low, high = (_part(n, found, axis, part) for part in (slice(None, -step), slice(step, None)))
        done = _part(n, found, axis, slice(-step, None) if reverse else slice(None, step))
        found = n.new(x.shape, wide.np)
        ends = [_part(n, found, axis, part) for part in (slice(None, step), slice(step, None))]
        if reverse:
            ends = [_part(n, found, axis, part) for part in (slice(-step, None), slice(None, -step))]
        n.copy(done, ends[0])
        n.apply_into(ends[1], get_op("logaddexp"), low, high)
        step *= 2
    n.note(step)
    return found if dtype is wide else n.apply(get_op("cast"), found, dtype=dtype)


def _part(n: Any, x: Any, axis: int, part: slice) -> Any:
    return n.view(lambda a: a[(*(slice(None),) * axis, part)], x)


def running_place_form(name: str) -> Callable[..., Any]:
    """The form of the place of the "max" or "min" so far."""

    def form(n: Any, x: Any, *, axis: int, dtype: Any) -> Any:
        if not x.ndim:
            return n.full((), 0, dtype.np)
        narrow = {"f": "float32", "V": "float32"}.get(x.dtype.kind, "int32")
        if x.dtype.itemsize < 4:  # which holds all their numbers
            x = n.apply(get_op("cast"), x, dtype=as_dtype(narrow))
        found = n.place_over(name, x, axis)
        return found if found.dtype == dtype.np else n.apply(get_op("cast"), found, dtype=dtype)

    return form


def one_hot_form(n: Any, x: Any, *, num_classes: int) -> Any:
    """Rows of the unit matrix."""
    if num_classes < 1:
        n.refuse("the number of classes is that of the largest element")
    return n.take(n.constant(np.eye(num_classes, dtype=np.float32)), x)


def sort_values_form(n: Any, x: Any, *, axis: int, descending: bool) -> Any:
    """The elements in order."""
    if x.ndim and x.shape[axis] > n.longest_values:
        n.refuse(f"NumPy orders rows of {x.shape[axis]} values in less time")
    return sort_form(n, x, axis=axis, descending=descending)[0]


def range_form(n: Any, count: int, start: Any, step: Any, dtype: Any) -> Any:
    """So many integers from `start` on, `step` apart: running sums, since how many there are may be an open size."""
    if not isinstance(step, int) or not isinstance(start, int):
        n.refuse("numbers that are not integers have no native form where their number is open")
    steps = n.run_over("sum", n.full((count,), step, np.dtype(np.int64)), 0, False)
    found = n.apply(get_op("add"), steps, n.full((), start - step, np.dtype(np.int64)))
    return found if dtype.np == found.dtype else n.apply(get_op("cast"), found, dtype=dtype)


def division_form(name: str) -> Callable[..., Any]:
    """The form of the op `floor_divide` or `mod`: of integers a step that looks for zeros."""

    def form(n: Any, x: Any, y: Any) -> Any:
        return n.divide(x, y, name == "mod") if x.dtype.kind in "iu" else n.apply(get_op(name), x, y)

    return form
