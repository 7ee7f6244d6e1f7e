"""A backward program for when only some outputs of the forward got a cotangent.

The others' are no zeros: where a derivative is infinite, zero times that is not a number; and what they alone would
reach costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..ir.program import Block, Program, Variable
from ..ir.regions import copy_ops
from .recompute import reading
from .segment import BackwardProgram, build_backward


@dataclass(frozen=True)
class GivenBackward:
    """A backward of fewer cotangents: it takes all residuals of the whole one. `outputs`: the number here of each
    output of the whole one, None where no gradient comes.
    """

    program: Program
    outputs: tuple[int | None, ...]


def backward_of_given(
    forward: Block, outputs: Sequence[Variable], whole: BackwardProgram, given: Sequence[bool]
) -> GivenBackward | None:
    """The backward of those of the seeds of `whole` that are `given`; None where it needs more than `whole` keeps."""
    block = Program().global_block()
    copies = {v: block.add_input(v.meta, v.name, stop_gradient=v.stop_gradient) for v in forward.inputs}
    copy_ops(forward, block, copies)
    seeds = [i for i, is_given in zip(whole.seeds, given) if is_given]
    made = build_backward(block, [copies[v] for v in outputs], whole.wrt, seeds)
    if made is None:
        return GivenBackward(Program(), (None,) * len(whole.wrt))
    kept = [copies[v] for v in whole.residuals]
    made = reading(block, made, set(kept))
    if made is None:
        return None
    inside = made.program.global_block()
    takes = dict(zip(made.residuals, inside.inputs))
    rest = [inside.create_var(v.meta, v.name) if v not in takes else takes[v] for v in kept]
    inside.inputs = [*rest, *inside.inputs[len(takes) :]]
    numbers = {i: n for n, i in enumerate(made.wrt)}
    return GivenBackward(made.program, tuple(numbers.get(i) for i in whole.wrt))
