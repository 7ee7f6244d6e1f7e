"""Items of an iterator whose user may have stopped by then, which only a tensor knows: fetching them must not show."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from types import GeneratorType
from typing import Any

from ..core.errors import UnsupportedError
from ..core.source import user_frames
from ..ir.dead_code import must_run
from .cells import stored_cells
from .journal import journaling
from .protocols import Stepping
from .values import builder

_CONTAINERS: tuple[Any, ...] = ([], (), {}, {}.keys(), {}.values(), {}.items(), set(), range(0), "", b"")
_PLAIN = frozenset({*(type(iter(empty)) for empty in _CONTAINERS), type(reversed([])), type(iter(range(1 << 70)))})
_WRAPPERS = frozenset({zip, enumerate})


def late_items(items: Any, undecided: Callable[[], bool], what: str) -> Iterator[Any]:
    """The items; once it is `undecided` whether eager code goes on, one whose making has effects is refused."""
    found = iter(items)
    while True:
        try:
            item = late_item(found, what) if undecided() else next(found)
        except StopIteration:
            return
        yield item


def late_item(items: Iterator[Any], what: str) -> Any:
    """The next item, made before it is known whether eager code would get to it; StopIteration if there is none.

    Raises UnsupportedError if that has an effect: it prints, draws random numbers, or changes what others know.
    """
    if _only_gives(items):
        return next(items)
    if isinstance(items, GeneratorType) and stored_cells(items.gi_code):
        raise _refused(items, what)
    build = builder()
    mark, current = len(build.block.ops), dict(build.current)
    with journaling() as journal:
        try:
            return next(items)
        finally:
            journal.forget_local((), _held_by(items), in_block=False)
            changed = journal.is_changed() or bool(build.changed_since(current, build.block))
            journal.keep()
            if changed or any(map(must_run, build.block.ops[mark:])):
                raise _refused(items, what)


def _only_gives(items: Iterator[Any]) -> bool:
    """Whether items come from containers alone, so that no code runs when one is fetched."""
    kind = type(items)
    if kind in _WRAPPERS:
        parts = [p for part in gc.get_referents(items) for p in (part if type(part) is tuple else (part,))]
        return all(_only_gives(part) for part in parts if hasattr(part, "__next__"))
    return kind in _PLAIN


def _references_of_a_loop(iterable: Any) -> int:
    """What a loop holds of an iterable that nobody else knows: variables, and in some Pythons the caller's stack."""
    known = iterable
    return sys.getrefcount(known) - 1


_OF_LOOP = _references_of_a_loop(iterable=object())


def _held_by(items: Any) -> list[int]:
    """The id of what an iterator refers to, once for each reference that it and the loop have."""
    if isinstance(items, Stepping):
        return [id(items.owner)] * (_OF_LOOP + 2)  # `items.owner` and its bound method
    return [id(part) for part in gc.get_referents(items)]


def _refused(items: Any, what: str) -> UnsupportedError:
    kind = type(items.owner if isinstance(items, Stepping) else items).__name__
    frames = user_frames(2, limit=1)
    return UnsupportedError(
        f"{what} of a {kind}: a tensor decides whether its next item is made, and making it has effects",
        loc=frames[0] if frames else None,
        hint=f"make the items before (`list(...)`), or leave the effects to what follows in {what}",
    )
