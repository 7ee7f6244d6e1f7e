"""What a tensor loop carries from one iteration to the next, found by tracing the body until nothing new appears."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import NoneType
from typing import Any

from ..core.dtype import DType
from ..core.errors import ArgumentError, UnsettledError, UnsupportedError
from ..core.meta import UNKNOWN, ListMeta, Meta
from ..core.modes import grad_enabled
from ..core.pytree import LEAF, OneOf, TreeDef, can_change, flatten, is_open, node_of, rebuild
from ..core.source import Loc
from ..ir.builder import UNSET
from ..ir.numbers import as_number, is_number, number_dtype, sample
from ..ir.program import Block, Variable
from ..ir.varying import STOP_GRADIENT, Kind, differing, facts_of, kind_code, kinds_of, mark
from .emit import (
    Placeholder,
    common_dtype,
    dtype_of,
    emit,
    is_numeric,
    is_python_number,
    placeholder_for,
    unset_flag,
)  # fmt: skip
from .facts import FirstIterationDiffers
from .journal import Journal
from .list_items import Spec, item_spec, join, list_spec, metas_of, pack, unpack
from .lists import GraphList
from .one_of import MAX_OPTIONS, GraphOneOf, options_of, settled
from .paired import LACKING, Recoded, fits
from .places import kind_of
from .structure import is_alike, put_together
from .values import MaybeUnset, Undefined, is_constant, is_tensor


@dataclass(frozen=True)
class Leaf:
    """One value at the loop's head. `meta` None: it stays the object `start`; else a tensor is carried.

    A tensor that the body changes in place but never rebinds stays itself, too, so that others who hold it see the
    change; once it turned out to be rebound (`by_value`) that is settled. `is_number`: it is a Python number in eager
    code, before the loop and after each iteration. `flagged`: it may be unset, and a bool is
    carried beside it that says so; `origin` names it for messages. `tracked`: a bool is carried beside it that says
    whether it is still the object `start`, because one of the two is changed in place. `items`: it is a list of
    unknown length, of such items. `kinds`: the classes it has in eager code; with more than one, the place of its class
    is carried beside it. `facts`: those that end of an iteration and head do not share.
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

    @property
    def metas(self) -> list[Meta | ListMeta]:
        """The Variables that are carried, without the flag."""
        if self.items is not None:
            return metas_of(list_spec(self.items))
        return [] if self.meta is None else [self.meta]

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
        stops = is_tensor(self.start) and self.start.stop_gradient and not head.stop_gradient
        return facts | {STOP_GRADIENT} if stops else facts


_CODE = Leaf(0, Meta((), dtype_of(0)), is_number=True, kinds=frozenset({int}))
"""The place of the option that a value of several kinds is, as long as it is the first."""


@dataclass
class CarriedValue:
    """One loop variable: its structure and its leaves."""

    name: str
    tree: TreeDef
    leaves: list[Leaf]
    loc: Loc | None = None
    before: Any = None  # a copy of a container or object as it was before the loop

    @classmethod
    def of(cls, name: str, value: Any) -> CarriedValue:
        """The variable as it is before the loop.

        A container or object that can change stays that object while the body leaves it in its variable; what happens
        inside it is the journal's business.
        """
        if _can_change(value):
            before = value.copy() if isinstance(value, (list, dict)) else rebuild(*node_of(value))
            return cls(name, LEAF, [Leaf(value)], before=before)
        return cls.opened(name, value)

    @classmethod
    def opened(cls, name: str, value: Any) -> CarriedValue:
        """The variable with every leaf of its containers carried."""
        raw: list[Any] = []
        tree = flatten(value, raw)
        return cls(name, tree, [_leaf(v) for v in raw])

    def formals(self, block: Block) -> list[Variable]:
        """New inputs of `block`, one for each tensor carried."""
        made: list[Variable] = []
        for leaf in self.leaves:
            for meta in leaf.metas:
                var = block.add_input(meta, self.name.replace(".", "_").replace("a list", "items"))
                differentiable = var.dtype.is_floating or var.dtype.is_complex
                # Under no_grad only what no iteration changes keeps its gradient.
                enabled = grad_enabled.get() or _wants_gradient(leaf.start)
                var.stop_gradient = not (differentiable and enabled)
                made.append(var)
            if leaf.flagged:
                made.append(block.add_input(Meta((), dtype_of(True)), self.name + "_set"))
            if leaf.is_mixed:
                made.append(block.add_input(Meta((), dtype_of(0)), self.name + "_kind"))
            if leaf.tracked:
                made.append(block.add_input(Meta((), dtype_of(True)), self.name + "_kept"))
        return made

    @property
    def width(self) -> int:
        """How many Variables carry it."""
        return sum(leaf.width for leaf in self.leaves)

    def value(self, tensors: Iterator[Variable]) -> Any:
        """The variable with its tensors drawn from `tensors`."""
        return put_together(self.tree, iter([_current(leaf, self.name, tensors) for leaf in self.leaves]))

    def starts(self) -> list[Variable]:
        """The tensors that enter the first iteration, made in the current block."""
        made: list[Variable] = []
        for leaf in self.leaves:
            made += _emitted(leaf, leaf.start, isinstance(leaf.start, (Placeholder, Undefined)))
            if leaf.tracked:
                made.append(emit(True, None))
        return made

    def ends(self, value: Any, kept: Mapping[int, Any] | None = None) -> list[Variable]:
        """The tensors that leave an iteration whose last value is `value`, made in the current block.

        kept: for each tracked leaf (by its id), whether its last value is still the object it was before the loop.
        """
        raw: list[Any] = []
        self._flatten(value, raw)
        made: list[Variable] = []
        for leaf, end in zip(self.leaves, raw):
            unset = isinstance(end, Undefined)
            stand_in = placeholder_for(_Shaped(leaf.meta)) if unset and leaf.meta is not None else end
            made += _emitted(leaf, stand_in, unset)
            if leaf.tracked:
                made.append(emit((kept or {}).get(id(leaf), False), None))
        return made

    def _flatten(self, value: Any, raw: list[Any]) -> TreeDef:
        """The structure of `value`, in which a list of any length that is carried as such is one leaf."""
        if isinstance(value, Undefined):
            raw += [value] * len(self.leaves)
            return LEAF
        return _flatten_like(self.tree, iter(self.leaves), value, raw)

    def parts(self, tensors: Iterator[Variable]) -> list[tuple[Leaf, Variable, Variable | None]]:
        """Each leaf carried as one tensor, that, and if it is tracked the flag of that, drawn from `tensors`."""
        found: list[tuple[Leaf, Variable, Variable | None]] = []
        for leaf in self.leaves:
            drawn = [next(tensors) for _ in range(leaf.width)]
            if leaf.meta is not None:
                found.append((leaf, drawn[0], drawn[-1] if leaf.tracked else None))
        return found

    def last(self, value: Any) -> list[Any]:
        """What the leaves carried as one tensor are in the variable's last value."""
        raw: list[Any] = []
        self._flatten(value, raw)
        return [end for leaf, end in zip(self.leaves, raw) if leaf.meta is not None]

    def track(self, wanted: Callable[[Leaf], bool]) -> None:
        """Track the leaves that `wanted` picks."""
        self.leaves = [replace(leaf, tracked=True) if wanted(leaf) else leaf for leaf in self.leaves]

    def keep_identity(self, entered: Any, value: Any, is_changed: Callable[[Any], bool]) -> bool:
        """Whether tensors that left the iteration as the objects that entered it, but changed in place, were found.

        From now on those are not carried here: their objects are, by whoever follows in-place changes.
        """
        before: list[Any] = []
        after: list[Any] = []
        if flatten(entered, before) != flatten(value, after) or len(before) != len(self.leaves):
            return False
        kept = [
            replace(leaf, meta=None)
            if leaf.meta is not None and not leaf.by_value and not leaf.flagged and is_tensor(leaf.start)
            and start is end and is_changed(start)
            else leaf
            for leaf, start, end in zip(self.leaves, before, after)
        ]  # fmt: skip
        found = any(a is not b for a, b in zip(kept, self.leaves))
        self.leaves = kept
        return found

    def refuse_bare(self, value: Any) -> None:
        """Raise UnsettledError for a place that was unset and takes a container without tensors: is it set now?"""
        raw: list[Any] = []
        unset = len(self.leaves) == 1 and isinstance(self.leaves[0].start, Undefined)
        if unset and not isinstance(value, Undefined) and flatten(value, raw) is not LEAF and not raw:
            raise _not_carried(self.name, self.leaves[0], value)

    @property
    def container(self) -> Any:
        """The container or object that it is as long as each iteration leaves it there; None if it is none."""
        start = self.leaves[0].start if self.tree is LEAF else None
        return start if _can_change(start) and self.leaves[0].items is None else None

    def widen(self, value: Any) -> bool:
        """Whether `value`, from the end of an iteration, asks for more than is carried now; takes note of it."""
        start = self.container
        if start is not None:
            if value is start:
                return False
            # another container comes out: its leaves are carried from now on
            opened = self.opened(self.name, self.before)
            self.tree, self.leaves = opened.tree, opened.leaves
            return True
        raw: list[Any] = []
        tree = self._flatten(value, raw)
        if tree != self.tree:
            return self._restructure(tree, raw, settled(value))
        wider = [_widened(self.name, leaf, end) for leaf, end in zip(self.leaves, raw)]
        changed = any(a is not b for a, b in zip(wider, self.leaves))
        self.leaves = wider
        return changed

    def _restructure(self, tree: TreeDef, raw: Sequence[Any], value: Any) -> bool:
        """An unset variable that becomes a container: every leaf of it starts unset. Lists that change their length
        are carried as lists of any length from now on.
        """
        if len(self.leaves) == 1 and isinstance(self.leaves[0].start, Undefined):
            unset = self.leaves[0]
            if not raw and unset.start.name:
                raise FirstIterationDiffers(_not_carried(self.name, unset, value))
            self.tree = tree
            self.leaves = [_widened(self.name, unset, end) for end in raw]
            return True
        if isinstance(raw[0] if len(raw) == 1 else None, Undefined):
            return False
        self.tree, self.leaves = self._closed(self.tree, iter(self.leaves), value)
        return True

    def _closed(self, tree: TreeDef, held: Iterator[Leaf], end: Any) -> tuple[TreeDef, list[Leaf]]:
        """The structure and leaves that cover this variable's and `end`."""
        if isinstance(end, GraphOneOf) or (tree is not LEAF and tree[0] is OneOf):
            return self._of_several(tree, held, end)
        node = node_of(end)
        if tree is LEAF:
            leaf = next(held)
            if isinstance(end, list) and isinstance(leaf.start, (list, Undefined)):
                return LEAF, [_wider_list(self.name, leaf, end)]
            if node is None:
                return LEAF, [leaf]
        elif node is not None and is_alike(tree, node):
            parts = [self._closed(child, held, e) for child, e in zip(tree[1], node[1])]
            return (tree[0], tuple(t for t, _ in parts), tree[2]), [leaf for _, leaves in parts for leaf in leaves]
        if tree is not LEAF and tree[0] is list and isinstance(end, list):
            own: list[Leaf] = [next(held) for _ in range(_width(tree))]
            unset = next((leaf.origin for leaf in own if isinstance(leaf.start, Placeholder)), None)
            start = put_together(tree, iter([leaf.start for leaf in own])) if unset is None else unset
            return LEAF, [_wider_list(self.name, Leaf(start), end)]
        if tree is LEAF and leaf.start is None:  # as None stands for what is not there yet
            raise FirstIterationDiffers(self._changes())
        return self._of_several(tree, iter([leaf] if tree is LEAF else [next(held) for _ in range(_width(tree))]), end)

    def _of_several(self, tree: TreeDef, held: Iterator[Leaf], end: Any) -> tuple[TreeDef, list[Leaf]]:
        """The structure and leaves of a value of several kinds, to which `end` adds those that it lacks."""
        if tree is LEAF or tree[0] is not OneOf:
            code = _CODE
            options = [(tree, [next(held) for _ in range(_width(tree))])]
        else:
            code = next(held)
            options = [(child, [next(held) for _ in range(_width(child))]) for child in tree[1][1:]]
        matched, missing, _ = _match_options(options, end)
        for index, value in matched.items():
            options[index] = self._wider_option(*options[index], value)
        for value in missing:
            raw: list[Any] = []
            options.append((flatten(value, raw), [self._leaf_of_lacking(v) for v in raw]))
        if len(options) > MAX_OPTIONS:
            raise self._changes()
        return (OneOf, (LEAF, *[t for t, _ in options]), None), [code, *[v for _, leaves in options for v in leaves]]

    def _wider_option(self, tree: TreeDef, leaves: list[Leaf], value: Any) -> tuple[TreeDef, list[Leaf]]:
        raw: list[Any] = []
        if _flatten_like(tree, iter(leaves), value, raw) == tree:
            return tree, leaves
        return self._closed(tree, iter(leaves), value)

    def _leaf_of_lacking(self, end: Any) -> Leaf:
        """A leaf of an option that nothing before the loop is, and `end` after an iteration."""
        if is_open(end):
            return Leaf(LACKING, items=list_spec(item_spec(end)).item)  # type: ignore[attr-defined]
        if is_numeric(end):
            return replace(_set_inside(end, LACKING), flagged=unset_flag(end) is not None)
        if not is_constant(end):
            raise _not_carried(self.name, Leaf(None), end)
        return Leaf(end, kinds=kinds_of(end))

    def _changes(self) -> UnsupportedError:
        return UnsupportedError(
            f"{self.name} changes its length or nesting inside a loop that stops by a tensor condition",
            loc=self.loc,
            hint="keep both the same in every iteration, or keep the values in one tensor",
        )


def _wants_gradient(start: Any) -> bool:
    leaves: list[Any] = []
    flatten(start, leaves)
    held = [part for leaf in leaves for part in (getattr(leaf.items, "parts", ()) if is_open(leaf) else [leaf])]
    return any(not getattr(value, "stop_gradient", True) for value in held)


def _can_change(value: Any) -> bool:
    return isinstance(value, (list, dict)) or can_change(value)


def _width(tree: TreeDef) -> int:
    return 1 if tree is LEAF else sum(map(_width, tree[1]))


def _flatten_like(tree: TreeDef, held: Iterator[Leaf], value: Any, raw: list[Any]) -> TreeDef:
    if tree is LEAF:
        leaf = next(held)
        if leaf.items is not None and isinstance(value, list):
            raw.append(value)
            return LEAF
        return flatten(value, raw)
    if tree[0] is OneOf:
        return _flatten_option(tree, held, value, raw)
    node = node_of(value)
    if node is None or not is_alike(tree, node):
        for _ in range(_width(tree)):
            next(held)
        return flatten(value, raw)
    return tree[0], tuple([_flatten_like(child, held, v, raw) for child, v in zip(tree[1], node[1])]), tree[2]


_Option = tuple[TreeDef, list[Leaf]]


def _flatten_option(tree: TreeDef, held: Iterator[Leaf], value: Any, raw: list[Any]) -> TreeDef:
    """As what a value of several kinds is carried; what is not one of them gives another structure."""
    next(held)
    options = [(child, [next(held) for _ in range(_width(child))]) for child in tree[1][1:]]
    matched, missing, places = _match_options(options, value)
    if missing:
        return flatten(value, raw), missing
    value = settled(value)
    raw.append(Recoded(value.code, places).make() if isinstance(value, GraphOneOf) else places[None])
    found: list[TreeDef] = []
    for index, (child, leaves) in enumerate(options):
        if index in matched:
            found.append(_flatten_like(child, iter(leaves), matched[index], raw))
        else:
            raw += [LACKING] * len(leaves)
            found.append(child)
    return tree[0], (LEAF, *found), tree[2]


def _match_options(options: Sequence[_Option], value: Any) -> tuple[dict[int, Any], list[Any], dict[Any, int]]:
    """The options that the value may be, with what they are then; what fits none of them; the new place of each old."""
    matched: dict[int, Any] = {}
    missing: list[Any] = []
    places: dict[Any, int] = {}
    for place, part in options_of(settled(value)).items():
        free = (i for i, (tree, leaves) in enumerate(options) if i not in matched and _holds(tree, leaves, part))
        index = next(free, None)
        if index is None:
            missing.append(part)
        else:
            matched[index] = part
            places[place] = index
    return matched, missing, places


def _holds(tree: TreeDef, leaves: Sequence[Leaf], value: Any) -> bool:
    """Whether an option carried so can be widened to the value."""
    if tree is not LEAF:
        node = node_of(value)
        return (tree[0] is list and isinstance(value, list)) or (node is not None and is_alike(tree, node))
    (leaf,) = leaves
    if leaf.items is not None or leaf.meta is not None:
        return isinstance(value, list) if leaf.items is not None else is_numeric(value)
    return fits(leaf.start, value)


def _emitted(leaf: Leaf, value: Any, unset: bool) -> list[Variable]:
    """The Variables of a leaf's value, and its flag."""
    if leaf.items is not None:
        made = [emit(var, None) for var in pack(list_spec(leaf.items), [] if unset else value)]
    else:
        shaped = placeholder_for(_Shaped(leaf.meta)) if value is None and leaf.meta is not None else value
        made = [] if leaf.meta is None else [emit(shaped, leaf.meta.dtype)]
    if leaf.flagged:
        flag = unset_flag(value)
        made.append(emit(flag[0] if flag else not unset, None))
    if leaf.is_mixed:
        made.append(emit(kind_code(value, leaf.kinds), None))
    return made


class _Shaped:
    """Something with a shape."""

    def __init__(self, meta: Meta) -> None:
        self.shape = meta.shape


def _leaf(value: Any) -> Leaf:
    if is_open(value):
        return Leaf(value, flagged=unset_flag(value) is not None, items=value.items.spec)
    if is_tensor(value):
        dtype = number_dtype(value.dtype) if is_number(value) else value.dtype
        meta = Meta(tuple(value.shape), dtype)
        flagged, kinds = unset_flag(value) is not None, kinds_of(value)
        return Leaf(value, meta, flagged, is_number=is_number(value), kinds=kinds, facts=facts_of(value))
    return Leaf(value, kinds=kinds_of(value))


def _current(leaf: Leaf, name: str, tensors: Iterator[Variable]) -> Any:
    if leaf.items is not None:
        value = unpack(list_spec(leaf.items), tensors, GraphList.of)
        var = value.items.parts[0]
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
        mark(var, kind, leaf.differing(var), var.block if is_head else None)
    if leaf.tracked:
        next(tensors)
    return value


def _widened(name: str, leaf: Leaf, end: Any) -> Leaf:
    if end is LACKING:
        return leaf
    if leaf.items is not None:
        return _wider_list(name, leaf, end)
    if is_open(end) and isinstance(leaf.start, (Undefined, list)):
        return _wider_list(name, leaf, end)
    if leaf.meta is None:
        return _from_python(name, leaf, end)
    if isinstance(end, Undefined):
        return leaf if leaf.flagged else replace(leaf, flagged=True, origin=end)
    if end is None:
        return leaf if NoneType in leaf.kinds else replace(leaf, kinds=leaf.kinds | kinds_of(end))
    if not is_numeric(end):
        raise _not_carried(name, leaf, end)
    dtype = _join_dtype(name, leaf, end)
    shape = _join_shape(name, leaf.meta.shape, tuple(getattr(end, "shape", ())))
    flagged = leaf.flagged or unset_flag(end) is not None
    numbers = leaf.is_number and is_python_number(end)
    wider = replace(leaf, flagged=flagged, is_number=numbers, kinds=leaf.kinds | kinds_of(end))
    if (dtype, shape) != (leaf.meta.dtype, leaf.meta.shape):
        wider = replace(wider, meta=Meta(shape, dtype))
    assert wider.meta is not None
    wider = replace(wider, facts=leaf.facts | differing([end], wider.meta))
    return leaf if wider == leaf else wider


def _wider_list(name: str, leaf: Leaf, end: Any) -> Leaf:
    """A leaf that is a list of any length, or is from now on."""
    if isinstance(end, Undefined):
        return leaf if leaf.flagged else replace(leaf, flagged=True, origin=end)
    if not isinstance(end, list):
        raise _not_carried(name, leaf, end)
    unset = isinstance(leaf.start, Undefined)
    if not (unset or isinstance(leaf.start, list)):
        raise _not_carried(name, leaf, end)
    held = item_spec(leaf.start) if leaf.items is None and not unset else leaf.items
    spec = join(held, item_spec(end))
    flagged = leaf.flagged or unset or unset_flag(end) is not None
    if spec == leaf.items and flagged == leaf.flagged:
        return leaf
    return replace(leaf, items=list_spec(spec).item, flagged=flagged, origin=leaf.start if unset else leaf.origin)


def _from_python(name: str, leaf: Leaf, end: Any) -> Leaf:
    """A Python value at the head: it stays one while the body leaves it alone, else a tensor is carried."""
    start = leaf.start
    if end is start or (end.__class__ is start.__class__ and not is_tensor(end) and _equal(end, start)):
        return leaf
    if is_tensor(start):
        return _widened(name, replace(_leaf(start), by_value=True), end)
    if isinstance(start, MaybeUnset) or isinstance(end, MaybeUnset):
        raise _not_carried(name, leaf, end)
    if isinstance(start, Undefined):
        return leaf if isinstance(end, Undefined) else _from_unset(name, leaf, end)
    if (start is None and is_numeric(end)) or (end is None and is_numeric(start)):
        return _optional(leaf, start, end)
    if not (is_numeric(start) and is_numeric(end)):
        raise FirstIterationDiffers(_not_carried(name, leaf, end))
    try:
        shape = _join_shape(name, (), tuple(getattr(end, "shape", ())))
    except ArgumentError as err:
        raise FirstIterationDiffers(err) from None
    meta = Meta(shape, _join_dtype(name, Leaf(start), end))
    numbers = is_python_number(start) and is_python_number(end)
    kinds, facts = leaf.kinds | kinds_of(end), differing([end], meta)
    return replace(leaf, meta=meta, is_number=numbers, kinds=kinds, facts=facts)


def _optional(leaf: Leaf, start: Any, end: Any) -> Leaf:
    """None before the loop or after an iteration, and a number or tensor otherwise."""
    given = _set_inside(end if start is None else start, Undefined())
    return replace(given, start=start, flagged=unset_flag(end) is not None, kinds=leaf.kinds | kinds_of(end))


def _from_unset(name: str, leaf: Leaf, end: Any) -> Leaf:
    """An unset variable at the head that the body sets."""
    if is_numeric(end):
        return _set_inside(end, leaf.start)
    if not leaf.start.name and is_constant(end):
        return Leaf(end, kinds=kinds_of(end))  # nobody reads it before it is set
    raise FirstIterationDiffers(_not_carried(name, leaf, end))


def _set_inside(end: Any, origin: Undefined) -> Leaf:
    """A leaf that is unset before the loop and `end` after the first iteration."""
    numbers = is_python_number(end)
    meta = Meta(tuple(getattr(end, "shape", ())), number_dtype(dtype_of(end)) if numbers else dtype_of(end))
    made = Leaf(placeholder_for(_Shaped(meta)), meta, True, origin, is_number=numbers)
    return replace(made, kinds=kinds_of(end), facts=facts_of(end))


def leaf_of_unset(name: str, end: Any) -> Leaf:
    """The leaf of what is unset before the loop and `end` after an iteration; Python values stay what they are."""
    return _set_inside(end, Undefined(name, 0)) if is_tensor(end) else Leaf(end)


def _equal(a: Any, b: Any) -> bool:
    return bool(a == b)


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


def _not_carried(name: str, leaf: Leaf, end: Any) -> ArgumentError:
    before = leaf.meta or type(leaf.start).__name__
    return UnsettledError(
        f"loop variable {name!r} is {before} before an iteration and {type(end).__name__} after it; a loop that stops "
        "by a tensor condition can carry only tensors and numbers",
        hint="make it a tensor before the loop, or keep it unchanged inside",
    )


@dataclass
class CarriedState:
    """Everything a loop carries: its variables, then Python places and tensors changed in place, as they are found."""

    variables: list[CarriedValue]
    own: frozenset[int] = frozenset()  # ids of containers before the loop that nothing but its variables knows
    places: dict[Any, tuple[Any, Any]] = field(default_factory=dict)
    handles: dict[Any, CarriedValue] = field(default_factory=dict)

    def all(self) -> list[CarriedValue]:
        """In the order of the operator's inputs."""
        return [*self.variables, *[v for _, v in self.places.values()], *self.handles.values()]

    def check_exchanged(self, results: Sequence[Any], journal: Journal) -> None:
        """Raise FirstIterationDiffers if the body changed what a variable held before the loop, and exchanged it.

        Only the first iteration changes that object, which others may know; the rest change what they made themselves.
        """
        written = {id(getattr(place, "owner", None)) for place, _ in journal.before.values()}
        for carried, end in zip(self.variables, results):
            start = carried.container
            if start is None or end is start or id(start) in self.own or id(start) not in written:
                continue
            raise FirstIterationDiffers(
                UnsupportedError(
                    f"{carried.name} is a {kind_of(start)} that the body of a loop changes in place and then exchanges "
                    "for another one; a tensor stops the loop",
                    hint=f"change a copy ({carried.name} = {kind_of(start)}({carried.name})), or the new one only",
                )
            )

    def leaves(self) -> Iterator[Leaf]:
        """Every leaf but those of `handles`, whose tensors are their own memory."""
        for carried in self._by_value():
            yield from carried.leaves

    def parts(self, tensors: Sequence[Variable]) -> list[tuple[Leaf, Variable, Variable | None]]:
        """Each carried leaf but those of `handles` with its tensor and the flag of a tracked one."""
        drawn = iter(tensors)
        return [part for carried in self._by_value() for part in carried.parts(drawn)]

    def track(self, wanted: set[int]) -> bool:
        """Track the leaves with these ids; whether there are any."""
        for carried in self._by_value():
            carried.track(lambda leaf: id(leaf) in wanted)
        return bool(wanted)

    def _by_value(self) -> list[CarriedValue]:
        return [*self.variables, *[v for _, v in self.places.values()]]
