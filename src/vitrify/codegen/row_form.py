"""What a group of operators on rows makes of arrays, whoever calls its machine code: sizes, results, sums over rows."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from ..core.meta import UNKNOWN, Shape
from ..ir.ssa import Op, Value
from ..ops.combiner import Combiner
from .accumulators import combiner_of, gathered_in
from .emit import Dtype
from .row_plan import RowPlan, dtype_of
from .rows import RowSignature


@dataclass(frozen=True)
class Column:
    """A reduction over all rows.

    gathered: the dtype in which rows are combined. total: that of the whole before `combiner.finish`. keeps: whether
    the result keeps the dimensions that count rows, as 1.
    """

    combiner: Combiner
    gathered: Dtype
    total: Dtype
    result: Dtype
    keeps: bool

    @classmethod
    def of(cls, op: Op) -> Column:
        """That of an operator."""
        combiner, result = combiner_of(op), dtype_of(op.outputs[0])
        total = combiner.dtype(dtype_of(op.values[0]), result)
        return cls(combiner, gathered_in(op), total, result, bool(op.attrs["keepdim"]))


class RowForm:
    """The operands of a row kernel, and which shapes they have for arrays of all sizes. Threads may share it.

    keeps: for each result of rows, whether it keeps the dimensions of rows, as 1. order: where each of the group's
    outputs stands among the results of rows and, behind them, of columns.
    """

    def __init__(self, signature: RowSignature, plan: RowPlan) -> None:
        self.signature = signature
        self.rank = plan.rows.rank
        self._shape = plan.rows.shape
        self._recorded = [_shape(plan.graph.inputs[i]) for i in signature.reads]
        self.keeps = [len(_shape(v)) == len(self._shape) for v in plan.outputs]
        self.columns = [Column.of(op) for op in plan.columns]
        made = [*plan.outputs, *[op.outputs[0] for op in plan.columns]]
        self.order = [made.index(v) for v in plan.graph.outputs if v is not None]

    def results(self, shape: Shape) -> list[Shape]:
        """The shapes of the results of rows, where what has whole rows is of this one."""
        lead = shape[: len(shape) - self.rank]
        narrow = self.signature.narrow[len(self.signature.reads) :]
        reduced = (*lead, *(1,) * self.rank)
        return [(reduced if keeps else lead) if is_narrow else shape for is_narrow, keeps in zip(narrow, self.keeps)]

    def column_result(self, column: Column, shape: Shape) -> Shape:
        """The shape of what a column gives."""
        lead = len(shape) - self.rank
        return (*[1] * lead, *shape[lead:]) if column.keeps else shape[lead:]

    def count(self, shape: Shape) -> int:
        """How many rows there are."""
        return prod(shape[: len(shape) - self.rank])

    def fitted(self, shapes: list[Shape]) -> Shape | None:
        """The shape of what has whole rows; None where shapes do not fit each other, or nothing is in them."""
        whole = list(self._shape)
        for shape, recorded in zip(shapes, self._recorded):
            if len(shape) != len(recorded):
                return None
            for at, (size, known) in enumerate(zip(shape, recorded), len(whole) - len(shape)):
                wanted = 1 if known == 1 else whole[at]
                if wanted == UNKNOWN:
                    whole[at] = size
                elif size != wanted:
                    return None
        return None if UNKNOWN in whole or prod(whole) == 0 else tuple(whole)


def _shape(value: Value) -> Shape:
    return value.meta.shape  # type: ignore[union-attr]


__all__ = ["Column", "RowForm"]
