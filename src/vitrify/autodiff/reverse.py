"""Reverse mode over one block: cotangents flow from outputs to inputs, recorded into the current block."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..ir.builder import Builder
from ..ir.program import Block, Operator, Variable
from ..ops.calls import call_op, pack_frame_op, unpack_frame_op
from ..ops.control_flow import if_op, while_op
from ..ops.missing import add_cotangents, are_unsure
from ..ops.registry import NoGradient, OpDef, StructuralGradient
from .activity import active_variables, wanted_inputs
from .branches import if_vjp
from .calls import call_vjp, pack_vjp, unpack_vjp
from .context import Pullback, seed
from .gaps import note_gaps
from .loops import while_vjp
from .unsure import Consumers, if_given
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
    passed: dict[Variable, Variable] | None = None,
) -> dict[Variable, Variable]:
    """Record the vjp of `forward` into the builder's current block; the cotangent of each of `wrt` that has one.

    cotangents: forward variable -> its cotangent, visible from the current block. Forward variables that rules keep
    are captured by the current block, so its `captures` are the residuals. Nothing flows through `blocked` variables.
    passed: takes the cotangents of the variables on the way.
    """
    # What an update makes of a parameter is that parameter still.
    operators = [operator for operator in forward.ops if operator.role != "optimize"]
    reverse = _Reverse(builder, forward, operators, wrt, blocked)
    found = reverse.run(cotangents)
    if passed is not None:
        passed.update(reverse.passed)
    return found


class _Reverse:
    """Reverse mode over some operators of a block, in their order, for the variables `wrt`."""

    def __init__(
        self,
        builder: Builder,
        forward: Block,
        operators: Sequence[Operator],
        wrt: Iterable[Variable],
        blocked: frozenset[Variable],
    ) -> None:
        self.operators = operators
        self.wanted = set(wrt)
        self.blocked = blocked
        active = active_variables(operators, self.wanted, blocked)
        self.rule = Pullback(builder, forward, active, pull_back)
        self.held: dict[Variable, Variable] = {}
        self.passed: dict[Variable, Variable] = {}
        self.consumers: Consumers | None = None

    def run(self, cotangents: Mapping[Variable, Variable], given: Operator | None = None) -> dict[Variable, Variable]:
        """The cotangents of what is wanted. `given`: an operator of which at least one cotangent is there for sure."""
        self.held = dict(cotangents)
        found: dict[Variable, Variable] = {}
        done: set[Operator] = set()
        for operator in reversed(self.operators):
            cts = [self.held.get(v) if v in self.rule.active else None for v in operator.outputs]
            if operator in done or all(ct is None for ct in cts):
                continue
            for var in operator.outputs:
                ct = self.held.pop(var, None)
                if ct is not None:
                    self.passed[var] = ct
                if ct is not None and var in self.wanted:
                    found[var] = ct
            if are_unsure(cts) and operator is not given:
                done |= self._maybe(operator, cts, done)
            else:
                self._add(zip(operator.inputs, _flow(self.rule, operator, cts)))
        found.update((v, ct) for v, ct in self.held.items() if v in self.wanted)
        return found

    def _add(self, flow: Iterable[tuple[Any, Variable | None]]) -> None:
        for value, ct in flow:
            if ct is not None and isinstance(value, Variable) and value in self.rule.active:
                previous = self.held.get(value)
                self.held[value] = ct if previous is None else add_cotangents(previous, ct, value)

    def _maybe(self, operator: Operator, cts: Sequence[Variable | None], done: set[Operator]) -> set[Operator]:
        """Go back through an operator whose cotangents may all be missing, only if one is there when the program runs;
        and through all that is reached from it alone, which this gives.
        """
        if self.consumers is None:
            self.consumers = Consumers(self.operators, self.rule.active)
        group, ends = self.consumers.behind(operator, done, {*self.held, *self.wanted})
        rule, blocked = self.rule, self.blocked

        def inside(outputs: Sequence[Variable], formals: Sequence[Variable]) -> dict[Variable, Variable]:
            reverse = _Reverse(rule.builder, rule.forward, group, ends, blocked)
            return reverse.run(seed(outputs, formals), given=operator)

        with rule.located(operator):
            self._add(if_given(rule, operator, cts, inside).items())
        return set(group)


def _flow(rule: Pullback, operator: Operator, cts: list[Variable | None]) -> list[Variable | None]:
    if isinstance(operator.op.vjp, NoGradient):  # a leaf that an operator made
        return [None] * len(operator.inputs)
    with rule.located(operator):
        if isinstance(operator.op.vjp, StructuralGradient):
            found: list[Variable | None] = STRUCTURAL[operator.op](rule, operator, cts)
            return found
        needs = wanted_inputs(operator, rule.active)
        if not needs:
            return [None] * len(operator.inputs)
        with note_gaps(rule.builder.block):
            return operator_vjp(operator, cts, needs, rule.builder.value)
