"""When a program is optimized: once its runs have taken about as long as optimizing it will, like renting skis.

So the first call of a function waits for nothing but its trace, what runs a few times never waits for passes, and what
runs often or long is optimized soon. It goes by estimates, not by the clock: the same program is optimized at the same
run, on every machine and at any load.
"""

from __future__ import annotations

from math import ceil

from ..ir.attributes import blocks_of
from ..ir.program import Block
from .costs import seconds
from .options import ALWAYS, ExecutionOptions

PASSES_AN_OPERATOR = 100e-6
"""Seconds that passes and lowering once more take for each operator."""
A_RUN = 5e-6
"""Seconds that a run of an operator as it was recorded takes besides its work."""
ITERATIONS = 8
"""How often blocks inside operators are taken to run."""
NEVER = -1


def run_to_optimize_at(block: Block, options: ExecutionOptions) -> int:
    """The number of the run before which a program is optimized: 2 or more, 0: before all runs, or NEVER."""
    if not options.passes:
        return NEVER
    if options.native == ALWAYS:
        return 0
    operators, a_run = _measured(block, {})
    return max(2, ceil(operators * PASSES_AN_OPERATOR / max(a_run, 1e-9)))


def _measured(block: Block, seen: dict[Block, tuple[int, float]]) -> tuple[int, float]:
    """How many operators a block has, those of its blocks included, and the seconds that a run takes by estimate."""
    if block in seen:
        return 0, seen[block][1]
    seen[block] = (0, 0.0)  # for functions that call themselves
    count, total = len(block.ops), 0.0
    for operator in block.ops:
        total += A_RUN + seconds(operator)
        for inner in blocks_of(operator.attrs):
            more, longer = _measured(inner, seen)
            count, total = count + more, total + ITERATIONS * longer
    seen[block] = (count, total)
    return count, total
