"""`a, b = values` and `a, *b = values`, where only the program knows how many values there are."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...core.pytree import is_open, list_in
from ...eager.host_ops import assert_op
from ..control.protocols import iterate
from ..guards.told import refuse_if_told
from ..values.base import is_graph
from ..values.deferred import Call, captured, record
from ..values.handlers import refuse_if_caught
from ..values.one_of import GraphOneOf, by_option, each_option
from ..values.sequences import GraphSequence, as_sequence
from ..values.text import Text, concatenated, shown
from ..values.user_errors import for_user
from .list_builtins import convert_list


def unpacked(value: Any, count: int) -> Any:
    """`value`; as a tuple of `count` items where the program must see to it that there are as many."""
    value = list_in(value)
    if isinstance(value, GraphOneOf):
        if value.count() == count:
            return tuple(iter(value))  # without asking for its length
        return each_option(value, partial(_exactly, count=count))
    is_sequence = is_open(value) or is_graph(value) or isinstance(value, GraphSequence)
    sequence = as_sequence(value) if is_sequence else None
    if sequence is None or isinstance(sequence.length, int):
        return value
    refuse_if_caught(ValueError())
    refuse_if_told("ValueError")
    length = sequence.length
    record(assert_op, length >= count, error=_value_error(_too_few(str(count), length)))
    record(assert_op, length <= count, error=_value_error(_too_many(count)))
    return tuple([sequence.at(index) for index in range(count)])


@for_user
def _exactly(value: Any, count: int) -> tuple[Any, ...]:
    found = tuple(iterate(unpacked(value, count)))
    if len(found) != count:
        raise ValueError(_too_few(str(count), len(found)) if len(found) < count else _too_many(count))
    return found


def _too_few(expected: str, found: Any) -> Text:
    """What Python says of `found` values, which may be a number of the program."""
    return concatenated(f"not enough values to unpack (expected {expected}, got ", shown(found), ")")


def _too_many(count: int) -> str:
    return f"too many values to unpack (expected {count})"


def _value_error(text: Text) -> Call:
    return Call(ValueError, (captured(text),))


@by_option(1)
@for_user
def unpacked_rest(value: Any, before: int, after: int) -> tuple[Any, ...]:
    """`before` items, the list of those between, and `after` items, which are the last."""
    items: Any = list(iterate(value)) if isinstance(value, dict) else convert_list(list_in(value))
    least = before + after
    if not is_open(items):
        if len(items) < least:
            raise ValueError(_too_few(f"at least {least}", len(items)))
        end = len(items) - after
        return (*items[:before], items[before:end], *items[end:])
    refuse_if_caught(ValueError())
    refuse_if_told("ValueError")
    length = items.length()
    record(assert_op, length >= least, error=_value_error(_too_few(f"at least {least}", length)))
    sequence: Any = as_sequence(items)
    last = [sequence.at(length - after + index) for index in range(after)]
    return (*[sequence.at(index) for index in range(before)], items[before : length - after], *last)
