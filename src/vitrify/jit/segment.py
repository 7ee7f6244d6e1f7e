"""Compiled segments: a block lowered with its backward, run on Tensors and put on the tape as one node."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from ..autodiff.given import backward_of_given
from ..autodiff.recompute import with_less_kept
from ..autodiff.segment import build_backward, differentiable_backward
from ..core.collecting import collection_paused
from ..core.config import ACTIVATION_BUDGET, NATIVE
from ..core.errors import UnsupportedError
from ..core.meta import ListMeta
from ..core.modes import grad_enabled
from ..core.place import current_place, place_guard
from ..core.rng import default_generator
from ..core.setting import Setting
from ..eager.host_ops import draw_op
from ..eager.tensor import Tensor, wrap
from ..ir.attributes import reachable_blocks
from ..ir.dead_code import has_effect
from ..ir.program import Block, Variable
from ..runtime.lowering import InterpreterCore, lower
from ..runtime.options import NEVER, ExecutionOptions
from ..runtime.warming import run_to_optimize_at
from .cones import Cone, cone_of
from .kept import Kept, read_by
from .nested import arrays_of, items_of, wants_gradient, wrapped
from .run_program import NestedNode, SegmentNode
from .shared import find_shared

_grad_enabled = grad_enabled.get
RIPE_AFTER: Setting[int] = Setting("ripe_after", 4096)
"""Runs of an optimized segment after which its calls are taken to be alike from then on."""


def later(inputs: Sequence[Any]) -> int:
    """The runs until this is asked again."""
    return RIPE_AFTER.get()


@dataclass(frozen=True)
class FewerCotangents:
    """A lowered backward for some outputs; `outputs`: the number there of each gradient of the whole one, or None."""

    core: InterpreterCore
    outputs: tuple[int | None, ...]


@dataclass(frozen=True)
class DifferentiableBackward:
    """A backward as a segment of inputs and cotangents, of which it needs `reads`; `outputs` as in FewerCotangents."""

    segment: CompiledSegment
    outputs: tuple[int | None, ...]
    reads: frozenset[int]


class CompiledSegment:
    """A block lowered with its backward. `wrt` are the inputs that get cotangents, `seeds` the outputs that give them.

    With no `wrt` it is inference only: no residual is computed. `options` say how both run; `given` are the outputs
    that may give cotangents, by default all that can; `overwritten`, the inputs that take these values after each run.
    What it runs is as it was recorded at first, and optimized once that pays (`runtime/warming.py`).
    `bare` are outputs that runs without gradient may give as arrays.
    """

    def __init__(
        self,
        block: Block,
        outputs: Sequence[Variable],
        wrt: Sequence[int],
        options: ExecutionOptions,
        given: Collection[int] | None = None,
        overwritten: Mapping[int, Variable] = MappingProxyType({}),
    ) -> None:
        self.block = block
        self.options = options
        self.left = run_to_optimize_at(block, options)  # counts down with each run until something is due
        self._passes = self.left == 0
        if self._passes:
            self.left = RIPE_AFTER.get()
        self.when_ripe: Callable[[Sequence[Any]], int] = later
        self.outputs = tuple(outputs)
        backward = build_backward(block, outputs, wrt, given) if wrt else None
        if backward is not None and _has_groups(options):
            backward = with_less_kept(block, outputs, backward, ACTIVATION_BUDGET.value)
        self.backward = backward
        self.wrt: tuple[int, ...] = () if backward is None else backward.wrt
        self.seeds: tuple[int, ...] = () if backward is None else backward.seeds
        self._residuals: tuple[Variable, ...] = () if backward is None else backward.residuals
        self.kept = Kept(block, self._residuals, overwritten)
        self.n_outputs = len(self.outputs)
        self.bare = range(0)
        self.place = current_place()
        self.forward_core = self._lower_forward()
        self.shared = find_shared(block, self.outputs)
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
        with collection_paused():
            self.forward_core = self._lower_forward()
        self.__dict__.pop("backward_core", None)

    def due(self, inputs: Sequence[Any]) -> None:
        """Do what was put off for so many runs: optimize, and then whatever `when_ripe` does."""
        if self._passes:
            self.left = self.when_ripe(inputs)
        else:
            self.optimize()
            self.left = RIPE_AFTER.get()

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

    def differentiable(self, given: tuple[int, ...], further: bool = True) -> DifferentiableBackward | None:
        """The backward from these of the outputs as a segment of inputs and cotangents; None where nothing can flow.

        further: it can be differentiated again.
        """
        if (given, further) not in self._again:
            self._again[given, further] = self._backward_again(given, further)
        return self._again[given, further]

    def _backward_again(self, given: tuple[int, ...], further: bool) -> DifferentiableBackward | None:
        _refuse_draws(self.block)
        found = differentiable_backward(self.block, self.outputs, self.wrt, given)
        if found is None:
            return None
        block = found.program.global_block()
        wanted = [i for i, v in enumerate(block.inputs) if further and not v.stop_gradient]
        numbers = {i: n for n, i in enumerate(found.wrt)}
        with place_guard(self.place):
            segment = compile_segment(block, [v for v in block.outputs if v is not None], wanted, self.options)
        return DifferentiableBackward(segment, tuple(numbers.get(i) for i in self.wrt), read_by(block))

    def run(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        """The outputs as Tensors, on the tape when an input wants a gradient."""
        left = self.left = self.left - 1
        if not left:
            self.due(inputs)
        if not self.wrt and not self.bare:
            arrays: Sequence[Any] = self.forward_core.consume([t._data for t in inputs])
            made: list[Any] = [None if a is None else wrap(a) for a in arrays]
            return made
        wants = self.wrt and _grad_enabled()
        state = default_generator().get_state() if wants and self.random else None
        results = self.forward_core.consume([t._data for t in inputs])
        n, bare = self.n_outputs, self.bare
        if bare and not wants:
            first, end = bare.start, bare.stop
            tensors: list[Any] = [None if a is None else wrap(a) for a in results[:first]]
            tensors += results[first:end]
            tensors += [None if a is None else wrap(a) for a in results[end:n]]
            return tensors
        tensors = [None if a is None else wrap(a) for a in results[:n]]
        if wants:
            for index in self.wrt:
                if not inputs[index].stop_gradient:
                    node = SegmentNode(self, inputs, self.kept.saved(results[n:], inputs), tensors, state)
                    for i in self.seeds:
                        out = tensors[i]
                        if out is None:
                            continue
                        out._node = node
                        out._index = i
                        out.stop_gradient = False
                    for sharing in self.shared:
                        sharing.note(inputs, tensors)
                    break
        return tensors


class NestedSegment(CompiledSegment):
    """A segment that takes or gives lists of tensors."""

    def run(self, inputs: Sequence[Any]) -> list[Any]:
        """The outputs as Tensors and lists of Tensors, on the tape when an input wants a gradient."""
        left = self.left = self.left - 1
        if not left:
            self.due(inputs)
        wants = self.wrt and _grad_enabled()
        state = default_generator().get_state() if wants and self.random else None
        results = self.forward_core.consume([arrays_of(t) for t in inputs])
        n = self.n_outputs
        outputs: list[Any] = wrapped(list(results[:n]))
        if wants and wants_gradient([inputs[i] for i in self.wrt]):
            node = NestedNode(self, inputs, self.kept.saved(results[n:], inputs), outputs, state)
            for i in self.seeds:
                for tensor, number in zip(items_of(outputs[i]), items_of(node.numbers[i])):
                    if tensor is None:
                        continue
                    tensor._node = node
                    tensor._index = number
                    tensor.stop_gradient = False
        return outputs


def _has_groups(options: ExecutionOptions) -> bool:
    """Whether operators become groups of machine code, in which recomputing costs less than reading."""
    return options.passes and options.native != NEVER and NATIVE.value


def compile_segment(
    block: Block,
    outputs: Sequence[Variable],
    wrt: Sequence[int],
    options: ExecutionOptions,
    given: Collection[int] | None = None,
    overwritten: Mapping[int, Variable] = MappingProxyType({}),
) -> CompiledSegment:
    """The block compiled with its backward."""
    is_nested = any(isinstance(v.meta, ListMeta) for v in (*block.inputs, *outputs))
    kind = NestedSegment if is_nested else CompiledSegment
    return kind(block, outputs, wrt, options, given, overwritten)


def _refuse_draws(forward: Block) -> None:
    """Raise UnsupportedError where forward draws from Python's generators: once more, it would draw other numbers."""
    for block in reachable_blocks(forward, lambda b: b.ops):
        draw = next((op for op in block.ops if op.op is draw_op), None)
        if draw is not None:
            raise UnsupportedError(
                "a gradient with create_graph=True computes a compiled function once more; this one draws "
                "random numbers of Python or NumPy, and would draw others",
                loc=draw.locs[0] if draw.locs else None,
                hint="compute the gradient inside the function, draw with tensor operations (paddle.rand, ...), or "
                "pass the numbers as arguments",
            )
