"""Dead code: operators that nothing needs, values captured for them, blocks that nothing runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .attributes import blocks_of, reachable_blocks
from .program import Block, Operator, Program, Variable


def live_operators(block: Block, outputs: Sequence[Variable | None]) -> list[Operator]:
    """The operators that reach an output, a persistable variable or an effect, in program order."""
    needed: set[Any] = {v for v in outputs if v is not None}
    live: list[Operator] = []
    for operator in reversed(block.ops):
        outs = operator.outputs
        if not needed.isdisjoint(outs) or must_run(operator) or any(v.persistable for v in outs):
            live.append(operator)
            needed.update(operator.variables)
    live.reverse()
    return live


def has_effect(operator: Operator) -> bool:
    """Whether the operator must run even if nothing reads its outputs: its own effect, or one inside its blocks.

    Random operators count, because dropping one would shift the numbers that later ones draw.
    """
    op = operator.op
    return op.effect or op.random or any(o.op.effect or o.op.random for o in _inner(operator))


def must_run(operator: Operator) -> bool:
    """Whether the operator must run even if nothing reads its outputs: for an effect, or for what it may raise."""
    op = operator.op
    if op.effect or op.random or op.raises:
        return True
    return any(o.op.effect or o.op.random or o.op.raises for o in _inner(operator))


def _inner(operator: Operator) -> Sequence[Operator]:
    """The operators inside its blocks."""
    starts = blocks_of(operator.attrs)
    if not starts:
        return ()
    return [o for block in {block for start in starts for block in _run_by(start)} for o in block.ops]


def _run_by(start: Block) -> set[Block]:
    return reachable_blocks(start, lambda block: block.ops)


def prune(block: Block) -> None:
    """Remove dead operators, captures that nothing reads any more, and the variables of both."""
    live = live_operators(block, block.outputs)
    kept = set(live)
    dead = {v for op in block.ops if op not in kept for v in op.outputs}
    block.ops[:] = live
    read = {v for op in live for v in op.variables} | {v for v in block.outputs if v is not None}
    unread = {outer: inner for outer, inner in block.captures.items() if inner not in read}
    for outer in unread:
        del block.captures[outer]
    dead |= set(unread.values())
    block.inputs[:] = [v for v in block.inputs if v not in dead]
    for var in dead:
        block.vars.pop(var.name, None)


def drop_unused_blocks(program: Program) -> None:
    """Take away the blocks that no operator runs (attempts given up while converting) and number the rest anew."""
    used = _run_by(program.global_block())
    program.blocks[:] = [block for block in program.blocks if block in used]
    for index, block in enumerate(program.blocks):
        block.index = index
