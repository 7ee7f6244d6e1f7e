"""Machine code for a group with reductions over the last dimensions, as a function of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..core.meta import UNKNOWN, Shape
from ..ir.ssa import Op, Value
from ..ops.scalar import UFUNCS
from .accumulators import combiner_of, gathered_in
from .row_plan import RowPlan, dtype_of
from .rows import RowSignature

_NOTHING = np.zeros((), np.uint8)


class Prepared(NamedTuple):
    """What a kernel reads and writes, in the form in which it may be cut into parts, and the results themselves."""

    inputs: list[Any]
    outputs: list[Any]
    results: list[Any]
    shape: Shape = ()


class _Column:
    """A reduction over all rows, of what each part of them has left."""

    def __init__(self, op: Op, rank: int) -> None:
        self._combiner = combiner_of(op)
        self._dtype = gathered_in(op)
        self._result = dtype_of(op.outputs[0])
        self._total = self._combiner.dtype(dtype_of(op.values[0]), self._result)
        self._keeps = bool(op.attrs["keepdim"])
        self._rank = rank

    def begin(self, size: int) -> Any:
        """What no row has changed yet."""
        return np.full(size, self._combiner.first(self._dtype), self._dtype)

    @np.errstate(all="ignore")
    def end(self, parts: list[Any], shape: Shape) -> Any:
        """The result of all rows; they have this shape."""
        total = parts[0]
        for part in parts[1:]:
            total = getattr(np, UFUNCS[self._combiner.combine])(total, part)
        lead = len(shape) - self._rank
        if self._combiner.finish is not None:
            total = total.astype(self._total)
            total = self._combiner.finish(np, total, float(prod(shape[:lead])))
        whole = (*[1] * lead, *shape[lead:]) if self._keeps else shape[lead:]
        if whole != total.shape:  # in memory of its own, as all results
            total, flat = np.empty(whole, self._result), total
            total.reshape(-1)[:] = flat
        return total.astype(self._result, copy=False)


class RowKernel:
    """Machine code for one group of operators on rows. Threads may share it; it runs without Python's lock.

    It is for arrays of the dtypes that the group was recorded with, of any sizes that fit each other as they did then.
    """

    whole = 1
    """How many of the last dimensions may not be cut."""

    def __init__(self, ufunc: np.ufunc, signature: RowSignature, plan: RowPlan) -> None:
        self._ufunc = ufunc
        self._signature = signature
        self._rank = plan.rows.rank
        self._shape = plan.rows.shape
        self._recorded = [_shape(plan.graph.inputs[i]) for i in signature.reads]
        # Whether results keep the dimensions of rows, as 1.
        self._keeps = [len(_shape(v)) == len(self._shape) for v in plan.outputs]
        self._columns = [_Column(op, plan.rows.rank) for op in plan.columns]
        made = [*plan.outputs, *[op.outputs[0] for op in plan.columns]]
        self._order = [made.index(v) for v in plan.graph.outputs if v is not None]
        self._last: tuple[list[Shape], Shape | None] = [], None

    def __call__(self, *arrays: Any) -> tuple[Any, ...] | None:
        """The group's outputs; None where these arrays do not suit, and its operators must be run one by one."""
        return self.run(list(arrays), may_overwrite=False)

    def run(self, arrays: list[Any], may_overwrite: bool = True) -> tuple[Any, ...] | None:
        """As a call; what only the list refers to may be overwritten."""
        found = self.prepared(arrays, may_overwrite)
        if found is None:
            return None
        try:
            return self.finish(found, [self.write(found.inputs, found.outputs)])
        except (TypeError, ValueError, MemoryError):  # the operators themselves raise it, with the user's line
            return None

    def prepared(self, arrays: list[Any], may_overwrite: bool) -> Prepared | None:
        """The arrays that are read, and new ones for the results, each with one last dimension for its rows.

        None where they do not fit each other.
        """
        signature = self._signature
        given = [arrays[i] for i in signature.reads]
        if any(a.dtype != d for a, d in zip(given, signature.inputs)):
            return None
        shape = self._sizes([a.shape for a in given])
        if shape is None:
            return None
        lead = shape[: len(shape) - self._rank]
        reduced = (*lead, *(1,) * self._rank)
        narrow = signature.narrow[len(given) :]
        try:
            inputs = [self._lifted(a, is_narrow) for a, is_narrow in zip(given, signature.narrow)]
            results = [
                np.empty((reduced if keeps else lead) if is_narrow else shape, dtype)
                for is_narrow, keeps, dtype in zip(narrow, self._keeps, signature.outputs)
            ]
        except MemoryError:
            return None
        row = (*lead, prod(shape[len(lead) :]))
        one = (*lead, 1)
        lifted = [a.reshape(one if n else row) for a, n in zip(results, narrow)]
        # Where rows have no results, one that nobody writes says how many rows there are.
        return Prepared(inputs, lifted or [np.broadcast_to(_NOTHING, one)], results, shape)

    def write(self, arrays: Sequence[Any], outputs: Sequence[Any]) -> list[Any]:
        """Compute parts of what was `prepared`; gives what `finish` takes of each."""
        if not self._signature.outputs:
            outputs = [np.empty(a.shape, np.uint8) for a in outputs]
        narrow = (*self._signature.narrow, *[True] * (not self._signature.outputs))
        operands = [a[..., 0] if is_narrow else a for a, is_narrow in zip((*arrays, *outputs), narrow)]
        size = next(a.shape[-1] for a, is_narrow in zip(arrays, narrow) if not is_narrow)
        scratch = [np.empty(size * bytes_, np.uint8) for bytes_ in self._signature.scratch]
        columns = [column.begin(size) for column in self._columns]
        count = len(arrays)
        self._ufunc(*operands[:count], *scratch, *columns, out=tuple(operands[count:]), casting="no")
        return columns

    def finish(self, prepared: Prepared, parts: Sequence[list[Any]]) -> tuple[Any, ...]:
        """The results, once all parts are written."""
        if not self._columns:
            return tuple(prepared.results)
        shape = prepared.shape
        ends = [column.end([part[i] for part in parts], shape) for i, column in enumerate(self._columns)]
        made = [*prepared.results, *ends]
        return tuple([made[i] for i in self._order])

    def _lifted(self, array: Any, is_narrow: bool) -> Any:
        """The array, its elements in their order, with one last dimension for those of a row."""
        if not array.flags.c_contiguous:
            array = np.ascontiguousarray(array)
        lead = array.shape[: max(array.ndim - self._rank, 0)]
        if is_narrow:
            return array.reshape((*lead, 1))
        return array if self._rank == 1 else array.reshape((*lead, prod(array.shape[-self._rank :])))

    def _sizes(self, shapes: list[Shape]) -> Shape | None:
        """The shape of what has whole rows; None where shapes do not fit each other, or nothing is in them."""
        last = self._last
        if last[0] == shapes:
            return last[1]
        found = self._fitted(shapes)
        self._last = shapes, found
        return found

    def _fitted(self, shapes: list[Shape]) -> Shape | None:
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


__all__ = ["Prepared", "RowKernel"]
