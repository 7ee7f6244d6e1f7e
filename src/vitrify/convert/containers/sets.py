"""`GraphSet`: what a set is in converted code. Its items are Python's as long as every path of the program adds them.

It is a `GraphDict` whose keys are the items: one that only some paths add has a flag that says whether it is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set
from copy import deepcopy
from types import BuiltinFunctionType
from typing import Any

from ...core.errors import UnsupportedError
from ...core.pytree import OpenSet, OverList, is_open, is_partial, set_of_node
from ..state.places import ContentPlace
from ..values.base import builder, is_tensor
from ..values.flags import Flag, both, differs, either, negated
from ..values.user_errors import for_user
from .dicts import GraphDict, UnknownKeysError, dict_of_view, must_be_there, must_hold
from .each_key import are_undecided, for_each_key
from .keys import check_member, number_in_set, waits
from .table_sets import as_table_set


class GraphSet(OpenSet, GraphDict):
    """A set that can go on in a program when a tensor decides which items it has.

    `real` is Python's own set of the same items while all of them are known to be there: it has them in Python's order.
    """

    __slots__ = ("real",)

    places = property(lambda self: None, lambda self, places: None)  # a set has no order that anybody may rely on

    def __init__(self, items: Iterable[Any] = ()) -> None:
        super().__init__()
        self.real: set[Any] | None = None
        if items.__class__ is not tuple or items:
            self.update(items)

    @classmethod
    def of(cls, real: set[Any] | frozenset[Any]) -> GraphSet:
        """The set of these items."""
        made = cls()
        made._hold(set(real))
        return made

    @classmethod
    def of_node(cls, children: list[Any], extra: Any) -> GraphSet:
        """The set of which `node_of` gave this."""
        items, flags = set_of_node(children, extra)
        made = cls.of(set(items))
        if flags:
            made.flags, made.real = flags, None
        return made

    # -- content ----------------------------------------------------------------------------------------------------

    def known(self) -> set[Any] | None:
        """Python's set of the same items; None where a tensor decides about one."""
        if self.flags:
            return None if self.is_doubtful() else set(dict.keys(self))  # those that this path alone is sure of
        if self.real is None:
            self.real = set(dict.keys(self))
        return self.real

    def _hold(self, real: set[Any]) -> None:
        """Have these items from now on."""
        dict.clear(self)
        dict.update(self, dict.fromkeys(real))
        self.flags, self.real = {}, real

    def take(self, value: Any) -> None:
        """Hold what another set holds."""
        if isinstance(value, GraphSet) and value.flags:
            super().take(value)
            self.real = None
        else:
            self._hold(set(value.known() or ()) if isinstance(value, GraphSet) else set(value))

    def _put(self, item: Any, flag: Flag) -> None:
        """Have the item where `flag` holds, and nowhere else."""
        self.real = None
        if flag is False:
            dict.pop(self, item, None)
        else:
            dict.setdefault(self, item, None)
        if flag is True or flag is False:
            self.flags.pop(item, None)
        else:
            self.flags[item] = flag

    # -- reading ----------------------------------------------------------------------------------------------------

    def candidates(self) -> Iterator[tuple[Any, Any]]:
        """Each item that may be there, with whether it is."""
        items, flags = _in_order(list(dict.keys(self))), dict(self.flags)
        for item in items:
            yield item, self.has(item)
            if len(items) != dict.__len__(self) or flags != self.flags:
                raise unknown_items("a change of the items, while a loop goes through it, of")

    @for_user
    def __iter__(self) -> Any:
        real = self.known()
        if real is None:
            raise unknown_items("iteration outside of a converted `for`, over")
        for item in list(real):
            yield item
            if self.is_doubtful() or dict.__len__(self) != len(real):
                raise RuntimeError("Set changed size during iteration")

    def __contains__(self, item: Any) -> bool:
        found = self.has(item)
        if not isinstance(found, bool):
            raise unknown_items("`in` outside of converted code, of")
        return found

    def __len__(self) -> int:
        if self.is_doubtful():
            raise unknown_items("len() of")
        return dict.__len__(self)

    @for_user
    def __getitem__(self, key: Any) -> Any:
        raise TypeError("'set' object is not subscriptable")

    @for_user
    def __setitem__(self, key: Any, value: Any) -> None:
        raise TypeError("'set' object does not support item assignment")

    @for_user
    def __delitem__(self, key: Any) -> None:
        raise TypeError("'set' object doesn't support item deletion")

    def __reversed__(self) -> Any:
        raise TypeError("'set' object is not reversible")

    # -- changing ---------------------------------------------------------------------------------------------------

    @for_user
    def add(self, item: Any) -> None:
        """`set.add`."""
        self._check_item(item)
        self._changing()
        real = self.known()
        if real is None:
            self._put(item, True)
        else:
            real.add(item)
            self._hold(real)

    @for_user
    def discard(self, item: Any) -> None:
        """`set.discard`."""
        self._check_item(item)
        if self.has(item) is not False:
            self._changing()
            self._drop(item)

    @for_user
    def remove(self, item: Any) -> None:
        """`set.remove`."""
        self._check_item(item)
        held = self.has(item)
        if held is False:
            raise KeyError(item)
        self._changing()
        self._drop(item)
        must_be_there(held, item)

    def _check_item(self, item: Any) -> None:
        check_member(item, self)
        hash(item)

    def _drop(self, item: Any) -> None:
        real = self.known()
        if real is None:
            self._put(item, False)
        else:
            real.discard(item)
            self._hold(real)

    @for_user
    def pop(self) -> Any:  # type: ignore[override]  # as a set's, not as a dict's
        """`set.pop`."""
        self._changing()
        real = self.known()
        if real is None:
            return self._first(_in_order(list(dict.keys(self))))
        item = real.pop()
        self._hold(real)
        return item

    def _first(self, items: list[Any]) -> Any:
        """The first of the items that is there, which is then gone."""
        self._changing()
        item, *rest = items
        held = self.has(item)
        if held is True or not rest:
            self._drop(item)
            if held is not True:
                must_hold(held, KeyError("pop from an empty set"))
            return item

        def taken() -> Any:
            self._drop(item)
            return item

        return builder().choose(held, taken, lambda: self._first(rest), "pop()")

    def clear(self) -> None:
        """`set.clear`."""
        self._changing()
        self._hold(set())

    @for_user
    def update(self, *others: Any) -> None:  # type: ignore[override]  # as above
        """`set.update`."""
        self._change("update", others, either)

    @for_user
    def intersection_update(self, *others: Any) -> None:
        """`set.intersection_update`."""
        self._change("intersection_update", others, both)

    @for_user
    def difference_update(self, *others: Any) -> None:
        """`set.difference_update`."""
        self._change("difference_update", others, lambda here, there: both(here, negated(there)))

    @for_user
    def symmetric_difference_update(self, other: Any) -> None:
        """`set.symmetric_difference_update`."""
        self._change("symmetric_difference_update", (other,), differs)

    def _change(self, name: str, others: tuple[Any, ...], combined: Any) -> None:
        """What the method of that name does: an item is there then if `combined(here, there)`."""
        if not others and name == "update":
            return
        self._changing()
        for other in others or ((),) if name == "update" else others:
            other = _given(other, self)
            real = self.known()
            if real is not None and not is_partial(other):
                getattr(real, name)(other)
                self._hold(real)
                continue
            presences = _presences(other)
            for item in dict.fromkeys([*dict.keys(self), *presences]):
                self._put(item, combined(self.has(item), presences.get(item, False)))

    # -- what is made of it -----------------------------------------------------------------------------------------

    def _made(self, name: str, others: tuple[Any, ...]) -> Any:
        made: Any = as_table_set(self) if any(map(_is_unknown, others)) else self.copy()
        getattr(made, name)(*others)
        return made

    def union(self, *others: Any) -> Any:
        """`set.union`."""
        return self._made("update", others)

    def intersection(self, *others: Any) -> Any:
        """`set.intersection`."""
        return self._made("intersection_update", others)

    def difference(self, *others: Any) -> Any:
        """`set.difference`."""
        return self._made("difference_update", others)

    def symmetric_difference(self, other: Any) -> Any:
        """`set.symmetric_difference`."""
        return self._made("symmetric_difference_update", (other,))

    def __or__(self, other: Any) -> Any:
        return self.union(other) if _is_set(other) else NotImplemented

    def __and__(self, other: Any) -> Any:
        return self.intersection(other) if _is_set(other) else NotImplemented

    def __sub__(self, other: Any) -> Any:
        return self.difference(other) if _is_set(other) else NotImplemented

    def __xor__(self, other: Any) -> Any:
        return self.symmetric_difference(other) if _is_set(other) else NotImplemented

    def __ror__(self, other: Any) -> Any:
        return _left(other, self, "|")

    def __rand__(self, other: Any) -> Any:
        return _left(other, self, "&")

    def __rsub__(self, other: Any) -> Any:
        return _left(other, self, "-")

    def __rxor__(self, other: Any) -> Any:
        return _left(other, self, "^")

    def __ior__(self, other: Any) -> Any:
        return self._in_place("update", other)

    def __iand__(self, other: Any) -> Any:
        return self._in_place("intersection_update", other)

    def __isub__(self, other: Any) -> Any:
        return self._in_place("difference_update", other)

    def __ixor__(self, other: Any) -> Any:
        return self._in_place("symmetric_difference_update", other)

    def _in_place(self, name: str, other: Any) -> Any:
        if not _is_set(other):
            return NotImplemented
        getattr(self, name)(other)
        return self

    def copy(self) -> GraphSet:
        """`set.copy`."""
        made = GraphSet()
        made.take(self)
        return made

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        made = memo[id(self)] = GraphSet()
        made.update([deepcopy(item, memo) for item in self])
        return made

    def __reduce__(self) -> Any:
        return set, (list(self),)

    def __repr__(self) -> str:
        real = self.known()
        if real is None:
            raise unknown_items("the text of")
        return repr(real)

    # -- comparing --------------------------------------------------------------------------------------------------

    def _all(self, other: Any, holds: Any) -> Flag:
        """Whether `holds(here, there)` for each item that is in one of them."""
        here, there = _presences(self), _presences(_given(other))
        found: Flag = True
        for item in {**here, **there}:
            found = both(found, holds(here.get(item, False), there.get(item, False)))
            if found is False:
                return False
        return found

    def issubset(self, other: Any) -> Flag:
        """`set.issubset`."""
        if _is_unknown(other):
            return as_table_set(self).issubset(other)
        return self._all(other, lambda here, there: either(negated(here), there))

    def issuperset(self, other: Any) -> Flag:
        """`set.issuperset`."""
        if _is_unknown(other):
            return as_table_set(self).issuperset(other)
        return self._all(other, lambda here, there: either(here, negated(there)))

    def isdisjoint(self, other: Any) -> Flag:
        """`set.isdisjoint`."""
        if _is_unknown(other):
            return as_table_set(self).isdisjoint(other)
        return self._all(other, lambda here, there: negated(both(here, there)))

    def _equals(self, other: Any) -> Flag:
        return self._all(other, lambda here, there: negated(differs(here, there)))

    def __eq__(self, other: object) -> Any:
        return self._equals(other) if _is_set(other) else False

    def __ne__(self, other: object) -> Any:
        return negated(self == other)

    def __le__(self, other: Any) -> Any:
        return self.issubset(other) if _is_set(other) else NotImplemented

    def __ge__(self, other: Any) -> Any:
        return self.issuperset(other) if _is_set(other) else NotImplemented

    def __lt__(self, other: Any) -> Any:
        return both(self <= other, negated(self._equals(other))) if _is_set(other) else NotImplemented

    def __gt__(self, other: Any) -> Any:
        return both(self >= other, negated(self._equals(other))) if _is_set(other) else NotImplemented

    __hash__ = None  # as Python's own


GraphSet.__name__ = "set"  # what messages of Python call it


def of_python(items: GraphSet, owner: Any) -> Any:
    """The items as what changes `owner`: as Python's own set, where that is what `owner` is."""
    if type(owner) is not set:
        return items
    real = items.known()
    if real is None:
        raise ContentPlace(owner).grows()
    return real


def method_of_set(method: BuiltinFunctionType, form: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a set of Python's own, for which the sets among its arguments may be such as Python cannot know.

    form: what is called where it does.
    """
    owner: Any = method.__self__

    def call(*args: Any) -> Any:
        if not any(isinstance(arg, GraphDict) and is_partial(arg) for arg in args):
            return form(*args)
        if hasattr(set, method.__name__) and not hasattr(frozenset, method.__name__):
            raise ContentPlace(owner).grows()
        return getattr(GraphSet.of(owner), method.__name__)(*args)

    return call


def _is_set(value: Any) -> bool:
    return isinstance(value, (GraphSet, Set))


def _is_unknown(other: Any) -> bool:
    """Whether only the run knows the items of what a method is given."""
    if isinstance(other, OverList) or is_open(other):
        return True
    return isinstance(other, (list, tuple)) and any(map(waits, other))


def _given(other: Any, owner: Any = None) -> Any:
    """What a method of `owner` is given: a set or dict that Python may not know, or Python's own iterable."""
    if isinstance(other, OverList) or is_open(other):
        raise number_in_set(owner)
    other = dict_of_view(other) if isinstance(other, Set) else other
    if isinstance(other, GraphSet):
        real = other.known()
        return other if real is None else real
    if isinstance(other, (GraphDict, set, frozenset)):
        return other
    items = list(other)
    if are_undecided(items):
        return _by_path(items)
    for item in items:
        check_member(item, owner)
    return items


def _by_path(items: list[Any]) -> GraphSet:
    """The set of items of which a tensor decides what they are."""
    made = GraphSet()
    for item in items:
        for_each_key(made.add, item)
    return made


def _presences(value: Any) -> dict[Any, Flag]:
    """Each item that may be there, with whether it is."""
    if isinstance(value, GraphDict):
        return {item: value.has(item) for item in dict.keys(value)}
    return dict.fromkeys(value, True)


def _left(first: Any, second: GraphSet, symbol: str) -> Any:
    """`first symbol second` for a set of Python's own."""
    if not isinstance(first, Set):
        return NotImplemented
    if isinstance(first, frozenset):
        real = second.known()
        if real is None:
            raise unknown_items(f"`{symbol}` of a frozenset and")
        return _OPERATORS[symbol](first, real)
    return _OPERATORS[symbol](GraphSet.of(set(first)), second)


_OPERATORS: dict[str, Any] = {
    "|": lambda a, b: a | b,
    "&": lambda a, b: a & b,
    "-": lambda a, b: a - b,
    "^": lambda a, b: a ^ b,
}

# --- the order of items ----------------------------------------------------------------------------------------------


def _in_order(items: list[Any]) -> list[Any]:
    """The items in the order that every set of some of them has, whatever became of it before.

    Small whole numbers have one: each stands at its own place in the table of a set.
    """
    if len(items) > 1 and not all(isinstance(item, int) and 0 <= hash(item) < _LEAST_TABLE for item in items):
        raise unordered_items()
    return sorted(items)


_LEAST_TABLE = 8
"""How many places the table of the smallest set has: larger numbers stand where the size of the table says."""


def refuse_new(items: Iterable[Any]) -> None:
    """Raise UnsupportedError for a tensor that is an item of a set on one path only."""
    if any(map(is_tensor, items)):
        raise UnsupportedError(
            "a tensor is added to a set, or removed, on one path of a tensor's decision only: a set holds it as an "
            "object, which the other path does not have",
            hint="keep tensors in a list or dict",
        )


class UnknownItemsError(UnknownKeysError):
    """Python needs to know which items a set has, and some are added on one path only."""


def unknown_items(what: str) -> UnknownItemsError:
    """The error of an operation that needs to know which items there are."""
    return UnknownItemsError(
        f"{what} a set some of whose items are added on one path of a tensor's decision only",
        hint="ask for its items one by one (`item in s`), go through it with a `for` loop, or keep a flag for each",
    )


def unordered_items() -> UnsupportedError:
    """The error of a set that is gone through where a tensor decides its items, and so their order."""
    return UnsupportedError(
        "a set is gone through, some of whose items are added on one path of a tensor's decision only: in which order "
        "Python has them depends on the path",
        hint="go through what it may hold in an order of your own (for item in [1, 9]: if item in s: ...)",
    )
