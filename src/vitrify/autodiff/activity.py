"""Activity: which variables of a block carry a derivative from given inputs."""

from __future__ import annotations

from collections.abc import Iterable

from ..core.meta import FrameMeta, ListMeta
from ..ir.program import Operator, Variable
from ..ops.registry import NoGradient, StructuralGradient, Vjp


def carries_gradient(var: Variable) -> bool:
    """Whether the dtype can have a derivative; frames hold values that do."""
    meta = var.meta
    while isinstance(meta, ListMeta):
        meta = meta.item
    return isinstance(meta, FrameMeta) or meta.dtype.is_floating or meta.dtype.is_complex


def active_variables(
    operators: Iterable[Operator], wrt: Iterable[Variable], blocked: frozenset[Variable] = frozenset()
) -> set[Variable]:
    """What depends differentiably on `wrt` (itself included) by these operators, not through `blocked` variables."""
    active = set(wrt) - blocked
    for operator in operators:
        if _passes_gradient(operator, active):
            active.update(
                v for v in operator.outputs if carries_gradient(v) and not v.stop_gradient and v not in blocked
            )
    return active


def _passes_gradient(operator: Operator, active: set[Variable]) -> bool:
    rules = operator.op.vjp
    if isinstance(rules, NoGradient):
        return False
    if isinstance(rules, StructuralGradient):
        return any(v in active for v in operator.variables)
    assert isinstance(rules, Vjp)
    return bool(wanted_inputs(operator, active))


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
