"""Matrix products in machine code of our own, for programs that run where there is no BLAS.

    i32 gemm_<type>(m, n, k, a, row, column, b, row, column, c, row, scratch, koffsets, joffsets, bias, along)

c = a b, plus in each row its element of bias, or in each column its one of along, unless those are null; where along is
c itself, the product is added to what c has. Sizes are in elements, steps in bytes, rows of c lie side by side. After
Goto and van de Geijn ("Anatomy of High-Performance Matrix Multiplication", 2008) and BLIS: blocks of a and b are copied
into the order in which a micro-kernel reads them, which keeps a tile of c in registers. Where there are few rows, or b
is small, b is read where it lies; where there are few columns, a is.

Where `row` of a is -1 it is packed already, as `packed` does with constants; where that of b is, as by

    void gemm_pack_<type>(n, k, b, row, column, to)

With tables of offsets (not null) the element of b at row p and column j lies at koffsets[p] + joffsets[j]: the windows
of a convolution, which are then never written out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .emit import FLOAT32, FLOAT64, Dtype, memory_type
from .tiles import Shape, declarations, name_of_tile, shape_of, tiles_ir
from .writer import Writer

DTYPES = (FLOAT32, FLOAT64)
# Rows of a and columns of b that are held in packed order, and the part of the inner size that goes with them: b's tile
# for one micro-kernel stays in the first cache, a's block in the second.
ROWS, COLUMNS, INNER = 192, 1024, 256
_ALIGNED = 64
# Elements of b up to which it is read where it lies, if its rows lie side by side: it stays in the first cache.
_SMALL = 8192
# Columns of b up to which a is read where it lies: packing it would take longer than what so few tiles save. The second
# number is for an a whose rows lie side by side.
_NARROW = 128, 256


def scratch_bytes(m: int, n: int, k: int, shape: Shape) -> int:
    """Bytes of memory that a product of these sizes needs beside its arrays."""
    rows, columns, inner = min(m, ROWS), min(-(-n // shape.width) * shape.width, COLUMNS), min(k, INNER)
    return ((rows + columns) * inner * shape.dtype.itemsize // _ALIGNED + 2) * _ALIGNED


def packed(a: Any, shape: Shape) -> Any:
    """A matrix in the order in which products read it."""
    parts = []
    for p0 in range(0, a.shape[1], INNER):
        for i0 in range(0, a.shape[0], ROWS):
            block, done = a[i0 : i0 + ROWS, p0 : p0 + INNER], 0
            for height, _ in shape.rows:
                while len(block) - done >= height:
                    parts.append(block[done : done + height].T.reshape(-1))
                    done += height
    return np.concatenate(parts) if parts else np.zeros(0, a.dtype)


def packed_bytes(n: int, k: int, shape: Shape) -> int:
    """Bytes of all of b in packed order."""
    return -(-n // shape.width) * shape.width * k * shape.dtype.itemsize


def name_of(dtype: Dtype) -> str:
    """The function's name."""
    return f"gemm_{memory_type(dtype)}"


def pack_name_of(dtype: Dtype) -> str:
    """The name of the function that packs b."""
    return f"gemm_pack_{memory_type(dtype)}"


def gemm_ir(shape: Shape) -> dict[str, str]:
    """The functions by name, that of products among them."""
    return {**tiles_ir(shape), f"pack_{shape.type}": _pack(shape), f"collect_{shape.type}": _collect(shape),
            name_of(shape.dtype): _gemm(shape), pack_name_of(shape.dtype): _pack_all(shape)}  # fmt: skip


# -- packing -----------------------------------------------------------------------------------------------------------


def _pack(shape: Shape) -> str:
    """to[p, :width] = from[:rows, p], zeros behind the rows; `row` and `inner` are from's steps in bytes."""
    T, size = shape.type, shape.dtype.itemsize
    w = Writer("void", f"pack_{T}", (
        "ptr %to", "i64 %width", "ptr %from", "i64 %rows", "i64 %k", "i64 %row", "i64 %inner"
    ))  # fmt: skip
    done, fours, twos = w.variable("i64", 0), w.value("and i64 %rows, -4"), w.value("and i64 %rows, -2")
    with w.when(w.value(f"icmp eq i64 %row, {size}")):  # rows lie side by side
        step = shape.lanes
        wide = w.value(f"and i64 %rows, {-step}")
        with w.loop("%k") as p:
            source, target = w.at("%from", w.times(p, "%inner"), "i8"), w.at("%to", w.times(p, "%width"), T)
            _copied(w, source, target, T, size, step, 0, wide)
            _copied(w, source, target, T, size, 4, wide, fours)
            # Tiles of AVX2 have six rows: two by themselves would be read again from all lines of the cache.
            _copied(w, source, target, T, size, 2, fours, twos)
        w.line(f"store i64 {twos}, ptr {done}")
    left = w.value(f"load i64, ptr {done}")
    is_across = w.value(f"icmp eq i64 %inner, {size}")
    with w.when(w.value(f"and i1 {is_across}, {w.value(f'icmp eq i64 {left}, 0')}")):
        whole = w.value("and i64 %k, -4")
        with w.loop(fours, 0, 4) as r:
            with w.loop(whole, 0, 4) as p:
                _transposed(w, T, size, r, p)
            with w.loop(4) as i:
                _one_row(w, T, size, w.add(r, i), whole)
        w.line(f"store i64 {fours}, ptr {done}")
    with w.loop("%rows", w.value(f"load i64, ptr {done}")) as r:
        _one_row(w, T, size, r, 0)
    with w.loop("%width", "%rows") as r, w.loop("%k") as p:
        w.store("0.0", "%to", w.add(w.times(p, "%width"), r), T, size)
    w.line("ret void")
    return w.text


def _copied(w: Writer, source: str, target: str, T: str, size: int, step: int, start: object, end: str) -> None:
    full = f"<{step} x {T}>"
    with w.loop(end, start, step) as r:
        x = w.value(f"load {full}, ptr {w.at(source, r, T)}, align {size}")
        w.line(f"store {full} {x}, ptr {w.at(target, r, T)}, align {size}")


def _one_row(w: Writer, T: str, size: int, r: str, start: object) -> None:
    source = w.at("%from", w.times(r, "%row"), "i8")
    with w.loop("%k", start) as p:
        x = w.load(w.at(source, w.times(p, "%inner"), "i8"), 0, T, size)
        w.store(x, "%to", w.add(w.times(p, "%width"), r), T, size)


def _transposed(w: Writer, T: str, size: int, r: str, p: str) -> None:
    """Four rows of four elements, exchanged in registers."""
    four = f"<4 x {T}>"
    at = w.at("%from", w.add(w.times(r, "%row"), w.times(p, size)), "i8")
    rows = [w.value(f"load {four}, ptr {w.at(at, w.times('%row', i), 'i8')}, align {size}") for i in range(4)]

    def mixed(x: str, y: str, lanes: Sequence[int]) -> str:
        chosen = ", ".join(f"i32 {i}" for i in lanes)
        return w.value(f"shufflevector {four} {x}, {four} {y}, <4 x i32> <{chosen}>")

    low = [mixed(rows[i], rows[i + 1], (0, 4, 1, 5)) for i in (0, 2)]
    high = [mixed(rows[i], rows[i + 1], (2, 6, 3, 7)) for i in (0, 2)]
    columns = [mixed(x, y, lanes) for x, y in (low, high) for lanes in ((0, 1, 4, 5), (2, 3, 6, 7))]
    for i, column in enumerate(columns):
        place = w.at("%to", w.add(w.times(w.add(p, i), "%width"), r), T)
        w.line(f"store {four} {column}, ptr {place}, align {size}")


def _collect(shape: Shape) -> str:
    """to[p, j] = the element at koffsets[p] + joffsets[j], for `left` columns; zeros behind them.

    Columns that are neighbours in memory, as those of a row of an image are, are copied together: a vector holds pieces
    of one or more rows.
    """
    T, size, lanes = shape.type, shape.dtype.itemsize, shape.lanes
    full = f"<{lanes} x {T}>"
    w = Writer("void", f"collect_{T}", (
        "ptr %to", "ptr %from", "i64 %left", "i64 %k", "ptr %koffsets", "ptr %joffsets"
    ))  # fmt: skip
    with w.loop(shape.width, 0, lanes) as g:
        end = w.least(w.add(g, lanes), "%left")
        with w.when(w.value(f"icmp slt i64 {end}, {w.add(g, lanes)}")), w.loop("%k") as p:
            w.line(f"store {full} zeroinitializer, ptr {_place(w, shape, p, g)}, align {size}")
        at = w.variable("i64", g)
        name = w.fresh_label()
        w.label(f"{name}.next")
        first = w.value(f"load i64, ptr {at}")
        more = w.value(f"icmp slt i64 {first}, {end}")
        w.line(f"br i1 {more}, label %{name}.piece, label %{name}.done\n{name}.piece:")
        last = _neighbours(w, first, end, size, name)
        _piece(w, shape, g, first, last)
        w.line(f"store i64 {last}, ptr {at}")
        w.line(f"br label %{name}.next\n{name}.done:")
    w.line("ret void")
    return w.text


def _place(w: Writer, shape: Shape, p: str, column: str) -> str:
    return w.at("%to", w.add(w.times(p, shape.width), column), shape.type)


def _neighbours(w: Writer, first: str, end: str, size: int, name: str) -> str:
    """The column behind the last one that lies in a row with the first."""
    last = w.variable("i64", w.add(first, 1))
    w.label(f"{name}.look")
    column = w.value(f"load i64, ptr {last}")
    w.line(f"br i1 {w.value(f'icmp slt i64 {column}, {end}')}, label %{name}.ask, label %{name}.found\n{name}.ask:")
    before = w.value(f"sub i64 {column}, 1")
    step = w.value(f"sub i64 {w.load('%joffsets', column)}, {w.load('%joffsets', before)}")
    after = w.add(column, 1)
    is_next = w.value(f"icmp eq i64 {step}, {size}")
    w.line(f"br i1 {is_next}, label %{name}.go, label %{name}.found\n{name}.go:")
    w.line(f"store i64 {after}, ptr {last}")
    w.line(f"br label %{name}.look\n{name}.found:")
    return w.value(f"load i64, ptr {last}")


def _piece(w: Writer, shape: Shape, g: str, first: str, last: str) -> None:
    """Copy neighbouring columns of a vector: all of it, some lanes, or a single element for each row."""
    T, size, lanes = shape.type, shape.dtype.itemsize, shape.lanes
    full, suffix = f"<{lanes} x {T}>", f"v{lanes}f{8 * size}"
    count = w.value(f"sub i64 {last}, {first}")
    start = w.at("%from", w.load("%joffsets", first), "i8")
    is_whole, is_single = (w.value(f"icmp eq i64 {count}, {n}") for n in (lanes, 1))
    with w.when(is_whole), w.loop("%k") as p:
        x = w.value(f"load {full}, ptr {w.at(start, w.load('%koffsets', p), 'i8')}, align {size}")
        w.line(f"store {full} {x}, ptr {_place(w, shape, p, g)}, align {size}")
    with w.when(is_single), w.loop("%k") as p:
        x = w.load(w.at(start, w.load("%koffsets", p), "i8"), 0, T, size)
        w.line(f"store {T} {x}, ptr {_place(w, shape, p, first)}, align {size}")
    some = w.value(f"xor i1 {w.value(f'or i1 {is_whole}, {is_single}')}, true")
    with w.when(some):
        ones = w.value(f"insertelement <{lanes} x i64> poison, i64 {count}, i64 0")
        counts = w.value(
            f"shufflevector <{lanes} x i64> {ones}, <{lanes} x i64> poison, <{lanes} x i32> zeroinitializer"
        )
        numbers = ", ".join(f"i64 {i}" for i in range(lanes))
        mask = w.value(f"icmp ugt <{lanes} x i64> {counts}, <{numbers}>")
        with w.loop("%k") as p:
            source = w.at(start, w.load("%koffsets", p), "i8")
            x = w.value(
                f"call {full} @llvm.masked.load.{suffix}.p0(ptr {source}, i32 {size}, <{lanes} x i1> {mask}, "
                f"{full} zeroinitializer)"
            )
            w.line(
                f"call void @llvm.masked.store.{suffix}.p0({full} {x}, ptr {_place(w, shape, p, first)}, i32 {size}, "
                f"<{lanes} x i1> {mask})"
            )


def heights(w: Writer, rows: Sequence[tuple[int, int]], count: str) -> Iterator[tuple[str, int, int]]:
    """Where tiles of each height begin in so many rows: the largest tiles first. What is written for each runs for
    each.
    """
    done = w.variable("i64", 0)
    for height, vectors in rows:
        start = w.value(f"load i64, ptr {done}")
        left = w.value(f"sub i64 {count}, {start}")
        end = w.add(start, w.times(w.value(f"udiv i64 {left}, {height}"), height))
        with w.loop(end, start, height) as i:
            yield i, height, vectors
        w.line(f"store i64 {end}, ptr {done}")


# -- products ----------------------------------------------------------------------------------------------------------


def _gemm(shape: Shape) -> str:
    T, size = shape.type, shape.dtype.itemsize
    w = Writer("i32", name_of(shape.dtype), (
        "i64 %m", "i64 %n", "i64 %k", "ptr %a", "i64 %arow", "i64 %acolumn", "ptr %b", "i64 %brow", "i64 %bcolumn",
        "ptr %c", "i64 %crow", "ptr %scratch", "ptr %koffsets", "ptr %joffsets", "ptr %bias", "ptr %along",
    ))  # fmt: skip
    has_bias, has_along = (w.value(f"icmp ne ptr {p}, null") for p in ("%bias", "%along"))
    adds = w.value(f"and i1 {has_along}, {w.value('icmp eq ptr %along, %c')}")
    with w.when(w.value("icmp eq i64 %k, 0")):
        with w.when(adds):
            w.leave("i32 0")
        with w.loop("%m") as i, w.loop("%n") as j:
            start = w.variable(T, "0.0")
            for given, p, index in ((has_bias, "%bias", i), (has_along, "%along", j)):
                with w.when(given):
                    w.line(f"store {T} {w.load(p, index, T, size)}, ptr {start}")
            w.store(w.value(f"load {T}, ptr {start}"), w.at("%c", w.times(i, "%crow"), "i8"), j, T, size)
        w.leave("i32 0")
    is_packed = w.value("icmp eq i64 %brow, -1")
    tables = w.value("icmp ne ptr %koffsets, null")
    has_columns = w.value(f"icmp eq i64 %bcolumn, {size}")
    is_low, is_small = (f"icmp sle i64 %m, {2 * shape.most}", f"icmp sle i64 {w.times('%n', '%k')}, {_SMALL}")
    is_either = w.value(f"or i1 {w.value(is_low)}, {w.value(is_small)}")
    as_it_lies = w.value(f"and i1 {w.value(f'and i1 {has_columns}, {is_either}')}, {w.value(f'xor i1 {tables}, true')}")
    across = w.value(f"icmp eq i64 %acolumn, {size}")
    is_narrow = w.value(f"icmp sle i64 %n, {w.value(f'select i1 {across}, i64 {_NARROW[1]}, i64 {_NARROW[0]}')}")
    direct = w.value(f"and i1 {is_narrow}, {w.value('icmp ne i64 %arow, -1')}")
    room = w.value(f"select i1 {as_it_lies}, i64 %n, i64 {COLUMNS}")
    with w.loop("%n", 0, room) as j0:
        columns = w.least(w.value(f"sub i64 %n, {j0}"), room)
        with w.loop("%k", 0, INNER) as p0:
            inner = w.least(w.value(f"sub i64 %k, {p0}"), INNER)
            more = w.value(f"or i1 {adds}, {w.value(f'icmp ne i64 {p0}, 0')}")
            block = _Block(w, shape, "%scratch", inner, more, p0, direct)
            wide = w.times(w.rounded_up(columns, shape.width), size)
            with w.when(w.value(f"xor i1 {as_it_lies}, true")):
                with w.when(w.value(f"xor i1 {is_packed}, true")):
                    block.pack_b(j0, columns, "%scratch", tables)
                known = w.at("%b", w.add(w.times(w.times(j0, "%k"), size), w.times(p0, wide)), "i8")
                packed_b = w.value(f"select i1 {is_packed}, ptr {known}, ptr %scratch")
                used = w.value(f"select i1 {is_packed}, i64 0, i64 {w.times(inner, wide)}")
                block.packed_a = w.at("%scratch", used, "i8")
                block.packed_rows(j0, columns, packed_b)
            with w.when(as_it_lies):
                block.packed_a = "%scratch"
                block.rows(j0, columns)
    w.line("ret i32 0")
    return w.text


def _pack_all(shape: Shape) -> str:
    """All blocks of b in packed order, one behind the other."""
    w = Writer("void", pack_name_of(shape.dtype), (
        "i64 %n", "i64 %k", "ptr %b", "i64 %brow", "i64 %bcolumn", "ptr %to"
    ))  # fmt: skip
    at = w.variable("ptr", "%to")
    with w.loop("%n", 0, COLUMNS) as j0:
        columns = w.least(w.value(f"sub i64 %n, {j0}"), COLUMNS)
        wide = w.times(w.rounded_up(columns, shape.width), shape.dtype.itemsize)
        with w.loop("%k", 0, INNER) as p0:
            inner = w.least(w.value(f"sub i64 %k, {p0}"), INNER)
            here = w.value(f"load ptr, ptr {at}")
            _Block(w, shape, here, inner, "false", p0).pack_b(j0, columns, here)
            w.line(f"store ptr {w.at(here, w.times(inner, wide), 'i8')}, ptr {at}")
    w.line("ret void")
    return w.text


@dataclass
class _Block:
    """The products of one part of the inner size."""

    w: Writer
    shape: Shape
    packed_a: str
    inner: str
    more: str
    p0: str
    direct: str = "false"
    """Whether a is read where it lies."""

    def pack_b(self, j0: str, columns: str, start: str, tables: str = "false") -> None:
        """Copy a block of b into tiles, which begin at `start`; by tables of offsets where that is true."""
        w, T, width = self.w, self.shape.type, self.shape.width
        with w.loop(columns, 0, width) as j:
            left = w.least(w.value(f"sub i64 {columns}, {j}"), width)
            to = w.at(start, w.times(w.times(j, self.inner), self.shape.dtype.itemsize), "i8")
            if tables != "false":
                self._collect(to, left, w.add(j0, j), tables)
            with w.when(w.value(f"xor i1 {tables}, true")):
                place = w.add(w.times(self.p0, "%brow"), w.times(w.add(j0, j), "%bcolumn"))
                w.call("void", f"@pack_{T}", f"ptr {to}", f"i64 {width}", f"ptr {w.at('%b', place, 'i8')}",
                       f"i64 {left}", f"i64 {self.inner}", "i64 %bcolumn", "i64 %brow")  # fmt: skip

    def _collect(self, to: str, left: str, column: str, tables: str) -> None:
        w = self.w
        with w.when(tables):
            w.call("void", f"@collect_{self.shape.type}", f"ptr {to}", "ptr %b", f"i64 {left}", f"i64 {self.inner}",
                   f"ptr {w.at('%koffsets', self.p0)}", f"ptr {w.at('%joffsets', column)}")  # fmt: skip

    def rows(self, j0: str, columns: str) -> None:
        """All rows of a times this part of b, where it lies."""
        w, size = self.w, self.shape.dtype.itemsize
        with w.loop("%m", 0, ROWS) as i0:
            for i, height, vectors in self._heights(self._count(i0)):
                self._pack_a(i0, i, height)
                with w.loop(columns, 0, vectors * self.shape.lanes) as j:
                    place = w.add(w.times(self.p0, "%brow"), w.times(w.add(j0, j), size))
                    self._tile(i0, i, j0, j, columns, height, vectors, w.at("%b", place, "i8"), "%brow")

    def packed_rows(self, j0: str, columns: str, packed_b: str) -> None:
        """All rows of a times the packed part of b: each tile of b meets all tiles of a while it is in the cache."""
        w, size, width = self.w, self.shape.dtype.itemsize, self.shape.width
        with w.loop("%m", 0, ROWS) as i0:
            count = self._count(i0)
            for i, height, _ in self._heights(count):
                self._pack_a(i0, i, height)
            with w.loop(columns, 0, width) as j:
                b = w.at(packed_b, w.times(w.times(j, self.inner), size), "i8")
                for i, height, _ in self._heights(count):
                    self._tile(i0, i, j0, j, columns, height, 2, b, str(width * size))

    def _count(self, i0: str) -> str:
        return self.w.least(self.w.value(f"sub i64 %m, {i0}"), ROWS)

    def _heights(self, count: str) -> Iterator[tuple[str, int, int]]:
        return heights(self.w, self.shape.rows, count)

    def _pack_a(self, i0: str, i: str, height: int) -> None:
        w, T = self.w, self.shape.type
        with w.when(w.value(f"xor i1 {self.direct}, true")), w.when(w.value("icmp ne i64 %arow, -1")):
            self._copy_a(w, T, i0, i, height)

    def _copy_a(self, w: Writer, T: str, i0: str, i: str, height: int) -> None:
        to = w.at(self.packed_a, w.times(w.times(i, self.inner), self.shape.dtype.itemsize), "i8")
        source = w.at("%a", w.add(w.times(w.add(i0, i), "%arow"), w.times(self.p0, "%acolumn")), "i8")
        w.call("void", f"@pack_{T}", f"ptr {to}", f"i64 {height}", f"ptr {source}", f"i64 {height}",
               f"i64 {self.inner}", "i64 %arow", "i64 %acolumn")  # fmt: skip

    def _start(self, numbers: str, index: str) -> str:
        """What a tile begins with: null where nothing is given, and behind the first part of the inner size."""
        w = self.w
        is_plain = w.value(f"or i1 {self.more}, {w.value(f'icmp eq ptr {numbers}, null')}")
        return w.value(f"select i1 {is_plain}, ptr null, ptr {w.at(numbers, index, self.shape.type)}")

    def _tile(
        self, i0: str, i: str, j0: str, j: str, columns: str, height: int, vectors: int, b: str, brow: str
    ) -> None:
        w, size = self.w, self.shape.dtype.itemsize
        left = w.value(f"sub i64 {columns}, {j}")
        row = w.add(i0, i)
        copied = w.at(self.packed_a, w.times(w.times(i, self.inner), size), "i8")
        known = w.at("%a", w.add(w.times(self.p0, "%m"), w.times(row, self.inner)), self.shape.type)
        a = w.value(f"select i1 {w.value('icmp eq i64 %arow, -1')}, ptr {known}, ptr {copied}")
        lying = w.at("%a", w.add(w.times(row, "%arow"), w.times(self.p0, "%acolumn")), "i8")
        a = w.value(f"select i1 {self.direct}, ptr {lying}, ptr {a}")
        arow = w.value(f"select i1 {self.direct}, i64 %arow, i64 {size}")
        acolumn = w.value(f"select i1 {self.direct}, i64 %acolumn, i64 {height * size}")
        c = w.at("%c", w.add(w.times(row, "%crow"), w.times(w.add(j0, j), size)), "i8")
        bias, along = self._start("%bias", row), self._start("%along", w.add(j0, j))
        of_a = (f"ptr {a}", f"i64 {arow}", f"i64 {acolumn}")
        given = (f"i64 {self.inner}", *of_a, f"ptr {b}", f"i64 {brow}", f"ptr {c}", "i64 %crow",
                 f"i1 {self.more}", f"i64 {left}", f"ptr {bias}", f"ptr {along}")  # fmt: skip
        is_whole = w.value(f"icmp sge i64 {left}, {vectors * self.shape.lanes}")
        with w.when(is_whole):
            if brow == str(self.shape.width * size):
                with w.when(w.value(f"xor i1 {self.direct}, true")):
                    self._call(height, vectors, "packed", given)
                with w.when(self.direct):
                    self._call(height, vectors, "", given)
            else:
                self._call(height, vectors, "", given)
        with w.when(w.value(f"xor i1 {is_whole}, true")):
            self._call(height, vectors, "part", given)

    def _call(self, height: int, vectors: int, kind: str, given: Sequence[str]) -> None:
        self.w.call("void", f"@{name_of_tile(self.shape, height, vectors, kind)}", *given)


__all__ = [
    "COLUMNS", "DTYPES", "INNER", "ROWS", "Shape", "declarations", "gemm_ir", "heights", "name_of", "pack_name_of",
    "packed", "packed_bytes", "scratch_bytes", "shape_of",
]  # fmt: skip
