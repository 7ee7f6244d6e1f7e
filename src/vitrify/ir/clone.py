"""Deep copies of Programs, for testing too."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from ..core.errors import ArgumentError
from ..ops.registry import Instead, get_op
from .attributes import map_blocks, reachable_blocks
from .text import FORWARD

if TYPE_CHECKING:  # `program` offers clone() as a method, so this module must not need it to be imported
    from .program import Block, Operator, Program, Variable


def clone_program(program: Program, for_test: bool = False) -> Program:
    """A deep copy with the same names and block numbers.

    for_test: operators marked as backward or optimizer are left out, as are the variables that only they make and
    the blocks that only they run; ops of training (dropout, batch_norm, ...) become what their `evaluation` says.
    """
    return _Cloner(program, for_test).clone()


def prune_program(program: Program, targets: Sequence[str], given: Sequence[str] = ()) -> Program:
    """A copy with only the operators that `targets` need when the values of `given` are there; see `Program.prune`.

    Raises ArgumentError for names that block 0 does not have.
    """
    copy = clone_program(program)
    block = copy.global_block()
    changed = program.changed_names()
    wanted = {block.var(changed.get(name, name)) for name in targets}
    known = {block.var(name) for name in given}
    needed, live = wanted - known, []
    for operator in reversed(block.ops):
        if any(v in needed for v in operator.outputs):
            live.append(operator)
            needed.update(v for v in operator.variables if v not in known)
    block.ops[:] = live[::-1]
    used = needed | wanted | known | {v for op in live for v in op.outputs}
    for var in [v for v in block.vars.values() if v not in used]:
        del block.vars[var.name]
    block.inputs[:] = [v for v in block.inputs if v in used]
    found = reachable_blocks(block, lambda block: block.ops)
    copy.blocks[:] = [block for block in copy.blocks if block in found]
    for index, inner in enumerate(copy.blocks):
        inner.index = index
    copy.host_values = {name: value for name, value in copy.host_values.items() if name in block.vars}
    return copy


def _leave_out_writes_of_the_same(block: Block) -> None:
    """Drop what writes a persistable variable into itself: the statistics of a batch norm, in evaluation."""
    copies = {get_op("assign"), get_op("detach")}
    holds: dict[Variable, Variable] = {}  # a value -> the persistable variable of which it is a copy
    kept: list[Operator] = []
    for op in block.ops:
        source = op.inputs[0] if op.op in copies and hasattr(op.inputs[0], "block") else None
        origin = None if source is None else holds.get(source, source if source.persistable else None)
        if origin is not None and op.outputs[0] is origin:
            continue
        for var in op.outputs:
            if var.persistable:  # copies made before are of its old value
                holds = {copy: of for copy, of in holds.items() if of is not var}
        if origin is not None and not op.outputs[0].persistable:
            holds[op.outputs[0]] = origin
        kept.append(op)
    if len(kept) < len(block.ops):
        block.ops[:] = _without_unread(block, kept, holds)


def _without_unread(block: Block, ops: Sequence[Operator], copies: Collection[Variable]) -> list[Operator]:
    """The operators but those whose one output is among these copies and read by none."""
    read = {v for inner in block.program.blocks for v in (*inner.captures, *inner.outputs)}
    live: list[Operator] = []
    for op in reversed(ops):
        if len(op.outputs) == 1 and op.outputs[0] in copies and op.outputs[0] not in read:
            block.vars.pop(op.outputs[0].name, None)
            continue
        read.update(op.variables)
        live.append(op)
    return live[::-1]


class _Cloner:
    def __init__(self, program: Program, for_test: bool) -> None:
        self.source = program
        self.for_test = for_test
        self.target: Program = type(program)()
        self.blocks: dict[Block, Block] = {}
        self.vars: dict[Variable, Variable] = {}

    def clone(self) -> Program:
        kept = self._kept_blocks()
        self.target.random_seed = self.source.random_seed
        self.target._names.update(self.source._names)
        for block in kept:
            self._declare(block)
        for block in kept:
            self._fill(block)
        if self.for_test:
            _leave_out_writes_of_the_same(self.target.global_block())
        self.target._changed = self.source.changed_names()
        known = self.target.global_block().vars
        self.target.host_values = {n: value for n, value in self.source.host_values.items() if n in known}
        return self.target

    def _kept_blocks(self) -> list[Block]:
        """All blocks; for_test those that an operator kept runs. Enclosing ones come first."""
        if not self.for_test:
            return self.source.blocks
        found = reachable_blocks(self.source.blocks[0], self._kept)
        return [block for block in self.source.blocks if block in found]

    def _kept(self, block: Block) -> list[Operator]:
        return [op for op in block.ops if not self.for_test or op.role == FORWARD]

    def _declare(self, block: Block) -> None:
        """The copy of a block with its variables, so that captures and outputs can refer to them."""
        if self.blocks:
            self.blocks[block] = self.target.create_block(None if block.parent is None else self.blocks[block.parent])
        else:
            self.blocks[block] = self.target.blocks[0]
        new = self.blocks[block]
        new.name = block.name
        kept = self._kept(block)
        dropped = {v for op in block.ops for v in op.outputs} - {v for op in kept for v in op.outputs}
        for name, var in block.vars.items():
            if var not in dropped or var.persistable:
                self.vars[var] = new.vars[name] = self._copy_var(var, new)

    def _copy_var(self, var: Variable, block: Block) -> Variable:
        copy = type(var)(block, var.name, var.meta, stop_gradient=var.stop_gradient, persistable=var.persistable)
        copy.__dict__.update(var.__dict__)
        return copy

    def _fill(self, block: Block) -> None:
        new = self.blocks[block]
        new.inputs = [self.vars[v] for v in block.inputs]
        new.captures = {self.vars[o]: self.vars[i] for o, i in block.captures.items() if o in self.vars}
        for op in self._kept(block):
            if self.for_test and op.op.evaluation is not None:
                self._evaluate(op, op.op.evaluation(**op.attrs), new)
            else:
                attrs = {name: map_blocks(self.blocks.__getitem__, value) for name, value in op.attrs.items()}
                outputs = [self.vars[v] for v in op.outputs]
                copy = new.append(op.op, self._inputs(op), outputs, attrs, op.locs)
                copy.role, copy.name_scope = op.role, op.name_scope
        new.outputs = [None if v is None else self.vars[v] for v in block.outputs if v is None or v in self.vars]

    def _inputs(self, op: Operator) -> list[Any]:
        for var in op.variables:
            if var not in self.vars:
                raise ArgumentError(
                    f"clone(for_test=True): {op.op.name} reads %{var.name}, which only training makes",
                    loc=op.locs[0] if op.locs else None,
                    hint="append gradients and updates under `with program.adding('backward')`",
                )
        return [self.vars[v] if hasattr(v, "block") else v for v in op.inputs]

    def _evaluate(self, op: Operator, instead: Instead, new: Block) -> None:
        """Append what stands for `op`; outputs that it does not have become inputs, or nothing.

        What takes any number of inputs is replaced by an op that takes and gives the same.
        """
        if op.op.variadic:
            new.append(instead.op, self._inputs(op), [self.vars[v] for v in op.outputs], instead.attrs, op.locs)
            return
        given = dict(zip(op.op.inputs, self._inputs(op)))
        outputs = []
        for name, var in zip(op.op.outputs, op.outputs):
            if name in instead.op.outputs:
                outputs.append(self.vars[var])
                continue
            del new.vars[self.vars.pop(var).name]
            if name in instead.unchanged:
                self.vars[var] = given[instead.unchanged[name]]
        new.append(instead.op, [given.get(name) for name in instead.inputs], outputs, instead.attrs, op.locs)
