"""Which inputs of an operator its outputs may share memory with."""

from __future__ import annotations

from ..core.meta import ListMeta
from ..ir.program import Block, Operator
from ..ops.fused import fused_op


def may_share(operator: Operator) -> range:
    """The positions of the inputs whose memory the outputs may share."""
    op = operator.op
    if op is fused_op:  # whose operators all make arrays of their own
        return range(0)
    if op.passes or _has_list(operator) or any(isinstance(v, Block) for v in operator.attrs.values()):
        return range(len(operator.inputs))
    return range(min(1, len(operator.inputs)) if op.view else 0)


def _has_list(operator: Operator) -> bool:
    """Whether arrays may pass through as items of a list."""
    metas = {type(v.meta) for values in (operator.inputs, operator.outputs) for v in values if v is not None}
    return ListMeta in metas
