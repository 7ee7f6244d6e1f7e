"""Paddle's forms of branches and loops: regions that see the values around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.errors import UnsupportedError
from .emitter import FORMS, Emitter, Value, held
from .graph import Node


@FORMS("if")
def if_(g: Emitter, pred: Value, *captured: Value, then: Any, orelse: Any) -> list[Value]:
    """if."""
    metas = g.metas

    def write(block: Any) -> Callable[[], list[Value]]:
        return lambda: _ends(g, g.inline(g, block, captured), metas)

    regions = [g.region(write(then)), g.region(write(orelse))]
    outs = [g.value(meta) for meta in metas]
    condition = g.reshape(pred, []) if pred.ndim else pred
    g.graph.nodes.append(Node("if", [condition.id], [v.id for v in outs], {}, regions))
    return outs


def _ends(g: Emitter, found: Sequence[Any], metas: Sequence[Any]) -> list[Value]:
    """What a region gives: values of its own, of these types."""
    if any(value is None for value in found):
        raise UnsupportedError("a branch that leaves a value out has no form in Paddle's programs")
    cast = [g.cast(value, meta.dtype) for value, meta in zip(found, metas)]
    return [g.op("assign", value, meta=meta) for value, meta in zip(cast, metas)]


@FORMS("while")
def while_(g: Emitter, *inputs: Value, cond: Any, body: Any, n_carried: int, n_xs: int, reverse: bool) -> list[Any]:
    """while: the condition is worked out before it, and at the end of its region."""
    if n_xs:
        raise UnsupportedError("a loop over the items of a tensor has no form in Paddle's programs")
    metas, rest = g.metas[:n_carried], g.metas[n_carried:]
    starts, captured = inputs[:n_carried], inputs[n_carried:]
    types = [held(var.meta) for var in body.inputs[:n_carried]]
    starts = tuple(_ends(g, starts, types))
    (first,) = g.inline(g, cond, [*starts, *captured])
    args = [g.argument(meta) for meta in types]

    def run() -> list[Value]:
        ends = _ends(g, g.inline(g, body, [*args, *captured]), types)
        (again,) = g.inline(g, cond, [*ends, *captured])
        return [_flag(g, again), *ends]

    region = g.region(run)
    region.args = [v.id for v in args]
    outs = [g.value(meta) for meta in metas]
    made = Node("while", [_flag(g, first).id, *[v.id for v in starts]], [v.id for v in outs], {}, [region])
    g.graph.nodes.append(made)
    return [*outs, *[None] * len(rest)]


def _flag(g: Emitter, value: Value) -> Value:
    return g.op("assign", g.reshape(value, []) if value.ndim else value)
