"""The order of objects whose own `<` says it: Python's sort asks, or a program that a tensor tells what it says.

Python's sort decides by each answer what it asks next. A program asks for all pairs, which nobody may notice.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ...core.converted_too import converted_too
from ...core.errors import UnsupportedError
from ...ir.dead_code import has_effect
from ...ops.creation import full
from ...ops.join import stack
from ...ops.like import cast
from ...ops.sort import argsort
from ..control.protocols import truth
from ..state.journal import innermost_journal, kept_unless_given_up
from ..values.base import builder, is_graph
from ..values.user_code import user_method
from .lexicographic import are_by_fields
from .operate import operate


class UndecidedError(Exception):
    """A tensor says which of two objects comes first."""


class _Key:
    """A key of Python's sort, which asks the object."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: _Key) -> bool:
        found = truth(operate("<", self.value, other.value))
        if is_graph(found):
            raise UndecidedError
        return bool(found)


def order_of_objects(keys: Sequence[Any], reverse: bool) -> Any:
    """The order of objects that have a `<` of their own, as numbers or a tensor; None for others."""
    if len(keys) < 2 or not all(map(_has_an_order, keys)):
        return None
    try:
        with kept_unless_given_up((), _is_undecided), builder().trial() as trial:
            asked = [_Key(key) for key in keys]
            order = sorted(range(len(keys)), key=asked.__getitem__, reverse=reverse)
            trial.keep()
            return order
    except UndecidedError:
        with kept_unless_given_up((), _is_refusal):
            return _by_all_pairs(keys, reverse)


def _has_an_order(key: Any) -> bool:
    return user_method(key, "__lt__") is not None or are_by_fields(key, key, "__lt__")


def _is_undecided(err: BaseException) -> bool:
    return isinstance(err, UndecidedError)


def _is_refusal(err: BaseException) -> bool:
    return isinstance(err, UnsupportedError)


def _by_all_pairs(keys: Sequence[Any], reverse: bool) -> Any:
    mark = len(builder().block.ops)
    places: list[Any] = [0] * len(keys)
    for j, later in enumerate(keys):
        for i, earlier in enumerate(keys[:j]):
            first, second = (earlier, later) if reverse else (later, earlier)
            is_before = truth(operate("<", first, second))
            is_before = cast(is_before, "int64") if is_graph(is_before) else int(bool(is_before))
            places[i], places[j] = places[i] + is_before, places[j] + (1 - is_before)
    _refuse_if_noticed(mark)
    return argsort(stack([cast(p, "int64") if is_graph(p) else full([], p, "int64") for p in places]))


def _refuse_if_noticed(mark: int) -> None:
    """Raise UnsupportedError where comparisons changed or told of anything; `mark`: where their operators begin."""
    journal = innermost_journal()
    assert journal is not None
    journal.forget_local((), in_block=False)
    if journal.is_changed() or any(map(has_effect, builder().block.ops[mark:])):
        raise UnsupportedError(
            "a tensor decides how objects are sorted whose own `<` changes or prints something, and so what it is "
            "asked",
            hint="leave such changes out of `__lt__`, or sort by a key (key=lambda item: item.value)",
        )


class _ByFunction:
    """What `functools.cmp_to_key(function)` makes of a value."""

    @converted_too
    def __init__(self, function: Callable[[Any, Any], Any], value: Any) -> None:
        self.function = function
        self.obj = value

    @converted_too
    def __lt__(self, other: _ByFunction) -> Any:
        return self.function(self.obj, other.obj) < 0


def convert_cmp_to_key(mycmp: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """`functools.cmp_to_key(mycmp)`."""
    return functools.partial(_ByFunction, mycmp)
