"""Lowering: operators of a block become instructions over integer slots."""

from __future__ import annotations

import operator as python_operator
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..core.errors import InternalError
from ..core.lazy import lazy_module
from ..core.meta import ListMeta, Meta
from ..core.place import CPUPlace, Place
from ..device.api import namespace_at, on_device
from ..ir.attributes import blocks_of, reachable_blocks
from ..ir.dead_code import live_operators
from ..ir.program import Block, Literal, Operator, Variable
from ..ir.ssa_blocks import block_of, graph_of
from ..ops.fused import fused_op
from .access import HOST, RAISES, RANDOM, Access
from .calls import LoweredFunction
from .capacity import too_large
from .fused import LoweredLater, runner
from .inplace import find_handed, find_inplace, find_taken, partners
from .instruction import Frame, Instruction, make_step, pure_call, step_taking
from .interpreter import InterpreterCore, Surroundings
from .liveness import last_uses
from .options import ALLOW, DEFAULT, FORCE, NEVER, OFF, ExecutionOptions
from .plan import STREAMS, TRACE, Choice, choose_mode
from .shape_reads import free_for_shapes
from .sharing import may_share
from .transfers import Transfers, deciding_blocks, read_by_host
from .whole import Whole

_CPU = CPUPlace()
_captured = lazy_module("vitrify.runtime.captured")  # graphs are of devices
_pipeline = lazy_module("vitrify.passes.pipeline")  # a program runs as it was recorded first


class Lowering:
    """Builds one InterpreterCore; `functions` holds those lowered so far, each once."""

    def __init__(
        self,
        block: Block,
        place: Place,
        functions: dict[Block, LoweredFunction],
        options: ExecutionOptions,
        source: _Source | None = None,
    ) -> None:
        self.block = block
        self.place = place
        self.xp = namespace_at(place)
        self.functions = functions
        self.options = options
        self.source = source
        self.slots: dict[Variable, int] = {}
        self.template: Frame = []
        self.none_slot: int | None = None
        # Whether an operator so far has an effect on the host, such as the check that lets later ones not fail.
        self.is_guarded = False
        # Whether values are copied between host and device, and which constants are for the host.
        self.is_away = not place.is_cpu_place() or (options.mode == STREAMS and not options.serial)
        self.host_constants: set[int] = set()

    def new_slot(self, value: Any = None) -> int:
        """A slot that starts with `value`."""
        self.template.append(value)
        return len(self.template) - 1

    def slot(self, value: Any, on_host: bool = False) -> int:
        """The slot of an operator's input; a constant for the host stays there."""
        if isinstance(value, Variable):
            found = self.slots.get(value)
            if found is None:
                raise InternalError(f"variable {value.name} is used before it is defined in block {self.block.index}")
            return found
        if value is None:
            if self.none_slot is None:
                self.none_slot = self.new_slot()
            return self.none_slot
        assert isinstance(value, Literal)
        if not on_host:
            return self.new_slot(self.xp.asarray(value.value, value.dtype.np))
        found = self.new_slot(np.asarray(value.value, value.dtype.np))
        self.host_constants.add(found)
        return found

    def define(self, var: Variable) -> int:
        """The slot of a variable, made at its first definition."""
        found = self.slots.get(var)
        if found is None:
            found = self.slots[var] = self.new_slot()
        return found

    def lower(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable | None], label: str = "",
        on_host: Collection[int] = (),
    ) -> InterpreterCore:  # fmt: skip
        """The block as a callable from arrays for `inputs` to `outputs`; those numbered `on_host` are the host's.

        Profilers know its runs by the label.
        """
        for var in inputs:
            self.define(var)  # they take the first slots, in their order
        recorded = live_operators(self.block, outputs)
        live = free_for_shapes(recorded, outputs)
        source = self.source
        again = partial(self._again, inputs, outputs, label, on_host) if source is None else source.lowered
        if self.is_away:
            live, outputs = Transfers(self.block, self.place.kind).inserted(live, outputs, on_host)
        accesses = [self.access(operator) for operator in live]
        out_slots = [self.slot(v) for v in outputs]
        constants = [i for i, v in enumerate(self.template) if v is not None]
        kept = {*out_slots, *constants}
        choice = self.choice(live, accesses, inputs)
        places = find_inplace(live, accesses, choice, kept, range(len(inputs)), self.options)
        accesses = [replace(a, overwrites=(places[i],)) if i in places else a for i, a in enumerate(accesses)]
        dead = self.dead(accesses, kept, choice.mode)
        handed = find_handed(live, accesses, choice, kept)
        taken = find_taken(live, accesses, choice, kept)
        instructions = [self.instruction(*parts) for parts in zip(live, accesses, dead, handed, taken)]
        names = {slot: var.name for var, slot in self.slots.items()}
        program = inputs, recorded, outputs, choice, self.options
        is_host = self.place.is_cpu_place()
        whole = Whole.of(*program) if is_host else None
        return InterpreterCore(
            self.block,
            instructions,
            self.template[len(inputs) :],
            out_slots,
            choice,
            self.options,
            names,
            Surroundings(self.place, len(inputs), frozenset(self.host_constants), frozenset(on_host)),
            label,
            again,
            source is not None and source.block is not self.block,
            whole,
            Whole.of_little(*program) if is_host and whole is None else None,
        )

    def _again(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable | None], label: str, on_host: Collection[int],
        options: ExecutionOptions,
    ) -> InterpreterCore:  # fmt: skip
        """The block lowered once more, with other options."""
        with on_device(self.place):
            return Lowering(self.block, self.place, {}, options).lower(inputs, outputs, label, on_host)

    def choice(self, live: Sequence[Operator], accesses: Sequence[Access], inputs: Sequence[Variable]) -> Choice:
        """How the instructions will run, and whether as a graph of the device."""
        found = choose_mode(live, accesses, self.options, self.place)
        if self.options.graph == OFF or (self.options.graph == ALLOW and not self.is_away):
            return found
        why = _captured.refusal(live, inputs) if not self.place.is_cpu_place() else "the CPU has no graphs"
        if not why:
            return replace(found, captured=True, reason=f"{found.reason}; as a graph from the second run on")
        if self.options.graph == FORCE:
            raise _captured.demanded(why, live)
        return replace(found, reason=f"{found.reason}; no graph, for {why}")

    def dead(self, accesses: Sequence[Access], kept: Collection[int], mode: str) -> list[tuple[int, ...]]:
        """The slots that each step frees: none where the steps' order is not that of the program."""
        if mode != TRACE or self.options.gc == "none":
            return [()] * len(accesses)
        return last_uses([a.reads for a in accesses], [a.writes for a in accesses], keep=kept)

    def access(self, operator: Operator) -> Access:
        """What an operator does to slots; its outputs get theirs."""
        op = operator.op
        on_host = read_by_host(operator) if self.is_away else frozenset()
        reads = tuple([self.slot(v, i in on_host) for i, v in enumerate(operator.inputs)])
        writes = tuple(map(self.define, operator.outputs))
        effects = effects_of(operator)
        if self.is_guarded and not _all_static(operator):
            effects |= {RAISES}
        self.is_guarded = self.is_guarded or HOST in effects
        return Access(
            reads,
            writes,
            views=tuple([reads[i] for i in may_share(operator)]),
            shapes=frozenset([s for i, s in enumerate(reads) if op.asks_shape(i)] if op.shape_only else ()),
            effects=effects,
            on_host=tuple([reads[i] for i in sorted(on_host)]),
        )

    def instruction(
        self, operator: Operator, access: Access, dead: tuple[int, ...], handed: tuple[int, ...],
        taken: tuple[int, ...],
    ) -> Instruction:  # fmt: skip
        """The operator with its kernel bound."""
        decides = deciding_blocks(operator) if self.is_away else ()
        of_group = operator.op is fused_op
        attrs = {
            k: self.callee(v, v in decides, of_group) if isinstance(v, Block) else v for k, v in operator.attrs.items()
        }
        compute = pure_call(operator, attrs, np if operator.op.on_host else self.xp)
        if of_group:
            run = runner(operator.attrs["body"], attrs["body"], self.options)
            step = step_taking(run, access, dead, taken)
        else:
            step = make_step(compute, access, dead, operator.op.multiple, partners(operator, access), handed)
        suspends = any(getattr(callee, "suspends", False) for callee in attrs.values())
        steps = partial(operator.op.steps, self.xp, **attrs) if suspends and operator.op.steps else None
        op = operator.op
        checks_itself = op.elementwise or op.scalar or op.steps or op.passes or op is fused_op
        checked = not (checks_itself or _takes_list(operator) or _all_static(operator))
        return Instruction(operator, access, dead, attrs, compute, step, checked, steps, handed)

    def callee(self, block: Block, decides: bool = False, of_group: bool = False) -> Any:
        """The lowered form of an operator's block, or of a function; one being lowered now is filled in later.

        The host reads the first output of a block that `decides`.
        """
        if of_group:
            return LoweredLater(lambda: self.group(block))
        if not block.name:
            return self.inner(block, (0,) if decides else ())
        found = self.functions.get(block)
        if found is None:
            found = self.functions[block] = LoweredFunction(block.name, len(block.outputs))
            found.core = self.inner(block)
        return found

    def inner(self, block: Block, on_host: Collection[int] = ()) -> InterpreterCore:
        """A block that an operator of this one runs."""
        options = self.options if self.options.graph == OFF else replace(self.options, graph=OFF)  # of whole programs
        lowering = Lowering(block, self.place, self.functions, options)
        return lowering.lower(block.inputs, block.outputs, on_host=on_host)

    def group(self, block: Block) -> InterpreterCore:
        """The operators of a group, which is compiled by itself."""
        options = replace(self.options, graph=OFF, native=NEVER)
        with on_device(self.place):
            return Lowering(block, self.place, {}, options).lower(block.inputs, block.outputs)


def effects_of(operator: Operator) -> frozenset[str]:
    """The kinds of effects that an operator has, itself or in the blocks that it runs."""
    ops = [operator.op]
    for start in blocks_of(operator.attrs):
        ops += [inner.op for block in reachable_blocks(start, python_operator.attrgetter("ops")) for inner in block.ops]
    found = set()
    for op in ops:
        if op.random:
            found.add(RANDOM)
        if op.effect:
            found |= {HOST, RAISES}
        elif op.raises:
            found.add(RAISES)
    return frozenset(found)


def _takes_list(operator: Operator) -> bool:
    return any(isinstance(v.meta, ListMeta) for v in operator.variables)


def _all_static(operator: Operator) -> bool:
    """Whether its meta rule has seen already all that could be wrong with its inputs."""
    metas = [v.meta for v in operator.inputs if isinstance(v, Variable)]
    return operator.ref_count == 0 and all(isinstance(m, Meta) and m.is_static for m in metas)


def lower(
    block: Block,
    inputs: Sequence[Variable] | None = None,
    outputs: Sequence[Variable | None] | None = None,
    *,
    place: Place = _CPU,
    options: ExecutionOptions = DEFAULT,
    label: str = "",
) -> InterpreterCore:
    """`block` as a callable from arrays (for `inputs`, by default the block's own) to a tuple of `outputs`.

    place: where it computes. What it is given may lie there or on the host; what it gives lies there, or on the host
    for a simulated device.
    """
    if place.is_cuda_pinned_place():
        place = _CPU
    inputs = block.inputs if inputs is None else inputs
    outputs = block.outputs if outputs is None else outputs
    return _Source(block, inputs, outputs, place, label).lowered(options)


@dataclass(frozen=True, eq=False)
class _Source:
    """What a core is lowered from, to lower it again when flags ask for another form."""

    block: Block
    inputs: Sequence[Variable]
    outputs: Sequence[Variable | None]
    place: Place
    label: str

    def lowered(self, options: ExecutionOptions) -> InterpreterCore:
        """The block lowered with these options."""
        block, inputs, outputs = self.block, self.inputs, self.outputs
        if options.passes and self.place.is_cpu_place() and (options.mode != STREAMS or options.serial):
            recorded = graph_of(block, inputs, outputs)
            graph = _pipeline.optimized(recorded, self.label, options.fast_math)
            if graph is not recorded:
                block = block_of(graph)
                inputs, outputs = block.inputs, block.outputs
        with on_device(self.place):
            core = Lowering(block, self.place, {}, options, self).lower(inputs, outputs, self.label)
        err = too_large(core) if self.place.is_cpu_place() else None
        if err is not None:
            core.refuse(err)
        return core


__all__ = ["InterpreterCore", "lower"]
