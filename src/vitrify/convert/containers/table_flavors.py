"""`defaultdict`, `OrderedDict` and `Counter` whose keys are numbers that only a run knows."""

from __future__ import annotations

import operator
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any, ClassVar

from ...core.converted_too import converted_too
from ..values.user_code import converted
from ..values.user_errors import for_user, note_user_error
from .dicts import must_be_there
from .tables import GraphTable, as_key, is_mapping


class GraphDefaultTable(GraphTable):
    """A `defaultdict`: a key that is asked for is there from then on."""

    __slots__ = ("default_factory",)

    kind: ClassVar[type] = defaultdict
    default_factory: Any

    def __init__(self, *given: Any) -> None:
        *columns, self.default_factory = given or (None,)
        super().__init__(*columns)

    def made_with(self) -> tuple[Any, ...]:
        return (self.default_factory,)

    def blank(self) -> GraphTable:
        return GraphDefaultTable(self.default_factory)

    @for_user
    def __getitem__(self, key: Any) -> Any:
        if self.default_factory is None:
            return super().__getitem__(key)
        key = as_key(key)
        return self._made_up(key, *self._found(key), converted(self.default_factory))


GraphDefaultTable.__name__ = "defaultdict"  # what messages of Python call it


class GraphOrderedTable(GraphTable):
    """An `OrderedDict`: its keys can be moved, and their order counts in comparisons."""

    __slots__ = ()

    kind: ClassVar[type] = OrderedDict

    @for_user
    def move_to_end(self, key: Any, last: bool = True) -> None:
        """`OrderedDict.move_to_end`."""
        key = as_key(key)
        place, there = self._found(key)
        if there is False:
            raise note_user_error(KeyError(key))
        must_be_there(there, key)
        value = self._take(place)
        for column, item in zip(self.columns, (key, value)):
            if last:
                column.append(item)
            else:
                column.insert(0, item)

    @for_user
    def popitem(self, last: bool = True) -> tuple[Any, Any]:
        """`OrderedDict.popitem`."""
        self._must_have_keys(KeyError("dictionary is empty"))
        keys, held = self.columns
        return (keys.pop(), held.pop()) if last else (keys.pop(0), held.pop(0))

    @for_user
    def __eq__(self, other: object) -> Any:
        is_ordered = isinstance(other, OrderedDict) or getattr(other, "kind", None) is OrderedDict
        return converted(_are_in_order)(self, other) if is_ordered else super().__eq__(other)

    __hash__ = None


GraphOrderedTable.__name__ = "OrderedDict"  # what messages of Python call it


def _whole(function: Callable[..., Any], joint: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
    """An operator that makes a Counter of the counts of two, as far as they are positive."""

    @for_user
    def method(self: GraphCounterTable, other: Any) -> Any:
        if not is_counter(other):
            return NotImplemented
        return converted(joint())(GraphCounterTable(), self, other, function)

    return method


class GraphCounterTable(GraphTable):
    """A `Counter`: a key that is not there counts zero."""

    __slots__ = ()

    kind: ClassVar[type] = Counter

    def _missing(self, key: Any, place: Any) -> Any:
        return 0

    @for_user
    def __getitem__(self, key: Any) -> Any:
        return self.get(key, 0)

    @for_user
    def __delitem__(self, key: Any) -> None:
        self.pop(key, None)

    @for_user
    def update(self, iterable: Any = None, /, **named: Any) -> None:
        """`Counter.update`."""
        self._count(operator.add, iterable, named)

    @for_user
    def subtract(self, iterable: Any = None, /, **named: Any) -> None:
        """`Counter.subtract`."""
        self._count(operator.sub, iterable, named)

    def _count(self, change: Callable[[Any, Any], Any], iterable: Any, named: Any) -> None:
        for given in (iterable, named):
            if is_mapping(given):
                converted(_count_pairs)(self, given.items(), change)
            elif given is not None:
                converted(_count_each)(self, given, change)

    @for_user
    def total(self) -> Any:
        """`Counter.total`."""
        return converted(_total)(self.values())

    @for_user
    def most_common(self, n: Any = None) -> Any:
        """`Counter.most_common`."""
        return converted(in_order_of_counts)(self, n)

    @for_user
    def elements(self) -> Any:
        """`Counter.elements`."""
        return converted(repeated)(self)

    __add__, __sub__ = _whole(operator.add, lambda: _added), _whole(operator.sub, lambda: _added)
    __or__, __and__ = _whole(max, lambda: _added), _whole(min, lambda: _in_both)

    @for_user
    def __eq__(self, other: object) -> Any:
        if not is_counter(other):
            return super().__eq__(other)
        return converted(_count_the_same)(self, other)

    __hash__ = None


GraphCounterTable.__name__ = "Counter"  # what messages of Python call it


def is_counter(value: Any) -> bool:
    """Whether it is a Counter, of whatever form."""
    return isinstance(value, Counter) or getattr(value, "kind", None) is Counter


@converted_too
def _are_in_order(table: Any, other: Any) -> Any:
    return list(table.items()) == list(other.items())


@converted_too
def _count_pairs(table: Any, pairs: Any, change: Any) -> None:
    for key, count in pairs:
        table[key] = change(table[key], count)


@converted_too
def _count_each(table: Any, keys: Any, change: Any) -> None:
    for key in keys:
        table[key] = change(table[key], 1)


@converted_too
def _total(counts: Any) -> Any:
    found = 0
    for count in counts:
        found += count
    return found


def _second(pair: Any) -> Any:
    return pair[1]


@converted_too
def in_order_of_counts(table: Any, n: Any) -> Any:
    """`Counter.most_common`."""
    found = sorted(table.items(), key=_second, reverse=True)
    return found if n is None else found[: max(n, 0)]


@converted_too
def repeated(table: Any) -> Any:
    """The items of `Counter.elements`."""
    found = []
    for key, count in table.items():
        for _ in range(count):
            found.append(key)
    return iter(found)


@converted_too
def _count_the_same(table: Any, other: Any) -> Any:
    return all(other[key] == count for key, count in table.items()) and all(
        table[key] == count for key, count in other.items()
    )


@converted_too
def _added(made: Any, first: Any, second: Any, change: Any) -> Any:
    for key, count in first.items():
        found = change(count, second[key])
        if found > 0:
            made[key] = found
    for key, count in second.items():
        if key not in first:
            found = change(0, count)
            if found > 0:
                made[key] = found
    return made


@converted_too
def _in_both(made: Any, first: Any, second: Any, change: Any) -> Any:
    for key, count in first.items():
        found = change(count, second[key])
        if found > 0:
            made[key] = found
    return made


_TABLES: dict[type, type[GraphTable]] = {
    dict: GraphTable, defaultdict: GraphDefaultTable, OrderedDict: GraphOrderedTable, Counter: GraphCounterTable
}  # fmt: skip


def empty_table(kind: type, made_with: tuple[Any, ...]) -> GraphTable:
    """One without keys, of what is `kind` in eager code."""
    return _TABLES[kind](*made_with)
