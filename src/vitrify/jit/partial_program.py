"""PartialProgramLayer: a traced program compiled for running inside eager code, forward and backward."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.epoch import CAPTURED_KINDS, LAYER_ATTRIBUTES, LAYER_MODES, Epoch
from ..core.errors import UnsupportedError
from ..core.lazy import lazy_module
from ..core.meta import UNKNOWN, Meta
from ..core.modes import grad_enabled, scoped
from ..core.pytree import LEAF
from ..core.rng import default_generator
from ..eager.host_ops import PRINTED, effect_op, print_op
from ..eager.tensor import Tensor, wrap
from ..ir.program import Variable
from ..ir.tape_place import is_seen_change, keeps_place
from ..runtime.options import DEFAULT, ExecutionOptions
from .arguments import NO_ARGUMENTS, Arguments
from .concrete_program import ConcreteProgram
from .joint import JointStep
from .marks import OutputLeaf
from .nested import items_of
from .path_leaves import ForkLeaf
from .reach import UNMOVED, LayerState, Moved
from .run_program import tape_edge
from .segment import CompiledSegment, compile_segment
from .shared import Sharing
from .spent import EndNode, PartlySpentNode, SpentNode
from .unfinished import Unfinished
from .updates import Updates, find_updates

if TYPE_CHECKING:
    from ..convert.guards.same import Compared

# Programs that were loaded see no Python state: they run without what converts and traces.
_effects = lazy_module("vitrify.jit.effects")
_log_records = lazy_module("vitrify.eager.log_records")
_same = lazy_module("vitrify.convert.guards.same")

_grad_enabled = grad_enabled.get
_ndarray = np.ndarray


def _array_of(value: Any) -> Any:
    """The array of a tensor, of another device, or of NumPy's number."""
    return (value if isinstance(value, Tensor) else wrap(value))._data


def _write(tensor: Tensor, value: Tensor) -> None:
    """Let `tensor` hold `value`. Without a gradient it is what happened under no_grad: the tape stays as it is."""
    if value.stop_gradient:
        with scoped(grad_enabled, False):
            tensor._become(value)
    else:
        tensor._become(value)


def _may_be_leaf(tensor: Tensor, is_asked: bool) -> bool:
    """Whether a program may put a gradient into an argument; `is_asked`: where it asks for the one that is there."""
    return tensor._node is None and not tensor._hooks and not (is_asked and tensor._grad is not None)


def _fits(shape: Sequence[int], known: Sequence[int]) -> bool:
    """Whether a shape is one that is known, UNKNOWN there for any size."""
    return len(shape) == len(known) and all(wanted in (size, UNKNOWN) for size, wanted in zip(shape, known))


class UnfitError(UnsupportedError):
    """A program cannot do to the tensors that it was given what it does; it has not run, eager code can."""


class SharedMemoryError(UnfitError):
    """A program was given tensors on one memory, one of which it changes."""

    def __init__(self) -> None:
        super().__init__(
            "an in-place change of a tensor that shares memory with another one that the program uses",
            hint="give it a copy of one of them (x.clone())",
        )


class OneTensorError(UnfitError):
    """A call gives one tensor for two that were asked whether they are the same object."""

    def __init__(self) -> None:
        super().__init__("two tensors that the function takes for two objects (`is`) are one in this call")


class OwnFieldError(UnfitError):
    """A tensor of the call has an attribute of the caller's, which the function asked for and did not find."""

    def __init__(self) -> None:
        super().__init__("an attribute that the caller has set on a tensor which is an argument")


class GivenLeafError(UnfitError):
    """An argument that the program puts a gradient into has one, or a hook, or the caller computed it."""

    def __init__(self) -> None:
        super().__init__(
            "backward() to an argument that is no leaf, or has a hook or a gradient that the function asks for"
        )


class WantedLeafError(UnfitError):
    """A program was given a leaf that wants a gradient, which it changes, maybe: on a path, or through a view."""

    def __init__(self) -> None:
        super().__init__("an in-place change of a leaf tensor that wants a gradient", hint="give it a copy (x.clone())")


class PartialProgramLayer:
    """A ConcreteProgram ready to be called with tensor arguments."""

    def __init__(
        self,
        concrete: ConcreteProgram,
        layers: LayerState | None = None,
        stops: Sequence[bool] | None = None,
        options: ExecutionOptions = DEFAULT,
    ) -> None:
        self.concrete = concrete
        self._layers = layers
        self._guards = concrete.guards if concrete.guards else None
        self._captured = concrete.captured
        self._kinds = Epoch(CAPTURED_KINDS.value)  # when the captured tensors were last looked at
        for tensor in self._captured:
            CAPTURED_KINDS.watch(tensor)
        self._pinned = concrete.pinned
        self.calls = 0
        self.ran = np.zeros(1, np.int64)  # calls that never came here
        writes = self._compile(stops, replace(options, shares_items=True) if concrete.hands_on else options)
        self._note_results()
        self._note_changes(writes)
        self._note_shortcuts()
        self._choose_look()

    def _compile(self, stops: Sequence[bool] | None, options: ExecutionOptions) -> Sequence[tuple[int, Variable]]:
        """Compile the segment, and the updates that run behind it; returns the writes that the segment gives out."""
        concrete, block, writes = self.concrete, self.concrete.block, self.concrete.writes
        outputs = [v for v in block.outputs if v is not None]
        self._n_values = len(concrete.outputs)
        seen = [*concrete.outputs, *outputs[self._n_values + len(writes) :]]
        found = find_updates(block, seen, writes)
        self._updates = None if found is None else Updates(block, found)
        self._needs = slice(0, 0)
        self._joint: JointStep | None = None
        if found is not None:
            late = {i for i, _ in found.writes}
            writes = [(i, v) for i, v in writes if i not in late]
            first = self._n_values + len(writes)
            self._needs = slice(first, first + len(found.needs))
            outputs = [*concrete.outputs, *[v for _, v in writes], *found.needs, *seen[self._n_values :]]
        stops = [v.stop_gradient for v in block.inputs] if stops is None else stops
        wrt = [i for i, stop in enumerate(stops) if not stop] if _grad_enabled() else []
        # No gradient comes back by what leaves a tensor where it was on the tape.
        unasked = {*concrete.spent, *[self._n_values + k for k, (_, v) in enumerate(writes) if keeps_place(v)]}
        given = [i for i in range(self._n_values + len(writes)) if i not in unasked] if unasked else None
        self.segment = compile_segment(block, outputs, wrt, options, given, dict(writes))
        self.segment.bare = range(self._needs.start, self._needs.stop)
        if self._updates is not None:
            self._joint = JointStep.of(self.segment, self._updates, self._needs)
        return writes

    def _note_results(self) -> None:
        """Note what a call does to what it gives out, and to Python objects."""
        concrete = self.concrete
        self._spent = [(i, SpentNode(error)) for i, error in concrete.spent.items()] if _grad_enabled() else []
        self._partly_spent = concrete.partly_spent if _grad_enabled() else {}
        # Leaves that the program makes: no input gets a gradient from them.
        known = {*self.segment.seeds, *concrete.spent}
        self._new_leaves = tuple(concrete.wanting - known)
        self._ending = tuple(concrete.ending - known) if _grad_enabled() else ()
        self._effects = concrete.effects
        self._array_writes = _effects.array_writes(self._effects) if self._effects else ()
        self._gradients = _effects.gradients_alone(self._effects) if self._effects else []
        self._flags = concrete.flags
        self._apart = concrete.apart
        self._fields, self._given_leaves = concrete.fields, concrete.leaves
        self._left_alone = concrete.left_alone

    def _note_changes(self, writes: Sequence[tuple[int, Variable]]) -> None:
        """Note which inputs a call changes in place."""
        concrete = self.concrete
        self._writes = [i for i, _ in writes]
        self._views = self._views_of_writes()
        self._note_undone()
        self._changed = sorted({i for i, _ in concrete.writes if i < concrete.n_arguments})
        self._changed_captured = sorted(i for i, _ in concrete.writes if i >= concrete.n_arguments)
        self._changes = bool(concrete.writes)
        # What the tape sees change: a leaf that wants a gradient may be so on the path that leaves it alone.
        self._taped = [i for i, v in writes if not keeps_place(v) and (not v.stop_gradient or is_seen_change(v))]
        # Whether there may be tensors to which the program cannot do what it does.
        self._is_particular = bool(self._apart or self._fields or self._given_leaves or self._changes or self._taped)
        self._cells: list[int] | None = None  # of the inputs of the latest call, where no two counted changes together

    def _note_undone(self) -> None:
        """Note what eager code did before it raised, or caught it, which a program that raises has not done."""
        concrete = self.concrete
        self._leaves = bool(self._writes or self._effects or self._updates or concrete.leaves_undone)
        self._draws = self.segment.random and self._leaves
        told = [op for b in concrete.program.blocks for op in b.ops if op.op in (print_op, effect_op)]
        calls = [op for op in told if op.op is effect_op]
        self._loggers = _log_records.loggers_of(calls) if self._leaves and calls else []
        self._prints = self._leaves and (bool(self._loggers) or len(calls) < len(told))

    def _note_shortcuts(self) -> None:
        """Note how little a call may need, and choose what calls it then."""
        concrete, output = self.concrete, self.concrete.output
        # Whether a call needs no more than its tensors: it changes neither their content nor containers it was given.
        needed = output.needs_arguments or any(effect.needs_arguments for effect in self._effects)
        self.is_plain_call = not (self._changed or needed)
        self.takes_tensors_alone = False
        """Whether a call with nothing but tensors, one for each parameter in order, was found to run it."""
        # One tensor goes out and nothing else happens: by far the most common function.
        does = (
            self._writes
            or self._effects
            or self._updates
            or self._spent
            or self._partly_spent
            or self._new_leaves
            or self._ending
        )
        self._acts = acts = bool(does or self._flags or self._apart or self._fields or self._given_leaves)
        self._gives_one = output.tree is LEAF and output.leaves == [OutputLeaf(0)]
        self._plain = not acts and self._gives_one
        self._only_updates = self._gives_one and not (self._writes or self._effects)
        self._is_one_tensor = self._plain and not concrete.leaves_undone
        self.is_pure = not (acts or self._leaves or concrete.writes)
        self.direct = self._direct() if self._is_one_tensor else self._pure() if self.is_pure else self.__call__

    def _choose_look(self) -> None:
        """Choose what finds the captured tensors of a call, by what of the Python state the program depends on."""
        concrete, layers = self.concrete, self._layers
        inputs = concrete.block.inputs[concrete.n_arguments :]
        # Captured tensors that get no cotangent here: thawed, they would need another program.
        stopped = [(t, v) for t, v in zip(concrete.captured, inputs) if v.stop_gradient] if _grad_enabled() else []
        flagged = {concrete.block.inputs[number] for number, _ in concrete.flags}
        self._frozen = [t for t, v in stopped if v not in flagged]
        sees_layers = layers is not None and bool(layers.flags)
        self._twice = self._found_twice()
        self._depends_on_nothing = not (self._frozen or sees_layers or self._guards or self._captured)
        self.inputs_of_call = self._look(bool(self._frozen or sees_layers))
        self.depends_on_nothing = self._depends_on_nothing

    def _look(self, sees_more: bool) -> Callable[[], Sequence[Tensor] | None]:
        """`current_inputs`; as a function of its own where a program sees nothing but guards."""
        guards, captured = self._guards, self._captured
        if sees_more or guards is None:
            return self.current_inputs
        check, rest = guards.check, self.current_inputs

        def look_at_guards() -> Sequence[Tensor] | None:
            if CAPTURED_KINDS.value != self._kinds.value:
                return rest()
            found = check()
            return captured if found is not None and not found else rest()

        return guards.quick(captured, rest, CAPTURED_KINDS if captured else None) or look_at_guards

    def current_inputs(self) -> Sequence[Tensor] | None:
        """The captured tensors to run with; None when something changed that the program was built on."""
        if self._depends_on_nothing:
            return self._captured
        if CAPTURED_KINDS.value != self._kinds.value and not self._are_of_their_kinds():
            return None
        captured: Sequence[Tensor] = self._captured
        for tensor in self._frozen:
            if not tensor.stop_gradient:
                return None
        moved = self._layers.moved() if self._layers is not None else None
        if moved is None and self._layers is not None:
            return None
        if moved:
            found = self._fitting(moved)
            if found is None:
                return None
            captured = found
        if self._guards is not None:
            exchanged = self._guards.check()
            if exchanged is None:
                return None
            if moved or exchanged:
                return self._exchanged(captured, exchanged)
        return captured

    def _exchanged(self, captured: Sequence[Tensor], found: Mapping[int, Tensor]) -> Sequence[Tensor] | None:
        """The captured tensors, as Layers hold them, with those that guards found; None for what stands twice."""
        if any(captured[slot] is not self._captured[slot] and slot not in found for slot in self._twice):
            return None
        others = {slot: tensor for slot, tensor in found.items() if tensor is not captured[slot]}
        if not others.keys().isdisjoint({*self._pinned, *self._twice}):
            return None
        return [others.get(slot, tensor) for slot, tensor in enumerate(captured)] if others else captured

    def _found_twice(self) -> frozenset[int]:
        """The captured tensors that a Layer holds and that stand elsewhere, too: there may be two of them one day."""
        if self._layers is None or self._guards is None:
            return frozenset()
        guarded = {guard.key for guard in self._guards}
        return frozenset(slot for slot in self._guards.slots() if self._layers.holds(self._captured[slot], guarded))

    def _are_of_their_kinds(self) -> bool:
        """Whether the captured tensors have the shapes and dtypes that the program is built for."""
        kinds = CAPTURED_KINDS.value
        known = self.concrete.block.inputs[self.concrete.n_arguments :]
        for tensor, var in zip(self._captured, known):
            meta = var.meta
            if isinstance(meta, Meta) and (tensor.dtype is not meta.dtype or not _fits(tensor._data.shape, meta.shape)):
                return False
        self._kinds.value = kinds
        return True

    def compared(self) -> tuple[list[Any], list[Any], Compared] | None:
        """What must be for `captured` to be what a call runs with: slots and what they hold, pairs of slots that hold
        the same, and what else is the very object that it was. None where only a look tells.
        """
        switches: list[Any] = [(tensor, "stop_gradient", True) for tensor in self._frozen]
        pairs: list[Any] = []
        same: Compared = _same.Compared()
        if self._captured:
            pairs.append(((CAPTURED_KINDS, "value"), (self._kinds, "value")))
        if self._layers is not None:
            switches.append((self._layers, "now_moved", UNMOVED))
            pairs.append(((LAYER_MODES, "value"), (self._layers, "epoch")))
        if self._guards is not None:
            found = self._guards.compared()
            if found is None:
                return None
            same = found
            if same.sees_attributes:
                pairs.append(((LAYER_ATTRIBUTES, "value"), (self._guards, "epoch")))
        return switches, pairs, same

    def _fitting(self, moved: Moved) -> Sequence[Tensor] | None:
        """The captured tensors with some exchanged; None when one is of another kind than what it stands for."""
        captured = [moved.get(id(tensor), tensor) for tensor in self._captured]
        for old, new in zip(self._captured, captured):
            same = new is old or (
                new.dtype is old.dtype and new.shape == old.shape and new.stop_gradient is old.stop_gradient
            )
            if not same:
                return None
        return None if self._is_exchanged(captured) else captured

    def _is_exchanged(self, captured: Sequence[Tensor]) -> bool:
        """Whether another tensor stands where the program is about one of its own."""
        return any(captured[i] is not self._captured[i] for i in self._pinned)

    @property
    def total_calls(self) -> int:
        """How often it ran, in built-in functions, too."""
        return self.calls + int(self.ran[0])

    @property
    def captured(self) -> Sequence[Tensor]:
        """The captured tensors as they were when the program was built."""
        return self._captured

    @property
    def does_nothing(self) -> bool:
        """Whether there is nothing to run: all that the function does was done by Python while it was traced."""
        return not (self.concrete.block.ops or self._effects or self.concrete.writes or self._flags)

    def __call__(self, tensors: Sequence[Tensor], captured: Sequence[Tensor]) -> Any:
        if self._is_one_tensor:
            self.calls += 1
            return self.segment.run([*tensors, *captured])[0]
        return self._run([*tensors, *captured] if captured else tensors, NO_ARGUMENTS)

    def _direct(self) -> Callable[[Sequence[Tensor], Sequence[Tensor]], Any]:
        """A call as a function of its own, where it is nothing but one run that gives one tensor."""
        segment = self.segment
        if segment.wrt or segment.__class__ is not CompiledSegment:
            return self.__call__

        def run(tensors: Sequence[Tensor], captured: Sequence[Tensor]) -> Tensor:
            self.calls += 1
            left = segment.left = segment.left - 1
            if not left:
                segment.due([*tensors, *captured])
            frame = [tensors[0]._data] if len(tensors) == 1 else [t._data for t in tensors]
            if captured:
                frame += [t._data for t in captured]
            return wrap(segment.forward_core.consume(frame)[0])

        return run

    def _pure(self) -> Callable[[Sequence[Tensor], Sequence[Tensor]], Any]:
        """A call as a function of its own, where it is nothing but one run, of which it gives what it gives."""
        segment, output = self.segment, self.concrete.output
        alone = output.leaves[0] if output.tree is LEAF else None
        build = alone.build if isinstance(alone, ForkLeaf) else None

        def run(tensors: Sequence[Tensor], captured: Sequence[Tensor]) -> Any:
            self.calls += 1
            inputs = [*tensors, *captured] if captured else tensors
            results = segment.run(inputs)
            return output.build(results, inputs) if build is None else build(results, inputs, {})

        return run

    def call(self, tensors: Sequence[Tensor], captured: Sequence[Tensor], arguments: Arguments, eager: Any) -> Any:
        """The result of a call that changes what it was given, or needs it otherwise.

        Raises UnfitError where the program cannot do to these tensors what it does.
        """
        if not all(effect.fits(arguments) for effect in self._array_writes):
            raise SharedMemoryError()
        return self._run([*tensors, *captured], arguments)

    def _overlap(self, inputs: Sequence[Tensor]) -> bool:
        """Whether changing an input in place changes another one, too: a program's inputs share nothing."""
        changed = self._changed
        if self._changed_captured:  # parameters and buffers are many: tensors made as views count changes together
            cells = [id(tensor if tensor._cell is None else tensor._cell) for tensor in inputs]
            if cells != self._cells:
                counts = Counter(cells)
                shared = [i for i in self._changed_captured if counts[cells[i]] > 1]
                self._cells = None if shared else cells
                changed = [*changed, *shared]
        if not changed:
            return False
        arrays = [tensor._data for tensor in inputs]
        return any(i != j and np.may_share_memory(arrays[i], other) for i in changed for j, other in enumerate(arrays))

    def _views_of_writes(self) -> list[tuple[Sharing, int | None]]:
        """The outputs that are views of what is written to an input, with its number, or of others of them, with None.

        The input keeps its memory, so they are made once more.
        """
        places: dict[int, int | None] = {self._n_values + k: i for k, i in enumerate(self._writes)}
        found: list[tuple[Sharing, int | None]] = []
        for sharing in self.segment.shared:
            if not sharing.is_input and sharing.index < self._n_values and sharing.base in places:
                found.append((sharing, places[sharing.base]))
                places[sharing.index] = None
        return found

    def _run(self, inputs: Sequence[Tensor], arguments: Arguments) -> Any:
        if self._is_particular:
            self._check(inputs)
        self.calls += 1
        state = default_generator().get_state() if self._draws else None
        for number, stop in self._flags:
            inputs[number].stop_gradient = stop
        printed: Counter[Any] | None = Counter() if self._prints else None
        try:
            made = None if self._joint is None else self._joint.run(inputs)
            if made is not None:
                results = made
            else:
                results = self.segment.run(inputs) if printed is None else self._counted(inputs, printed)
        except Exception as err:
            if self._leaves:
                Unfinished(self.concrete.block, state, printed).mark(err)
            raise
        if self._plain:
            return results[0]
        if not self._acts:
            return self.concrete.output.build(results, inputs, arguments, {})
        self._set_nodes(results, inputs)
        left = self._update(inputs, results) if self._updates is not None and made is None else ()
        if self._only_updates and not left:
            return results[0]
        self._write(inputs, results, left)
        return self._with_effects(inputs, results, arguments)

    def _check(self, inputs: Sequence[Tensor]) -> None:
        """Raise UnfitError where the program cannot do to these tensors what it does."""
        if self._apart and any(inputs[i] is inputs[j] for i, j in self._apart):
            raise OneTensorError()
        if self._fields and any(name in inputs[i].__dict__ for i, name in self._fields):
            raise OwnFieldError()
        if self._given_leaves and not all(_may_be_leaf(inputs[i], asked) for i, asked in self._given_leaves):
            raise GivenLeafError()
        if self._changes and self._overlap(inputs):
            raise SharedMemoryError()
        if self._taped and any(inputs[i]._is_wanted_leaf() for i in self._taped):
            raise WantedLeafError()

    def _set_nodes(self, results: Sequence[Any], inputs: Sequence[Any]) -> None:
        """Put results that cannot go back on the tape as such, and make leaves of those that are."""
        for number, node in self._spent:
            for tensor in items_of(results[number]):
                tensor._node = node
                tensor.stop_gradient = False
        for number, (error, places) in self._partly_spent.items():
            edges = [tape_edge(tensor) for i in places for tensor in items_of(inputs[i])]
            for tensor in items_of(results[number]):
                if tensor._node is not None:
                    tensor._node, tensor._index = PartlySpentNode.before(tensor, SpentNode(error, edges)), 0
        for number in self._new_leaves:
            for tensor in items_of(results[number]):
                tensor.stop_gradient = False
        for number in self._ending:
            for tensor in items_of(results[number]):
                tensor._node, tensor._index = EndNode.behind(tensor), 0

    def _write(self, inputs: Sequence[Tensor], results: list[Any], left: Sequence[tuple[int, Any]]) -> None:
        """Change the inputs in place, and the results that are views of them; left: (input, array) besides."""
        if self._writes:
            for index, value in zip(self._writes, results[self._n_values :]):
                flag = self._left_alone.get(index)
                if flag is not None and results[flag]._data:  # no path to what wants a gradient: still on no tape
                    value._node, value.stop_gradient = None, True
                _write(inputs[index], value)
            for sharing, place in self._views:
                sharing.renew(results[sharing.base] if place is None else inputs[place], results)
        for index, array in left:
            _write(inputs[index], wrap(array))

    def _with_effects(self, inputs: Sequence[Tensor], results: list[Any], arguments: Arguments) -> Any:
        """What the call gives, when Python objects have been changed as well: all of them are known before."""
        if self._gradients is not None and self._gives_one:
            if self._gradients:
                _effects.set_gradients(self._gradients, results)
            return results[0]
        shared: dict[int, Any] = {}
        output = self.concrete.output.build(results, inputs, arguments, shared)
        ready = [effect.ready(results, inputs, arguments, shared) for effect in self._effects]
        for do in ready:
            do()
        return output

    def _counted(self, inputs: Sequence[Tensor], printed: Counter[Any]) -> list[Any]:
        with scoped(PRINTED, printed):
            if not self._loggers:
                return self.segment.run(inputs)
            with _log_records.dropping_records(dict.fromkeys(self._loggers, 0), printed):
                return self.segment.run(inputs)

    def _update(self, inputs: Sequence[Tensor], results: list[Any]) -> Sequence[tuple[int, Any]]:
        """Do the updates of parameters and state; (input, array) of those that are still to be written."""
        assert self._updates is not None
        needs = [v if v.__class__ is _ndarray else _array_of(v) for v in results[self._needs]]
        del results[self._needs]  # what stands behind is counted from the end
        return self._updates.run(inputs, needs, results)
