"""Loop-invariant code: what every iteration computes anew from values that do not change is computed once, before."""

from __future__ import annotations

from ..core.meta import Meta
from ..ir.ssa import Graph, Op, Value, must_run, visible
from ..ops.control_flow import while_op
from .lifetimes import Lifetimes


def hoisted(graph: Graph) -> Graph:
    """The graph with invariant operators of its loops in front of them.

    Only what cannot raise is moved, for a loop may run no iteration; and what is kept for the whole loop must not add
    to the peak of memory of an iteration.
    """
    if not any(op.op is while_op for op in graph.ops):
        return graph
    ops: list[Op] = []
    for op in graph.ops:
        ops += _split(op) if op.op is while_op else [op]
    return graph.with_(ops=ops) if len(ops) > len(graph.ops) else graph


def _split(op: Op) -> list[Op]:
    """The loop behind the operators taken out of its body."""
    body: Graph = op.attrs["body"]
    first = op.attrs["n_carried"] + op.attrs["n_xs"]
    start = len(op.inputs) - len(body.inputs)
    outer: dict[Value, Value] = {v: op.inputs[start + i] for i, v in enumerate(body.inputs) if i >= first}
    lives: Lifetimes | None = None
    moved: dict[Op, Op] = {}
    seen = visible(body)  # each iteration gives arrays of its own
    for index, inner in enumerate(body.ops):
        if not (_is_movable(inner) and seen.isdisjoint(inner.outputs)):
            continue
        if any(outer.get(v) is None for v in inner.values):
            continue
        lives = lives or Lifetimes(body)
        whole = {v: (0, len(body) - 1) for v in inner.outputs if v in lives.spans}
        if lives.fits(whole, index, 0):  # type: ignore[arg-type]
            made = tuple(Value(v.meta, v.name) for v in inner.outputs)
            outer.update(zip(inner.outputs, made))
            inputs = tuple(outer[v] if type(v) is Value else v for v in inner.inputs)
            moved[inner] = inner.with_(inputs=inputs, outputs=made)
    return [*moved.values(), _given(op, moved)] if moved else [op]


def _is_movable(op: Op) -> bool:
    """Whether it has no effect and cannot fail."""
    metas = [v.meta for v in op.values]
    known = all(isinstance(m, Meta) and m.is_static for m in (*metas, *[v.meta for v in op.outputs]))
    return known and not op.op.passes and not must_run(op) and not op.has_graphs


def _given(op: Op, moved: dict[Op, Op]) -> Op:
    """The loop with the results of those operators as captured values."""
    body, cond = op.attrs["body"], op.attrs["cond"]
    inner = [v for old in moved for v in old.outputs]
    outer = [v for new in moved.values() for v in new.outputs]
    attrs = {**op.attrs}
    rest = [o for o in body.ops if o not in moved]
    attrs["body"] = Graph((*body.inputs, *inner), body.outputs, tuple(rest))
    if cond is not None:
        attrs["cond"] = Graph((*cond.inputs, *[Value(v.meta, v.name) for v in inner]), cond.outputs, cond.ops)
    return op.with_(inputs=(*op.inputs, *outer), attrs=attrs)
