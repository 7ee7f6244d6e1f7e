"""Residuals of which backward asks for the shape alone: forward leaves a stand-in without memory in their place."""

from __future__ import annotations

from ..core.meta import ListMeta, Meta
from ..ir.program import Block, Operator, Variable, position
from ..ops.control_flow import if_op
from ..ops.missing import MAY_BE_MISSING
from ..ops.sizes import stand_in_op


def leave_shapes(forward: Block, backward: Block, *, inputs: bool = False) -> None:
    """Let `backward`, built below `forward`, capture stand-ins of values whose shape is all that it asks for.

    Those are values that `forward` computes, and with `inputs` also those that it is given: then it does not matter
    what becomes of them before backward runs.
    """
    captures: dict[Variable, Variable] = {}
    given = set(forward.inputs)
    for var, inner in backward.captures.items():
        at = _made_at(forward, var) if var not in given else 0 if inputs else -1
        if at < 0 or not (_has_shape(var) and _asks_shape_alone(backward, inner)):
            captures[var] = inner
            continue
        stand_in = forward.create_var(var.meta, f"{var.name}_shape")
        forward.append(stand_in_op, [var], [stand_in], {})
        forward.ops.insert(at, forward.ops.pop())
        captures[stand_in] = inner
    backward.captures = captures


def shape_of(var: Variable, block: Block, inner: Variable) -> Variable:
    """A stand-in for a value that a block captures as `inner`, if its shape is all that it asks for; else the value."""
    return stand_in_op(var) if _has_shape(var) and _asks_shape_alone(block, inner) else var


def _has_shape(var: Variable) -> bool:
    return isinstance(var.meta, (Meta, ListMeta)) and MAY_BE_MISSING not in var.__dict__


def _made_at(forward: Block, var: Variable) -> int:
    """The place behind the operator of `forward` that makes a value, -1 where that is not one operator."""
    makers = [index for index, operator in enumerate(forward.ops) if position(operator.outputs, var) >= 0]
    return makers[0] + 1 if len(makers) == 1 else -1


def _asks_shape_alone(block: Block, var: Variable) -> bool:
    if position(block.outputs, var) >= 0:
        return False
    return all(
        operator.op.asks_shape(place) or _branches_ask_shape(operator, place)
        for operator in block.ops
        for place, value in enumerate(operator.inputs)
        if value is var
    )


def _branches_ask_shape(operator: Operator, place: int) -> bool:
    """Whether an `if` asks for the shape alone of what it hands to its branches at `place`."""
    if operator.op is not if_op or place == 0:
        return False
    return all(_asks_shape_alone(block, block.inputs[place - 1]) for block in operator.blocks.values())
