"""Machine code for a group with reductions over the last dimensions, as a function of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..core.meta import UNKNOWN, Shape
from ..ir.ssa import Value
from .row_plan import RowPlan
from .rows import RowSignature


class Prepared(NamedTuple):
    """What a kernel reads and writes, in the form in which it may be cut into parts, and the results themselves."""

    inputs: list[Any]
    outputs: list[Any]
    results: list[Any]


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
        self._keeps = [len(_shape(v)) == len(self._shape) for v in plan.graph.outputs if v is not None]
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
            self.write(found.inputs, found.outputs)
        except (TypeError, ValueError, MemoryError):  # the operators themselves raise it, with the user's line
            return None
        return tuple(found.results)

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
        return Prepared(inputs, [a.reshape(one if n else row) for a, n in zip(results, narrow)], results)

    def write(self, arrays: Sequence[Any], outputs: Sequence[Any]) -> None:
        """Compute parts of what was `prepared`."""
        narrow = self._signature.narrow
        operands = [a[..., 0] if is_narrow else a for a, is_narrow in zip((*arrays, *outputs), narrow)]
        size = next(a.shape[-1] for a, is_narrow in zip(arrays, narrow) if not is_narrow)
        scratch = [np.empty(size * bytes_, np.uint8) for bytes_ in self._signature.scratch]
        count = len(arrays)
        self._ufunc(*operands[:count], *scratch, out=tuple(operands[count:]), casting="no")

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
