"""Closing blocks over the values they capture: explicit inputs for operators with blocks, and copying blocks."""

from __future__ import annotations

from collections.abc import Sequence

from .program import Block, Operator, Variable, pass_mark


def align_captures(blocks: Sequence[Block]) -> list[Variable]:
    """The outer variables that any of `blocks` captures, each once; every block gets an input for each, in that order.

    Inputs that a block had before capturing (formal parameters) stay in front.
    """
    outer: list[Variable] = list(dict.fromkeys(v for b in blocks for v in b.captures))
    for block in blocks:
        captured = set(block.captures.values())
        leading = [v for v in block.inputs if v not in captured]
        tail = []
        for var in outer:
            inner = block.captures.get(var)
            if inner is None:
                inner = block.create_var(var.meta, var.name, stop_gradient=var.stop_gradient)
                pass_mark(var, inner)
                block.captures[var] = inner
            tail.append(inner)
        block.inputs[:] = [*leading, *tail]
    return outer


def copy_ops(
    source: Block,
    target: Block,
    mapping: dict[Variable, Variable],
    *,
    effects: bool = True,
    functions: dict[Block, Block] | None = None,
) -> None:
    """Append copies of `source`'s operators to `target`; `mapping` (extended here) says what each variable becomes.

    With `effects=False`, prints and other effects are left out. Functions are copied too, unless both blocks are of one
    program; `functions` (extended here) knows the copies.
    """
    functions = {} if functions is None else functions
    for operator in source.ops:
        if operator.op.effect and not effects:
            continue
        outputs = []
        for var in operator.outputs:
            if var not in mapping:
                mapping[var] = _copy_var(var, target)
            outputs.append(mapping[var])
        inputs = tuple(mapping[v] if isinstance(v, Variable) else v for v in operator.inputs)
        attrs = {
            k: _copied(v, target, effects, functions) if isinstance(v, Block) else v for k, v in operator.attrs.items()
        }
        target.ops.append(Operator(operator.op, inputs, tuple(outputs), attrs, operator.locs))


def _copied(source: Block, target: Block, effects: bool, functions: dict[Block, Block]) -> Block:
    """The copy of an operator's block below `target`, or of a function beside it."""
    if not source.name:
        return _fill(target.program.create_block(target), source, effects, functions)
    if source.program is target.program:
        return source
    if source not in functions:
        name = target.program.function_name(source.name)
        functions[source] = target.program.create_block(None)
        functions[source].name = name
        _fill(functions[source], source, effects, functions)
    return functions[source]


def _fill(block: Block, source: Block, effects: bool, functions: dict[Block, Block]) -> Block:
    mapping: dict[Variable, Variable] = {}
    for var in source.inputs:
        mapping[var] = _copy_var(var, block)
        block.inputs.append(mapping[var])
    copy_ops(source, block, mapping, effects=effects, functions=functions)
    block.outputs = [v if v is None else mapping[v] for v in source.outputs]
    return block


def _copy_var(var: Variable, block: Block) -> Variable:
    copy = block.create_var(var.meta, var.name, stop_gradient=var.stop_gradient, persistable=var.persistable)
    copy.__dict__.update(var.__dict__)
    return copy
