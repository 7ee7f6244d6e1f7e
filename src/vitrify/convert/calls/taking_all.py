"""Methods of containers that go through all that they are given: a generator expression is a list to them.

A tensor may decide which items it gives, as in `xs.extend(v for v in values if v > 0)`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from ...core.pytree import OpenDeque
from ..containers.sets import GraphSet
from ..control.comprehension import as_set, listed
from ..control.pushed import pushing

_CONTAINERS = (list, dict, set, frozenset, deque, OpenDeque)
_METHODS = frozenset(
    {"extend", "extendleft", "update", "union", "intersection", "difference", "symmetric_difference"}
    | {"intersection_update", "difference_update", "symmetric_difference_update", "issubset", "issuperset"}
)


def takes_all(owner: Any, name: str) -> bool:
    """Whether the method of that name goes through what it is given."""
    return name in _METHODS and isinstance(owner, _CONTAINERS)


def taking_all(owner: Any, form: Callable[..., Any]) -> Callable[..., Any]:
    """`form`, which stands for such a method of `owner`, given lists in place of generators."""
    return collecting(form, as_set if isinstance(owner, (set, frozenset, GraphSet)) else listed)


def collecting(form: Callable[..., Any], collected: Callable[[Any], Any] = listed) -> Callable[..., Any]:
    """`form`, given what `collected` makes of generators."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return form(*[collected(arg) if pushing(arg) else arg for arg in args], **kwargs)

    return call
