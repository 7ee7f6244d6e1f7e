"""A dict whose keys a tensor loop sets: each key is carried on its own, with whether it is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...core.pytree import BY_CONTENT, LEAF, OpenDict, OpenSet, OverList, flatten, is_open, is_partial
from ...core.source import Loc
from ...ir.program import Block, Variable
from ..containers.dicts import GraphDict
from ..containers.merge_dicts import blank, common_order, order_of, presence
from ..containers.sets import refuse_new
from ..state.inside import is_from_before
from ..values.base import Undefined, builder
from .carried import CarriedState, CarriedValue
from .leaves import Leaf, leaf_of_unset, not_carried


class _Entry:
    """A key: whether it is there, and what it holds. That stays the object from before the loop while nothing else is
    stored.
    """

    def __init__(self, key: Any, there: CarriedValue, value: CarriedValue, first: int = 0) -> None:
        self.key = key
        self.there = there
        self.value = value
        self.first: Any = first  # its place before the loop
        self.place: CarriedValue | None = None  # that in the order, where a tensor decides it

    @classmethod
    def before(cls, label: str, key: Any, there: Any, value: Any, place: Any) -> _Entry:
        """A key that may be there before the loop."""
        return cls(key, CarriedValue.opened(f"{label}_set", there), _whole(label, value), place)

    @classmethod
    def new(cls, label: str, key: Any, value: Any) -> _Entry:
        """A key that the body sets."""
        return cls(key, CarriedValue.opened(f"{label}_set", False), _made_inside(label, value))

    def parts(self, held: Any) -> tuple[tuple[CarriedValue, Any], ...]:
        """What carries it, each with its value in the dict `held`."""
        there = presence(held, self.key)
        value = Undefined(self.value.name, 0) if there is False else dict.__getitem__(held, self.key)
        found = (self.there, there), (self.value, value)
        return found if self.place is None else (*found, (self.place, order_of(held).get(self.key, 0)))

    def widen(self, held: Any) -> bool:
        """As `CarriedValue.widen`."""
        (_, there), (_, value), *places = self.parts(held)
        wider = self.there.widen(there)
        if there is False:
            return wider
        wider = any(place.widen(number) for place, number in places) or wider
        return self._widen_value(value) or wider

    def follow_order(self, label: str) -> None:
        """Carry its place, too."""
        if self.place is None:
            self.place = CarriedValue.opened(f"{label}_place", self.first)

    def _widen_value(self, value: Any) -> bool:
        start = self.value.leaves[0].start if self.value.tree is LEAF else None
        is_whole = self.value.tree is LEAF and self.value.leaves[0].meta is None
        if is_whole and value is start:
            return False
        opened = self.value if start is None else CarriedValue.opened(self.value.name, start)
        if is_whole and opened.tree is not LEAF and not isinstance(start, BY_CONTENT):
            self.value = opened
            return True
        return self.value.widen(value)


def _whole(label: str, value: Any) -> CarriedValue:
    if isinstance(value, BY_CONTENT):
        return CarriedValue.of(label, value, builder().keeps_containers)
    return CarriedValue(label, LEAF, [Leaf(value)])


def _made_inside(label: str, value: Any) -> CarriedValue:
    """What a new key holds: a container from before the loop stays that object, all else starts unset."""
    held = value.lists()[0] if isinstance(value, OverList) else value
    if isinstance(value, BY_CONTENT) and is_from_before(held, builder().block):
        return CarriedValue.of(label, value, builder().keeps_containers)
    raw: list[Any] = []
    tree = flatten(value, raw)
    return CarriedValue(label, tree, [_starting_unset(label, leaf) for leaf in raw])


def _starting_unset(label: str, value: Any) -> Leaf:
    if is_open(value):
        return Leaf(Undefined(label, 0), items=value.items.spec)
    return replace(leaf_of_unset(label, value), flagged=False)


class CarriedDict:
    """The content of a dict, carried through a loop as `CarriedValue` carries a variable."""

    tree = ("dict", (), None)  # no leaf
    container = None
    """It is no certain dict, but what one holds."""

    def __init__(self, name: str, loc: Loc | None, value: Any) -> None:
        self.name = name
        self.loc = loc
        self.empty = blank(value)
        self.is_ordered: bool = value.is_ordered
        places = order_of(value)
        self.entries = {
            key: _Entry.before(self._label(key), key, presence(value, key), held, places[key])
            for key, held in dict.items(value)
        }  # fmt: skip
        self._follow_order()

    def _follow_order(self) -> None:
        for entry in self.entries.values() if not self.is_ordered else ():
            entry.follow_order(self._label(entry.key))

    def _label(self, key: Any) -> str:
        return "item" if isinstance(self.empty, OpenSet) else f"dict[{key!r}]"

    def _carried(self) -> Iterator[CarriedValue]:
        for entry in self.entries.values():
            yield entry.there
            yield entry.value
            if entry.place is not None:
                yield entry.place

    def _with(self, held: Any) -> Iterator[tuple[CarriedValue, Any]]:
        for entry in self.entries.values():
            yield from entry.parts(held)

    @property
    def leaves(self) -> list[Leaf]:
        """Every leaf."""
        return [leaf for carried in self._carried() for leaf in carried.leaves]

    @property
    def width(self) -> int:
        """How many Variables carry it."""
        return sum(carried.width for carried in self._carried())

    def formals(self, block: Block) -> list[Variable]:
        """New inputs of `block`, one for each tensor carried."""
        return [var for carried in self._carried() for var in carried.formals(block)]

    def value(self, tensors: Iterator[Variable]) -> GraphDict:
        """The dict with its tensors drawn from `tensors`."""
        made = blank(self.empty)
        places = {}
        for key, entry in self.entries.items():
            there, value = entry.there.value(tensors), entry.value.value(tensors)
            place = None if entry.place is None else entry.place.value(tensors)
            if there is not False:
                dict.__setitem__(made, key, value)
                places[key] = place
            if there is not False and there is not True:
                made.flags[key] = there
        if not self.is_ordered:
            made.places = places
        return made

    def starts(self) -> list[Variable]:
        """The tensors that enter the first iteration."""
        return [var for carried in self._carried() for var in carried.starts()]

    def ends(self, value: Any, kept: Mapping[int, Any] | None = None) -> list[Variable]:
        """The tensors that leave an iteration after which the dict holds `value`."""
        return [var for carried, held in self._with(value) for var in carried.ends(held, kept)]

    def parts(self, tensors: Iterator[Variable]) -> list[tuple[Leaf, Variable, Variable | None]]:
        """As `CarriedValue.parts`."""
        return [part for carried in self._carried() for part in carried.parts(tensors)]

    def last(self, value: Any) -> list[Any]:
        """As `CarriedValue.last`."""
        return [end for carried, held in self._with(value) for end in carried.last(held)]

    def track(self, wanted: Callable[[Leaf], bool]) -> None:
        """Track the leaves that `wanted` picks."""
        for carried in self._carried():
            carried.track(wanted)

    def keep_identity(self, entered: Any, value: Any, is_changed: Callable[[Any], bool]) -> bool:
        """As `CarriedValue.keep_identity`, for what is stored at each key."""
        if not isinstance(value, OpenDict):
            return False
        kept = [
            entry.value.keep_identity(dict.get(entered, key), dict.get(value, key), is_changed)
            for key, entry in self.entries.items()
        ]
        return any(kept)

    def widen(self, value: Any) -> bool:
        """Whether `value`, from the end of an iteration, asks for more than is carried now; takes note of it."""
        if not isinstance(value, OpenDict):
            raise not_carried(self.name, Leaf(self.empty), value)
        keys, fits = common_order(list(self.entries), list(dict.keys(value)))
        changed = self.is_ordered and not (fits and value.is_ordered)
        self.is_ordered = self.is_ordered and not changed
        if isinstance(value, OpenSet):
            refuse_new(self.entries.keys() ^ set(dict.keys(value)))
        if len(keys) > len(self.entries):
            held = self.entries
            self.entries = {
                key: held.get(key) or _Entry.new(self._label(key), key, dict.__getitem__(value, key)) for key in keys
            }
            changed = True
        self._follow_order()
        wider = [entry.widen(value) for entry in self.entries.values()]
        return changed or any(wider)


def carry_keys(state: CarriedState, results: Sequence[Any]) -> bool:
    """Carry variables key by key that are a dict before the loop and one with other keys behind an iteration."""
    found = False
    for place, (carried, value) in enumerate(zip(state.variables, results)):
        if isinstance(carried, CarriedValue) and not carried.keeps and carried.container is not value:
            before = carried.before
            if _is_dict(before) and _is_dict(value) and (list(before) != list(dict.keys(value)) or is_partial(value)):
                state.variables[place] = CarriedDict(carried.name, carried.loc, before)
                found = True
    return found


def _is_dict(value: Any) -> bool:
    return isinstance(value, OpenDict) and value.kind is dict
