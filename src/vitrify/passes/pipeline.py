"""The passes in their order."""

from __future__ import annotations

from ..ir.ssa import Graph, map_graphs
from .fuse import fuse


def optimized(graph: Graph) -> Graph:
    """The graph after all passes, in the graphs inside it too."""
    return map_graphs(graph, fuse)
