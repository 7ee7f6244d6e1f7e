"""Nested values while a program is built: when they are put together again, their lists and dicts can grow."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Container, Iterator
from typing import Any

from ...core.pytree import LEAF, OneOf, OpenDict, OpenSet, OpenTable, TreeDef, is_open, node_of, rebuild
from ..values.one_of import GraphOneOf
from .deques import GraphDeque
from .dicts import GraphDict
from .flavors import dict_with, empty_dict, is_flavored, partial_dict
from .lists import GraphList
from .sets import GraphSet
from .table_flavors import empty_table
from .table_sets import table_set


def put_together(tree: TreeDef, leaves: Iterator[Any]) -> Any:
    """The structure rebuilt with values drawn from `leaves`."""
    if tree is LEAF:
        return next(leaves)
    kind, children, extra = tree
    return made_of(kind, [put_together(child, leaves) for child in children], extra)


def made_of(kind: Any, children: list[Any], extra: Any) -> Any:
    """The container with these children."""
    if kind is OneOf:
        return GraphOneOf(children)
    if kind is OpenDict:
        return partial_dict(children, *extra)
    if kind is OpenSet:
        return GraphSet.of_node(children, extra)
    if kind is dict:
        return GraphDict(zip(extra, children))
    if is_flavored(kind):
        made_with, keys = ((), extra) if extra[:1] != ("derived",) else (extra[2], extra[3])
        return dict_with(kind, made_with, zip(keys, children))
    return GraphList(children) if kind is list else rebuild(kind, children, extra)


def is_alike(a: Any, b: Any) -> bool:
    """Whether two nodes (kind, children, extra) are one kind of container with as many children."""
    return a[0] is b[0] and a[2] == b[2] and len(a[1]) == len(b[1])


class Originals:
    """Which containers the copies in snapshots are of."""

    def __init__(self) -> None:
        self._by_copy: dict[int, tuple[Any, Any]] = {}

    def add(self, copy: Any, original: Any) -> Any:
        """`copy`, remembered as one of `original`."""
        self._by_copy[id(copy)] = copy, original
        return copy

    def original(self, copy: Any) -> Any:
        """The container that it is a copy of, or None."""
        found = self._by_copy.get(id(copy))
        return None if found is None else found[1]

    def first(self, copy: Any) -> Any:
        """The container that it is a copy of, or itself."""
        found = self.original(copy)
        return copy if found is None else found

    def common(self, a: Any, b: Any) -> Any:
        """The container that both are copies of, or None."""
        first, second = self.original(a), self.original(b)
        return first if first is second else None


def snapshot(
    value: Any, read: Callable[[Any], Any], originals: Originals, changed: Callable[[Any], Any] = lambda value: None
) -> Any:
    """`value` with its containers copied and its leaves read, so that undoing a region leaves it as it is.

    changed: a copy of a container as it should be, or None where it should be as it is.
    """
    other = changed(value)
    if other is not None:
        return originals.add(other, value)
    if is_open(value):
        return originals.add(value.snapshot(), value)
    if isinstance(value, OpenSet):
        return originals.add(value.copy(), value)
    node = node_of(value)
    if node is None:
        return read(value)
    kind, children, extra = node
    return originals.add(made_of(kind, [snapshot(child, read, originals, changed) for child in children], extra), value)


def opened(value: Any, met: dict[int, tuple[Any, Any]], tables: Container[int] = ()) -> Any:
    """`value`, made for a trace, with its lists and dicts such as can grow; what is one object stays one.

    met: those so far. tables: the ids of dicts and sets of which only the run will know the keys.
    """
    if id(value) in met:
        return met[id(value)][1]
    if id(value) in tables and (type(value) in (dict, set) or is_flavored(type(value))):
        return _table(value, met, tables)
    if type(value) is list:
        made = GraphList()
        met[id(value)] = (value, made)
        list.extend(made, [opened(item, met, tables) for item in value])
        return made
    if type(value) is dict or is_flavored(type(value)):
        entries = empty_dict(type(value), _made_with(value))
        met[id(value)] = (value, entries)
        dict.update(entries, [(key, opened(item, met, tables)) for key, item in value.items()])
        return entries
    if type(value) is deque:
        queue = GraphDeque(GraphList(), value.maxlen)
        met[id(value)] = (value, queue)
        list.extend(queue.values, [opened(item, met, tables) for item in value])
        return queue
    if type(value) is set:
        met[id(value)] = (value, GraphSet.of(value))
        return met[id(value)][1]
    node = node_of(value)
    if node is None:
        return value
    met[id(value)] = (value, value)
    kind, children, extra = node
    found = [opened(child, met, tables) for child in children]
    if all(a is b for a, b in zip(found, children)):
        return value
    if isinstance(value, dict):
        value.update(zip(value, found))
    elif isinstance(value, tuple):
        met[id(value)] = (value, rebuild(kind, found, extra))
    elif isinstance(value, deque):
        value.clear()
        value.extend(found)
    else:
        for name, item in zip(extra[1], found):
            object.__setattr__(value, name, item)
    return met[id(value)][1]


def _table(value: Any, met: dict[int, tuple[Any, Any]], tables: Container[int]) -> OpenTable:
    if type(value) is set:
        given = table_set(value)
        met[id(value)] = (value, given)
        return given
    table = empty_table(type(value), _made_with(value))
    met[id(value)] = (value, table)
    keys, held = table.columns
    list.extend(keys, value)
    list.extend(held, [opened(item, met, tables) for item in dict.values(value)])
    return table


def _made_with(value: Any) -> tuple[Any, ...]:
    return (value.default_factory,) if isinstance(value, defaultdict) else ()
