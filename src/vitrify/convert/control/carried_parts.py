"""How what an iteration leaves fits the structure that a loop carries: leaf by leaf, option by option."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...core.pytree import LEAF, OneOf, TreeDef, flatten, node_of
from ..containers.ranges import GraphRange
from ..containers.structure import is_alike
from ..containers.tuples import GraphTuple
from ..state.inside import is_from_before, is_told_apart
from ..values.base import Undefined, builder, is_constant
from ..values.carried_text import are_texts
from ..values.emit import is_numeric
from ..values.one_of import GraphOneOf, options_of, settled
from ..values.text_choice import is_text
from .leaves import Leaf
from .paired import LACKING, Recoded, are_lists, fits, is_derived_scalar


def is_kept(value: Any) -> bool:
    """Whether it is a list, dict or object from before the block: where such are kept, it stays that object."""
    return is_told_apart(value) and is_from_before(value, builder().block)


def is_object(leaf: Leaf) -> bool:
    """Whether it is a certain list, dict or object, which it stays."""
    is_held = leaf.items is None and leaf.meta is None and builder().keeps_containers
    return is_held and is_told_apart(leaf.start)


def stays(leaf: Leaf, value: Any) -> bool:
    """Whether the leaf is a certain list, dict or object, and the value is that one."""
    return value is leaf.start and is_object(leaf)


def flatten_but(value: Any, raw: list[Any], is_leaf: Callable[[Any], bool]) -> TreeDef:
    """As `flatten`, but what `is_leaf` says that of is one."""
    node = None if is_leaf(value) else node_of(value)
    if node is None:
        raw.append(value)
        return LEAF
    kind, children, extra = node
    return kind, tuple([flatten_but(child, raw, is_leaf) for child in children]), extra


def flatten_made(value: Any, raw: list[Any], keeps: bool) -> TreeDef:
    """The structure of what an iteration leaves; keeps: lists, dicts and objects from before are leaves."""
    return flatten_but(value, raw, is_kept) if keeps else flatten(value, raw)


def flatten_before(value: Any, raw: list[Any], keeps: bool) -> TreeDef:
    """The structure of what there is before a loop; keeps: containers and objects in it, but not itself, are leaves."""
    if not keeps:
        return flatten(value, raw)
    return flatten_but(value, raw, lambda part: part is not value and is_told_apart(part))


def is_another_constant(leaf: Leaf, end: Any) -> bool:
    """Whether a string, a member of an enumeration or the like was exchanged for another one."""
    if is_object(leaf):
        return end is not leaf.start and not isinstance(end, Undefined)
    if leaf.items is not None or leaf.meta is not None:
        return False
    return all(map(_stays_python, (leaf.start, end))) and not fits(leaf.start, end)


def _stays_python(value: Any) -> bool:
    """Whether no tensor will stand for a constant: a string, say, but no number, NumPy's included."""
    if value is None or isinstance(value, np.generic) or not is_constant(value):
        return False
    return is_derived_scalar(value) or not is_numeric(value)


def width(tree: TreeDef) -> int:
    """How many leaves the structure has."""
    return 1 if tree is LEAF else sum(map(width, tree[1]))


def flatten_like(tree: TreeDef, held: Iterator[Leaf], value: Any, raw: list[Any], keeps: bool) -> TreeDef:
    """The structure of `value`, in which what is carried as one leaf is one; its leaves are appended to `raw`."""
    if tree is not LEAF and tree[0] is not OneOf and keeps and is_kept(value):
        for _ in range(width(tree)):
            next(held)
        raw.append(value)
        return LEAF
    if tree is LEAF:
        leaf = next(held)
        is_list = leaf.items is not None and isinstance(value, list) and not (keeps and is_kept(value))
        if is_list or stays(leaf, value):
            raw.append(value)
            return LEAF
        if leaf.is_text and not isinstance(value, Undefined) and are_texts(value):
            raw.append(value)
            return LEAF
        return flatten_made(value, raw, keeps)
    if tree[0] is OneOf:
        return _flatten_option(tree, held, value, raw, keeps)
    if tree[0] is GraphTuple and type(value) is tuple:
        value = GraphTuple.of(value)
    if tree[0] is GraphRange and type(value) is range:
        value = GraphRange.of(value)
    node = node_of(value)
    if node is None or not is_alike(tree, node):
        for _ in range(width(tree)):
            next(held)
        return flatten_made(value, raw, keeps)
    return tree[0], tuple([flatten_like(child, held, v, raw, keeps) for child, v in zip(tree[1], node[1])]), tree[2]


_Option = tuple[TreeDef, list[Leaf]]


def _flatten_option(tree: TreeDef, held: Iterator[Leaf], value: Any, raw: list[Any], keeps: bool) -> TreeDef:
    """As what a value of several kinds is carried; what is not one of them gives another structure."""
    next(held)
    options = [(child, [next(held) for _ in range(width(child))]) for child in tree[1][1:]]
    matched, missing, places = match_options(options, value, keeps)
    if missing:
        return flatten_made(value, raw, keeps), missing
    value = settled(value)
    raw.append(Recoded(value.code, places).make() if isinstance(value, GraphOneOf) else places[None])
    found: list[TreeDef] = []
    for index, (child, leaves) in enumerate(options):
        if index in matched:
            found.append(flatten_like(child, iter(leaves), matched[index], raw, keeps))
        else:
            raw += [LACKING] * len(leaves)
            found.append(child)
    return tree[0], (LEAF, *found), tree[2]


def match_options(
    options: Sequence[_Option], value: Any, keeps: bool
) -> tuple[dict[int, Any], list[Any], dict[Any, int]]:
    """The options that the value may be, with what they are then; what fits none of them; the new place of each old."""
    matched: dict[int, Any] = {}
    missing: list[Any] = []
    places: dict[Any, int] = {}
    for place, part in options_of(settled(value)).items():
        free = (i for i, (tree, leaves) in enumerate(options) if i not in matched and _holds(tree, leaves, part, keeps))
        index = next(free, None)
        if index is None:
            missing.append(part)
        else:
            matched[index] = part
            places[place] = index
    return matched, missing, places


def _holds(tree: TreeDef, leaves: Sequence[Leaf], value: Any, keeps: bool) -> bool:
    """Whether an option carried so can be widened to the value."""
    if keeps and is_kept(value):
        return tree is LEAF and stays(leaves[0], value)
    if tree is not LEAF:
        node = node_of(value)
        return (tree[0] is list and are_lists(value, value)) or (node is not None and is_alike(tree, node))
    (leaf,) = leaves
    if leaf.is_text:
        return is_text(value)
    if leaf.items is not None or leaf.meta is not None:
        return are_lists(value, value) if leaf.items is not None else is_numeric(value)
    return stays(leaf, value) if is_object(leaf) else fits(leaf.start, value)
