"""Axes that only a run knows: the dimension is brought to the front, worked on there, and put back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.meta import UNKNOWN, Meta, normalize_axis
from .arguments import entries, is_tensor, static_int
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


def is_unknown(axis: Any) -> bool:
    """Whether an axis is a tensor of a program being built, whose value only a run knows."""
    return is_tensor(axis) and not hasattr(axis, "_data")


def at_axis(op: str, xs: list[Any], axis: Any, function: Callable[[list[Any], int], Any]) -> Any:
    """`function(xs, axis)`, which gives a tensor or a list of tensors; an axis that only a run knows is the first one.

    Raises IndexRangeError for an axis outside of the dimensions.
    """
    if not is_unknown(axis):
        return function(xs, normalize_axis(op, static_int(op, axis, "axis"), xs[0].ndim))
    found = function([to_front(x, axis) for x in xs], 0)
    return [from_front(part, axis) for part in found] if isinstance(found, (list, tuple)) else from_front(found, axis)


def to_front(x: Any, axis: Any) -> Any:
    """x with the dimension at `axis`, a tensor with one element, in front."""
    return axis_to_front_op(x, axis=_one(axis))


def from_front(x: Any, axis: Any) -> Any:
    """x with its first dimension at `axis`, a tensor with one element."""
    return axis_from_front_op(x, axis=_one(axis))


def _one(axis: Any) -> Any:
    return get_op("reshape")(axis, shape=()) if axis.ndim else axis
