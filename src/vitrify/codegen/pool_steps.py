"""Pooling as steps of a plan, for arrays with images innermost: vectors of images, window by window.

Windows come in *pieces* as columns of products do (`windows.py`): a table says of each where it begins in the input and
in the output, how many images it has, and which of the offsets of places it reads; at a border there are fewer.
Where images are few, vectors are windows of a row (`pool_rows`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .emit import FLOAT32, INT64
from .operands import Operand
from .products import moved
from .sharing import in_parts
from .steps import PARAMETERS, array, word
from .vectors import BITS, FULL, LANES, between, first_lanes, load, spread, store
from .writer import Writer

if TYPE_CHECKING:
    from .assembler import Assembler

_PIECE = 5
# Elements that are read from which on threads share the work.
_LARGE = 1 << 17


def pool_steps() -> dict[str, str]:
    """The steps' functions, by name."""
    return {"pool_max": _max(), "pool_max_grad": _max_grad(), "pool_rows": _rows()}


class _Piece:
    """One piece of one channel."""

    def __init__(self, w: Writer, at: str) -> None:
        self.w = w
        self.start, self.to, count, self.first, self.end = (w.load(at, i) for i in range(_PIECE))
        self.mask = first_lanes(w, count)

    def load(self, pointer: str) -> str:
        """The elements there."""
        return load(self.w, pointer, self.mask)

    def store(self, value: str, pointer: str) -> None:
        """Write the elements there."""
        store(self.w, value, pointer, self.mask)


def _max() -> str:
    """c: 2 channels, 3 x's step from one to the next, 4 out's, 5 how many pieces, 6 what is less than all; arrays: 7 x,
    8 out, 9 pieces, 10 offsets.
    """
    w = Writer("i32", "pool_max", PARAMETERS)
    x, out, pieces, offsets = (array(w, i) for i in range(7, 11))
    least = w.value(f"bitcast i32 {w.value(f'trunc i64 {word(w, 6)} to i32')} to float")
    lowest = spread(w, least)
    with w.loop(word(w, 2)) as channel:
        source, target = (w.at(p, w.times(channel, word(w, s)), "i8") for p, s in ((x, 3), (out, 4)))
        with w.loop(word(w, 5)) as number:
            piece = _Piece(w, w.at(pieces, w.times(number, _PIECE)))
            begin = w.at(source, piece.start, "i8")
            best = w.variable(FULL, lowest)
            with w.loop(piece.end, piece.first) as t:
                _keep_larger(w, best, piece.load(w.at(begin, w.load(offsets, t), "i8")))
            piece.store(w.value(f"load {FULL}, ptr {best}"), w.at(target, piece.to, "i8"))
    w.line("ret i32 0")
    return w.text


def _keep_larger(w: Writer, best: str, seen: str) -> None:
    """Keep the larger ones, or those that are no numbers."""
    old = w.value(f"load {FULL}, ptr {best}")
    more = w.value(f"fcmp ogt {FULL} {seen}, {old}")
    nan = w.value(f"fcmp uno {FULL} {seen}, {seen}")
    either = w.value(f"or {BITS} {more}, {nan}")
    w.line(f"store {FULL} {w.value(f'select {BITS} {either}, {FULL} {seen}, {FULL} {old}')}, ptr {best}")


class _Row:
    """One row of results of one channel of one image: its windows are those of some rows of x, `first` to `end`."""

    def __init__(self, w: Writer, source: str, first: str, end: str, lowest: str) -> None:
        self.w, self.source, self.first, self.end, self.lowest = w, source, first, end, lowest

    def down(self, column: str) -> str:
        """The largest of the rows in columns from this one on; what is beside x is less than all."""
        w = self.w
        inside = between(w, column, word(w, 9))
        best, start = w.variable(FULL, self.lowest), w.times(column, 4)
        with w.loop(self.end, self.first) as row:
            at = w.at(self.source, w.add(w.times(row, word(w, 10)), start), "i8")
            given = f"ptr {at}, i32 4, {BITS} {inside}, {FULL} {self.lowest}"
            _keep_larger(w, best, w.value(f"call {FULL} @llvm.masked.load.v{LANES}f32.p0({given})"))
        return w.value(f"load {FULL}, ptr {best}")

    def write(self, target: str) -> None:
        """All windows, a vector at a time."""
        w = self.w
        is_two = w.value(f"icmp eq i64 {word(w, 16)}, 2")
        is_one = w.value(f"xor i1 {is_two}, true")
        with w.loop(word(w, 12), 0, LANES) as j:
            begin = w.value(f"sub i64 {w.times(j, word(w, 16))}, {word(w, 18)}")
            best = w.variable(FULL, self.lowest)
            with w.when(is_one), w.loop(word(w, 14)) as t:
                _keep_larger(w, best, self.down(w.add(begin, t)))
            with w.when(is_two), w.loop(word(w, 14), 0, 2) as t:
                column = w.add(begin, t)
                halves = [self.down(w.add(column, half * LANES)) for half in range(2)]
                _keep_larger(w, best, _every_other(w, halves, 0))
                with w.when(w.value(f"icmp slt i64 {w.add(t, 1)}, {word(w, 14)}")):
                    _keep_larger(w, best, _every_other(w, halves, 1))
            mask = between(w, j, word(w, 12))
            store(w, w.value(f"load {FULL}, ptr {best}"), w.at(target, j, "float"), mask)


def _every_other(w: Writer, halves: list[str], first: int) -> str:
    lanes = ", ".join(f"i32 {2 * i + first}" for i in range(LANES))
    return w.value(f"shufflevector {FULL} {halves[0]}, {FULL} {halves[1]}, <{LANES} x i32> <{lanes}>")


def _rows() -> str:
    """c: 2 channels, the steps from one to the next of 3 x and 4 out, 5 images, 6 7 their steps, 8 height and 9 width
    of x, 10 the step from row to row, 11 height and 12 width of out, 13 14 of windows, 15 16 their stride (of rows any,
    of columns one or two), 17 18 places before x, 19 what is less than all; arrays: 20 x, 21 out. Rows lie side by side
    in out, and elements of a row in both.
    """
    w = Writer("i32", "pool_rows", PARAMETERS)
    x, out = array(w, 20), array(w, 21)
    lowest = spread(w, w.value(f"bitcast i32 {w.value(f'trunc i64 {word(w, 19)} to i32')} to float"))
    with w.loop(word(w, 2)) as channel, w.loop(word(w, 5)) as image, w.loop(word(w, 11)) as y:
        source = w.at(x, w.add(w.times(channel, word(w, 3)), w.times(image, word(w, 6))), "i8")
        target = w.at(out, w.add(w.times(channel, word(w, 4)), w.times(image, word(w, 7))), "i8")
        start = w.value(f"sub i64 {w.times(y, word(w, 15))}, {word(w, 17)}")
        is_before = w.value(f"icmp slt i64 {start}, 0")
        first = w.value(f"select i1 {is_before}, i64 0, i64 {start}")
        end = w.least(w.add(start, word(w, 13)), word(w, 8))
        _Row(w, source, first, end, lowest).write(w.at(target, w.times(y, word(w, 12)), "float"))
    w.line("ret i32 0")
    return w.text


def _max_grad() -> str:
    """The cotangent goes to the first maximum of each window. c: 2 channels, 3 x's step from one to the next, 4 out's,
    5 how many pieces, 6 whether windows overlap, so that cotangents are added up; arrays: 7 dx, 8 x, 9 out, 10 ct, 11
    pieces, 12 offsets. x and dx lie alike, and out and ct.
    """
    w = Writer("i32", "pool_max_grad", PARAMETERS)
    dx, x, out, ct, pieces, offsets = (array(w, i) for i in range(7, 13))
    overlap = w.value(f"icmp ne i64 {word(w, 6)}, 0")
    apart = w.value(f"xor i1 {overlap}, true")
    with w.loop(word(w, 2)) as channel:
        flow, source = (w.at(p, w.times(channel, word(w, 3)), "i8") for p in (dx, x))
        most, given = (w.at(p, w.times(channel, word(w, 4)), "i8") for p in (out, ct))
        with w.loop(word(w, 5)) as number:
            piece = _Piece(w, w.at(pieces, w.times(number, _PIECE)))
            best, coming = (piece.load(w.at(p, piece.to, "i8")) for p in (most, given))
            free = w.variable(BITS, piece.mask)
            with w.loop(piece.end, piece.first) as t:
                place = w.add(piece.start, w.load(offsets, t))
                is_equal = w.value(f"fcmp oeq {FULL} {piece.load(w.at(source, place, 'i8'))}, {best}")
                left = w.value(f"load {BITS}, ptr {free}")
                hit = w.value(f"and {BITS} {is_equal}, {left}")
                w.line(f"store {BITS} {w.value(f'xor {BITS} {hit}, {left}')}, ptr {free}")
                own = w.value(f"select {BITS} {hit}, {FULL} {coming}, {FULL} zeroinitializer")
                to = w.at(flow, place, "i8")
                with w.when(overlap):
                    piece.store(w.value(f"fadd {FULL} {piece.load(to)}, {own}"), to)
                with w.when(apart):
                    piece.store(own, to)
    w.line("ret i32 0")
    return w.text


def _table(n: Assembler, places: tuple[Any, Any], images: int, taps: Any) -> tuple[Operand, int]:
    """The pieces of windows that begin at these offsets in x and in out; taps: where the places of each lie in the list
    of offsets.
    """
    per = -(-images // LANES)
    number = np.tile(np.arange(per), len(places[0]))
    start, to, ends = (np.repeat(np.asarray(v), per, 0) for v in (*places, taps))
    by = number * (LANES * 4)
    pieces = np.stack([start + by, to + by, np.minimum(images - number * LANES, LANES), ends[:, 0], ends[:, 1]], 1)
    return n.constant(pieces.astype(np.int64)), len(pieces)


def add_max(
    n: Assembler, x: Operand, out: Operand, places: tuple[Any, Any], taps: Any, offsets: Any, least: Any
) -> None:
    """out = the largest element of each window; x and out are [images, channels, ...], images innermost."""
    table, count = _table(n, places, x.shape[0], taps)
    listed = n.constant(np.asarray(offsets, INT64))
    bits = int(np.asarray(least, FLOAT32).view(np.int32))

    def part(start: int, stop: int) -> None:
        own = (moved(v, start * v.strides[1]) for v in (x, out))
        n.add("pool_max", [stop - start, x.strides[1], out.strides[1], count, bits, *own, table, listed])

    in_parts(n, x.shape[1], x.size >= _LARGE, part)


def add_rows(n: Assembler, x: Operand, out: Operand, windows: Sequence[Sequence[int]], least: Any) -> None:
    """out = the largest element of each window of x, both [images, channels, height, width], whose rows lie side by
    side. windows: of rows and of columns their size, stride, and how many places are before x.
    """
    bits = int(np.asarray(least, FLOAT32).view(np.int32))
    (images, channels, height, width), (rows, columns) = x.shape, out.shape[2:]

    def part(start: int, stop: int) -> None:
        own = (moved(v, start * v.strides[1]) for v in (x, out))
        n.add("pool_rows", [
            stop - start, x.strides[1], out.strides[1], images, x.strides[0], out.strides[0], height, width,
            x.strides[2], rows, columns, *(size for along in zip(*windows) for size in along), bits, *own,
        ])  # fmt: skip

    in_parts(n, channels, x.size >= _LARGE, part)


def add_max_grad(
    n: Assembler, dx: Operand, x: Operand, out: Operand, ct: Operand, places: tuple[Any, Any], taps: Any, offsets: Any,
    overlap: bool,
) -> None:  # fmt: skip
    """dx, at the first maximum of each window, = ct, or += where windows overlap."""
    table, count = _table(n, places, x.shape[0], taps)
    listed = n.constant(np.asarray(offsets, INT64))

    def part(start: int, stop: int) -> None:
        own = (moved(v, start * v.strides[1]) for v in (dx, x, out, ct))
        n.add("pool_max_grad", [stop - start, x.strides[1], out.strides[1], count, overlap, *own, table, listed])

    in_parts(n, x.shape[1], x.size >= _LARGE, part)


__all__ = ["add_max", "add_max_grad", "add_rows", "pool_steps"]
