"""Comparisons of lists and tuples that hold values of the program: item by item, up to the first that differs."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from ...core.pytree import is_open
from ...ir.graph_tensor import number
from ..control.branches import convert_ifexp
from ..control.logic import convert_and, convert_not
from ..values.base import is_graph, scalar_condition
from ..values.user_code import user_method

Compare = Callable[[str, Any, Any], Any]
_OF_LENGTHS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def are_sequences(left: Any, right: Any) -> bool:
    """Whether both are lists or both are tuples, of known length, compared as Python does, with a tensor in them."""
    same = any(isinstance(left, kind) and isinstance(right, kind) for kind in (list, tuple))
    return same and not any(map(_is_special, (left, right))) and any(map(holds_graph, (left, right)))


def _is_special(value: Any) -> bool:
    return is_open(value) or any(user_method(value, name) is not None for name in ("__eq__", "__ne__", "__lt__"))


def holds_graph(value: Any) -> bool:
    """Whether it is a tensor of the program, or a list or tuple that holds one."""
    if isinstance(value, (list, tuple)) and not is_open(value):
        return any(map(holds_graph, value))
    return is_graph(value)


def compared(symbol: str, left: Sequence[Any], right: Sequence[Any], compare: Compare) -> Any:
    """`left symbol right`; `compare` compares items."""
    if symbol == "!=":
        return convert_not(compared("==", left, right, compare))
    if symbol == "==" and len(left) != len(right):
        return False
    return _from(0, symbol, left, right, compare)


def _from(at: int, symbol: str, left: Sequence[Any], right: Sequence[Any], compare: Compare) -> Any:
    """What the items from number `at` on decide, those before being equal."""
    if at == min(len(left), len(right)):
        return _OF_LENGTHS[symbol](len(left), len(right))
    a, b = left[at], right[at]
    same: Any = True if a is b else _decides(compare("==", a, b))

    def further() -> Any:
        return _from(at + 1, symbol, left, right, compare)

    return convert_and(same, further) if symbol == "==" else convert_ifexp(same, further, lambda: compare(symbol, a, b))


def _decides(value: Any) -> Any:
    """Whether two items are equal, as the number that Python makes of it."""
    what = "a comparison of sequences"
    return number(scalar_condition(value, what), what, "bool") if is_graph(value) else bool(value)
