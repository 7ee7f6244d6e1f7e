"""Telling who watches a trace that converted code is about to write an attribute."""

from __future__ import annotations

from typing import Any

from ..state.journal import is_nested, note_attribute
from ..state.places import AttrPlace
from .observe import current_observer


def note_stored(owner: Any, attribute: str, set_then: bool = True) -> None:
    """Tell who watches and every open journal that an attribute is about to be written: set, or deleted.

    Where a tensor decides about that, it stays on other paths what it was before the call, which is read thereby.
    """
    note_overwritten(owner, attribute)
    note_attribute(owner, attribute, set_then)
    observer = current_observer()
    if observer is not None:
        observer.pin(owner)


def note_overwritten(owner: Any, attribute: str) -> None:
    """Tell who watches what an attribute holds that is about to be written on one path of a tensor's decision."""
    observer = current_observer()
    key = (id(owner), attribute)
    if observer is not None:
        observer.stored.add(key)
    if observer is None or not is_nested() or key in observer.journal.before:
        return
    if key in observer.numbers or key in observer.shapes:
        observer.before(AttrPlace(owner, attribute))
    observer.overwritten.add(key)
