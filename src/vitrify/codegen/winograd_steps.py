"""Convolutions by Winograd's tiles (`winograd.py`) as steps of a plan, shared among threads."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import winograd
from .emit import FLOAT32, Dtype
from .llvm import Target, host
from .native import loaded
from .operands import ARENA, Buffer, Operand
from .pointwise import attributes
from .products import NONE, moved
from .sharing import bounds, shared
from .steps import PARAMETERS, array, optional, word
from .tiles import Shape, shape_of
from .winograd import GRAIN, MADE, NAMES, PRODUCTS, SIZE
from .writer import Writer

if TYPE_CHECKING:
    from .assembler import Assembler

# The least that vectors have where tiles were measured: AVX2.
_BYTES = 32
# Channels on either side below which what the tiles of the input and of the result take is no longer small beside
# products; and the share of the time of products with windows that there must be at most, by the estimate below.
_LEAST_CHANNELS, _MOST_TIME = 16, 0.9
# Bytes of filters and of the input laid out above which the memory of a plan is needed for other things.
_MOST_BYTES = 20 << 20
# What that estimate counts, in multiplications of vectors: for each channel, what makes tiles of a vector of the input;
# of the result; for each filter of a tile of rows, what transforms it. CPUs with AVX2 multiply two at a time.
_OF_INPUT, _OF_RESULT, _OF_FILTER = 40.0, 48.0, 160.0
# The largest absolute values that are computed so, as bits. Errors go by the largest number that a tile reads, so an
# input with one of 4,096, such as a mask of -1e4 beside numbers like 1, is left to windows; a filter's largest number
# counts at each of its places anyhow, and needs only be such that sums of its products are finite.
_MOST_READ, _MOST_OF_FILTERS = (127 + 12) << 23, (127 + 40) << 23
# Where lanes belong that no place of the result has.
_NOWHERE = np.iinfo(np.int64).max // 2


class Grid(NamedTuple):
    """The tiles of a result [channels, height, width, images]."""

    height: int
    width: int
    images: int

    @property
    def tiles(self) -> tuple[int, int]:
        """Rows and columns of tiles."""
        return -(-self.height // MADE), -(-self.width // MADE)

    @property
    def rows(self) -> int:
        """Rows of a plane."""
        return self.tiles[0] + 1

    @property
    def pitch(self) -> int:
        """Places of a row of a plane."""
        return self.tiles[1] + 1

    @property
    def line(self) -> int:
        """Elements of a row of a plane."""
        return self.pitch * self.images

    def starts(self, lanes: int) -> np.ndarray:
        """Where vectors of tiles begin in a plane: as those of each row, or as all rows go on, if these are fewer."""
        rows, columns = self.tiles
        own = np.arange(0, columns * self.images, lanes)
        through = np.arange(0, rows * self.line - self.images, lanes)
        each = (np.arange(rows)[:, None] * self.line + own).reshape(-1)
        return through if len(through) < len(each) else each


@functools.lru_cache(maxsize=64)
def tables(grid: Grid, lanes: int) -> tuple[Any, Any]:
    """The tables of vectors, an even number of them, and of the pieces of the result that they are."""
    starts = grid.starts(lanes)
    lane = starts[:, None] + np.arange(lanes)
    i, left = np.divmod(lane, grid.line)
    j, image = np.divmod(left, grid.images)
    x = MADE * j[:, None] + np.arange(MADE)[:, None]  # [vectors, places of a tile, lanes], as are all others
    is_there = (i < grid.tiles[0])[:, None] & (x < grid.width)
    if len(starts) > 1:  # what a later vector begins with is its own
        is_there[:-1] &= (lane[:-1] < starts[1:, None])[:, None]
    place = (MADE * i[:, None] * grid.width + x) * grid.images + image[:, None]
    place = np.where(is_there, place, _NOWHERE).reshape(len(starts), MADE * lanes)
    order = np.argsort(place, axis=1, kind="stable")
    vectors = np.zeros((len(starts) + len(starts) % 2, winograd.VECTOR_WORDS), np.int64)
    vectors[: len(starts), 0] = starts * SIZE
    vectors[: len(starts), winograd.ORDERS : winograd.ORDERS + lanes].view(np.int32)[:] = order
    rows = np.take_along_axis(np.tile(i, MADE), order, 1)
    owner, entries = _pieces(grid, lanes, np.take_along_axis(place, order, 1).reshape(-1), rows.reshape(-1))
    vectors[:, 2] = np.bincount(owner, minlength=len(vectors))
    vectors[:, 1] = np.cumsum(vectors[:, 2]) - vectors[:, 2]
    return vectors, entries


def _pieces(grid: Grid, lanes: int, places: Any, rows: Any) -> tuple[Any, Any]:
    """Lanes whose places lie side by side, of both rows of a tile, and the number of the vector of each."""
    lane = np.arange(len(places)) % lanes
    is_there = places != _NOWHERE
    goes_on = (lane > 0) & (places == np.roll(places, 1) + 1)
    first = np.flatnonzero(is_there & ~goes_on)
    ends = np.append(np.flatnonzero(~goes_on | ~is_there), len(places))
    count = ends[np.searchsorted(ends, first, side="right")] - first
    vector, half = first // (MADE * lanes), first // lanes % MADE
    below = np.arange(MADE)  # the rows of a tile
    found = np.empty((len(first), MADE, winograd.ENTRY_WORDS), np.int64)
    found[..., 0] = (MADE * below + half[:, None]) * (lanes * SIZE)
    found[..., 1] = (((1 << count) - 1) << lane[first])[:, None]
    found[..., 2] = (places[first] - lane[first])[:, None] * SIZE + below * (grid.width * grid.images * SIZE)
    is_inside = MADE * rows[first][:, None] + below < grid.height
    return np.repeat(vector[:, None], MADE, 1)[is_inside], found[is_inside]


@functools.lru_cache(maxsize=1)
def _addresses() -> Mapping[str, int]:
    return functions_for(host())


def functions_for(target: Target) -> Mapping[str, int]:
    """The functions for the vectors of a target."""
    shape = shape_of(FLOAT32, target)
    text = "\n\n".join([*winograd.winograd_ir(shape).values(), *winograd.declared(shape), attributes(target)])
    return loaded(text, tuple(NAMES)).addresses


# -- the steps' functions ----------------------------------------------------------------------------------------------


def winograd_steps() -> dict[str, str]:
    """The steps' functions, by name."""
    return {
        "winograd_filters": _filters(), "winograd_lay": _lay(), "winograd_products": _products(),
        "winograd_fits": _fits(),
    }  # fmt: skip


def _filters() -> str:
    """c: 2 the function, 3 that of ranges, 4 how many tiles of rows, 5 channels, the steps in bytes from 6 row to row
    and 7 channel to channel, 8 whether taps are reversed, 9 elements to look at, then the arrays: 10 those, 11 the
    weights, 12 the tiles, 13 the filters, 14 working memory, 15 the largest bits.
    """
    w = Writer("i32", "winograd_filters", PARAMETERS)
    function, of_range = (w.load("%c", i, "ptr") for i in (2, 3))
    channels, row, channel, is_reversed = (word(w, i) for i in range(5, 9))
    seen, weights, tiles, filters, scratch, most = (array(w, i) for i in range(10, 16))
    w.store(w.call("i32", of_range, f"ptr {seen}", f"i64 {word(w, 9)}"), most, 0, "i32", 4)
    at, to = w.variable("ptr", weights), w.variable("ptr", filters)
    with w.loop(word(w, 4)) as number:
        tile = w.at(tiles, w.times(number, winograd.TILE_WORDS))
        height, of_product = w.load(tile, 1), w.load(tile, 2)
        here, there = (w.value(f"load ptr, ptr {v}") for v in (at, to))
        w.call("void", function, f"ptr {there}", f"ptr {here}", f"i64 {height}", f"i64 {channels}", f"i64 {row}",
               f"i64 {channel}", f"i64 {is_reversed}", f"ptr {scratch}")  # fmt: skip
        w.line(f"store ptr {w.at(here, w.times(height, row), 'i8')}, ptr {at}")
        w.line(f"store ptr {w.at(there, w.times(of_product, PRODUCTS), 'i8')}, ptr {to}")
    w.line("ret i32 0")
    return w.text


def _lay() -> str:
    """c: 2 the function, 3... channels, the steps from channel to channel and from row to row, height, width, images,
    padding above and on the left, rows and pitch of planes, then the arrays: 13 x, 14 the planes, 15 the largest bits.
    """
    w = Writer("i32", "winograd_lay", PARAMETERS)
    sizes = [f"i64 {word(w, i)}" for i in range(3, 13)]
    x, planes, most = (array(w, i) for i in (13, 14, 15))
    found = w.call("i32", w.load("%c", 2, "ptr"), f"ptr {planes}", f"ptr {x}", *sizes)
    w.store(found, most, 0, "i32", 4)
    w.line("ret i32 0")
    return w.text


def _products() -> str:
    """c: 2 the function, 3 how many tiles of rows, the bytes of 4 a plane, 5 its rows and 6 its places, 7 channels,
    8 pairs of vectors, 9 the step from row to row of the result, then the arrays: 10 the filters, 11 the tiles of rows,
    12 the planes, 13 the vectors, 14 the entries, 15 the result, 16 working memory, 17 a number for each row.
    """
    w = Writer("i32", "winograd_products", PARAMETERS)
    count, plane, line, place, channels, pairs, crow = (f"i64 {word(w, i)}" for i in range(3, 10))
    filters, tiles, planes, vectors, entries, out, scratch = (f"ptr {array(w, i)}" for i in range(10, 17))
    given = (filters, tiles, count, planes, plane, line, place, channels, vectors, entries, pairs, out, crow)
    w.call("i32", w.load("%c", 2, "ptr"), *given, f"ptr {optional(w, 17)}", scratch)
    w.line("ret i32 0")
    return w.text


def _fits() -> str:
    """Whether all absolute values are small enough. c: 2 a byte for the answer, 3 their largest bits, of filters and of
    the input in turns, 4 how many.
    """
    w = Writer("i32", "winograd_fits", PARAMETERS)
    answer, bits = array(w, 2), array(w, 3)
    w.store(1, answer, 0, "i8", 1)
    with w.loop(word(w, 4)) as i:
        is_read = w.value(f"trunc i64 {i} to i1")
        most = w.value(f"select i1 {is_read}, i32 {_MOST_READ}, i32 {_MOST_OF_FILTERS}")
        with w.when(w.value(f"icmp ugt i32 {w.load(bits, i, 'i32', 4)}, {most}")):
            w.store(0, answer, 0, "i8", 1)
    w.line("ret i32 0")
    return w.text


# -- planning ----------------------------------------------------------------------------------------------------------


def heights(rows: int, highest: Sequence[int]) -> list[int]:
    """The heights of tiles for a multiple of four rows: few of them, and none much lower than the others."""
    best: list[int] = []
    for count in range(rows // highest[0], -1, -1):
        left = rows - count * highest[0]
        more = heights(left, highest[1:]) if left and len(highest) > 1 else []
        found = [highest[0]] * count + more
        if sum(found) == rows and (not best or (len(found), -found[-1]) < (len(best), -best[-1])):
            best = found
        if left > 2 * highest[0]:
            break
    return best


class Weights(NamedTuple):
    """Filters of 3 x 3 of so many rows and channels, with the steps from one to the next in bytes; taps lie side by
    side, backwards where they are reversed.
    """

    array: Operand
    rows: int
    channels: int
    row: int
    channel: int
    is_reversed: bool


def pays(rows: int, channels: int, grid: Grid, pieces: int, shape: Shape) -> bool:
    """Whether it takes less time than products with windows, whose columns are so many pieces: an estimate."""
    if min(rows, channels) < _LEAST_CHANNELS or rows % GRAIN:
        return False
    vectors = len(grid.starts(shape.lanes))
    vectors += vectors % 2
    others = vectors * (_OF_INPUT * channels + _OF_RESULT * rows) + rows * channels / shape.most * _OF_FILTER
    own = vectors * PRODUCTS * rows * channels + others * (2 if shape.has_16_registers else 1)
    return own <= _MOST_TIME * 9 * rows * channels * pieces


def add_winograd(
    n: Assembler, x: Operand, weights: Weights, out: Operand, pads: Sequence[int], bias: Operand | None, pieces: int,
    otherwise: Callable[[], object],
) -> bool:  # fmt: skip
    """out = the convolution of x, both [channels, height, width, images] side by side but for channels and rows, with
    padding above and on the left; whether steps for that were added. Where a run finds values that are too large for
    it, those that `otherwise` adds do it.
    """
    grid = Grid(*out.shape[1:])
    if host().vector_bytes < _BYTES or not host().is_x86 or not host().has_fma or x.dtype != FLOAT32:
        return False
    shape = shape_of(FLOAT32, host())
    if not pays(weights.rows, weights.channels, grid, pieces, shape):
        return False
    one = _Convolution(n, x, weights, out, (pads[0], pads[1]), bias, grid, shape)
    if one.filters.buffer.size + one.planes.buffer.size > _MOST_BYTES:
        return False
    fits = one.prepare()
    paths = [n.within(build)[0] for build in (one.multiply, otherwise)]
    n.add_branch(fits, paths)
    return True


@dataclass
class _Convolution:
    n: Assembler
    x: Operand
    weights: Weights
    out: Operand
    pads: tuple[int, int]
    bias: Operand | None
    grid: Grid
    shape: Shape

    def __post_init__(self) -> None:
        n, weights, grid = self.n, self.weights, self.grid
        parts = n.team.size if n.team is not None else 1
        known = winograd.heights_of(self.shape)
        cut = [heights(end - start, known) for start, end in bounds(weights.rows, parts, GRAIN)]
        self.parts, self.tiles = len(cut), [*itertools.chain(*cut)]
        self.cuts = [*itertools.accumulate(map(len, cut), initial=0)]
        words = [(known.index(h), h, _of_product(h, weights.channels) * SIZE) for h in self.tiles]
        self.table = n.constant(np.array(words, np.int64))
        self.filters = self._memory(sum(winograd.filters_of(h, weights.channels) for h in self.tiles))
        self.plane = grid.rows * grid.line
        self.planes = self._memory(winograd.planes_of(weights.channels, grid.rows * grid.line))

    def _memory(self, size: int, dtype: Dtype = FLOAT32) -> Operand:
        return Operand(Buffer(ARENA, size * dtype.itemsize), 0, (), (), dtype)

    def _of_tiles(self, start: int, end: int) -> tuple[int, int]:
        """Rows before some tiles, and in them."""
        return sum(self.tiles[:start]), sum(self.tiles[start:end])

    def _filters_at(self, tile: int) -> Operand:
        before = sum(winograd.filters_of(h, self.weights.channels) for h in self.tiles[:tile])
        return moved(self.filters, before * SIZE)

    def prepare(self) -> Operand:
        """Transform filters and lay out the input: whether all values are small enough, as a byte."""
        n, count = self.n, self.weights.channels
        channels = bounds(count, self.parts)
        bits = self._memory(2 * self.parts, np.dtype(np.int32))
        fits = self._memory(1, np.dtype(np.bool_))

        def part(number: int) -> None:
            self._add_filters(number, moved(bits, 8 * number))
            start, end = channels[min(number, len(channels) - 1)]
            self._add_lay(start, end if number < len(channels) else start, moved(bits, 8 * number + 4))

        shared(n, n.team, [functools.partial(part, i) for i in range(self.parts)])
        n.add("winograd_fits", [fits, bits, 2 * self.parts])
        return fits

    def _add_filters(self, number: int, most: Operand) -> None:
        weights, (start, end) = self.weights, self.cuts[number : number + 2]
        before, rows = self._of_tiles(start, end)
        size = 9 * weights.rows * weights.channels  # of which each part looks at as many as it has rows
        first, stop = (size * r // weights.rows for r in (before, before + rows))
        self.n.add("winograd_filters", [
            _addresses()[NAMES.filters], _addresses()[NAMES.range], end - start, weights.channels, weights.row,
            weights.channel, int(weights.is_reversed), stop - first, moved(weights.array, first * SIZE),
            moved(weights.array, before * weights.row), moved(self.table, start * winograd.TILE_WORDS * 8),
            self._filters_at(start), self._memory(winograd.filter_scratch(weights.channels, self.shape)), most,
        ])  # fmt: skip

    def _add_lay(self, start: int, end: int, most: Operand) -> None:
        x, grid = self.x, self.grid
        _, height, width, images = x.shape
        self.n.add("winograd_lay", [
            _addresses()[NAMES.lay], end - start, x.strides[0], x.strides[1], height, width, images, *self.pads,
            grid.rows, grid.pitch, moved(x, start * x.strides[0]),
            moved(self.planes, start * MADE * MADE * self.plane * SIZE), most,
        ])  # fmt: skip

    def multiply(self) -> None:
        """The products and what they make of the result: as many vectors for each thread, and of those that are left
        some rows.
        """
        vectors, entries = tables(self.grid, self.shape.lanes)
        given = self.n.constant(vectors), self.n.constant(entries)
        pairs = len(vectors) // 2
        each = pairs // self.parts

        def part(number: int) -> None:
            self._add_products(given, (number * each, (number + 1) * each), (0, len(self.tiles)))
            self._add_products(given, (self.parts * each, pairs), (self.cuts[number], self.cuts[number + 1]))

        shared(self.n, self.n.team, [functools.partial(part, i) for i in range(self.parts)])

    def _add_products(self, given: tuple[Operand, Operand], pairs: tuple[int, int], tiles: tuple[int, int]) -> None:
        if pairs[0] == pairs[1]:
            return
        grid, channels, out = self.grid, self.weights.channels, self.out
        before, _ = self._of_tiles(*tiles)
        self.n.add("winograd_products", [
            _addresses()[NAMES.products], tiles[1] - tiles[0], self.plane * SIZE, grid.line * SIZE,
            grid.images * SIZE, channels, pairs[1] - pairs[0], out.strides[0], self._filters_at(tiles[0]),
            moved(self.table, tiles[0] * winograd.TILE_WORDS * 8), self.planes,
            moved(given[0], pairs[0] * 2 * winograd.VECTOR_WORDS * 8), given[1],
            moved(out, before * out.strides[0]), self._memory(winograd.product_scratch(channels, self.shape)),
            NONE if self.bias is None else moved(self.bias, before * SIZE),
        ])  # fmt: skip


def _of_product(height: int, channels: int) -> int:
    """Elements of a tile's filters for one product."""
    return winograd.filters_of(height, channels) // PRODUCTS


__all__ = ["Grid", "Weights", "add_winograd", "functions_for", "heights", "pays", "tables", "winograd_steps"]
