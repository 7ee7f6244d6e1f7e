"""Groups with reductions as steps of a plan: their machine code goes over all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.dtype import as_dtype
from ..core.meta import Shape
from ..ops.like import cast_op
from .elements import over
from .emit import Dtype
from .errors import NoNativeForm
from .row_form import Column, RowForm

if TYPE_CHECKING:
    from .assembler import Assembler
    from .operands import Operand

_BYTE = np.dtype(np.uint8)


@dataclass(frozen=True)
class RowLoop:
    """A compiled group of operators on rows, and its address."""

    form: RowForm
    address: Any


def row_outputs(n: Assembler, loop: RowLoop, values: Sequence[Any]) -> tuple[Operand, ...]:
    """The outputs of the group. Raises NoNativeForm, before any step is added, where the operands do not suit."""
    form, signature = loop.form, loop.form.signature
    given = [values[i] for i in signature.reads]
    if any(x is None for x in given) or tuple(x.dtype for x in given) != signature.inputs:
        raise NoNativeForm("the operands are not those that the kernel is for")
    shape = form.fitted([x.shape for x in given])
    if shape is None:
        raise NoNativeForm("the operands of a group do not fit each other")
    lead = shape[: len(shape) - form.rank]
    size = prod(shape[len(lead) :])
    given = [_side_by_side(n, x, form.rank) for x in given]
    results = [n.new(own, dtype) for own, dtype in zip(form.results(shape), signature.outputs)]
    scratch = [n.new((size * bytes_,), _BYTE) for bytes_ in signature.scratch]
    columns = [_begun(n, column, size) for column in form.columns]
    rows = [_rows(x, form.rank) for x in given]
    fixed = [replace(x, shape=(), strides=()) for x in (*scratch, *columns)]
    # Results may lack the dimensions of rows.
    made = [replace(x, shape=lead, strides=x.strides[: len(lead)]) for x in results]
    words = over(loop.address, size, (*rows, *fixed, *made), lead)
    assert words is not None
    n.add("over_elements", words)
    ends = [_ended(n, column, x, shape, form) for column, x in zip(form.columns, columns)]
    every = (*results, *ends)
    return tuple([every[i] for i in form.order])


def _side_by_side(n: Assembler, x: Operand, rank: int) -> Operand:
    """x, the elements of its last dimensions side by side."""
    row = replace(x, shape=x.shape[-rank:], strides=x.strides[-rank:])
    return x if row.is_contiguous else n.contiguous(x)


def _rows(x: Operand, rank: int) -> Operand:
    """x without the dimensions of rows, whose elements the kernel finds by itself."""
    own = max(x.ndim - rank, 0)
    return replace(x, shape=x.shape[:own], strides=x.strides[:own])


def _begun(n: Assembler, column: Column, size: int) -> Operand:
    """Memory for what rows leave of a column, as it begins."""
    first = n.full((size,), column.combiner.first(column.gathered), column.gathered)
    return n.copy(first)


def _ended(n: Assembler, column: Column, x: Operand, shape: Shape, form: RowForm) -> Operand:
    """The result of a column."""
    finish = column.combiner.finish
    if finish is not None:
        x = _cast(n, x, column.total)
        x = n.apply(finish, x, n.full((), form.count(shape), x.dtype))
    return n.reshape(_cast(n, x, column.result), form.column_result(column, shape))


def _cast(n: Assembler, x: Operand, dtype: Dtype) -> Operand:
    return x if x.dtype == dtype else n.apply(cast_op, x, dtype=as_dtype(dtype))


__all__ = ["RowLoop", "row_outputs"]
