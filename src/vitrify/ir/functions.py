"""Functions of a Program: making one of a block that was recorded, and calling it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..core.modes import grad_enabled
from ..core.source import user_frames
from ..ops.calls import call_op
from .builder import Builder
from .program import AnyMeta, Block, Operator, Program, Variable


def close_function(block: Block, captured: Sequence[Variable]) -> None:
    """Let a function recorded inside a block stand by itself; `captured` become its last inputs, in this order.

    captured: variables of the enclosing block, all that the block captures among them.
    """
    inner = set(block.captures.values())
    formals = [v for v in block.inputs if v not in inner]
    block.inputs[:] = [*formals, *[block.resolve(v) for v in captured]]
    block.captures = {}
    block.parent = None


def record_call(builder: Builder, function: Block, values: Sequence[Variable], metas: Sequence[AnyMeta]) -> list[Any]:
    """The outputs, of these metas, of a call recorded in the current block; the function may still be under way."""
    stops = not grad_enabled.get() or all(v.stop_gradient for v in values)
    outs = [builder.block.create_var(m, prefix=function.name, stop_gradient=stops) for m in metas]
    locs = builder.locs if builder.locs is not None else user_frames(2)
    builder.block.append(call_op, values, outs, {"function": function}, locs)
    return outs


def calls_of(program: Program, function: Block) -> Iterator[tuple[Block, Operator]]:
    """The operators that refer to a function, each with the block that it stands in."""
    for block in program.blocks:
        for operator in block.ops:
            if any(value is function for value in operator.attrs.values()):
                yield block, operator
