"""Micro-kernels of matrix products: tiles of the result whose sums stay in registers over the inner size.

    void tile_<type>_<rows>_<vectors>[_part|_packed](k, a, arow, acolumn, b, brow, c, crow, i1 more, left, bias, along)

c[:rows, :left] (+)= a b, where rows and columns of a and rows of b are so many bytes apart. more: add to what c has;
bias: what rows begin with, or null; along: what columns begin with, or null. k is 1 at least. Those called `part` are
for fewer columns than the vectors have. Those called `packed` are for a and b in the order in which they are read: what
is known of steps costs no instructions, and several steps of the inner size share the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .emit import Dtype, memory_type
from .llvm import Target

# Rows of a tile that have a pointer of their own in the loop; the others are so many rows behind one.
_GROUP = 4
# Steps of the inner size that one turn of the loop makes where both matrices are packed.
_UNROLLED = 4


@dataclass(frozen=True)
class Shape:
    """The micro-kernels of a target: rows of their tiles, largest first, each with vectors in a row of b as it lies.

    Packed tiles of b have always two vectors.
    """

    dtype: Dtype
    lanes: int
    rows: tuple[tuple[int, int], ...]

    @property
    def type(self) -> str:
        """LLVM's name for an element."""
        return memory_type(self.dtype)

    @property
    def full(self) -> str:
        """LLVM's name for a vector."""
        return f"<{self.lanes} x {self.type}>"

    @property
    def suffix(self) -> str:
        """What names of LLVM's functions on vectors end with."""
        return f"v{self.lanes}f{8 * self.dtype.itemsize}"

    @property
    def width(self) -> int:
        """Columns of a packed tile."""
        return 2 * self.lanes

    @property
    def has_16_registers(self) -> bool:
        """Whether these are tiles for AVX2."""
        return self.most == 6

    @property
    def fetches(self) -> bool:
        """Whether a tile's place in c is asked for before its sums are made: measured to be faster with AVX2 alone."""
        return self.has_16_registers

    @property
    def reads_whole(self) -> bool:
        """Whether tiles of two vectors read whole ones for fewer columns, too: of a copy of b with zeros behind them.

        Loads under AVX2's masks made them half as fast.
        """
        return self.has_16_registers

    @property
    def least_of_two_vectors(self) -> int:
        """Rows of the smallest tile that reads two vectors of b, as it lies."""
        return min(rows for rows, vectors in self.rows if vectors == 2)

    @property
    def most(self) -> int:
        """Rows of the largest tile."""
        return self.rows[0][0]


def shape_of(dtype: Dtype, target: Target) -> Shape:
    """Tiles that fit the registers: 32 of AVX-512 or ARM, 16 of AVX2."""
    wide = target.vector_bytes >= 64 or not target.is_x86
    rows = ((12, 2), (8, 2), (4, 4), (2, 8), (1, 8)) if wide else ((6, 2), (4, 2), (2, 4), (1, 8))
    return Shape(dtype, target.vector_bytes // dtype.itemsize, rows)


def tiles_ir(shape: Shape) -> dict[str, str]:
    """All tiles of a target, by name."""
    made = {}
    for rows, vectors in sorted({(rows, vectors) for rows, wide in shape.rows for vectors in {2, wide}}):
        for kind in ("", "part", "packed") if vectors == 2 else ("", "part"):
            made[name_of_tile(shape, rows, vectors, kind)] = _Tile(shape, rows, vectors, kind).text()
    return made


def name_of_tile(shape: Shape, rows: int, vectors: int, kind: str) -> str:
    """The function's name; kind: as above, or empty."""
    return f"tile_{shape.type}_{rows}_{vectors}{kind and '_'}{kind}"


def declarations(shape: Shape) -> list[str]:
    """What the functions need declared."""
    full, suffix, mask = shape.full, shape.suffix, f"<{shape.lanes} x i1>"
    return [
        f"declare {full} @llvm.fmuladd.{suffix}({full}, {full}, {full})",
        f"declare {full} @llvm.masked.load.{suffix}.p0(ptr, i32, {mask}, {full})",
        f"declare void @llvm.masked.store.{suffix}.p0({full}, ptr, i32, {mask})",
        "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)",
    ]


@dataclass(frozen=True)
class _Tile:
    """The text of one tile."""

    shape: Shape
    rows: int
    vectors: int
    kind: str

    @property
    def _places(self) -> list[str]:
        return [f"{r}.{v}" for r in range(self.rows) for v in range(self.vectors)]

    @property
    def _groups(self) -> range:
        return range(0, self.rows, self.rows if self.kind == "packed" else _GROUP)

    def text(self) -> str:
        """The function as LLVM reads it."""
        lines = [
            f"define internal void @{name_of_tile(self.shape, self.rows, self.vectors, self.kind)}(i64 %k, ptr %a, "
            "i64 %arow, i64 %acolumn, ptr %b, i64 %brow, ptr %c, i64 %crow, i1 %more, i64 %left, ptr %bias, ptr %along)"
            " #1 {", "entry:",
        ]  # fmt: skip
        if self.kind == "part":
            lines += column_masks(self.shape.lanes, self.vectors)
        if self._is_spread:
            lines.append(
                f"  %held = alloca [{self.rows * self.vectors * self.shape.lanes} x {self.shape.type}], align 64"
            )
        elif self.shape.fetches:
            lines += self._fetched()
        if self.kind != "packed":
            lines += self._pointers()
        lines += self._beginnings()
        lines += self._unrolled() if self.kind == "packed" else self._simple()
        return "\n".join([*lines, *self._written(), "  ret void", "}"])

    def _fetched(self) -> list[str]:
        """Ask for the tile's place in c."""
        lines, last = [], self.vectors * self.shape.lanes * self.shape.dtype.itemsize - 1
        for r in range(self.rows):
            lines += [f"  %f{r}.row = mul i64 %crow, {r}", f"  %f{r} = getelementptr i8, ptr %c, i64 %f{r}.row",
                      f"  call void @llvm.prefetch.p0(ptr %f{r}, i32 1, i32 3, i32 1)",
                      f"  %f{r}.last = getelementptr i8, ptr %f{r}, i64 {last}",
                      f"  call void @llvm.prefetch.p0(ptr %f{r}.last, i32 1, i32 3, i32 1)"]  # fmt: skip
        return lines

    def _pointers(self) -> list[str]:
        """Where groups of rows of a begin, %a<row>, and how far behind it the rows of one are, %arow<number>.

        An empty piece of assembler hides that these are multiples of each other. LLVM would get each row's address from
        that of the row before by an addition: a chain through all rows, which takes as long as their products.
        """
        lines = []
        for i in range(_GROUP):
            lines += [f"  %arow{i}.known = mul i64 %arow, {i}",
                      f'  %arow{i} = call i64 asm "", "=r,0"(i64 %arow{i}.known)']  # fmt: skip
        for g in self._groups:
            lines += [f"  %a{g}.off = mul i64 %arow, {g}", f"  %a{g} = getelementptr i8, ptr %a, i64 %a{g}.off"]
        return lines

    def _beginnings(self) -> list[str]:
        """What sums begin with, %s<row>.<vector>: zeros, `bias` or `along`."""
        shape, T, size = self.shape, self.shape.type, self.shape.dtype.itemsize
        lines = ["  %is.unbiased = icmp eq ptr %bias, null", "  br i1 %is.unbiased, label %unbiased, label %biased",
                 "unbiased:", "  %is.plain = icmp eq ptr %along, null", "  br i1 %is.plain, label %begin, label %lying",
                 "lying:"]  # fmt: skip
        for v in range(self.vectors):
            lines += [f"  %y{v}.at = getelementptr {T}, ptr %along, i64 {v * shape.lanes}",
                      f"  %y{v} = {self._load(f'%y{v}.at', v)}"]  # fmt: skip
        lines += ["  br label %begin", "biased:"]
        for r in range(self.rows):
            lines += [f"  %z{r}.at = getelementptr {T}, ptr %bias, i64 {r}",
                      *_broadcast(T, size, shape.lanes, f"z{r}")]  # fmt: skip
        lines += ["  br label %begin", "begin:"]
        lines += [
            f"  %s{r}.{v} = phi {shape.full} [zeroinitializer, %unbiased], [%y{v}, %lying], [%z{r}, %biased]"
            for r in range(self.rows)
            for v in range(self.vectors)
        ]
        return lines

    def _simple(self) -> list[str]:
        """The loop over the inner size, a step a turn; sums are %n<row>.<vector> behind it."""
        lines = ["  br label %loop", "loop:", *self._phis("p", "i64", "0"), *self._phis("bp", "ptr", "%b")]
        for g in self._groups:
            lines += self._phis(f"ap{g}", "ptr", f"%a{g}")
        for place in self._places:
            lines.append(f"  %t{place} = phi {self.shape.full} [%s{place}, %begin], [%n{place}, %loop]")
        at = [f"getelementptr i8, ptr %ap{r // _GROUP * _GROUP}, i64 %arow{r % _GROUP}" for r in range(self.rows)]
        lines += self._step("", "%bp", 0, at, "t", "n")
        lines += [f"  %ap{g}.next = getelementptr i8, ptr %ap{g}, i64 %acolumn" for g in self._groups]
        return [*lines, "  %bp.next = getelementptr i8, ptr %bp, i64 %brow",
                "  %p.next = add nuw i64 %p, 1", "  %again = icmp ult i64 %p.next, %k",
                "  br i1 %again, label %loop, label %done", "done:"]  # fmt: skip

    def _phis(self, name: str, kind: str, first: str, label: str = "loop", before: str = "begin") -> list[str]:
        return [f"  %{name} = phi {kind} [{first}, %{before}], [%{name}.next, %{label}]"]

    def _unrolled(self) -> list[str]:
        """As `_simple`, for packed matrices: several steps a turn, and one a turn for those that are left."""
        full = self.shape.full
        lines = [f"  %whole = and i64 %k, -{_UNROLLED}", "  %is.short = icmp eq i64 %whole, 0",
                 "  br i1 %is.short, label %between, label %loop"]  # fmt: skip
        lines += self._turn("loop", "begin", ("0", "%a", "%b"), "s", "m", _UNROLLED)
        lines += ["  %again = icmp ult i64 %p.next, %whole", "  br i1 %again, label %loop, label %between", "between:"]
        for name, kind, first in (("p", "i64", "0"), ("ap", "ptr", "%a"), ("bp", "ptr", "%b")):
            lines.append(f"  %{name}.left = phi {kind} [{first}, %begin], [%{name}.next, %loop]")
        lines += [f"  %w{p} = phi {full} [%s{p}, %begin], [%m{p}, %loop]" for p in self._places]
        lines += ["  %is.left = icmp ult i64 %p.left, %k", "  br i1 %is.left, label %rest, label %done"]
        lines += self._turn("rest", "between", ("%p.left", "%ap.left", "%bp.left"), "w", "e", 1)
        lines += ["  %still = icmp ult i64 %q.next, %k", "  br i1 %still, label %rest, label %done", "done:"]
        return lines + [f"  %n{p} = phi {full} [%w{p}, %between], [%e{p}, %rest]" for p in self._places]

    def _turn(self, label: str, before: str, first: Sequence[str], sums: str, results: str, steps: int) -> list[str]:
        """A loop's block: so many steps of packed matrices, from what `first` names; without its end."""
        size, own = self.shape.dtype.itemsize, label[0]  # names inside end in the block's letter
        p, ap, bp = ("p", "ap", "bp") if label == "loop" else ("q", "aq", "bq")
        lines = [f"{label}:"]
        for name, kind, start in zip((p, ap, bp), ("i64", "ptr", "ptr"), first, strict=True):
            lines += self._phis(name, kind, start, label, before)
        for place in self._places:
            lines.append(f"  %{own}0.{place} = phi {self.shape.full} [%{sums}{place}, %{before}], "
                         f"[%{results}{place}, %{label}]")  # fmt: skip
        for u in range(steps):
            at = [f"getelementptr i8, ptr %{ap}, i64 {(u * self.rows + r) * size}" for r in range(self.rows)]
            to = results if u + 1 == steps else f"{own}{u + 1}."
            lines += self._step(f"{own}{u}.", f"%{bp}", u * self.shape.width * size, at, f"{own}{u}.", to)
        return [*lines, f"  %{ap}.next = getelementptr i8, ptr %{ap}, i64 {steps * self.rows * size}",
                f"  %{bp}.next = getelementptr i8, ptr %{bp}, i64 {steps * self.shape.width * size}",
                f"  %{p}.next = add nuw i64 %{p}, {steps}"]  # fmt: skip

    def _step(self, own: str, b: str, offset: int, rows: Sequence[str], sums: str, results: str) -> list[str]:
        """Add the products of one column of a and one row of b. rows: where elements of a are; offset: bytes from b."""
        shape, T, size, lines = self.shape, self.shape.type, self.shape.dtype.itemsize, []
        for v in range(self.vectors):
            lines += [f"  %{own}b{v}.at = getelementptr i8, ptr {b}, i64 {offset + v * shape.lanes * size}",
                      f"  %{own}b{v} = {self._load(f'%{own}b{v}.at', v, self._is_whole)}"]  # fmt: skip
        for r, at in enumerate(rows):
            lines += [f"  %{own}x{r}.at = {at}", *_broadcast(T, size, shape.lanes, f"{own}x{r}")]
            lines += [
                f"  %{results}{r}.{v} = call {shape.full} @llvm.fmuladd.{shape.suffix}({shape.full} %{own}x{r}, "
                f"{shape.full} %{own}b{v}, {shape.full} %{sums}{r}.{v})"
                for v in range(self.vectors)
            ]
        return lines

    def _written(self) -> list[str]:
        """Write the sums, or add them to what is there."""
        shape, lines = self.shape, []
        for r in range(self.rows):
            lines += [f"  %c{r}.row = mul i64 %crow, {r}", f"  %c{r} = getelementptr i8, ptr %c, i64 %c{r}.row"]
            lines += [
                f"  %c{r}.{v} = getelementptr {shape.type}, ptr %c{r}, i64 {v * shape.lanes}"
                for v in range(self.vectors)
            ]
        lines += ["  br i1 %more, label %adding, label %writing", "adding:"]
        for place in self._places:
            v = int(place.split(".")[1])
            lines += [f"  %o{place} = {self._load(f'%c{place}', v)}",
                      f"  %d{place} = fadd {shape.full} %o{place}, %n{place}"]  # fmt: skip
        if self._is_spread:
            return [*lines, "  br label %writing", *self._spread()]
        lines += [self._store(f"%d{place}", f"%c{place}", int(place.split(".")[1])) for place in self._places]
        lines += ["  ret void", "writing:"]
        return lines + [self._store(f"%n{place}", f"%c{place}", int(place.split(".")[1])) for place in self._places]

    @property
    def _is_spread(self) -> bool:
        """Whether it writes by `put_<type>`: a store under AVX2's masks takes some CPUs (AMD's) a dozen cycles and
        more, so that those of one tile would take longer than its sums.
        """
        return self.kind == "part" and self.shape.has_16_registers

    def _spread(self) -> list[str]:
        """Write the sums into memory of whole vectors, and from there the columns that there are."""
        shape, width = self.shape, self.vectors * self.shape.lanes
        lines = ["writing:"]
        lines += [f"  %e{p} = phi {shape.full} [%n{p}, %done], [%d{p}, %adding]" for p in self._places]
        for number, place in enumerate(self._places):
            lines += [f"  %held{place} = getelementptr {shape.full}, ptr %held, i64 {number}",
                      f"  store {shape.full} %e{place}, ptr %held{place}, align {shape.dtype.itemsize}"]  # fmt: skip
        given = f"ptr %c, i64 %crow, ptr %held, i64 {width * shape.dtype.itemsize}, i64 {self.rows}, i64 %left"
        return [*lines, f"  call void @put_{shape.type}({given})"]

    @property
    def _is_whole(self) -> bool:
        """Whether there are as many columns of b as the vectors have."""
        return self.kind != "part" or (self.vectors == 2 and self.shape.reads_whole)

    def _load(self, at: str, vector: int, is_whole: bool = False) -> str:
        full, size = self.shape.full, self.shape.dtype.itemsize
        if is_whole or self.kind != "part":
            return f"load {full}, ptr {at}, align {size}"
        given = f"ptr {at}, i32 {size}, <{self.shape.lanes} x i1> %m{vector}, {full} zeroinitializer"
        return f"call {full} @llvm.masked.load.{self.shape.suffix}.p0({given})"

    def _store(self, value: str, at: str, vector: int) -> str:
        full, size = self.shape.full, self.shape.dtype.itemsize
        if self.kind != "part":
            return f"  store {full} {value}, ptr {at}, align {size}"
        given = f"{full} {value}, ptr {at}, i32 {size}, <{self.shape.lanes} x i1> %m{vector}"
        return f"  call void @llvm.masked.store.{self.shape.suffix}.p0({given})"


def _broadcast(T: str, size: int, lanes: int, name: str) -> list[str]:
    """The element at %name.at in all lanes of %name."""
    full = f"<{lanes} x {T}>"
    return [
        f"  %{name}.one = load {T}, ptr %{name}.at, align {size}",
        f"  %{name}.first = insertelement {full} poison, {T} %{name}.one, i64 0",
        f"  %{name} = shufflevector {full} %{name}.first, {full} poison, <{lanes} x i32> zeroinitializer",
    ]


def column_masks(lanes: int, vectors: int, count: str = "%left") -> list[str]:
    """For each vector which of its columns there are, %m<vector>."""
    lines = [f"  %left.one = insertelement <{lanes} x i64> poison, i64 {count}, i64 0",
             f"  %left.all = shufflevector <{lanes} x i64> %left.one, <{lanes} x i64> poison, "
             f"<{lanes} x i32> zeroinitializer"]  # fmt: skip
    for v in range(vectors):
        numbers = ", ".join(f"i64 {v * lanes + i}" for i in range(lanes))
        lines.append(f"  %m{v} = icmp ugt <{lanes} x i64> %left.all, <{numbers}>")
    return lines
