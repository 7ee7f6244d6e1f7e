"""One value that a tensor loop carries, and what an iteration asks it to become."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from types import NoneType
from typing import Any

from ...core.dtype import DType
from ...core.errors import ArgumentError, UnsettledError, VitrifyError
from ...core.meta import UNKNOWN, ListMeta, Meta
from ...core.modes import grad_enabled
from ...core.pytree import all_leaves, is_open
from ...ir.builder import UNSET
from ...ir.graph_tensor import sample
from ...ir.numbers import as_number, is_number, number_dtype
from ...ir.program import Variable
from ...ir.varying import STOP_GRADIENT, Kind, differing, facts_of, kind_code, kinds_of, mark
from ..containers.list_items import item_spec, join, list_spec, pack, unpack
from ..containers.lists import GraphList
from ..containers.specs import Spec, metas_of
from ..values.base import MaybeUnset, Undefined, Unmergeable, builder, is_constant, is_equal, is_tensor
from ..values.carried_text import are_texts, characters, text_of
from ..values.cases import among, either_of, note_among
from ..values.decided import are_apart
from ..values.emit import (
    common_dtype,
    dtype_of,
    emit,
    is_numeric,
    is_python_number,
    placeholder_for,
    unset_flag,
)  # fmt: skip
from ..values.facts import FirstIterationDiffers
from .paired import LACKING


@dataclass(frozen=True)
class Leaf:
    """One value at the loop's head. `meta` None: it stays the object `start`; else a tensor is carried.

    A tensor that the body changes in place but never rebinds stays itself, too, so that others who hold it see the
    change; once it turned out to be rebound (`by_value`) that is settled. `is_number`: it is a Python number in eager
    code, before the loop and after each iteration. `flagged`: it may be unset, and a bool is
    carried beside it that says so; `origin` names it for messages. `tracked`: a bool is carried beside it that says
    whether it is still the object `start`, because one of the two is changed in place. `items`: it is a list of
    unknown length, of such items. `kinds`: the classes it has in eager code; with more than one, the place of its class
    is carried beside it. `facts`: those that end of an iteration and head do not share. `among`: the Python numbers
    that it may be, if a tensor chose among them. `wants`: an iteration under no_grad hands on what wants a gradient.
    `is_text`: it is a text, of which the characters are carried.
    """

    start: Any = field(compare=False)
    meta: Meta | None = None
    flagged: bool = False
    origin: Undefined | None = None
    by_value: bool = False
    is_number: bool = False
    tracked: bool = False
    items: Spec | None = None
    kinds: frozenset[type] = frozenset()
    facts: frozenset[str] = frozenset()
    among: tuple[Any, ...] | None = field(default=None, compare=False)
    wants: bool = False
    is_text: bool = False

    @property
    def metas(self) -> list[Meta | ListMeta]:
        """The Variables that are carried, without the flag."""
        if self.items is not None:
            return metas_of(list_spec(self.items))
        return [] if self.meta is None else [self.meta]

    @property
    def is_tensor(self) -> bool:
        """Whether one tensor, or a number that a tensor stands for, is carried."""
        return self.meta is not None and not self.is_text

    @property
    def width(self) -> int:
        """How many Variables carry it."""
        count = len(self.metas)
        return count and count + self.flagged + self.is_mixed + self.tracked

    @property
    def is_mixed(self) -> bool:
        """Whether its class is carried beside it."""
        return self.meta is not None and len(self.kinds) > 1

    def differing(self, head: Variable) -> frozenset[str]:
        """The facts in which the head does not speak for the value before the first iteration, or for later ones."""
        facts = self.facts | differing([self.start], head.meta)
        stops = is_tensor(self.start) and not wants_gradient(self.start) and not head.stop_gradient
        return facts | {STOP_GRADIENT} if stops else facts


def emitted(leaf: Leaf, value: Any, unset: bool) -> list[Variable]:
    """The Variables of a leaf's value, and its flag."""
    if leaf.items is not None:
        made = [emit(var, None) for var in pack(list_spec(leaf.items), [] if unset else value)]
    elif leaf.is_text and not unset:
        made = [characters(value)]
    else:
        shaped = placeholder_for(leaf.meta) if value is None and leaf.meta is not None else value
        made = [] if leaf.meta is None else [emit(shaped, leaf.meta.dtype)]
    if leaf.flagged:
        flag = unset_flag(value)
        made.append(emit(flag[0] if flag else not unset, None))
    if leaf.is_mixed:
        made.append(emit(kind_code(value, leaf.kinds), None))
    return made


def leaf_for(value: Any) -> Leaf:
    if is_open(value):
        return Leaf(value, flagged=unset_flag(value) is not None, items=value.items.spec)
    if is_tensor(value):
        dtype = number_dtype(value.dtype) if is_number(value) else value.dtype
        meta = Meta(tuple(value.shape), dtype)
        flagged, kinds = unset_flag(value) is not None, kinds_of(value)
        return Leaf(value, meta, flagged, is_number=is_number(value), kinds=kinds, facts=facts_of(value))
    return Leaf(value, kinds=kinds_of(value))


def value_at_head(leaf: Leaf, name: str, tensors: Iterator[Variable]) -> Any:
    if leaf.items is not None:
        value = unpack(list_spec(leaf.items), tensors, GraphList.of)
        var = value.items.parts[0]
    elif leaf.is_text:
        return _text_at_head(leaf, name, tensors)
    elif leaf.meta is not None:
        value = var = as_number(next(tensors)) if leaf.is_number else next(tensors)
    else:
        return leaf.start
    if leaf.flagged:
        where = (name, 0) if leaf.origin is None else (leaf.origin.name, leaf.origin.line)
        var.__dict__[UNSET] = (next(tensors), *where)
    if leaf.meta is not None:
        kind = Kind(next(tensors), leaf.kinds) if leaf.is_mixed else None
        is_head = any(v is var for v in var.block.inputs)
        note_among(var, leaf.among)
        mark(var, kind, leaf.differing(var), var.block if is_head else None)
    if leaf.tracked:
        next(tensors)
    return value


def _text_at_head(leaf: Leaf, name: str, tensors: Iterator[Variable]) -> Any:
    text = text_of(next(tensors))
    if not leaf.flagged:
        return text
    where = (name, 0) if leaf.origin is None else (leaf.origin.name, leaf.origin.line)
    return MaybeUnset(*where, text, next(tensors))


def widened(name: str, leaf: Leaf, end: Any) -> Leaf:
    if end is LACKING:
        return leaf
    if leaf.items is not None:
        return wider_list(name, leaf, end)
    if is_open(end) and isinstance(leaf.start, (Undefined, list)):
        return wider_list(name, leaf, end)
    if leaf.meta is None:
        return _from_python(name, leaf, end)
    if isinstance(end, Undefined) and not isinstance(end, MaybeUnset):
        return leaf if leaf.flagged else replace(leaf, flagged=True, origin=end)
    if leaf.is_text and are_texts(end):
        return leaf
    if end is None and not leaf.is_text:
        return leaf if NoneType in leaf.kinds else replace(leaf, kinds=leaf.kinds | kinds_of(end))
    if not is_numeric(end) or leaf.is_text:
        raise not_carried(name, leaf, end)
    dtype = _join_dtype(name, leaf, end)
    try:
        shape = _join_shape(name, leaf.meta.shape, tuple(getattr(end, "shape", ())))
    except ArgumentError as err:
        raise FirstIterationDiffers(err) from None
    flagged = leaf.flagged or unset_flag(end) is not None
    numbers = leaf.is_number and is_python_number(end)
    values = _either(leaf.among, end) if numbers else None
    wider = replace(leaf, flagged=flagged, is_number=numbers, kinds=leaf.kinds | kinds_of(end), among=values)
    if (dtype, shape) != (leaf.meta.dtype, leaf.meta.shape):
        wider = replace(wider, meta=Meta(shape, dtype))
    assert wider.meta is not None
    wider = replace(wider, facts=leaf.facts | differing([end], wider.meta) | _stops_then(leaf, end))
    return leaf if wider == leaf and wider.among == leaf.among else wider


def _stops_then(leaf: Leaf, end: Any) -> frozenset[str]:
    """The fact that stop_gradient depends on the turn, or on the path in it: the value from before wants a gradient, a
    later one does not.
    """
    if not is_tensor(end) or not wants_gradient(leaf.start):
        return frozenset()
    stops = not shows_gradient(end)
    return frozenset({STOP_GRADIENT} if stops else ())


def wanting(leaf: Leaf, end: Any) -> Leaf:
    """The leaf, with note of an `end` that has a gradient where iterations expect none: under no_grad, of integers."""
    expected = grad_enabled.get() and all(meta.dtype.is_inexact for meta in leaf.metas if isinstance(meta, Meta))
    if expected or leaf.wants or not leaf.metas or not wants_gradient(end):
        return leaf
    return leaf if wants_gradient(leaf.start) else replace(leaf, wants=True)


def wants_gradient(value: Any) -> bool:
    """Whether a gradient flows to a tensor as it is now, or to one that a container holds."""
    held = [
        part for leaf in all_leaves(value) for part in (getattr(leaf.items, "parts", ()) if is_open(leaf) else [leaf])
    ]
    return any(is_tensor(part) and not builder().content(part).stop_gradient for part in held)


def shows_gradient(tensor: Any) -> bool:
    """Whether a gradient flows to a tensor, and would in eager code, too: what a loop takes may want one here alone."""
    return wants_gradient(tensor) and STOP_GRADIENT not in facts_of(builder().content(tensor))


def _either(known: tuple[Any, ...] | None, end: Any) -> tuple[Any, ...] | None:
    """The Python numbers that are known, and those that `end` may be."""
    values = among(end)
    return None if known is None or values is None else either_of((*known, *values))


def wider_list(name: str, leaf: Leaf, end: Any) -> Leaf:
    """A leaf that is a list of any length, or is from now on."""
    if isinstance(end, Undefined):
        return leaf if leaf.flagged else replace(leaf, flagged=True, origin=end)
    if not isinstance(end, list):
        raise not_carried(name, leaf, end)
    unset = isinstance(leaf.start, Undefined)
    if not (unset or isinstance(leaf.start, list)):
        raise not_carried(name, leaf, end)
    held = item_spec(leaf.start) if leaf.items is None and not unset else leaf.items
    spec = join(held, item_spec(end))
    flagged = leaf.flagged or unset or unset_flag(end) is not None
    if spec == leaf.items and flagged == leaf.flagged:
        return leaf
    return replace(leaf, items=list_spec(spec).item, flagged=flagged, origin=leaf.start if unset else leaf.origin)


def _from_python(name: str, leaf: Leaf, end: Any) -> Leaf:
    """A Python value at the head: it stays one while the body leaves it alone, else a tensor is carried."""
    start = leaf.start
    if end is start or (end.__class__ is start.__class__ and not is_tensor(end) and is_equal(end, start)):
        return leaf
    if is_tensor(start):
        return widened(name, replace(leaf_for(start), by_value=True), end)
    if isinstance(start, MaybeUnset) or isinstance(end, MaybeUnset):
        raise not_carried(name, leaf, end)
    if isinstance(start, Undefined):
        return leaf if isinstance(end, Undefined) else _from_unset(name, leaf, end)
    if (start is None and is_numeric(end)) or (end is None and is_numeric(start)):
        return _optional(leaf, start, end)
    if not (is_numeric(start) and is_numeric(end)) or are_apart(start, end):
        raise FirstIterationDiffers(not_carried(name, leaf, end))
    try:
        shape = _join_shape(name, (), tuple(getattr(end, "shape", ())))
    except ArgumentError as err:
        raise FirstIterationDiffers(err) from None
    meta = Meta(shape, _join_dtype(name, Leaf(start), end))
    numbers = is_python_number(start) and is_python_number(end)
    kinds, facts = leaf.kinds | kinds_of(end), differing([end], meta)
    # A number after the first turn is a counter, most likely: nobody asks for its values, and it would be traced again.
    values = either_of((start, end)) if numbers and is_number(end) else None
    return replace(leaf, meta=meta, is_number=numbers, kinds=kinds, facts=facts, among=values)


def _optional(leaf: Leaf, start: Any, end: Any) -> Leaf:
    """None before the loop or after an iteration, and a number or tensor otherwise."""
    given = set_inside(end if start is None else start, Undefined())
    return replace(given, start=start, flagged=unset_flag(end) is not None, kinds=leaf.kinds | kinds_of(end))


def _from_unset(name: str, leaf: Leaf, end: Any) -> Leaf:
    """An unset variable at the head that the body sets."""
    if is_numeric(end):
        return set_inside(end, leaf.start)
    if not leaf.start.name and is_constant(end):
        return Leaf(end, kinds=kinds_of(end))  # nobody reads it before it is set
    raise FirstIterationDiffers(not_carried(name, leaf, end))


def set_inside(end: Any, origin: Undefined) -> Leaf:
    """A leaf that is unset before the loop and `end` after the first iteration."""
    numbers = is_python_number(end)
    meta = Meta(tuple(getattr(end, "shape", ())), number_dtype(dtype_of(end)) if numbers else dtype_of(end))
    made = Leaf(placeholder_for(meta), meta, True, origin, is_number=numbers)
    return replace(made, kinds=kinds_of(end), facts=facts_of(end))


def leaf_of_unset(name: str, end: Any) -> Leaf:
    """The leaf of what is unset before the loop and `end` after an iteration; Python values stay what they are."""
    return set_inside(end, Undefined(name, 0)) if is_tensor(end) else Leaf(end)


def _join_dtype(name: str, leaf: Leaf, end: Any) -> DType:
    """The dtype that holds the value at the head and at the end of an iteration."""
    head = leaf.start if leaf.meta is None else _Typed(leaf.meta)
    if leaf.is_number:
        head = sample(_Typed(leaf.meta or Meta((), dtype_of(leaf.start))))
    dtype = common_dtype(head, end)
    if dtype is None:
        raise UnsettledError(
            f"loop variable {name!r} changes dtype inside a tensor loop, to one that does not mix with it"
        )
    return dtype


@dataclass(frozen=True)
class _Typed:
    """A tensor known by its meta alone."""

    meta: Meta

    @property
    def dtype(self) -> DType:
        return self.meta.dtype


def _join_shape(name: str, a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    if len(a) != len(b):
        if not a and all(d == 1 for d in b):
            return b
        raise UnsettledError(
            f"loop variable {name!r} changes its number of dimensions inside a tensor loop, from {list(a)} to {list(b)}"
        )
    return tuple(x if x == y else UNKNOWN for x, y in zip(a, b))


def not_carried(name: str, leaf: Leaf, end: Any) -> VitrifyError:
    """The error of a loop variable that no tensor carries to the next iteration."""
    if isinstance(end, Unmergeable):
        return end.fail()  # which tells of the two paths
    before = leaf.meta or type(leaf.start).__name__
    return UnsettledError(
        f"loop variable {name!r} is {before} before an iteration and {type(end).__name__} after it; a loop that stops "
        "by a tensor condition can carry only tensors and numbers",
        hint="make it a tensor before the loop, or keep it unchanged inside",
    )
