"""Leaving out what building left behind."""

from __future__ import annotations

from .attributes import reachable_blocks
from .program import Program


def drop_unused_blocks(program: Program) -> None:
    """Take away the blocks that no operator runs (attempts given up while converting) and number the rest anew."""
    used = reachable_blocks(program.global_block(), lambda block: block.ops)
    program.blocks[:] = [block for block in program.blocks if block in used]
    for index, block in enumerate(program.blocks):
        block.index = index
