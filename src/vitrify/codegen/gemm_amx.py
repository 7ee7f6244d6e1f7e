"""Matrix products of bfloat16 by tiles that one instruction multiplies (`matrix_tiles.py`).

    i32 gemm_amx(m, n, k, a, row, column, b, row, column, c, row, scratch, koffsets, joffsets, bias, along)

as `gemm_bf16` computes them: c = a b, plus in each column its element of along unless that is null, rounded once;
sizes are in elements, k is 1 at least, steps in bytes, rows of c lie side by side; there are no tables of offsets,
nothing is added to rows, and numbers below 2**-126 count as zeros.

A block of c is two by two tiles, 32 x 32, that take four of the eight; the others are two of a and two of b, so each
tile that is loaded is multiplied twice. At the edges the configuration says how many rows and columns there are, and
along the inner size it is cut into chunks alike, so that few of their pairs are zeros. b is packed, and so is a unless
its rows are whole chunks where they lie.
"""

from __future__ import annotations

import functools

from .matrix_tiles import (
    CONFIGURATION_BYTES,
    FLOATS,
    INTS,
    LANES,
    ROWS,
    SHORTS,
    AmxTiles,
    EmulatedTiles,
    Tiles,
    configuration_into,
    lanes_below,
)
from .native import loaded
from .tile_packing import DECLARATIONS, WIDTH, packing_ir, shorts_below
from .writer import Writer

# Rows of a and columns of b that are held in packed order, and the part of the inner size that goes with them.
_ROWS, _COLUMNS, _INNER = 192, 1024, 512
_HIGH = 2 * ROWS
_ELEMENT, _SUM, _PAIR = 2, 4, 4
_BLOCK_ROW = WIDTH * _SUM
# In front of the working memory: what columns of a block begin with, and a block of sums on their way to c.
_STARTS, _BLOCK = _BLOCK_ROW, _HIGH * _BLOCK_ROW
# Tiles by number: sums[row][column], then those of a, then those of b.
_SUMS, _A, _B = ((0, 1), (2, 3)), (4, 5), (6, 7)
NAME = "gemm_amx"
GRAIN = _HIGH
"""Rows and columns at multiples of which the parts of a product begin."""


def scratch_bytes(m: int, n: int, k: int) -> int:
    """Bytes of memory that a product of these sizes needs beside its arrays."""
    columns = min(-(-n // WIDTH) * WIDTH, _COLUMNS)
    rows = -(-min(m, _ROWS) // ROWS) * ROWS
    pairs = -(-min(k, _INNER) // (2 * LANES)) * LANES
    sums = m * columns * _SUM if k > _INNER else 0
    return _STARTS + _BLOCK + sums + (rows + columns) * pairs * _PAIR


@functools.lru_cache(maxsize=2)
def address(is_emulated: bool = False) -> int:
    """Where the function lies, compiled when it is first asked for."""
    return loaded(gemm_ir(EmulatedTiles() if is_emulated else AmxTiles()), (NAME,)).addresses[NAME]


def gemm_ir(tiles: Tiles) -> str:
    """All functions."""
    parts = [_gemm(tiles), _block(tiles), _rounded(tiles), _widened(), packing_ir(), *DECLARATIONS, *tiles.functions()]
    return "\n\n".join(parts)


# -- one block of the result -------------------------------------------------------------------------------------------


def _block(tiles: Tiles) -> str:
    """to[:rows, :columns] = start + a b, of float32, for up to 32 rows and columns; null stands for zeros.

    state: what `tiles` want, and behind it which sizes the configuration is for.
    """
    w = Writer("void", "block_amx", (
        "ptr %state", "i64 %rows", "i64 %columns", "i64 %depth", "i64 %chunks", "ptr %a", "i64 %arow", "ptr %b",
        "ptr %start", "i64 %srow", "ptr %to", "i64 %trow",
    ))  # fmt: skip
    sizes = [w.value(f"shl i64 {size}, {8 * i}") for i, size in enumerate(("%rows", "%columns", "%depth"))]
    own = w.value(f"or i64 {w.value(f'or i64 {sizes[0]}, {sizes[1]}')}, {sizes[2]}")
    known = w.at("%state", tiles.state_bytes, "i8")
    with w.when(w.value(f"icmp ne i64 {own}, {w.load(known)}")):
        w.store(own, known)
        w.call("void", "@configuration_amx", "ptr %state", "i64 %rows", "i64 %columns", "i64 %depth")
        tiles.configure(w, "%state")
    is_high, is_wide = w.value(f"icmp sgt i64 %rows, {ROWS}"), w.value(f"icmp sgt i64 %columns, {LANES}")
    for high in (True, False):
        for wide in (True, False):
            suits = [x if wanted else w.value(f"xor i1 {x}, true") for x, wanted in ((is_high, high), (is_wide, wide))]
            with w.when(w.value(f"and i1 {suits[0]}, {suits[1]}")):
                _multiply(w, tiles, 1 + high, 1 + wide)
    w.line("ret void")
    return f"{_configuration()}\n\n{w.text}"


def _configuration() -> str:
    """The configuration for a block: the shapes of all tiles."""
    w = Writer("void", "configuration_amx", ("ptr %to", "i64 %rows", "i64 %columns", "i64 %depth"))

    def parts(size: str, most: int) -> tuple[str, str]:
        first = w.least(size, most)
        return first, w.value(f"sub i64 {size}, {first}")

    def used(x: str, *others: str) -> str:
        """x, or zero where one of the others is."""
        for other in others:
            x = w.value(f"select i1 {w.value(f'icmp eq i64 {other}, 0')}, i64 0, i64 {x}")
        return x

    rows, columns = parts("%rows", ROWS), [w.times(count, _PAIR) for count in parts("%columns", LANES)]
    depth = w.times("%depth", _PAIR)
    shapes = [(used(r, c), used(c, r)) for r in rows for c in columns]
    shapes += [(r, used(depth, r)) for r in rows] + [(used("%depth", c), c) for c in columns]
    configuration_into(w, "%to", shapes)
    w.line("ret void")
    return w.text


def _multiply(w: Writer, tiles: Tiles, high: int, wide: int) -> None:
    """A block of so many by so many tiles."""
    sums = [(r, c, _SUMS[r][c]) for r in range(high) for c in range(wide)]

    def places(start: str, row: str) -> list[str]:
        lines = [w.at(start, w.times(row, r * ROWS), "i8") for r in range(high)]
        return [w.at(lines[r], c * LANES * _SUM, "i8") for r, c, _ in sums]

    is_plain = w.value("icmp eq ptr %start, null")
    with w.when(is_plain):
        for *_, tile in sums:
            tiles.zero(w, "%state", tile)
    with w.when(w.value(f"xor i1 {is_plain}, true")):
        for (*_, tile), at in zip(sums, places("%start", "%srow")):
            tiles.load(w, "%state", tile, at, "%srow")
    with w.loop("%chunks") as chunk:
        first = w.times(chunk, "%depth")
        a, b = w.at("%a", first, "i32"), w.at("%b", w.times(first, WIDTH), "i32")
        for c in range(wide):
            tiles.load(w, "%state", _B[c], w.at(b, c * LANES, "i32"), WIDTH * _PAIR)
        for r in range(high):
            tiles.load(w, "%state", _A[r], w.at(a, w.times("%arow", r * ROWS), "i8"), "%arow")
        for r, c, tile in sums:
            tiles.dot(w, "%state", tile, _A[r], _B[c])
    for (*_, tile), at in zip(sums, places("%to", "%trow")):
        tiles.store(w, "%state", tile, at, "%trow")


def _rounded(tiles: Tiles) -> str:
    """c[:rows, :columns] = the block of sums, rounded."""
    w = Writer("void", "rounded_amx", ("ptr %block", "ptr %c", "i64 %crow", "i64 %rows", "i64 %columns"))
    mask = lanes_below(w, "%columns", WIDTH)
    with w.loop("%rows") as r:
        row, line = w.at("%c", w.times(r, "%crow"), "i8"), w.at("%block", w.times(r, _BLOCK_ROW), "i8")
        found = tiles.rounded(w, *(w.load(line, v, FLOATS, _SUM) for v in range(2)))
        w.call("void", f"@llvm.masked.store.v{WIDTH}i16.p0", f"<{WIDTH} x i16> {found}", f"ptr {row}",
               f"i32 {_ELEMENT}", f"<{WIDTH} x i1> {mask}")  # fmt: skip
    w.line("ret void")
    return w.text


def _widened() -> str:
    """to[:32] = up to 32 numbers of bfloat16 as float32, and zeros behind them."""
    w = Writer("void", "widened_amx", ("ptr %to", "ptr %from", "i64 %count"))
    for v in range(2):
        mask = lanes_below(w, w.add("%count", -v * LANES))
        short = shorts_below(w, w.at("%from", v * LANES, "i16"), mask, LANES)
        bits = w.value(f"shl {INTS} {w.value(f'zext {SHORTS} {short} to {INTS}')}, splat (i32 16)")
        w.store(bits, "%to", v, INTS, _SUM)
    w.line("ret void")
    return w.text


# -- products ----------------------------------------------------------------------------------------------------------


def _gemm(tiles: Tiles) -> str:
    w = Writer("i32", NAME, (
        "i64 %m", "i64 %n", "i64 %k", "ptr %a", "i64 %arow", "i64 %acolumn", "ptr %b", "i64 %brow", "i64 %bcolumn",
        "ptr %c", "i64 %crow", "ptr %scratch", "ptr %koffsets", "ptr %joffsets", "ptr %bias",
        "ptr %along",
    ))  # fmt: skip
    state = w.space(f"[{tiles.state_bytes + 8} x i8]", CONFIGURATION_BYTES)
    w.store(0, w.at(state, tiles.state_bytes, "i8"))
    srow = w.times(w.least(w.rounded_up("%n", WIDTH), _COLUMNS), _SUM)
    is_long = w.value(f"icmp sgt i64 %k, {_INNER}")
    block = w.at("%scratch", _STARTS, "i8")
    sums = w.at(block, _BLOCK, "i8")
    packed_b = w.at(sums, w.value(f"select i1 {is_long}, i64 {w.times('%m', srow)}, i64 0"), "i8")
    with w.loop("%n", 0, _COLUMNS) as j0:
        columns = w.least(w.value(f"sub i64 %n, {j0}"), _COLUMNS)
        with w.loop("%k", 0, _INNER) as p0:
            inner = w.least(w.value(f"sub i64 %k, {p0}"), _INNER)
            pairs = w.value(f"lshr i64 {w.add(inner, 1)}, 1")
            chunks = w.value(f"lshr i64 {w.add(pairs, LANES - 1)}, {LANES.bit_length() - 1}")
            depth = w.value(f"sdiv i64 {w.add(w.add(pairs, chunks), -1)}, {chunks}")
            line = w.times(chunks, LANES * _PAIR)  # what the inner size takes of packed rows, in bytes
            with w.loop(columns, 0, WIDTH) as j:
                place = w.add(w.times(p0, "%brow"), w.times(w.add(j0, j), "%bcolumn"))
                left = w.least(w.value(f"sub i64 {columns}, {j}"), WIDTH)
                w.call("void", "@pairs_of_columns", f"ptr {w.at(packed_b, w.times(j, line), 'i8')}", f"i64 {chunks}",
                       f"ptr {w.at('%b', place, 'i8')}", f"i64 {left}", f"i64 {inner}", "i64 %brow",
                       "i64 %bcolumn")  # fmt: skip
            packed_a = w.at(packed_b, w.times(w.rounded_up(columns, WIDTH), line), "i8")
            is_whole = w.value(f"icmp eq i64 {w.times(w.times(chunks, depth), 2)}, {inner}")
            lies = w.value(f"and i1 {is_whole}, {w.value(f'icmp eq i64 %acolumn, {_ELEMENT}')}")
            with w.loop("%m", 0, _ROWS) as i0:
                count = w.least(w.value(f"sub i64 %m, {i0}"), _ROWS)
                given = w.at("%a", w.add(w.times(i0, "%arow"), w.times(p0, "%acolumn")), "i8")
                with w.when(w.value(f"xor i1 {lies}, true")):
                    w.call("void", "@rows_of_pairs", f"ptr {packed_a}", f"i64 {chunks}", f"ptr {given}",
                           f"i64 {count}", f"i64 {inner}", "i64 %arow", "i64 %acolumn")  # fmt: skip
                a = w.value(f"select i1 {lies}, ptr {given}, ptr {packed_a}")
                arow = w.value(f"select i1 {lies}, i64 %arow, i64 {line}")
                with w.loop(columns, 0, WIDTH) as j:
                    left = w.least(w.value(f"sub i64 {columns}, {j}"), WIDTH)
                    column = w.add(j0, j)
                    start, step = _start(w, p0, column, left)
                    with w.loop(count, 0, _HIGH) as i:
                        row, rows = w.add(i0, i), w.least(w.value(f"sub i64 {count}, {i}"), _HIGH)
                        own = w.at(sums, w.add(w.times(row, srow), w.times(j, _SUM)), "i8")
                        more = w.value(f"icmp ne i64 {p0}, 0")
                        last = w.value(f"icmp sge i64 {w.add(p0, _INNER)}, %k")
                        w.call("void", "@block_amx", f"ptr {state}", f"i64 {rows}", f"i64 {left}", f"i64 {depth}",
                               f"i64 {chunks}", f"ptr {w.at(a, w.times(i, arow), 'i8')}", f"i64 {arow}",
                               f"ptr {w.at(packed_b, w.times(j, line), 'i8')}",
                               f"ptr {w.value(f'select i1 {more}, ptr {own}, ptr {start}')}",
                               f"i64 {w.value(f'select i1 {more}, i64 {srow}, i64 {step}')}",
                               f"ptr {w.value(f'select i1 {last}, ptr {block}, ptr {own}')}",
                               f"i64 {w.value(f'select i1 {last}, i64 {_BLOCK_ROW}, i64 {srow}')}")  # fmt: skip
                        with w.when(last):
                            c = w.at("%c", w.add(w.times(row, "%crow"), w.times(column, _ELEMENT)), "i8")
                            w.call("void", "@rounded_amx", f"ptr {block}", f"ptr {c}", "i64 %crow", f"i64 {rows}",
                                   f"i64 {left}")  # fmt: skip
    tiles.release(w)
    w.line("ret i32 0")
    return w.text


def _start(w: Writer, p0: str, column: str, left: str) -> tuple[str, int]:
    """What the columns of a block begin with, the same in each row, so that all are loaded from one; null for zeros."""
    is_plain = w.value("icmp eq ptr %along, null")
    is_read = w.value(f"and i1 {w.value(f'xor i1 {is_plain}, true')}, {w.value(f'icmp eq i64 {p0}, 0')}")
    with w.when(is_read):
        w.call("void", "@widened_amx", "ptr %scratch", f"ptr {w.at('%along', column, 'i16')}", f"i64 {left}")
    return w.value(f"select i1 {is_plain}, ptr null, ptr %scratch"), 0


__all__ = ["GRAIN", "NAME", "address", "gemm_ir", "scratch_bytes"]
