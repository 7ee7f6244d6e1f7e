"""Convolutions of 3 x 3 by Winograd's smallest tiles, F(2 x 2, 3 x 3), in machine code: 16 multiplications for four
places of the result, where windows take 36 (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015).

The padded input is laid out by *phases*: of each channel four planes, those of its even and odd rows and columns. Tile
(i, j) of the result reads then the places i, i + 1 and j, j + 1 of each plane, so tiles that lie side by side in a
plane, those of several rows and of all images, are lanes of one vector, whatever an image's size.

    i32 winograd_lay(planes, x, channels, channel, row, height, width, images, top, left, rows, pitch)
    i32 winograd_range(x, count)
    void winograd_filters(to, w, rows, channels, row, channel, first, tap, scratch)
    i32 winograd_products(filters, tiles, count, planes, plane, pitch, images, channels, vectors, entries, pairs, out,
                          crow, bias, scratch)

The first two give the largest bits of an absolute value: what is infinite, or much larger than what is beside it, is
not computed so, since a tile would spread it, or its rounding, to neighbours.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

from .panels import panels_ir
from .tiles import Shape, declarations, name_of_tile, tiles_ir
from .vectors import BITS, FULL, LANES, between, load, store
from .writer import Writer

# Places of a tile in each dimension, of the result and of the input, and how many products it takes.
MADE, READ = 2, 4
PRODUCTS = READ * READ
SIZE, WORDS = 4, f"<{LANES} x i32>"
# Words of the table for a vector of tiles: where it begins in a plane, its first entry, how many there are, and the
# order of the columns of two neighbouring places of the result. Those of an entry, a piece of the result: which of four
# vectors holds it, in which lanes, and where the first lane belongs in a row of the result.
VECTOR_WORDS, ENTRY_WORDS = 24, 3
ORDERS = 8
# What rows are multiples of: tiles of fewer would be slow.
GRAIN = 4
# Words of the table for a tile of rows: its function, how many rows, the filters of those before.
TILE_WORDS = 3
# Between the products of a tile: their distance in memory would be a power of two, whose places in the cache are few.
_GAP = 16


class Functions(NamedTuple):
    """The names of the functions."""

    lay: str = "winograd_lay"
    range: str = "winograd_range"
    filters: str = "winograd_filters"
    products: str = "winograd_products"


NAMES = Functions()


def filters_of(height: int, channels: int) -> int:
    """Elements that the filters of a tile of rows take: behind each product's there is room for a vector."""
    return PRODUCTS * (channels * height + _GAP)


def heights_of(shape: Shape) -> list[int]:
    """Rows of the tiles that sums are made of, the highest first."""
    return [rows for rows, vectors in shape.rows if rows >= GRAIN]


def filter_scratch(channels: int, shape: Shape) -> int:
    """Elements of memory that transforming filters takes."""
    return 9 * channels * shape.most + LANES


def product_scratch(channels: int, shape: Shape) -> int:
    """Elements of memory that products take: the tiles of the input, and the results of as many rows as a tile has."""
    return PRODUCTS * (channels * shape.width + _GAP + _results(shape))


def _results(shape: Shape) -> int:
    return shape.most * shape.width + _GAP


def planes_of(channels: int, plane: int) -> int:
    """Elements that the phases of so many channels take, with those that the last vectors read and do not use."""
    return channels * MADE * MADE * plane + LANES


def winograd_ir(shape: Shape) -> dict[str, str]:
    """The functions by name, with those that they call."""
    tiles, panels = tiles_ir(shape), panels_ir(shape)
    heights = heights_of(shape)
    named = [name_of_tile(shape, height, 2, "packed") for height in heights]
    called = {name: tiles[name] for name in named} | {p: panels[p] for p in (f"pack_float_{h}" for h in heights)}
    table = ", ".join(f"ptr @{name}" for name in named)
    own = {
        "winograd_tiles": f"@winograd_tiles = internal constant [{len(named)} x ptr] [{table}]",
        NAMES.lay: _lay(), NAMES.range: _range(), NAMES.filters: _filters(shape),
        NAMES.products: _Products(shape).text(),
    }  # fmt: skip
    return called | own


def declared(shape: Shape) -> list[str]:
    """What the functions need declared."""
    full, words = shape.full, f"<{shape.lanes} x i32>"
    masked = (
        f"declare {FULL} @llvm.masked.load.v{LANES}f32.p0(ptr, i32, {BITS}, {FULL})",
        f"declare void @llvm.masked.store.v{LANES}f32.p0({FULL}, ptr, i32, {BITS})",
    )
    return [
        *declarations(shape),
        *(masked if shape.lanes != LANES else ()),
        f"declare {full} @llvm.x86.avx512.vpermi2var.ps.512({full}, {words}, {full})"
        if shape.lanes == LANES
        else f"declare {full} @llvm.x86.avx2.permps({full}, {words})",
        f"declare {WORDS} @llvm.umax.v{LANES}i32({WORDS}, {WORDS})",
        f"declare i32 @llvm.vector.reduce.umax.v{LANES}i32({WORDS})",
    ]


# -- vectors -----------------------------------------------------------------------------------------------------------


def _larger(w: Writer, most: str, x: str) -> None:
    """Keep the larger ones of the bits of absolute values."""
    bits = w.value(f"and {WORDS} {w.value(f'bitcast {FULL} {x} to {WORDS}')}, splat (i32 2147483647)")
    before = w.value(f"load {WORDS}, ptr {most}, align 64")
    larger = w.value(f"call {WORDS} @llvm.umax.v{LANES}i32({WORDS} {before}, {WORDS} {bits})")
    w.line(f"store {WORDS} {larger}, ptr {most}, align 64")


def _largest(w: Writer, most: str) -> str:
    found = w.value(f"load {WORDS}, ptr {most}, align 64")
    return w.value(f"call i32 @llvm.vector.reduce.umax.v{LANES}i32({WORDS} {found})")


def _nothing_yet(w: Writer) -> str:
    most = w.space(WORDS, 64)
    w.line(f"store {WORDS} zeroinitializer, ptr {most}, align 64")
    return most


# -- what is read ------------------------------------------------------------------------------------------------------


def _range() -> str:
    w = Writer("i32", NAMES.range, ("ptr %x", "i64 %count"))
    most = _nothing_yet(w)
    with w.loop("%count", 0, LANES) as i:
        left = w.value(f"sub i64 %count, {i}")
        _larger(w, most, load(w, w.at("%x", i, "float"), between(w, "0", left)))
    w.line(f"ret i32 {_largest(w, most)}")
    return w.text


def _lay() -> str:
    """x [channels, height, width, images], padded with zeros, as [channels, phases of rows and of columns, rows, pitch,
    images].
    """
    w = Writer("i32", NAMES.lay, (
        "ptr %to", "ptr %x", "i64 %channels", "i64 %channel", "i64 %row", "i64 %height", "i64 %width", "i64 %images",
        "i64 %top", "i64 %left", "i64 %rows", "i64 %pitch",
    ))  # fmt: skip
    most = _nothing_yet(w)
    line = w.times("%pitch", w.times("%images", SIZE))
    plane = w.times("%rows", line)
    is_one = w.value("icmp eq i64 %images, 1")
    is_several = w.value(f"xor i1 {is_one}, true")
    with w.loop("%channels") as c, w.loop("%rows") as i, w.loop(MADE) as phase:
        y = w.value(f"sub i64 {w.add(w.times(i, MADE), phase)}, %top")
        number = w.add(w.times(c, MADE), phase)
        start = w.add(w.times(w.times(number, MADE), plane), w.times(i, line))
        even = w.at("%to", start, "i8")
        odd = w.at(even, plane, "i8")
        is_there = w.value(f"icmp ult i64 {y}, %height")
        width = w.value(f"select i1 {is_there}, i64 %width, i64 0")
        source = w.at("%x", w.add(w.times(c, "%channel"), w.times(y, "%row")), "i8")
        with w.when(is_one):
            _lay_row(w, most, source, width, even, odd)
        with w.when(is_several):
            for b, to in enumerate((even, odd)):
                _lay_images(w, most, source, width, to, b)
    w.line(f"ret i32 {_largest(w, most)}")
    return w.text


def _lay_row(w: Writer, most: str, source: str, width: str, even: str, odd: str) -> None:
    """The even and the odd places of a row."""
    with w.loop("%pitch", 0, LANES) as j:
        x = w.value(f"sub i64 {w.times(j, MADE)}, %left")
        halves = []
        for half in range(2):
            at = w.add(x, half * LANES)
            halves.append(load(w, w.at(source, at, "float"), between(w, at, width)))
            _larger(w, most, halves[-1])
        inside = between(w, j, "%pitch")
        for b, to in enumerate((even, odd)):
            lanes = ", ".join(f"i32 {MADE * i + b}" for i in range(LANES))
            mixed = w.value(f"shufflevector {FULL} {halves[0]}, {FULL} {halves[1]}, {WORDS} <{lanes}>")
            store(w, mixed, w.at(to, j, "float"), inside)


def _lay_images(w: Writer, most: str, source: str, width: str, to: str, phase: int) -> None:
    """The same where each place is several images."""
    with w.loop("%pitch") as j:
        x = w.value(f"sub i64 {w.add(w.times(j, MADE), phase)}, %left")
        count = w.value(f"select i1 {w.value(f'icmp ult i64 {x}, {width}')}, i64 %images, i64 0")
        with w.loop("%images", 0, LANES) as n:
            at = w.at(source, w.add(w.times(x, "%images"), n), "float")
            found = load(w, at, between(w, n, count))
            _larger(w, most, found)
            store(w, found, w.at(to, w.add(w.times(j, "%images"), n), "float"), between(w, n, "%images"))


# -- filters -----------------------------------------------------------------------------------------------------------


def _filters(shape: Shape) -> str:
    """The filters of as many rows as a tile has: [products, channels, rows]. Taps of a channel are `tap` bytes apart,
    from `first` on: backwards for gradients.
    """
    w = Writer("void", NAMES.filters, (
        "ptr %to", "ptr %w", "i64 %rows", "i64 %channels", "i64 %row", "i64 %channel", "i64 %is_reversed",
        "ptr %scratch",
    ))  # fmt: skip
    dense = w.value(f"icmp eq i64 %channel, {9 * SIZE}")
    for height in heights_of(shape):
        is_own = w.value(f"icmp eq i64 %rows, {height}")
        with w.when(w.value(f"and i1 {is_own}, {dense}")):
            _pack(w, height, "%scratch", "%w", w.times("%channels", 9))
        with w.when(w.value(f"and i1 {is_own}, {w.value(f'xor i1 {dense}, true')}")), w.loop("%channels") as c:
            to = w.at("%scratch", w.times(c, 9 * height), "float")
            _pack(w, height, to, w.at("%w", w.times(c, "%channel"), "i8"), "9")
    step = w.times("%rows", SIZE)
    is_reversed = w.value("icmp ne i64 %is_reversed, 0")
    tap = w.value(f"select i1 {is_reversed}, i64 {w.value(f'sub i64 0, {step}')}, i64 {step}")
    first = w.value(f"select i1 {is_reversed}, i64 {w.times(step, 8)}, i64 0")
    apart = w.times(w.add(w.times("%channels", "%rows"), _GAP), SIZE)
    with w.loop("%channels") as c:
        base = w.at("%scratch", w.add(w.times(c, w.times(step, 9)), first), "i8")
        taps = [load(w, w.at(base, w.times(tap, i), "i8")) for i in range(9)]
        columns = [_filter_column(w, *taps[i::3]) for i in range(3)]
        rows = [_filter_column(w, *(column[r] for column in columns)) for r in range(READ)]
        to = w.at("%to", w.times(c, step), "i8")
        for number, x in enumerate(x for row in rows for x in row):
            store(w, x, w.at(to, w.times(apart, number), "i8"))
    w.line("ret void")
    return w.text


def _pack(w: Writer, height: int, to: str, source: str, count: str) -> None:
    w.call("void", f"@pack_float_{height}", f"ptr {to}", f"ptr {source}", f"i64 {count}", "i64 %row", f"i64 {SIZE}")


def _filter_column(w: Writer, a: str, b: str, c: str) -> list[str]:
    """a, (a + b + c) / 2, (a - b + c) / 2, c."""
    half = w.value(f"fmul {FULL} {b}, splat (float 0.5)")
    outer = w.value(f"fmul {FULL} {w.value(f'fadd {FULL} {a}, {c}')}, splat (float 0.5)")
    return [a, w.value(f"fadd {FULL} {outer}, {half}"), w.value(f"fsub {FULL} {outer}, {half}"), c]


# -- products ----------------------------------------------------------------------------------------------------------


class _Products:
    """The function of products, for vectors of a target."""

    def __init__(self, shape: Shape) -> None:
        self.shape, self.lanes, self.full = shape, shape.lanes, shape.full
        self.words, self.bits = f"<{shape.lanes} x i32>", f"<{shape.lanes} x i1>"
        self.w = Writer("i32", NAMES.products, (
            "ptr %filters", "ptr %tiles", "i64 %count", "ptr %planes", "i64 %plane", "i64 %line", "i64 %place",
            "i64 %channels", "ptr %vectors", "ptr %entries", "i64 %pairs", "ptr %out", "i64 %crow", "ptr %bias",
            "ptr %scratch",
        ))  # fmt: skip

    def text(self) -> str:
        """For each two vectors of tiles: those of the input, of all channels; then, tile of rows by tile of rows, their
        products, and what these make of the result.
        """
        w = self.w
        apart = w.times(w.add(w.times("%channels", self.shape.width), _GAP), SIZE)
        sums = w.at("%scratch", w.times(apart, PRODUCTS), "i8")
        own = w.space(f"[{2 * MADE * self.lanes} x float]", 64)
        with w.loop("%pairs") as pair:
            vectors = w.at("%vectors", w.times(pair, 2 * VECTOR_WORDS))
            self._input_tiles(vectors, apart)
            row, filters = w.variable("i64", 0), w.variable("ptr", "%filters")
            with w.loop("%count") as number:
                tile = w.at("%tiles", w.times(number, TILE_WORDS))
                height, of_product = w.load(tile, 1), w.load(tile, 2)
                here = w.value(f"load ptr, ptr {filters}")
                self._multiply(w.load("@winograd_tiles", w.load(tile, 0), "ptr"), here, of_product, apart, sums)
                first = w.value(f"load i64, ptr {row}")
                with w.loop(height) as r, w.loop(2) as v:
                    place = w.at(sums, w.add(w.times(r, self.shape.width), w.times(v, self.lanes)), "float")
                    self._output(place, w.add(first, r), w.at(vectors, w.times(v, VECTOR_WORDS)), own)
                w.line(f"store i64 {w.add(first, height)}, ptr {row}")
                w.line(f"store ptr {w.at(here, w.times(of_product, PRODUCTS), 'i8')}, ptr {filters}")
        w.line("ret i32 0")
        return w.text

    def _multiply(self, function: str, filters: str, of_product: str, apart: str, sums: str) -> None:
        """All products of a tile of rows."""
        w, width = self.w, self.shape.width
        with w.loop(PRODUCTS) as p:
            a, b = w.at(filters, w.times(p, of_product), "i8"), w.at("%scratch", w.times(p, apart), "i8")
            c = w.at(sums, w.times(p, _results(self.shape)), "float")
            w.call("void", function, "i64 %channels", f"ptr {a}", "i64 0", "i64 0", f"ptr {b}", "i64 0", f"ptr {c}",
                   f"i64 {width * SIZE}", "i1 false", f"i64 {width}", "ptr null", "ptr null")  # fmt: skip

    def _load(self, at: str) -> str:
        return self.w.value(f"load {self.full}, ptr {at}, align {SIZE}")

    def _all(self, op: str, x: str, y: str) -> str:
        return self.w.value(f"{op} {self.full} {x}, {y}")

    def _input_tiles(self, vectors: str, apart: str) -> None:
        """The tiles of two vectors, of all channels."""
        w, offsets = self.w, []
        for row, column in itertools.product(range(READ), repeat=2):
            plane = w.times("%plane", row % MADE * MADE + column % MADE)
            within = w.add(w.times("%line", row // MADE), w.times("%place", column // MADE))
            offsets.append(w.add(plane, within))
        starts = [w.load(vectors, v * VECTOR_WORDS) for v in range(2)]
        of_channel = w.times("%plane", MADE * MADE)
        with w.loop("%channels") as c:
            base = w.at("%planes", w.times(c, of_channel), "i8")
            for v, start in enumerate(starts):
                seen = w.at(base, start, "i8")
                places = [self._load(w.at(seen, offset, "i8")) for offset in offsets]
                columns = [self._input_column(*places[i::READ]) for i in range(READ)]
                rows = [self._input_column(*(column[r] for column in columns)) for r in range(READ)]
                to = w.at("%scratch", w.add(w.times(c, self.shape.width), v * self.lanes), "float")
                for number, x in enumerate(x for row in rows for x in row):
                    w.line(f"store {self.full} {x}, ptr {w.at(to, w.times(apart, number), 'i8')}, align {SIZE}")

    def _input_column(self, a: str, b: str, c: str, d: str) -> list[str]:
        """a - c, b + c, c - b, b - d."""
        pairs = (("fsub", a, c), ("fadd", b, c), ("fsub", c, b), ("fsub", b, d))
        return [self._all(*pair) for pair in pairs]

    def _output_column(self, a: str, b: str, c: str, d: str) -> list[str]:
        """a + b + c, b - c - d."""
        return [self._all("fadd", a, self._all("fadd", b, c)), self._all("fsub", self._all("fsub", b, c), d)]

    def _output(self, sums: str, row: str, vector: str, own: str) -> None:
        """A row of the result for a vector of tiles: four vectors, brought into the order of memory and written piece
        by piece.
        """
        w, lanes = self.w, self.lanes
        start = w.variable("float", "0.0")
        with w.when(w.value("icmp ne ptr %bias, null")):
            w.line(f"store float {w.load('%bias', row, 'float', SIZE)}, ptr {start}")
        one = w.value(f"insertelement {self.full} poison, float {w.value(f'load float, ptr {start}')}, i64 0")
        bias = w.value(f"shufflevector {self.full} {one}, {self.full} poison, {self.words} zeroinitializer")
        found = [self._load(w.at(sums, p * _results(self.shape), "float")) for p in range(PRODUCTS)]
        columns = [self._output_column(*found[i::READ]) for i in range(READ)]
        for a in range(MADE):
            pair = [self._all("fadd", x, bias) for x in self._output_column(*(column[a] for column in columns))]
            for half in range(2):
                order = w.value(f"load {self.words}, ptr {w.at(vector, ORDERS + half * lanes // 2)}, align 8")
                at = w.at(own, (MADE * a + half) * lanes, "float")
                w.line(f"store {self.full} {self._mixed(pair[0], pair[1], order)}, ptr {at}, align {lanes * SIZE}")
        self._write(vector, own, w.at("%out", w.times(row, "%crow"), "i8"))

    def _mixed(self, x: str, y: str, order: str) -> str:
        """The lanes of two vectors that numbers say; those of the second come behind those of the first."""
        w, full, words = self.w, self.full, self.words
        if self.lanes == LANES:
            given = f"{full} {x}, {words} {order}, {full} {y}"
            return w.value(f"call {full} @llvm.x86.avx512.vpermi2var.ps.512({given})")
        each = [w.value(f"call {full} @llvm.x86.avx2.permps({full} {v}, {words} {order})") for v in (x, y)]
        is_second = w.value(f"icmp ugt {words} {order}, splat (i32 {self.lanes - 1})")
        return w.value(f"select {self.bits} {is_second}, {full} {each[1]}, {full} {each[0]}")

    def _write(self, vector: str, own: str, to: str) -> None:
        """The pieces of a vector's four: whole ones without a mask, which takes some CPUs long to store under."""
        w, lanes = self.w, self.lanes
        first = w.at("%entries", w.times(w.load(vector, 1), ENTRY_WORDS))
        with w.loop(w.load(vector, 2)) as number:
            entry = w.at(first, w.times(number, ENTRY_WORDS))
            bits = w.load(entry, 1)
            x = w.value(f"load {self.full}, ptr {w.at(own, w.load(entry, 0), 'i8')}, align {lanes * SIZE}")
            at = w.at(to, w.load(entry, 2), "i8")
            is_whole = w.value(f"icmp eq i64 {bits}, {(1 << lanes) - 1}")
            with w.when(is_whole):
                w.line(f"store {self.full} {x}, ptr {at}, align {SIZE}")
            with w.when(w.value(f"xor i1 {is_whole}, true")):
                short = w.value(f"trunc i64 {bits} to i{lanes}")
                mask = w.value(f"bitcast i{lanes} {short} to {self.bits}")
                given = f"{self.full} {x}, ptr {at}, i32 {SIZE}, {self.bits} {mask}"
                w.line(f"call void @llvm.masked.store.{self.shape.suffix}.p0({given})")


__all__ = [
    "ENTRY_WORDS", "GRAIN", "MADE", "NAMES", "ORDERS", "TILE_WORDS", "VECTOR_WORDS", "declared", "filter_scratch",
    "filters_of", "heights_of", "planes_of", "product_scratch", "winograd_ir",
]  # fmt: skip
