"""Keys and items of sets of which a tensor decides which Python value they are: each value has a path of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from ...core.pytree import node_of, rebuild
from ...ir.graph_tensor import is_number
from ..values.cases import for_each_number, is_among
from ..values.deferred import Deferred
from ..values.one_of import GraphOneOf, each_option, settled


class Undecided:
    """A key in the braces of a display that is no Python value yet: something that has a hash."""

    def __init__(self, key: Any) -> None:
        self.key = key


def key_of(key: Any) -> Any:
    """A key in the braces of a display: itself, where Python can have it for one."""
    return Undecided(key) if is_undecided(key) or _waits(key) else key


def _waits(key: Any) -> bool:
    """Whether only the run knows a key: a number of the program, or a tuple with one."""
    return any(map(_waits, key)) if isinstance(key, tuple) else is_number(key) or isinstance(key, Deferred)


def is_undecided(key: Any) -> bool:
    """Whether a tensor decides which of a few Python values a key is, or one inside of a tuple."""
    if isinstance(key, tuple):
        return any(map(is_undecided, key))
    return isinstance(settled(key), GraphOneOf) or is_among(key)


def are_undecided(items: Iterable[Any]) -> bool:
    """Whether one of these keys is such."""
    return any(map(is_undecided, items))


def for_each_key(use: Callable[[Any], Any], key: Any) -> Any:
    """What `use` gives for the Python value that a key is: it runs on a path for each that it may be."""
    key = settled(key)
    if isinstance(key, GraphOneOf):
        return each_option(key, lambda option: for_each_key(use, option))
    if is_among(key):
        return for_each_number(use, key)
    if isinstance(key, tuple):
        for place, part in enumerate(key):
            if settled(part) is not part or is_undecided(part):
                return for_each_key(partial(_with_part, use, key, place), part)
    return use(key)


def _with_part(use: Callable[[Any], Any], key: tuple[Any, ...], place: int, part: Any) -> Any:
    """What `use` gives for the tuple with another part at this place."""
    kind, parts, extra = node_of(key)
    return for_each_key(use, rebuild(kind, [*parts[:place], part, *parts[place + 1 :]], extra))
