"""How long an instruction will take, roughly: enough to tell small from large and to choose a schedule."""

from __future__ import annotations

from ..core.meta import Meta, numel
from ..ir import sizes
from ..ir.program import Operator, Variable
from ..ops.sizes import stand_in_op
from ..ops.work import arithmetic

LAUNCH = 1e-6
PER_ARITHMETIC = 1e-10  # seconds: ten billion a second on one core
PER_BYTE = 2e-10


def seconds(operator: Operator) -> float:
    """An estimate for one core; a dimension of unknown size counts as 32."""
    metas = [_sized(v.meta) if hasattr(v, "meta") else None for v in operator.inputs]
    outputs = [_sized(v.meta) for v in operator.outputs]
    moved = sum(numel(m.shape) * m.dtype.np.itemsize for m in (*metas, *outputs) if isinstance(m, Meta))
    work = arithmetic(operator.op, metas, operator.attrs)
    moved = 0 if operator.op.view else moved
    return LAUNCH + moved * PER_BYTE + work * PER_ARITHMETIC


def _sized(meta: object) -> object:
    return sizes.sized(meta) if isinstance(meta, Meta) else meta


def bytes_of(value: object) -> int:
    """The size of a variable's buffer; 0 where it is not one array."""
    return sizes.bytes_of(value.meta) if isinstance(value, Variable) else 0


def allocated(operator: Operator) -> tuple[int, ...]:
    """How many bytes its kernel allocates for each output: none for views and for what has a shape alone."""
    if operator.op.view or operator.op is stand_in_op:
        return (0,) * len(operator.outputs)
    return tuple(map(bytes_of, operator.outputs))
