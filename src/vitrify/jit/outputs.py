"""What leaves a trace: values become templates, and the variables in them outputs of the program."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from ..convert import Undefined
from ..convert.containers.inner_lists import all_inner_lists, known_origin
from ..convert.containers.keys import check_key
from ..convert.containers.leaving_lists import check_inner_lists, check_kept
from ..convert.containers.specs import are_tensors
from ..convert.control.comprehension import GeneratorExpression
from ..convert.control.endless import Listed, OfList
from ..convert.control.object_numbers import ObjectNumbers, UnknownObjectError
from ..convert.guards.unmerged import holds_others
from ..convert.host.generators import refuse_leaving
from ..convert.host.given import GivenArray, refuse_view
from ..convert.host.value import HostValue
from ..convert.values.base import MaybeUnset
from ..convert.values.deferred import Deferred, encoded
from ..convert.values.emit import emit, is_asserted, unset_flag
from ..convert.values.facts import check_attribute
from ..convert.values.optional import refuse_none
from ..convert.values.sequences import GraphSequence
from ..convert.values.text import GraphText
from ..convert.values.unset_errors import is_place
from ..core.closures import CLOSURES, closure_node, is_our_own
from ..core.errors import UnsupportedError
from ..core.made import held_by
from ..core.meta import Meta
from ..core.modes import recorder
from ..core.pytree import (
    LEAF,
    OneOf,
    OverList,
    TreeDef,
    can_change,
    flatten_open,
    is_open,
    is_plain_dataclass,
)
from ..eager.host_expr import with_stopped
from ..eager.layer import Layer
from ..eager.tensor import Tensor
from ..ir.builder import Builder
from ..ir.graph_tensor import is_number
from ..ir.operator import Operator
from ..ir.program import Variable
from ..ir.varying import CLASS, MIXED, facts_of, kind_of
from .arguments import Holder
from .handed import Handed, Objects, Origins
from .marks import InputLeaf, OutputLeaf
from .own_attributes import MaybeOwn, with_flags
from .path_leaves import ForkLeaf, HandedLeaf, KindLeaf, StoppedLeaf
from .stopped import Stopped
from .template import ArgumentLeaf, AttributeLeaf, CopiedLeaf, ItemLeaf, ListLeaf, SharedLeaf, Template, TextLeaf

MAX_DEPTH = 6
_ITERATORS = (GraphSequence, GeneratorExpression, Listed, OfList)
_OPAQUE = (type, Layer, Variable)


@dataclass(eq=False)
class _Group:
    """What was read from one list, or is one: outputs of the program, the tensors that they may be, what is told of it.

    `is_settled`: nothing more needs to be told.
    """

    parts: tuple[Variable, ...]
    origins: set[Variable]
    handed: Handed
    is_settled: bool = False


class Outputs:
    """Collects what a trace computed and somebody will see: the program's outputs, each once."""

    def __init__(
        self,
        builder: Builder,
        places: dict[Variable, int],
        captured: Callable[[Tensor], int],
        owners: Mapping[int, Holder],
        known: Container[int],
        inputs: Callable[[], dict[Variable, int]] = dict,
        arrays: Sequence[GivenArray] = (),
    ) -> None:
        self.variables: list[Variable] = []
        self.flags: list[Variable] = []  # which the program gives behind all others, the first one last
        self.wanting: set[int] = set()  # of those that want a gradient, though none may flow on from there
        self._indices: dict[Variable, int] = {}
        self._builder = builder
        self._places = places
        self._captured = captured
        self._owners = owners
        self._known = known
        self._stopped = Stopped(builder)
        self._leaving: set[Variable] = set()
        self._forks: dict[Variable, Any] = {}  # the marks of what is another tensor on some paths, None for what is not
        self._passed: Origins | None = None
        self._given: set[int] = set()  # of those that stand somewhere as they are
        self._handed: list[_Group] = []
        self._numbers = ObjectNumbers()
        self._objects = Objects()
        self._inputs = inputs  # the variables that stand for arguments and captured tensors, numbered as in InputLeaf
        self._arrays = arrays  # those among the arguments
        self._shared: dict[int, SharedLeaf | None] = {}
        self._unfinished: set[int] = set()  # ids of shared containers whose template is being made
        self._origins: dict[int, Any] = {}  # by id, of lists that are items of others that leave, too

    def share(self, values: Iterable[Any]) -> None:
        """Find the containers that stand in several places of these values, all that the trace gives out."""
        self._find_shared(values)
        seen: dict[int, Any] = {}
        waiting = list(values)
        while waiting:
            value = waiting.pop()
            if id(value) not in seen:
                seen[id(value)] = value
                waiting += () if self._is_from_outside(value) else _parts(value) or ()
        leaving = [value for value in seen.values() if not self._is_from_outside(value)]
        self._leaving = {value for value in leaving if isinstance(value, Variable) and not is_number(value)}
        self._leaving |= self._shared_by_paths()
        check_kept(leaving, lambda value: can_change(value) and (id(value) in seen or self._is_from_outside(value)))
        check_inner_lists(leaving, filter(self._is_from_outside, all_inner_lists()))
        inside = {id(part) for value in leaving if isinstance(value, OverList) for part in value.lists()}
        outer = [value for value in seen.values() if id(value) not in inside]
        found = [(value, known_origin(value)) for value in outer] if len(outer) > 1 else []
        owners = Counter(id(origin.owner) for _, origin in found if origin is not None)
        for value, origin in found:
            # Two may be one list, told by the list that they are items of, though that does not leave.
            if origin is not None and (id(origin.owner) in seen or owners[id(origin.owner)] > 1):
                self._origins[id(value)] = origin
                self._shared.setdefault(id(value), None)
                self._shared.setdefault(id(origin.owner), None)

    def _shared_by_paths(self) -> set[Variable]:
        """The tensors, made in the outermost block, that more than one of those that leave may be on some paths."""
        forks = self._builder.aliases.forks
        once: set[Variable] = set()
        twice: set[Variable] = set()
        for leaving in self._leaving & forks.keys():
            seen = {leaving}
            waiting = [leaving]
            while waiting:
                targets = {way.target for way in forks.get(waiting.pop(), ()) if not way.is_view} - seen
                seen |= targets
                waiting += targets
            made = {var for var in seen - {leaving} if var.block is self._builder.block and var not in forks}
            twice |= once & made
            once |= made
        return {var for var in twice if not is_number(var)}

    def _find_shared(self, values: Iterable[Any]) -> None:
        seen: set[int] = set()
        waiting = list(values)
        while waiting:
            value = waiting.pop()
            parts = _parts(value)
            if parts is None or self._is_from_outside(value):
                continue
            for key in dict.keys(value) if isinstance(value, dict) else ():
                check_key(value, key)
            if id(value) not in seen:
                seen.add(id(value))
                waiting += parts
            elif not (isinstance(value, tuple) and tuple.__len__(value) == 0):
                self._shared[id(value)] = None

    def _is_from_outside(self, value: Any) -> bool:
        return id(value) in self._owners or id(value) in self._known

    def _is_closed(self, value: Any) -> bool:
        return self._is_from_outside(value) or id(value) in self._shared

    def template(self, value: Any) -> Template:
        """`value` with its tensors made outputs."""
        raw: list[Any] = []
        tree = flatten_open(value, raw, holds_variables, self._is_closed, within=with_flags)
        return self._marked(tree, raw)

    def _of_shared(self, value: Any) -> Any:
        """The mark of a container that stands in several places."""
        origin = self._origins.get(id(value))
        if origin is not None:
            return ItemLeaf(self._of_shared(origin.owner), self.output(emit(origin.key, None)).index, origin.path)
        found = self._shared[id(value)]
        if found is None:
            if is_open(value):
                found = self._shared[id(value)] = SharedLeaf(id(value), Template(LEAF, [self._list_mark(value)]))
                return found
            raw: list[Any] = []
            whole = iter([True])  # met again, inside, it is closed as others are
            tree = flatten_open(
                value,
                raw,
                holds_variables,
                lambda v: not (v is value and next(whole, False)) and self._is_closed(v),
                within=with_flags,
            )
            if id(value) in self._unfinished:
                raise UnsupportedError("a container or function that holds itself leaves a function being converted")
            self._unfinished.add(id(value))
            template = self._marked(tree, raw)
            self._unfinished.remove(id(value))
            found = self._shared[id(value)] = SharedLeaf(len(self._shared) + id(value), template)
        return found

    def _marked(self, tree: TreeDef, raw: list[Any]) -> Template:
        if tree is not LEAF:
            for leaf in raw:
                _refuse_unset(leaf)
        return Template(tree, [self._mark(leaf) for leaf in raw])

    def passed_on(self, value: Any) -> Template:
        """A tensor that some path leaves unset, as it is: handing it on is no use of it."""
        refuse_none(value)
        if is_number(value):
            return Template(LEAF, [self.output(emit(value, None), "number")])
        found = self.output(emit(value, None))
        mark = self._fork_mark(value, found) if isinstance(value, Variable) else None
        return Template(LEAF, [self._stopped_mark(found) if mark is None else mark])

    def output(self, var: Variable, form: str = "tensor") -> OutputLeaf:
        """The mark of a variable that holds a value already."""
        index = self._indices.get(var)
        if index is None:
            index = self._indices[var] = len(self.variables)
            self.variables.append(var)
        return OutputLeaf(index, form)

    def mark_of(self, tensor: Variable) -> Any:
        """The mark of a tensor that the call is given or gives; None for others."""
        if tensor in self._places:
            return InputLeaf(self._places[tensor])
        return self._variable_mark(tensor) if tensor in self._leaving else None

    def show(self, writes: Sequence[Variable]) -> None:
        """Let outputs that show others, or what inputs hold then, be made as views of these, if need be once more."""
        aliases = self._builder.aliases
        if aliases.written:
            seen, made = {*self.variables, *writes}, dict[Variable, Variable]()
            self.variables[:] = [aliases.shown_of(var, seen, made) for var in self.variables]

    def _mark(self, leaf: Any) -> Any:
        if isinstance(leaf, MaybeOwn):
            flag = self._flag(self._builder.passed_on(leaf.flag))
            with leaf.set() as value:
                return AttributeLeaf(flag, self.template(value))
        if isinstance(leaf, Undefined):
            raise leaf.returned()
        if isinstance(leaf, Variable):
            if leaf in self._places and not is_number(leaf):  # the argument object itself, changed in place or not
                return InputLeaf(self._places[leaf])
            return self._variable_mark(leaf)
        if isinstance(leaf, GivenArray) and id(leaf) in self._owners:
            return ArgumentLeaf(self._owners[id(leaf)])
        if isinstance(leaf, HostValue):
            refuse_view(leaf, self._arrays)
            return self.output(leaf.tensor(in_full=True), leaf.form())
        if isinstance(leaf, GraphText):
            expression, inputs = encoded(leaf.kept_node())
            return self._text_mark(expression, inputs)
        is_made = isinstance(leaf, Iterator) and not self._is_from_outside(leaf) and not _has_attributes(leaf)
        if is_made or isinstance(leaf, _ITERATORS) or (isinstance(leaf, slice) and _is_of_program(leaf)):
            raise UnsupportedError(
                "an iterator, or a slice made of tensors, is given back or kept in an object",
                hint="make it a list or a tensor, or give back what it is made of",
            )
        if isinstance(leaf, Tensor):
            return InputLeaf(-1 - self._captured(leaf))
        if isinstance(leaf, Layer):
            _refuse_born(leaf)
        refuse_leaving(leaf)
        if id(leaf) in self._shared:
            return self._of_shared(leaf)
        if id(leaf) in self._owners:
            return ArgumentLeaf(self._owners[id(leaf)])
        if holds_others(leaf) and not self._is_from_outside(leaf):
            raise UnsupportedError(
                f"a {type(leaf).__name__} that was made inside is given back or kept in an object",
                hint="make it outside of the function, or use it up inside (`with ExitStack() as stack:`)",
            )
        if self._builder.made.opaque_block_of(leaf) is not None:
            return CopiedLeaf(copy(leaf))  # as it is now: the trace takes back what it wrote to items
        return self._list_mark(leaf) if is_open(leaf) else leaf

    def _text_mark(self, expression: Any, inputs: Sequence[Variable]) -> TextLeaf:
        """The mark of a text: of what tensors hold, and whether they stop gradients, which further outputs say."""
        indices = [self.output(var).index for var in inputs]
        stops: dict[int, bool | int] = {}
        for i, var in enumerate(inputs):
            flag = None if var.stop_gradient else self._stopped.flag(self.variables[indices[i]])
            if isinstance(flag, Variable):
                stops[i] = len(indices)
                indices.append(self.output(flag).index)
            elif flag is not None:
                stops[i] = flag
        return TextLeaf(with_stopped(expression, stops), tuple(indices))

    def _variable_mark(self, leaf: Variable) -> Any:
        kind = kind_of(leaf)
        if kind is None:
            if facts_of(leaf) & {CLASS, MIXED}:
                raise UnsupportedError(
                    "an item of a list of Python numbers and tensors leaves the function, and nothing in the program "
                    "tells which of them it is",
                    hint="make all items tensors (paddle.to_tensor(0.0) for 0.0), or give back what is computed of "
                    "it and of a tensor",
                )
            number = is_number(leaf)
            if not number and not self._builder.is_whole:
                check_attribute(leaf, "dtype")  # what comes after a segment may ask for it: it is not the path's
            found = self.output(self._builder.value(leaf), "number" if number else "tensor")
            if number:
                return found
            mark = self._fork_mark(leaf, found) or self._of_list(self._stopped_mark(found))
            if isinstance(mark, (OutputLeaf, StoppedLeaf)):
                self._given.add(mark.index)
            return mark
        value = self._builder.passed_on(leaf)
        found = self.output(value)
        handed = self._handing([self.variables[found.index]]) or Handed()
        fork = self._fork_mark(leaf, found)
        code = self.output(self._builder.value(kind.code)).index
        stopped = self._stopped_mark(found)
        return KindLeaf(
            found.index,
            code,
            handed,
            fork if isinstance(fork, ForkLeaf) else None,
            stopped if isinstance(stopped, StoppedLeaf) else None,
        )

    def _stopped_mark(self, found: OutputLeaf) -> OutputLeaf | StoppedLeaf:
        """The mark of an output that has no gradient on some paths; `found` where there is none, or nothing tells."""
        var = self.variables[found.index]
        if var.stop_gradient:
            return found
        flag = self._stopped.flag(var)
        if flag is False:
            self.wanting.add(found.index)
        return StoppedLeaf(found.index, self._flag(flag)) if isinstance(flag, Variable) else found

    def _fork_mark(self, leaf: Variable, found: OutputLeaf) -> Any:
        """The mark of what is an input, or another tensor that leaves, on some paths; None for what is not."""
        if leaf not in self._builder.aliases.forks:
            return None
        if leaf not in self._forks:
            self._forks[leaf] = None  # ways that lead back here lead nowhere
            self._forks[leaf] = self._new_fork_mark(leaf, found)
        return self._forks[leaf]

    def _new_fork_mark(self, leaf: Variable, found: OutputLeaf) -> Any:
        known: dict[Variable, Any] = {}
        for var in self._leaving - {leaf}:
            known |= {self._builder.held(var): var, var: var}
        inputs = self._inputs()
        known |= {self._builder.held(var): InputLeaf(place) for var, place in inputs.items()}
        known |= {var: InputLeaf(place) for var, place in inputs.items()}
        places = []

        def met(var: Variable) -> Variable | None:
            """The tensor that leaves as which `var` is known: it may hold what that one meant before a change."""
            found = var if var in known else self._builder.tensor_of(var)
            return found if found in known and found is not leaf else None

        for way in self._builder.aliases.ways(leaf, met):
            taken = None if way.is_view or way.taken is None else way.taken()
            if taken is not None:
                target = known[way.target]
                mark = self._variable_mark(target) if isinstance(target, Variable) else target
                if taken is True:
                    return mark
                places.append((self._flag(taken), mark))
        if not places:
            return None
        other = self._of_list(self._stopped_mark(found))
        return ForkLeaf(found.index, tuple(places), None if isinstance(other, OutputLeaf) else other)

    def _of_list(self, found: OutputLeaf | StoppedLeaf) -> Any:
        """The mark of an output that may have been read from a list."""
        handed = self._handing([self.variables[found.index]])
        if handed is None:
            return found
        return HandedLeaf(found.index, handed, found if isinstance(found, StoppedLeaf) else None)

    def origins(self, var: Variable, is_end: Callable[[Variable], bool]) -> set[Variable]:
        """What an output may be, by way of lists, branches and loops, or hold; is_end: what is not looked into."""
        if self._passed is None:
            self._passed = Origins(self._builder.block.program, self._builder.object_of)
        return self._passed.of([var], is_end)

    def _handing(self, parts: Sequence[Variable]) -> Handed | None:
        """Which tensors these may hold as they are, known once all outputs are; None where no list is concerned."""
        if self._passed is None:
            self._passed = Origins(self._builder.block.program, self._builder.object_of)
        if not parts or not self._passed.are_listed(parts):
            return None
        self._handed.append(_Group(tuple(parts), self._passed.of(parts), Handed()))
        return self._handed[-1].handed

    def give_listed(self) -> None:
        """Let the program say which tensors those are that were read from lists.

        It numbers them; where it cannot, it gives the tensors, made in its outermost block, that they may be. So one
        that stands in two places is one tensor there.
        """
        inputs = self._inputs()
        for group in self._handed:
            if self._is_alone(group, inputs):
                group.is_settled = True
            elif not self._number(group):
                assert self._passed is not None
                call = self._passed.doubled_by(group.parts)
                if call is not None:
                    raise _put_into_a_list_by(call)
                for var in sorted(group.origins - inputs.keys(), key=lambda var: var.name):
                    if var.block is self._builder.block and isinstance(var.meta, Meta) and not is_number(var):
                        self.output(var)

    def _is_alone(self, group: _Group, inputs: Container[Variable]) -> bool:
        """Whether nothing else that leaves may be one of the tensors in it, nor one be there twice."""
        assert self._passed is not None
        if any(var in inputs for var in group.origins) or not self._passed.are_once(group.parts):
            return False
        others = [var for var in self.variables if not any(var is part for part in group.parts) and not is_number(var)]
        return all(self._passed.of([var]).isdisjoint(group.origins) for var in others)

    def _number(self, group: _Group) -> bool:
        """Let the program number what is in a group, and what else may be that; False where nothing tells."""
        assert self._passed is not None
        try:
            numbers = {self._indices[var]: self._numbers.of(var) for var in group.parts}
            others = {
                index: self._numbers.of(var)
                for index, var in enumerate(self.variables)
                if not is_number(var)
                and isinstance(var.meta, Meta)
                and not self._passed.of([var]).isdisjoint(group.origins)
            }
        except UnknownObjectError:
            return False
        block = self._builder.block
        flags = {i: self._flag(self._numbers.as_variable(number, block)) for i, number in numbers.items()}
        group.handed.numbers.update(flags)
        group.handed.objects = self._objects
        group.is_settled = True
        for index, number in others.items():
            if isinstance(number, int):
                self._objects.given.append((number, index))
            elif index not in numbers:
                self._objects.outputs.append((self._flag(number), index))
        return True

    def hand_through(self, inputs: Sequence[Variable]) -> None:
        """Tell the marks of what was read from lists which tensors it may be; `inputs`: those of the program."""
        if self._passed is None or not self._handed:
            return
        known_numbers = self._builder.object_numbers
        self._objects.inputs += [(known_numbers[var], i) for i, var in enumerate(inputs) if var in known_numbers]
        places = {var: place for place, var in enumerate(inputs)}
        tensors = [i for i, var in enumerate(self.variables) if isinstance(var.meta, Meta)]
        known = {i: self._passed.of([self.variables[i]]) for i in tensors}
        for group in self._handed:
            if group.is_settled:
                continue
            origins, handed = group.origins, group.handed
            handed.inputs += sorted(places[var] for var in origins if var in places)
            for i in tensors:
                if not known[i].isdisjoint(origins):
                    is_made = self._passed.is_made(self.variables[i])
                    (handed.given if i in self._given else handed.made if is_made else handed.outputs).append(i)

    def hands_on(self) -> bool:
        """Whether a value may be one of those tensors, which its array tells."""
        return any(group.handed.goes_by_array for group in self._handed)

    def _flag(self, var: Variable) -> int:
        """The number, from the end, of an output that only templates read."""
        self.flags.append(var)
        return -len(self.flags)

    def stops(self, var: Variable) -> int | None:
        """The number, from the end, of an output that says whether `var` has no gradient; None if no path decides."""
        flag = None if var.stop_gradient else self._stopped.flag(var)
        return self._flag(flag) if isinstance(flag, Variable) else None

    def _list_mark(self, value: Any) -> ListLeaf:
        parts = [self.output(self._builder.value(part)) for part in value.items.parts]
        held = zip(parts, are_tensors(value.items.spec))
        handed = self._handing([self.variables[part.index] for part, is_tensor in held if is_tensor])
        stopped = tuple([self._items_stopped(part.index) for part in parts])
        return ListLeaf(value.items.spec, tuple(part.index for part in parts), handed or Handed(), stopped)

    def _items_stopped(self, index: int) -> int | None:
        """The number, from the end, of an output that says which items of a list have no gradient, if any differ."""
        var = self.variables[index]
        if is_number(var) or var.stop_gradient:
            return None
        flag = self._stopped.flag(var)
        if flag is False:
            self.wanting.add(index)
        return self._flag(flag) if isinstance(flag, Variable) else None


def _parts(value: Any) -> Iterable[Any] | None:
    """What a container holds, or an object that is rebuilt for each call; None for anything else."""
    if is_open(value):
        return ()
    if isinstance(value, MaybeUnset):
        return (value.value,)
    if isinstance(value, OverList):
        return value.lists()
    if isinstance(value, OneOf):
        return value.children[1:]
    if isinstance(value, dict):
        return dict.values(value)
    if isinstance(value, (list, tuple, set, frozenset, deque)):
        return value
    if isinstance(value, CLOSURES):
        return closure_node(value)[1] if holds_variables(value) else None
    made = getattr(recorder.get(), "made", ())
    return held_by(value) if is_plain_dataclass(type(value)) or value in made or holds_variables(value) else None


def _refuse_born(layer: Layer) -> None:
    """Raise UnsupportedError for a Layer whose parameters the program makes: they are new ones in each run."""
    if any(isinstance(parameter, Variable) for parameter in layer.parameters()):
        raise UnsupportedError(
            f"a {type(layer).__name__} that was made inside of the function leaves it, or is kept by what is outside",
            hint="make the Layer outside, in __init__, or convert with full_graph=False, which makes it as Python does",
        )


def _refuse_unset(leaf: Any) -> None:
    """Raise UnsupportedError for an item of a container that the path taken may leave out."""
    held = unset_flag(leaf)
    if held is not None and is_place(held[1]) and not is_asserted(held[0]):
        raise UnsupportedError(
            f"{held[1]} is set on one path of a tensor's decision only, and leaves the function in a container, which "
            "would have it on every path",
            hint="set it on both paths (to a tensor of zeros, say), or convert with full_graph=False",
        )


def _put_into_a_list_by(call: Operator) -> UnsupportedError:
    return UnsupportedError(
        "a list that a recursive function makes leaves the function, may hold a tensor twice that the calls made, and "
        "nothing in the program tells which of its items are one object",
        hint="put copies into the list (xs.append(x.clone())), or convert with full_graph=False, which runs the calls "
        "as Python does",
        loc=call.locs[0] if call.locs else None,
    )


def _has_attributes(value: Any) -> bool:
    """Whether it is an object of the user's, which is known by what it holds."""
    return hasattr(value, "__dict__")


def _is_of_program(value: slice) -> bool:
    return any(isinstance(part, Variable) for part in (value.start, value.stop, value.step))


def holds_variables(value: Any) -> bool:
    """Whether an object or function was made by the trace: it holds graph tensors, which none from outside does."""
    if isinstance(value, (Deferred, *_ITERATORS)):
        return False
    return any(isinstance(v, Variable) for v in _attributes(value, MAX_DEPTH))


def _attributes(value: Any, depth: int) -> Iterator[Any]:
    if isinstance(value, CLOSURES):
        for item in closure_node(value)[1] if depth and not is_our_own(value) else ():
            yield from _inside(item, depth - 1)
        return
    if depth == 0 or isinstance(value, _OPAQUE):
        return
    for item in (*held_by(value), *(value.args if isinstance(value, BaseException) else ())):
        yield from _inside(item, depth - 1)


def _inside(value: Any, depth: int) -> Iterator[Any]:
    yield value
    if depth == 0 or is_open(value):
        return
    if isinstance(value, dict):
        value = list(dict.values(value))
    if isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            yield from _inside(item, depth - 1)
    else:
        yield from _attributes(value, depth)
