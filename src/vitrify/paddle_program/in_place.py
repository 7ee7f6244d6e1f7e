"""Copies for PaddlePaddle's pass that lets operators write over what they read, and casts for numbers of oneDNN's.

PaddlePaddle 3.3.1 takes what oneDNN has computed in `paddle.inference` for read for the last time: its own programs,
too, give wrong results where an operator that oneDNN lacks reads a value that others read after it. Ours give
such an operator a copy: a `tile` of one, for the pass sees through `assign`. That is of `.json` programs. In `.pdmodel`
programs oneDNN makes what `fill_constant` gives, and a number in a layout at which its own sums and products stop. A
pass that merges a product of matrices and a `scale` of it leaves whoever else reads the product without it. In both
formats oneDNN's products of matrices mistake the layout of what its convolutions gave, and are given copies of that.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..core.dtype import float32, float64
from ..core.meta import Meta
from .emitter import OF_ONEDNN, Emitter, Value
from .graph import Graph, Id, Node, all_ids, all_nodes, taken_from_around

# Operators with a form that writes over the first input, of those that oneDNN does not have, or may not take.
_WRITE_OVER = frozenset((
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "cumprod", "cumsum", "digamma",
    "divide", "erf", "erfinv", "expm1", "fill_diagonal_tensor", "floor", "floor_divide", "gammaincc", "gammaln",
    "hardtanh", "i0", "index_add", "index_put", "lerp", "lgamma", "log", "log10", "log1p", "log2", "logit",
    "masked_fill", "polygamma", "pow", "put_along_axis", "reciprocal", "remainder", "renorm", "rsqrt", "scatter",
    "set_value_with_tensor_", "silu", "sin", "sinh", "square", "tan", "thresholded_relu", "tril", "triu", "trunc",
))  # fmt: skip
# Those that oneDNN has for its own dtypes; what it casts to others it casts, and no more.
_OF_OTHER_DTYPES = frozenset((
    "abs", "add", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "clip", "exp", "logical_and",
    "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "multiply", "relu", "scale", "subtract", "where",
))  # fmt: skip

# Operators whose results lie in a layout of oneDNN's own; nearly all others keep that, but for these.
_OF_IMAGES = frozenset(("conv2d", "conv2d_transpose", "depthwise_conv2d"))
_IN_ROWS = frozenset(("assign", "matmul", "reshape", "tile"))


def copy_what_is_read_again(g: Emitter) -> None:
    """Let operators that may write over what they read have copies of what others read, too."""
    nodes = list(all_nodes(g.graph))
    makers = {id_: node for node in nodes for id_ in all_ids(node.outputs)}
    reads = _reads(g)
    for id_ in _read_by_each_turn(nodes):
        reads[id_] = reads.get(id_, 0) + 1
    for graph in _graphs(g.graph):
        graph.nodes[:] = [own for node in graph.nodes for own in (*_copies(g, node, makers, reads), node)]


def cast_numbers(g: Emitter) -> None:
    """Let numbers in float32 be made in float64, which oneDNN has not, and cast."""
    for graph in _graphs(g.graph):
        graph.nodes[:] = [own for node in graph.nodes for own in _cast_number(g, node)]


def copy_scaled_products(g: Emitter) -> None:
    """Let `scale` have copies of products of matrices that others read, too."""
    reads = _reads(g)
    products = {id_ for node in all_nodes(g.graph) if node.name == "matmul" for id_ in all_ids(node.outputs)}
    for graph in _graphs(g.graph):
        graph.nodes[:] = [own for node in graph.nodes for own in (*_copied_product(g, node, products, reads), node)]


def _copied_product(g: Emitter, node: Node, products: set[Id], reads: dict[Id, int]) -> list[Node]:
    product = g.values.get(node.inputs[0]) if node.name == "scale" else None
    if product is None or product.id not in products or reads[product.id] == 1:
        return []
    made = g.value(product.meta)
    node.inputs[0] = made.id
    return [Node("assign", [product.id], [made.id])]


def copy_multiplied_images(g: Emitter) -> None:
    """Let products of matrices have copies of what convolutions gave, and of what was made of that in their layout."""
    images: set[Id] = set()
    for node in all_nodes(g.graph):
        if node.name in _OF_IMAGES or (node.name not in _IN_ROWS and images & all_ids(node.inputs)):
            images |= {id_ for id_ in all_ids(node.outputs) if id_ in g.values and g.values[id_].ndim == 4}
    for graph in _graphs(g.graph):
        graph.nodes[:] = [own for node in graph.nodes for own in (*_copied_images(g, node, images), node)]


def _copied_images(g: Emitter, node: Node, images: set[Id]) -> list[Node]:
    found = []
    for place, id_ in enumerate(node.inputs if node.name == "matmul" else []):
        if id_ in images:
            made = g.value(g.values[id_].meta)
            node.inputs[place] = made.id
            found.append(Node("assign", [id_], [made.id]))
    return found


def _cast_number(g: Emitter, node: Node) -> list[Node]:
    if node.name != "full" or node.attrs["shape"] or node.attrs["dtype"] is not float32:
        return [node]
    wide = g.value(Meta((), float64))
    full = Node("full", [], [wide.id], {**node.attrs, "dtype": float64})
    return [full, Node("cast", [wide.id], node.outputs, {"dtype": float32})]


def _reads(g: Emitter) -> dict[Id, int]:
    """How often each value is read by a node, or given by a graph."""
    reads: dict[Id, int] = {}
    for given in [*(node.inputs for node in all_nodes(g.graph)), *(graph.outputs for graph in _graphs(g.graph))]:
        for id_ in all_ids(given):
            reads[id_] = reads.get(id_, 0) + 1
    return reads


def _graphs(graph: Graph) -> list[Graph]:
    return [graph, *(block for node in all_nodes(graph) for block in node.blocks)]


def _read_by_each_turn(nodes: list[Node]) -> Iterator[Id]:
    """What a loop reads that is made before it: one reader is as many as there are turns."""
    for body in (block for node in nodes if node.name == "while" for block in node.blocks):
        yield from taken_from_around(body)


def _copies(g: Emitter, node: Node, makers: dict[Id, Node], reads: dict[Id, int]) -> list[Node]:
    """The nodes that copy the first input of another one, which then reads the copy; none where none is needed."""
    value = g.values.get(node.inputs[0]) if node.name in _WRITE_OVER | _OF_OTHER_DTYPES else None
    if value is None or not _is_shared(value, makers, reads):
        return []
    if node.name not in _WRITE_OVER and value.dtype in OF_ONEDNN:
        return []
    made = g.value(value.meta)
    node.inputs[0] = made.id
    if value.ndim:
        return [Node("tile", [value.id, np.ones(value.ndim, np.int64)], [made.id])]
    row = g.value(Meta((1,), value.dtype))  # `tile` gives a dimension at least
    tile = Node("tile", [value.id, np.ones(1, np.int64)], [row.id])
    return [tile, Node("reshape", [row.id, np.zeros(0, np.int64)], [made.id])]


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


__all__ = ["cast_numbers", "copy_multiplied_images", "copy_scaled_products", "copy_what_is_read_again"]
