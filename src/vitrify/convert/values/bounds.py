"""What is known of the value of a number before the program runs: that it is not below zero."""

from __future__ import annotations

from typing import Any

from ...ir.origins import maker
from ...ir.variable import Literal, Value
from ...ops.elementwise import add_op, multiply_op
from ...ops.like import assign_op, cast_op
from ...ops.sizes import dim_size_op, numel_op, rank_op
from .base import builder

_SIZES = frozenset((dim_size_op, numel_op, rank_op))
_KEEPING = frozenset((cast_op, assign_op, add_op, multiply_op))  # not below zero where no input is


def is_never_negative(value: Any) -> bool:
    """Whether a number is a size, or computed from sizes and numbers that are not below zero by sums and products.

    False where that is not known. Of what another block computed nothing is.
    """
    return _is_never_negative(builder().value(value))


def _is_never_negative(value: Value) -> bool:
    if isinstance(value, Literal):
        return not isinstance(value.value, complex) and value.value >= 0
    made = maker(value)
    if made is None:
        return False
    return made.op in _SIZES or (made.op in _KEEPING and all(map(_is_never_negative, made.inputs)))
