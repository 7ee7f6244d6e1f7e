"""Stand-ins for containers that converted code did not make, where a tensor decides how many items they get.

Such a list, dict, set or deque is found in objects and variables of the user's. While a function is traced, one that
can grow (`GraphList` and its like) takes its place wherever the trace reads it; each run of the program changes the
container itself. Which ones need it is learned from a trace that failed (`ForeignError`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ...core.pytree import OpenTable, list_in
from ..state.places import ItemPlace
from ..values.foreign import ForeignError
from .flavors import is_flavored
from .structure import opened
from .table_sites import NumberKeyError

MAX_ATTEMPTS = 16
"""Places of such containers that the traces of one call may learn of."""
MAX_DEPTH = 5


@dataclass
class Foreign:
    """A container and the places that hold it. `is_table`: only the run knows its keys."""

    container: Any
    places: list[Any]
    is_table: bool = False


@dataclass
class StandIns:
    """What stands for which container during a trace."""

    originals: dict[int, Any] = field(default_factory=dict)
    """What each stand-in, by its id, stands for."""
    made: list[Any] = field(default_factory=list)

    def original(self, value: Any) -> Any:
        """What the stand-in stands for; anything else as it is."""
        return self.originals.get(id(value), value)

    def refuse_missed(self, place: Any, value: Any) -> None:
        """Raise ForeignError where a container for which something stands is met in a place that was not known."""
        for original in self.originals.values():
            places = list(places_in(place, value, original))
            if places:
                err = ForeignError("a container that a tensor changes is held in several places").of(original)
                err.places = places
                raise err


def places_in(place: Any, value: Any, wanted: Any, depth: int = MAX_DEPTH) -> Iterator[Any]:
    """The places below `place`, which holds `value`, that hold the container `wanted`."""
    if value is wanted:
        yield place
    elif depth and (type(value) in (dict, list, tuple, deque) or is_flavored(type(value))):
        settable = type(value) is not tuple
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places_in(ItemPlace(value, key) if settable else None, item, wanted, depth - 1)


@contextmanager
def standing_in(foreign: Sequence[Foreign]) -> Iterator[StandIns]:
    """Put stand-ins in the places of these containers, and the containers back at the end."""
    found = StandIns()
    met: dict[int, tuple[Any, Any]] = {}
    tables = {id(each.container) for each in foreign if each.is_table}
    for each in foreign:
        opened(each.container, met, tables)
    for original, made in met.values():
        if made is not original:
            for part in (made,) if isinstance(made, OpenTable) else (made, list_in(made)):
                found.originals[id(part)] = original
            found.made.append(made)
    try:
        for each in foreign:
            for place in each.places:
                place.set(met[id(each.container)][1])
        yield found
    finally:
        for each in foreign:
            for place in each.places:
                place.set(each.container)


def _can_stand(kind: type) -> bool:
    return kind in (list, dict, set, deque) or is_flavored(kind)


def learn_of(err: BaseException, foreign: list[Foreign]) -> bool:
    """Whether another trace may do better: `foreign` then has the container that stopped this one."""
    if not isinstance(err, ForeignError) or not _can_stand(type(err.container)) or not err.places:
        return False
    if None in err.places or sum(len(each.places) for each in foreign) >= MAX_ATTEMPTS:
        return False
    known = next((each for each in foreign if each.container is err.container), None)
    is_table = isinstance(err, NumberKeyError)
    if known is None:
        foreign.append(Foreign(err.container, list(err.places), is_table))
        return True
    if is_table and not known.is_table:
        known.is_table = True
        return True
    keys = {place.key for place in known.places}
    new = [place for place in err.places if place.key not in keys]
    known.places += new
    return bool(new)


def without_tables(foreign: Sequence[Foreign]) -> bool:
    """Whether tables stood for some of these; none does from now on."""
    tables = [each for each in foreign if each.is_table]
    for each in tables:
        each.is_table = False
    return bool(tables)
