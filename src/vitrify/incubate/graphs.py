"""Names that functions of `paddle.geometric` had before. Source: paddle.incubate."""

from __future__ import annotations

from typing import Any

from ..geometric import reindex_graph, sample_neighbors, send_u_recv


def graph_send_recv(
    x: Any, src_index: Any, dst_index: Any, pool_type: str = "sum", out_size: Any = None, name: str | None = None
) -> Any:
    """`geometric.send_u_recv`, whose reduce_op is called pool_type here. Source: paddle.incubate.graph_send_recv.

    Example:
        >>> import vitrify as paddle
        >>> x, edges = paddle.to_tensor([[1.0], [2.0]]), paddle.to_tensor([[0, 1], [1, 1]])
        >>> paddle.incubate.graph_send_recv(x, edges[0], edges[1], pool_type="mean").tolist()
        [[0.0], [1.5]]
    """
    return send_u_recv(x, src_index, dst_index, pool_type, out_size)


def graph_reindex(
    x: Any, neighbors: Any, count: Any, value_buffer: Any = None, index_buffer: Any = None,
    flag_buffer_hashtable: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """`geometric.reindex_graph`. Source: paddle.incubate.graph_reindex.

    Example:
        >>> import vitrify as paddle
        >>> nodes, neighbors = paddle.to_tensor([0, 1]), paddle.to_tensor([8, 0, 8])
        >>> [v.tolist() for v in paddle.incubate.graph_reindex(nodes, neighbors, paddle.to_tensor([1, 2]))]
        [[2, 0, 2], [0, 1, 1], [0, 1, 8]]
    """
    return reindex_graph(x, neighbors, count)


def graph_sample_neighbors(
    row: Any, colptr: Any, input_nodes: Any, eids: Any = None, perm_buffer: Any = None, sample_size: int = -1,
    return_eids: bool = False, flag_perm_buffer: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """`geometric.sample_neighbors`. Source: paddle.incubate.graph_sample_neighbors.

    Example:
        >>> import vitrify as paddle
        >>> row, colptr = paddle.to_tensor([3, 7, 0]), paddle.to_tensor([0, 2, 3])
        >>> [v.tolist() for v in paddle.incubate.graph_sample_neighbors(row, colptr, paddle.to_tensor([1]))]
        [[0], [1]]
    """
    return sample_neighbors(row, colptr, input_nodes, sample_size, eids, return_eids)


__all__ = ["graph_reindex", "graph_sample_neighbors", "graph_send_recv"]
