"""Gradients of the parts of one array, put together in one pass over memory.

The gradient of `x[i]` is an array of zeros with a part filled in. Where parts cover all of x, as the queries, keys and
values of attention do, the sum of such arrays is the parts side by side. Adding to a part the zero that it would have
been added to keeps the sign of zeros.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from ..core.meta import UNKNOWN, Meta
from ..ir.ssa import Graph, Literal, Op, Value
from ..ops.elementwise import add_op
from ..ops.index import getitem_adjoint_op
from ..ops.join import concat_op, stack_op
from ..ops.shape import reshape_op
from ..ops.transpose import transpose_op

FULL = slice(None, None, None)


class _Span(NamedTuple):
    """Which part of a dimension an index takes: `axis`, from where to where, whether the dimension is dropped."""

    axis: int
    is_dropped: bool
    start: int
    stop: int


def gathered(graph: Graph) -> Graph:
    """The graph with sums of such gradients as one stack or concatenation, and stacks in the order of dimensions in
    which they are read. Results are the same to the bit.
    """
    if not any(op.op is getitem_adjoint_op for op in graph.ops):
        return graph
    uses = Counter(v for op in graph.ops for v in op.values)
    uses.update(v for v in graph.outputs if v is not None)
    found = _side_by_side(graph.ops, uses)
    found = _in_order(found, uses, {v for v in graph.outputs if v is not None})
    return graph.with_(ops=found) if found is not graph.ops else graph


# -- sums of parts -----------------------------------------------------------------------------------------------------


def _side_by_side(ops: Sequence[Op], uses: Mapping[Value, int]) -> Sequence[Op]:
    by: dict[Op, list[Op]] = {}
    for root, leaves in _sums(ops, uses):
        by.update(_joined(root, leaves))
    return [new for op in ops for new in by.get(op, [op])] if by else ops


def _sums(ops: Sequence[Op], uses: Mapping[Value, int]) -> Iterable[tuple[Op, list[Op]]]:
    """The largest sums of nothing but gradients of parts that are used there alone, and what each adds."""
    leaves: dict[Value, tuple[Op, list[Op]]] = {}
    for op in ops:
        if op.op is getitem_adjoint_op:
            leaves[op.outputs[0]] = op, [op]
        elif op.op is add_op and len(op.values) == 2 and all(_is_leaf(v, op, leaves, uses) for v in op.values):
            (_, few), (_, many) = sorted((leaves.pop(v) for v in op.values), key=lambda own: len(own[1]))
            many += few  # not the other way: sums of many parts grow one by one
            leaves[op.outputs[0]] = op, many
    return [own for own in leaves.values() if own[0].op is add_op]


def _is_leaf(v: Value, op: Op, leaves: Container[Value], uses: Mapping[Value, int]) -> bool:
    """Whether an operand is such a gradient or sum, of the result's shape, that nobody else reads."""
    return v in leaves and uses[v] == 1 and v.meta == op.outputs[0].meta


def _joined(root: Op, leaves: Sequence[Op]) -> dict[Op, list[Op]]:
    """What stands in the place of these operators; empty where the parts do not cover the array once. Sums on the way
    still read the gradients, until they are dropped as dead.
    """
    meta = root.outputs[0].meta
    spans = [_span(leaf, meta) for leaf in leaves]
    if not isinstance(meta, Meta) or meta.dtype.is_bool or any(span is None for span in spans):
        return {}
    known = sorted(((span, leaf) for span, leaf in zip(spans, leaves) if span is not None), key=lambda own: own[0])
    (axis, is_dropped, *_), place = known[0][0], 0
    for span, _ in known:
        if (span.axis, span.is_dropped, span.start) != (axis, is_dropped, place):
            return {}
        place = span.stop
    if place != meta.shape[axis]:
        return {}
    zero = Literal(0.0 if meta.dtype.is_inexact else 0, meta.dtype)
    by, parts = dict[Op, list[Op]](), list[Value]()
    for _, leaf in known:
        part = leaf.values[0]
        made = Value(part.meta, part.name)
        by[leaf] = [leaf, Op(add_op, (part, zero), (made,), {}, leaf.locs, leaf.role, leaf.name_scope)]
        parts.append(made)
    op = stack_op if is_dropped else concat_op
    by[root] = [Op(op, tuple(parts), root.outputs, {"axis": axis}, root.locs, root.role, root.name_scope)]
    return by


def _span(leaf: Op, meta: object) -> _Span | None:
    """The part that a gradient fills, where that is a part of one dimension whose size is known."""
    index = leaf.attrs["index"]
    if not isinstance(meta, Meta) or len(index) != len(meta.shape) or len(leaf.values) != 2:
        return None
    axes = [i for i, own in enumerate(index) if own != FULL]
    if len(axes) != 1 or meta.shape[axes[0]] == UNKNOWN:
        return None
    axis = axes[0]
    own, size = index[axis], meta.shape[axis]
    if type(own) is int:
        start = own % size if size else 0
        return _Span(axis, True, start, start + 1)
    if type(own) is not slice or own.step not in (None, 1):
        return None
    if not all(end is None or type(end) is int for end in (own.start, own.stop)):
        return None
    start, stop, _ = own.indices(size)
    return _Span(axis, False, start, stop) if start < stop else None


# -- the order of dimensions -------------------------------------------------------------------------------------------


def _in_order(ops: Sequence[Op], uses: Mapping[Value, int], outputs: set[Value]) -> Sequence[Op]:
    """Operators in which what is stacked and transposed for a reshape, which would copy it, is transposed and then
    stacked: transpositions of the parts are views.
    """
    maker: dict[Value, Op] = {v: op for op in ops for v in op.outputs}
    readers: dict[Value, list[Op]] = {}
    for op in ops:
        for v in op.values:
            readers.setdefault(v, []).append(op)
    by: dict[Op, list[Op]] = {}
    for op in ops:
        if op.op is not transpose_op or op.outputs[0] in outputs:
            continue
        made = maker.get(op.values[0])
        if made is None or made.op not in (stack_op, concat_op) or uses[op.values[0]] > 1:
            continue
        (reader, *others) = readers.get(op.outputs[0]) or [op]
        if reader.op is reshape_op and not others and len(made.values) == len(made.inputs):
            by[op], by[made] = _transposed_first(op, made), []
    return [new for op in ops for new in by.get(op, [op])] if by else ops


def _transposed_first(op: Op, joined: Op) -> list[Op]:
    perm, axis = tuple(op.attrs["perm"]), joined.attrs["axis"]
    inner = perm
    if joined.op is stack_op:
        inner = tuple(d - (d > axis) for d in perm if d != axis)
    made, parts = list[Op](), list[Value]()
    for part in joined.values:
        view = Value(transpose_op.meta(part.meta, perm=inner), part.name)
        made.append(Op(transpose_op, (part,), (view,), {"perm": inner}, op.locs, op.role, op.name_scope))
        parts.append(view)
    attrs = {"axis": perm.index(axis)}
    return [*made, Op(joined.op, tuple(parts), op.outputs, attrs, op.locs, op.role, op.name_scope)]


__all__ = ["gathered"]
