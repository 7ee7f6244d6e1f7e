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
    op = operator.op
    if op.view and op.work is None:
        return LAUNCH
    metas = [None if v is None else _sized(v.meta) for v in operator.inputs]
    moved = 0
    if not op.view:
        for meta in (*metas, *[_sized(v.meta) for v in operator.outputs]):
            if isinstance(meta, Meta):
                moved += numel(meta.shape) * meta.dtype.np.itemsize
    return LAUNCH + moved * PER_BYTE + arithmetic(op, metas, operator.attrs) * PER_ARITHMETIC


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
