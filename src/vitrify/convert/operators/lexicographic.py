"""Comparisons of lists and tuples that hold values of the program: item by item, up to the first that differs."""

from __future__ import annotations

import operator
import sys
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from functools import partial
from types import FunctionType
from typing import Any

from ...core.open_range import OpenRange
from ...core.pytree import eager_class, is_open, list_in
from ...ir.graph_tensor import number
from ..containers.searching import compared_by_item
from ..control.branches import convert_ifexp
from ..control.logic import convert_and, convert_not
from ..values.base import is_graph, is_tensor, scalar_condition
from ..values.user_code import class_attribute, user_method

Compare = Callable[[str, Any, Any], Any]
_OF_LENGTHS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def are_sequences(left: Any, right: Any) -> bool:
    """Whether both are lists, tuples or deques, compared as Python does, with a tensor in them."""
    kinds = eager_class(left), eager_class(right)
    same = any(issubclass(kinds[0], kind) and issubclass(kinds[1], kind) for kind in (list, tuple, deque))
    return same and not any(map(_is_special, (left, right))) and any(map(_decides_by_items, (left, right)))


def are_by_fields(left: Any, right: Any, special: str) -> bool:
    """Whether both are of one dataclass that has this comparison from its fields."""
    special = "__eq__" if special == "__ne__" else special
    found = class_attribute(type(left), special)
    is_written = isinstance(found, FunctionType) and found.__code__.co_filename == "<string>"
    return is_written and type(left) is type(right) and is_dataclass(left) and user_method(left, "__ne__") is None


def by_fields(symbol: str, left: Any, right: Any, compare: Compare) -> Any:
    """What a dataclass says of two objects by their fields; `compare` compares these.

    From Python 3.13 on `==` is `a.x == b.x and a.y == b.y`, which may be a tensor, before that one of tuples.
    """
    columns = _fields_of(left), _fields_of(right)
    if sys.version_info < (3, 13) or symbol not in ("==", "!="):
        return compare(symbol, *columns)
    if symbol == "!=":
        return convert_not(by_fields("==", left, right, compare))
    if left is right or not columns[0]:
        return True
    first, *further = [partial(compare, "==", a, b) for a, b in zip(*columns)]
    return convert_and(first(), *further)


def _fields_of(value: Any) -> tuple[Any, ...]:
    """What a dataclass compares of an object."""
    return tuple([getattr(value, field.name) for field in fields(value) if field.compare])


def _is_special(value: Any) -> bool:
    return any(user_method(value, name) is not None for name in ("__eq__", "__ne__", "__lt__"))


def _decides_by_items(value: Any) -> bool:
    return is_open(list_in(value)) or holds_tensor(value)


def holds_tensor(value: Any) -> bool:
    """Whether it is a tensor, of the program or from outside, or a range of one, or a list or tuple that holds one."""
    value = list_in(value)
    if isinstance(value, (list, tuple, deque)) and not is_open(value):
        return any(map(holds_tensor, value))
    return is_tensor(value) or isinstance(value, OpenRange)


def compared(symbol: str, left: Sequence[Any], right: Sequence[Any], compare: Compare) -> Any:
    """`left symbol right`; `compare` compares items."""
    left, right = list_in(left), list_in(right)
    if is_open(left) or is_open(right):
        return compared_by_item(symbol, left, right)
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
