"""Names that functions of `paddle.geometric` had before. Source: paddle.incubate."""

from __future__ import annotations

from typing import Any

from ..geometric import reindex_graph, sample_neighbors, send_u_recv


def graph_send_recv(
    x: Any, src_index: Any, dst_index: Any, pool_type: str = "sum", out_size: Any = None, name: str | None = None
) -> Any:
    """`geometric.send_u_recv`, whose reduce_op is called pool_type here. Source: paddle.incubate.graph_send_recv."""
    return send_u_recv(x, src_index, dst_index, pool_type, out_size)


def graph_reindex(
    x: Any, neighbors: Any, count: Any, value_buffer: Any = None, index_buffer: Any = None,
    flag_buffer_hashtable: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """`geometric.reindex_graph`. Source: paddle.incubate.graph_reindex."""
    return reindex_graph(x, neighbors, count)


def graph_sample_neighbors(
    row: Any, colptr: Any, input_nodes: Any, eids: Any = None, perm_buffer: Any = None, sample_size: int = -1,
    return_eids: bool = False, flag_perm_buffer: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """`geometric.sample_neighbors`. Source: paddle.incubate.graph_sample_neighbors."""
    return sample_neighbors(row, colptr, input_nodes, sample_size, eids, return_eids)


__all__ = ["graph_reindex", "graph_sample_neighbors", "graph_send_recv"]
