"""Attributes that some path left unset, as what asks whether they are there sees them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...ir.graph_tensor import as_number
from ...ops.creation import assign
from .base import MaybeUnset, builder
from .emit import unset_flag
from .optional import tell


def set_flag(held: Any) -> Any:
    """What says, while the program runs, whether an attribute that some path left unset holds this; None of others."""
    found = unset_flag(held)
    return found[0] if found is not None else held.flag if isinstance(held, MaybeUnset) else None


def is_set(flag: Any) -> Any:
    """The flag as a condition, which tells the paths behind it."""
    return tell(as_number(assign(flag)), (frozenset({flag}), frozenset()))


def set_or(held: Any, otherwise: Callable[[], Any], what: str) -> Any:
    """`held` where it is set, what `otherwise()` gives on the paths that left it unset."""
    flag = set_flag(held)
    if flag is None:
        return held
    value = held.value if isinstance(held, MaybeUnset) else held
    return builder().choose(is_set(flag), lambda: value, otherwise, what)
