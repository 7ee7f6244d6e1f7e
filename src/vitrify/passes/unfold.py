"""Operators written in simpler ones, of which a group then takes in those that go over arrays.

What is computed of a number for each channel, or what drops dimensions of a norm, stays beside the group.
"""

from __future__ import annotations

from ..ir.decompose import expanded
from ..ir.ssa import Graph, Op
from ..ops.batch_norm import batch_norm_infer_op
from ..ops.normalization import group_norm_op, instance_norm_op, norm_grad_op
from ..ops.norms import p_norm_op

_UNFOLDED = (batch_norm_infer_op, group_norm_op, instance_norm_op, p_norm_op)


def unfolded(graph: Graph) -> Graph:
    """The graph with these operators in their simpler form."""
    return expanded(graph, _is_unfolded) if any(map(_is_unfolded, graph.ops)) else graph


def _is_unfolded(op: Op) -> bool:
    """Whether it is one of them, or the gradient of a norm whose parameters have a number for each channel."""
    of_channels = op.op is norm_grad_op and op.attrs["param_axes"] == (1,) != op.attrs["axes"]
    return op.op in _UNFOLDED or of_channels
