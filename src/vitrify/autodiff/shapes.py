"""Residuals of which backward asks for the shape alone: forward leaves a stand-in without memory in their place."""

from __future__ import annotations

from collections.abc import Iterable

from ..core.meta import ListMeta, Meta
from ..ir.program import Block, Operator, Variable
from ..ops.control_flow import if_op
from ..ops.missing import MAY_BE_MISSING
from ..ops.sizes import stand_in_op


def leave_shapes(forward: Block, backward: Block, *, inputs: bool = False) -> None:
    """Let `backward`, built below `forward`, capture stand-ins of values whose shape is all that it asks for.

    Those are values that `forward` computes, and with `inputs` also those that it is given: then it does not matter
    what becomes of them before backward runs.
    """
    makers = _makers(forward)
    given = set(forward.inputs)
    captures: dict[Variable, Variable] = {}
    behind: dict[Operator | None, list[Operator]] = {}
    there = {op.inputs[0]: op.outputs[0] for op in forward.ops if op.op is stand_in_op}
    needed = _needed_values(backward, backward.captures.values())
    for var, inner in backward.captures.items():
        is_there = inputs if var in given else makers.get(var) is not None
        if not is_there or inner in needed or not _has_shape(var):
            captures[var] = inner
            continue
        if var in there:
            captures[there[var]] = inner
            continue
        stand_in = forward.create_var(var.meta, f"{var.name}_shape")
        captures[stand_in] = inner
        behind.setdefault(None if var in given else makers[var], []).append(_standing_in(var, stand_in))
    if behind:
        forward.ops = [*behind.pop(None, []), *(new for op in forward.ops for new in (op, *behind.get(op, ())))]
    backward.captures = captures


def shape_of(var: Variable, block: Block, inner: Variable) -> Variable:
    """A stand-in for a value that a block captures as `inner`, if its shape is all that it asks for; else the value."""
    return stand_in_op(var) if _has_shape(var) and not _needed_values(block, [inner]) else var


def _standing_in(var: Variable, stand_in: Variable) -> Operator:
    return Operator(stand_in_op, (var,), (stand_in,), {}, (), var.block.program.role)


def _has_shape(var: Variable) -> bool:
    return isinstance(var.meta, (Meta, ListMeta)) and MAY_BE_MISSING not in var.__dict__


def _makers(block: Block) -> dict[Variable, Operator | None]:
    """The operator that makes each value; None where that is not one operator."""
    found: dict[Variable, Operator | None] = {}
    for operator in block.ops:
        for var in operator.outputs:
            found[var] = None if var in found else operator
    return found


def _needed_values(block: Block, asked: Iterable[Variable]) -> set[Variable]:
    """Those of `asked` of which a block needs more than the shape."""
    return _needed(block, set(asked), {})


def _needed(block: Block, wanted: set[Variable], found: dict[Block, set[Variable]]) -> set[Variable]:
    """`_needed_values`; found: for branches met before, the inputs of which they need more."""
    needed = {v for v in block.outputs if v in wanted}
    for operator in block.ops:
        for place, value in enumerate(operator.inputs):
            if isinstance(value, Variable) and value in wanted and not _asks_shape_alone(operator, place, found):
                needed.add(value)
    return needed


def _asks_shape_alone(operator: Operator, place: int, found: dict[Block, set[Variable]]) -> bool:
    """Whether an operator asks for the shape alone of its input at `place`, or hands it to branches that do."""
    if operator.op.asks_shape(place):
        return True
    if operator.op is not if_op or place == 0:
        return False
    return not any(block.inputs[place - 1] in _needed_inputs(block, found) for block in operator.blocks.values())


def _needed_inputs(block: Block, found: dict[Block, set[Variable]]) -> set[Variable]:
    if block not in found:  # branches nest, and each input of each is asked for: looked at once, it stays linear
        found[block] = _needed(block, set(block.inputs), found)
    return found[block]
