"""Tiles of products with windows (`windows.py`): sums that stay in registers over the inner size.

A piece of columns is what a vector of b's memory holds of them; between them may be others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .emit import Dtype, memory_type
from .llvm import Target

# Words of the table for a piece: where it begins in b and in c, how many columns it has, and their lanes as bits. Above
# these, for up to eight lanes, the number of each in order, a few bits each.
PIECE, ORDER, ORDER_BITS = 4, 32, 3


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
    def packs(self) -> bool:
        """Whether tiles of more than `wide` rows read a in packed order. With 16 registers there is none for masks, and
        ports that load are the narrowest: it takes two thirds of the time that a where it lies does.
        """
        return self.tall == 6


def tiles_of(dtype: Dtype, target: Target) -> Tiles:
    """Tiles for 32 registers, those of AVX-512 and ARM, or 16."""
    lanes = target.vector_bytes // dtype.itemsize
    is_wide = target.vector_bytes >= 64 or not target.is_x86
    return Tiles(dtype, lanes, 12, 6, (4, 5)) if is_wide else Tiles(dtype, lanes, 6, 3, (3, 3))


def names_of(dtype: Dtype) -> tuple[str, str]:
    """The functions' names."""
    return f"windows_{memory_type(dtype)}", f"window_dots_{memory_type(dtype)}"


# -- pieces ------------------------------------------------------------------------------------------------------------


def lanes_from(t: Tiles, bits: str, name: str) -> list[str]:
    """%name: the lanes that bits say."""
    return [f"  %{name}.bits = trunc i64 {bits} to i{t.lanes}",
            f"  %{name} = bitcast i{t.lanes} %{name}.bits to <{t.lanes} x i1>"]  # fmt: skip


def first_lanes(t: Tiles, count: str, name: str) -> list[str]:
    """%name: so many lanes, the first ones."""
    numbers = ", ".join(f"i32 {i}" for i in range(t.lanes))
    wide = f"<{t.lanes} x i32>"
    return [
        f"  %{name}.short = trunc i64 {count} to i32",
        f"  %{name}.one = insertelement {wide} poison, i32 %{name}.short, i64 0",
        f"  %{name}.all = shufflevector {wide} %{name}.one, {wide} poison, <{t.lanes} x i32> zeroinitializer",
        f"  %{name} = icmp ugt {wide} %{name}.all, <{numbers}>",
    ]


def loaded_lanes(t: Tiles, at: str, mask: str) -> str:
    given = f"ptr {at}, i32 {t.dtype.itemsize}, <{t.lanes} x i1> {mask}, {t.vector} zeroinitializer"
    return f"call {t.vector} @llvm.masked.load.{t.suffix}.p0({given})"


def stored_lanes(t: Tiles, value: str, at: str, mask: str) -> str:
    given = f"{t.vector} {value}, ptr {at}, i32 {t.dtype.itemsize}, <{t.lanes} x i1> {mask}"
    return f"  call void @llvm.masked.store.{t.suffix}.p0({given})"


def compressed(t: Tiles, value: str, mask: str) -> str:
    """The lanes that a mask says, brought side by side; those behind them hold anything.

    Zeros there, for which nobody asks, end the process: LLVM 22's form without AVX-512 takes floats that are all alike
    for integers.
    """
    given = f"{t.vector} {value}, <{t.lanes} x i1> {mask}, {t.vector} poison"
    return f"call {t.vector} @llvm.experimental.vector.compress.{t.suffix}({given})"


def word_at(name: str, table: str, index: object) -> list[str]:
    return [f"  %{name}.at = getelementptr i64, ptr {table}, i64 {index}", f"  %{name} = load i64, ptr %{name}.at"]


def in_all_lanes(t: Tiles, name: str, value: str) -> list[str]:
    """%name: a number in all lanes."""
    return [
        f"  %{name}.first = insertelement {t.vector} poison, {t.type} {value}, i64 0",
        f"  %{name} = shufflevector {t.vector} %{name}.first, {t.vector} poison, <{t.lanes} x i32> zeroinitializer",
    ]


def rows_from(base: str, rows: int, step: str) -> list[str]:
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


def multiples(step: str) -> list[str]:
    return [f"  %{step}{i} = mul i64 %{step}, {i}" for i in (2, 3, 4)]


# -- products ----------------------------------------------------------------------------------------------------------


def tile_name(t: Tiles, rows: int, vectors: int) -> str:
    return f"windows_tile_{t.type}_{rows}_{vectors}"


def tile(t: Tiles, rows: int, vectors: int) -> str:
    """void tile(k, a, arow, aoffsets, b, boffsets, c, crow, pieces, i1 more, bias): `vectors` pieces of `rows` rows;
    more: add to what c has; bias: what rows begin with, or null.
    """
    T, size, tile = t.type, t.dtype.itemsize, [(r, v) for r in range(rows) for v in range(vectors)]
    lines = [
        f"define void @{tile_name(t, rows, vectors)}(i64 %k, ptr %a, i64 %arow, ptr %ao, ptr %b, ptr %bo, "
        "ptr %c, i64 %crow, ptr %pieces, i1 %more, ptr %bias) #1 {",
        "entry:", *multiples("arow"), *multiples("crow"),
    ]  # fmt: skip
    for v in range(vectors):
        lines += [*word_at(f"from{v}", "%pieces", PIECE * v), *word_at(f"to{v}", "%pieces", PIECE * v + 1),
                  *word_at(f"count{v}", "%pieces", PIECE * v + 2), *first_lanes(t, f"%count{v}", f"f{v}"),
                  *word_at(f"lanes{v}", "%pieces", PIECE * v + 3), *lanes_from(t, f"%lanes{v}", f"m{v}"),
                  f"  %b{v}.start = getelementptr i8, ptr %b, i64 %from{v}"]  # fmt: skip
    lines += ["  %is.plain = icmp eq ptr %bias, null", "  br i1 %is.plain, label %loop, label %biased", "biased:"]
    for r in range(rows):
        lines += [f"  %z{r}.at = getelementptr {T}, ptr %bias, i64 {r}", f"  %z{r}.one = load {T}, ptr %z{r}.at",
                  *in_all_lanes(t, f"z{r}", f"%z{r}.one")]  # fmt: skip
    lines += ["  br label %loop", "loop:", "  %p = phi i64 [0, %entry], [0, %biased], [%p.next, %loop]"]
    lines += [
        f"  %t{r}.{v} = phi {t.vector} [zeroinitializer, %entry], [%z{r}, %biased], [%n{r}.{v}, %loop]" for r, v in tile
    ]
    lines += [*word_at("aof", "%ao", "%p"), *word_at("bof", "%bo", "%p"), "  %ap = getelementptr i8, ptr %a, i64 %aof"]
    for v in range(vectors):
        lines += [f"  %b{v}.at = getelementptr i8, ptr %b{v}.start, i64 %bof",
                  f"  %b{v} = {loaded_lanes(t, f'%b{v}.at', f'%m{v}')}"]  # fmt: skip
    lines += rows_from("ap", rows, "arow")
    for r in range(rows):
        lines += [f"  %a{r}.one = load {T}, ptr %ap.{r}, align {size}", *in_all_lanes(t, f"a{r}", f"%a{r}.one")]
        lines += [
            f"  %n{r}.{v} = call {t.vector} @llvm.fmuladd.{t.suffix}({t.vector} %a{r}, {t.vector} %b{v}, "
            f"{t.vector} %t{r}.{v})" for v in range(vectors)
        ]  # fmt: skip
    lines += ["  %p.next = add nuw i64 %p, 1", "  %again = icmp ult i64 %p.next, %k",
              "  br i1 %again, label %loop, label %done", "done:", *rows_from("c", rows, "crow")]  # fmt: skip
    lines += [f"  %c{r}.{v} = getelementptr i8, ptr %c.{r}, i64 %to{v}" for r, v in tile]
    lines += [f"  %d{r}.{v} = {compressed(t, f'%n{r}.{v}', f'%m{v}')}" for r, v in tile]
    return "\n".join([*lines, *_added_or_written(t, tile, "f"), "}"])


def _added_or_written(t: Tiles, own: Sequence[tuple[int, int]], mask: str) -> list[str]:
    """The end: %d<r>.<v> is added to what is at %c<r>.<v>, or written there, in the lanes of %<mask><v>."""
    lines = ["  br i1 %more, label %adding, label %writing", "adding:"]
    for r, v in own:
        lines += [f"  %o{r}.{v} = {loaded_lanes(t, f'%c{r}.{v}', f'%{mask}{v}')}",
                  f"  %s{r}.{v} = fadd {t.vector} %o{r}.{v}, %d{r}.{v}"]  # fmt: skip
    lines += [stored_lanes(t, f"%s{r}.{v}", f"%c{r}.{v}", f"%{mask}{v}") for r, v in own]
    lines += ["  ret void", "writing:"]
    lines += [stored_lanes(t, f"%d{r}.{v}", f"%c{r}.{v}", f"%{mask}{v}") for r, v in own]
    return [*lines, "  ret void"]


# -- tiles that read a in packed order ---------------------------------------------------------------------------------


def packed_tile_name(t: Tiles, rows: int, is_whole: bool) -> str:
    """The function's name."""
    return f"windows_packed_{t.type}_{rows}{'_whole' if is_whole else ''}"


def packed_tile(t: Tiles, rows: int, is_whole: bool) -> str:
    """void tile(k, a, b, boffsets, c, crow, pieces, i1 more, bias): two pieces of `rows` rows, of which a has the
    elements of one step of the inner size side by side. is_whole: a vector may be read where each piece begins.
    """
    own = [(r, v) for r in range(rows) for v in range(2)]
    lines = [
        f"define void @{packed_tile_name(t, rows, is_whole)}(i64 %k, ptr %a, ptr %b, ptr %bo, ptr %c, "
        "i64 %crow, ptr %pieces, i1 %more, ptr %bias) #1 {", "entry:", *multiples("crow"),
    ]  # fmt: skip
    for v in range(2):
        lines += [*word_at(f"from{v}", "%pieces", PIECE * v), *word_at(f"to{v}", "%pieces", PIECE * v + 1),
                  *word_at(f"count{v}", "%pieces", PIECE * v + 2), *word_at(f"lanes{v}", "%pieces", PIECE * v + 3),
                  *([] if is_whole else lanes_from(t, f"%lanes{v}", f"m{v}")),
                  f"  %b{v}.start = getelementptr i8, ptr %b, i64 %from{v}"]  # fmt: skip
    lines += _biases(t, rows)
    lines += ["  br label %loop", "loop:", "  %p = phi i64 [0, %entry], [0, %biased], [%p.next, %loop]",
              "  %ap = phi ptr [%a, %entry], [%a, %biased], [%ap.next, %loop]"]  # fmt: skip
    lines += [
        f"  %t{r}.{v} = phi {t.vector} [zeroinitializer, %entry], [%z{r}, %biased], [%n{r}.{v}, %loop]" for r, v in own
    ]
    lines += word_at("bof", "%bo", "%p")
    for v in range(2):
        at = f"%b{v}.at"
        read = f"load {t.vector}, ptr {at}, align {t.dtype.itemsize}" if is_whole else loaded_lanes(t, at, f"%m{v}")
        lines += [f"  {at} = getelementptr i8, ptr %b{v}.start, i64 %bof", f"  %b{v} = {read}"]
    for r in range(rows):
        lines += [f"  %a{r}.at = getelementptr {t.type}, ptr %ap, i64 {r}",
                  f"  %a{r}.one = load {t.type}, ptr %a{r}.at, align {t.dtype.itemsize}",
                  *in_all_lanes(t, f"a{r}", f"%a{r}.one")]  # fmt: skip
        lines += [
            f"  %n{r}.{v} = call {t.vector} @llvm.fmuladd.{t.suffix}({t.vector} %a{r}, {t.vector} %b{v}, "
            f"{t.vector} %t{r}.{v})" for v in range(2)
        ]  # fmt: skip
    lines += [f"  %ap.next = getelementptr {t.type}, ptr %ap, i64 {rows}", "  %p.next = add nuw i64 %p, 1",
              "  %again = icmp ult i64 %p.next, %k", "  br i1 %again, label %loop, label %done", "done:",
              *rows_from("c", rows, "crow")]  # fmt: skip
    lines += [f"  %c{r}.{v} = getelementptr i8, ptr %c.{r}, i64 %to{v}" for r, v in own]
    return "\n".join([*lines, *_written(t, own), "}"])


def _biases(t: Tiles, rows: int) -> list[str]:
    """%z<row>: what rows begin with, in a block of their own."""
    lines = ["  %is.plain = icmp eq ptr %bias, null", "  br i1 %is.plain, label %loop, label %biased", "biased:"]
    for r in range(rows):
        lines += [f"  %z{r}.at = getelementptr {t.type}, ptr %bias, i64 {r}",
                  f"  %z{r}.one = load {t.type}, ptr %z{r}.at", *in_all_lanes(t, f"z{r}", f"%z{r}.one")]  # fmt: skip
    return lines


def _written(t: Tiles, own: list[tuple[int, int]]) -> list[str]:
    """Write the sums, or add them to what is there: whole vectors, or the lanes of columns side by side."""
    size = t.dtype.itemsize
    lines = [f"  %is.full{v} = icmp eq i64 %count{v}, {t.lanes}" for v in range(2)]
    lines += ["  %is.full = and i1 %is.full0, %is.full1", "  br i1 %is.full, label %full, label %some", "full:",
              "  br i1 %more, label %full.adding, label %full.writing", "full.adding:"]  # fmt: skip
    lines += [f"  %e{r}.{v} = load {t.vector}, ptr %c{r}.{v}, align {size}" for r, v in own]
    lines += [f"  %f{r}.{v} = fadd {t.vector} %e{r}.{v}, %n{r}.{v}" for r, v in own]
    lines += [f"  store {t.vector} %f{r}.{v}, ptr %c{r}.{v}, align {size}" for r, v in own]
    lines += ["  ret void", "full.writing:"]
    lines += [f"  store {t.vector} %n{r}.{v}, ptr %c{r}.{v}, align {size}" for r, v in own]
    lines += ["  ret void", "some:"]
    for v in range(2):
        lines += [*first_lanes(t, f"%count{v}", f"k{v}"), *_order(t, v)]
    for r, v in own:
        lines += _reordered(t, f"%n{r}.{v}", v, f"d{r}.{v}")
    return lines + _added_or_written(t, own, "k")


def _order(t: Tiles, v: int) -> list[str]:
    """%q<v>.<lane>: which lane comes there when those of columns are brought side by side."""
    wide, moves = f"<{t.lanes} x i32>", ", ".join(f"i32 {ORDER_BITS * i}" for i in range(t.lanes))
    lines = [f"  %q{v}.bits = lshr i64 %lanes{v}, {ORDER}", f"  %q{v}.short = trunc i64 %q{v}.bits to i32",
             f"  %q{v}.one = insertelement {wide} poison, i32 %q{v}.short, i64 0",
             f"  %q{v}.all = shufflevector {wide} %q{v}.one, {wide} poison, <{t.lanes} x i32> zeroinitializer",
             f"  %q{v}.down = lshr {wide} %q{v}.all, <{moves}>",
             f"  %q{v} = and {wide} %q{v}.down, splat (i32 {(1 << ORDER_BITS) - 1})"]  # fmt: skip
    return lines + [f"  %q{v}.{i} = extractelement {wide} %q{v}, i64 {i}" for i in range(t.lanes)]


def _reordered(t: Tiles, value: str, v: int, name: str) -> list[str]:
    """%name: the lanes in that order. LLVM knows element by element for one instruction of AVX2; `compressed` goes
    through memory there.
    """
    lines, before = [], "poison"
    for i in range(t.lanes):
        to = f"%{name}" if i + 1 == t.lanes else f"%{name}.to{i}"
        lines += [f"  %{name}.x{i} = extractelement {t.vector} {value}, i32 %q{v}.{i}",
                  f"  {to} = insertelement {t.vector} {before}, {t.type} %{name}.x{i}, i64 {i}"]  # fmt: skip
        before = to
    return lines
