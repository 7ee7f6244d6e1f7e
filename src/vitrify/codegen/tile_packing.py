"""Matrices of bfloat16 in the order in which tiles (`matrix_tiles.py`) are loaded: pairs of neighbours along the inner
size, in 32 bits, with a zero where that is odd.

    void rows_of_pairs(to, chunks, from, rows, k, row, inner)        to[r, p] = from[r, 2p : 2p + 2]
    void pairs_of_columns(to, chunks, from, columns, k, row, column) to[p, j] = from[2p : 2p + 2, j]

Lines of the first result are 16 `chunks` pairs long; the second has 16 `chunks` lines of 32 pairs. Behind the inner
size lie zeros. Rows are written in sixteens, so there is room for as many; what stands in those that `from` has not is
nobody's.
"""

from __future__ import annotations

from collections.abc import Sequence

from .matrix_tiles import INTS, LANES, SHORTS, lanes_below
from .writer import Writer

WIDTH = 2 * LANES
"""Columns of a packed block: those of two tiles."""
_WIDE = f"<{WIDTH} x i16>"
_ELEMENT = 2
DECLARATIONS = (
    f"declare {_WIDE} @llvm.masked.load.v{WIDTH}i16.p0(ptr, i32, <{WIDTH} x i1>, {_WIDE})",
    f"declare {SHORTS} @llvm.masked.load.v{LANES}i16.p0(ptr, i32, <{LANES} x i1>, {SHORTS})",
    f"declare void @llvm.masked.store.v{WIDTH}i16.p0({_WIDE}, ptr, i32, <{WIDTH} x i1>)",
)


def packing_ir() -> str:
    """Both functions."""
    return "\n\n".join([_rows_of_pairs(), _pairs_of_columns()])


def shorts_below(w: Writer, at: str, mask: str, lanes: int) -> str:
    """16-bit elements of memory where the mask says so, else zeros."""
    type = f"<{lanes} x i16>"
    return w.call(type, f"@llvm.masked.load.v{lanes}i16.p0", f"ptr {at}", f"i32 {_ELEMENT}", f"<{lanes} x i1> {mask}",
                  f"{type} zeroinitializer")  # fmt: skip


def _rows_of_pairs() -> str:
    w = Writer("void", "rows_of_pairs", (
        "ptr %to", "i64 %chunks", "ptr %from", "i64 %rows", "i64 %k", "i64 %row", "i64 %inner"
    ))  # fmt: skip
    line = w.times("%chunks", LANES)
    lies, stands = (w.value(f"icmp eq i64 {step}, {_ELEMENT}") for step in ("%inner", "%row"))
    with w.when(lies):
        with w.loop("%rows") as r, w.loop(line, 0, LANES) as p:
            _put(w, _pairs_along(w, w.times(r, "%row"), p, "true"), w.add(w.times(r, line), p))
        w.leave("void")
    with w.when(stands):
        with w.loop(line, 0, LANES) as p, w.loop("%rows", 0, LANES) as r:
            mask = lanes_below(w, w.value(f"sub i64 %rows, {r}"))
            across = [_pairs_across(w, r, w.add(p, i), mask) for i in range(LANES)]
            for i, pairs in enumerate(exchanged(w, across)):
                _put(w, pairs, w.add(w.times(w.add(r, i), line), p))
        w.leave("void")
    with w.loop("%rows") as r, w.loop(line) as p:
        pair = _pair(w, w.times(r, "%row"), p)
        w.store(pair, "%to", w.add(w.times(r, line), p), "i32", 4)
    w.line("ret void")
    return w.text


def _put(w: Writer, pairs: str, place: str, type: str = INTS) -> None:
    w.line(f"store {type} {pairs}, ptr {w.at('%to', place, 'i32')}, align 4")


def _pairs_along(w: Writer, start: str, p: str, is_there: str) -> str:
    """16 pairs that lie side by side in a row, from the p-th on."""
    count = w.value(f"select i1 {is_there}, i64 {w.value(f'sub i64 %k, {w.times(p, 2)}')}, i64 0")
    at = w.at("%from", w.add(start, w.times(p, 2 * _ELEMENT)), "i8")
    return w.value(f"bitcast {_WIDE} {shorts_below(w, at, lanes_below(w, count, WIDTH), WIDTH)} to {INTS}")


def _pairs_across(w: Writer, r: str, p: str, mask: str) -> str:
    """The p-th pair of 16 rows that lie side by side."""
    halves = []
    for half in range(2):
        place = w.add(w.times(p, 2), half)
        is_there = w.value(f"icmp slt i64 {place}, %k")
        own = w.value(f"select i1 {is_there}, <{LANES} x i1> {mask}, <{LANES} x i1> zeroinitializer")
        at = w.at("%from", w.add(w.times(r, _ELEMENT), w.times(place, "%inner")), "i8")
        halves.append(w.value(f"zext {SHORTS} {shorts_below(w, at, own, LANES)} to {INTS}"))
    return w.value(f"or {INTS} {halves[0]}, {w.value(f'shl {INTS} {halves[1]}, splat (i32 16)')}")


def _pair(w: Writer, start: str, p: str) -> str:
    """One pair, element by element."""
    found = w.variable("i32", 0)
    for half in range(2):
        place = w.add(w.times(p, 2), half)
        with w.when(w.value(f"icmp slt i64 {place}, %k")):
            short = w.load(w.at("%from", w.add(start, w.times(place, "%inner")), "i8"), 0, "i16", _ELEMENT)
            bits = w.value(f"shl i32 {w.value(f'zext i16 {short} to i32')}, {16 * half}")
            before = w.value(f"load i32, ptr {found}")
            w.line(f"store i32 {w.value(f'or i32 {before}, {bits}')}, ptr {found}")
    return w.value(f"load i32, ptr {found}")


def exchanged(w: Writer, rows: Sequence[str]) -> list[str]:
    """A square of 16 vectors of 16 numbers with rows and columns exchanged: halves of halves, four times."""
    rows = list(rows)
    for step in (1, 2, 4, 8):
        for i in (i for i in range(LANES) if not i & step):
            x, y = rows[i], rows[i + step]
            low = [lane if not lane & step else LANES + lane - step for lane in range(LANES)]
            high = [lane + step if not lane & step else LANES + lane for lane in range(LANES)]
            rows[i], rows[i + step] = (
                w.value(f"shufflevector {INTS} {x}, {INTS} {y}, {INTS} <{', '.join(f'i32 {n}' for n in lanes)}>")
                for lanes in (low, high)
            )
    return rows


def _pairs_of_columns() -> str:
    w = Writer("void", "pairs_of_columns", (
        "ptr %to", "i64 %chunks", "ptr %from", "i64 %rows", "i64 %k", "i64 %inner", "i64 %row"
    ))  # fmt: skip
    lines = w.times("%chunks", LANES)
    lies, stands = (w.value(f"icmp eq i64 {step}, {_ELEMENT}") for step in ("%row", "%inner"))
    with w.when(lies):
        mask = lanes_below(w, "%rows", WIDTH)
        with w.loop(lines) as p:
            _interleaved(w, p, mask)
        w.leave("void")
    with w.when(stands):
        with w.loop(lines, 0, LANES) as p, w.loop(WIDTH, 0, LANES) as j:
            along = []
            for i in range(LANES):
                column = w.add(j, i)
                is_there = w.value(f"icmp slt i64 {column}, %rows")
                along.append(_pairs_along(w, w.times(column, "%row"), p, is_there))
            for i, pairs in enumerate(exchanged(w, along)):
                _put(w, pairs, _place(w, w.add(p, i), j))
        w.leave("void")
    with w.loop("%rows") as j, w.loop(lines) as p:
        w.store(_pair(w, w.times(j, "%row"), p), "%to", _place(w, p, j), "i32", 4)
    w.line("ret void")
    return w.text


def _place(w: Writer, p: str, j: str) -> str:
    return w.add(w.times(p, WIDTH), j)


def _interleaved(w: Writer, p: str, mask: str) -> None:
    """A line of pairs from two rows whose elements lie side by side."""
    halves = []
    for half in range(2):
        place = w.add(w.times(p, 2), half)
        is_there = w.value(f"icmp slt i64 {place}, %k")
        own = w.value(f"select i1 {is_there}, <{WIDTH} x i1> {mask}, <{WIDTH} x i1> zeroinitializer")
        halves.append(shorts_below(w, w.at("%from", w.times(place, "%inner"), "i8"), own, WIDTH))
    for part in range(2):
        lanes = [n for i in range(LANES) for n in (part * LANES + i, WIDTH + part * LANES + i)]
        chosen = ", ".join(f"i32 {n}" for n in lanes)
        pairs = w.value(f"shufflevector {_WIDE} {halves[0]}, {_WIDE} {halves[1]}, <{WIDTH} x i32> <{chosen}>")
        _put(w, pairs, _place(w, p, str(part * LANES)), _WIDE)


__all__ = ["DECLARATIONS", "WIDTH", "exchanged", "packing_ir", "shorts_below"]
