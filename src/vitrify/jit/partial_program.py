"""PartialProgramLayer: a traced program compiled for running inside eager code, forward and backward."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..autodiff.given import backward_of_given
from ..autodiff.segment import build_backward, differentiable_backward
from ..core.meta import ListMeta
from ..core.modes import grad_enabled, scoped
from ..core.place import current_place, place_guard
from ..core.pytree import LEAF
from ..core.rng import default_generator
from ..eager.tensor import Tensor, wrap
from ..ir.dead_code import has_effect
from ..ir.program import Block, Program, Variable, position
from ..runtime.lowering import InterpreterCore, lower
from ..runtime.options import DEFAULT, ExecutionOptions
from ..runtime.warming import run_to_optimize_at
from .arguments import NO_ARGUMENTS, Arguments
from .concrete_program import ConcreteProgram
from .cones import Cone, cone_of
from .nested import arrays_of, items_of, wants_gradient, wrapped
from .reach import LayerState, Moved
from .run_program import NestedNode, SegmentNode
from .shared import find_shared
from .spent import SpentNode
from .template import OutputLeaf
from .unfinished import Unfinished
from .updates import Updates, find_updates

_grad_enabled = grad_enabled.get


@dataclass(frozen=True)
class FewerCotangents:
    """A lowered backward for some outputs; `outputs`: the number there of each gradient of the whole one, or None."""

    core: InterpreterCore
    outputs: tuple[int | None, ...]


@dataclass(frozen=True)
class DifferentiableBackward:
    """A backward as a segment of inputs and cotangents; `outputs` as in FewerCotangents."""

    segment: CompiledSegment
    outputs: tuple[int | None, ...]


class CompiledSegment:
    """A block lowered with its backward. `wrt` are the inputs that get cotangents, `seeds` the outputs that give them.

    With no `wrt` it is inference only: no residual is computed. `options` say how both run; `given` are the outputs
    that may give cotangents, by default all that can. What it runs is as it was recorded at first, and optimized once
    that pays (`runtime/warming.py`).
    """

    def __init__(
        self,
        block: Block,
        outputs: Sequence[Variable],
        wrt: Sequence[int],
        options: ExecutionOptions,
        given: Collection[int] | None = None,
    ) -> None:
        self.block = block
        self.options = options
        self.left = run_to_optimize_at(block, options)  # counts down with each run
        self._passes = self.left == 0
        self.outputs = tuple(outputs)
        backward = build_backward(block, outputs, wrt, given) if wrt else None
        self.backward = backward
        self.wrt: tuple[int, ...] = () if backward is None else backward.wrt
        self.seeds: tuple[int, ...] = () if backward is None else backward.seeds
        self._residuals: tuple[Variable, ...] = () if backward is None else backward.residuals
        self.watched = tuple(i for i in (position(block.inputs, v) for v in self._residuals) if i >= 0)
        self.n_outputs = len(self.outputs)
        self.place = current_place()
        self.forward_core = self._lower_forward()
        self._shared = find_shared(block, self.outputs)
        self._fewer: dict[tuple[int, ...], FewerCotangents | None] = {}
        self._again: dict[tuple[tuple[int, ...], bool], DifferentiableBackward | None] = {}
        self.random = any(op.op.random or has_effect(op) for op in block.ops)

    def _lower_forward(self) -> InterpreterCore:
        outputs = [*self.outputs, *self._residuals]
        return lower(self.block, outputs=outputs, place=self.place, options=self._now, label="run_program forward")

    @cached_property
    def backward_core(self) -> InterpreterCore:
        """The lowered backward program, made at the first backward."""
        assert self.backward is not None
        return lower(
            self.backward.program.global_block(), place=self.place, options=self._now, label="run_program backward"
        )

    @property
    def _now(self) -> ExecutionOptions:
        return self.options if self._passes else replace(self.options, passes=False)

    def optimize(self) -> None:
        """Optimize what runs from now on; runs that are on their way end as they began."""
        self._passes = True
        self.forward_core = self._lower_forward()
        self.__dict__.pop("backward_core", None)

    def backward_of(self, given: tuple[int, ...]) -> FewerCotangents | None:
        """The backward from these of the outputs that give a gradient; None where there is none of its own."""
        if given not in self._fewer:
            assert self.backward is not None
            found = backward_of_given(self.block, self.outputs, self.backward, [i in given for i in self.seeds])
            if found is not None:
                core = lower(found.program.global_block(), options=self.options, label="run_program backward")
                self._fewer[given] = FewerCotangents(core, found.outputs)
            else:
                self._fewer[given] = None
        return self._fewer[given]

    @cached_property
    def cones(self) -> dict[int, Cone]:
        """What a gradient passes on its way back from each output that gives one."""
        return {seed: cone_of(self.block, self.outputs[seed]) for seed in self.seeds}

    @property
    def backward_program(self) -> Program | None:
        """The backward program, or None when no gradient is wanted."""
        return None if self.backward is None else self.backward.program

    def differentiable(self, given: tuple[int, ...], further: bool = True) -> DifferentiableBackward | None:
        """The backward from these of the outputs as a segment of inputs and cotangents; None where nothing can flow.

        further: it can be differentiated again.
        """
        if (given, further) not in self._again:
            self._again[given, further] = self._backward_again(given, further)
        return self._again[given, further]

    def _backward_again(self, given: tuple[int, ...], further: bool) -> DifferentiableBackward | None:
        found = differentiable_backward(self.block, self.outputs, self.wrt, given)
        if found is None:
            return None
        block = found.program.global_block()
        wanted = [i for i, v in enumerate(block.inputs) if further and not v.stop_gradient]
        numbers = {i: n for n, i in enumerate(found.wrt)}
        with place_guard(self.place):
            segment = compile_segment(block, [v for v in block.outputs if v is not None], wanted, self.options)
        return DifferentiableBackward(segment, tuple(numbers.get(i) for i in self.wrt))

    def run(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        """The outputs as Tensors, on the tape when an input wants a gradient."""
        left = self.left = self.left - 1
        if not left:
            self.optimize()
        wants = self.wrt and _grad_enabled()
        state = default_generator().get_state() if wants and self.random else None
        results = self.forward_core.consume([t._data for t in inputs])
        n = self.n_outputs
        tensors: list[Any] = [None if a is None else wrap(a) for a in results[:n]]
        if wants:
            for index in self.wrt:
                if not inputs[index].stop_gradient:
                    node = SegmentNode(self, inputs, results[n:], tensors, state)
                    for i in self.seeds:
                        out = tensors[i]
                        if out is None:
                            continue
                        out._node = node
                        out._index = i
                        out.stop_gradient = False
                    for sharing in self._shared:
                        sharing.note(inputs, tensors)
                    break
        return tensors


class NestedSegment(CompiledSegment):
    """A segment that takes or gives lists of tensors."""

    def run(self, inputs: Sequence[Any]) -> list[Any]:
        """The outputs as Tensors and lists of Tensors, on the tape when an input wants a gradient."""
        left = self.left = self.left - 1
        if not left:
            self.optimize()
        wants = self.wrt and _grad_enabled()
        state = default_generator().get_state() if wants and self.random else None
        results = self.forward_core.consume([arrays_of(t) for t in inputs])
        n = self.n_outputs
        outputs: list[Any] = wrapped(list(results[:n]))
        if wants and wants_gradient([inputs[i] for i in self.wrt]):
            node = NestedNode(self, inputs, results[n:], outputs, state)
            for i in self.seeds:
                for tensor, number in zip(items_of(outputs[i]), items_of(node.numbers[i])):
                    if tensor is None:
                        continue
                    tensor._node = node
                    tensor._index = number
                    tensor.stop_gradient = False
        return outputs


def compile_segment(
    block: Block,
    outputs: Sequence[Variable],
    wrt: Sequence[int],
    options: ExecutionOptions,
    given: Collection[int] | None = None,
) -> CompiledSegment:
    """The block compiled with its backward."""
    is_nested = any(isinstance(v.meta, ListMeta) for v in (*block.inputs, *outputs))
    return (NestedSegment if is_nested else CompiledSegment)(block, outputs, wrt, options, given)


def _write(tensor: Tensor, value: Tensor) -> None:
    """Let `tensor` hold `value`. Without a gradient it is what happened under no_grad: the tape stays as it is."""
    if value.stop_gradient:
        with scoped(grad_enabled, False):
            tensor._become(value)
    else:
        tensor._become(value)


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
        block = concrete.block
        outputs = [v for v in block.outputs if v is not None]
        writes = concrete.writes
        self._n_values = len(concrete.outputs)
        seen = [*concrete.outputs, *outputs[self._n_values + len(writes) :]]
        found = find_updates(block, seen, writes)
        self._updates = None if found is None else Updates(block, found)
        self._needs = slice(0, 0)
        if found is not None:
            late = {i for i, _ in found.writes}
            writes = [(i, v) for i, v in writes if i not in late]
            first = self._n_values + len(writes)
            self._needs = slice(first, first + len(found.needs))
            outputs = [*concrete.outputs, *[v for _, v in writes], *found.needs, *seen[self._n_values :]]
        stops = [v.stop_gradient for v in block.inputs] if stops is None else stops
        wrt = [i for i, stop in enumerate(stops) if not stop] if _grad_enabled() else []
        given = None if not concrete.spent else [i for i in range(self._n_values) if i not in concrete.spent]
        self.segment = compile_segment(block, outputs, wrt, options, given)
        self._captured = concrete.captured
        self._spent = tuple(concrete.spent) if _grad_enabled() else ()
        self._pinned = concrete.pinned
        self._writes = [i for i, _ in writes]
        self._effects = concrete.effects
        self._draws = self.segment.random and bool(self._writes or self._effects or self._updates)
        self.calls = 0
        changed = {i for i, _ in concrete.writes if i < concrete.n_arguments}
        self._changed = sorted(changed)
        # Whether a call needs no more than its tensors: it changes neither their content nor containers it was given.
        needed = concrete.output.needs_arguments or any(effect.needs_arguments for effect in self._effects)
        self.is_plain_call = not (changed or needed)
        # One tensor goes out and nothing else happens: by far the most common function.
        output = concrete.output
        acts = self._writes or self._effects or self._updates or self._spent
        self._plain = not acts and output.tree is LEAF and output.leaves == [OutputLeaf(0)]
        self._is_one_tensor = self._plain and not concrete.leaves_undone
        self.direct = self._direct() if self._is_one_tensor else self.__call__
        inputs = block.inputs[concrete.n_arguments :]
        # Captured tensors that get no cotangent here: thawed, they would need another program.
        self._frozen = [t for t, v in zip(concrete.captured, inputs) if v.stop_gradient] if _grad_enabled() else []

        sees_layers = layers is not None and bool(layers.flags)
        self._depends_on_nothing = not (self._frozen or sees_layers or self._guards)
        self.depends_on_nothing = self._depends_on_nothing and not self._captured

    def current_inputs(self) -> Sequence[Tensor] | None:
        """The captured tensors to run with; None when something changed that the program was built on."""
        if self._depends_on_nothing:
            return self._captured
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
            if exchanged:
                captured = [exchanged.get(slot, tensor) for slot, tensor in enumerate(captured)]
                if self._pinned and self._is_exchanged(captured):
                    return None
        return captured

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
    def captured(self) -> Sequence[Tensor]:
        """The captured tensors as they were when the program was built."""
        return self._captured

    @property
    def does_nothing(self) -> bool:
        """Whether there is nothing to run: all that the function does was done by Python while it was traced."""
        return not self.concrete.block.ops and not self._effects and not self.concrete.writes

    def __call__(self, tensors: Sequence[Tensor], captured: Sequence[Tensor]) -> Any:
        if self._is_one_tensor:
            self.calls += 1
            return self.segment.run([*tensors, *captured])[0]
        return self._run([*tensors, *captured], NO_ARGUMENTS)

    def _direct(self) -> Callable[[Sequence[Tensor], Sequence[Tensor]], Any]:
        """A call as a function of its own, where it is nothing but one run that gives one tensor."""
        segment = self.segment
        if segment.wrt or segment.__class__ is not CompiledSegment:
            return self.__call__

        def run(tensors: Sequence[Tensor], captured: Sequence[Tensor]) -> Tensor:
            self.calls += 1
            left = segment.left = segment.left - 1
            if not left:
                segment.optimize()
            frame = [tensors[0]._data] if len(tensors) == 1 else [t._data for t in tensors]
            if captured:
                frame += [t._data for t in captured]
            return wrap(segment.forward_core.consume(frame)[0])

        return run

    def call(self, tensors: Sequence[Tensor], captured: Sequence[Tensor], arguments: Arguments, eager: Any) -> Any:
        """The result of a call that changes what it was given; `eager` runs where tensors given share memory."""
        inputs = [*tensors, *captured]
        if self._changed and self._overlap(inputs):
            return eager(*arguments[0], **arguments[1])
        return self._run(inputs, arguments)

    def _overlap(self, inputs: Sequence[Tensor]) -> bool:
        """Whether changing an argument in place changes another input, too: a program's inputs share nothing."""
        arrays = [tensor._data for tensor in inputs]
        return any(
            i != j and np.may_share_memory(arrays[i], other) for i in self._changed for j, other in enumerate(arrays)
        )

    def _run(self, inputs: Sequence[Tensor], arguments: Arguments) -> Any:
        self.calls += 1
        state = default_generator().get_state() if self._draws else None
        try:
            results = self.segment.run(inputs)
        except Exception as err:
            if self._writes or self._effects or self._updates or self.concrete.leaves_undone:
                Unfinished(self.concrete.block, state).mark(err)
            raise
        if self._plain:
            return results[0]
        for number in self._spent:
            results[number]._node = SpentNode()
            results[number].stop_gradient = False
        left = self._update(inputs, results) if self._updates is not None else ()
        if self._writes:
            for index, value in zip(self._writes, results[self._n_values :]):
                _write(inputs[index], value)
        for index, array in left:
            _write(inputs[index], wrap(array))
        shared: dict[int, Any] = {}
        output = self.concrete.output.build(results, inputs, arguments, shared)
        ready = [effect.ready(results, inputs, arguments, shared) for effect in self._effects]
        for do in ready:
            do()
        return output

    def _update(self, inputs: Sequence[Tensor], results: list[Any]) -> Sequence[tuple[int, Any]]:
        """Do the updates of parameters and state; (input, array) of those that are still to be written."""
        assert self._updates is not None
        needs = [tensor._data for tensor in results[self._needs]]
        results[self._needs] = [None] * len(needs)
        return self._updates.run(inputs, needs, results)
