"""Common subexpressions: what is computed twice is computed once, where that needs no more memory."""

from __future__ import annotations

from collections.abc import Hashable

from ..ir.sizes import bytes_of
from ..ir.ssa import Graph, Op, Value, must_run
from .lifetimes import Lifetimes
from .operands import NoKey, Outputs, key_of, replaced

LARGE = 1 << 12
"""Values from so many bytes on are kept for a second use only if the peak of memory does not grow."""


def without_repeats(graph: Graph) -> Graph:
    """The graph with each pure operator once for the same operands and attributes."""
    first: dict[Hashable, int] = {}
    by: dict[Value, Value] = {}
    outputs = Outputs(graph)
    lives: Lifetimes | None = None
    ops: list[Op] = []
    for index, op in enumerate(graph.ops):
        op = replaced(op, by)
        key = _key(op)
        found = index if key is None else first.setdefault(key, index)
        if found != index:
            kept = graph.ops[found].outputs
            if any(bytes_of(v.meta) >= LARGE for v in kept):
                lives = lives or Lifetimes(graph)
            if all(map(outputs.may_be, op.outputs, kept)) and (lives is None or lives.shared(kept, op.outputs)):
                by.update(zip(op.outputs, kept))
                continue
            first[key] = index
        ops.append(op)
    if not by:
        return graph
    return graph.with_(ops=ops, outputs=tuple([None if v is None else by.get(v, v) for v in graph.outputs]))


def _key(op: Op) -> Hashable | None:
    """What equal operators have in common; None for one that is not pure or cannot be compared."""
    if not op.outputs or op.op.passes or must_run(op):
        return None
    try:
        operands = tuple([v if v is None or type(v) is Value else key_of(v) for v in op.inputs])
        return op.op, operands, tuple([(name, key_of(value)) for name, value in sorted(op.attrs.items())])
    except NoKey:
        return None
