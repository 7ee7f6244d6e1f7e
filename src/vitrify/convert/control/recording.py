"""Recording a recursive function: its body is traced as a block that calls itself, until what it carries settles.

Like a loop, a function carries values from one call to the next: its arguments, Python places and tensors that it
changes in place. What it returns is found from the paths that end without a call of its own first, and joined with the
others then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from ...core.dtype import int64
from ...core.errors import ArgumentError, EndlessRecursionError, UnsupportedError
from ...core.meta import Meta
from ...core.pytree import BY_CONTENT, LEAF, OneOf, OverList, all_leaves, flatten, is_open
from ...core.source import Loc, user_frames
from ...ir.aliases import Way
from ...ir.functions import close_function, record_call
from ...ir.notes import Fork
from ...ir.program import AnyMeta, Block, Variable
from ...ops.compare import equal
from ...ops.select import where
from ..state.cells import outer_variables
from ..state.journal import Journal, journaling, note_write
from ..state.ownership import made_of
from ..state.places import restore
from ..values.base import Undefined, builder, is_graph, is_tensor
from ..values.sequences import constant
from .carried import CarriedState, CarriedValue
from .collapse import collapsed
from .leaves import Leaf
from .loop_trace import carry_place, ends, enter, grow
from .raise_ import ENDED, NeverReturns, may_end, run_path
from .sharing import Outer, outer_of
from .unknown import Pending, Signal, stand_in

if TYPE_CHECKING:  # `recursion` records with this module
    from .recursion import Activation

MAX_ATTEMPTS = 24
_NUMBER = Meta((), int64)


class Restart(Signal):
    """The function `target` must be traced anew: one of its calls brought something that it did not know."""


@dataclass(frozen=True)
class _Output:
    """An output of a function, by its number."""

    index: int


@dataclass(frozen=True, eq=False)
class _Shared:
    """That an output may be `source`: what is given for a formal input, by its number, a variable around the function,
    or another output. `is_told`: as the same object, on paths that a number among the outputs tells; else nobody knows
    on which, and `is_view` says whether as a view.
    """

    index: int
    source: Any
    is_told: bool
    is_view: bool = False

    def is_like(self, other: _Shared) -> bool:
        """Whether both say the same. (Variables are not compared with ==, which is an op.)"""
        mine, theirs = self.source, other.source
        same = mine is theirs or (not is_graph(mine) and not is_graph(theirs) and mine == theirs)
        return same and (self.index, self.is_told, self.is_view) == (other.index, other.is_told, other.is_view)


@dataclass(eq=False)
class Recording:
    """A function as far as it is known, in one attempt after another.

    `state`: what enters it. `result`: what it returns, None while no path told. `captured`: the variables around it
    that it reads. `changed`: which of its formal inputs it changes in place. `shared`: what its outputs may be besides
    new tensors; each has a number, by which the function tells which one an output is. `given_back`: which arguments'
    lists, dicts or objects it may return. `never_returns`: all paths raise. `in_program`: its name there, which
    tells it from others that calls of the same function have made.
    """

    name: str
    in_program: str
    state: CarriedState
    depth: int
    block: Block
    result: CarriedValue | None = None
    captured: list[Variable] = field(default_factory=list)
    changed: list[int] = field(default_factory=list)
    shared: list[_Shared] = field(default_factory=list)
    returned: Any = None
    given_back: set[int] = field(default_factory=set)
    never_returns: bool = False

    def call(self, arguments: Sequence[Any]) -> Any:
        """Record a call in the current block; what it returns."""
        result = self.called(arguments)
        if self.never_returns:
            raise NeverReturns.made()
        return result

    def called(self, arguments: Sequence[Any]) -> Any:
        """The same, of a function that may never return."""
        if self.result is None:
            raise Pending(self)
        entering = self._entering(arguments)
        wider = [carried.widen(value) for carried, value in entering]
        if any(wider):
            raise Restart(self)
        given = [end for carried, value in entering for end in carried.ends(value)]
        self._check_shared_memory(self._handles(arguments))
        values = [*given, *[builder().block.resolve(v) for v in self.captured]]
        outputs = record_call(builder(), self.block, values, self._metas())
        result = self._leave(iter(outputs), arguments)
        self._share(outputs, self._handles(arguments))
        self._fork(result, arguments)
        return result

    def _fork(self, result: Any, arguments: Sequence[Any]) -> None:
        """Note which lists, dicts and objects that are returned may be those given: nobody knows on which paths."""
        given = [part for i in sorted(self.given_back) for part in _containers(arguments[i])]
        for made in _containers(result):
            sources = tuple(part for part in given if type(part) is type(made) and part is not made)
            if sources:
                builder().forks.append(Fork(made, sources, None))

    def note_end(self) -> None:
        """Take notice that every path raises, or calls the function again."""
        self.never_returns = True
        if self.result is None:
            self.result = CarriedValue.of(self.name, None)

    def _share(self, outputs: Sequence[Variable], handles: Sequence[Any]) -> None:
        """Note which outputs may be tensors that were given, on the paths that the last outputs tell."""
        build = builder()
        numbers = dict(zip(self.told, outputs[len(outputs) - len(self.told) :]))
        for number, shared in enumerate(self.shared, 1):
            source = shared.source
            target = handles[source] if isinstance(source, int) else source
            if isinstance(source, _Output):
                target = outputs[source.index]
            if target is not None:
                taken = partial(equal, numbers[shared.index], number) if shared.is_told else None
                build.aliases.fork(outputs[shared.index], [Way(taken, build.held(target), shared.is_view)])

    @property
    def told(self) -> list[int]:
        """The outputs of which a further one tells which of `shared` they are."""
        return list(dict.fromkeys(shared.index for shared in self.shared if shared.is_told))

    def _entering(self, arguments: Sequence[Any]) -> list[tuple[CarriedValue, Any]]:
        """Each value that enters the function, and what it is here."""
        build = builder()
        found = list(zip(self.state.variables, arguments))
        found += [(carried, place.get()) for place, carried in self.state.places.values()]
        found += [(carried, build.held(handle)) for handle, carried in self.state.handles.items()]
        return found

    @property
    def _kept(self) -> list[CarriedValue]:
        """What leaves the function besides its result, of what entered it."""
        return self.state.all()[len(self.state.variables) :]

    def _metas(self) -> list[Any]:
        assert self.result is not None
        metas = [meta for carried in (self.result, *self._kept) for meta in _metas(carried)]
        formals = [meta for carried in self.state.variables for meta in _metas(carried)]
        return metas + [formals[i] for i in self.changed] + [_NUMBER for _ in self.told]

    def _leave(self, outputs: Iterator[Variable], arguments: Sequence[Any]) -> Any:
        """Let the call's outputs be what they are here: the result, Python places, tensors changed in place."""
        assert self.result is not None
        result = self.result.value(outputs)
        for place, carried in self.state.places.values():
            note_write(place)
            restore(place, carried.value(outputs))
        for handle, carried in self.state.handles.items():
            builder().assign(handle, carried.value(outputs))
        handles = self._handles(arguments)
        for index, value in zip(self.changed, outputs):
            if handles[index] is not None:
                builder().assign(handles[index], value)
        return result

    def _handles(self, arguments: Sequence[Any]) -> list[Any]:
        """The tensor that was given for each formal input; None for what is no tensor here."""
        found: list[Any] = []
        for carried, value in zip(self.state.variables, arguments):
            for leaf, given in zip(carried.leaves, all_leaves(value)):
                handle = given if leaf.meta is not None and is_tensor(given) else None
                found += [handle, *[None] * (_width(leaf) - 1)][: _width(leaf)]
        return found

    def _check_shared_memory(self, handles: Sequence[Any]) -> None:
        """Refuse to change an argument in place whose memory enters the function a second time."""
        if not self.changed:
            return
        roots = [None if handle is None else builder().aliases.shown(builder().held(handle)) for handle in handles]
        others = [*roots, *[builder().aliases.shown(v) for v in self.captured]]
        for index in self.changed:
            if roots[index] is not None and sum(other is roots[index] for other in others) > 1:
                raise UnsupportedError(
                    f"the recursive function {self.name} changes an argument in place that shares memory with another "
                    "tensor which it uses",
                    hint="pass a copy of it (x.clone())",
                )


def _metas(carried: CarriedValue) -> list[AnyMeta]:
    """The metas of a value's tensors, in the order of its formals."""
    return [var.meta for var in carried.formals(Block(builder().program, -1))]


def _width(leaf: Leaf) -> int:
    """How many formals a leaf has."""
    return len(_metas(CarriedValue("", LEAF, [leaf])))


# --- attempts --------------------------------------------------------------------------------------------------------


def record_function(activation: Activation) -> Any:
    """Record the function of a call, and the call itself; what it returns."""
    state = CarriedState(activation.parameters)
    for place in outer_variables(activation.function):
        state.places[place.key] = (place, carry_place(place, place.get()))
    name = activation.function.__name__
    in_program = builder().program.function_name(name.strip("<>"))
    recording = Recording(name, in_program, state, activation.depth, builder().block)
    activation.recording = recording
    for _ in range(MAX_ATTEMPTS):
        _take_numbers(activation)
        try:
            settled = _attempt(activation, recording)
        except Restart as restart:
            if restart.target is not recording:
                raise
            continue
        except Pending as pending:
            if pending.target is not recording:
                raise
            if recording.never_returns or not _may_raise(recording):
                raise _endless(activation.function) from None
            recording.note_end()
            continue
        if settled:
            recording.block.name = in_program
            close_function(recording.block, recording.captured)
            if recording.given_back:  # one level in line tells whether a list given is the very one that comes back
                return activation.function(*activation.arguments.args, **activation.arguments.kwargs)
            return recording.called(list(activation.arguments.arguments.values()))
    raise ArgumentError(
        f"what the recursive function {name} takes and returns does not settle: shapes or types keep changing from one "
        "call to the next",
        loc=_here(),
        hint="give its arguments and results their final shape and dtype from the start",
    )


def _take_numbers(activation: Activation) -> None:
    """Numbers that differ between the calls seen become tensors."""
    for arguments in activation.seen:
        for parameter, value in zip(activation.parameters, arguments.arguments.values()):
            parameter.widen(value)
    activation.seen = []


def _may_raise(recording: Recording) -> bool:
    """Whether some path of the function raises, in the attempt that was just given up."""
    blocks = recording.block.program.blocks
    return any(map(may_end, [op for block in blocks[blocks.index(recording.block) :] for op in block.ops]))


def _endless(function: Any) -> EndlessRecursionError:
    code = function.__code__
    return EndlessRecursionError(
        f"every path through {code.co_name} calls it again, so it never ends",
        loc=Loc(code.co_filename, code.co_firstlineno, code.co_name),
        hint="let one path return without calling it",
    )


def _here() -> Any:
    frames = user_frames(2, limit=1)
    return frames[0] if frames else None


def _attempt(activation: Activation, recording: Recording) -> bool:
    """Whether tracing the body found nothing new; `recording` knows it now."""
    build, state = builder(), recording.state
    outer = dict(build.current)
    places = [place for place, _ in state.places.values()]
    with journaling(places) as journal, build.sub_block() as block, _named(block, recording.in_program):
        recording.block = block
        values = enter(state, block)
        formals = block.inputs[: sum(len(_metas(p)) for p in state.variables)]
        before = [_content(v) for v in values]
        arguments = activation.arguments.signature.bind_partial()
        arguments.arguments.update(zip(activation.arguments.arguments, values))
        result = run_path(lambda: activation.function(*arguments.args, **arguments.kwargs))
        if result is ENDED:
            recording.note_end()
            result = None
        result = tuple(map(collapsed, result)) if type(result) is tuple else collapsed(result)
        for parameter, value, content in zip(state.variables, values, before):
            _check_unchanged(recording, parameter, value, content, journal)
        journal.forget_local((values, result))
        journal.refuse_spent()
        handles = build.changed_since(outer, block)
        changed = [i for i, v in enumerate(formals) if build.held(v) is not v]
        is_first = recording.result is None
        if any([grow(state, (), journal, handles), _grow_result(recording, result), _note(recording, changed)]):
            return False
        is_more = _note_given_back(recording, result, values)
        found = _found_shared(recording, result, formals, outer_of(block, handles))
        if _note_shared(recording, [shared for shared, _ in found]) or is_more:
            return False
        leaving = [(recording.result, result), *ends(state, (), journal.after(), handles)]
        outputs = [end for carried, value in leaving if carried is not None for end in carried.ends(value)]
        told = _numbers(recording, found)
        block.outputs = [*outputs, *[build.value(formals[i]) for i in recording.changed], *told]
        more = [v for v in block.captures if not any(v is known for known in recording.captured)]
        recording.captured += more
        return not (more or is_first)


@contextmanager
def _named(block: Block, name: str) -> Iterator[None]:
    """Let calls refer to a block as a function while it is recorded."""
    block.name = name
    try:
        yield
    finally:
        block.name = ""  # most attempts are given up, and their names are free again


def _grow_result(recording: Recording, result: Any) -> bool:
    """Whether the function returns more than was known; `recording` takes it in."""
    for leaf in all_leaves(result):
        if isinstance(leaf, Undefined):
            raise leaf.returned()
    if recording.result is None:
        recording.result = _first_result(recording, result)
        return True
    try:
        return recording.result.widen(result)
    except (ArgumentError, UnsupportedError) as err:
        raise UnsupportedError(
            f"what the recursive function {recording.name} returns differs between its paths: {err.message}",
            loc=_here(),
            hint="return tensors of one rank and one structure on every path",
        ) from None


def _first_result(recording: Recording, result: Any) -> CarriedValue | None:
    """What the function returns, as far as the first paths tell; None to ask them once more.

    What is made inside is another object each time: a list or dict that comes out twice is one from outside.
    """
    held = set(_containers_in(result))
    if held and recording.returned is None:
        recording.returned = result
        return None
    outer = held & set(_containers_in(recording.returned))
    if not outer:
        return CarriedValue.opened(recording.name, stand_in(result))
    if outer == held == {id(result)}:
        return CarriedValue.of(recording.name, result)
    raise UnsupportedError(
        f"the recursive function {recording.name} returns a list or dict that was there before it was called, inside "
        "another one or beside it",
        loc=_here(),
        hint="return a copy of it, or return the tensors alone",
    )


def _note(recording: Recording, changed: Sequence[int]) -> bool:
    """Whether more formals are changed in place than was known."""
    more = [i for i in changed if i not in recording.changed]
    recording.changed += more
    return bool(more)


def _note_given_back(recording: Recording, result: Any, values: Sequence[Any]) -> bool:
    """Whether the function may return the lists, dicts or objects of more arguments than was known."""
    held = made_of(_containers(result), builder().forks)
    pairs = enumerate(zip(recording.state.variables, values))
    found = {i for i, (p, v) in pairs if container_of(p) is None and not held.isdisjoint(_containers_in(v))}
    more = found - recording.given_back
    recording.given_back |= more
    return bool(more)


def _note_shared(recording: Recording, found: Sequence[_Shared]) -> bool:
    """Whether more of what is returned than was known may be a tensor from outside."""
    known = len(recording.shared)
    for shared in found:
        if not any(shared.is_like(other) for other in recording.shared):
            recording.shared.append(shared)
    return len(recording.shared) > known


def _found_shared(
    recording: Recording, result: Any, formals: Sequence[Variable], outer: Outer
) -> list[tuple[_Shared, Any]]:
    """What the returned tensors may be besides new ones, each with what tells on which paths, if something does."""
    build = builder()
    sources: dict[Variable, Any] = {build.held(v): i for i, v in enumerate(formals)}
    sources |= {v: i for i, v in enumerate(formals)}
    bases: dict[Variable, Any] = {}
    found: list[tuple[_Shared, Any]] = []
    for index, leaf in _tensors_in(recording, result):
        var = leaf if is_graph(leaf) else build.held(leaf)
        for way in build.aliases.ways(var, lambda v: v if v in sources or v in bases else outer(v)):
            source = sources.get(way.target, bases.get(way.target, way.target))
            is_told = way.taken is not None and way.target not in bases
            found.append((_Shared(index, source, is_told, way.is_view or way.target in bases), way.taken))
        sources.setdefault(var, _Output(index))
        if (base := build.aliases.shown(var)) not in sources:
            bases.setdefault(base, _Output(index))
    return found


def _numbers(recording: Recording, found: Sequence[tuple[_Shared, Any]]) -> list[Variable]:
    """For each output that may be one of what is shared the number of the one that it is; 0 for none of them."""
    numbers = {index: constant(0) for index in recording.told}
    for shared, taken in found:
        if shared.is_told:
            number = next(n for n, other in enumerate(recording.shared, 1) if shared.is_like(other))
            is_taken = taken()
            here = constant(number)
            numbers[shared.index] = here if is_taken is True else where(is_taken, here, numbers[shared.index])
    return list(numbers.values())


def _tensors_in(recording: Recording, result: Any) -> list[tuple[int, Any]]:
    """The tensors that the function returns, each with the number of the output that it becomes."""
    assert recording.result is not None
    found, at = [], 0
    for leaf, value in zip(recording.result.leaves, all_leaves(result)):
        found += [(at, value)] if leaf.meta is not None and is_tensor(value) else []
        at += _width(leaf)
    return found


def container_of(parameter: CarriedValue) -> Any:
    """The list, dict or object made by the trace that every call gets as one object, or None."""
    start = parameter.leaves[0].start if parameter.tree is LEAF else None
    is_container = isinstance(start, BY_CONTENT) or start in builder().made
    return start if is_container and not _metas(parameter) else None


def _containers_in(value: Any) -> Iterator[int]:
    """The ids of the lists, dicts and objects made by the trace that `value` is or holds."""
    return map(id, _containers(value))


def _containers(value: Any) -> Iterator[Any]:
    for part in value.lists() if isinstance(value, OverList) else ():
        yield from _containers(part)
    if isinstance(value, (list, dict)) or value in builder().made:
        yield value
    if isinstance(value, (list, tuple, dict)) and not is_open(value):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _containers(item)
    if isinstance(value, OneOf):
        for option in value.children[1:]:
            yield from _containers(option)


def _content(value: Any) -> list[Any]:
    leaves: list[Any] = []
    return [flatten(value, leaves), *leaves]


def _check_unchanged(
    recording: Recording, parameter: CarriedValue, value: Any, before: Sequence[Any], journal: Journal
) -> None:
    """Raise where the function changed a list, dict or dataclass made for this call: callers would not see it."""
    if container_of(parameter) is not None:
        return  # the same object in every call: its content is carried as that of any other object
    after = _content(value)
    same = len(after) == len(before) and after[0] == before[0] and all(a is b for a, b in zip(after[1:], before[1:]))
    owners = {id(getattr(place, "owner", None)) for place, _ in journal.before.values()}
    if same and not owners & set(_containers_in(value)):
        return
    raise UnsupportedError(
        f"the recursive function {recording.name} changes what its argument {parameter.name!r} holds",
        loc=_here(),
        hint="return what it makes (`return [*items, x]`), or let the argument be a tensor",
    )
