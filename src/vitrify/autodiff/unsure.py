"""Going back only where a cotangent comes: the vjp of operators whose cotangents may be missing, inside an `if`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from ..ir.dead_code import prune
from ..ir.program import Operator, Variable
from ..ir.regions import align_captures
from ..ops.control_flow import if_op
from ..ops.missing import MAY_BE_MISSING, is_given_op, mark_missing
from .context import Pullback
from .gaps import marks_of, put_marks

Inside = Callable[[Sequence[Variable], Sequence[Variable]], Mapping[Variable, Variable]]


class Consumers:
    """Which of some operators take each active variable, for cotangents come from these."""

    def __init__(self, operators: Sequence[Operator], active: Collection[Variable]) -> None:
        self.operators = operators
        self.active = active
        self.places = {operator: place for place, operator in enumerate(operators)}
        self.takers: dict[Variable, list[Operator]] = {}
        for operator in operators:
            if any(v in active for v in operator.outputs):
                for var in operator.variables:
                    if var in active:
                        self.takers.setdefault(var, []).append(operator)

    def behind(
        self, start: Operator, done: Collection[Operator], elsewhere: Collection[Variable]
    ) -> tuple[list[Operator], list[Variable]]:
        """`start` and the operators that get cotangents from it alone, in order, and the variables that they end at.

        done: operators that were passed. elsewhere: variables that have a cotangent already, or whose own is asked for.
        """
        group = {start}
        last = self.places[start]
        for operator in reversed(self.operators[:last]):
            if operator not in done and self._is_behind(operator, group, done, last, elsewhere):
                group.add(operator)
        inner = {v for operator in group for v in operator.outputs} - set(start.outputs)
        ends = {v: None for operator in group for v in operator.variables if v in self.active and v not in inner}
        return sorted(group, key=self.places.__getitem__), list(ends)

    def _is_behind(
        self, operator: Operator, group: set[Operator], done: Collection[Operator], last: int,
        elsewhere: Collection[Variable],
    ) -> bool:  # fmt: skip
        found = False
        for var in operator.outputs:
            takers = [t for t in self.takers.get(var, ()) if t not in done and self.places[t] <= last]
            if takers or var in elsewhere:
                if var in elsewhere or not group.issuperset(takers):
                    return False
                found = True
        return found


def if_given(
    rule: Pullback, operator: Operator, cts: Sequence[Variable | None], inside: Inside
) -> dict[Variable, Variable]:
    """The cotangents that `inside` records for outputs of the operator and theirs, which run if one of `cts` comes."""
    builder = rule.builder
    outputs, given = zip(*[(v, ct) for v, ct in zip(operator.outputs, cts) if ct is not None])
    with builder.sub_block() as then:
        formals = [then.add_input(ct.meta, "ct", stop_gradient=False) for ct in given]
        for formal, ct in zip(formals, given):
            put_marks(formal, marks_of([ct]) - ({MAY_BE_MISSING} if len(given) == 1 else set()))
        found = inside(outputs, formals)
        then.outputs = [builder.value(ct) for ct in found.values()]
        marks = [marks_of([ct]) for ct in then.outputs]
    prune(then)
    with builder.sub_block() as orelse:
        for ct in given:
            orelse.add_input(ct.meta, "ct", stop_gradient=False)
        orelse.outputs = [None] * len(found)
    outer = align_captures([then, orelse])
    results = if_op(is_given_op(*given), *given, *outer, then=then, orelse=orelse)
    return {v: put_marks(mark_missing(ct), m) for v, ct, m in zip(found, results, marks)}
