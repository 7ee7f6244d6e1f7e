"""Items of an iterator whose user may have stopped by then, which only a tensor knows: fetching them must not show."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from types import GeneratorType
from typing import Any

from ...core.errors import UnsupportedError
from ...core.source import user_frames
from ...ir.dead_code import must_run
from ..containers.lists import GraphList
from ..state.cells import stored_cells
from ..state.journal import journaling
from ..state.ownership import OF_STEPPING
from ..values.base import builder
from .endless import steps_of
from .protocols import Stepping

_CONTAINERS: tuple[Any, ...] = ([], (), {}, {}.keys(), {}.values(), {}.items(), set(), range(0), "", b"")
_PLAIN = frozenset({*(type(iter(empty)) for empty in _CONTAINERS), type(reversed([])), type(iter(range(1 << 70)))})
_LISTED = GraphList.__iter__.__code__, steps_of.__code__
_WRAPPERS = frozenset({zip, enumerate})
MAX_LATE = 1000
"""So many items of an iterator are made while a tensor decides whether eager code wants them."""


def late_items(items: Any, undecided: Callable[[], bool], what: str) -> Iterator[Any]:
    """The items; once it is `undecided` whether eager code goes on, one whose making has effects is refused."""
    found = iter(items)
    late = 0
    while True:
        try:
            is_late = undecided()
            item = late_item(found, what, late) if is_late else next(found)
            late += is_late
        except StopIteration:
            return
        yield item


def late_item(items: Iterator[Any], what: str, number: int) -> Any:
    """The next item, made before it is known whether eager code would get to it; StopIteration if there is none.

    Raises UnsupportedError if that has an effect: it prints, draws random numbers, or changes what others know; and
    if so many were made already (`number`) that there may be no end.
    """
    if _only_gives(items):
        return next(items)
    if number >= MAX_LATE:
        raise _refused(items, what, f"a tensor decides where to stop, and {number} items are no end of it")
    if isinstance(items, GeneratorType) and stored_cells(items.gi_code):
        raise _refused(items, what, _EFFECTS)
    build = builder()
    mark, current = len(build.block.ops), dict(build.current)
    with journaling() as journal:
        try:
            return next(items)
        finally:
            journal.forget_local((), _held_by(items), in_block=False)
            changed = journal.is_changed() or build.is_anything_changed(current, mark)
            journal.keep()
            if changed or any(map(must_run, build.block.ops[mark:])):
                raise _refused(items, what, _EFFECTS)


def is_plain(items: Any) -> bool:
    """Whether an iterator is Python's own over one of its containers, or goes through a list of converted code."""
    return type(items) in _PLAIN or (type(items) is GeneratorType and items.gi_code in _LISTED)


def _only_gives(items: Iterator[Any]) -> bool:
    """Whether items come from containers alone, so that no code runs when one is fetched."""
    kind = type(items)
    if kind in _WRAPPERS:
        return all(map(_only_gives, _parts(items)))
    return is_plain(items)


def _parts(items: Iterator[Any]) -> Iterator[Any]:
    """The iterators that a `zip` or `enumerate` takes its items from."""
    for part in gc.get_referents(items):
        yield from (p for p in (part if type(part) is tuple else (part,)) if hasattr(p, "__next__"))


def _references_of_a_loop(iterable: Any) -> int:
    """What a loop holds of an iterable that nobody else knows: variables, and in some Pythons the caller's stack."""
    known = iterable
    return sys.getrefcount(known) - 1


_OF_LOOP = _references_of_a_loop(iterable=object())


def _held_by(items: Any) -> list[int]:
    """The id of what an iterator refers to, once for each reference that it and the loop have."""
    if isinstance(items, Stepping):
        return [id(items.owner)] * (OF_STEPPING + (0 if items.is_passed else _OF_LOOP))
    parts = list(_parts(items)) if type(items) in _WRAPPERS else []
    owners = [id(part.owner) for part in parts if isinstance(part, Stepping) for _ in range(OF_STEPPING)]
    return [*(id(part) for part in gc.get_referents(items)), *owners]


def _kind(items: Any) -> str:
    return type(items.owner if isinstance(items, Stepping) else items).__name__


_EFFECTS = "a tensor decides whether its next item is made, and making it has effects"


def _refused(items: Any, what: str, why: str) -> UnsupportedError:
    frames = user_frames(2, limit=1)
    return UnsupportedError(
        f"{what} of a {_kind(items)}: {why}",
        loc=frames[0] if frames else None,
        hint=f"make the items before (`list(...)`), or leave the effects to what follows in {what}",
    )
