"""`GraphTableSet`: a set of numbers that only a run knows. It is two lists: what was done to it, and with which keys.

Python itself does it again where somebody asks what is in the set (`core/set_log.py`), so that the items have Python's
order, which depends on how the set came to be.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from ...core import set_log
from ...core.converted_too import converted_too
from ...core.pytree import OpenTable, is_open, is_partial
from ...core.set_log import first_popped, replayed
from ...ir.numbers import as_number
from ...ops.lists import list_order_op
from ...ops.sizes import dim_size
from ...ops.tables import set_has_op, set_order_op, set_popped_op
from ..values.base import builder, is_graph
from ..values.emit import passed_on
from ..values.flags import both, negated
from ..values.user_code import converted
from ..values.user_errors import for_user, note_user_error
from .dicts import must_hold
from .list_items import AsList, Items
from .lists import GraphList
from .tables import are_known, as_key, columns_with


class AnyTableSet(OpenTable):
    """A set, or frozenset, of which only a run knows the items."""

    __slots__ = ()

    def __init__(self, *columns: Any) -> None:
        super().__init__(*(columns or (GraphList(), GraphList())))

    # -- content ----------------------------------------------------------------------------------------------------

    @property
    def codes(self) -> GraphList:
        """What was done to it."""
        codes: GraphList = self.columns[0]
        return codes

    @property
    def given(self) -> GraphList:
        """The keys with which it was done."""
        given: GraphList = self.columns[1]
        return given

    def _is_known(self, *more: Any) -> bool:
        return not is_open(self.codes) and are_known(self.given, *self.codes, *more)

    def _is_blank(self) -> bool:
        """Whether there was never an item."""
        return not is_open(self.given) and not list.__len__(self.given)

    def _code_list(self) -> Any:
        return self.codes.opened().parts[0]

    def _order(self) -> Any:
        items = self.given.opened()
        return set_order_op(self._code_list(), *items.parts, keys=AsList(items.spec))

    def listed(self) -> GraphList:
        if self._is_blank():
            return GraphList()
        if self._is_known():
            return GraphList(replayed(self.codes, self.given))
        items, order = self.given.opened(), self._order()
        return GraphList.of(Items(items.spec, tuple(passed_on(list_order_op, part, order) for part in items.parts)))

    def length(self) -> Any:
        if self._is_blank():
            return 0
        return len(self.listed()) if self._is_known() else as_number(dim_size(self._order(), 0))

    def truth(self) -> Any:
        return self.length() > 0

    def has(self, item: Any) -> Any:
        item = as_key(item)
        if self._is_blank():
            return False
        if self._is_known(item):
            return item in replayed(self.codes, self.given)
        items, wanted = columns_with(self.given, item)
        return as_number(set_has_op(self._code_list(), *items.parts, *wanted, keys=AsList(items.spec)))

    # -- what is made of it -----------------------------------------------------------------------------------------

    def snapshot(self) -> Any:
        return type(self)(*[column.snapshot() for column in self.columns])

    def as_set(self) -> GraphTableSet:
        """A set of the same items, which may be changed."""
        return GraphTableSet(*[column.snapshot() for column in self.columns])

    def _copied(self) -> GraphTableSet:
        made = self.as_set()
        made._note(set_log.COPY)
        return made

    def copy(self) -> Any:
        """`set.copy`."""
        return type(self)(*self._copied().columns)

    __copy__ = copy

    def _made(self, code: int, others: tuple[Any, ...]) -> Any:
        made = self.as_set() if others else self._copied()
        for other in others:
            made._combine(code, other)
        return type(self)(*made.columns)

    @for_user
    def union(self, *others: Any) -> Any:
        """`set.union`."""
        made = self._copied()
        made.update(*others)
        return type(self)(*made.columns)

    @for_user
    def intersection(self, *others: Any) -> Any:
        """`set.intersection`."""
        return self._made(set_log.AND, others)

    @for_user
    def difference(self, *others: Any) -> Any:
        """`set.difference`."""
        return self._made(set_log.SUB, others)

    @for_user
    def symmetric_difference(self, other: Any) -> Any:
        """`set.symmetric_difference`."""
        return self._made(set_log.XOR, (other,))

    # -- comparing --------------------------------------------------------------------------------------------------

    def issubset(self, other: Any) -> Any:
        """`set.issubset`."""
        return self.difference(other).length() == 0

    def issuperset(self, other: Any) -> Any:
        """`set.issuperset`."""
        return as_table_set(other).issubset(self)

    def isdisjoint(self, other: Any) -> Any:
        """`set.isdisjoint`."""
        return self.intersection(other).length() == 0

    def __eq__(self, other: object) -> Any:
        return self.symmetric_difference(other).length() == 0 if is_set(other) else False

    def __ne__(self, other: object) -> Any:
        return negated(self == other)

    def __le__(self, other: Any) -> Any:
        return self.issubset(other) if is_set(other) else NotImplemented

    def __ge__(self, other: Any) -> Any:
        return self.issuperset(other) if is_set(other) else NotImplemented

    def __lt__(self, other: Any) -> Any:
        return both(self <= other, self != other) if is_set(other) else NotImplemented

    def __gt__(self, other: Any) -> Any:
        return both(self >= other, self != other) if is_set(other) else NotImplemented

    __hash__ = None  # type: ignore[assignment]


class GraphTableSet(AnyTableSet):
    """A set of which only a run knows the items."""

    __slots__ = ()

    kind = set

    @classmethod
    def built(cls, columns: list[Any], *made_with: Any) -> Any:
        return replayed(*columns)

    def _note(self, code: int, *items: Any) -> None:
        self.given.extend(items)
        self.codes.append(code)

    @for_user
    def add(self, item: Any) -> None:
        """`set.add`."""
        self._note(set_log.ADD, as_key(item))

    @for_user
    def discard(self, item: Any) -> None:
        """`set.discard`."""
        self._note(set_log.DISCARD, as_key(item))

    @for_user
    def remove(self, item: Any) -> None:
        """`set.remove`."""
        item = as_key(item)
        held = self.has(item)
        if held is False:
            raise note_user_error(KeyError(item))
        must_hold(held, KeyError(item))
        self._note(set_log.DISCARD, item)

    @for_user
    def pop(self) -> Any:
        """`set.pop`."""
        error = KeyError("pop from an empty set")
        held = self.truth()
        if held is False:
            raise note_user_error(error)
        must_hold(held, error)
        found = self._popped()
        self._note(set_log.POP)
        return found

    def _popped(self) -> Any:
        if self._is_known():
            return first_popped(self.codes, self.given)
        items = self.given.opened()
        place = as_number(set_popped_op(self._code_list(), *items.parts, keys=AsList(items.spec)))
        return GraphList.of(items)[place]

    def clear(self) -> None:
        """`set.clear`."""
        for column in self.columns:
            column.clear()

    def _combine(self, code: int, other: Any) -> None:
        """Do to it what takes another set as operand."""
        other = as_table_set(other)
        codes, given = other.codes.copy(), other.given.copy()
        self.codes.append(set_log.PUSH)
        self.codes.extend(codes)
        self.given.extend(given)
        self.codes.append(code)

    @for_user
    def update(self, *others: Any) -> None:
        """`set.update`."""
        for other in others:
            if is_set(other):
                self._combine(set_log.UPDATE, other)
            else:
                converted(_add_all)(self, other)

    @for_user
    def intersection_update(self, *others: Any) -> None:
        """`set.intersection_update`."""
        for other in others:
            self._combine(set_log.AND_UPDATE, other)

    @for_user
    def difference_update(self, *others: Any) -> None:
        """`set.difference_update`."""
        for other in others:
            self._combine(set_log.SUB_UPDATE, other)

    @for_user
    def symmetric_difference_update(self, other: Any) -> None:
        """`set.symmetric_difference_update`."""
        self._combine(set_log.XOR_UPDATE, other)


class GraphTableFrozenSet(AnyTableSet):
    """A frozenset of which only a run knows the items."""

    __slots__ = ()

    kind = frozenset

    @classmethod
    def built(cls, columns: list[Any], *made_with: Any) -> Any:
        return frozenset(replayed(*columns))


def _operator(code: int, swapped: bool = False) -> Any:
    def method(self: AnyTableSet, other: Any) -> Any:
        if not is_set(other):
            return NotImplemented
        return _as_left(other)._made(code, (self,)) if swapped else self._made(code, (other,))

    return method


def _in_place(code: int) -> Any:
    def method(self: GraphTableSet, other: Any) -> Any:
        if not is_set(other):
            return NotImplemented
        self._combine(code, other)
        return self

    return method


for _name, _code in {"or": set_log.OR, "and": set_log.AND, "sub": set_log.SUB, "xor": set_log.XOR}.items():
    setattr(AnyTableSet, f"__{_name}__", _operator(_code))
    setattr(AnyTableSet, f"__r{_name}__", _operator(_code, swapped=True))
for _name, _code in {
    "or": set_log.UPDATE, "and": set_log.AND_UPDATE, "sub": set_log.SUB_UPDATE, "xor": set_log.XOR_UPDATE,
}.items():  # fmt: skip
    setattr(GraphTableSet, f"__i{_name}__", _in_place(_code))

GraphTableSet.__name__, GraphTableFrozenSet.__name__ = "set", "frozenset"  # what messages of Python call it


def is_set(value: Any) -> bool:
    """Whether it is a set, of whatever form."""
    return isinstance(value, (Set, AnyTableSet)) or getattr(value, "kind", None) is set


def _as_left(value: Any) -> AnyTableSet:
    """The left operand, which says whether the result is a set or a frozenset."""
    found = as_table_set(value)
    return GraphTableFrozenSet(*found.columns) if isinstance(value, frozenset) else found


def frozen(items: Any) -> GraphTableFrozenSet:
    """The frozenset of the items of a set or iterable."""
    if isinstance(items, GraphTableFrozenSet):
        return items
    made = GraphTableSet()
    made.update(items)
    return GraphTableFrozenSet(*made.columns)


def as_table_set(value: Any) -> AnyTableSet:
    """The set of the items of a set or iterable."""
    if isinstance(value, AnyTableSet):
        return value
    made = GraphTableSet()
    if is_partial(value):
        for item, there in value.candidates():
            _add_if(made, item, there)
    else:
        converted(_add_all)(made, list(value) if isinstance(value, (Set, dict)) else value)
    return made


def table_set(items: set[Any]) -> GraphTableSet:
    """One of the items of a set of Python's own."""
    made = GraphTableSet()
    list.extend(made.codes, [set_log.ADD] * len(items))
    list.extend(made.given, items)
    return made


def _add_if(made: GraphTableSet, item: Any, there: Any) -> None:
    if is_graph(there):
        builder().choose(there, lambda: made.add(item), lambda: None, "an item of a set")
    elif there:
        made.add(item)


@converted_too
def _add_all(made: Any, items: Any) -> None:
    for item in items:
        made.add(item)
