"""Closing blocks over the values they capture: explicit inputs for operators with blocks, and copying blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from .program import Block, Operator, Variable, pass_mark
from .variable import AnyMeta


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


@contextmanager
def capturing_late(operator: Operator) -> Iterator[None]:
    """Give an operator that was recorded before, as further inputs, what is captured inside by its blocks."""
    blocks = list(operator.blocks.values())
    counts = [len(block.captures) for block in blocks]
    yield
    late = list(dict.fromkeys(v for b, count in zip(blocks, counts) for v in list(b.captures)[count:]))
    if not late:
        return
    for block in blocks:
        inner = {block.resolve(var): None for var in late}
        block.inputs[:] = [*[v for v in block.inputs if v not in inner], *inner]
    operator.inputs = (*operator.inputs, *late)


def add_branch_output(operator: Operator, ends: Sequence[Variable]) -> Variable:
    """A further output of an `if` that was recorded before; `ends` are its values at the end of each branch."""
    for block, end in zip(operator.blocks.values(), ends, strict=True):
        block.outputs.append(end)
    out = operator.outputs[0].block.create_var(ends[0].meta, prefix=operator.op.name)
    operator.outputs = (*operator.outputs, out)
    return out


def add_carried(operator: Operator, start: Variable) -> tuple[dict[Block, Variable], Variable]:
    """A further value carried by a `while` that was recorded before: what it is at the head of each block, and after.

    The caller still appends to the body what it is at the end of an iteration, by `end_carried`.
    """
    at = operator.attrs["n_carried"]
    heads = {block: block.create_var(start.meta, start.name) for block in operator.blocks.values()}
    for block, head in heads.items():
        block.inputs.insert(at, head)
    out = operator.outputs[0].block.create_var(start.meta, prefix=operator.op.name)
    operator.inputs = (*operator.inputs[:at], start, *operator.inputs[at:])
    return heads, out


def end_carried(operator: Operator, end: Variable, out: Variable) -> None:
    """Complete `add_carried` with the value at the end of an iteration."""
    at = operator.attrs["n_carried"]
    operator.attrs["body"].outputs.insert(at, end)
    operator.outputs = (*operator.outputs[:at], out, *operator.outputs[at:])
    operator.attrs["n_carried"] = at + 1


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
        if not operator.op.effect or effects or operator.outputs:
            copy_operator(operator, target, mapping, effects=effects, functions=functions)


def copy_operator(
    operator: Operator,
    target: Block,
    mapping: dict[Variable, Variable],
    *,
    effects: bool = True,
    functions: dict[Block, Block] | None = None,
) -> None:
    """Append a copy of one operator to `target`, as `copy_ops` does."""
    known = {} if functions is None else functions
    outputs = []
    for var in operator.outputs:
        if var not in mapping:
            mapping[var] = copy_var(var, target)
        outputs.append(mapping[var])
    inputs = tuple(mapping[v] if isinstance(v, Variable) else v for v in operator.inputs)
    attrs = {k: _copied(v, target, effects, known) if isinstance(v, Block) else v for k, v in operator.attrs.items()}
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
        mapping[var] = copy_var(var, block)
        block.inputs.append(mapping[var])
    copy_ops(source, block, mapping, effects=effects, functions=functions)
    block.outputs = [v if v is None else mapping[v] for v in source.outputs]
    return block


def copy_var(var: Variable, block: Block, meta: AnyMeta | None = None) -> Variable:
    """A variable of `block` with the name, flags and marks of `var`, and its meta, or another."""
    copy = block.create_var(
        var.meta if meta is None else meta, var.name, stop_gradient=var.stop_gradient, persistable=var.persistable
    )
    copy.__dict__.update(var.__dict__)
    return copy
