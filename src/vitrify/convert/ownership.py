"""Which containers nothing but a traced region knows, told by counting references."""

from __future__ import annotations

import gc
import sys
from collections import Counter
from collections.abc import Container, Iterable
from typing import Any

from ..core.errors import UnsupportedError
from ..core.pytree import is_open, node_of

_CONTAINERS = (list, tuple, dict, set)


def known_references(held: Any, base: Counter[int]) -> Counter[int]:
    """How often each object is referred to from within `held`, by the object's id, added to the counts of `base`.

    A container inside `held` that others know, too, does not count: what it refers to is as well known as itself.
    """
    shared: set[int] = set()
    while True:
        found = _containers(held, shared)
        known = base + Counter(id(item) for container in found for item in _items(container))
        # Three more references: the list `found`, the variable here, and the argument of getrefcount.
        more = {id(c) for c in found[1:] if id(c) not in shared and sys.getrefcount(c) > known[id(c)] + 3}
        if not more:
            return known
        shared |= more


def _containers(held: Any, shared: set[int]) -> list[Any]:
    """`held` and the containers inside it, each once; what shared ones hold is left out, and so are they."""
    found: list[Any] = []
    seen = set(shared)
    waiting = [held]
    while waiting:
        container = waiting.pop()
        if id(container) not in seen and isinstance(container, _CONTAINERS):
            seen.add(id(container))
            found.append(container)
            waiting += _items(container)
    return found


def _items(container: Any) -> list[Any]:
    if is_open(container):
        return []
    return list(dict.values(container) if isinstance(container, dict) else container)


Fork = tuple[Any, tuple[Any, ...]]
"""A container made by merging two branches, and the containers that it is on one path each."""


def note_forks(forks: list[Fork], values: Iterable[Any], *sources: Iterable[Any]) -> None:
    """Remember containers and objects that were made of those on several paths: for each value one from each path."""
    for value, *origins in zip(values, *sources):
        can_change = isinstance(value, set) or (node_of(value) is not None and not isinstance(value, tuple))
        if (can_change or is_open(value)) and all(value is not origin for origin in origins):
            forks.append((value, tuple(origins)))


def ids_in_forks(forks: Iterable[Fork]) -> list[int]:
    """The id of each container of `forks`, once for each reference to it there."""
    return [id(container) for merged, sources in forks for container in (merged, *sources)]


def ids_in_iterator(iterator: Any) -> list[int]:
    """The id of each object that an iterator draws from, as `zip` and `enumerate` do, once for each reference."""
    held = gc.get_referents(iterator)
    return [id(item) for part in held for item in (part if type(part) is tuple else (part,))]


def is_forked(forks: Iterable[Fork], owner: Any) -> bool:
    """Whether `owner` is on some path the same object as another container that is still in use."""
    for merged, sources in forks:
        # References that do not count: the fork's own, the variable here, and the argument of getrefcount.
        if owner is merged and any(sys.getrefcount(source) > 3 for source in sources):
            return True
        if any(owner is source for source in sources) and sys.getrefcount(merged) > 3:
            return True
    return False


def check_forks(forks: Iterable[Fork], given_out: Iterable[Any], outside: Container[int]) -> None:
    """Raise UnsupportedError where a container leaves the trace that is, on one path, one that others know, too.

    outside: ids of the containers that were there before.
    """
    if not forks:
        return
    left = {id(container) for value in given_out for container in _containers(value, set())}
    for merged, sources in forks:
        source = next((s for s in sources if id(s) in left or id(s) in outside), None)
        if id(merged) in left and source is not None:
            kind = "list" if isinstance(source, list) else "dict" if isinstance(source, dict) else type(source).__name__
            raise UnsupportedError(
                f"a {kind} leaves the function that a tensor decides to be another {kind}, which others know, too",
                hint=f"make a copy of it on both paths ({kind}(...))",
            )
