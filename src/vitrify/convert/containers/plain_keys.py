"""Keys of dicts that converted code did not make: Python alone knows them, so every path must set the same ones.

Where that is not so, `stand_ins.py` may put a dict in its place that can have them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from ...core.pytree import OpenDict, flatten
from ...core.source import user_frames
from ..state.places import ItemPlace
from ..values.base import Undefined, Unmergeable
from ..values.emit import unset_flag
from ..values.foreign import ForeignError


def check_keys(then: Iterable[tuple[Any, Any]], orelse: Iterable[tuple[Any, Any]]) -> None:
    """Raise UnsupportedError where two paths add keys to such a dict, or delete some, and not the same in one order.

    then, orelse: the places that the paths wrote, with what they hold at the end.
    """
    first, second = _changed_keys(then), _changed_keys(orelse)
    for owner in {**first, **second}:
        if _keys(first[owner]) != _keys(second[owner]):
            place, _ = (first[owner] or second[owner])[0]
            raise _one_sided(f"dict[{place.index!r}]").of(place.owner)


def check_carried(place: Any, value: Any) -> None:
    """Raise UnsupportedError for such a key that is there only if some iteration, or none, of a loop sets it."""
    leaves: list[Any] = []
    if _is_key(place):
        flatten(value, leaves)
    if any(unset_flag(leaf) is not None for leaf in leaves):
        raise _one_sided(place.label).of(place.owner)


def _is_key(place: Any) -> bool:
    return isinstance(place, ItemPlace) and isinstance(place.owner, dict) and not isinstance(place.owner, OpenDict)


def _changed_keys(ends: Iterable[tuple[Any, Any]]) -> defaultdict[int, list[Any]]:
    """For each dict, by its id, the places of keys that are new or gone, in order, with whether they are there."""
    found: defaultdict[int, list[Any]] = defaultdict(list)
    for place, value in ends:
        if _is_key(place):
            is_there = isinstance(value, Unmergeable) or not isinstance(value, Undefined)
            if is_there is not dict.__contains__(place.owner, place.index):
                found[id(place.owner)].append((place, is_there))
    return found


def _keys(changed: list[Any]) -> list[Any]:
    return [(place.index, is_there) for place, is_there in changed]


def _one_sided(label: str) -> ForeignError:
    return ForeignError(
        f"a tensor decides whether, or in which order, {label} is set; the dict was not made by converted code",
        loc=next(iter(user_frames(2, limit=1)), None),
        hint="set the same keys on all paths, in one order, or change a copy of the dict (d = dict(d))",
    )
