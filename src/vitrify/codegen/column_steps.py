"""Reductions over dimensions before the last ones, as steps `i32 step(ptr *P, intp *c)`: row is added to row.

Some columns at a time, whose results so far stay in the first cache.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from .emit import memory_type
from .inner_loops import LANES, REDUCED, Combine, Total, largest, smallest
from .products import moved
from .sharing import in_parts
from .steps import PARAMETERS, array, word
from .writer import Writer

if TYPE_CHECKING:
    from .assembler import Assembler
    from .operands import Operand

_COLUMNS = 512
# Elements from which on threads share the work, and columns that a part has at least.
_LARGE, _GRAIN = 1 << 16, 64
LEAST_COLUMNS = LANES
"""Fewer columns are reduced one by one."""


def column_steps() -> dict[str, str]:
    """All functions, by name."""
    sums = {f"columns_sum_{code}": _sums(code) for code in REDUCED}
    extremes = {
        f"columns_{name}_{code}": _extremes(name, combine, code)
        for name, combine in (("max", largest), ("min", smallest)) for code in REDUCED
    }  # fmt: skip
    return {**sums, **extremes}


class _Blocks:
    """c: 2 out, 3 x, 4 how many stacks of rows, 5 rows, 6 columns, 7 the elements from row to row."""

    def __init__(self, name: str) -> None:
        self.w = w = Writer("i32", name, PARAMETERS)
        self.out, self.x = array(w, 2), array(w, 3)
        self.stacks, self.rows, self.columns, self.step = (word(w, i) for i in range(4, 8))

    def ends(self, first: str) -> tuple[tuple[bool, object, str, int], ...]:
        """Of columns from here on: those in whole vectors, and the rest; (in vectors?, from, to, by)."""
        w = self.w
        count = w.least(w.value(f"sub i64 {self.columns}, {first}"), _COLUMNS)
        whole = w.value(f"and i64 {count}, {-LANES}")
        return (True, 0, whole, LANES), (False, whole, count, 1)


def _sums(code: str) -> str:
    dtype = REDUCED[code]
    type, wide = memory_type(dtype), "i64" if code == "i64" else "double"
    b = _Blocks(f"columns_sum_{code}")
    w = b.w
    memory = [w.space(f"[{_COLUMNS} x {wide}]", 64) for _ in range(2 if code == "f64" else 1)]
    with w.loop(b.stacks) as stack, w.loop(b.columns, 0, _COLUMNS) as first:
        ends = b.ends(first)
        for place in memory:
            w.call("void", "@llvm.memset.p0.i64", f"ptr {place}", "i8 0", f"i64 {8 * _COLUMNS}", "i1 0")
        with w.loop(b.rows) as r:
            row = w.at(b.x, w.add(w.times(w.add(w.times(stack, b.rows), r), b.step), first), type)
            for in_vectors, start, end, by in ends:
                given, sums = (f"<{LANES} x {t}>" if in_vectors else t for t in (type, wide))
                with w.loop(end, start, by) as i:
                    x = w.value(f"load {given}, ptr {w.at(row, i, type)}, align {dtype.itemsize}")
                    x = w.value(f"fpext {given} {x} to {sums}") if code == "f32" else x
                    Total(w, sums, code, [w.at(place, i, wide) for place in memory]).add(x)
        with w.loop(ends[1][2]) as i:
            total = Total(w, wide, code, [w.at(place, i, wide) for place in memory]).total()
            found = w.value(f"fptrunc double {total} to float") if code == "f32" else total
            w.store(found, b.out, w.add(w.add(w.times(stack, b.step), first), i), type, dtype.itemsize)
    w.line("ret i32 0")
    return w.text


def _extremes(name: str, combine: Combine, code: str) -> str:
    dtype = REDUCED[code]
    type, size = memory_type(dtype), dtype.itemsize
    b = _Blocks(f"columns_{name}_{code}")
    w = b.w
    with w.loop(b.stacks) as stack, w.loop(b.columns, 0, _COLUMNS) as first:
        ends = b.ends(first)
        place = w.add(w.times(w.times(stack, b.rows), b.step), first)
        best = w.at(b.out, w.add(w.times(stack, b.step), first), type)
        given = f"ptr {best}", f"ptr {w.at(b.x, place, type)}", f"i64 {w.times(ends[1][2], size)}"
        w.call("void", "@llvm.memcpy.p0.p0.i64", *given, "i1 0")
        with w.loop(b.rows, 1) as r:
            row = w.at(b.x, w.add(place, w.times(r, b.step)), type)
            for in_vectors, start, end, by in ends:
                kind = f"<{LANES} x {type}>" if in_vectors else type
                with w.loop(end, start, by) as i:
                    old, x = (w.value(f"load {kind}, ptr {w.at(p, i, type)}, align {size}") for p in (best, row))
                    w.line(f"store {kind} {combine(w, kind, old, x)}, ptr {w.at(best, i, type)}, align {size}")
    w.line("ret i32 0")
    return w.text


def add_columns(n: Assembler, name: str, code: str, x: Operand, axes: tuple[int, int], out: Operand) -> None:
    """out = x, whose elements lie side by side, reduced over its dimensions from the first of `axes` to the second."""
    first, end = axes
    stacks, rows, columns = (prod(own) for own in (x.shape[:first], x.shape[first:end], x.shape[end:]))
    size = x.dtype.itemsize
    is_large = x.size >= _LARGE

    def of_stacks(start: int, stop: int) -> None:
        own = moved(out, start * columns * size), moved(x, start * rows * columns * size)
        n.add(f"columns_{name}_{code}", [*own, stop - start, rows, columns, columns])

    def of_columns(start: int, stop: int) -> None:
        own = moved(out, start * size), moved(x, start * size)
        n.add(f"columns_{name}_{code}", [*own, stacks, rows, stop - start, columns])

    if stacks > 1:
        in_parts(n, stacks, is_large, of_stacks)
    else:
        in_parts(n, columns, is_large, of_columns, _GRAIN)


__all__ = ["LEAST_COLUMNS", "add_columns", "column_steps"]
