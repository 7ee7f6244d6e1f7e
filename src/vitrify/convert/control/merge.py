"""Joining what two paths computed into one value: the outputs of a tensor `if`."""

from __future__ import annotations

from collections.abc import Callable, MappingView, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ...core.dtype import DType
from ...core.errors import UnsupportedError
from ...core.pytree import (
    BY_CONTENT,
    OpenDict,
    all_leaves,
    flatten,
    is_open,
    node_of,
)
from ...core.source import user_frames
from ...ir.builder import UNSET
from ...ir.numbers import as_number, number_dtype
from ...ir.program import Block, Variable
from ...ir.varying import STOP_GRADIENT, Kind, differing, kind_code, kinds_of, mark
from ...ops.promote import SCALARS
from ..containers.dicts import GraphDict
from ..containers.inner_lists import is_any_twice, keep
from ..containers.list_items import Items, Mixed, item_spec, join, list_spec, pack, shared_spec
from ..containers.lists import GraphList
from ..containers.merge_dicts import merge_dicts
from ..containers.ranges import GraphRange
from ..containers.specs import TWICE, ListSpec, Spec, metas_of
from ..containers.structure import Originals, is_alike, made_of, put_together
from ..containers.tuples import GraphTuple
from ..state.inside import is_from_before, knows_nothing_of
from ..values.base import (
    MaybeUnset,
    Undefined,
    Unmergeable,
    builder,
    is_constant,
    is_equal,
    is_tensor,
    scalar_condition,
)
from ..values.carried_text import are_texts
from ..values.cases import either_of, note_among
from ..values.decided import are_apart
from ..values.emit import (
    Deferred,
    common_dtype,
    dtype_of,
    is_asserted,
    is_numeric,
    is_python_number,
    placeholder_for,
    unset_flag,
)
from ..values.in_words import in_words
from ..values.one_of import MAX_OPTIONS, GraphOneOf, settled
from ..values.optional import decided, kinds_at, optional_kind
from ..values.text import GraphText, as_text
from ..values.text_choice import TextSlot, chosen, is_text
from ..values.user_errors import without_frames
from .error_slot import ErrorSlot, error_slot, left
from .of_run import text_of_paths, value_of_paths
from .paired import LACKING, are_lists, fits, have_one_rank, is_derived_scalar, paired_options


@dataclass
class Joined:
    """The outputs of two blocks under construction: parallel lists, one entry an output.

    `by_value`: the block of which objects, and lists and dicts made there, are not told apart. `repeated`: ids of the
    containers that a path leaves in several places, if they are to stay one; `alone`: what stands for each of those.
    """

    then: Block
    orelse: Block
    read: tuple[Callable[[Any], Any], Callable[[Any], Any]]
    originals: Originals
    pred: Any = None
    by_value: Block | None = None
    sides: tuple[list[Any], list[Any]] = field(default_factory=lambda: ([], []))
    pairs: dict[tuple[Any, Any], int] = field(default_factory=dict)
    repeated: frozenset[int] = frozenset()
    alone: dict[int, Alone] = field(default_factory=dict)

    def add_pair(self, a: Any, b: Any, dtype: DType) -> int:
        """Index of the output for a value that is `a` or `b`: the same for two variables that are one tensor."""
        if not (isinstance(a, Variable) and isinstance(b, Variable)):
            return self.add((a, dtype), (b, dtype))
        if (a, b) not in self.pairs:
            self.pairs[a, b] = self.add((a, dtype), (b, dtype))
        return self.pairs[a, b]

    def add_flag(self, a: Any, b: Any) -> Any:
        """What says whether a key is there which on the paths is there as `a` and `b` say."""
        if a is b:
            return a
        if (a, b) not in self.pairs:
            self.pairs[a, b] = self.add((a, None), (b, None))
        return Slot(self.pairs[a, b], is_number=True)

    def add_number(self, a: Any, b: Any) -> Any:
        """A number that on the paths is `a` and `b`."""
        return a if a is b else Slot(self.add((a, None), (b, None)), is_number=True)

    def keeps(self, a: Any, b: Any) -> bool:
        """Whether one of two values is a certain object, which it stays: another one cannot stand for it."""
        return self._is_certain(a, self.then) or self._is_certain(b, self.orelse)

    def _is_certain(self, value: Any, block: Block) -> bool:
        if (not builder().keeps_containers) if isinstance(value, BY_CONTENT) else (self.by_value is not None):
            return False
        original = self.originals.original(value)
        if self.by_value is not None:
            return is_from_before(original, self.by_value)
        return id(original) in self.repeated or is_from_before(original, block)

    def once(self, original: Any, make: Callable[[], Any]) -> Any:
        """What `make` gives for a container of one path, the same in all places that hold it."""
        if id(original) not in self.repeated:
            return make()
        if id(original) not in self.alone:
            self.alone[id(original)] = Alone(make())
        return self.alone[id(original)]

    def fit(self, a: Any, b: Any) -> bool:
        """Whether one value can stand for both of two options."""
        return self.originals.common(a, b) is not None or (fits(a, b) and not self.keeps(a, b))

    def apart(self) -> set[int]:
        """The ids of containers of one path that are told from all others, and of what they were made of."""
        return {*self.alone, *[id(alone.made) for alone in self.alone.values()]}

    def add(self, a: Any, b: Any) -> int:
        """Index of a new output."""
        self.sides[0].append(a)
        self.sides[1].append(b)
        return len(self.sides[0]) - 1


@dataclass(frozen=True)
class Slot:
    """Stands for output `index` of the operator until it exists; `flag` is the output that says whether it is set.

    `kind`: the output with its class, one of `kinds`. `sides`: what the paths give for it.
    """

    index: int
    flag: int | None = None
    name: str = ""
    line: int = 0
    is_number: bool = False
    kind: int | None = None
    kinds: frozenset[type] = frozenset()
    sides: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Slots:
    """Stands for a list of unknown length: its parts, the first of which says whether the list is set."""

    item: Spec
    parts: tuple[Slot, ...]


@dataclass(frozen=True)
class Kept:
    """Stands for a container that was there before and stays the object that it is."""

    container: Any


@dataclass(eq=False)
class Alone:
    """Stands for a container that one path leaves in several places: all get the same one, made of `value`."""

    value: Any
    made: Any = None

    def filled(self, results: list[Any]) -> Any:
        """The container."""
        if self.made is None:
            self.made = fill_slots(self.value, results)
        return self.made


class _Packed:
    """A list at the end of one branch, to be taken apart there once the spec of both branches is known."""

    def __init__(self, value: Any, spec: ListSpec, read: Callable[[Any], Any], originals: Originals) -> None:
        self.value = value
        self.spec = spec
        self.read = read
        self.originals = originals
        self.made: list[Any] | None = None

    def parts(self) -> list[Any]:
        """Its parts, made in the block that is current when they are first asked for."""
        if self.made is None:
            self.made = pack(self.spec, self.value, self.read)
            for item in () if is_open(self.value) else self.value:  # copies, of what may be known elsewhere
                keep(self.originals.original(item))
        return self.made


@dataclass(frozen=True)
class _Part(Deferred):
    """One part of a list."""

    packed: _Packed
    index: int

    def make(self) -> Any:
        return self.packed.parts()[self.index]


def merge(name: str, a: Any, b: Any, joined: Joined) -> Any:
    """`a` (then) and `b` (orelse) as one value: itself where both agree, a structure with Slots where they differ.

    Where both are snapshots of one container the result is that container: what changed in it is merged by its place.
    """
    if a is b:
        return a
    common = joined.originals.common(a, b)
    if common is not None:
        return Kept(common)
    a, b = settled(a, joined.then), settled(b, joined.orelse)
    if isinstance(a, GraphOneOf) or isinstance(b, GraphOneOf):
        return merge_options(name, a, b, joined)
    if isinstance(a, Undefined) or isinstance(b, Undefined):
        return _merge_unset(name, a, b, joined)
    if {type(a), type(b)} == {tuple, GraphTuple}:
        a, b = (GraphTuple.of(v) if isinstance(v, tuple) else v for v in (a, b))
    if {type(a), type(b)} == {range, GraphRange}:
        a, b = GraphRange.of(a), GraphRange.of(b)
    if isinstance(a, BY_CONTENT) and isinstance(b, BY_CONTENT) and joined.keeps(a, b):
        return merge_options(name, a, b, joined)
    return merge_content(name, a, b, joined)


def merge_content(name: str, a: Any, b: Any, joined: Joined) -> Any:
    """What two paths left in one place as one value: a list or dict is merged by what it holds."""
    first, second = node_of(a), node_of(b)
    if first is None and second is None:
        return _merge_leaf(name, a, b, joined)
    if isinstance(a, OpenDict) and isinstance(b, OpenDict) and (a.kind, a.made_with()) == (b.kind, b.made_with()):
        return _merge_dicts(a, b, joined)
    is_kept = not isinstance(a, BY_CONTENT) and joined.keeps(a, b)
    if first is not None and second is not None and is_alike(first, second) and not is_kept:
        merged = [merge(name, x, y, joined) for x, y in zip(first[1], second[1])]
        failed = next((m for m in merged if isinstance(m, Unmergeable)), None)
        return failed if failed is not None else made_of(first[0], merged, first[2])
    if are_lists(a, b):
        return _merge_lists(a, b, joined)
    return merge_options(name, a, b, joined)


def merge_options(name: str, a: Any, b: Any, joined: Joined) -> Any:
    """A value of several kinds, from two that no single one can stand for: what they have in common is merged."""
    if isinstance(a, Undefined) or isinstance(b, Undefined):
        return _merge_unset(name, a, b, joined)
    if not builder().tracing:  # in a program written by hand nobody asks each option by itself
        return _unlike(name, a, b)
    paired = paired_options(a, b, joined.then, joined.orelse, joined.fit)
    if len(paired.options) > MAX_OPTIONS:
        return _one_text(a, b, joined) if are_texts(a) and are_texts(b) else _unlike(name, a, b)
    merged: list[Any] = []
    for x, y in paired.options:
        if x is LACKING or y is LACKING:
            value = _alone(joined, name, x if y is LACKING else y, y is LACKING)
        else:
            value = merge(name, x, y, joined)
        if isinstance(value, Undefined):
            return _unlike(name, a, b)
        merged.append(value)
    code = Slot(joined.add(*[(code, None) for code in paired.codes]), is_number=True)
    return GraphOneOf([code, *merged], name)


def _one_text(a: Any, b: Any, joined: Joined) -> Any:
    """Two of many texts as one that the program puts together."""
    with builder().resume(joined.then):
        first = as_text(a)
    with builder().resume(joined.orelse):
        second = as_text(b)
    return text_of_paths(first, second, joined.then, joined.orelse, joined.add)


def _unlike(name: str, a: Any, b: Any) -> Unmergeable:
    return Unmergeable(name, f"one branch gives {in_words(a)} and the other {in_words(b)}")


def _merge_dicts(a: OpenDict, b: OpenDict, joined: Joined) -> GraphDict:
    return merge_dicts(
        a, b, lambda name, x, y: merge(name, x, y, joined), partial(_alone, joined), joined.add_flag, joined.add_number
    )


def _alone(joined: Joined, name: str, value: Any, on_then: bool) -> Any:
    """What only one path has, where nobody reads it on the other (a key of a dict): zeros stand there for tensors."""
    original = joined.originals.original(value)
    block = joined.then if on_then else joined.orelse
    if is_from_before(original, block) or (isinstance(original, tuple) and knows_nothing_of(original, block)):
        return Kept(original)
    if is_open(value):
        return joined.once(original, lambda: _merge_lists(value if on_then else [], [] if on_then else value, joined))
    node = node_of(value)
    if node is not None:
        kind, children, extra = node
        return joined.once(
            original, lambda: made_of(kind, [_alone(joined, name, child, on_then) for child in children], extra)
        )
    if isinstance(value, GraphText):
        return chosen(value if on_then else "", "" if on_then else value, joined.add, placeholder_for)
    if is_tensor(value):
        then, orelse = (value, Undefined()) if on_then else (Undefined(), value)
        return _flagged_leaf(name, then, orelse, joined)
    if is_constant(value) or (isinstance(value, Undefined) and not isinstance(value, MaybeUnset)):
        return value
    if not isinstance(value, Undefined) and knows_nothing_of(value, block):
        return left(value)
    if isinstance(value, BaseException):
        found = error_slot(value, lambda held: _alone(joined, name, held, on_then))
        if found is not None:
            return found
    return Unmergeable(name, f"only one branch sets it, to {in_words(value)}")


def _merge_lists(a: list[Any], b: list[Any], joined: Joined, unset: Undefined | None = None) -> Any:
    """A list of unknown length from two. `unset`: the one without items stands for this."""
    if is_open(a) and is_open(b) and a.items is b.items:  # type: ignore[attr-defined]
        return a
    try:
        specs = [_spec_in(block, v, joined.originals) for block, v in ((joined.then, a), (joined.orelse, b))]
        spec = list_spec(join(*specs))
    except UnsupportedError as err:
        err.loc = err.loc or next(iter(user_frames(1, limit=1)), None)
        return GraphList.of(Mixed(without_frames(err)))
    sides = [_Packed(value, spec, read, joined.originals) for value, read in zip((a, b), joined.read)]
    slots = [Slot(joined.add(*[(_Part(side, i), None) for side in sides])) for i, _ in enumerate(metas_of(spec))]
    flags = [_list_flag(value) for value in (a, b)]
    source = next((f for f in flags if f is not None), None)
    if source is None and unset is not None and unset.name:
        source = None, unset.name, unset.line
    if source is not None:
        values = [f[0] if f is not None else is_open(v) or unset is None for f, v in zip(flags, (a, b))]
        slots[0] = Slot(slots[0].index, joined.add(*[(v, None) for v in values]), source[1], source[2])
    return Slots(spec.item, tuple(slots))


def _spec_in(block: Block, value: list[Any], originals: Originals) -> Any:
    """The spec of a list's items, with what is known in the block: that they are not None, say."""
    with builder().resume(block):
        spec = item_spec(value)
    is_twice = not is_open(value) and is_any_twice(value, originals.first)
    return shared_spec(spec, TWICE) if is_twice and spec is not None else spec


def _list_flag(value: list[Any]) -> Any:
    """What says whether the list is set; a list of known length is told by what is in it."""
    found = unset_flag(value)
    if found is None and not is_open(value):
        found = next((f for f in map(unset_flag, all_leaves(value)) if f is not None), None)
    return found


def _merge_leaf(name: str, a: Any, b: Any, joined: Joined) -> Any:
    a, b = decided(a, joined.pred, True), decided(b, joined.pred, False)
    if a is b or (a.__class__ is b.__class__ and isinstance(a, (*SCALARS, str, bytes)) and _same(a, b)):
        return a
    of_run = value_of_paths(a, b, joined.then, joined.orelse, joined.add)
    if of_run is not None:
        return of_run
    if is_derived_scalar(a) or is_derived_scalar(b) or are_apart(a, b):
        return merge_options(name, a, b, joined)
    if is_text(a) and is_text(b) and not (isinstance(a, str) and isinstance(b, str)):
        return text_of_paths(a, b, joined.then, joined.orelse, joined.add)
    if is_open(a) and is_open(b):
        return _merge_lists(a, b, joined)
    if (a is None or b is None) and is_numeric(b if a is None else a):
        return _optional(a, b, joined)
    dtype = common_dtype(a, b) if builder().tracing is False or have_one_rank(a, b) else None
    if dtype is None:
        if a.__class__ is b.__class__ and not isinstance(a, MappingView) and not is_numeric(a) and _same(a, b):
            return a
        return merge_options(name, a, b, joined)
    numbers = is_python_number(a) and is_python_number(b)
    flags = [_flag_at(a, joined.then), _flag_at(b, joined.orelse)]
    index = joined.add_pair(a, b, dtype)
    slot = _mixed(Slot(index, is_number=numbers, sides=(a, b)), a, b, joined)
    if flags == [None, None]:
        return slot
    source = next(f for f in flags if f is not None)
    flag = joined.add(*[(True if f is None else f[0], None) for f in flags])
    return replace(slot, flag=flag, name=source[1], line=source[2])


def _flag_at(value: Any, block: Block) -> tuple[Any, str, int] | None:
    """What `unset_flag` gives, None where it is known in the block that the value is set."""
    held = unset_flag(value)
    return None if held is not None and is_asserted(held[0], block) else held


def _optional(a: Any, b: Any, joined: Joined) -> Slot:
    """None on one path: zeros stand in there, and the class says which it is."""
    given = b if a is None else a
    dtype = number_dtype(dtype_of(given)) if is_python_number(given) else dtype_of(given)
    index = joined.add(*[(placeholder_for(given) if v is None else v, dtype) for v in (a, b)])
    slot = _mixed(Slot(index, is_number=is_python_number(given), sides=(given,)), a, b, joined)
    held = _flag_at(given, joined.then if b is None else joined.orelse)
    if held is None:
        return slot
    flag = joined.add(*[(True if v is None else held[0], None) for v in (a, b)])
    return replace(slot, flag=flag, name=held[1], line=held[2])


def _mixed(slot: Slot, a: Any, b: Any, joined: Joined) -> Slot:
    """The slot, with one more for the class of the value where that is not the same on all paths."""
    kinds = kinds_at(a, kinds_of(a), joined.then) | kinds_at(b, kinds_of(b), joined.orelse)
    if len(kinds) < 2:
        return slot
    return replace(slot, kinds=kinds, kind=joined.add(*[(kind_code(v, kinds), None) for v in (a, b)]))


def _same(a: Any, b: Any) -> bool:
    return is_equal(a, b) or (is_equal(a != a, True) and is_equal(b != b, True))


# --- unset on one path -----------------------------------------------------------------------------------------------


def _merge_unset(name: str, a: Any, b: Any, joined: Joined) -> Any:
    """One branch, or both, may leave the variable unset: a flag tells the paths apart, in its tensors or beside it."""
    failed = next((v for v in (a, b) if isinstance(v, Unmergeable)), None)
    if failed is not None:
        return _failed(failed, a, b, joined)
    sides = [_Side(v) for v in (a, b)]
    known = [side for side in sides if side.flag is not False]
    if not known:
        return a if a.name else b
    unset = next(side.held for side in sides if side.flag is not True)
    if any(side.flag is not True for side in known):
        both = len(known) == 2
        value = merge(name, sides[0].value, sides[1].value, joined) if both else _of_one(name, sides, joined)
        return _maybe(unset, value, sides, joined)
    if unset.name and _tells(known[0].value) and not _is_attribute(unset.name, known[0].value):
        return _flagged(name, a, b, joined)
    value = _of_one(name, sides, joined)
    return _maybe(unset, value, sides, joined) if unset.name else value


def _failed(failed: Unmergeable, a: Any, b: Any, joined: Joined) -> Unmergeable:
    """What fails when it is used on either path; as a condition it may be used where both know its truth."""
    known = [_truth(value) for value in (a, b)]
    if failed.decided is None and None in known:
        return failed
    found = Unmergeable(failed.name, failed.reason, None if None in known else joined.add_number(*known))
    found.loc = failed.loc
    return found


def _truth(value: Any) -> Any:
    """The truth of what a path leaves, if no code of the user's tells it; else None."""
    if isinstance(value, Unmergeable):
        return value.decided
    if is_tensor(value):
        return None if optional_kind(value) is not None else _Truth(value)
    return bool(value) if is_constant(value) else None


@dataclass(frozen=True)
class _Truth(Deferred):
    """The truth of a tensor, found out where its path ends."""

    tensor: Any

    def make(self) -> Any:
        return scalar_condition(self.tensor, "bool()")


class _Side:
    """What a path leaves in a variable: its value, and the flag that says whether it is set there."""

    def __init__(self, held: Any) -> None:
        self.held = held
        is_unset = isinstance(held, Undefined)
        self.flag = held.flag if isinstance(held, MaybeUnset) else not is_unset
        self.value = held.value if isinstance(held, MaybeUnset) else None if is_unset else held


def _of_one(name: str, sides: Sequence[_Side], joined: Joined) -> Any:
    """The value that one path gives."""
    on_then = sides[0].flag is not False
    return _alone(joined, name, sides[not on_then].value, on_then)


def _maybe(unset: Undefined, value: Any, sides: Sequence[_Side], joined: Joined) -> Any:
    if isinstance(value, Undefined):
        return value
    return MaybeUnset(unset.name, unset.line, value, joined.add_flag(sides[0].flag, sides[1].flag))


def _is_attribute(name: str, value: Any) -> bool:
    """Whether it is a container in an attribute: what holds its items later does not know that it may be unset."""
    return "." in name and not name.endswith("]") and node_of(value) is not None


def _tells(value: Any) -> bool:
    """Whether tensors in the value, and nothing else, can carry the flag."""
    leaves = all_leaves(value)
    return bool(leaves) and all(is_numeric(leaf) or is_open(leaf) for leaf in leaves)


def _flagged(name: str, a: Any, b: Any, joined: Joined) -> Any:
    """One side is unset: each leaf of the other is set or unset with it."""
    unset, given = (a, b) if isinstance(a, Undefined) else (b, a)
    leaves: list[Any] = []
    tree = flatten(given, leaves)
    pairs = [(unset, leaf) if unset is a else (leaf, unset) for leaf in leaves]
    return put_together(tree, iter([_flagged_leaf(name, x, y, joined) for x, y in pairs]))


def _flagged_leaf(name: str, a: Any, b: Any, joined: Joined) -> Any:
    """Zeros stand in on the path that leaves it unset, and a flag tells the paths apart."""
    unset, given = (a, b) if isinstance(a, Undefined) else (b, a)
    if is_open(given):
        return _merge_lists([] if unset is a else a, [] if unset is b else b, joined, unset)
    dtype = number_dtype(dtype_of(given)) if is_python_number(given) else dtype_of(given)
    entries = ((placeholder_for(given), dtype), (given, dtype))
    index = joined.add(*(entries if unset is a else entries[::-1]))
    slot = _mixed(Slot(index, is_number=is_python_number(given), sides=(given,)), a, b, joined)
    held = unset_flag(given)
    if not unset.name and held is None:
        return slot
    flags = (False, True if held is None else held[0])
    flag = joined.add_flag(*(flags if unset is a else flags[::-1])).index
    name, line = (name if unset.name == "place" else unset.name), unset.line
    if not unset.name and held is not None:
        _, name, line = held
    return replace(slot, flag=flag, name=name, line=line)


def fill_slots(value: Any, results: list[Any]) -> Any:
    """A merged value with its Slots replaced by operator outputs."""
    if isinstance(value, MaybeUnset):
        return MaybeUnset(value.name, value.line, fill_slots(value.value, results), _filled(value.flag, results))
    if isinstance(value, Unmergeable) and isinstance(value.decided, Slot):
        value.decided = _filled(value.decided, results)
    if isinstance(value, (Undefined, Variable)):
        return value
    leaves: list[Any] = []
    tree = flatten(value, leaves)
    if not any(isinstance(leaf, (Slot, Slots, TextSlot, Kept, Alone, ErrorSlot)) for leaf in leaves):
        return value
    return put_together(tree, iter([_filled(leaf, results) for leaf in leaves]))


def _filled(leaf: Any, results: list[Any]) -> Any:
    if isinstance(leaf, Kept):
        return leaf.container
    if isinstance(leaf, (TextSlot, Alone)):
        return leaf.filled(results)
    if isinstance(leaf, ErrorSlot):
        return leaf.filled(fill_slots(leaf.held, results))
    if isinstance(leaf, Slots):
        return GraphList.of(Items(leaf.item, tuple(_filled(slot, results) for slot in leaf.parts)))
    if not isinstance(leaf, Slot):
        return leaf
    var = as_number(results[leaf.index]) if leaf.is_number else results[leaf.index]
    if leaf.flag is not None:
        var.__dict__[UNSET] = (results[leaf.flag], leaf.name, leaf.line)
    if leaf.is_number:
        note_among(var, either_of(leaf.sides))
    facts = differing(leaf.sides, var.meta)
    if not var.stop_gradient and any(is_tensor(side) and side.stop_gradient for side in leaf.sides):
        facts |= {STOP_GRADIENT}
    mark(var, None if leaf.kind is None else Kind(results[leaf.kind], leaf.kinds), facts)
    return var
