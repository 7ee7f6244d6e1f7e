"""Dead code: operators that nothing needs, and values that a loop carries for nobody."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from ..ir.ssa import Graph, Op, Value, must_run
from ..ops.control_flow import while_op


def without_dead_code(graph: Graph) -> Graph:
    """The graph without operators that reach no output and need not run for themselves; loops carry what is used."""
    needed: set[Value] = {v for v in graph.outputs if v is not None}
    live: list[Op] = []
    changed = False
    for op in reversed(graph.ops):
        if needed.isdisjoint(op.outputs) and not must_run(op):
            changed = True
            continue
        found = _slimmer(op, needed) if op.op is while_op else op
        changed = changed or found is not op
        live.append(found)
        needed.update(found.values)
    return graph.with_(ops=reversed(live)) if changed else graph


def needed_inputs(graph: Graph, outputs: Iterable[Value | None]) -> set[Value]:
    """The values of a graph that these outputs, and what must run, need."""
    needed = {v for v in outputs if v is not None}
    for op in reversed(graph.ops):
        if must_run(op) or not needed.isdisjoint(op.outputs):
            needed.update(op.values)
    return needed


def _slimmer(op: Op, needed: Collection[Value]) -> Op:
    """The loop without carried values that no result and no condition needs, lists that nobody reads, and operands
    that no iteration reads.
    """
    cond, body, n = op.attrs["cond"], op.attrs["body"], op.attrs["n_carried"]
    first, n_xs = int(cond is None), op.attrs["n_xs"]
    written = [i for i in range(n, len(body.outputs)) if op.outputs[i + 1] in needed]
    asked = set() if cond is None else needed_inputs(cond, cond.outputs)
    kept = {i for i in range(n) if op.outputs[i] in needed or (cond is not None and cond.inputs[i] in asked)}
    while True:
        read = needed_inputs(body, [body.outputs[i] for i in (*kept, *written)])
        more = {i for i in range(n) if body.inputs[i] in read} | kept
        if more == kept:
            break
        kept = more
    carried = sorted(kept)
    xs = [i for i in range(n, n + n_xs) if body.inputs[i] in read]
    captured = [
        i for i in range(n + n_xs, len(body.inputs))
        if body.inputs[i] in read or (cond is not None and cond.inputs[i - n_xs] in asked)
    ]  # fmt: skip
    operands = [*carried, *xs, *captured]
    if len(operands) == len(body.inputs) and len(written) + n == len(body.outputs):
        return op
    attrs = {**op.attrs, "n_carried": len(carried), "n_xs": len(xs)}
    attrs["body"] = _part(body, operands, [*carried, *written])
    if cond is not None:
        attrs["cond"] = _part(cond, [*carried, *[i - n_xs for i in captured]], range(len(cond.outputs)))
    return op.with_(
        inputs=(*op.inputs[:first], *[op.inputs[i + first] for i in operands]),
        outputs=tuple(op.outputs[i] for i in (*carried, n, *[i + 1 for i in written])),
        attrs=attrs,
    )


def _part(graph: Graph, inputs: Sequence[int], outputs: Sequence[int]) -> Graph:
    """The graph with these of its inputs and outputs."""
    part = Graph(tuple(graph.inputs[i] for i in inputs), tuple(graph.outputs[i] for i in outputs), graph.ops)
    return without_dead_code(part)
