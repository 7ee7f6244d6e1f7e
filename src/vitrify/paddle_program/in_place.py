"""Copies for PaddlePaddle's pass that lets operators write over what they read.

PaddlePaddle 3.3.1 takes what oneDNN has computed in `paddle.inference` for read for the last time: its own programs,
too, give wrong results where an operator that oneDNN lacks reads a value that others read after it. Ours give
such an operator a copy: a `tile` of one, for the pass sees through `assign`.
"""

from __future__ import annotations

import numpy as np

from .emitter import OF_ONEDNN, Emitter, Value
from .graph import Graph, Id, Node, all_ids, all_nodes

# Operators with a form that writes over the first input, of those that oneDNN does not have.
_WRITE_OVER = frozenset((
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "cumprod", "cumsum", "digamma", "erf",
    "erfinv", "expm1", "fill_diagonal_tensor", "floor", "floor_divide", "gammaincc", "gammaln", "hardtanh", "i0",
    "index_add", "index_put", "lerp", "lgamma", "log", "log10", "log1p", "log2", "logit", "masked_fill", "polygamma",
    "pow", "put_along_axis", "reciprocal", "remainder", "renorm", "rsqrt", "scatter", "set_value_with_tensor_",
    "silu", "sin", "sinh", "square", "tan", "tril", "triu", "trunc",
))  # fmt: skip
# Those that oneDNN has for its own dtypes; what it casts to others it casts, and no more.
_OF_OTHER_DTYPES = frozenset((
    "abs", "add", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "clip", "divide", "exp", "logical_and",
    "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "multiply", "relu", "scale", "subtract", "where",
))  # fmt: skip


def copy_what_is_read_again(g: Emitter) -> None:
    """Let operators that may write over what they read have copies of what others read, too."""
    nodes = list(all_nodes(g.graph))
    makers = {id_: node for node in nodes for id_ in all_ids(node.outputs)}
    reads: dict[Id, int] = {}
    for given in [*(node.inputs for node in nodes), *(graph.outputs for graph in _graphs(g.graph))]:
        for id_ in all_ids(given):
            reads[id_] = reads.get(id_, 0) + 1
    for graph in _graphs(g.graph):
        graph.nodes[:] = [own for node in graph.nodes for own in (*_copies(g, node, makers, reads), node)]


def _graphs(graph: Graph) -> list[Graph]:
    return [graph, *(block for node in all_nodes(graph) for block in node.blocks)]


def _copies(g: Emitter, node: Node, makers: dict[Id, Node], reads: dict[Id, int]) -> list[Node]:
    """The node that copies the first input of another one, which then reads the copy; none where none is needed."""
    value = g.values.get(node.inputs[0]) if node.name in _WRITE_OVER | _OF_OTHER_DTYPES else None
    if value is None or not value.ndim or not _is_shared(value, makers, reads):
        return []
    if node.name not in _WRITE_OVER and value.dtype in OF_ONEDNN:
        return []
    made = g.value(value.meta)
    node.inputs[0] = made.id
    return [Node("tile", [value.id, np.ones(value.ndim, np.int64)], [made.id])]


def _is_shared(value: Value, makers: dict[Id, Node], reads: dict[Id, int]) -> bool:
    """Whether somebody else reads a value that a node makes, or what it is an `assign` of."""
    at: Id = value.id
    while at in makers:
        if reads[at] > 1:
            return True
        if makers[at].name != "assign":
            return False
        at = makers[at].inputs[0]
    return False


__all__ = ["copy_what_is_read_again"]
