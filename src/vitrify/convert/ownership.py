"""Which containers nothing but a traced region knows, told by counting references."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from typing import Any

_CONTAINERS = (list, tuple, dict, set)


def known_references(held: Any, owners: Iterable[Any]) -> Counter[int]:
    """How often each object is referred to by `owners` and from within `held`, by the object's id.

    A container inside `held` that others know, too, does not count: what it refers to is as well known as itself.
    """
    base = Counter(map(id, owners))
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
    return list(container.values() if isinstance(container, dict) else container)
