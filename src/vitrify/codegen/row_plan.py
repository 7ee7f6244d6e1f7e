"""What a row kernel does in which loop over a row.

Reductions cut the computation of a row into phases: what depends on no reduction is computed in the first loop over the
row's elements, what depends on the results of the first loop in the second, and so on. Between them stand single
numbers of the row. Elements that a later loop needs again are loaded or computed once more, or kept in memory where
computing them takes a function of libm or a division.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..core.meta import Meta
from ..ir.rows import Rows, column_rank, drops_rows, is_pointwise, reduction_rank, rows_of
from ..ir.ssa import Graph, Op, Value
from ..ops.expression_size import primitives_of
from . import libm
from .emit import Dtype, register_type
from .errors import NoNativeForm

_SLOW = {
    *libm.UNARY, *libm.BINARY, "sigmoid", "softplus", "logaddexp", "floordiv", "mod", "div", "reciprocal", "sqrt",
    "rsqrt",
}  # fmt: skip


@dataclass(eq=False)
class RowPlan:
    """The operators of a group of rows, by phase.

    full: values that have an element for each one of a row; the others are one number for each row. phase: the loop in
    which a value is computed; numbers of a row stand before the loop of their phase. kept: full values that are stored
    for later loops, each with the output in whose memory it lies until that is written, or None. columns: reductions
    over all rows, whose results are there when all are done.
    """

    graph: Graph
    rows: Rows
    made: dict[Value, Op]
    full: set[Value]
    phase: dict[Value, int]
    kept: dict[Value, Value | None] = field(default_factory=dict)
    columns: list[Op] = field(default_factory=list)

    @property
    def loops(self) -> range:
        """The numbers of all loops over a row."""
        reduced = [op.values[0] for op in self.graph.ops if reduction_rank(op) or column_rank(op)]
        last = max((self.phase[v] for v in (*self.graph.outputs, *reduced) if v in self.full), default=0)
        return range(last + 1)

    def reductions(self, phase: int) -> list[Op]:
        """The reductions that a loop computes."""
        return [op for op in self.graph.ops if reduction_rank(op) and self.phase[op.values[0]] == phase]

    def numbers(self, phase: int) -> list[Op]:
        """The operators on numbers of a row between two loops, in order."""
        return [
            op for op in self.graph.ops
            if not (reduction_rank(op) or column_rank(op)) and op.outputs[0] not in self.full
            and self.phase[op.outputs[0]] == phase
        ]  # fmt: skip

    @property
    def outputs(self) -> list[Value]:
        """The results that rows give, in order: those of columns are made of what all rows leave."""
        ends = {op.outputs[0] for op in self.columns}
        return [v for v in self.graph.outputs if v is not None and v not in ends]

    @property
    def scratch(self) -> list[Value]:
        """Values kept in memory of their own."""
        return [v for v, place in self.kept.items() if place is None]


def dtype_of(value: Value) -> Dtype:
    """The dtype of a value that has a native form."""
    if not isinstance(value.meta, Meta):
        raise NoNativeForm("lists and frames have no native form")
    register_type(value.meta.dtype.np)
    return value.meta.dtype.np


def plan_of(graph: Graph) -> RowPlan:
    """The plan of a graph of operators that compute one kind of rows. Raises NoNativeForm."""
    rows = _common_rows(graph)
    made = {v: op for op in graph.ops for v in op.outputs}
    plan = RowPlan(graph, rows, made, set(), {})
    for value in graph.inputs:
        if _is_full(value, rows):
            plan.full.add(value)
        plan.phase[value] = 0
    for op in graph.ops:
        _place(plan, op)
    for out in graph.outputs:
        if out is None or out not in made:
            raise NoNativeForm("an output is none of what the operators compute")
        if not column_rank(made[out]) and (out in plan.full) != (out.meta.shape == rows.shape):  # type: ignore[union-attr]
            raise NoNativeForm("an output repeats one number of a row")
    _keep(plan)
    return plan


def _common_rows(graph: Graph) -> Rows:
    first, *others = sorted(((_rows_of(op), op) for op in graph.ops), key=lambda pair: -pair[0].rank)
    rows = first[0]
    for other, op in others:
        joined = rows.with_(other)
        if joined is None:
            names = f"{first[1].op.name} and {op.op.name}"
            raise NoNativeForm(f"{names} compute rows of {rows.shape} and {other.shape} that are no common ones")
        rows = joined
    return rows


def _rows_of(op: Op) -> Rows:
    for value in (*op.values, *op.outputs):
        dtype_of(value)
    found = rows_of(op) if is_pointwise(op) or op.op.combiner is not None else None
    if found is None:
        raise NoNativeForm(f"{op.op.name} is no operator on rows")
    return found


def _is_full(value: Value, rows: Rows) -> bool:
    dtype_of(value)
    if rows.is_narrow(value):
        return False
    if not rows.is_whole(value):
        raise NoNativeForm(f"an input of shape {value.meta.shape} varies along a part of a row")  # type: ignore[union-attr]
    return True


def _place(plan: RowPlan, op: Op) -> None:
    """Note in which loop the operator's result is computed, and of which kind it is."""
    out = op.outputs[0]
    dtype_of(out)
    values = op.values
    if not values:
        raise NoNativeForm(f"{op.op.name} computes with constants alone")
    if any(v in plan.made and drops_rows(plan.made[v]) for v in values):
        raise NoNativeForm("the result of a reduction does not broadcast to its rows")
    phase = max(plan.phase[v] for v in values)
    if reduction_rank(op) or column_rank(op):
        if values[0] not in plan.full:
            raise NoNativeForm(f"{op.op.name} of one number for each row")
        phase += 1
        if column_rank(op):
            plan.columns.append(op)
    elif any(v in plan.full for v in values):
        plan.full.add(out)
    plan.phase[out] = phase


def _keep(plan: RowPlan) -> None:
    """Choose what is kept in memory between loops, and where."""
    outputs = [v for v in plan.outputs if v in plan.full]
    slow = {op.outputs[0] for op in plan.graph.ops if op.outputs[0] in plan.full and _is_slow(op)}
    last = _last_uses(plan, slow | {*outputs})
    taken: dict[Value, int] = {}  # the last loop that needs what lies where this output will be
    for op in plan.graph.ops:
        value = op.outputs[0]
        if value not in plan.full or last.get(value, 0) <= plan.phase[value]:
            continue
        if value in outputs:
            plan.kept[value] = value
        elif value in slow:
            # Within a loop, a vector is stored behind all that is loaded for it: what is read last there gives way.
            at = plan.phase[value]
            free = (o for o in outputs if taken.get(o, at) <= at < plan.phase[o] >= last[value])
            place = next((o for o in free if dtype_of(o) == dtype_of(value)), None)
            plan.kept[value] = place
            if place is not None:
                taken[place] = last[value]


def _is_slow(op: Op) -> bool:
    return not _SLOW.isdisjoint(primitives_of(op.op.scalar, len(op.inputs), op.attrs))


def _last_uses(plan: RowPlan, stored: set[Value]) -> dict[Value, int]:
    """The last loop that needs each full value, directly or to compute others anew that are not `stored`."""
    last: dict[Value, int] = {}
    for op in reversed(plan.graph.ops):
        out = op.outputs[0]
        if out in plan.full:
            at = plan.phase[out] if out in stored else max(plan.phase[out], last.get(out, 0))
        elif reduction_rank(op) or column_rank(op):
            at = plan.phase[op.values[0]]
        else:
            continue
        for value in op.values:
            last[value] = max(last.get(value, 0), at)
    return last
