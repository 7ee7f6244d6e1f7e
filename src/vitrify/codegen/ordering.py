"""Sorting, running sums, elements and rows that integers name: an assembler with methods for them."""

from __future__ import annotations

from math import prod

import numpy as np

from ..core.dtype import as_dtype
from ..ops.like import cast_op
from .calling import CallingAssembler
from .emit import INT64, memory_type
from .errors import NoNativeForm
from .missing import known_flag
from .operands import Operand, broadcast, expanded
from .order_steps import KEYS
from .products import moved
from .sharing import in_parts

# Elements from which on threads share the work.
_LARGE = 1 << 15


class OrderingAssembler(CallingAssembler):
    """An assembler with these steps. Raises NoNativeForm for dtypes that they are not for."""

    longest_order: float = 256
    longest_values: float = 64
    """Rows that are ordered, in elements, where places are wanted and where they are not."""

    def order(self, x: Operand, descending: bool) -> Operand:
        """The places, as int64, of the last dimension's elements in order; equal ones stay in theirs."""
        type = _key(x)
        if x.shape[-1] > self.longest_order:
            raise NoNativeForm(f"NumPy orders rows of {x.shape[-1]} elements in less time")
        x, out, count = self.contiguous(x), self.new(x.shape, INT64), x.shape[-1]

        def part(start: int, stop: int) -> None:
            own = moved(out, start * count * 8), moved(x, start * count * x.dtype.itemsize)
            self.add(f"ordered_{type}", [*own, self.new((count,), INT64), stop - start, count, int(descending)])

        in_parts(self, prod(x.shape[:-1]), x.size >= _LARGE, part)
        return out

    def pick_along(self, x: Operand, places: Operand) -> Operand:
        """The elements of the last dimension at these places, of which each row of x has its own."""
        if x.dtype.itemsize not in (1, 2, 4, 8) or x.shape[:-1] != places.shape[:-1]:
            raise NoNativeForm(f"elements of {x.dtype}{x.shape} at places {places.shape} have no native form")
        x, places = self.contiguous(x), self._places(places)
        out, count, wanted = self.new(places.shape, x.dtype), x.shape[-1], places.shape[-1]

        def part(start: int, stop: int) -> None:
            rows = ((out, wanted), (x, count), (places, wanted))
            own = [moved(v, start * size * v.dtype.itemsize) for v, size in rows]
            self.add(f"picked_along_{x.dtype.itemsize}", [*own, stop - start, count, wanted])

        in_parts(self, prod(x.shape[:-1]), places.size >= _LARGE, part)
        return out

    def put_rows(self, table: Operand, places: Operand, rows: Operand) -> None:
        """Write rows into a table at these places of its first dimension, one after the other; or one row at all."""
        places, rows = self._places(places), self.contiguous(rows)
        size = prod(table.shape[1:]) * table.dtype.itemsize
        if not table.is_contiguous or rows.dtype != table.dtype or rows.size not in (
            prod(table.shape[1:]), places.size * prod(table.shape[1:])
        ):  # fmt: skip
            raise NoNativeForm("the rows to write are not those of the table")
        step = size if rows.ndim > table.ndim - 1 else 0
        self.add("put_rows", [table, rows, places, places.size, table.shape[0], size, step])

    def run_over(self, name: str, x: Operand, axis: int, reverse: bool) -> Operand:
        """The "sum" or "prod" of the elements so far along an axis; from the end if `reverse`."""
        type, x = _key(x), self.contiguous(x)
        out, count = self.new(x.shape, x.dtype), x.shape[axis]
        width, way = prod(x.shape[axis + 1 :]), (count - 1, -1) if reverse else (0, 1)

        def part(start: int, stop: int) -> None:
            own = [moved(v, start * count * width * x.dtype.itemsize) for v in (out, x)]
            self.add(f"running_{name}_{type}", [*own, stop - start, count, width, *way])

        in_parts(self, prod(x.shape[:axis]), x.size >= _LARGE, part)
        return out

    def place_over(self, name: str, x: Operand, axis: int) -> Operand:
        """The place of the last "max" or "min" of the elements so far along an axis, as int64."""
        type, x = _key(x), self.contiguous(x)
        out, count, width = self.new(x.shape, INT64), x.shape[axis], prod(x.shape[axis + 1 :])

        def part(start: int, stop: int) -> None:
            own = [moved(v, start * count * width * v.dtype.itemsize) for v in (out, x)]
            self.add(f"running_{name}_{type}", [*own, stop - start, count, width])

        in_parts(self, prod(x.shape[:axis]), x.size >= _LARGE, part)
        return out

    def extreme_place(self, name: str, x: Operand, axis: int) -> Operand:
        """The place of the first "max" or "min" along an axis, as int64."""
        if not x.shape[axis]:
            raise NoNativeForm(f"{x.shape} has no {name}")
        type = _key(x)
        x = self.contiguous(self.view(lambda a: np.moveaxis(a, axis, -1), x))
        out, count = self.new(x.shape[:-1], INT64), x.shape[-1]

        def part(start: int, stop: int) -> None:
            own = moved(out, start * 8), moved(x, start * count * x.dtype.itemsize)
            self.add(f"{name}_place_{type}", [*own, stop - start, count])

        in_parts(self, out.size, x.size >= _LARGE, part)
        return out

    def divide(self, x: Operand, y: Operand, rest: bool) -> Operand:
        """Quotients of integers of one dtype, rounded down, or what they leave; a divisor of 0 ends the run."""
        if x.dtype != y.dtype or x.dtype.kind != "i" or x.dtype not in KEYS:
            raise NoNativeForm(f"division of {x.dtype} by {y.dtype} has no native form")
        shape = broadcast([x.shape, y.shape])
        divisor = y if y.size == 1 else self.contiguous(expanded(y, shape))
        out = self.new(shape, x.dtype)
        words = [out, self.contiguous(expanded(x, shape)), self.contiguous(divisor), out.size]
        self.add(f"divided_{memory_type(x.dtype)}", [*words, int(y.size != 1), int(rest)])
        self.steps[-1].is_sure = y.buffer.size == y.dtype.itemsize and bool(known_flag(y))
        return out

    def _places(self, places: Operand) -> Operand:
        if places.dtype.kind not in "iu":
            raise NoNativeForm(f"{places.dtype} names no places")
        wide = places if places.dtype == INT64 else self.apply(cast_op, places, dtype=as_dtype(INT64))
        return self.contiguous(wide)


def _key(x: Operand) -> str:
    if x.dtype not in KEYS or not x.ndim:
        raise NoNativeForm(f"ordering and running over {x.dtype}{x.shape} have no native form")
    return memory_type(x.dtype)
