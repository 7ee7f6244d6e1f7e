"""Axes that only a run knows: the dimension is brought to the front, worked on there, and put back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.dtype import int64
from ..core.errors import DTypeError
from ..core.meta import UNKNOWN, Meta, normalize_axis
from ..core.single import assert_single
from .arguments import entries, is_open_axis, is_tensor, static_int, whole
from .registry import OpDef, define_op, get_op


def _place(axis: Any, ndim: int) -> int:
    return normalize_axis("axis", int(entries(axis)[0]), ndim)


axis_to_front_op: OpDef = define_op(
    "axis_to_front",
    kernel=lambda xp, x, *, axis: xp.moveaxis(x, _place(axis, x.ndim), 0),
    meta=lambda x, *, axis: Meta((UNKNOWN,) * x.ndim, x.dtype),
    vjp={"x": lambda ct, *, axis: axis_from_front_op(ct, axis=axis)},
    dynamic=("axis",),
    raises=True,
)
axis_from_front_op: OpDef = define_op(
    "axis_from_front",
    kernel=lambda xp, x, *, axis: xp.moveaxis(x, 0, _place(axis, x.ndim)),
    meta=lambda x, *, axis: Meta((UNKNOWN,) * x.ndim, x.dtype),
    vjp={"x": lambda ct, *, axis: axis_to_front_op(ct, axis=axis)},
    dynamic=("axis",),
    raises=True,
)


def at_axis(op: str, xs: list[Any], axis: Any, function: Callable[[list[Any], int], Any]) -> Any:
    """`function(xs, axis)`, which gives a tensor or a list of tensors; an axis that only a run knows is the first one.

    Raises IndexRangeError for an axis outside of the dimensions.
    """
    if not is_open_axis(axis):
        return function(xs, normalize_axis(op, static_int(op, axis, "axis"), xs[0].ndim))
    found = function([to_front(x, axis) for x in xs], 0)
    return [from_front(part, axis) for part in found] if isinstance(found, (list, tuple)) else from_front(found, axis)


def to_front(x: Any, axis: Any) -> Any:
    """x with the dimension at `axis`, a tensor with one element, in front."""
    return axis_to_front_op(x, axis=_one(axis))


def from_front(x: Any, axis: Any) -> Any:
    """x with its first dimension at `axis`, a tensor with one element."""
    return axis_from_front_op(x, axis=_one(axis))


def unknown_axes(axis: Any) -> list[Any] | None:
    """The axes that an argument names, where some of them are tensors whose values only a run knows; else None."""
    if is_open_axis(axis) and axis.ndim == 1 and axis.shape[0] != UNKNOWN:
        return [axis[i] for i in range(axis.shape[0])] or None  # none is known to be none
    if is_open_axis(axis):
        return [axis]
    return list(axis) if isinstance(axis, (list, tuple)) and any(map(is_open_axis, axis)) else None


def all_to_front(op: str, x: Any, axes: list[Any]) -> tuple[Any, list[Any]]:
    """x with the dimensions at `axes`, ints and tensors, in front, the last of them first; and how to put them back.

    Each is moved by itself, which shifts those between the front and where it was.
    """
    places = [_counted(op, axis, x.ndim) for axis in axes]
    for done, place in enumerate(places):
        x = to_front(x, place)
        places[done + 1 :] = [later + _as_number(later < place) for later in places[done + 1 :]]
    return x, places


def all_from_front(x: Any, places: list[Any]) -> Any:
    """x with its first dimensions where `all_to_front` took them from."""
    for place in reversed(places):
        x = from_front(x, place)
    return x


def _counted(op: str, axis: Any, ndim: int) -> Any:
    """An axis counted from the front, as a tensor."""
    if not is_tensor(axis):
        place = normalize_axis(op, static_int(op, axis, "axis"), ndim)
        return get_op("full")(shape=(), fill_value=place, dtype=int64)
    axis = get_op("cast")(_one(axis), dtype=int64)
    return axis + _as_number(axis < 0) * ndim


def _as_number(truth: Any) -> Any:
    return get_op("cast")(truth, dtype=int64)


def _one(axis: Any) -> Any:
    if axis.dtype.is_complex:
        raise DTypeError(f"axis must be an int or an integer tensor, got {axis.dtype.name}")
    assert_single("an axis", tuple(axis.shape))
    return whole(get_op("reshape")(axis, shape=()) if axis.ndim else axis)
