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
    has_blocks = any(isinstance(v, Block) for v in operator.attrs.values())
    if has_blocks or op.passes or _has_list(operator):
        return range(len(operator.inputs))
    return range(min(1, len(operator.inputs)) if op.view else 0)


def _has_list(operator: Operator) -> bool:
    """Whether arrays may pass through as items of a list."""
    return any(isinstance(v.meta, ListMeta) for v in (*operator.variables, *operator.outputs))
