"""Tracing: a converted function is run once for given input specs, which makes a ConcreteProgram."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..convert import attempt, convert_call, ends_program, entered, observe_function
from ..convert.calls.caught import unmasked
from ..convert.calls.generators import closing_suspended
from ..convert.calls.open_axes import for_axes
from ..convert.containers.dicts import GraphDict
from ..convert.containers.stand_ins import Foreign, standing_in
from ..convert.containers.structure import opened
from ..convert.containers.table_sites import TableSites
from ..convert.control.branches import choose
from ..convert.guards.array_sites import ArraySites
from ..convert.guards.observe import Observer, current_observer, observing
from ..convert.guards.special import guard_unseen
from ..convert.guards.whole import note_settings, note_whole
from ..convert.host.effects import assert_place_set
from ..convert.host.given import GivenArray, given_array
from ..convert.host.value import HostValue, array_of, list_of
from ..convert.state.journal import Journal, journaling
from ..convert.state.ownership import check_forks
from ..convert.values.facts import class_of_tensor
from ..convert.values.foreign import ForeignError
from ..convert.values.handlers import refuse_if_caught, refuse_unless_decided
from ..convert.values.optional import refuse_none
from ..convert.values.user_errors import note_user_error
from ..core.closures import CLOSURES
from ..core.dump import dump, is_dumped
from ..core.errors import DTypeError, InternalError, UnsupportedError
from ..core.meta import Meta
from ..core.modes import grad_enabled
from ..core.pytree import OneOf, OpenTable, TreeDef, is_open
from ..core.single import not_single
from ..eager.layer import Layer
from ..eager.parameter import Parameter
from ..eager.tensor import Tensor, as_tensor
from ..ir.builder import Builder, building
from ..ir.dead_code import drop_unused_blocks
from ..ir.graph_tensor import GraphTensor, as_number, sample
from ..ir.input_spec import ArraySpec, InputSpec, NumberSpec
from ..ir.program import Program, Variable
from ..ops.compare import not_equal
from ..ops.failure import no_tensor
from ..ops.number import DIVISIONS, number_pow_op
from ..ops.registry import OpDef
from .arguments import Argument, Arguments, Holder, containers
from .concrete_program import ConcreteProgram
from .effects import Effect, FlagWrite, changes_content
from .found_effects import called, changes, find_effects, replayable, written_arrays
from .function_spec import FunctionSpec
from .held import held
from .outputs import Outputs
from .reach import with_parts
from .shown_flags import settle_flags
from .training import Training
from .unfinished import Unfinished
from .variation import Variation


class Trace:
    """The state of one trace: the builder and the eager tensors it captured."""

    def __init__(self) -> None:
        self.program = Program()
        self.block = self.program.global_block()
        self.builder = Builder(self.program, self.lift)
        self.layers: list[Layer] = []
        self.builder.convert = convert_call
        self.builder.eager_class = class_of_tensor
        self.builder.with_numbers = for_axes
        self.builder.on_layer = self.layers.append
        self.builder.on_library = note_whole
        self.builder.attempt = attempt
        self.builder.choose = choose
        self.builder.tracing = True
        self.arguments: list[Variable] = []
        self.training = self.builder.training = Training(self)
        self.builder.host = {"numpy": array_of, "tolist": list_of}
        self.builder.on_unset = assert_place_set
        self.builder.on_kind = refuse_none
        self.builder.on_raise = self.may_raise
        self.builder.on_single = lambda what: refuse_if_caught(not_single(what, ()))
        self.captured: list[Tensor] = []
        self.variables: dict[int, Variable] = {}
        self.builder.stands_for = self.variables
        self.tensors: dict[Variable, Tensor] = {}
        self.has_number_inputs = False
        self.kept_arrays: dict[int, Tensor] = {}

    def may_raise(self, op: OpDef, values: Sequence[Any]) -> None:
        """Refuse an op on Python numbers where a handler would see it fail, or a changing number its kind."""
        if op in DIVISIONS:
            refuse_unless_decided(_by_zero(op, values), as_number(not_equal(values[1], 0)))
            return
        for error in (ZeroDivisionError(), OverflowError()):
            refuse_if_caught(error)
        if op is number_pow_op and self.has_number_inputs:
            raise UnsupportedError("whether the power of numbers that change is an int or a float is not known")

    def lift(self, value: Any) -> Variable:
        """The variable that stands for an eager tensor (an input, made on first sight) or a value of Python code."""
        if isinstance(value, HostValue):
            return value.tensor()
        if isinstance(value, (np.ndarray, np.generic, list, tuple)) and not _holds_tensors(value):
            value = self._constant(value)
        if not isinstance(value, Tensor):
            op, text = self.builder.appending, f"an op was given a {type(value).__name__} where it needs a tensor"
            err = DTypeError(text) if op is None else no_tensor(op, None, value)
            raise note_user_error(err) if isinstance(value, (str, bytes, dict, set, list, tuple)) else err
        found = self.variables.get(id(value))
        if found is None:
            observer = current_observer()
            meta = None if observer is None else observer.metas.get(id(value))
            meta = meta or Meta(tuple(value.shape), value.dtype)
            found = self.block.create_var(meta, _var_name(value), stop_gradient=value.stop_gradient)
            if isinstance(value, Parameter):
                found.__dict__["is_parameter_"] = True
            self.variables[id(value)] = found
            self.tensors[found] = value
            self.captured.append(value)
            self.builder.foreseen.note_lifted(value, found)
        return found

    def index(self, tensor: Tensor) -> int:
        """The number of an eager tensor among the captured ones."""
        self.lift(tensor)
        return next(i for i, held in enumerate(self.captured) if held is tensor)

    def numbers(self) -> dict[Variable, int]:
        """The variables of the captured tensors, numbered from -1 downwards."""
        return {self.variables[id(tensor)]: -1 - i for i, tensor in enumerate(self.captured)}

    def _constant(self, value: Any) -> Tensor:
        found, now = self.kept_arrays.get(id(value)), as_tensor(value)
        if found is None or not _is_as_it_was(found, now):
            found = self.kept_arrays[id(value)] = now
            found.__dict__["_source"] = value  # keeps the id alive
        return found


def _is_as_it_was(kept: Tensor, now: Tensor) -> bool:
    """Whether an array or list holds what it held when it was made a constant."""
    before, after = kept.numpy(), now.numpy()
    return before.dtype == after.dtype and bool(np.array_equal(before, after))


def _holds_tensors(value: Any) -> bool:
    """Whether it is a list or tuple with tensors inside, of which no array is made."""
    if isinstance(value, (list, tuple)):
        return is_open(value) or any(map(_holds_tensors, value))
    return isinstance(value, (Tensor, GraphTensor, OneOf))


def _by_zero(op: OpDef, values: Sequence[Any]) -> ZeroDivisionError:
    """What Python says of a division of numbers like these by zero."""
    x, y = [type(sample(v) if isinstance(v, Variable) else v)(0) for v in values]
    try:
        DIVISIONS[op](x, y)
    except ZeroDivisionError as err:
        return err.with_traceback(None)
    raise InternalError(f"{op.name} divides by zero")


def _var_name(tensor: Tensor) -> str:
    return tensor.name.replace(".", "_") if tensor.__dict__.get("_name") else "captured"


@dataclass
class Request:
    """How a function is to be traced: what for, and what attempts before this one have found out."""

    variation: Variation | None = None
    """Which numbers and sizes of the Python state become inputs."""
    is_whole: bool = False
    """Whether what cannot be converted is an error, not a segment."""
    is_called: bool = False
    """Whether it is for a call, which another program can do where sizes are not what this one takes them for."""
    table_sites: TableSites | None = None
    """Where dicts and sets are made whose keys only a run knows."""
    array_sites: ArraySites | None = None
    """Where arrays of NumPy's are made that the program must hold."""
    keeps_containers: bool = False
    """Whether a list or dict of which a tensor decides which one it is stays the one or the other. By default it
    becomes one by value, which makes smaller programs, and must not be changed then (ForkedError)."""
    numbers_heads: bool = False
    """Whether loops number the tensors that they hand on: inside of one it is asked which tensor a variable is."""
    foreign: list[Foreign] = field(default_factory=list)
    """Containers of the user's that can grow in this trace."""
    left_tries: dict[tuple[str, int], int] = field(default_factory=dict)
    """The `try` statements that a run which raises may leave to eager code: see `Builder`."""

    def begin(self) -> Trace:
        """A trace that goes by it."""
        state = Trace()
        build = state.builder
        build.is_whole, build.is_called = self.is_whole, self.is_called
        build.keeps_containers, build.table_sites = self.keeps_containers, self.table_sites
        build.numbers_heads, build.array_sites = self.numbers_heads, self.array_sites
        build.left_tries = dict(self.left_tries)
        return state


def trace(
    function: Callable[..., Any],
    tree: TreeDef,
    leaves: Sequence[Any],
    names: Sequence[str | None],
    original: Callable[..., Any],
    request: Request,
) -> ConcreteProgram:
    """Run `function` once with Variables for the InputSpec leaves, recording a program.

    leaves: InputSpec for each tensor argument, anything else as its Python value. original: the user's function that
    `function` is the converted form of.

    Whatever the function does to Python objects is undone afterwards, and done by each run of the program.
    """
    state = request.begin()
    with building(state.builder):
        values = _values(state, leaves, names)
    given, tables = _given(FunctionSpec.rebuild(tree, values), request.table_sites)
    varying = request.variation or Variation()
    state.has_number_inputs = bool(varying.numbers) or any(isinstance(leaf, NumberSpec) for leaf in leaves)
    with (
        standing_in(request.foreign) as stand_ins,
        state.training.undone_on_failure(),
        building(state.builder),
        journaling() as journal,
        observing(journal, varying.numbers, varying.shapes) as observer,
        closing_suspended(state.builder),
    ):
        observer.stand_ins = stand_ins
        for value in values:
            if isinstance(value, GivenArray):
                value.made_in(journal)
        owners = containers(given)
        journal.given = {id(value) for value in values if not isinstance(value, (Tensor, Variable, *CLOSURES))}
        observe_function(original)
        for found in [*values, *[guard.value for guard in observer.guards.values()]]:
            journal.note_outside(found)
        try:
            result = [entered(function)(*given[0], **given[1])]
        except Exception as failure:
            err = unmasked(failure)
            if not _is_end(err, state, observer, journal):
                if err is failure:
                    raise
                raise err from None
            result = [None]
        concrete = _finish(state, result, observer, owners, tables, _arrays(values, owners))
    # What is as it was at the end may have been otherwise where the program raises.
    build = state.builder
    concrete.leaves_undone = build.leaves_undone or build.catches or build.takes_sizes or bool(journal.before)
    concrete.layers = [*state.layers, *observer.layers]
    concrete.tensor_leaves = [isinstance(leaf, InputSpec) for leaf in leaves]
    return concrete


def _values(state: Trace, leaves: Sequence[Any], names: Sequence[str | None]) -> list[Any]:
    """What the function is traced with: a new Variable for each InputSpec, anything else as it is."""
    values: list[Any] = []
    for leaf, name in zip(leaves, names):
        if not isinstance(leaf, InputSpec):
            values.append(leaf)
            continue
        stop = leaf.stop_gradient or not grad_enabled.get()
        var = state.block.create_var(leaf.meta, leaf.name or name, prefix="arg", stop_gradient=stop)
        state.arguments.append(var)
        values.append(_SHOWN.get(type(leaf), _itself)(var))
    return values


def _itself(var: Variable) -> Variable:
    return var


_SHOWN: dict[type, Callable[[Variable], Any]] = {NumberSpec: as_number, ArraySpec: given_array}
"""What an input of the program is in converted code, by its spec."""


def _arrays(values: Sequence[Any], owners: Mapping[int, Argument]) -> list[GivenArray]:
    """The arrays among the arguments; what stands in a container that is taken apart otherwise is none of them."""
    return [value for value in values if isinstance(value, GivenArray) and id(value) in owners]


def _given(arguments: Arguments, sites: TableSites | None) -> tuple[Arguments, list[OpenTable]]:
    """The arguments with lists and dicts such as can grow, and those of them of which only the run knows the keys."""
    met: dict[int, tuple[Any, Any]] = {}
    places = {} if sites is None else containers(arguments)
    tables = {key for key, place in places.items() if sites is not None and place in sites.known}
    given = opened(arguments, met, tables)
    for original, made in met.values():
        if isinstance(made, GraphDict):
            made.site = places.get(id(original))
    return given, [made for _, made in met.values() if isinstance(made, OpenTable)]


def _is_end(err: Exception, state: Trace, observer: Observer, journal: Journal) -> bool:
    """Whether the program ends in this exception, which each run raises. If not, the exception is told what those
    who catch it ask: where its container stands, and whether eager code does something before it raises.
    """
    if isinstance(err, ForeignError) and not err.places:
        err.container = observer.stand_ins.original(err.container)
        err.places = observer.places_of(err.container)
    changed = bool(observer.calls) or journal.is_changed() or state.builder.leaves_undone
    if ends_program(err, changed=changed):
        return True
    if not isinstance(err, UnsupportedError) and (changed or any(op.op.effect for op in state.block.ops)):
        Unfinished().mark(err)  # eager code raises it, too, most likely, but not before it did all this
    return False


def _finish(
    state: Trace,
    result: list[Any],
    observer: Observer,
    owners: dict[int, Argument],
    tables: Sequence[OpenTable],
    arrays: Sequence[GivenArray],
) -> ConcreteProgram:
    """The program of a trace; `result` is a list of what it returned, and alone holds it.

    tables, arrays: those of the arguments.
    """
    state.training.settle()
    arguments = state.arguments
    places = {v: i for i, v in enumerate(arguments)}
    watched = [*[id(call.owner) for call in observer.calls], *map(id, state.layers), *map(id, observer.layers)]
    local = observer.journal.forget_local(result, watched)
    observer.forget(local, state.builder.made)
    observer.note_paths()
    for stand_in in observer.stand_ins.made:
        observer.content_matters(stand_in)
    replayed = replayable(observer, {*owners, *observer.stand_ins.originals})
    holders = _holders(observer, owners)
    known = observer.known_containers() | observer.journal.given
    sources = [*state.arguments, *(var for var, _ in state.training.wanted())]
    settle_flags(state.builder, {var for var in sources if not var.stop_gradient})
    outputs = Outputs(state.builder, places, state.index, holders, known, lambda: places | state.numbers(), arrays)
    given_out = [*result, *[value for _, value in changes(observer.journal, observer.read_numbers)]]
    check_forks(state.builder.forks, given_out, {*holders, *observer.known_containers()})
    outputs.share(given_out)
    output = outputs.template(result[0])
    tables = [*tables, *[made for made in observer.stand_ins.made if isinstance(made, OpenTable)]]
    effects = find_effects(observer, replayed, outputs, holders, tables)
    effects += [called(call, outputs, holders) for call in state.training.calls]
    effects += written_arrays(arrays, outputs, holders)
    effects += _flags_behind(state)
    if state.builder.is_called:  # a file has no outputs but those that the function returns
        outputs.give_listed()
    spent = state.training.finish(outputs.variables)
    refused = state.training.partly_spent(outputs.variables)
    writes = _writes(state, places)
    outputs.show([value for _, value in writes])
    _note_methods(state, observer)
    n = len(arguments)
    state.block.inputs = [*arguments, *[state.variables[id(t)] for t in state.captured]]
    outputs.hand_through(state.block.inputs)
    left_alone = {i: outputs.stops(v) for i, v in writes if state.block.inputs[i].stop_gradient}
    state.block.outputs = [*outputs.variables, *[v for _, v in writes], *reversed(outputs.flags)]
    state.training.drop_unread(state.block.outputs)
    drop_unused_blocks(state.program)
    if is_dumped("program"):
        dump("program", "txt", str(state.program))
    slots = {id(tensor): i for i, tensor in enumerate(state.captured)}
    partly = {k: (r.error, [i for i, v in enumerate(state.block.inputs) if v in r.behind]) for k, r in refused.items()}
    pinned = {slots[key] for key in (*state.training.pinned, *observer.pinned) if key in slots}
    return ConcreteProgram(
        state.program, n, state.captured, outputs.variables, output.moved(n), writes,
        effects=[effect.moved(n) for effect in effects], guards=observer.kept(observer.places(), slots),
        spent=spent, partly_spent=partly, pinned=frozenset(pinned),
        without_ones=state.builder.without_ones, takes_sizes=state.builder.takes_sizes,
        apart=_taken_for_two(state), fields=_lacking(state, places), wanting=frozenset(outputs.wanting),
        ending=state.training.ending(outputs.variables, outputs.origins),
        leaves=tuple((places[v], v in state.training.asked) for v in state.training.with_gradients()),
        hands_on=outputs.hands_on() or any(map(changes_content, effects)),
        left_alone={i: flag for i, flag in left_alone.items() if flag is not None},
        flags=tuple((i, v.stop_gradient) for i, v in enumerate(state.block.inputs) if v in state.builder.flagged),
    )  # fmt: skip


def _holders(observer: Observer, owners: Mapping[int, Argument]) -> dict[int, Holder]:
    """By id, where containers stand whose content is the user's: in the Python state, or among the arguments."""
    holders: dict[int, Holder] = {**held(observer.places()), **owners}
    originals = observer.stand_ins.originals
    return holders | {key: holders[id(value)] for key, value in originals.items() if id(value) in holders}


def _note_methods(state: Trace, observer: Observer) -> None:
    """Note what the program took for constant: how Layers are called and set, and what tensors were asked for."""
    layers = with_parts([*state.layers, *observer.layers])
    for layer in layers:
        note_settings(observer, layer)
    for cls in set(map(type, layers)):
        for name in ("__call__", "forward"):
            observer.of_class(cls, name)
    for name in sorted(state.builder.asked_of_tensors):
        observer.of_class(Tensor, name)
    guard_unseen(observer, state.builder)


def _taken_for_two(state: Trace) -> tuple[tuple[int, int], ...]:
    """The pairs of inputs, by number, that the program takes for two tensors."""
    numbers = {seen: i for i, v in enumerate(state.block.inputs) for seen in (v, state.builder.held(v))}
    return tuple(sorted({(numbers[a], numbers[b]) for a, b in state.builder.apart if a in numbers and b in numbers}))


def _lacking(state: Trace, places: Mapping[Variable, int]) -> tuple[tuple[int, str], ...]:
    """The attributes that arguments, by number, were asked for and did not have."""
    return tuple(sorted({(places[v], name) for v, name in state.builder.lacking if v in places}))


def _flags_behind(state: Trace) -> list[Effect]:
    """What sets, behind the run, the stop_gradient of captured tensors that was set after their first use."""
    later = state.builder.flagged_later
    places = [(i, tensor) for i, tensor in enumerate(state.captured) if id(tensor) in later]
    return [FlagWrite(i, state.builder.held(tensor).stop_gradient) for i, tensor in places]


def _writes(state: Trace, places: dict[Variable, int]) -> list[tuple[int, Variable]]:
    """In-place changes that outlive the call: of arguments and of captured tensors."""
    current = state.builder.current
    writes = [(place, current[var]) for var, place in places.items() if var in current]
    for index, tensor in enumerate(state.captured, len(places)):
        var = state.variables[id(tensor)]
        value = current.get(var)
        if id(tensor) in state.builder.flagged_later:
            value = state.builder.aliases.without_flag(state.builder.held(tensor))
        if value is not None and value is not var:
            writes.append((index, state.training.written(value)))
    return writes
