"""Numbering the nodes of a sampled graph anew, from 0. Source: paddle.geometric.reindex_graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.errors import ShapeError
from ..core.outside import outside_programs
from ..eager.tensor import Tensor, to_tensor

Graph = tuple[Tensor, Tensor, Tensor]


def reindex_graph(
    x: Any, neighbors: Any, count: Any, value_buffer: Any = None, index_buffer: Any = None, name: str | None = None
) -> Graph:
    """The edges of a sampled graph in new numbers, and the old number of each new one.

    x: [n] different nodes, which become 0 to n - 1; neighbors: [edges], those of x[0] first; count: [n], how many each
    has. Gives the new numbers of `neighbors`, those of the nodes that each belongs to, and [nodes] the old numbers: x,
    then its neighbors as they come. neighbors and count may be those of several graphs of the same nodes, joined.
    The buffers are Paddle's for GPUs and are not used. Raises ShapeError where count does not add up. It is work of the
    host, outside of programs. Source: paddle.geometric.reindex_graph.

    Example:
        >>> import vitrify as paddle
        >>> nodes, neighbors = paddle.to_tensor([0, 1]), paddle.to_tensor([8, 0, 8])
        >>> [found.tolist() for found in paddle.geometric.reindex_graph(nodes, neighbors, paddle.to_tensor([1, 2]))]
        [[2, 0, 2], [0, 1, 1], [0, 1, 8]]
    """
    return _reindexed("reindex_graph", x, [neighbors], [count])


def reindex_heter_graph(
    x: Any, neighbors: Sequence[Any], count: Sequence[Any], value_buffer: Any = None, index_buffer: Any = None,
    name: str | None = None,
) -> Graph:  # fmt: skip
    """`reindex_graph` of several graphs with the same nodes x, one behind the other.

    neighbors, count: one of each a graph. Source: paddle.geometric.reindex_heter_graph.

    Example:
        >>> import vitrify as paddle
        >>> nodes, one = paddle.to_tensor([0, 1]), paddle.to_tensor([8, 0])
        >>> count = paddle.to_tensor([1, 1])
        >>> [v.tolist() for v in paddle.geometric.reindex_heter_graph(nodes, [one, one + 1], [count, count])]
        [[2, 0, 3, 1], [0, 1, 0, 1], [0, 1, 8, 9]]
    """
    return _reindexed("reindex_heter_graph", x, neighbors, count)


def _reindexed(op: str, x: Any, neighbors: Sequence[Any], count: Sequence[Any]) -> Graph:
    outside_programs(op)
    nodes, given, counts = x.numpy(), [v.numpy() for v in neighbors], [v.numpy() for v in count]
    for found, each in zip(given, counts, strict=True):
        if each.ndim != 1 or each.size % max(nodes.size, 1) or each.sum() != found.size:
            raise ShapeError(f"{op}: {nodes.size} nodes with {each.tolist()} neighbors, but {found.size} are given")
    numbers = {node: number for number, node in enumerate(nodes.tolist())}
    sources = [numbers.setdefault(node, len(numbers)) for found in given for node in found.tolist()]
    ends = np.concatenate([np.repeat(np.arange(each.size) % nodes.size, each) for each in counts])
    made = (np.array(sources), ends, np.array([*numbers]))
    first, second, third = (to_tensor(v.astype(nodes.dtype)) for v in made)
    return first, second, third


__all__ = ["reindex_graph", "reindex_heter_graph"]
