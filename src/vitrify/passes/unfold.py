"""Operators that go over arrays with one number a channel, written in simpler ones: a group then takes in the rest.

What is computed of the numbers alone stays beside the group.
"""

from __future__ import annotations

from ..ir.decompose import expanded
from ..ir.ssa import Graph
from ..ops.batch_norm import batch_norm_infer_op

_UNFOLDED = (batch_norm_infer_op,)


def unfolded(graph: Graph) -> Graph:
    """The graph with these operators in their simpler form, which gives the same to the bit."""
    return expanded(graph, _UNFOLDED) if any(op.op in _UNFOLDED for op in graph.ops) else graph
