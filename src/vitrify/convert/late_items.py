"""Items of an iterator whose user may have stopped by then, which only a tensor knows: fetching them must not show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import GeneratorType
from typing import Any

from ..core.errors import UnsupportedError
from ..ir.dead_code import has_effect
from .cells import stored_cells
from .journal import journaling
from .values import builder

_END = object()


def late_items(items: Any, undecided: Callable[[], bool], what: str) -> Iterator[Any]:
    """The items; once it is `undecided` whether eager code goes on, one whose making has effects is refused."""
    found = iter(items)
    while True:
        item = _fetched(found, what) if undecided() else next(found, _END)
        if item is _END:
            return
        yield item


def _fetched(items: Iterator[Any], what: str) -> Any:
    if isinstance(items, GeneratorType) and stored_cells(items.gi_code):
        raise _refused(what)
    block = builder().block
    mark = len(block.ops)
    with journaling() as journal:
        item = next(items, _END)
        changed = bool(journal.before)
    if changed or any(map(has_effect, block.ops[mark:])):
        raise _refused(what)
    return item


def _refused(what: str) -> UnsupportedError:
    return UnsupportedError(
        f"{what} of a generator: a tensor decides whether its next item is made, and making it has effects",
        hint=f"write a `for` loop with `break`, or a plain generator expression inside {what}",
    )
