"""The vjp of `if`: the branch that ran is pulled back, over the values that it leaves as extra outputs."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.dead_code import prune
from ..ir.program import Block, Operator, Variable, position
from ..ir.regions import align_captures
from ..ops.control_flow import if_op
from ..ops.missing import mark_missing
from .context import Pullback, seed
from .gaps import marks_of, put_marks
from .shapes import leave_shapes


def if_vjp(rule: Pullback, operator: Operator, cts: Sequence[Variable | None]) -> list[Variable | None]:
    """A cotangent for each input of an `if` operator."""
    n_user = len(cts)
    wanted = [i for i, v in enumerate(operator.inputs[1:]) if v in rule.active]
    if not wanted:
        return [None] * len(operator.inputs)
    sides = ("then", "orelse")
    blocks = [_branch_gradient(rule, operator.attrs[s], cts[:n_user], wanted) for s in sides]
    for side, block in zip(sides, blocks):
        _leave_residuals(rule, operator, side, block)
    reached = [n for n, pair in enumerate(zip(*[block.outputs for block in blocks])) if pair != (None, None)]
    for block in blocks:
        block.outputs = [block.outputs[n] for n in reached]
    flow: list[Variable | None] = [None] * len(operator.inputs)
    if not reached:
        return flow
    outer = align_captures(blocks)
    given = [ct for ct in cts if ct is not None]
    results = if_op(operator.inputs[0], *given, *outer, then=blocks[0], orelse=blocks[1])
    for n, ct, *pair in zip(reached, results, *[block.outputs for block in blocks]):
        flow[1 + wanted[n]] = put_marks(ct, marks_of(pair))
    return flow


def _branch_gradient(rule: Pullback, forward: Block, cts: Sequence[Variable | None], wanted: Sequence[int]) -> Block:
    """A block from the cotangents of a branch's outputs to those of its wanted inputs."""
    with rule.builder.sub_block(parent=forward) as block:
        # A cotangent is shaped as what this branch gives: the other may give another number of dimensions.
        metas = [ct if out is None else out for ct, out in zip(cts, forward.outputs)]
        formals = [
            None if ct is None or like is None else block.add_input(like.meta, stop_gradient=False)
            for ct, like in zip(cts, metas)
        ]
        for formal, ct in zip(formals, cts):
            if formal is not None:
                put_marks(formal, marks_of([ct]))
        targets = [forward.inputs[i] for i in wanted]
        found = rule.pull_back(rule.builder, forward, seed(forward.outputs, formals), targets)
        block.outputs = [rule.builder.value(found[t]) if t in found else None for t in targets]
    prune(block)
    return block


def _leave_residuals(rule: Pullback, operator: Operator, side: str, block: Block) -> None:
    """Make what `block` captured from its branch visible outside: as the operator's own input, or a new output."""
    forward: Block = operator.attrs[side]
    leave_shapes(forward, block)
    captures: dict[Variable, Variable] = {}
    for var, inner in block.captures.items():
        given, left = position(forward.inputs, var), position(forward.outputs, var)
        if given >= 0:
            outer = operator.inputs[1 + given]
        elif left >= 0:
            outer = operator.outputs[left]
        else:
            other: Block = operator.attrs["orelse" if side == "then" else "then"]
            forward.outputs.append(var)
            other.outputs.append(None)
            outer = rule.new_output(operator, var.meta, var)
            mark_missing(outer)
            mark_missing(inner)
        captures[outer] = inner
    block.captures = captures
