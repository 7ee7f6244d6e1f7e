"""From Blocks to Graphs and back.

Variables that a program may write more than once (those of scopes) are one value after each write in a Graph; what is
read is the last one. Names, user frames, roles and name scopes come along in both directions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.errors import InternalError
from .attributes import is_block, mapped
from .dead_code import live_operators
from .program import Block, Operator, Program, Variable
from .ssa import Function, Graph, Op, Value


def graph_of(
    block: Block, inputs: Sequence[Variable] | None = None, outputs: Sequence[Variable | None] | None = None,
    *, pruned: bool = True,
) -> Graph:  # fmt: skip
    """The block as a Graph from `inputs` to `outputs`, by default its own.

    pruned: without operators that nothing needs. Raises InternalError for a variable that is read before
    it is defined.
    """
    inputs = block.inputs if inputs is None else inputs
    return _Reader(pruned).graph(block, inputs, block.outputs if outputs is None else outputs)


def block_of(graph: Graph) -> Block:
    """The graph as block 0 of a new Program."""
    program = Program()
    _Writer(program).fill(program.global_block(), graph)
    return program.global_block()


class _Reader:
    def __init__(self, pruned: bool) -> None:
        self.pruned = pruned
        self.functions: dict[Block, Function] = {}

    def graph(self, block: Block, inputs: Sequence[Variable], outputs: Sequence[Variable | None]) -> Graph:
        values = {var: Value(var.meta, var.name) for var in inputs}
        given = tuple(values.values())
        live = live_operators(block, outputs) if self.pruned else block.ops
        ops = tuple([self.op(operator, values) for operator in live])
        return Graph(given, tuple([None if v is None else _found(v, values) for v in outputs]), ops)

    def op(self, operator: Operator, values: dict[Variable, Value]) -> Op:
        inputs = tuple([_found(v, values) if isinstance(v, Variable) else v for v in operator.inputs])
        outputs = []
        for var in operator.outputs:
            made = values[var] = Value(var.meta, var.name)
            outputs.append(made)
        attrs = {name: mapped(self.attribute, value) for name, value in operator.attrs.items()}
        return Op(operator.op, inputs, tuple(outputs), attrs, operator.locs, operator.role, operator.name_scope)

    def attribute(self, value: Any) -> Any:
        if not is_block(value):
            return value
        if not value.name:
            return self.graph(value, value.inputs, value.outputs)
        found = self.functions.get(value)
        if found is None:
            found = self.functions[value] = Function(value.name)
            found.graph = self.graph(value, value.inputs, value.outputs)
        return found


def _found(var: Variable, values: Mapping[Variable, Value]) -> Value:
    value = values.get(var)
    if value is None:
        raise InternalError(f"variable {var.name} is used before it is defined in block {var.block.index}")
    return value


class _Writer:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.functions: dict[Function, Block] = {}

    def fill(self, block: Block, graph: Graph) -> None:
        scope = _Names(block)
        inputs = [scope.define(v) for v in graph.inputs]
        ops = [self.operator(op, scope, block) for op in graph.ops]
        block.vars = scope.named
        block.inputs = inputs
        block.ops = ops
        block.outputs = [None if v is None else scope.variables[v] for v in graph.outputs]

    def operator(self, op: Op, scope: _Names, block: Block) -> Operator:
        known = scope.variables
        inputs = tuple([known[v] if type(v) is Value else v for v in op.inputs])
        attrs = {name: mapped(lambda v: self.attribute(v, block), value) for name, value in op.attrs.items()}
        outputs = tuple([scope.define(v) for v in op.outputs])
        operator = Operator(op.op, inputs, outputs, attrs, op.locs, op.role)
        operator.name_scope = op.name_scope
        return operator

    def attribute(self, value: Any, block: Block) -> Any:
        if type(value) is Graph:
            inner = self.program.create_block(block)
            self.fill(inner, value)
            return inner
        if type(value) is not Function:
            return value
        found = self.functions.get(value)
        if found is None:
            found = self.functions[value] = self.program.create_block(None)
            found.name = value.name
            self.fill(found, value.graph)
        return found


class _Names:
    """The variables of one new block, each with a name of its own."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.variables: dict[Value, Variable] = {}
        self.named: dict[str, Variable] = {}

    def define(self, value: Value) -> Variable:
        name = value.name or "tmp"
        if name in self.named:
            name = next(n for n in (f"{name}.{i}" for i in range(1, len(self.named) + 2)) if n not in self.named)
        var = Variable(self.block, name, value.meta)
        self.variables[value] = self.named[name] = var
        return var


__all__ = ["block_of", "graph_of"]
