"""Reverse mode over one block: cotangents flow from outputs to inputs, recorded into the current block."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..ir.builder import Builder
from ..ir.program import Block, Operator, Variable
from ..ops.calls import call_op, pack_frame_op, unpack_frame_op
from ..ops.control_flow import add_cotangents, if_op, while_op
from ..ops.registry import OpDef, StructuralGradient
from .activity import active_variables, wanted_inputs
from .branches import if_vjp
from .calls import call_vjp, pack_vjp, unpack_vjp
from .context import Pullback
from .loops import while_vjp
from .vjp import operator_vjp

# Operators with blocks are differentiated by structure; each rule gives one cotangent per operator input.
STRUCTURAL: dict[OpDef, Any] = {
    if_op: if_vjp,
    while_op: while_vjp,
    call_op: call_vjp,
    pack_frame_op: pack_vjp,
    unpack_frame_op: unpack_vjp,
}


def pull_back(
    builder: Builder,
    forward: Block,
    cotangents: Mapping[Variable, Variable],
    wrt: Iterable[Variable],
    blocked: frozenset[Variable] = frozenset(),
) -> dict[Variable, Variable]:
    """Record the vjp of `forward` into the builder's current block; the cotangent of each of `wrt` that has one.

    cotangents: forward variable -> its cotangent, visible from the current block. Forward variables that rules keep
    are captured by the current block, so its `captures` are the residuals. Nothing flows through `blocked` variables.
    """
    wanted = set(wrt)
    active = active_variables(forward, wanted, blocked)
    held: dict[Variable, Variable] = dict(cotangents)
    found: dict[Variable, Variable] = {}
    rule = Pullback(builder, forward, active, pull_back)
    for operator in reversed(forward.ops):
        if operator.role == "optimize":  # what an update makes of a parameter is that parameter still
            continue
        cts = [held.get(v) if v in active else None for v in operator.outputs]
        if all(ct is None for ct in cts):
            continue
        for var in operator.outputs:
            ct = held.pop(var, None)
            if ct is not None and var in wanted:
                found[var] = ct
        for value, ct in zip(operator.inputs, _flow(rule, operator, cts)):
            if ct is not None and isinstance(value, Variable) and value in active:
                previous = held.get(value)
                held[value] = ct if previous is None else add_cotangents(previous, ct, value)
    found.update((v, ct) for v, ct in held.items() if v in wanted)
    return found


def _flow(rule: Pullback, operator: Operator, cts: list[Variable | None]) -> list[Variable | None]:
    with rule.located(operator):
        if isinstance(operator.op.vjp, StructuralGradient):
            found: list[Variable | None] = STRUCTURAL[operator.op](rule, operator, cts)
            return found
        needs = wanted_inputs(operator, rule.active)
        if not needs:
            return [None] * len(operator.inputs)
        return operator_vjp(operator, cts, needs, rule.builder.value)
