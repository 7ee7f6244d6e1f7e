"""Operators written in simpler ones, of which a group then takes in those that go over arrays.

What is computed of a number for each channel, or what drops dimensions of a norm, stays beside the group.
"""

from __future__ import annotations

from ..ir.decompose import expanded
from ..ir.ssa import Graph
from ..ops.batch_norm import batch_norm_infer_op
from ..ops.normalization import group_norm_op, instance_norm_op
from ..ops.norms import p_norm_op

_UNFOLDED = (batch_norm_infer_op, group_norm_op, instance_norm_op, p_norm_op)


def unfolded(graph: Graph) -> Graph:
    """The graph with these operators in their simpler form, which gives the same to the bit."""
    return expanded(graph, _UNFOLDED) if any(op.op in _UNFOLDED for op in graph.ops) else graph
