"""Comparisons: chains, and `in`, where the answer of a container may be a tensor."""

from __future__ import annotations

import functools
import operator
from collections import deque
from collections.abc import Callable, Iterable, Set
from typing import Any

from ...core.open_range import OpenRange
from ...core.pytree import OpenTable, is_open, list_in
from ...ir.graph_tensor import is_number, number
from ...ops.compare import logical_and
from ..containers.dicts import GraphDict, GraphItems, GraphKeys, GraphValues
from ..containers.each_key import for_each_key, is_undecided
from ..containers.hashed_tensors import is_known_by_itself
from ..containers.keys import holds_number
from ..containers.sets import GraphSet
from ..control.comprehension import Each, GeneratorExpression, any_of
from ..control.logic import convert_and, convert_not, convert_or
from ..control.loops import convert_for
from ..control.protocols import contains, is_searched, truth
from ..host.value import HostValue, host_call
from ..values.base import as_graph, is_graph, is_tensor, scalar_condition
from ..values.emit import unset_flag
from ..values.facts import check_container
from ..values.odd_operands import ask
from ..values.one_of import GraphOneOf, asked, by_option
from ..values.sequences import GraphSequence, as_sequence
from ..values.text import GraphText
from ..values.user_code import user_method
from .identity import is_same
from .operate import COMPARISONS as RICH
from .operate import operate


def convert_compare(left: Any, op: str, right: Any, *rest: Any) -> Any:
    """`left op right op2 rest...`: each operand evaluated once, later ones only while the chain holds."""
    result = COMPARISONS[op](left, right)
    if not rest:
        return result

    def remaining() -> Any:
        return convert_compare(right, rest[0], rest[1](), *rest[2:])

    return convert_and(result, remaining)


@by_option(2)
def is_in(value: Any, container: Any) -> Any:
    """`value in container`: a bool of Python's, known or not."""
    found = _found(value, container)
    return number(found, "in", "bool") if is_graph(found) and not is_number(found) else found


def _found(value: Any, container: Any) -> Any:
    for look in (_by_hash, _in_text):
        found = look(value, container)
        if found is not NotImplemented:
            return found
    held = list_in(container)
    items: Any = as_sequence(held) if is_open(held) else as_graph(held)
    is_view = isinstance(items, _BY_EQUALITY) or (isinstance(items, GraphKeys) and holds_number(value))
    if is_view:
        items = list(items)
    for look in (_in_sequence, _in_value_of_run, _by_equality, _by_flags):
        found = look(value, items)
        if found is not NotImplemented:
            return found
    if is_searched(items):
        return _searched(items, value)
    found = contains(items, value)
    if found is True and isinstance(items, dict):
        flag = unset_flag(items[value])
        return True if flag is None else flag[0]  # set on one path only
    return scalar_condition(found, "in") if is_graph(found) else bool(found)


# Each of these gives NotImplemented where the container or the value is none of its kind.


def _by_hash(value: Any, container: Any) -> Any:
    """Among keys, for a value of which only a run knows which key it is, or a tensor, or in a table."""
    if isinstance(container, (dict, GraphKeys, Set)):
        if is_undecided(value):
            return for_each_key(lambda known: is_in(known, container), value)
        if is_known_by_itself(value):
            return _is_among(container, value)
    return container.has(value) if isinstance(container, OpenTable) else NotImplemented


def _in_text(value: Any, container: Any) -> Any:
    if isinstance(container, GraphText) and isinstance(value, (str, GraphText)):
        return container.told("__contains__", value)
    if type(container) is str and isinstance(value, GraphText):
        return GraphText(container).told("__contains__", value)
    return NotImplemented


def _in_sequence(value: Any, container: Any) -> Any:
    """Among items of unknown number, or what a generator gives, which stands behind the one that is it then."""
    if isinstance(container, GraphSequence):
        return any_of(Each(container, _itself), lambda item: _is_it(item, value))
    clause = container.take() if isinstance(container, GeneratorExpression) else None
    if clause is None:
        return NotImplemented
    found = any_of(clause, lambda item: _is_it(item, value))
    container.leave(found)
    return found


def _in_value_of_run(value: Any, container: Any) -> Any:
    """In an array, number or tensor of the program; or whether such a number is in a range."""
    if isinstance(container, HostValue):
        return host_call(operator.contains, container, value)
    if is_number(container):
        return ask(operator.contains, container, value)
    if is_graph(container):
        check_container(container)
        same = container == value
        return same if isinstance(same, bool) else same.any()
    return _in_range(container, value) if isinstance(container, range) and is_graph(value) else NotImplemented


def _by_equality(value: Any, container: Any) -> Any:
    """Where it has to be compared with the items, as the program does that."""
    is_told = isinstance(value, GraphText) or holds_number(value)
    if isinstance(container, dict) and (isinstance(value, GraphText) or (isinstance(container, GraphSet) and is_told)):
        return _in_keys(container, value)
    if isinstance(container, GraphSet):
        return container.has(value)
    listed = isinstance(container, (list, tuple)) and (is_tensor(value) or any(map(is_tensor, container)))
    if isinstance(container, (list, tuple, deque)) and any(map(_says_what_it_equals, (value, *container))):
        listed = True
    if listed or (is_told and isinstance(container, (list, tuple, Set, dict))):
        return _in_items(container, value)
    return NotImplemented


def _by_flags(value: Any, container: Any) -> Any:
    """Among keys of which some are there on some paths alone."""
    is_such = isinstance(container, (GraphDict, GraphKeys)) and not is_tensor(value)
    return container.has(value) if is_such else NotImplemented


_BY_EQUALITY: tuple[type, ...] = (type({}.values()), type({}.items()), GraphValues, GraphItems)
"""Views of dicts, which look for an item by comparing it with each; keys are found by their hash."""


def _says_what_it_equals(value: Any) -> bool:
    return isinstance(value, (GraphText, OpenRange)) or user_method(value, "__eq__") is not None


def _itself(item: Any) -> Any:
    return item


def _searched(items: Any, value: Any) -> Any:
    """As Python looks for a value in what it has to go through, which an iterator takes no further."""

    def look(item: Any, found: Any) -> tuple[Any]:
        return (_is_it(item, value),)

    (found,) = convert_for(items, look, (False,), ("in",), convert_not)
    return found


def _in_items(items: Iterable[Any], value: Any) -> Any:
    """As Python looks through a list: by identity or equality, up to the first that is it."""
    found: Any = False
    for item in items:
        found = convert_or(found, lambda item=item: _is_it(item, value))
        if found is True:
            return True
    return found


def _in_keys(items: dict[Any, Any], value: Any) -> Any:
    """Whether what only a run knows, a number or text or a tuple with one, equals one of the keys that are there."""
    has = items.has if isinstance(items, GraphDict) else lambda key: True
    found: Any = False
    for item in dict.keys(items):
        found = convert_or(found, lambda item=item: convert_and(has(item), lambda: _is_it(item, value)))
    return found


def _is_among(items: Any, value: Any) -> Any:
    """Whether one of the keys, or items of a set, is the tensor: they are told apart by which objects they are."""
    has = items.has if isinstance(items, (GraphDict, GraphKeys)) else lambda item: True
    found: Any = False
    for item in dict.keys(items) if isinstance(items, dict) else items:
        if item is None or is_known_by_itself(item):
            found = convert_or(found, lambda item=item: convert_and(has(item), lambda: is_same(value, item)))
    return found


def _is_it(item: Any, value: Any) -> Any:
    if item is value:
        return True
    equal = truth(operate("==", item, value))
    return scalar_condition(equal, "in") if is_graph(equal) else bool(equal)


def _in_range(numbers: range, value: Any) -> Any:
    value = value if value.ndim == 0 else value.reshape([])
    low, high = (numbers[0], numbers[-1]) if numbers else (0, -1)
    within = logical_and(value >= min(low, high), value <= max(low, high)) if numbers else value != value
    return logical_and(within, (value - low) % numbers.step == 0)


def _is(left: Any, right: Any) -> Any:
    """`left is right`; each option of a value of several kinds is asked by itself."""
    if left is right:
        return True
    if isinstance(left, GraphOneOf):
        return asked(left, lambda option: _is(option, right))
    return asked(right, lambda option: is_same(left, option))


COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    **{symbol: functools.partial(operate, symbol) for symbol in RICH},
    "is": _is,
    "is not": lambda left, right: convert_not(_is(left, right)),
    "in": is_in,
    "not in": lambda value, container: convert_not(is_in(value, container)),
}
