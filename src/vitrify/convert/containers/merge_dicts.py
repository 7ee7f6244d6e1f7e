"""Two dicts as one: a key that only one path sets gets a flag, and the keys stand in an order that both paths have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.pytree import OpenDict, OpenSet
from .dicts import GraphDict
from .sets import GraphSet, refuse_new


def common_order(first: Sequence[Any], second: Sequence[Any]) -> tuple[list[Any], bool]:
    """The keys of both, in an order that fits either; and whether there is such an order."""
    at = {key: position for position, key in enumerate(second)}
    shared = [at[key] for key in first if key in at]
    if shared != sorted(shared):
        return list(dict.fromkeys([*first, *second])), False
    merged: list[Any] = []
    done = 0
    for key in first:
        if key in at:
            merged += second[done : at[key]]
            done = at[key] + 1
        merged.append(key)
    return [*merged, *second[done:]], True


def presence(held: dict[Any, Any], key: Any) -> Any:
    """Whether a dict at the end of a path has the key: a bool, or a flag of the program."""
    if not dict.__contains__(held, key):
        return False
    return held.has(key) if isinstance(held, GraphDict) else True


def order_of(held: Any) -> dict[Any, Any]:
    """A number for each key of a dict, by which they are ordered."""
    if isinstance(held, GraphDict):
        return held.order()
    return {key: place for place, key in enumerate(dict.keys(held))}


def blank(like: Any) -> GraphDict:
    """An empty dict or set of the same kind."""
    return GraphSet() if isinstance(like, OpenSet) else like.blank()


def merge_dicts(
    a: OpenDict,
    b: OpenDict,
    merge: Callable[[str, Any, Any], Any],
    alone: Callable[[str, Any, bool], Any],
    flag: Callable[[Any, Any], Any],
    number: Callable[[Any, Any], Any],
) -> GraphDict:
    """The dict that is `a` on one path and `b` on the other.

    merge(name, x, y): a value that both have; alone(name, value, is_first): one that nobody reads on the other path;
    flag(p, q): what says whether a key is there; number(p, q): a number that is p or q.
    """
    keys, fits = common_order(list(dict.keys(a)), list(dict.keys(b)))
    made = blank(a)
    if not isinstance(made, OpenSet) and not (fits and a.is_ordered and b.is_ordered):
        first, second = order_of(a), order_of(b)
        made.places = {key: number(first.get(key, 0), second.get(key, 0)) for key in keys}
    for key in keys:
        p, q = presence(a, key), presence(b, key)
        label = "an item of a set" if isinstance(made, OpenSet) else f"dict[{key!r}]"
        if isinstance(made, OpenSet) and p is not q:
            refuse_new([key])
        if p is False or q is False:
            value = alone(label, dict.__getitem__(b if p is False else a, key), q is False)
        else:
            value = merge(label, dict.__getitem__(a, key), dict.__getitem__(b, key))
        dict.__setitem__(made, key, value)
        if p is not True or q is not True:
            made.flags[key] = flag(p, q)
    return made
