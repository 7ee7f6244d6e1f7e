"""Leaving out what building left behind."""

from __future__ import annotations

from .attributes import blocks_in
from .program import Block, Program


def drop_unused_blocks(program: Program) -> None:
    """Take away the blocks that no operator runs (attempts given up while converting) and number the rest anew."""
    used: set[Block] = set()
    waiting = [program.global_block()]
    while waiting:
        block = waiting.pop()
        if block not in used:
            used.add(block)
            waiting += [b for operator in block.ops for b in blocks_in(tuple(operator.attrs.values()))]
    program.blocks[:] = [block for block in program.blocks if block in used]
    for index, block in enumerate(program.blocks):
        block.index = index
