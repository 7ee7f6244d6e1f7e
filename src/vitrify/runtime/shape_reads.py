"""Buffers that are asked for their shape only: an array without memory stands in for them, so that they can go."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.meta import Meta, numel
from ..ir.program import Operator, Variable
from ..ops.sizes import stand_in_op
from .inplace import LEAST_BYTES


def free_for_shapes(operators: Sequence[Operator], outputs: Sequence[Variable | None]) -> list[Operator]:
    """The operators, with those that ask a buffer for its shape after its last real use asking a stand-in instead.

    It is made right behind the buffer. Small buffers stay: a stand-in costs an instruction.
    """
    if not any(operator.op.shape_only for operator in operators):
        return list(operators)
    late = _asked_late(operators, outputs)
    stand_ins = {v: Variable(v.block, f"{v.name}_shape", v.meta) for v in late}
    made = {v for operator in operators for v in operator.outputs}
    found = [_made(v, new) for v, new in stand_ins.items() if v not in made]
    for operator in operators:
        found.append(_asking(operator, stand_ins))
        found += [_made(v, stand_ins[v]) for v in operator.outputs if v in stand_ins]
    return found


def _asked_late(operators: Sequence[Operator], outputs: Sequence[Variable | None]) -> list[Variable]:
    """Variables of which something asks for the shape when nothing needs their values any more."""
    needed = {v: len(operators) for v in outputs if v is not None}
    asked: dict[Variable, int] = {}
    writes: dict[Variable, int] = {}
    for index, operator in enumerate(operators):
        for place, value in enumerate(operator.inputs):
            if isinstance(value, Variable):
                (asked if operator.op.asks_shape(place) else needed)[value] = index
        for var in operator.outputs:
            writes[var] = writes.get(var, 0) + 1
            needed.setdefault(var, index)
    # What comes in and is asked for nothing but its shape is somebody else's to give up.
    late = [v for v, last in asked.items() if last > needed.get(v, last)]
    return [v for v in late if writes.get(v, 0) < 2 and _is_large(v)]


def _is_large(var: Variable) -> bool:
    meta = var.meta
    if not isinstance(meta, Meta) or var.persistable:
        return False
    return not meta.is_static or numel(meta.shape) * meta.dtype.np.itemsize >= LEAST_BYTES


def _asking(operator: Operator, stand_ins: dict[Variable, Variable]) -> Operator:
    asks = operator.op.asks_shape
    inputs = tuple(
        stand_ins[v] if isinstance(v, Variable) and v in stand_ins and asks(place) else v
        for place, v in enumerate(operator.inputs)
    )
    if all(a is b for a, b in zip(inputs, operator.inputs)):
        return operator
    return Operator(operator.op, inputs, operator.outputs, operator.attrs, operator.locs, operator.role)


def _made(var: Variable, stand_in: Variable) -> Operator:
    return Operator(stand_in_op, (var,), (stand_in,), {})
