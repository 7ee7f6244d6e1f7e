"""The order of a dict's keys where a tensor decides it: each key has a place, a number that only a run may know."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

from ...ir.numbers import as_number
from ...ops.like import cast
from ...ops.select import maximum, minimum, where
from ..values.flags import Flag, both

Places = Mapping[Any, Any]
MAX_TURNS = 64
"""How often keys may stand at places where they only may be: a loop over the dict has that many bodies."""


def behind(places: Iterable[Any]) -> Any:
    """A place behind all of these."""
    known, others = _parted(places)
    return _number(reduce(maximum, others, max(known, default=-1)) + 1)


def in_front(places: Iterable[Any]) -> Any:
    """A place in front of all of these."""
    known, others = _parted(places)
    return _number(reduce(minimum, others, min(known, default=1)) - 1)


def _parted(places: Iterable[Any]) -> tuple[list[int], list[Any]]:
    found = list(places)
    return [p for p in found if isinstance(p, int)], [p for p in found if not isinstance(p, int)]


def _number(place: Any) -> Any:
    return place if isinstance(place, int) else as_number(place)


def kept_place(held: Flag, old: Any, new: Any) -> Any:
    """The place of a key that is set: as before where it was there already."""
    if isinstance(held, bool) or old is new:
        return old if held else new
    return as_number(where(held, old, new))


def in_order(keys: Sequence[Any], has: Callable[[Any], Flag], places: Places) -> Iterator[tuple[Any, Flag]] | None:
    """Each key at each place that it may have in the order, with whether it is there; None if these are too many."""
    counts = {key: _before(key, keys, has, places) for key in keys}
    if sum(1 + len(unsure) for _, unsure in counts.values()) > MAX_TURNS:
        return None
    return _turns(keys, has, counts)


def _before(key: Any, keys: Sequence[Any], has: Callable[[Any], Flag], places: Places) -> tuple[int, list[Any]]:
    """How many keys stand in front of it for sure, and the flags of those that only may."""
    found = [both(has(other), _is_less(places[other], places[key])) for other in keys if other is not key]
    return sum(flag is True for flag in found), [flag for flag in found if not isinstance(flag, bool)]


def _is_less(a: Any, b: Any) -> Flag:
    return a < b if isinstance(a, int) and isinstance(b, int) else False if a is b else as_number(a < b)


def _turns(
    keys: Sequence[Any], has: Callable[[Any], Flag], counts: Mapping[Any, tuple[int, list[Any]]]
) -> Iterator[tuple[Any, Flag]]:
    for place in range(len(keys)):
        for key in keys:
            sure, unsure = counts[key]
            if sure <= place <= sure + len(unsure):
                is_here = as_number(sum((cast(flag, "int64") for flag in unsure), sure) == place) if unsure else True
                yield key, both(has(key), is_here)
