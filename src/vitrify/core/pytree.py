"""Nested structures of values: flattening, a hashable description, rebuilding."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from typing import Any

LEAF = None
TreeDef = Any  # None for a leaf, else (kind, children, extra)


def flatten(value: Any, leaves: list[Any]) -> TreeDef:
    """The structure of `value`, hashable; its leaves are appended to `leaves` in order.

    Containers: list, tuple, namedtuple, dict, OrderedDict, defaultdict, deque and dataclass instances. All else is a
    leaf.
    """
    cls = value.__class__
    if cls is tuple or cls is list:
        return cls, tuple([flatten(v, leaves) for v in value]), None
    if cls is dict or cls is OrderedDict:
        return cls, tuple([flatten(v, leaves) for v in value.values()]), tuple(value)
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return cls, tuple([flatten(v, leaves) for v in value]), "fields"
    if is_plain_dataclass(cls):
        names = _attribute_names(value)
        return cls, tuple([flatten(getattr(value, n), leaves) for n in names]), ("object", names)
    if cls is deque or cls is defaultdict:
        return _flatten_special(value, leaves, flatten)
    leaves.append(value)
    return LEAF


def _attribute_names(value: Any) -> tuple[str, ...]:
    """What an object holds, whether or not its class declares it."""
    held = getattr(value, "__dict__", None)
    return tuple(f.name for f in fields(value) if hasattr(value, f.name)) if held is None else tuple(held)


def _flatten_special(value: Any, leaves: list[Any], inner: Callable[[Any, list[Any]], TreeDef]) -> TreeDef:
    if isinstance(value, deque):
        return deque, tuple([inner(v, leaves) for v in value]), ("maxlen", value.maxlen)
    children = tuple([inner(v, leaves) for v in value.values()])
    return defaultdict, children, ("default", value.default_factory, tuple(value))


def flatten_open(
    value: Any, leaves: list[Any], opens: Callable[[Any], bool], closed: Callable[[Any], bool]
) -> TreeDef:
    """`flatten` that also looks into sets and objects for which `opens(object)` is true; what is `closed` is a leaf."""

    def inner(item: Any, found: list[Any]) -> TreeDef:
        cls = item.__class__
        if closed(item):
            found.append(item)
            return LEAF
        if cls is set or cls is frozenset:
            return cls, tuple([inner(v, found) for v in item]), None
        if cls in (list, tuple):
            return cls, tuple([inner(v, found) for v in item]), None
        if cls in (dict, OrderedDict):
            return cls, tuple([inner(v, found) for v in item.values()]), tuple(item)
        if cls is deque or cls is defaultdict:
            return _flatten_special(item, found, inner)
        if issubclass(cls, tuple) and hasattr(cls, "_fields"):
            return cls, tuple([inner(v, found) for v in item]), "fields"
        if hasattr(item, "__dict__") and (is_plain_dataclass(cls) or opens(item)):
            names = tuple(item.__dict__)
            return cls, tuple([inner(item.__dict__[n], found) for n in names]), ("object", names)
        return flatten(item, found)

    return inner(value, leaves)


def is_plain_dataclass(cls: type) -> bool:
    """Whether instances are plain data: dataclasses that are not ours."""
    return hasattr(cls, "__dataclass_fields__") and cls.__module__.partition(".")[0] != "vitrify"


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
    if kind is dict or kind is OrderedDict:
        return kind(zip(extra, values))
    if extra is None:
        return kind(values)
    return _rebuilt(kind, extra, values)


def _rebuilt(kind: Any, extra: Any, values: list[Any]) -> Any:
    """A container or object of the rarer kinds. No code of its class runs."""
    if extra == "fields":
        return tuple.__new__(kind, values)
    what, *details = extra
    if what == "maxlen":
        return deque(values, details[0])
    if what == "default":
        return defaultdict(details[0], zip(details[1], values))
    made = object.__new__(kind)
    for name, value in zip(details[0], values):
        object.__setattr__(made, name, value)
    return made


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
