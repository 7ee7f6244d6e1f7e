"""What a tensor loop carries from one iteration to the next, found by tracing the body until nothing new appears."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

from ...core.errors import UnsupportedError
from ...core.meta import Meta
from ...core.modes import grad_enabled
from ...core.pytree import (
    BY_CONTENT,
    LEAF,
    OneOf,
    OpenDict,
    OpenList,
    OverList,
    TreeDef,
    can_change,
    is_open,
    node_of,
    rebuild,
)
from ...core.source import Loc
from ...ir.program import Block, Variable
from ...ir.stop_flags import rename
from ...ir.varying import kinds_of
from ..containers.inner_lists import Origin, inner_lists, is_known_elsewhere, note_origin
from ..containers.list_items import is_lost, item_spec, list_spec, shared_spec
from ..containers.lists import GraphList
from ..containers.specs import TWICE
from ..containers.structure import is_alike, put_together
from ..containers.tuples import GraphTuple
from ..state.inside import is_told_apart, knows_nothing_of
from ..state.journal import Journal
from ..state.places import ContentPlace, kind_of
from ..values.base import Undefined, builder, is_constant, is_tensor
from ..values.carried_text import CHARACTERS, are_texts
from ..values.emit import (
    Placeholder,
    dtype_of,
    emit,
    is_numeric,
    placeholder_for,
    unset_flag,
)  # fmt: skip
from ..values.facts import FirstIterationDiffers
from ..values.foreign import ForkedError
from ..values.one_of import MAX_OPTIONS, GraphOneOf, options_of, settled
from ..values.text_choice import is_text
from .carried_parts import (
    flatten_before,
    flatten_but,
    flatten_like,
    flatten_made,
    is_another_constant,
    is_kept,
    is_object,
    match_options,
    stays,
    width,
)
from .leaves import (
    Leaf,
    emitted,
    leaf_for,
    not_carried,
    set_inside,
    value_at_head,
    wanting,
    wants_gradient,
    widened,
    wider_list,
)
from .paired import LACKING, are_lists, is_derived_scalar

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
    stays: bool = False  # whether the container that it is stays that object, beside what the body makes
    keeps: bool = False  # whether containers and objects from before, in it or given to it, stay what they are
    shared: bool = False  # whether a list in it is known by another name, too

    @classmethod
    def of(cls, name: str, value: Any, keeps: bool = False, is_own: bool = False) -> CarriedValue:
        """The variable as it is before the loop. is_own: nothing else knows it.

        A container or object that can change stays that object while the body leaves it in its variable; what happens
        inside it is the journal's business.
        """
        if _can_change(value):
            before = _copied(value) if isinstance(value, BY_CONTENT) else rebuild(*node_of(value))
            stays = keeps and not is_own and is_told_apart(value)
            return cls(name, LEAF, [Leaf(value)], before=before, stays=stays, keeps=keeps)
        return cls.opened(name, value, keeps)

    @classmethod
    def opened(cls, name: str, value: Any, keeps: bool = False) -> CarriedValue:
        """The variable with every leaf of its containers carried."""
        raw: list[Any] = []
        tree = flatten_before(value, raw, keeps)
        leaves = [Leaf(v) if keeps and v is not value and is_told_apart(v) else leaf_for(v) for v in raw]
        return cls(name, tree, leaves, shared=not keeps and is_shared(value), keeps=keeps)

    def formals(self, block: Block) -> list[Variable]:
        """New inputs of `block`, one for each tensor carried."""
        made: list[Variable] = []
        for leaf in self.leaves:
            for meta in leaf.metas:
                var = block.add_input(meta, self.name.replace(".", "_").replace("a list", "items"))
                # Under no_grad a gradient flows through what iterations hand on to one another; integers mostly
                # have none, and `wanting` tells where they do.
                enabled = (grad_enabled.get() and var.dtype.is_inexact) or leaf.wants or wants_gradient(leaf.start)
                var.stop_gradient = not enabled
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
        value = put_together(self.tree, iter([value_at_head(leaf, self.name, tensors) for leaf in self.leaves]))
        if self.shared and self.container is None:
            objects = [part for leaf in self.leaves if is_object(leaf) for part in inner_lists(leaf.start)]
            themselves = set(map(id, objects))
            for part in inner_lists(value):
                if id(part) in themselves:
                    continue
                if isinstance(part, GraphList):
                    note_origin(part, Origin())
                else:
                    builder().keep(part)
        return value

    def starts(self) -> list[Variable]:
        """The tensors that enter the first iteration, made in the current block."""
        made: list[Variable] = []
        for leaf in self.leaves:
            made += emitted(leaf, leaf.start, isinstance(leaf.start, (Placeholder, Undefined)))
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
            stand_in = placeholder_for(leaf.meta) if unset and leaf.meta is not None else end
            made += emitted(leaf, stand_in, unset)
            if leaf.tracked:
                made.append(emit((kept or {}).get(id(leaf), False), None))
        return made

    def _flatten(self, value: Any, raw: list[Any]) -> TreeDef:
        """The structure of `value`, in which a list of any length that is carried as such is one leaf."""
        if isinstance(value, Undefined):
            raw += [value] * len(self.leaves)
            return LEAF
        return flatten_like(self.tree, iter(self.leaves), value, raw, self.keeps)

    def parts(self, tensors: Iterator[Variable]) -> list[tuple[Leaf, Variable, Variable | None]]:
        """Each leaf carried as one tensor, that, and if it is tracked the flag of that, drawn from `tensors`."""
        found: list[tuple[Leaf, Variable, Variable | None]] = []
        for leaf in self.leaves:
            drawn = [next(tensors) for _ in range(leaf.width)]
            if leaf.is_tensor:
                found.append((leaf, drawn[0], drawn[-1] if leaf.tracked else None))
        return found

    def last(self, value: Any) -> list[Any]:
        """What the leaves carried as one tensor are in the variable's last value."""
        raw: list[Any] = []
        self._flatten(value, raw)
        return [end for leaf, end in zip(self.leaves, raw) if leaf.is_tensor]

    def track(self, wanted: Callable[[Leaf], bool]) -> None:
        """Track the leaves that `wanted` picks."""
        self.leaves = [replace(leaf, tracked=True) if wanted(leaf) else leaf for leaf in self.leaves]

    def keep_identity(self, entered: Any, value: Any, is_changed: Callable[[Any], bool]) -> bool:
        """Whether tensors that left the iteration as the objects that entered it, but changed in place, were found.

        From now on those are not carried here: their objects are, by whoever follows in-place changes.
        """
        before: list[Any] = []
        after: list[Any] = []
        objects = {id(leaf.start) for leaf in self.leaves if is_object(leaf)}

        def is_leaf(part: Any) -> bool:
            return id(part) in objects

        trees = [flatten_but(part, raw, is_leaf) for part, raw in ((entered, before), (value, after))]
        if trees[0] != trees[1] or len(before) != len(self.leaves):
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
        if not unset or isinstance(value, Undefined):
            return
        if flatten_made(value, raw, self.keeps) is not LEAF and not raw:
            raise not_carried(self.name, self.leaves[0], value)

    @property
    def container(self) -> Any:
        """The container or object that it is as long as each iteration leaves it there; None if it is none."""
        start = self.leaves[0].start if self.tree is LEAF else None
        return start if _can_change(start) and self.leaves[0].items is None else None

    def widen(self, value: Any) -> bool:
        """Whether `value`, from the end of an iteration, asks for more than is carried now; takes note of it."""
        if self._grows_as_text(value):
            self.tree, self.leaves = LEAF, [Leaf(self._start(), CHARACTERS, is_text=True)]
            return True
        start = self.container
        if start is not None:
            if value is start:
                return False
            if self.stays:
                self.tree, self.leaves = self._of_several(LEAF, iter(self.leaves), value)
                return True
            # another container comes out: its leaves are carried from now on
            opened = self.opened(self.name, self.before, self.keeps)
            self.tree, self.leaves = opened.tree, opened.leaves
            self.shared = self._is_shared(start)
            return True
        if not self.shared and self._is_shared(value):
            self.shared = True
            return True
        raw: list[Any] = []
        tree = self._flatten(value, raw)
        if tree != self.tree or any(map(self._is_another, self.leaves, raw)):
            return self._restructure(tree, raw, settled(value))
        wider = [self._widened(leaf, end) for leaf, end in zip(self.leaves, raw)]
        changed = any(a is not b for a, b in zip(wider, self.leaves))
        self.leaves = wider
        return changed

    def _is_another(self, leaf: Leaf, end: Any) -> bool:
        """Whether no tensor stands for both: of texts, say, or of a list from before."""
        if self.keeps and is_kept(end):
            return not stays(leaf, end) and not isinstance(leaf.start, Undefined)
        return is_another_constant(leaf, end)

    def _widened(self, leaf: Leaf, end: Any) -> Leaf:
        if stays(leaf, end):
            return leaf
        if self.keeps and is_kept(end):
            if isinstance(leaf.start, Undefined) and leaf.start.name:
                raise FirstIterationDiffers(not_carried(self.name, leaf, end))
            return Leaf(end)
        return wanting(widened(self.name, leaf, end), end)

    def _is_shared(self, value: Any) -> bool:
        return is_shared(value, is_kept if self.keeps else None)

    def _grows_as_text(self, value: Any) -> bool:
        """Whether it is a text that iterations put together: one of the program's own, or of too many options."""
        options = [self.tree] if self.tree is LEAF else [*self.tree[1][1:]] if self.tree[0] is OneOf else []
        leaves = self.leaves[-len(options) :]
        if not options or len(leaves) + (self.tree is not LEAF) != len(self.leaves) or isinstance(value, Undefined):
            return False
        if not all(leaf.meta is None and is_text(leaf.start) for leaf in leaves) or not are_texts(value):
            return False
        ends = [end for end in options_of(settled(value)).values() if all(end is not leaf.start for leaf in leaves)]
        known = {leaf.start for leaf in leaves if type(leaf.start) is str}
        new = [end for end in ends if type(end) is not str or end not in known]
        return any(type(end) is not str for end in new) or len(leaves) + len(new) > MAX_OPTIONS

    def _start(self) -> Any:
        """A text as it is before the loop."""
        if self.tree is LEAF:
            return self.leaves[0].start
        code, *options = [leaf.start for leaf in self.leaves]
        return options[code] if type(code) is int else put_together(self.tree, iter([code, *options]))

    def _restructure(self, tree: TreeDef, raw: Sequence[Any], value: Any) -> bool:
        """An unset variable that becomes a container: every leaf of it starts unset. Lists that change their length
        are carried as lists of any length from now on.
        """
        if len(self.leaves) == 1 and isinstance(self.leaves[0].start, Undefined):
            unset = self.leaves[0]
            if not raw and unset.start.name:
                raise FirstIterationDiffers(not_carried(self.name, unset, value))
            self.tree = tree
            self.leaves = [self._widened(unset, end) for end in raw]
            return True
        if tree is LEAF and isinstance(raw[0], Undefined):  # not a container of one
            return self._may_be_unset(raw[0])
        self.tree, self.leaves = self._closed(self.tree, iter(self.leaves), value)
        return True

    def _may_be_unset(self, end: Undefined) -> bool:
        """What is unset after an iteration, or nothing that one can carry: whether the flags say so is new."""
        if self.tree[0] is OneOf:
            raise not_carried(self.name, self.leaves[0], end)
        wider = [self._widened(leaf, end) for leaf in self.leaves]
        changed = any(a is not b for a, b in zip(wider, self.leaves))
        self.leaves = wider
        return changed

    def _closed(self, tree: TreeDef, held: Iterator[Leaf], end: Any) -> tuple[TreeDef, list[Leaf]]:
        """The structure and leaves that cover this variable's and `end`."""
        own = [next(held) for _ in range(width(tree))]
        if tree is LEAF:
            return self._closed_leaf(own[0], end)
        is_itself = self.keeps and is_kept(end)
        node = None if is_itself else node_of(end)
        parts = node[1] if node is not None and is_alike(tree, node) else None
        if parts is None and not is_itself and tree[0] in (tuple, GraphTuple):
            found = self._open_tuple(tree, own, end)
            if found is not None:
                return found
        if isinstance(end, GraphOneOf) or tree[0] is OneOf:
            return self._of_several(tree, iter(own), end)
        if parts is not None:
            leaves = iter(own)
            closed = [self._closed(child, leaves, part) for child, part in zip(tree[1], parts)]
            return (tree[0], tuple(t for t, _ in closed), tree[2]), [leaf for _, found in closed for leaf in found]
        if tree[0] is list and are_lists(end, end) and not is_itself:
            unset = next((leaf.origin for leaf in own if isinstance(leaf.start, Placeholder)), None)
            start = put_together(tree, iter([leaf.start for leaf in own])) if unset is None else unset
            return LEAF, [self._wider_list(Leaf(start), end)]
        return self._of_several(tree, iter(own), end)

    def _closed_leaf(self, leaf: Leaf, end: Any) -> tuple[TreeDef, list[Leaf]]:
        """`_closed` of what is no container before the loop."""
        if isinstance(end, GraphOneOf):
            return self._of_several(LEAF, iter([leaf]), end)
        is_itself = self.keeps and is_kept(end)
        if is_itself and (stays(leaf, end) or isinstance(leaf.start, Undefined)):
            return LEAF, [self._widened(leaf, end)]
        is_unset = isinstance(leaf.start, Undefined) and are_lists(end, end)
        if not is_itself and not is_object(leaf) and (is_unset or are_lists(leaf.start, end)):
            return LEAF, [self._wider_list(leaf, end)]
        if (is_itself or node_of(end) is None) and not self._is_another(leaf, end):
            return LEAF, [leaf]
        if leaf.start is None:  # as None stands for what is not there yet
            raise FirstIterationDiffers(self._changes())
        return self._of_several(LEAF, iter([leaf]), end)

    def _open_tuple(self, tree: TreeDef, own: list[Leaf], end: Any) -> tuple[TreeDef, list[Leaf]] | None:
        """A tuple that changes its length, as one of any length; None where its items are too different."""
        ends = list(options_of(end).values())
        unset = any(isinstance(leaf.start, (Placeholder, Undefined)) for leaf in own)
        if unset or not all(type(option) in (tuple, GraphTuple) for option in ends):
            return None
        start = put_together(tree, iter([leaf.start for leaf in own]))
        leaf = Leaf(GraphList(start)) if tree[0] is tuple else own[0]
        try:
            for option in ends:
                leaf = self._wider_list(leaf, GraphTuple.of(option).values)
        except UnsupportedError:
            return None
        return (GraphTuple, (LEAF,), None), [leaf]

    def _wider_list(self, leaf: Leaf, end: Any) -> Leaf:
        found = wider_list(self.name, leaf, end)
        if not self.shared or found.items is None:
            return found
        return replace(found, items=shared_spec(found.items, TWICE))

    def _of_several(self, tree: TreeDef, held: Iterator[Leaf], end: Any) -> tuple[TreeDef, list[Leaf]]:
        """The structure and leaves of a value of several kinds, to which `end` adds those that it lacks."""
        if tree is LEAF or tree[0] is not OneOf:
            code = _CODE
            options = [(tree, [next(held) for _ in range(width(tree))])]
        else:
            code = next(held)
            options = [(child, [next(held) for _ in range(width(child))]) for child in tree[1][1:]]
        matched, missing, _ = match_options(options, end, self.keeps)
        for index, value in matched.items():
            options[index] = self._wider_option(*options[index], value)
        for value in missing:
            raw: list[Any] = []
            options.append((flatten_made(value, raw, self.keeps), [self._leaf_of_lacking(v) for v in raw]))
        if len(options) > MAX_OPTIONS or not builder().tracing:
            raise self._changes()
        return (OneOf, (LEAF, *[t for t, _ in options]), None), [code, *[v for _, leaves in options for v in leaves]]

    def _wider_option(self, tree: TreeDef, leaves: list[Leaf], value: Any) -> tuple[TreeDef, list[Leaf]]:
        raw: list[Any] = []
        if flatten_like(tree, iter(leaves), value, raw, self.keeps) == tree:
            return tree, leaves
        return self._closed(tree, iter(leaves), value)

    def _leaf_of_lacking(self, end: Any) -> Leaf:
        """A leaf of an option that nothing before the loop is, and `end` after an iteration."""
        if self.keeps and is_kept(end):
            return Leaf(end)
        if is_open(end):
            return Leaf(LACKING, items=list_spec(item_spec(end)).item)
        if is_numeric(end) and not is_derived_scalar(end):
            return replace(set_inside(end, LACKING), flagged=unset_flag(end) is not None)
        if not is_constant(end) and not knows_nothing_of(end, builder().block):
            raise not_carried(self.name, Leaf(None), end)
        return Leaf(end, kinds=kinds_of(end))

    def _changes(self) -> UnsupportedError:
        return UnsupportedError(
            f"{self.name} changes its length or nesting inside a loop that stops by a tensor condition",
            loc=self.loc,
            hint="keep both the same in every iteration, or keep the values in one tensor",
        )


def is_made_inside(container: Any) -> bool:
    """Whether a list or dict was made by the trace."""
    return isinstance(container, (OpenList, OpenDict)) and container.block is not None


def _exchanged(name: str, start: Any) -> ForkedError:
    return ForkedError(
        f"{name} is a {kind_of(start)} that the body of a loop changes in place and then exchanges "
        "for another one; a tensor stops the loop",
        hint=f"change a copy ({name} = {kind_of(start)}({name})), or the new one only",
    )


def _counterparts(content: Any, left: Any) -> Iterator[tuple[Any, Any]]:
    """What a list or dict held, each with what it holds there after an iteration."""
    ends = _entries(left)
    for key, part in _entries(content).items():
        yield part, ends.get(key)


def _entries(content: Any) -> dict[Any, Any]:
    if isinstance(content, dict):
        return dict(dict.items(content))
    return dict(enumerate(content)) if isinstance(content, list) and not is_open(content) else {}


def _can_change(value: Any) -> bool:
    return isinstance(value, (list, dict)) or can_change(value)


def is_shared(value: Any, is_kept: Callable[[Any], bool] | None = None) -> bool:
    """Whether a list in it is known by another name, too, as an item of another list, say. is_kept: none of those."""
    found = [part for part in inner_lists(value) if is_kept is None or not is_kept(part)]
    is_known = any(isinstance(part, GraphList) and is_known_elsewhere(part) for part in found)
    return is_known or len({id(part) for part in found}) < len(found)


def _copied(value: Any) -> Any:
    if isinstance(value, (GraphList, OverList)):
        return value.snapshot()
    copied, node = value.copy(), node_of(value)
    if copied.__class__ is value.__class__:
        return copied
    return copy(value) if node is None else rebuild(*node)  # classes built on list and dict: a shape is one


@dataclass
class CarriedState:
    """Everything a loop carries: its variables, then Python places and tensors changed in place, as they are found."""

    variables: list[Any]  # each a CarriedValue, or a CarriedDict
    own: frozenset[int] = frozenset()  # ids of containers before the loop that nothing but its variables knows
    body: Block | None = None  # of the latest attempt
    places: dict[Any, tuple[Any, Any]] = field(default_factory=dict)
    handles: dict[Variable, CarriedValue] = field(default_factory=dict)
    # Those of `handles` of which merely stop_gradient is set, and whether an iteration takes them off the tape.
    flagged: dict[Variable, bool] = field(default_factory=dict)
    lost: dict[Any, tuple[Any, Any]] = field(default_factory=dict)  # places of lists that nobody may read from then on

    def all(self) -> list[CarriedValue]:
        """In the order of the operator's inputs."""
        return [*self.variables, *[v for _, v in self.places.values()], *self.handles.values()]

    def exchange_handles(self, values: Sequence[Variable]) -> None:
        """Let each of `handles` be the value that stands for it from here on."""
        for handle, value in zip(self.handles, values):
            if handle in self.flagged:
                rename(builder(), handle, value, self.flagged[handle])
            else:
                builder().assign(handle, value)

    def lose(self, after: Mapping[Any, tuple[Any, Any]]) -> bool:
        """Whether the body left lists that nobody may read any more, which are not carried from now on."""
        found = {key: entry for key, entry in after.items() if is_lost(entry[1]) and key not in self.lost}
        self.lost.update(found)
        for key in found:
            self.places.pop(key, None)
        return bool(found)

    def check_exchanged(self, results: Sequence[Any], journal: Journal) -> None:
        """Raise FirstIterationDiffers if the body changed what a variable held before the loop, and exchanged it.

        Only the first iteration changes that object, which others may know; the rest change what they made themselves.
        The same goes for a list or dict in it, if it is carried by value.
        """
        written = {id(getattr(place, "owner", None)) for place, _ in journal.before.values()}
        for carried, end in zip(self.variables, results):
            start = carried.container
            if start is None or end is start or carried.stays:
                continue
            inner = [part for part in inner_lists(start) if part is not start] if not carried.keeps else []
            is_changed = id(start) in written and id(start) not in self.own
            if not is_changed and not any(id(part) in written for part in inner):
                continue
            raise FirstIterationDiffers(_exchanged(carried.name, start))
        if not builder().keeps_containers:
            self._check_places(written, journal)

    def _check_places(self, written: Container[int], journal: Journal) -> None:
        """The same for a list or dict that stood at a place, such as an attribute or an item: others may know it."""
        after = journal.after()
        for key, (place, before) in journal.before.items():
            is_content, left = isinstance(place, ContentPlace), after[key][1]
            start = self.places[key][1].container if key in self.places else before
            for part, end in _counterparts(start, left) if is_content else [(start, left)]:
                if not isinstance(part, (list, dict)) or id(part) not in written or end is part:
                    continue
                # In a list, what the trace itself made is carried as it was before: see `grow`.
                if not is_content or not is_made_inside(part) or isinstance(start, dict):
                    raise _exchanged(place.label, part)

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
