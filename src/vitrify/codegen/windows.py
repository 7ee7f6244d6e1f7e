"""Products with the windows of an array where they lie, in machine code: convolutions that copy neither windows nor
weights.

Columns come in *pieces*: what of them a vector of b's memory holds, as rows of an image have them where batches are
innermost. A table says of each where it begins in b and in c, in bytes, how many columns it has, and in which lanes:
between those of two rows may be others, of zeros around the image. In c all lie side by side.

    i32 windows_<type>(m, k, a, arow, aoffsets, b, boffsets, c, crow, pieces, count, bias)

c[r, j] = bias[r] + the sum over p of a[r, p] b[p, j]: a's element lies at aoffsets[p] in row r, b's at boffsets[p]
behind where j's piece begins. In tiles that stay in registers, as those of `gemm`.

    i32 window_dots_<type>(m, k, a, arow, b, boffsets, c, crow, pieces, count)

c[r, p] = the sum over j of a[r, j] b[p, j], where pieces say where columns begin in b and in a, in the first lanes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .emit import Dtype, memory_type
from .llvm import Target
from .writer import Writer

# The inner size that tiles stay with: b's part of it for one tile fits the first cache, a's block of rows the second.
INNER, ROWS = 256, 192
# Pieces that dots are computed of before they are added up: what is read of each row stays in the cache meanwhile.
CHUNK = 128
# Words of the table for a piece.
PIECE = 4


@dataclass(frozen=True)
class Tiles:
    """What fits the registers of a target: the rows of tiles of two vectors, of four, and the dots of one tile."""

    dtype: Dtype
    lanes: int
    tall: int
    wide: int
    dots: tuple[int, int]

    @property
    def type(self) -> str:
        """LLVM's name for an element."""
        return memory_type(self.dtype)

    @property
    def vector(self) -> str:
        """LLVM's name for a vector."""
        return f"<{self.lanes} x {self.type}>"

    @property
    def suffix(self) -> str:
        """What names of LLVM's functions on vectors end with."""
        return f"v{self.lanes}f{8 * self.dtype.itemsize}"

    @property
    def kernels(self) -> list[tuple[int, int]]:
        """Rows and vectors of all tiles: up to `wide` rows of four vectors, or `wide` to `tall` rows of two."""
        return [(r, 4) for r in range(1, self.wide + 1)] + [(r, 2) for r in range(self.wide, self.tall + 1)]


def tiles_of(dtype: Dtype, target: Target) -> Tiles:
    """Tiles for 32 registers, those of AVX-512 and ARM, or 16."""
    lanes = target.vector_bytes // dtype.itemsize
    is_wide = target.vector_bytes >= 64 or not target.is_x86
    return Tiles(dtype, lanes, 12, 6, (4, 5)) if is_wide else Tiles(dtype, lanes, 6, 3, (3, 3))


def names_of(dtype: Dtype) -> tuple[str, str]:
    """The functions' names."""
    return f"windows_{memory_type(dtype)}", f"window_dots_{memory_type(dtype)}"


def products_ir(t: Tiles) -> dict[str, str]:
    """The function of products by its name, with those that it calls."""
    made = {_tile_name(t, *kernel): _tile(t, *kernel) for kernel in t.kernels}
    return {**made, names_of(t.dtype)[0]: _products(t)}


def dots_ir(t: Tiles) -> dict[str, str]:
    """The function of dots by its name, with those that it calls."""
    made = {_dots_name(t, rows): _dots(t, rows) for rows in range(1, t.dots[0] + 1)}
    return {**made, names_of(t.dtype)[1]: _sums(t)}


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


# -- pieces ------------------------------------------------------------------------------------------------------------


def _lanes(t: Tiles, bits: str, name: str) -> list[str]:
    """%name: the lanes that bits say."""
    return [f"  %{name}.bits = trunc i64 {bits} to i{t.lanes}",
            f"  %{name} = bitcast i{t.lanes} %{name}.bits to <{t.lanes} x i1>"]  # fmt: skip


def _first(t: Tiles, count: str, name: str) -> list[str]:
    """%name: so many lanes, the first ones."""
    numbers = ", ".join(f"i32 {i}" for i in range(t.lanes))
    wide = f"<{t.lanes} x i32>"
    return [
        f"  %{name}.short = trunc i64 {count} to i32",
        f"  %{name}.one = insertelement {wide} poison, i32 %{name}.short, i64 0",
        f"  %{name}.all = shufflevector {wide} %{name}.one, {wide} poison, <{t.lanes} x i32> zeroinitializer",
        f"  %{name} = icmp ugt {wide} %{name}.all, <{numbers}>",
    ]


def _loaded(t: Tiles, at: str, mask: str) -> str:
    given = f"ptr {at}, i32 {t.dtype.itemsize}, <{t.lanes} x i1> {mask}, {t.vector} zeroinitializer"
    return f"call {t.vector} @llvm.masked.load.{t.suffix}.p0({given})"


def _stored(t: Tiles, value: str, at: str, mask: str) -> str:
    given = f"{t.vector} {value}, ptr {at}, i32 {t.dtype.itemsize}, <{t.lanes} x i1> {mask}"
    return f"  call void @llvm.masked.store.{t.suffix}.p0({given})"


def _compressed(t: Tiles, value: str, mask: str) -> str:
    """The lanes that a mask says, brought side by side; those behind them hold anything.

    Zeros there, for which nobody asks, end the process: LLVM 22's form without AVX-512 takes floats that are all alike
    for integers.
    """
    given = f"{t.vector} {value}, <{t.lanes} x i1> {mask}, {t.vector} poison"
    return f"call {t.vector} @llvm.experimental.vector.compress.{t.suffix}({given})"


def _word(name: str, table: str, index: object) -> list[str]:
    return [f"  %{name}.at = getelementptr i64, ptr {table}, i64 {index}", f"  %{name} = load i64, ptr %{name}.at"]


def _spread(t: Tiles, name: str, value: str) -> list[str]:
    """%name: a number in all lanes."""
    return [
        f"  %{name}.first = insertelement {t.vector} poison, {t.type} {value}, i64 0",
        f"  %{name} = shufflevector {t.vector} %{name}.first, {t.vector} poison, <{t.lanes} x i32> zeroinitializer",
    ]


def _rows_from(base: str, rows: int, step: str) -> list[str]:
    """%base.<r> for each row: three bases and multiples of the step that addresses may have, so that a few registers
    suffice.
    """
    lines = []
    for r in range(rows):
        start = r - r % 4
        if r == start:
            of = f"%{base}" if not r else f"%{base}.{r - 4}"
            by = "0" if not r else f"%{step}4"
            lines.append(f"  %{base}.{r} = getelementptr i8, ptr {of}, i64 {by}")
        else:
            by = f"%{step}" if r % 4 == 1 else f"%{step}{r % 4}"
            lines.append(f"  %{base}.{r} = getelementptr i8, ptr %{base}.{start}, i64 {by}")
    return lines


def _multiples(step: str) -> list[str]:
    return [f"  %{step}{i} = mul i64 %{step}, {i}" for i in (2, 3, 4)]


# -- products ----------------------------------------------------------------------------------------------------------


def _tile_name(t: Tiles, rows: int, vectors: int) -> str:
    return f"windows_tile_{t.type}_{rows}_{vectors}"


def _tile(t: Tiles, rows: int, vectors: int) -> str:
    """void tile(k, a, arow, aoffsets, b, boffsets, c, crow, pieces, i1 more, bias): `vectors` pieces of `rows` rows;
    more: add to what c has; bias: what rows begin with, or null.
    """
    T, size, tile = t.type, t.dtype.itemsize, [(r, v) for r in range(rows) for v in range(vectors)]
    lines = [
        f"define internal void @{_tile_name(t, rows, vectors)}(i64 %k, ptr %a, i64 %arow, ptr %ao, ptr %b, ptr %bo, "
        "ptr %c, i64 %crow, ptr %pieces, i1 %more, ptr %bias) #1 {",
        "entry:", *_multiples("arow"), *_multiples("crow"),
    ]  # fmt: skip
    for v in range(vectors):
        lines += [*_word(f"from{v}", "%pieces", PIECE * v), *_word(f"to{v}", "%pieces", PIECE * v + 1),
                  *_word(f"count{v}", "%pieces", PIECE * v + 2), *_first(t, f"%count{v}", f"f{v}"),
                  *_word(f"lanes{v}", "%pieces", PIECE * v + 3), *_lanes(t, f"%lanes{v}", f"m{v}"),
                  f"  %b{v}.start = getelementptr i8, ptr %b, i64 %from{v}"]  # fmt: skip
    lines += ["  %is.plain = icmp eq ptr %bias, null", "  br i1 %is.plain, label %loop, label %biased", "biased:"]
    for r in range(rows):
        lines += [f"  %z{r}.at = getelementptr {T}, ptr %bias, i64 {r}", f"  %z{r}.one = load {T}, ptr %z{r}.at",
                  *_spread(t, f"z{r}", f"%z{r}.one")]  # fmt: skip
    lines += ["  br label %loop", "loop:", "  %p = phi i64 [0, %entry], [0, %biased], [%p.next, %loop]"]
    lines += [
        f"  %t{r}.{v} = phi {t.vector} [zeroinitializer, %entry], [%z{r}, %biased], [%n{r}.{v}, %loop]" for r, v in tile
    ]
    lines += [*_word("aof", "%ao", "%p"), *_word("bof", "%bo", "%p"), "  %ap = getelementptr i8, ptr %a, i64 %aof"]
    for v in range(vectors):
        lines += [f"  %b{v}.at = getelementptr i8, ptr %b{v}.start, i64 %bof",
                  f"  %b{v} = {_loaded(t, f'%b{v}.at', f'%m{v}')}"]  # fmt: skip
    lines += _rows_from("ap", rows, "arow")
    for r in range(rows):
        lines += [f"  %a{r}.one = load {T}, ptr %ap.{r}, align {size}", *_spread(t, f"a{r}", f"%a{r}.one")]
        lines += [
            f"  %n{r}.{v} = call {t.vector} @llvm.fmuladd.{t.suffix}({t.vector} %a{r}, {t.vector} %b{v}, "
            f"{t.vector} %t{r}.{v})" for v in range(vectors)
        ]  # fmt: skip
    lines += ["  %p.next = add nuw i64 %p, 1", "  %again = icmp ult i64 %p.next, %k",
              "  br i1 %again, label %loop, label %done", "done:", *_rows_from("c", rows, "crow")]  # fmt: skip
    lines += [f"  %c{r}.{v} = getelementptr i8, ptr %c.{r}, i64 %to{v}" for r, v in tile]
    lines += [f"  %d{r}.{v} = {_compressed(t, f'%n{r}.{v}', f'%m{v}')}" for r, v in tile]
    lines += ["  br i1 %more, label %adding, label %writing", "adding:"]
    for r, v in tile:
        lines += [f"  %o{r}.{v} = {_loaded(t, f'%c{r}.{v}', f'%f{v}')}",
                  f"  %s{r}.{v} = fadd {t.vector} %o{r}.{v}, %d{r}.{v}"]  # fmt: skip
    lines += [_stored(t, f"%s{r}.{v}", f"%c{r}.{v}", f"%f{v}") for r, v in tile]
    lines += ["  ret void", "writing:"]
    lines += [_stored(t, f"%d{r}.{v}", f"%c{r}.{v}", f"%f{v}") for r, v in tile]
    return "\n".join([*lines, "  ret void", "}"])


def _products(t: Tiles) -> str:
    """Blocks of the inner size, in them blocks of rows, in them pieces: each tile of b meets all tiles of a's block
    while it is in the cache.
    """
    w = Writer("i32", names_of(t.dtype)[0], (
        "i64 %m", "i64 %k", "ptr %a", "i64 %arow", "ptr %ao", "ptr %b", "ptr %bo", "ptr %c", "i64 %crow",
        "ptr %pieces", "i64 %count", "ptr %bias",
    ))  # fmt: skip
    no_bias = w.value("icmp eq ptr %bias, null")
    with w.loop("%k", 0, INNER) as p0:
        inner = w.least(w.value(f"sub i64 %k, {p0}"), INNER)
        more = w.value(f"icmp ne i64 {p0}, 0")
        without = w.value(f"or i1 {more}, {no_bias}")
        tables = (w.at("%ao", p0), w.at("%bo", p0))
        with w.loop("%m", 0, ROWS) as i0:
            rows = w.least(w.value(f"sub i64 %m, {i0}"), ROWS)
            call = _Call(w, t, inner, tables, i0, rows, more, without)
            is_low = w.value(f"icmp sle i64 {rows}, {t.wide}")
            with w.when(is_low), w.loop("%count", 0, 4) as piece:
                call.of_height(0, rows, range(1, t.wide + 1), 4, piece)
            with w.when(w.value(f"xor i1 {is_low}, true")), w.loop("%count", 0, 2) as piece:
                # In tiles as high as possible that are nearly alike.
                parts = w.value(f"sdiv i64 {w.add(rows, t.tall - 1)}, {t.tall}")
                with w.loop(parts) as part:
                    start, end = (w.value(f"sdiv i64 {w.times(rows, n)}, {parts}") for n in (part, w.add(part, 1)))
                    height = w.value(f"sub i64 {end}, {start}")
                    call.of_height(start, height, range(t.wide, t.tall + 1), 2, piece)
    w.line("ret i32 0")
    return w.text


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

    def of_height(self, start: object, height: str, heights: range, vectors: int, piece: str) -> None:
        """The tile with so many rows, which are among `heights`."""
        w, t = self.w, self.t
        row = w.add(self.i0, start)
        a, c = w.at("%a", w.times(row, "%arow"), "i8"), w.at("%c", w.times(row, "%crow"), "i8")
        bias = w.value(f"select i1 {self.without}, ptr null, ptr {w.at('%bias', row, t.type)}")
        given = (f"i64 {self.inner}", f"ptr {a}", "i64 %arow", f"ptr {self.tables[0]}", "ptr %b",
                 f"ptr {self.tables[1]}", f"ptr {c}", "i64 %crow", f"ptr {w.at('%pieces', w.times(piece, PIECE))}",
                 f"i1 {self.more}", f"ptr {bias}")  # fmt: skip
        for rows in heights:
            with w.when(w.value(f"icmp eq i64 {height}, {rows}")):
                w.call("void", f"@{_tile_name(t, rows, vectors)}", *given)


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
        f"define internal void @{_dots_name(t, rows)}(i64 %count, ptr %a, i64 %arow, ptr %b, ptr %bo, i64 %left, "
        "ptr %c, i64 %crow, ptr %pieces, i1 %more) #1 {",
        "entry:", *_multiples("arow"), *_multiples("crow"), "  %last = sub i64 %left, 1",
    ]  # fmt: skip
    for p in range(width):  # what is not there is computed as the last that is, and not written
        lines += [f"  %is{p} = icmp ult i64 {p}, %left", f"  %which{p} = select i1 %is{p}, i64 {p}, i64 %last",
                  *_word(f"of{p}", "%bo", f"%which{p}")]  # fmt: skip
    lines += ["  br label %loop", "loop:", "  %i = phi i64 [0, %entry], [%i.next, %loop]",
              "  %piece = phi ptr [%pieces, %entry], [%piece.next, %loop]"]  # fmt: skip
    lines += [f"  %t{r}.{p} = phi {t.vector} [zeroinitializer, %entry], [%n{r}.{p}, %loop]" for r, p in tile]
    lines += [*_word("from", "%piece", 0), *_word("to", "%piece", 1), *_word("lanes", "%piece", 3),
              *_lanes(t, "%lanes", "m"), "  %ap = getelementptr i8, ptr %a, i64 %to",
              "  %bp = getelementptr i8, ptr %b, i64 %from", *_rows_from("ap", rows, "arow")]  # fmt: skip
    lines += [f"  %a{r} = {_loaded(t, f'%ap.{r}', '%m')}" for r in range(rows)]
    for p in range(width):
        lines += [f"  %b{p}.at = getelementptr i8, ptr %bp, i64 %of{p}", f"  %b{p} = {_loaded(t, f'%b{p}.at', '%m')}"]
        lines += [
            f"  %n{r}.{p} = call {t.vector} @llvm.fmuladd.{t.suffix}({t.vector} %a{r}, {t.vector} %b{p}, "
            f"{t.vector} %t{r}.{p})" for r in range(rows)
        ]  # fmt: skip
    lines += [f"  %piece.next = getelementptr i64, ptr %piece, i64 {PIECE}", "  %i.next = add nuw i64 %i, 1",
              "  %again = icmp ult i64 %i.next, %count", "  br i1 %again, label %loop, label %done",
              "done:", *_rows_from("c", rows, "crow")]  # fmt: skip
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
        "i64 %count",
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
            for height in range(1, rows + 1):
                with w.when(w.value(f"icmp eq i64 {w.value(f'sub i64 {end}, {start}')}, {height}")):
                    w.call("void", f"@{_dots_name(t, height)}", *given)
    w.line("ret i32 0")
    return w.text
