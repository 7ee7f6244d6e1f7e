"""Nested values while a program is built: put together again, their lists are such as can grow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..core.pytree import LEAF, TreeDef, flatten, is_open, rebuild
from .lists import GraphList


def put_together(tree: TreeDef, leaves: Iterator[Any]) -> Any:
    """The structure rebuilt with values drawn from `leaves`."""
    if tree is LEAF:
        return next(leaves)
    kind, children, extra = tree
    return made_of(kind, [put_together(child, leaves) for child in children], extra)


def made_of(kind: Any, children: list[Any], extra: Any) -> Any:
    """The container with these children."""
    return GraphList(children) if kind is list else rebuild(kind, children, extra)


def is_alike(a: Any, b: Any) -> bool:
    """Whether two nodes (kind, children, extra) are one kind of container with as many children."""
    return a[0] is b[0] and a[2] == b[2] and len(a[1]) == len(b[1])


def snapshot(value: Any, read: Callable[[Any], Any]) -> Any:
    """`value` with its containers copied and its leaves read, so that undoing a region leaves it as it is."""
    leaves: list[Any] = []
    tree = flatten(value, leaves)
    return put_together(tree, iter([leaf.copy() if is_open(leaf) else read(leaf) for leaf in leaves]))
