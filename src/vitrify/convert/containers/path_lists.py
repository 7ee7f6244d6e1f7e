"""What each path of a branch notes of lists that are items of others, and what is known of them behind the branch."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from ...ir.program import Block
from ..state.journal import is_inside
from ..values.base import builder
from .inner_lists import Origin, all_inner_lists, note_origin


class _Put(NamedTuple):
    """A list that a path put into others, weakly; `place`: into which one, weakly, and where, if it is one for sure."""

    ref: Any
    place: tuple[Any, int] | None


class PathLists:
    """The lists, by id, that one path put into others; `kept`: what it put there beside lists."""

    def __init__(self) -> None:
        self.added: dict[int, _Put] = {}
        self.kept: dict[int, Any] = {}

    def add(self, other: PathLists) -> None:
        """Know what another one knows of the same path, too."""
        for key, put in other.added.items():
            is_first = key not in self.added or self.added[key].ref() is not put.ref()
            self.added[key] = put if is_first else _Put(put.ref, None)
        self.kept.update(other.kept)

    def has(self, value: Any) -> bool:
        """Whether the path put the list into another one."""
        return id(value) in self.added and self.added[id(value)].ref() is value


@contextmanager
def of_one_path(block: Block) -> Iterator[PathLists]:
    """Trace a path into `block`; what it notes of lists that are older is taken back at the end."""
    build = builder()
    before = {id(value): (build.inner_lists[id(value)], list(value.origins)) for value in all_inner_lists()}
    kept = dict(build.kept)
    found = PathLists()
    try:
        yield found
    finally:
        for value in all_inner_lists():
            ref, origins = before.get(id(value), (None, []))
            known = len(origins) if ref is not None and ref() is value else 0
            added = value.origins[known:]
            if added and not is_inside(value.block, block):
                place = _place(added[0]) if len(added) == 1 else None
                found.added[id(value)] = _Put(build.inner_lists[id(value)], place)
                value.origins[known:] = []
        found.kept = {key: memory for key, memory in build.kept.items() if key not in kept}
        build.kept = kept


def _place(origin: Origin) -> tuple[Any, int] | None:
    key = origin.settled_key
    return None if key is None else (weakref.ref(origin.owner), key)


def note_behind(paths: Sequence[PathLists]) -> None:
    """Note what holds behind a branch: a list that one path put into another one is there, or somewhere."""
    for path in paths:
        builder().kept.update(path.kept)
    for key in {key for path in paths for key in path.added}:
        found = [path.added.get(key) for path in paths]
        value = next(put for put in found if put is not None).ref()
        if value is not None:
            places = [None if put is None else put.place for put in found]
            note_origin(value, _one_origin(places))


def _one_origin(places: Sequence[tuple[Any, int] | None]) -> Origin:
    """The place that all these are; somewhere, if they are not one."""
    known = [(ref(), key) for ref, key in filter(None, places)]
    owner, key = known[0] if known else (None, None)
    is_one = len(known) == len(places) and all(other is owner and at == key for other, at in known)
    return Origin(owner, key) if is_one and owner is not None else Origin()
