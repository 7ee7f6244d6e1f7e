"""Tensors whose values must lie in a range: classes and probabilities, looked at when they are there."""

from __future__ import annotations

from typing import Any

from ..core.errors import ArgumentError, IndexRangeError
from ..core.meta import Meta
from .registry import define_op, get_op


def _class_kernel(xp: Any, x: Any, *, count: Any, ignored: int | None, what: str) -> Any:
    outside = (x < 0) | (x >= count)
    if ignored is not None:
        outside &= x != ignored
    if outside.any():
        but = "" if ignored is None else f" or be ignore_index={ignored}"
        raise IndexRangeError(f"{what} must lie in [0, {int(count)}){but}, got {int(x[outside][0])}")
    return x


def _class_form(n: Any, x: Any, *, count: int, ignored: int | None, what: str) -> Any:
    inside = _between(n, x, ("greater_equal", 0), ("less_than", count))
    if ignored is not None:
        inside = n.apply(get_op("logical_or"), inside, _compared(n, x, "equal", ignored))
    n.asserted(inside, f"IndexError: {what} is not in its range")
    return x


def _between(n: Any, x: Any, low: tuple[str, Any], high: tuple[str, Any]) -> Any:
    """Whether both comparisons, by the names of their operators and with these numbers, hold for each element of x."""
    return n.apply(get_op("logical_and"), *[_compared(n, x, op, bound) for op, bound in (low, high)])


def _compared(n: Any, x: Any, op: str, number: Any) -> Any:
    return n.apply(get_op(op), x, n.full(x.shape, number, x.dtype))


classes_op = define_op(
    "classes",
    kernel=_class_kernel,
    meta=lambda x, *, count, ignored, what: x,
    vjp={"x": lambda ct: ct},
    dynamic=("count",),
    view=True,
    raises=True,
    ahead=_class_form,
)


def classes(what: str, x: Any, count: Any, ignored: int | None = None) -> Any:
    """x, of which it is sure that all its integers lie in [0, count) or are `ignored`; else IndexRangeError.

    count: an int, or a 0-D tensor where only a run knows it.
    """
    return classes_op(x, count=count, ignored=ignored, what=what)


def _probabilities_kernel(xp: Any, x: Any, *, what: str) -> Any:
    if not ((x >= 0) & (x <= 1)).all():  # a NaN is no probability
        raise ArgumentError(f"{what} must lie in [0, 1], got {float(x.min())} to {float(x.max())}")
    return x


def _unchanged(x: Meta, *, what: str) -> Meta:
    return x


def _probability_form(n: Any, x: Any, *, what: str) -> Any:
    n.asserted(_between(n, x, ("greater_equal", 0), ("less_equal", 1)), f"ValueError: {what} must lie in [0, 1]")
    return x


probabilities_op = define_op(
    "probabilities",
    kernel=_probabilities_kernel,
    meta=_unchanged,
    vjp={"x": lambda ct: ct},
    view=True,
    raises=True,
    ahead=_probability_form,
)


def probabilities(what: str, x: Any) -> Any:
    """x, of which it is sure that all its numbers lie in [0, 1]; else ArgumentError."""
    return probabilities_op(x, what=what)


__all__ = ["classes", "probabilities"]
