"""Attributes that some path left unset, as `hasattr` and its like see them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.pytree import LEAF, flatten
from ...ir.graph_tensor import as_number
from ...ops.creation import assign
from .base import MaybeUnset, builder
from .emit import unset_flag
from .optional import tell


def set_flag(held: Any, label: str) -> Any:
    """What says, while the program runs, whether the attribute `label` that some path left unset holds this; None of
    others. All tensors in a container have the same then.
    """
    if isinstance(held, MaybeUnset):
        return held.flag
    leaves: list[Any] = []
    is_leaf = flatten(held, leaves) is LEAF
    flags = [unset_flag(leaf) or (None, "") for leaf in leaves]
    if not flags or any(flag[0] is not flags[0][0] for flag in flags):
        return None
    return flags[0][0] if is_leaf or flags[0][1] == label else None


def where_set(held: Any) -> Any:
    """What an attribute holds; the program raises what eager code does where the path taken did not set it.

    Tensors know by themselves, and tell when they are used.
    """
    if not isinstance(held, MaybeUnset):
        return held
    builder().on_unset(held)
    return held.value


def is_set(flag: Any) -> Any:
    """The flag as a condition, which tells the paths behind it."""
    return tell(as_number(assign(flag)), (frozenset({flag}), frozenset()))


def set_or(held: Any, label: str, otherwise: Callable[[], Any], what: str) -> Any:
    """What the attribute `label` holds where it is set, what `otherwise()` gives on the paths that left it unset."""
    flag = set_flag(held, label)
    if flag is None:
        return held
    value = held.value if isinstance(held, MaybeUnset) else held
    return builder().choose(is_set(flag), lambda: value, otherwise, what)
