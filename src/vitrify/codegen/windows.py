"""Products with the windows of an array where they lie, in machine code: convolutions that copy neither windows nor
weights.

Columns come in *pieces*: what of them a vector of b's memory holds, as rows of an image have them where batches are
innermost. A table says of each where it begins in b and in c, in bytes, how many columns it has, and in which lanes:
between those of two rows may be others, of zeros around the image. In c all lie side by side.

    i32 windows_<type>(m, k, a, arow, aoffsets, b, boffsets, c, crow, pieces, count, bias, scratch, side, safe, tiles)

c[r, j] = bias[r] + the sum over p of a[r, p] b[p, j]: a's element lies at aoffsets[p] in row r, b's at boffsets[p]
behind where j's piece begins. In tiles that stay in registers, as those of `gemm`. With AVX2 blocks of a are first
copied into the order in which tiles read them, in working memory: side says whether aoffsets are those of elements side
by side. At so many of the first pieces, `safe`, whole vectors may be read.

    i32 window_dots_<type>(m, k, a, arow, b, boffsets, c, crow, pieces, count, tiles)

c[r, p] = the sum over j of a[r, j] b[p, j], where pieces say where columns begin in b and in a, in the first lanes.

tiles: the addresses of tiles, of which a product calls few: those that `product_tiles` and `dots_tiles` say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from .panels import transposed
from .window_tiles import (
    ORDER,
    ORDER_BITS,
    PIECE,
    Tiles,
    lanes_from,
    loaded_lanes,
    multiples,
    names_of,
    packed_tile,
    packed_tile_name,
    rows_from,
    tile,
    tile_name,
    tiles_of,
    word_at,
)
from .writer import Writer

# The inner size that tiles stay with: b's part of it for one tile fits the first cache, a's block of rows the second.
INNER, ROWS = 256, 192
# The same where a is packed. Blocks are as large as these at most, and nearly alike.
PACKED_INNER, PACKED_ROWS = 320, 144
# Elements of rows that do not lie side by side that are packed of all rows in turn: those of several rows do, for the
# gradient of an input, and memory is read in few streams.
TOGETHER = 36
# Pieces that dots are computed of before they are added up: what is read of each row stays in the cache meanwhile.
CHUNK = 128


class Tile(NamedTuple):
    """A tile: its place in the table, its name, and what writes it."""

    place: int
    name: str
    text: Callable[[], str]


def products_ir(t: Tiles) -> dict[str, str]:
    """The function of products by its name, with those that it calls, but for tiles."""
    packs = {_pack_name(t): _pack(t)} if t.packs else {}
    return {**packs, names_of(t.dtype)[0]: _products(t)}


def dots_ir(t: Tiles) -> dict[str, str]:
    """The function of dots by its name."""
    return {names_of(t.dtype)[1]: _sums(t)}


def table_size(t: Tiles) -> int:
    """How many words a table of tiles has."""
    return 4 * (t.tall + 1)


def product_tiles(t: Tiles, rows: int) -> list[Tile]:
    """The tiles that a product of so many rows calls."""
    found, most = [], PACKED_ROWS if t.packs else ROWS
    for block in {min(rows - start, most) for start in range(0, rows, most)}:
        if block <= t.wide:
            found.append(Tile(block, tile_name(t, block, 4), partial(tile, t, block, 4)))
            continue
        for height in _heights(block, t.tall):
            if t.packs:
                found += [
                    Tile(_place(t, 2 + whole, height), packed_tile_name(t, height, whole),
                         partial(packed_tile, t, height, whole)) for whole in (False, True)
                ]  # fmt: skip
            else:
                found.append(Tile(_place(t, 1, height), tile_name(t, height, 2), partial(tile, t, height, 2)))
    return found


def dots_tiles(t: Tiles, rows: int) -> list[Tile]:
    """The tiles that dots of so many rows call."""
    heights = _heights(rows, t.dots[0])
    return [Tile(height, _dots_name(t, height), partial(_dots, t, height)) for height in heights]


def _heights(rows: int, most: int) -> set[int]:
    """The heights of `_parts`."""
    parts = -(-rows // most)
    return {rows * (part + 1) // parts - rows * part // parts for part in range(parts)}


def _place(t: Tiles, kind: int, height: int) -> int:
    """Where the table has a tile: of four vectors (0), of two (1), and of packed rows, with masks (2) and without."""
    return kind * (t.tall + 1) + height


def scratch_bytes(rows: int, inner: int, t: Tiles) -> int:
    """Bytes of working memory for a product of so many rows; none where tiles read a where it lies."""
    return min(rows, PACKED_ROWS) * min(inner, PACKED_INNER) * t.dtype.itemsize if t.packs and rows > t.wide else 0


def declarations(t: Tiles) -> list[str]:
    """What the functions need declared."""
    mask = f"<{t.lanes} x i1>"
    return [
        f"declare {t.vector} @llvm.fmuladd.{t.suffix}({t.vector}, {t.vector}, {t.vector})",
        f"declare {t.vector} @llvm.masked.load.{t.suffix}.p0(ptr, i32, {mask}, {t.vector})",
        f"declare void @llvm.masked.store.{t.suffix}.p0({t.vector}, ptr, i32, {mask})",
        f"declare {t.vector} @llvm.experimental.vector.compress.{t.suffix}({t.vector}, {mask}, {t.vector})",
        f"declare {t.type} @llvm.vector.reduce.fadd.{t.suffix}({t.type}, {t.vector})",
    ]


# -- products ----------------------------------------------------------------------------------------------------------


def _products(t: Tiles) -> str:
    """Blocks of the inner size, in them blocks of rows, in them pieces: each tile of b meets all tiles of a's block
    while it is in the cache.
    """
    w = Writer("i32", names_of(t.dtype)[0], (
        "i64 %m", "i64 %k", "ptr %a", "i64 %arow", "ptr %ao", "ptr %b", "ptr %bo", "ptr %c", "i64 %crow",
        "ptr %pieces", "i64 %count", "ptr %bias", "ptr %scratch", "i64 %side", "i64 %safe", "ptr %tiles",
    ))  # fmt: skip
    no_bias = w.value("icmp eq ptr %bias, null")
    step, most = (_alike(w, "%k", PACKED_INNER), PACKED_ROWS) if t.packs else (str(INNER), ROWS)
    with w.loop("%k", 0, step) as p0:
        inner = w.least(w.value(f"sub i64 %k, {p0}"), step)
        more = w.value(f"icmp ne i64 {p0}, 0")
        without = w.value(f"or i1 {more}, {no_bias}")
        tables = (w.at("%ao", p0), w.at("%bo", p0))
        with w.loop("%m", 0, most) as i0:
            rows = w.least(w.value(f"sub i64 %m, {i0}"), most)
            call = _Call(w, t, inner, tables, i0, rows, more, without)
            is_low = w.value(f"icmp sle i64 {rows}, {t.wide}")
            with w.when(is_low), w.loop("%count", 0, 4) as piece:
                for start, height in _parts(w, rows, t.wide):
                    call.of_height(start, height, 4, piece)
            with w.when(w.value(f"xor i1 {is_low}, true")):
                if t.packs:
                    call.packed()
                else:
                    with w.loop("%count", 0, 2) as piece:
                        for start, height in _parts(w, rows, t.tall):
                            call.of_height(start, height, 2, piece)
    w.line("ret i32 0")
    return w.text


def _alike(w: Writer, size: str, most: int) -> str:
    """The size of parts that are nearly alike."""
    parts = w.value(f"udiv i64 {w.add(size, most - 1)}, {most}")
    count = w.value(f"select i1 {w.value(f'icmp eq i64 {parts}, 0')}, i64 1, i64 {parts}")
    return w.value(f"udiv i64 {w.add(size, w.value(f'sub i64 {count}, 1'))}, {count}")


def _parts(w: Writer, rows: str, most: int) -> Iterator[tuple[str, str]]:
    """The beginning and the height of tiles as high as possible that are nearly alike: runs for each."""
    parts = w.value(f"sdiv i64 {w.add(rows, most - 1)}, {most}")
    with w.loop(parts) as part:
        start, end = (w.value(f"sdiv i64 {w.times(rows, n)}, {parts}") for n in (part, w.add(part, 1)))
        yield start, w.value(f"sub i64 {end}, {start}")


@dataclass
class _Call:
    """Calls of tiles for one block of the inner size and of rows."""

    w: Writer
    t: Tiles
    inner: str
    tables: Sequence[str]
    i0: str
    rows: str
    more: str
    without: str

    def of_height(self, start: object, height: str, vectors: int, piece: str) -> None:
        """The tile with so many rows."""
        w, t = self.w, self.t
        row = w.add(self.i0, start)
        a, c = w.at("%a", w.times(row, "%arow"), "i8"), w.at("%c", w.times(row, "%crow"), "i8")
        bias = w.value(f"select i1 {self.without}, ptr null, ptr {w.at('%bias', row, t.type)}")
        given = (f"i64 {self.inner}", f"ptr {a}", "i64 %arow", f"ptr {self.tables[0]}", "ptr %b",
                 f"ptr {self.tables[1]}", f"ptr {c}", "i64 %crow", f"ptr {w.at('%pieces', w.times(piece, PIECE))}",
                 f"i1 {self.more}", f"ptr {bias}")  # fmt: skip
        called = w.load("%tiles", w.add(height, _place(t, 0 if vectors == 4 else 1, 0)), "ptr")
        w.call("void", called, *given)

    def packed(self) -> None:
        """All tiles, of rows that are packed first."""
        w, t = self.w, self.t
        most = w.value(f"select i1 {w.value('icmp eq i64 %side, 0')}, i64 {TOGETHER}, i64 {self.inner}")
        with w.loop(self.inner, 0, most) as q0:
            count = w.least(w.value(f"sub i64 {self.inner}, {q0}"), most)
            for start, height in _parts(w, self.rows, t.tall):
                a = w.at("%a", w.times(w.add(self.i0, start), "%arow"), "i8")
                to = w.at("%scratch", w.add(w.times(start, self.inner), w.times(q0, height)), t.type)
                w.call("void", f"@{_pack_name(t)}", f"ptr {to}", f"ptr {a}", f"i64 {height}", f"i64 {count}",
                       "i64 %arow", f"ptr {w.at(self.tables[0], q0)}", "i64 %side")  # fmt: skip
        with w.loop("%count", 0, 2) as piece:
            is_whole = w.value(f"icmp sle i64 {w.add(piece, 2)}, %safe")
            for start, height in _parts(w, self.rows, t.tall):
                row = w.add(self.i0, start)
                bias = w.value(f"select i1 {self.without}, ptr null, ptr {w.at('%bias', row, t.type)}")
                given = (f"i64 {self.inner}", f"ptr {w.at('%scratch', w.times(start, self.inner), t.type)}", "ptr %b",
                         f"ptr {self.tables[1]}", f"ptr {w.at('%c', w.times(row, '%crow'), 'i8')}", "i64 %crow",
                         f"ptr {w.at('%pieces', w.times(piece, PIECE))}", f"i1 {self.more}", f"ptr {bias}")  # fmt: skip
                first = w.value(f"select i1 {is_whole}, i64 {_place(t, 3, 0)}, i64 {_place(t, 2, 0)}")
                w.call("void", w.load("%tiles", w.add(height, first), "ptr"), *given)


def _pack_name(t: Tiles) -> str:
    return f"windows_pack_{t.type}"


def _pack(t: Tiles) -> str:
    """void pack(to, a, rows, k, arow, aoffsets, side): to[p, r] = a[r, p]; side: whether elements of a row lie side by
    side.
    """
    T, size = t.type, t.dtype.itemsize
    w = Writer("void", _pack_name(t), (
        "ptr %to", "ptr %a", "i64 %rows", "i64 %k", "i64 %arow", "ptr %ao", "i64 %side"
    ))  # fmt: skip
    is_side = w.value("icmp ne i64 %side, 0")
    whole = w.value(f"select i1 {is_side}, i64 {w.value('and i64 %k, -4')}, i64 0")
    done = w.variable("i64", 0)
    for count in (4, 2, 1):  # rows at a time, of which four columns are exchanged in registers
        start = w.value(f"load i64, ptr {done}")
        end = w.add(start, w.value(f"and i64 {w.value(f'sub i64 %rows, {start}')}, {-count}"))
        with w.loop(end, start, count) as r:
            sources = [w.at("%a", w.times(w.add(r, i), "%arow"), "i8") for i in range(count)]
            with w.loop(whole, 0, 4) as p:
                at, target = w.load("%ao", p), w.at("%to", w.add(w.times(p, "%rows"), r), T)
                places = [w.at(target, w.times("%rows", i), T) for i in range(4)]
                transposed(w, T, size, [w.at(s, at, "i8") for s in sources], places)
            _gathered(w, T, size, sources, w.at("%to", r, T), whole)
        w.line(f"store i64 {end}, ptr {done}")
    w.line("ret void")
    return w.text


def _gathered(w: Writer, T: str, size: int, sources: Sequence[str], to: str, start: str) -> None:
    """Elements of some rows, one by one where offsets say, side by side."""
    vector = f"<{len(sources)} x {T}>"
    with w.loop("%k", start) as p:
        at, found = w.load("%ao", p), "poison"
        for i, source in enumerate(sources):
            x = w.load(w.at(source, at, "i8"), 0, T, size)
            found = w.value(f"insertelement {vector} {found}, {T} {x}, i64 {i}")
        w.store(found, w.at(to, w.times(p, "%rows"), T), 0, vector, size)


# -- dots --------------------------------------------------------------------------------------------------------------


def _dots_name(t: Tiles, rows: int) -> str:
    return f"window_dots_tile_{t.type}_{rows}"


def _dots(t: Tiles, rows: int) -> str:
    """void tile(count, a, arow, b, boffsets, left, c, crow, pieces, i1 more): the products of some rows of a with the
    first `left` of a few rows of b; more: add to what c has.
    """
    T, size, width = t.type, t.dtype.itemsize, t.dots[1]
    tile = [(r, p) for r in range(rows) for p in range(width)]
    lines = [
        f"define void @{_dots_name(t, rows)}(i64 %count, ptr %a, i64 %arow, ptr %b, ptr %bo, i64 %left, "
        "ptr %c, i64 %crow, ptr %pieces, i1 %more) #1 {",
        "entry:", *multiples("arow"), *multiples("crow"), "  %last = sub i64 %left, 1",
    ]  # fmt: skip
    for p in range(width):  # what is not there is computed as the last that is, and not written
        lines += [f"  %is{p} = icmp ult i64 {p}, %left", f"  %which{p} = select i1 %is{p}, i64 {p}, i64 %last",
                  *word_at(f"of{p}", "%bo", f"%which{p}")]  # fmt: skip
    lines += ["  br label %loop", "loop:", "  %i = phi i64 [0, %entry], [%i.next, %loop]",
              "  %piece = phi ptr [%pieces, %entry], [%piece.next, %loop]"]  # fmt: skip
    lines += [f"  %t{r}.{p} = phi {t.vector} [zeroinitializer, %entry], [%n{r}.{p}, %loop]" for r, p in tile]
    lines += [*word_at("from", "%piece", 0), *word_at("to", "%piece", 1), *word_at("lanes", "%piece", 3),
              *lanes_from(t, "%lanes", "m"), "  %ap = getelementptr i8, ptr %a, i64 %to",
              "  %bp = getelementptr i8, ptr %b, i64 %from", *rows_from("ap", rows, "arow")]  # fmt: skip
    lines += [f"  %a{r} = {loaded_lanes(t, f'%ap.{r}', '%m')}" for r in range(rows)]
    for p in range(width):
        at = f"%b{p}.at"
        lines += [f"  {at} = getelementptr i8, ptr %bp, i64 %of{p}", f"  %b{p} = {loaded_lanes(t, at, '%m')}"]
        lines += [
            f"  %n{r}.{p} = call {t.vector} @llvm.fmuladd.{t.suffix}({t.vector} %a{r}, {t.vector} %b{p}, "
            f"{t.vector} %t{r}.{p})" for r in range(rows)
        ]  # fmt: skip
    lines += [f"  %piece.next = getelementptr i64, ptr %piece, i64 {PIECE}", "  %i.next = add nuw i64 %i, 1",
              "  %again = icmp ult i64 %i.next, %count", "  br i1 %again, label %loop, label %done",
              "done:", *rows_from("c", rows, "crow")]  # fmt: skip
    for p in range(width):
        lines += [f"  br i1 %is{p}, label %put{p}, label %after", f"put{p}:"]
        for r in range(rows):
            name = f"{r}.{p}"
            lines += [
                f"  %sum{name} = call reassoc {T} @llvm.vector.reduce.fadd.{t.suffix}({T} -0.0, {t.vector} %n{name})",
                f"  %c{name} = getelementptr {T}, ptr %c.{r}, i64 {p}",
                f"  %old{name} = load {T}, ptr %c{name}, align {size}",
                f"  %before{name} = select i1 %more, {T} %old{name}, {T} -0.0",
                f"  %new{name} = fadd {T} %sum{name}, %before{name}",
                f"  store {T} %new{name}, ptr %c{name}, align {size}",
            ]
    return "\n".join([*lines, "  br label %after", "after:", "  ret void", "}"])


def _sums(t: Tiles) -> str:
    w = Writer("i32", names_of(t.dtype)[1], (
        "i64 %m", "i64 %k", "ptr %a", "i64 %arow", "ptr %b", "ptr %bo", "ptr %c", "i64 %crow", "ptr %pieces",
        "i64 %count", "ptr %tiles",
    ))  # fmt: skip
    rows, width = t.dots
    parts = w.value(f"sdiv i64 {w.add('%m', rows - 1)}, {rows}")
    with w.loop("%count", 0, CHUNK) as first:
        count = w.least(w.value(f"sub i64 %count, {first}"), CHUNK)
        pieces, more = w.at("%pieces", w.times(first, PIECE)), w.value(f"icmp ne i64 {first}, 0")
        with w.loop("%k", 0, width) as p, w.loop(parts) as part:
            start, end = (w.value(f"sdiv i64 {w.times('%m', n)}, {parts}") for n in (part, w.add(part, 1)))
            a, row = w.at("%a", w.times(start, "%arow"), "i8"), w.at("%c", w.times(start, "%crow"), "i8")
            left, c = w.value(f"sub i64 %k, {p}"), w.at(row, p, t.type)
            given = (f"i64 {count}", f"ptr {a}", "i64 %arow", "ptr %b", f"ptr {w.at('%bo', p)}", f"i64 {left}",
                     f"ptr {c}", "i64 %crow", f"ptr {pieces}", f"i1 {more}")  # fmt: skip
            w.call("void", w.load("%tiles", w.value(f"sub i64 {end}, {start}"), "ptr"), *given)
    w.line("ret i32 0")
    return w.text


__all__ = [
    "INNER", "ORDER", "ORDER_BITS", "PIECE", "ROWS", "Tile", "Tiles", "declarations", "dots_ir", "dots_tiles",
    "names_of", "product_tiles", "products_ir", "scratch_bytes", "table_size", "tiles_of",
]  # fmt: skip
