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
from .panels import panels_ir
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
# number is for an a whose rows lie side by side. As measured with AVX-512, and with AVX2, where rows of a may come
# between those of b in the first cache: lines of rows that are 4,096 bytes apart have one place for all.
_NARROW, _NARROW_OF_16_REGISTERS = (128, 256), (64, 64)


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
    return {**tiles_ir(shape), **panels_ir(shape), _table_name(shape): _table(shape),
            name_of(shape.dtype): _gemm(shape), pack_name_of(shape.dtype): _pack_all(shape)}  # fmt: skip


# Words of a row of the table: the height of tiles, the columns of b that they take where it lies, what packs so many
# rows of a, tiles for b where it lies, those for part of their columns, and the same for packed b, with a where it lies
# and packed.
_STEP, _PACK, _LYING, _LYING_PART, _DIRECT, _PART, _PACKED, _WORDS = range(1, 9)


def _table_name(shape: Shape) -> str:
    return f"tiles_{shape.type}"


def _table(shape: Shape) -> str:
    rows: list[list[int | str]] = []
    for height, vectors in shape.rows:
        lying = [name_of_tile(shape, height, vectors, kind) for kind in ("", "part")]
        packed = [name_of_tile(shape, height, 2, kind) for kind in ("", "part", "packed")]
        rows.append([height, vectors * shape.lanes, f"pack_{shape.type}_{height}", *lying, *packed])
    return table_ir(_table_name(shape), rows)


def table_ir(name: str, rows: Sequence[Sequence[int | str]]) -> str:
    """A table of tiles, largest first: their heights, and of each as many other words: numbers or functions."""
    words = [f"ptr @{word}" if isinstance(word, str) else f"i64 {word}" for row in rows for word in row]
    types = ", ".join(word.split()[0] for word in words)
    return f"@{name} = internal constant {{ {types} }} {{ {', '.join(words)} }}"


def fitting(w: Writer, table: str, words: int, count: str) -> Iterator[tuple[str, str, str]]:
    """Tiles for so many rows, the largest that fit first: where each begins, its height, and where its row of the table
    lies, which has so many words. What is written runs for each.

    One piece of code for all heights: with one for each, LLVM took a quarter of its time for this.
    """
    at, row, name = w.variable("i64", 0), w.variable("ptr", f"@{table}"), w.fresh_label()
    w.label(f"{name}.next")
    start = w.value(f"load i64, ptr {at}")
    more = w.value(f"icmp slt i64 {start}, {count}")
    w.line(f"br i1 {more}, label %{name}.fit, label %{name}.done\n{name}.fit:")
    entry = w.value(f"load ptr, ptr {row}")
    end = w.add(start, w.load(entry))
    w.line(f"store ptr {w.at(entry, words)}, ptr {row}")
    w.line(f"br i1 {w.value(f'icmp sle i64 {end}, {count}')}, label %{name}.found, label %{name}.fit\n{name}.found:")
    w.line(f"store ptr {entry}, ptr {row}")
    yield start, w.value(f"sub i64 {end}, {start}"), entry
    w.line(f"store i64 {end}, ptr {at}\nbr label %{name}.next\n{name}.done:")


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
    lying, standing = _NARROW_OF_16_REGISTERS if shape.has_16_registers else _NARROW
    is_narrow = w.value(f"icmp sle i64 %n, {w.value(f'select i1 {across}, i64 {standing}, i64 {lying}')}")
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
                block.packed_a = block.lying_end(columns) if shape.reads_whole else "%scratch"
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
                source, steps = f"ptr {w.at('%b', place, 'i8')}", ("i64 %bcolumn", "i64 %brow")
                is_whole = w.value(f"icmp eq i64 {left}, {width}")
                with w.when(is_whole):
                    w.call("void", f"@pack_{T}_{width}", f"ptr {to}", source, f"i64 {self.inner}", *steps)
                with w.when(w.value(f"xor i1 {is_whole}, true")):
                    w.call("void", f"@pack_{T}", f"ptr {to}", source, f"i64 {left}", f"i64 {self.inner}", *steps)

    def _collect(self, to: str, left: str, column: str, tables: str) -> None:
        w = self.w
        with w.when(tables):
            w.call("void", f"@collect_{self.shape.type}", f"ptr {to}", "ptr %b", f"i64 {left}", f"i64 {self.inner}",
                   f"ptr {w.at('%koffsets', self.p0)}", f"ptr {w.at('%joffsets', column)}")  # fmt: skip

    def lying_end(self, columns: str) -> str:
        """Copy what is left of b behind whole tiles, to where tiles of two vectors read it; what lies behind that."""
        w, T, size, width = self.w, self.shape.type, self.shape.dtype.itemsize, self.shape.width
        left = w.value(f"and i64 {columns}, {width - 1}")
        is_read = w.value(f"icmp sge i64 %m, {self.shape.least_of_two_vectors}")
        is_used = w.value(f"and i1 {w.value(f'icmp ne i64 {left}, 0')}, {is_read}")
        with w.when(is_used):
            whole = w.value(f"sub i64 {columns}, {left}")
            source = w.at("%b", w.add(w.times(self.p0, "%brow"), w.times(whole, size)), "i8")
            w.call("void", f"@pack_{T}", "ptr %scratch", f"ptr {source}", f"i64 {left}", f"i64 {self.inner}",
                   f"i64 {size}", "i64 %brow")  # fmt: skip
        room = w.times(self.inner, width * size)
        return w.at("%scratch", w.value(f"select i1 {is_used}, i64 {room}, i64 0"), "i8")

    def rows(self, j0: str, columns: str) -> None:
        """All rows of a times this part of b, where it lies."""
        w, size, width = self.w, self.shape.dtype.itemsize, self.shape.width
        with w.loop("%m", 0, ROWS) as i0:
            for i, height, entry in self._tiles(self._count(i0)):
                self._pack_a(i0, i, height, entry)
                step = w.load(entry, _STEP)
                with w.loop(columns, 0, step) as j:
                    place = w.add(w.times(self.p0, "%brow"), w.times(w.add(j0, j), size))
                    b, brow = w.at("%b", place, "i8"), "%brow"
                    is_whole = w.value(f"icmp sge i64 {w.value(f'sub i64 {columns}, {j}')}, {step}")
                    if self.shape.reads_whole:
                        lies = w.value(f"or i1 {is_whole}, {w.value(f'icmp ne i64 {step}, {width}')}")
                        b = w.value(f"select i1 {lies}, ptr {b}, ptr %scratch")
                        brow = w.value(f"select i1 {lies}, i64 %brow, i64 {width * size}")
                    tile = self._either(is_whole, entry, _LYING, _LYING_PART)
                    self._tile(i0, i, j0, j, columns, height, tile, b, brow)

    def packed_rows(self, j0: str, columns: str, packed_b: str) -> None:
        """All rows of a times the packed part of b: each tile of b meets all tiles of a while it is in the cache."""
        w, size, width = self.w, self.shape.dtype.itemsize, self.shape.width
        with w.loop("%m", 0, ROWS) as i0:
            count = self._count(i0)
            for i, height, entry in self._tiles(count):
                self._pack_a(i0, i, height, entry)
            whole = w.value(f"select i1 {self.direct}, i64 {_DIRECT}, i64 {_PACKED}")
            with w.loop(columns, 0, width) as j:
                b = w.at(packed_b, w.times(w.times(j, self.inner), size), "i8")
                is_whole = w.value(f"icmp sge i64 {w.value(f'sub i64 {columns}, {j}')}, {width}")
                for i, height, entry in self._tiles(count):
                    tile = self._either(is_whole, entry, whole, _PART)
                    self._tile(i0, i, j0, j, columns, height, tile, b, str(width * size))

    def _count(self, i0: str) -> str:
        return self.w.least(self.w.value(f"sub i64 %m, {i0}"), ROWS)

    def _tiles(self, count: str) -> Iterator[tuple[str, str, str]]:
        return fitting(self.w, _table_name(self.shape), _WORDS, count)

    def _either(self, condition: str, entry: str, one: object, other: object) -> str:
        """One of two functions of a row of the table."""
        return self.w.load(entry, self.w.value(f"select i1 {condition}, i64 {one}, i64 {other}"), "ptr")

    def _pack_a(self, i0: str, i: str, height: str, entry: str) -> None:
        w = self.w
        with w.when(w.value(f"xor i1 {self.direct}, true")), w.when(w.value("icmp ne i64 %arow, -1")):
            to = w.at(self.packed_a, w.times(w.times(i, self.inner), self.shape.dtype.itemsize), "i8")
            source = w.at("%a", w.add(w.times(w.add(i0, i), "%arow"), w.times(self.p0, "%acolumn")), "i8")
            w.call("void", w.load(entry, _PACK, "ptr"), f"ptr {to}", f"ptr {source}", f"i64 {self.inner}",
                   "i64 %arow", "i64 %acolumn")  # fmt: skip

    def _start(self, numbers: str, index: str) -> str:
        """What a tile begins with: null where nothing is given, and behind the first part of the inner size."""
        w = self.w
        is_plain = w.value(f"or i1 {self.more}, {w.value(f'icmp eq ptr {numbers}, null')}")
        return w.value(f"select i1 {is_plain}, ptr null, ptr {w.at(numbers, index, self.shape.type)}")

    def _tile(self, i0: str, i: str, j0: str, j: str, columns: str, height: str, tile: str, b: str, brow: str) -> None:
        w, size = self.w, self.shape.dtype.itemsize
        left = w.value(f"sub i64 {columns}, {j}")
        row = w.add(i0, i)
        copied = w.at(self.packed_a, w.times(w.times(i, self.inner), size), "i8")
        known = w.at("%a", w.add(w.times(self.p0, "%m"), w.times(row, self.inner)), self.shape.type)
        a = w.value(f"select i1 {w.value('icmp eq i64 %arow, -1')}, ptr {known}, ptr {copied}")
        lying = w.at("%a", w.add(w.times(row, "%arow"), w.times(self.p0, "%acolumn")), "i8")
        a = w.value(f"select i1 {self.direct}, ptr {lying}, ptr {a}")
        arow = w.value(f"select i1 {self.direct}, i64 %arow, i64 {size}")
        acolumn = w.value(f"select i1 {self.direct}, i64 %acolumn, i64 {w.times(height, size)}")
        c = w.at("%c", w.add(w.times(row, "%crow"), w.times(w.add(j0, j), size)), "i8")
        bias, along = self._start("%bias", row), self._start("%along", w.add(j0, j))
        of_a = (f"ptr {a}", f"i64 {arow}", f"i64 {acolumn}")
        w.call("void", tile, f"i64 {self.inner}", *of_a, f"ptr {b}", f"i64 {brow}", f"ptr {c}", "i64 %crow",
               f"i1 {self.more}", f"i64 {left}", f"ptr {bias}", f"ptr {along}")  # fmt: skip


__all__ = [
    "COLUMNS", "DTYPES", "INNER", "ROWS", "Shape", "declarations", "fitting", "gemm_ir", "name_of", "pack_name_of",
    "packed", "packed_bytes", "scratch_bytes", "shape_of", "table_ir",
]  # fmt: skip
