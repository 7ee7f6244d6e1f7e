"""Activity: which variables of a block carry a derivative from given inputs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from ..ir.program import Block, Operator, Variable
from ..ops.control_flow import if_op, while_op
from ..ops.registry import NoGradient, StructuralGradient, Vjp


def active_variables(
    operators: Iterable[Operator], wrt: Iterable[Variable], blocked: frozenset[Variable] = frozenset()
) -> set[Variable]:
    """What depends differentiably on `wrt` (itself included) by these operators, not through `blocked` variables."""
    return _Activity(blocked).of(operators, wrt)


def active_formals(operator: Operator, active: Collection[Variable]) -> list[int]:
    """Indices of the inputs of a loop's body that carry a derivative, carried values to a fixed point."""
    return sorted(_Activity(frozenset()).of_loop(operator, active)[0])


class _Activity:
    """Follows derivatives through operators, and through branches and loops output by output."""

    def __init__(self, blocked: frozenset[Variable]) -> None:
        self.blocked = blocked
        self.known: dict[tuple[Block, frozenset[int]], set[Variable]] = {}
        """Of blocks, by the indices of the inputs that carry a derivative."""

    def of(self, operators: Iterable[Operator], wrt: Iterable[Variable]) -> set[Variable]:
        """As `active_variables`."""
        active = set(wrt) - self.blocked
        for operator in operators:
            active.update(v for v in self._reached(operator, active) if self._can_be(v))
        return active

    def _can_be(self, var: Variable) -> bool:
        return not var.stop_gradient and var not in self.blocked

    def _reached(self, operator: Operator, active: set[Variable]) -> Sequence[Variable]:
        rules = operator.op.vjp
        if isinstance(rules, NoGradient):
            return ()
        if not isinstance(rules, StructuralGradient):
            return operator.outputs if wanted_inputs(operator, active) else ()
        if not any(v in active for v in operator.variables):
            return ()
        if operator.op is if_op:
            return self._of_branches(operator, active)
        return self.of_loop(operator, active)[1] if operator.op is while_op else operator.outputs

    def _of_branches(self, operator: Operator, active: set[Variable]) -> list[Variable]:
        given = {i for i, v in enumerate(operator.inputs[1:]) if v in active}
        sides = [operator.attrs["then"], operator.attrs["orelse"]]
        inside = set().union(*[self._of_block(side, given) for side in sides])
        return [v for v, *ends in zip(operator.outputs, *[s.outputs for s in sides]) if not inside.isdisjoint(ends)]

    def of_loop(self, operator: Operator, active: Collection[Variable]) -> tuple[set[int], list[Variable]]:
        """As `active_formals`, and the outputs that carry a derivative."""
        body, n = operator.attrs["body"], operator.attrs["n_carried"]
        given = operator.inputs[1 if operator.attrs["cond"] is None else 0 :]
        found = {i for i, v in enumerate(given) if isinstance(v, Variable) and v in active}
        while True:
            inside = self._of_block(body, found)
            ends = [i for i, v in enumerate(body.outputs) if v in inside]
            more = {i for i in ends if i < n}
            if more <= found:
                break
            found |= more
        carried = [operator.outputs[i] for i in sorted(found) if i < n]
        return found, [*carried, *[operator.outputs[i + 1] for i in ends if i >= n]]  # behind them, the trip count

    def _of_block(self, block: Block, given: set[int]) -> set[Variable]:
        key = block, frozenset(given)
        if key not in self.known:
            self.known[key] = self.of(block.ops, [block.inputs[i] for i in given])
        return self.known[key]


def reached_variables(operator: Operator, active: set[Variable]) -> list[Variable]:
    """Those of the active variables that get a cotangent of an operator whose outputs have one."""
    if isinstance(operator.op.vjp, StructuralGradient):
        return [v for v in operator.variables if v in active]
    names = wanted_inputs(operator, active)
    named = [(operator.op.input_name(i), v) for i, v in enumerate(operator.inputs)]
    return [v for name, v in named if isinstance(v, Variable) and v in active and name in names]


def wanted_inputs(operator: Operator, active: set[Variable]) -> frozenset[str]:
    """Names of the inputs that are active and that the op has a cotangent for."""
    rules = operator.op.vjp
    assert isinstance(rules, Vjp)
    able = rules.differentiable
    names = {
        operator.op.input_name(i)
        for i, v in enumerate(operator.inputs[: len(operator.inputs) - operator.ref_count])
        if isinstance(v, Variable) and v in active
    }
    return frozenset(names if able is None else names & able)
