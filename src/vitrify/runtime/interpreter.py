"""The interpreter core, first form: a block lowered to instructions over integer slots, run in program order.

The interface later executors keep: `lower(block, ...)` gives a callable from input arrays to a tuple of output arrays,
with `n_outputs`. Control flow is nested callables, so a sub-block is lowered by the same function and each of its runs
has a frame (local scope) of its own. Blocks that call functions run on the stack of `runtime.calls`.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..core.errors import InternalError
from ..core.meta import ListMeta, Meta
from ..ir.dead_code import live_operators
from ..ir.program import Block, Literal, Operator, Variable
from ..ops.failure import metas_of
from .calls import LoweredFunction, run_on_stack
from .failure import explain_failure
from .instruction import Frame, Instruction, fill_refs, make_step
from .liveness import last_uses

MAX_CHECKED_SHAPES = 256


class InterpreterCore:
    """A lowered block. Calling it runs the instructions; it keeps no state between runs, so threads may share it."""

    __slots__ = (
        "_checked_shapes", "_outputs", "_rest", "_steps", "block", "instructions", "n_outputs", "suspends",
    )  # fmt: skip

    def __init__(
        self,
        block: Block,
        instructions: Sequence[Instruction],
        rest: Frame,
        outputs: Sequence[int],
    ) -> None:
        self.block = block
        self.instructions = tuple(instructions)
        self._steps = [i.step for i in instructions]
        self._rest = rest
        self._outputs = tuple(outputs)
        self.n_outputs = len(outputs)
        # Meta rules of operators with unknown sizes run once per distinct input shapes; None: all sizes known.
        self._checked_shapes: set[Any] | None = set() if any(i.checked for i in instructions) else None
        # Whether it calls functions, itself or in its blocks: then it runs step by step on a stack.
        self.suspends = any(i.steps is not None for i in instructions)

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        if self.suspends:
            return run_on_stack(self, arrays)
        frame = [*arrays, *self._rest]
        if self._checked_shapes is not None and self._is_new(arrays):
            self._run_checked(frame)
        else:
            step = None
            try:
                for step in self._steps:
                    step(frame)
            except Exception as err:
                found = self._explained(self._steps.index(step), err, frame)  # type: ignore[arg-type]
                if found is err:
                    raise  # with the cause that the user gave it
                raise found from None
        return tuple([frame[s] for s in self._outputs])

    def running(self, arrays: Sequence[Any]) -> Generator[Any, Any, tuple[Any, ...]]:
        """The same as a generator, which asks for the blocks and functions that it needs."""
        frame = [*arrays, *self._rest]
        is_new = self._checked_shapes is not None and self._is_new(arrays)
        for index, instruction in enumerate(self.instructions):
            try:
                if is_new and instruction.checked:
                    _check(instruction, frame)
                if instruction.steps is None:
                    instruction.step(frame)
                else:
                    yield from instruction.suspended(frame)
            except Exception as err:
                found = self._explained(index, err, frame)
                if found is err:
                    raise
                raise found from None
        return tuple([frame[s] for s in self._outputs])

    def _is_new(self, arrays: Sequence[Any]) -> bool:
        key = tuple([a.shape for a in arrays if a.__class__ is np.ndarray])
        checked = self._checked_shapes
        assert checked is not None
        # Shapes that keep changing (a text that grows) are not worth a check each: a failing kernel explains itself.
        if key in checked or len(checked) >= MAX_CHECKED_SHAPES:
            return False
        checked.add(key)
        return True

    def _run_checked(self, frame: Frame) -> None:
        for index, instruction in enumerate(self.instructions):
            try:
                if instruction.checked:
                    _check(instruction, frame)
                instruction.step(frame)
            except Exception as err:
                found = self._explained(index, err, frame)
                if found is err:
                    raise
                raise found from None

    def _explained(self, index: int, err: Exception, frame: Frame) -> Exception:
        instruction = self.instructions[index]
        arrays = [frame[s] for s in instruction.reads]
        n = _arity(instruction.operator)
        attrs = {k: fill_refs(v, arrays) for k, v in instruction.attrs.items()}
        return explain_failure(instruction.operator.op, arrays[:n], attrs, err, instruction.operator.locs)


def _arity(operator: Operator) -> int:
    """How many leading inputs are the op's own (the rest feed attribute Refs)."""
    op = operator.op
    if op.variadic and not op.dynamic:
        return len(operator.inputs)
    return len(operator.inputs) - operator.ref_count


def _check(instruction: Instruction, frame: Frame) -> None:
    arrays = [frame[s] for s in instruction.reads]
    n = _arity(instruction.operator)
    attrs = {k: fill_refs(v, arrays) for k, v in instruction.attrs.items()}
    instruction.operator.op.meta(*metas_of(arrays[:n]), **attrs)


class _Lowering:
    """Builds one InterpreterCore; `functions` holds those lowered so far, each once."""

    def __init__(self, block: Block, xp: Any, functions: dict[Block, LoweredFunction]) -> None:
        self.block = block
        self.xp = xp
        self.functions = functions
        self.slots: dict[Variable, int] = {}
        self.template: Frame = []
        self.none_slot: int | None = None

    def new_slot(self, value: Any = None) -> int:
        self.template.append(value)
        return len(self.template) - 1

    def slot(self, value: Any) -> int:
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
        found = self.slots.get(var)
        if found is None:
            found = self.slots[var] = self.new_slot()
        return found

    def lower(self, inputs: Sequence[Variable], outputs: Sequence[Variable | None]) -> InterpreterCore:
        for var in inputs:
            self.define(var)  # they take the first slots, in their order
        live = live_operators(self.block, outputs)
        reads = []
        writes = []
        for operator in live:
            reads.append(tuple(self.slot(v) for v in operator.inputs))
            writes.append(tuple(self.define(v) for v in operator.outputs))
        out_slots = [self.slot(v) for v in outputs]
        constants = [i for i, v in enumerate(self.template) if v is not None]
        dead = last_uses(reads, writes, keep=[*out_slots, *constants])
        instructions = [self.instruction(operator, r, w, d) for operator, r, w, d in zip(live, reads, writes, dead)]
        return InterpreterCore(self.block, instructions, self.template[len(inputs) :], out_slots)

    def instruction(
        self, operator: Operator, reads: tuple[int, ...], writes: tuple[int, ...], dead: tuple[int, ...]
    ) -> Instruction:
        attrs = {k: self.callee(v) if isinstance(v, Block) else v for k, v in operator.attrs.items()}
        step = make_step(operator, reads, writes, dead, attrs, self.xp)
        suspends = any(getattr(callee, "suspends", False) for callee in attrs.values())
        steps = partial(operator.op.steps, self.xp, **attrs) if suspends and operator.op.steps else None
        checked = not (operator.op.elementwise or operator.op.steps or _takes_list(operator) or _all_static(operator))
        return Instruction(operator, reads, writes, dead, attrs, step, checked, steps)

    def callee(self, block: Block) -> Any:
        """The lowered form of an operator's block, or of a function; one being lowered now is filled in later."""
        if not block.name:
            return _Lowering(block, self.xp, self.functions).lower(block.inputs, block.outputs)
        found = self.functions.get(block)
        if found is None:
            found = self.functions[block] = LoweredFunction(block.name, len(block.outputs))
            found.core = _Lowering(block, self.xp, self.functions).lower(block.inputs, block.outputs)
        return found


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
) -> InterpreterCore:
    """`block` as a callable from arrays (for `inputs`, by default the block's own) to a tuple of `outputs`."""
    return _Lowering(block, xp, {}).lower(
        block.inputs if inputs is None else inputs, block.outputs if outputs is None else outputs
    )


__all__ = ["InterpreterCore", "lower"]
