"""Drawing neighbors of nodes from a graph. Source: paddle.geometric.sample_neighbors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.errors import ArgumentError, ShapeError
from ..core.outside import outside_programs
from ..eager.tensor import Tensor, to_tensor
from ..ops.arguments import rank_of
from ..ops.random import rand


def sample_neighbors(
    row: Any, colptr: Any, input_nodes: Any, sample_size: int = -1, eids: Any = None, return_eids: bool = False,
    perm_buffer: Any = None, name: str | None = None,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Up to sample_size neighbors of each node, each as likely as the others and none twice.

    row: [edges] where each edge comes from, ordered by where it goes; colptr: [nodes + 1] where the edges to each node
    begin in it; input_nodes: [n]. sample_size: -1 for all. Gives the neighbors, those of the first node first, and how
    many each node has, int32 [n]; with return_eids also the numbers of their edges out of eids, [edges]. perm_buffer is
    Paddle's for GPUs and not used. Raises ArgumentError where eids are wanted but not given. It is work of the host,
    outside of programs. Source: paddle.geometric.sample_neighbors.

    Example:
        >>> import vitrify as paddle
        >>> row, colptr = paddle.to_tensor([3, 7, 0]), paddle.to_tensor([0, 2, 3])
        >>> [found.tolist() for found in paddle.geometric.sample_neighbors(row, colptr, paddle.to_tensor([1, 0]))]
        [[0, 3, 7], [1, 2]]
    """
    return _sampled("sample_neighbors", row, colptr, input_nodes, sample_size, _eids(eids, return_eids), None)


def weighted_sample_neighbors(
    row: Any, colptr: Any, edge_weight: Any, input_nodes: Any, sample_size: int = -1, eids: Any = None,
    return_eids: bool = False, name: str | None = None,
) -> tuple[Tensor, ...]:  # fmt: skip
    """`sample_neighbors` in which edges are drawn in proportion to edge_weight, [edges].

    Source: paddle.geometric.weighted_sample_neighbors; Efraimidis, Spirakis 2006.

    Example:
        >>> import vitrify as paddle
        >>> row, colptr, weight = paddle.to_tensor([3, 7, 0]), paddle.to_tensor([0, 2, 3]), paddle.ones([3])
        >>> of = paddle.to_tensor([0])
        >>> found = paddle.geometric.weighted_sample_neighbors(row, colptr, weight, of, sample_size=1)
        >>> found[0].item() in (3, 7), found[1].tolist()
        (True, [1])
    """
    wanted = _eids(eids, return_eids)
    return _sampled("weighted_sample_neighbors", row, colptr, input_nodes, sample_size, wanted, edge_weight)


def _eids(eids: Any, wanted: bool) -> Any:
    if wanted and eids is None:
        raise ArgumentError("return_eids=True, but there are no eids to return")
    return eids if wanted else None


def _sampled(
    op: str, row: Any, colptr: Any, input_nodes: Any, sample_size: int, eids: Any, weights: Any
) -> tuple[Tensor, ...]:
    for name, value in (("row", row), ("colptr", colptr), ("input_nodes", input_nodes), ("edge_weight", weights)):
        if name != "edge_weight" or value is not None:
            rank_of(op, value, name)
    outside_programs(op)
    sources, begins = row.numpy().reshape(-1), colptr.numpy().reshape(-1)
    nodes = input_nodes.numpy().reshape(-1)
    # The edges with the largest log(u) / weight are a sample without repetition.
    keys = np.log(rand([sources.size], "float64").numpy())
    if weights is not None:
        given = weights.numpy().reshape(-1)
        if given.size < sources.size:
            raise ShapeError(f"{op}: {sources.size} edges need a weight each, edge_weight has {given.size}")
        keys = keys / np.maximum(given[: sources.size], np.finfo("float32").tiny)
    edges = [_drawn(keys, begins[node], begins[node + 1], sample_size) for node in nodes.tolist()]
    chosen = np.concatenate([np.zeros(0, np.int64), *edges])
    found = [to_tensor(sources[chosen]), to_tensor(np.array([len(e) for e in edges], np.int32))]
    return (*found, to_tensor(eids.numpy().reshape(-1)[chosen])) if eids is not None else tuple(found)


def _drawn(keys: Any, begin: int, end: int, size: int) -> Any:
    """The edges that are drawn of those from `begin` to `end`."""
    if size < 0 or end - begin <= size:
        return np.arange(begin, end)
    return begin + np.argpartition(-keys[begin:end], size)[:size] if size else np.arange(0)


__all__ = ["sample_neighbors", "weighted_sample_neighbors"]
