"""Matrix products as steps of a plan: by BLAS, or by code of our own where that was measured to be faster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ops.registry import get_op
from . import blas
from .emit import INT64, Dtype
from .errors import NoNativeForm
from .operands import ARENA, Buffer, Operand, Shape, expanded
from .own_products import OwnGemm, own_gemm, window_gemm
from .sharing import bounds, shared

if TYPE_CHECKING:
    from .assembler import Assembler

# Multiplications from which on a product takes several times as long as waking the other threads.
_LARGE = 1 << 20
# Columns that tiles have: parts begin at multiples of them.
_COLUMNS = 64
# Rows of a product below which most of a tile would be idle.
_FEW_ROWS = 4
OWN_PRODUCTS = "own_products"
NONE = -1
"""The word for a table that there is none of."""


def add_products(n: Assembler, x: Operand, y: Operand, out: Operand, batch: Shape, bias: Operand | None = None) -> None:
    """out = x y, for stacks of matrices, plus a number for each column where that is given."""
    *_, rows, columns = out.shape
    own = own_gemm(rows, columns, x.shape[-1], out.dtype, n.team)
    if own is None:
        x, y = _for_blas(n, x), _for_blas(n, y)
    x, y = (expanded(v, (*batch, *v.shape[-2:])) for v in (x, y))
    along = None if bias is None or own is None else n.contiguous(expanded(bias, (columns,)))
    sizes, within = (rows, columns, x.shape[-1]), (*x.strides[-2:], *y.strides[-2:], columns * out.dtype.itemsize)
    count, each = (batch[-1], (x.strides[-3], y.strides[-3], out.strides[-3])) if batch else (1, (0, 0, 0))
    stacks = []
    for outer in np.ndindex(batch[:-1]):
        first = [moved(v, sum(i * s for i, s in zip(outer, v.strides))) for v in (x, y, out)]
        stacks.append(Stack(first[0], first[1], first[2], sizes, within, count, each, along=along))
    if own is not None:
        add_own(n, own, stacks)
        return
    for stack in stacks:
        _add_blas(n, stack)
    if bias is not None:
        n.apply_into(out, get_op("add"), out, bias)


def add_onto(n: Assembler, x: Operand, y: Operand, out: Operand) -> bool:
    """out += x y, for two matrices; False, and nothing, where the product needs an array of its own."""
    if x.ndim != 2 or y.ndim != 2 or out.shape != (x.shape[0], y.shape[1]) or out.dtype != x.dtype:
        return False
    (rows, inner), columns = x.shape, y.shape[1]
    own = own_gemm(rows, columns, inner, out.dtype, n.team)
    if own is None or not own.adds or not out.is_contiguous:
        return False
    steps = (*x.strides, *y.strides, columns * out.dtype.itemsize)
    n.bytes += out.buffer.size
    add_own(n, own, [Stack(x, y, out, (rows, columns, inner), steps, adds=True)])
    return True


def add_windows(
    n: Assembler, weight: Operand, x: Operand, out: Operand, koffsets: Any, joffsets: Any, bias: Operand | None
) -> None:
    """Products with windows, as `Assembler.windows_product` says."""
    images, groups, rows, columns = out.shape
    inner = len(koffsets)
    own = window_gemm(rows, columns, inner, out.dtype)
    if own is None:
        raise NoNativeForm(f"windows of {out.dtype} are no faster here")
    if groups > 1 and rows < _FEW_ROWS:
        raise NoNativeForm("groups of so few channels are no faster")
    tables = (n.constant(np.asarray(koffsets, INT64)), n.constant(np.asarray(joffsets, INT64)))
    bias = None if bias is None else n.contiguous(bias)
    each = (weight.strides[0], x.strides[0], out.strides[0])
    steps = (*weight.strides[-2:], 0, 0, out.strides[-2])
    stacks = []
    for g in range(groups):
        first = [moved(v, g * v.strides[1]) for v in (weight, x, out)]
        sizes = (rows, columns, inner)
        stacks.append(Stack(first[0], first[1], first[2], sizes, steps, images, each, tables, bias))
    add_own(n, own, stacks)


@dataclass(frozen=True)
class Stack:
    """Products of one step: the first of each matrix, rows, columns and inner size, steps in bytes from row to row and
    from column to column of x, then of y, from row to row of out; how many, and the steps from one to the next.

    With tables, the offsets of y's rows and columns, y's own steps do not count. bias: what the rows of out begin with;
    along: what its columns do. adds: to what out has, if it is one product.
    """

    x: Operand
    y: Operand
    out: Operand
    sizes: tuple[int, int, int]
    steps: tuple[int, ...]
    count: int = 1
    each: tuple[int, int, int] = (0, 0, 0)
    tables: tuple[Operand, Operand] | None = None
    bias: Operand | None = None
    along: Operand | None = None
    adds: bool = False

    @property
    def work(self) -> int:
        """How many multiplications there are."""
        return prod(self.sizes) * self.count

    def some(self, start: int, stop: int) -> Stack:
        """Some of the products."""
        x, y, out = (moved(v, start * step) for v, step in zip((self.x, self.y, self.out), self.each))
        return replace(self, x=x, y=y, out=out, count=stop - start)

    def rows(self, start: int, stop: int) -> Stack:
        """Some rows of each product."""
        _, n, k = self.sizes
        bias = None if self.bias is None else moved(self.bias, start * self.bias.dtype.itemsize)
        x, out = moved(self.x, start * self.steps[0]), moved(self.out, start * self.steps[4])
        return replace(self, x=x, out=out, bias=bias, sizes=(stop - start, n, k))

    def columns(self, start: int, stop: int) -> Stack:
        """Some columns of each product."""
        m, _, k = self.sizes
        y, tables = self.y, self.tables
        if tables is None:
            y = moved(y, start * self.steps[3])
        else:
            tables = (tables[0], moved(tables[1], start * tables[1].dtype.itemsize))
        out = moved(self.out, start * self.out.dtype.itemsize)
        along = None if self.along is None else moved(self.along, start * self.along.dtype.itemsize)
        return replace(self, y=y, tables=tables, out=out, along=along, sizes=(m, stop - start, k))


def moved(x: Operand, by: int) -> Operand:
    """x, so many bytes behind where it lies."""
    return replace(x, offset=x.offset + by)


def add_own(n: Assembler, own: OwnGemm, stacks: Sequence[Stack]) -> None:
    """Products by our own code, shared among threads where they are large."""
    team = n.team
    if team is None or sum(s.work for s in stacks) < _LARGE:
        parts = [[*stacks]]
    elif len(stacks) >= team.size:
        parts = [[*stacks[a:b]] for a, b in bounds(len(stacks), team.size)]
    else:
        cut = [_cut(stack, team.size, own.grain) for stack in stacks]
        parts = [[some[i] for some in cut if i < len(some)] for i in range(max(map(len, cut)))]
    shared(n, team, [lambda part=part: _add_part(n, own, part) for part in parts])  # type: ignore[misc]


def _cut(stack: Stack, parts: int, grain: int) -> list[Stack]:
    """The products in so many parts of like work, whole ones where there are enough; else parts of the columns, or of
    rows that begin at multiples of `grain`.
    """
    if stack.count >= parts:
        return [stack.some(*ends) for ends in bounds(stack.count, parts)]
    m, n, _ = stack.sizes
    if n >= m:
        return [stack.columns(*ends) for ends in bounds(n, parts, _COLUMNS)]
    return [stack.rows(*ends) for ends in bounds(m, parts, grain)]


def _add_part(n: Assembler, own: OwnGemm, stacks: Sequence[Stack]) -> None:
    scratch = Operand(Buffer(ARENA, max(own.scratch(*s.sizes) for s in stacks)), 0, (), (), stacks[0].out.dtype)
    for s in stacks:
        along = s.out if s.adds else s.along
        tables: list[Any] = [*(s.tables or (NONE, NONE)), *(NONE if b is None else b for b in (s.bias, along))]
        words = [own.address, *s.sizes, *s.steps, s.x, s.y, s.out, scratch, s.count, *s.each, *tables]
        n.add(OWN_PRODUCTS, words)


def _name(dtype: Dtype) -> str:
    return "float" if dtype.itemsize == 4 else "double"


def _add_blas(n: Assembler, stack: Stack) -> None:
    rows, columns, inner = stack.sizes
    found = [_layout(stack.y), _layout(stack.x)]  # Fortran's columns are our rows: out' = y' x'
    letters, leading = zip(*[f for f in found if f is not None])
    steps = [stack.each[1], stack.each[0], stack.each[2]]
    n.add(f"products_{_name(stack.out.dtype)}", [
        blas.gemm(stack.out.dtype), columns, rows, inner, *leading, max(columns, 1), *letters, stack.y, stack.x,
        stack.out, stack.count, *steps,
    ])  # fmt: skip


def _for_blas(n: Assembler, x: Operand) -> Operand:
    """x where BLAS can read it: one of the last two dimensions lies side by side, the other has room."""
    return x if _layout(x) is not None else n.copy(x)


def _layout(x: Operand) -> tuple[int, int] | None:
    """How Fortran sees the last two dimensions, as they lie ("N") or not ("T"), and the step between its columns."""
    (rows, columns), (row, column), size = x.shape[-2:], x.strides[-2:], x.dtype.itemsize
    if (columns == 1 or column == size) and (rows == 1 or (row % size == 0 and row >= columns * size)):
        return ord("N"), max(row // size if rows > 1 else columns, columns, 1)
    if (rows == 1 or row == size) and (columns == 1 or (column % size == 0 and column >= rows * size)):
        return ord("T"), max(column // size if columns > 1 else rows, rows, 1)
    return None


__all__ = ["NONE", "OWN_PRODUCTS", "Stack", "add_onto", "add_own", "add_products", "add_windows", "moved"]
