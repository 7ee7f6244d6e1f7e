"""`and`, `or`, `not` and chained comparisons: short-circuit and value semantics, on tensors too."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..ops.compare import logical_and, logical_not, logical_or
from .branches import convert_ifexp
from .raise_ import ENDED, run_path
from .unknown import Pending
from .values import builder, is_graph, scalar_condition

Function = Callable[..., Any]
MAX_EAGER_OPERATORS = 8

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "is": operator.is_,
    "is not": operator.is_not,
    "in": lambda a, b: a in b,
    "not in": lambda a, b: a not in b,
}


def convert_and(first: Any, *rest: Function) -> Any:
    """`first and rest[0]() and ...`."""
    value = first
    for position, function in enumerate(rest):
        if is_graph(value):
            return _lazy(value, partial(_rest, convert_and, rest[position:]), logical_and, stop_on=False)
        if not value:
            return value
        value = function()
    return value


def convert_or(first: Any, *rest: Function) -> Any:
    """`first or rest[0]() or ...`."""
    value = first
    for position, function in enumerate(rest):
        if is_graph(value):
            return _lazy(value, partial(_rest, convert_or, rest[position:]), logical_or, stop_on=True)
        if value:
            return value
        value = function()
    return value


def _rest(combine: Function, operands: Sequence[Function]) -> Any:
    """The remaining operands, the first of them evaluated now."""
    return combine(operands[0](), *operands[1:])


def _lazy(left: Any, right: Function, combine: Function, stop_on: bool) -> Any:
    """`left` where it decides, else `right()`, which runs only then; evaluated at once where that cannot matter."""
    if _is_flag(left) and _is_harmless(right):
        other = right()
        if not is_graph(other):
            # A Python value decides by its truth: `t and True` is t, `t and False` is False.
            if isinstance(other, bool):
                return left if other is not stop_on else other
        elif _is_flag(other):
            return combine(left, other)
    if stop_on:
        return convert_ifexp(left, lambda: left, right)
    return convert_ifexp(left, right, lambda: left)


def _is_flag(value: Any) -> bool:
    return is_graph(value) and value.dtype.is_bool and value.ndim == 0


def _is_harmless(function: Function) -> bool:
    """Whether evaluating the operand early cannot be noticed: few elementwise operators, no effects, no errors."""
    with builder().sub_block() as block:
        try:
            if run_path(function) is ENDED:
                return False
        except Pending:
            return False
        return len(block.ops) <= MAX_EAGER_OPERATORS and all(op.op.elementwise for op in block.ops)


def convert_not(value: Any) -> Any:
    """`not value`."""
    return logical_not(scalar_condition(value, "not")) if is_graph(value) else not value


def convert_compare(left: Any, op: str, right: Any, *rest: Any) -> Any:
    """`left op right op2 rest...`: each operand evaluated once, later ones only while the chain holds."""
    result = COMPARISONS[op](left, right)
    if not rest:
        return result

    def remaining() -> Any:
        return convert_compare(right, rest[0], rest[1](), *rest[2:])

    return convert_and(result, remaining)
