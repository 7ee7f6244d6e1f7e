"""Rows of tables that integers name, as steps of a plan: read, or added to."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from ..core.dtype import as_dtype
from ..ops.like import cast_op
from . import blas
from .emit import FLOAT32, INT64
from .errors import NoNativeForm

if TYPE_CHECKING:
    from .assembler import Assembler
    from .operands import Operand

# The id of no row.
_NONE = -1


def taken(n: Assembler, table: Operand, ids: Operand, axis: int, wraps: bool, zeros: int | None) -> Operand:
    """The slices of a table along an axis that ids name; see `Assembler.take`."""
    table, ids = n.contiguous(table), _ids(n, ids)
    lead, rows, rest = table.shape[:axis], table.shape[axis], table.shape[axis + 1 :]
    out = n.new((*lead, *ids.shape, *rest), table.dtype)
    size = prod(rest) * table.dtype.itemsize
    n.add("taken", [out, table, ids, ids.size, rows, wraps, _NONE if zeros is None else zeros, size, prod(lead)])
    return out


def added(
    n: Assembler, x: Operand, ids: Operand, shape: tuple[int, ...], axis: int, wraps: bool, without: int | None
) -> Operand:
    """Zeros of a shape with slices added along an axis, each where its id says; see `Assembler.add_rows`."""
    dtype, short = x.dtype, x.dtype.itemsize == 2 and x.dtype.kind in "fV"
    if short:  # whose sums would lose digits
        x = n.apply(cast_op, x, dtype=as_dtype(FLOAT32))
    if x.dtype not in blas.DTYPES:
        raise NoNativeForm(f"sums of rows of {dtype} have no native form")
    x, ids = n.contiguous(x), _ids(n, ids)
    lead, rows, rest = shape[:axis], shape[axis], shape[axis + 1 :]
    if x.size != prod(lead) * ids.size * prod(rest):
        raise NoNativeForm("there is not one slice for each id")
    table = n.copy(n.full(shape, 0, x.dtype))
    left = _NONE if without is None else without
    name = "float" if x.dtype.itemsize == 4 else "double"
    n.add(f"added_{name}", [table, x, ids, ids.size, rows, wraps, left, prod(rest), prod(lead)])
    return n.apply(cast_op, table, dtype=as_dtype(dtype)) if short else table


def _ids(n: Assembler, ids: Operand) -> Operand:
    """Integers of any dtype as int64, side by side."""
    if ids.dtype.kind not in "iu":
        raise NoNativeForm(f"{ids.dtype} names no rows")
    return n.contiguous(ids if ids.dtype == INT64 else n.apply(cast_op, ids, dtype=as_dtype(INT64)))


__all__ = ["added", "taken"]
