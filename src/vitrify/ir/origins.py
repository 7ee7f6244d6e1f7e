"""What a tensor was before its `stop_gradient` was set: what made it is remembered in eager code, and so it is here.

Setting it back lets gradients flow to where they did. Where a path decided about it, the path must tell what that was.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..core.errors import UnsupportedError
from ..ops.control_flow import if_op, while_op
from .aliases import Aliases
from .operator import Operator
from .program import Block, Variable
from .regions import add_branch_output, capturing_late
from .varying import STOP_GRADIENT, differing, mark


def origin(aliases: Aliases, var: Variable) -> Variable:
    """The tensor of `var` as it was made; itself where its flag was never set, or where it was taken off the tape.

    Raises UnsupportedError where iterations of a loop exchange the tensor and set its flag.
    """
    while (base := aliases.uncut(var)) is not var:
        var = base
    operator = maker(var)
    if operator is None or operator.op not in (if_op, while_op):
        return var
    place = next(i for i, out in enumerate(operator.outputs) if out is var)
    if operator.op is while_op:
        if _is_set_inside(aliases, operator, place):
            raise UnsupportedError(
                "stop_gradient is set to False of a tensor that a loop made, which set it to True; a tensor stops the "
                "loop",
                hint="exchange the tensor for its detach() in the loop, or set stop_gradient behind it",
            )
        return var
    blocks = list(operator.blocks.values())
    ends = [end_of(block, place) for block in blocks]
    origins = [origin(aliases, end) for end in ends]
    is_same = all(found is end for found, end in zip(origins, ends))
    return var if is_same else _chosen(aliases, operator, var, origins)


def maker(var: Variable) -> Operator | None:
    """The operator of its block that made a variable; None for what enters the block."""
    return next((op for op in reversed(var.block.ops) if any(out is var for out in op.outputs)), None)


def end_of(block: Block, place: int) -> Variable:
    """What a block gives; what it merely hands on, as the block around it knows that."""
    found = block.outputs[place]
    assert found is not None
    outside = {inner: outer for outer, inner in block.captures.items()}
    while found in outside:
        found = outside[found]
        outside = {inner: outer for outer, inner in found.block.captures.items()}
    return found


def _is_set_inside(aliases: Aliases, operator: Operator, place: int) -> bool:
    """Whether an iteration ends with a tensor whose flag was set, or the loop starts from one."""
    body = operator.attrs["body"]
    if place >= operator.attrs["n_carried"]:
        return False
    end, start = end_of(body, place), operator.inputs[place]
    return any(isinstance(v, Variable) and origin(aliases, v) is not v for v in (end, start))


def _chosen(aliases: Aliases, operator: Operator, var: Variable, ends: Sequence[Variable]) -> Variable:
    """What the branches give as it was made: a further result of theirs, of which `var` is the flagged form."""
    with capturing_late(operator):
        seen = [block.resolve(end) for block, end in zip(operator.blocks.values(), ends)]
    found = add_branch_output(operator, seen)
    stops = {end.stop_gradient for end in seen}
    object.__setattr__(found, "stop_gradient", False not in stops)
    mark(found, None, differing(ends, found.meta) | (frozenset() if len(stops) == 1 else {STOP_GRADIENT}))
    if var in aliases.views:  # taken off the tape on one path
        aliases.note_cut(var, found, is_leaf=False)
    else:
        aliases.fork(found, aliases.forks.get(var, ()))
        aliases.note_cut(found, var, is_leaf=False)
    return found
