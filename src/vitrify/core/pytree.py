"""Nested structures of values: flattening, a hashable description, rebuilding."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from typing import Any

LEAF = None
TreeDef = Any  # None for a leaf, else (kind, children, extra)


def flatten(value: Any, leaves: list[Any]) -> TreeDef:
    """The structure of `value`, hashable; its leaves are appended to `leaves` in order.

    Containers: list, tuple, namedtuple, dict, OrderedDict and dataclass instances. All else is a leaf.
    """
    cls = value.__class__
    if cls is tuple or cls is list:
        return cls, tuple([flatten(v, leaves) for v in value]), None
    if cls is dict or cls is OrderedDict:
        return cls, tuple([flatten(v, leaves) for v in value.values()]), tuple(value)
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return cls, tuple([flatten(v, leaves) for v in value]), "fields"
    if hasattr(cls, "__dataclass_fields__") and cls.__module__.partition(".")[0] != "vitrify":
        names = tuple(f.name for f in fields(value) if f.init)
        return cls, tuple([flatten(getattr(value, n), leaves) for n in names]), ("dataclass", names)
    leaves.append(value)
    return LEAF


def unflatten(tree: TreeDef, leaves: Iterator[Any]) -> Any:
    """The structure rebuilt with values drawn from `leaves`."""
    if tree is LEAF:
        return next(leaves)
    kind, children, extra = tree
    values = [unflatten(c, leaves) for c in children]
    if kind is list:
        return values
    if kind is tuple:
        return tuple(values)
    if extra == "fields":
        return kind(*values)
    if isinstance(extra, tuple) and extra and extra[0] == "dataclass":
        return kind(**dict(zip(extra[1], values)))
    return kind(zip(extra, values))


def map_leaves(fn: Callable[[Any], Any], value: Any) -> Any:
    """The structure with `fn` applied to every leaf."""
    leaves: list[Any] = []
    tree = flatten(value, leaves)
    return unflatten(tree, iter([fn(v) for v in leaves]))


def all_leaves(value: Any) -> Iterable[Any]:
    """The leaves of `value` in order."""
    leaves: list[Any] = []
    flatten(value, leaves)
    return leaves
