"""Lowering: operators of a block become instructions over integer slots."""

from __future__ import annotations

import operator as python_operator
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..core.errors import InternalError
from ..core.meta import ListMeta, Meta
from ..ir.attributes import blocks_in, reachable_blocks
from ..ir.dead_code import live_operators
from ..ir.program import Block, Literal, Operator, Variable
from .access import HOST, RANDOM, Access
from .calls import LoweredFunction
from .inplace import find_inplace, partners
from .instruction import Frame, Instruction, make_step, pure_call
from .interpreter import InterpreterCore
from .liveness import last_uses
from .options import DEFAULT, ExecutionOptions
from .plan import TRACE, choose_mode
from .shape_reads import free_for_shapes


class Lowering:
    """Builds one InterpreterCore; `functions` holds those lowered so far, each once."""

    def __init__(
        self, block: Block, xp: Any, functions: dict[Block, LoweredFunction], options: ExecutionOptions
    ) -> None:
        self.block = block
        self.xp = xp
        self.functions = functions
        self.options = options
        self.slots: dict[Variable, int] = {}
        self.template: Frame = []
        self.none_slot: int | None = None

    def new_slot(self, value: Any = None) -> int:
        """A slot that starts with `value`."""
        self.template.append(value)
        return len(self.template) - 1

    def slot(self, value: Any) -> int:
        """The slot of an operator's input."""
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
        return self.new_slot(self.xp.asarray(value.value, value.dtype.np))

    def define(self, var: Variable) -> int:
        """The slot of a variable, made at its first definition."""
        found = self.slots.get(var)
        if found is None:
            found = self.slots[var] = self.new_slot()
        return found

    def lower(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable | None], label: str = ""
    ) -> InterpreterCore:
        """The block as a callable from arrays for `inputs` to `outputs`; profilers know its runs by the label."""
        for var in inputs:
            self.define(var)  # they take the first slots, in their order
        live = free_for_shapes(live_operators(self.block, outputs), outputs)
        accesses = [self.access(operator) for operator in live]
        out_slots = [self.slot(v) for v in outputs]
        constants = [i for i, v in enumerate(self.template) if v is not None]
        kept = {*out_slots, *constants}
        choice = choose_mode(live, accesses, self.options)
        places = find_inplace(live, accesses, choice, kept, range(len(inputs)), self.options)
        accesses = [replace(a, overwrites=(places[i],)) if i in places else a for i, a in enumerate(accesses)]
        dead = self.dead(accesses, kept, choice.mode)
        instructions = [self.instruction(*parts) for parts in zip(live, accesses, dead)]
        names = {slot: var.name for var, slot in self.slots.items()}
        return InterpreterCore(
            self.block, instructions, self.template[len(inputs) :], out_slots, choice, self.options, names,
            len(inputs), label, partial(self._again, inputs, outputs, label),
        )

    def _again(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable | None], label: str, options: ExecutionOptions
    ) -> InterpreterCore:
        """The block lowered once more, with other options."""
        return Lowering(self.block, self.xp, {}, options).lower(inputs, outputs, label)

    def dead(self, accesses: Sequence[Access], kept: Collection[int], mode: str) -> list[tuple[int, ...]]:
        """The slots that each step frees: none where the steps' order is not that of the program."""
        if mode != TRACE or self.options.gc == "none":
            return [()] * len(accesses)
        return last_uses([a.reads for a in accesses], [a.writes for a in accesses], keep=kept)

    def access(self, operator: Operator) -> Access:
        """What an operator does to slots; its outputs get theirs."""
        op = operator.op
        reads = tuple(self.slot(v) for v in operator.inputs)
        writes = tuple(self.define(v) for v in operator.outputs)
        has_blocks = any(isinstance(v, Block) for v in operator.attrs.values())
        return Access(
            reads,
            writes,
            views=reads if has_blocks else reads[:1] if op.view else (),
            shapes=frozenset(s for i, s in enumerate(reads) if op.asks_shape(i)),
            effects=effects_of(operator),
            on_host=reads if has_blocks or op.effect else reads[len(reads) - operator.ref_count :],
        )

    def instruction(self, operator: Operator, access: Access, dead: tuple[int, ...]) -> Instruction:
        """The operator with its kernel bound."""
        attrs = {k: self.callee(v) if isinstance(v, Block) else v for k, v in operator.attrs.items()}
        compute = pure_call(operator, attrs, self.xp)
        step = make_step(compute, access, dead, operator.op.multiple, partners(operator, access))
        suspends = any(getattr(callee, "suspends", False) for callee in attrs.values())
        steps = partial(operator.op.steps, self.xp, **attrs) if suspends and operator.op.steps else None
        checked = not (operator.op.elementwise or operator.op.steps or _takes_list(operator) or _all_static(operator))
        return Instruction(operator, access, dead, attrs, compute, step, checked, steps)

    def callee(self, block: Block) -> Any:
        """The lowered form of an operator's block, or of a function; one being lowered now is filled in later."""
        if not block.name:
            return self.inner(block)
        found = self.functions.get(block)
        if found is None:
            found = self.functions[block] = LoweredFunction(block.name, len(block.outputs))
            found.core = self.inner(block)
        return found

    def inner(self, block: Block) -> InterpreterCore:
        """A block that an operator of this one runs."""
        return Lowering(block, self.xp, self.functions, self.options).lower(block.inputs, block.outputs)


def effects_of(operator: Operator) -> frozenset[str]:
    """The kinds of effects that an operator has, itself or in the blocks that it runs."""
    ops = [operator.op]
    for start in blocks_in(tuple(operator.attrs.values())):
        ops += [inner.op for block in reachable_blocks(start, python_operator.attrgetter("ops")) for inner in block.ops]
    random = {RANDOM} if any(op.random for op in ops) else set()
    return frozenset(random | ({HOST} if any(op.effect for op in ops) else set()))


def _takes_list(operator: Operator) -> bool:
    return any(isinstance(v.meta, ListMeta) for v in operator.variables)


def _all_static(operator: Operator) -> bool:
    metas = [v.meta for v in operator.inputs if isinstance(v, Variable)]
    return operator.ref_count == 0 and all(isinstance(m, Meta) and m.is_static for m in metas)


def lower(
    block: Block,
    inputs: Sequence[Variable] | None = None,
    outputs: Sequence[Variable | None] | None = None,
    *,
    xp: Any = np,
    options: ExecutionOptions = DEFAULT,
    label: str = "",
) -> InterpreterCore:
    """`block` as a callable from arrays (for `inputs`, by default the block's own) to a tuple of `outputs`."""
    return Lowering(block, xp, {}, options).lower(
        block.inputs if inputs is None else inputs, block.outputs if outputs is None else outputs, label
    )


__all__ = ["InterpreterCore", "lower"]
