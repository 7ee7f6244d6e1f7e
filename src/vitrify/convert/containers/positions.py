"""Positions in lists, where only the run knows the length or the position: is there an item, where does a slice lie."""

from __future__ import annotations

from typing import Any

from ...ir.numbers import as_number
from ...ops.creation import full
from ...ops.select import maximum, minimum, where
from ..values.base import is_graph
from ..values.flags import both
from ..values.user_errors import note_user_error
from .dicts import must_hold


def must_have(length: Any, index: Any, message: str) -> None:
    """Raise IndexError with this message, or let the program do so, where there is no item `index`."""
    if not is_graph(length) and not is_graph(index):
        if not -length <= index < length:
            raise IndexError(message)
        return
    held = both(as_number(index < length), as_number(index >= -length))
    if held is False:
        raise note_user_error(IndexError(message))
    must_hold(held, IndexError(message))


def ends_of(start: Any, stop: Any, length: Any) -> tuple[Any, Any]:
    """Where a slice of step 1 begins, and where what stands behind it does, counted from the start of the list."""
    first, last = _clipped(start, length), _clipped(stop, length)
    return first, as_number(maximum(first, last))


def _clipped(bound: Any, length: Any) -> Any:
    bound = bound if is_graph(bound) else as_number(full([], bound, "int64"))
    bound = where(bound < 0, bound + length, bound)
    return as_number(minimum(maximum(bound, 0), length))
