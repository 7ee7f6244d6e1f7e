"""Machine code for a group with reductions over the last dimensions, as a function of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..core.meta import Shape
from ..ops.scalar import UFUNCS
from .row_form import Column, RowForm

_NOTHING = np.zeros((), np.uint8)


class Prepared(NamedTuple):
    """What a kernel reads and writes, in the form in which it may be cut into parts, and the results themselves."""

    inputs: list[Any]
    outputs: list[Any]
    results: list[Any]
    shape: Shape = ()


class RowKernel:
    """Machine code for one group of operators on rows. Threads may share it; it runs without Python's lock.

    It is for arrays of the dtypes that the group was recorded with, of any sizes that fit each other as they did then.
    """

    whole = 1
    """How many of the last dimensions may not be cut."""

    def __init__(self, ufunc: np.ufunc, form: RowForm) -> None:
        self._ufunc = ufunc
        self._form = form
        self._signature = form.signature
        self._rank = form.rank
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
        narrow = signature.narrow[len(given) :]
        try:
            inputs = [self._lifted(a, is_narrow) for a, is_narrow in zip(given, signature.narrow)]
            results = [np.empty(own, dtype) for own, dtype in zip(self._form.results(shape), signature.outputs)]
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
        columns = [np.full(size, c.combiner.first(c.gathered), c.gathered) for c in self._form.columns]
        count = len(arrays)
        self._ufunc(*operands[:count], *scratch, *columns, out=tuple(operands[count:]), casting="no")
        return columns

    def finish(self, prepared: Prepared, parts: Sequence[list[Any]]) -> tuple[Any, ...]:
        """The results, once all parts are written."""
        form = self._form
        if not form.columns:
            return tuple(prepared.results)
        ends = [self._end(c, [part[i] for part in parts], prepared.shape) for i, c in enumerate(form.columns)]
        made = [*prepared.results, *ends]
        return tuple([made[i] for i in form.order])

    @np.errstate(all="ignore")
    def _end(self, column: Column, parts: list[Any], shape: Shape) -> Any:
        """The result of a column, of what each part of the rows has left; all rows have this shape."""
        total, combiner = parts[0], column.combiner
        for part in parts[1:]:
            total = getattr(np, UFUNCS[combiner.combine])(total, part)
        if combiner.finish is not None:
            total = combiner.finish.on_numpy(total.astype(column.total), float(self._form.count(shape)))
        whole = self._form.column_result(column, shape)
        if whole != total.shape:  # in memory of its own, as all results
            total, flat = np.empty(whole, column.result), total
            total.reshape(-1)[:] = flat
        return total.astype(column.result, copy=False)

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
        found = self._form.fitted(shapes)
        self._last = shapes, found
        return found


__all__ = ["Prepared", "RowKernel"]
