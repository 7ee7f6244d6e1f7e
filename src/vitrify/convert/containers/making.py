"""Dicts and sets that converted code makes: such as Python has, or such whose keys only a run knows."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from ...core.pytree import OpenDict, OpenTable, OverList, is_open, is_partial, list_in
from ...ir.builder import current_builder
from ..values.one_of import by_option
from ..values.user_code import converted
from .dicts import has_number_keys, stored, united
from .each_key import Undecided
from .keys import waits
from .sets import GraphSet
from .table_sets import AnyTableSet, GraphTableSet, as_table_set, frozen
from .table_sites import is_table_site
from .tables import GraphTable, is_mapping, store_all


@by_option(sys.maxsize)
def new_dict(*parts: Any) -> Any:
    """`{**part, ...}`, as a dict that may get keys on some paths only while a program is built."""
    if any(map(_asks_for_table, parts)) or (is_table_site() and not any(map(_has_names, parts))):
        return table_of(GraphTable(), *map(_pairs, parts))
    known = [part if isinstance(part, OpenDict) else _from_display({**part}) for part in parts]
    if current_builder() is None:
        return known[0] if len(known) == 1 else {key: value for part in known for key, value in part.items()}
    return united(known)


def dict_from(pairs: Any) -> Any:
    """The dict of pairs some of whose keys only the run knows; None where there are none such."""
    if isinstance(pairs, OpenTable) or has_number_keys(pairs) or (is_table_site() and not _has_names(pairs)):
        return table_of(GraphTable(), pairs)
    return None


def table_of(made: GraphTable, *parts: Any) -> GraphTable:
    """`made` with the items of these dicts, or pairs."""
    for part in parts:
        converted(store_all)(made, part.items() if is_mapping(part) else part)
    return made


def _asks_for_table(part: Any) -> bool:
    return isinstance(part, OpenTable) or (type(part) is dict and any(map(_is_number_key, part)))


def _is_number_key(key: Any) -> bool:
    return isinstance(key, Undecided) and waits(key.key)


def _has_names(part: Any) -> bool:
    """Whether a dict has texts for keys, as keyword arguments have: no number is one of those."""
    return isinstance(part, dict) and any(isinstance(key, str) for key in dict.keys(part))


def _pairs(part: Any) -> Any:
    if type(part) is not dict:
        return part
    return [(key.key if isinstance(key, Undecided) else key, value) for key, value in part.items()]


def _from_display(display: dict[Any, Any]) -> Any:
    """What the braces of a display held, with the keys that a tensor decides."""
    if not any(isinstance(key, Undecided) for key in display):
        return display
    return stored((key.key if isinstance(key, Undecided) else key, value) for key, value in display.items())


def new_set(items: Iterable[Any]) -> Any:
    """The set of these items, as one that may get others on some paths only while a program is built."""
    if current_builder() is None:
        return set(items)
    items = list_in(items)
    is_unknown = isinstance(items, OverList) or is_open(items)
    if is_unknown or is_table_site() or (isinstance(items, (list, tuple)) and any(map(waits, items))):
        if isinstance(items, AnyTableSet):
            made = GraphTableSet()
            made.update(items)
            return made
        return as_table_set(items)
    return GraphSet(items)


def new_frozenset(items: Iterable[Any]) -> Any:
    """The frozenset of these items; None where Python knows which they are."""
    items = list_in(items) if not isinstance(items, AnyTableSet) else items
    is_unknown = isinstance(items, OverList) or is_open(items) or is_partial(items)
    return frozen(items) if is_unknown or (isinstance(items, (list, tuple)) and any(map(waits, items))) else None
