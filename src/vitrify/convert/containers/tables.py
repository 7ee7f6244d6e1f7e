"""`GraphTable`: a dict whose keys are numbers that only a run knows. It is two lists: its keys, and what they hold.

A key is looked for by an operator that compares it with each of the list; one that is there nowhere is put at the end.
So the keys stand in the order in which they came, as in Python's own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ...core.converted_too import converted_too
from ...core.errors import UnsupportedError
from ...core.pytree import OpenDict, OpenTable, is_open
from ...ir.numbers import as_number
from ...ops.tables import key_place_op
from ..values.base import builder, is_graph, is_tensor
from ..values.flags import negated
from ..values.user_code import converted
from ..values.user_errors import for_user, note_user_error
from .by_position import at_position, is_at_position
from .dicts import must_be_there, must_hold
from .item_kinds import has_equal_kinds
from .keys import check_key, of_number, waits
from .list_items import AsList, Items, fitted, join, pack, spec_of
from .lists import GraphList
from .specs import StructSpec
from .tuples import GraphTuple


def as_key(key: Any) -> Any:
    """A key as lists hold it: what NumPy makes of tensors as a number of the program. Raises TypeError for a list."""
    if type(key) is tuple:
        return tuple([as_key(part) for part in key])
    if not waits(key):
        hash(key)
        if is_tensor(key):
            check_key({}, key)
        return key
    return as_number(key.tensor(in_full=True)) if hasattr(type(key), "form") else key


def columns_with(keys: GraphList, key: Any) -> tuple[Items, list[Any]]:
    """The keys as a value of the program that can have `key` among them, and the tensors of `key`."""
    held = keys.opened()
    spec = join(held.spec, spec_of(key))
    if has_equal_kinds(spec):
        raise of_number({})  # the key that was there first stays
    items = fitted(held, spec)
    return items, pack(items.spec, key)


def are_known(keys: GraphList, *more: Any) -> bool:
    """Whether Python has the keys: none of them waits for the run."""
    return not is_open(keys) and not any(map(waits, (*list.__iter__(keys), *more)))


def place_among(keys: GraphList, key: Any) -> Any:
    """Where `key` stands, or how many keys there are: an int, or a number of the program."""
    if not is_open(keys) and not list.__len__(keys):
        return 0
    if are_known(keys, key):
        known = [*list.__iter__(keys)]
        return known.index(key) if key in known else len(known)
    items, wanted = columns_with(keys, key)
    return as_number(key_place_op(*items.parts, *wanted, keys=AsList(items.spec)))


class GraphTable(OpenTable):
    """A dict of which only a run knows the keys."""

    __slots__ = ()

    kind: ClassVar[type] = dict

    def __init__(self, *columns: Any) -> None:
        super().__init__(*(columns or (GraphList(), GraphList())))

    @classmethod
    def built(cls, columns: list[Any], *made_with: Any) -> Any:
        made = cls.kind(*made_with)
        for key, value in zip(*columns):
            made[key] = value
        return made

    def blank(self) -> GraphTable:
        """An empty one of the same class."""
        return type(self)()

    # -- content ----------------------------------------------------------------------------------------------------

    def listed(self) -> GraphList:
        keys: GraphList = self.columns[0]
        return keys

    def length(self) -> Any:
        return self.listed().length()

    def truth(self) -> Any:
        return self.listed().truth()

    def _found(self, key: Any) -> tuple[Any, Any]:
        """The place of a key, or that behind the last one, and whether it is there."""
        place = place_among(self.listed(), key)
        there = place < self.length()
        return place, as_number(there) if is_graph(there) else bool(there)

    def has(self, key: Any) -> Any:
        return self._found(as_key(key))[1]

    def _at(self, place: Any) -> Any:
        held = self.columns[1]
        return at_position(held, place) if is_at_position(held, place) else held[place]

    def _put(self, place: Any, key: Any, value: Any) -> None:
        keys, held = self.columns
        if is_graph(place) or is_open(keys):
            keys.put(place, key)
            _put_item(held, place, value)
        elif place < len(keys):
            held[place] = value
        else:
            keys.append(key)
            held.append(value)

    def _take(self, place: Any) -> Any:
        """What stands at a place, which goes."""
        keys, held = self.columns
        found = held.pop(place)
        keys.pop(place)
        return found

    # -- reading ----------------------------------------------------------------------------------------------------

    def _missing(self, key: Any, place: Any) -> Any:
        """What `d[key]` gives for a key that is not there."""
        raise note_user_error(KeyError(key))

    @for_user
    def __getitem__(self, key: Any) -> Any:
        key = as_key(key)
        place, there = self._found(key)
        if there is False:
            return self._missing(key, place)
        must_be_there(there, key)
        return self._at(place)

    @for_user
    def get(self, key: Any, default: Any = None) -> Any:
        """`dict.get`."""
        place, there = self._found(as_key(key))
        return _chosen(there, lambda: self._at(place), lambda: default)

    def __reversed__(self) -> Any:
        return reversed(self.listed())

    def keys(self) -> Any:
        """`dict.keys`."""
        return GraphTuple(self.listed().copy())

    def values(self) -> Any:
        """`dict.values`."""
        return GraphTuple(self.columns[1].copy())

    def items(self) -> Any:
        """`dict.items`."""
        keys, held = self.columns
        if not is_open(keys) and not is_open(held):
            return GraphTuple(GraphList(zip(list.__iter__(keys), list.__iter__(held))))
        first, second = keys.opened(), held.shared_items()
        spec = StructSpec(tuple, None, (first.spec, second.spec))
        return GraphTuple(GraphList.of(Items(spec, (*first.parts, *second.parts), first.least)))

    @for_user
    def __eq__(self, other: object) -> Any:
        return converted(_are_equal)(self, other) if is_mapping(other) else NotImplemented

    def __ne__(self, other: object) -> Any:
        found = self.__eq__(other)
        return found if found is NotImplemented else negated(found)

    __hash__ = None  # type: ignore[assignment]

    # -- changing ---------------------------------------------------------------------------------------------------

    @for_user
    def __setitem__(self, key: Any, value: Any) -> None:
        key = as_key(key)
        self._put(self._found(key)[0], key, value)

    @for_user
    def __delitem__(self, key: Any) -> None:
        self.pop(key)

    @for_user
    def pop(self, key: Any, *default: Any) -> Any:
        """`dict.pop`."""
        key = as_key(key)
        place, there = self._found(key)
        if default:
            return _chosen(there, lambda: self._take(place), lambda: default[0])
        if there is False:
            raise note_user_error(KeyError(key))
        must_be_there(there, key)
        return self._take(place)

    @for_user
    def popitem(self) -> tuple[Any, Any]:
        """`dict.popitem`."""
        self._must_have_keys(KeyError("popitem(): dictionary is empty"))
        keys, held = self.columns
        return keys.pop(), held.pop()

    def _must_have_keys(self, error: KeyError) -> None:
        """Let the program raise the error where there are no keys."""
        there = self.truth()
        if there is False:
            raise note_user_error(error)
        must_hold(there, error)

    @for_user
    def setdefault(self, key: Any, default: Any = None) -> Any:
        """`dict.setdefault`."""
        key = as_key(key)
        return self._made_up(key, *self._found(key), lambda: default)

    def _made_up(self, key: Any, place: Any, there: Any, make: Callable[[], Any]) -> Any:
        """What a key holds, which is what `make` gives where it was not there."""
        _chosen(there, lambda: None, lambda: self._put(place, key, make()))
        return self._at(place)

    @for_user
    def update(self, *others: Any, **named: Any) -> None:
        """`dict.update`."""
        if len(others) > 1:
            raise TypeError(f"update expected at most 1 argument, got {len(others)}")
        for other in (*others, named):
            converted(store_all)(self, other.items() if hasattr(other, "keys") else other)

    def clear(self) -> None:
        """`dict.clear`."""
        for column in self.columns:
            column.clear()

    # -- operators, copies ------------------------------------------------------------------------------------------

    def copy(self) -> GraphTable:
        """`dict.copy`."""
        made = self.blank()
        made.columns = tuple([column.copy() for column in self.columns])
        return made

    __copy__ = copy

    def snapshot(self) -> GraphTable:
        made = self.blank()
        made.columns = tuple([column.snapshot() for column in self.columns])
        return made

    def __or__(self, other: Any) -> Any:
        if not is_mapping(other):
            return NotImplemented
        made = self.copy()
        made.update(other)
        return made

    def __ror__(self, other: Any) -> Any:
        if not is_mapping(other):
            return NotImplemented
        made = self.blank()
        made.update(other)
        made.update(self)
        return made

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self


GraphTable.__name__ = "dict"  # what messages of Python call it


def is_mapping(value: Any) -> bool:
    """Whether it is a dict, of whatever form."""
    return isinstance(value, (dict, GraphTable))


def _put_item(held: GraphList, place: Any, value: Any) -> None:
    """`held.put(place, value)`; dicts and sets in it whose keys differ are to be tables, too."""
    try:
        held.put(place, value)
    except UnsupportedError:
        if isinstance(value, OpenDict):
            raise of_number(value) from None
        raise


def _chosen(flag: Any, then: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
    if not is_graph(flag):
        return then() if flag else orelse()
    return builder().choose(flag, then, orelse, "an item of a dict")


@converted_too
def store_all(table: Any, pairs: Any) -> None:
    """Set the keys of pairs."""
    for key, value in pairs:
        table[key] = value


@converted_too
def _are_equal(table: Any, other: Any) -> Any:
    if len(table) != len(other):
        return False
    return all(key in other and other[key] == value for key, value in table.items())
