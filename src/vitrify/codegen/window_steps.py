"""Products with windows where they lie (`windows.py`) as steps of a plan, shared among threads."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import window_sums, windows
from .emit import FLOAT32, INT64, Dtype
from .errors import NoNativeForm
from .llvm import host
from .native import loaded
from .operands import ARENA, Buffer, Operand
from .pointwise import attributes
from .products import NONE, moved
from .sharing import bounds, shared
from .steps import PARAMETERS, array, optional, word
from .ufunc import keep
from .writer import Writer

if TYPE_CHECKING:
    from .assembler import Assembler

_DTYPES = (FLOAT32,)
# The least that vectors have where it was measured: AVX2.
_BYTES = 32
# Pieces for which it is worth looking for fewer, one by one.
_MOST_SPREAD = 1 << 12
# Multiplications from which on a product takes several times as long as waking the other threads.
_LARGE = 1 << 19
# Tiles take up to so many pieces at a time: tables have so many more, without columns, and parts begin at multiples.
_TOGETHER = 4
# Rows from which on sums with packed columns take less time than dots, which need a multiple of three.
_LEAST_ROWS = 8
# Lanes whose order a piece has bits for.
_MOST_ORDERED = 8


class Matrix(NamedTuple):
    """An array whose element in row r lies at `offsets[p]` behind where the row begins, `row` bytes from row to row and
    `group` bytes from one group of channels to the next.
    """

    array: Operand
    row: int
    offsets: Any
    group: int = 0

    def at(self, group: int, row: int) -> Operand:
        """The array from this group and row on."""
        return moved(self.array, group * self.group + row * self.row)


def window_steps() -> dict[str, str]:
    """The steps' functions, by name."""
    return {"windows_product": _product(), "window_dots": _dots(), "window_sums": _dots("window_sums")}


def _product() -> str:
    """c: 2 the function, 3... its sizes, those of rows in bytes (m k arow crow count side safe), then the arrays a, a's
    offsets, b, b's offsets, c, pieces, bias and working memory, the tiles, how many groups there are, and the bytes
    from one to the next in a, b, c and bias.
    """
    w = Writer("i32", "windows_product", PARAMETERS)
    m, k, arow, crow, count, side, safe = (f"i64 {word(w, i)}" for i in range(3, 10))
    ao, bo, pieces = (f"ptr {array(w, i)}" for i in (11, 13, 15))
    bias, scratch = optional(w, 16), f"ptr {optional(w, 17)}"
    tiles, function = f"ptr {w.load('%c', 18, 'ptr')}", w.load("%c", 2, "ptr")
    first, steps = (*(array(w, i) for i in (10, 12, 14)), bias), [word(w, i) for i in range(20, 24)]
    with w.loop(word(w, 19)) as group:
        a, b, c, own = _groups(w, first, steps, group)
        w.call("i32", function, m, k, a, arow, ao, b, bo, c, crow, pieces, count, own, scratch, side, safe, tiles)
    w.line("ret i32 0")
    return w.text


def _groups(w: Writer, first: Sequence[str], steps: Sequence[str], group: str) -> list[str]:
    """Arguments: where each array begins for this group; a step of zero leaves it, as it does null."""
    return [f"ptr {w.at(start, w.times(group, step), 'i8')}" for start, step in zip(first, steps)]


def _dots(name: str = "window_dots") -> str:
    """c: 2 the function, 3... its sizes, those of rows in bytes (m k arow crow count), then the arrays a, b, b's
    offsets, c and pieces, of sums working memory, of dots their tiles, how many groups there are, and the bytes from
    one to the next in a, b and c.
    """
    w = Writer("i32", name, PARAMETERS)
    m, k, arow, crow, count = (f"i64 {word(w, i)}" for i in range(3, 8))
    bo, pieces = (f"ptr {array(w, i)}" for i in (10, 12))
    more = f"ptr {array(w, 13) if name == 'window_sums' else w.load('%c', 13, 'ptr')}"
    function = w.load("%c", 2, "ptr")
    first, steps = [array(w, i) for i in (8, 9, 11)], [word(w, i) for i in range(15, 18)]
    with w.loop(word(w, 14)) as group:
        a, b, c = _groups(w, first, steps, group)
        w.call("i32", function, m, k, a, arow, b, bo, c, crow, pieces, count, more)
    w.line("ret i32 0")
    return w.text


def lanes_of(dtype: Dtype) -> int:
    """Elements of a vector. Raises NoNativeForm where products with windows were not measured to be faster."""
    if dtype not in _DTYPES or not host().is_x86 or host().vector_bytes < _BYTES:
        raise NoNativeForm(f"windows of {dtype} have no native form")
    return windows.tiles_of(dtype, host()).lanes


@functools.lru_cache(maxsize=len(_DTYPES))
def _products(dtype: Dtype) -> Compiled:
    return Compiled(dtype, windows.products_ir, windows.names_of(dtype)[0])


@functools.lru_cache(maxsize=len(_DTYPES))
def _window_dots(dtype: Dtype) -> Compiled:
    """Dots are for gradients: programs without those do not wait for them to be compiled."""
    return Compiled(dtype, windows.dots_ir, windows.names_of(dtype)[1])


@functools.lru_cache(maxsize=len(_DTYPES))
def _sums(dtype: Dtype) -> Compiled:
    return Compiled(dtype, window_sums.sums_ir, window_sums.name_of(windows.tiles_of(dtype, host())))


class Compiled:
    """A function, and the table of its tiles, which are compiled when a plan first needs them: a net needs a few of
    two dozen.
    """

    def __init__(self, dtype: Dtype, made: Callable[[windows.Tiles], dict[str, str]], name: str) -> None:
        self.tiles = windows.tiles_of(dtype, host())
        self.address: int = self._loaded(made(self.tiles), (name,))[name]
        self._table = keep(np.zeros(windows.table_size(self.tiles), np.int64))
        self._lock = Lock()

    def _loaded(self, functions: dict[str, str], names: tuple[str, ...]) -> Mapping[str, int]:
        text = [*functions.values(), *windows.declarations(self.tiles), attributes(host())]
        return loaded("\n\n".join(text), names).addresses

    def with_tiles(self, tiles: Iterable[windows.Tile]) -> int:
        """The table's address, once it has these tiles."""
        with self._lock:
            missing = {tile.name: tile for tile in tiles if not self._table[tile.place]}
            if missing:
                found = self._loaded({name: tile.text() for name, tile in missing.items()}, tuple(missing))
                for name, tile in missing.items():
                    self._table[tile.place] = found[name]
        return int(self._table.ctypes.data)


def pieces_of(b: Any, c: Any, each: int, itemsize: int, lanes: int) -> Any:
    """[pieces, 4], the table of pieces for columns that come `each` side by side at these offsets of b and of c.

    What lies side by side in both is taken together.
    """
    if not len(b):
        return np.zeros((0, windows.PIECE), np.int64)
    apart = (np.diff(b) != each * itemsize) | (np.diff(c) != each * itemsize)
    first = np.concatenate([[0], np.flatnonzero(apart) + 1])
    columns = np.diff(np.concatenate([first, [len(b)]])) * each
    count = -(-columns // lanes)
    run = np.repeat(np.arange(len(first)), count)
    number = np.arange(len(run)) - np.repeat(np.cumsum(count) - count, count)
    moved_by = number * (lanes * itemsize)
    left = np.minimum(columns[run] - number * lanes, lanes)
    bits = ((1 << left) - 1) | (_ordered(range(lanes)) << windows.ORDER)
    return np.stack([b[first][run] + moved_by, c[first][run] + moved_by, left, bits], 1).astype(np.int64)


def _ordered(numbers: Iterable[int]) -> int:
    """The numbers of lanes in order, as a piece has them: zero where there are more than it has bits for."""
    found = [*numbers]
    return sum(n << (windows.ORDER_BITS * i) for i, n in enumerate(found)) if len(found) <= _MOST_ORDERED else 0


def spread_pieces(b: Any, c: Any, itemsize: int, lanes: int) -> Any:
    """Pieces of single columns at these ascending offsets of b, which lie side by side in c: between those of one piece
    may be others. None where columns do not lie so.
    """
    steps = np.diff(b)
    if not len(b) or (steps <= 0).any() or (steps % itemsize).any() or (np.diff(c) != itemsize).any():
        return None
    ends = np.searchsorted(b, b + lanes * itemsize)
    found, at = [], 0
    while at < len(b):
        end = int(ends[at])
        lying = (b[at:end] - b[at]) // itemsize
        bits = int((1 << lying).sum()) | ((_ordered(lying.tolist()) if lanes <= _MOST_ORDERED else 0) << windows.ORDER)
        found.append((int(b[at]), int(c[at]), end - at, bits))
        at = end
    return np.array(found, np.int64)


def fewest_pieces(b: Any, c: Any, each: int, itemsize: int, lanes: int, may_spread: bool) -> Any:
    """`pieces_of`, or where they may be spread and are fewer then `spread_pieces`."""
    found = pieces_of(b, c, each, itemsize, lanes)
    if not may_spread or each >= lanes or len(found) > _MOST_SPREAD:
        return found
    own = np.arange(each) * itemsize
    spread = spread_pieces((b[:, None] + own).reshape(-1), (c[:, None] + own).reshape(-1), itemsize, lanes)
    return found if spread is None or len(spread) >= len(found) else spread


def _table(n: Assembler, pieces: Any) -> Operand:
    """The pieces, and behind them as many without columns as a tile may read: where the last one begins."""
    behind = np.zeros((_TOGETHER - 1, windows.PIECE), np.int64)
    if len(pieces):
        behind[:, 0] = pieces[-1, 0]
    return n.constant(np.concatenate([pieces, behind]))


def safe_pieces(b: Operand, offsets: Any, pieces: Any) -> int:
    """How many of the first pieces have memory for a whole vector, those behind the table's end included."""
    if b.buffer.kind == ARENA:
        end = b.buffer.size - b.offset
    else:
        end = sum(max((size - 1) * step, 0) for size, step in zip(b.shape, b.strides)) + b.dtype.itemsize
    is_unsafe = pieces[:, 0] + int(np.max(offsets, initial=0)) + host().vector_bytes > end
    return int(is_unsafe.argmax()) if is_unsafe.any() else len(pieces) + _TOGETHER - 1


def _offsets(n: Assembler, offsets: Any) -> Operand:
    return n.constant(np.asarray(offsets, INT64))


def add_product(
    n: Assembler, a: Matrix, rows: int, b: Matrix, c: Matrix, pieces: Any, bias: Operand | None, groups: int
) -> None:
    """c = a b + bias, for the pieces of b and c and so many groups of rows."""
    product = _products(c.array.dtype)
    inner = len(b.offsets)
    tables = _offsets(n, a.offsets), _offsets(n, b.offsets)
    side = int((np.diff(a.offsets) == a.array.dtype.itemsize).all())
    safe = safe_pieces(b.array, b.offsets + (groups - 1) * b.group, pieces)

    def part(own: _Part) -> None:
        ours: Any = NONE
        per_group = 0
        if bias is not None:
            per_group = rows * bias.dtype.itemsize
            ours = moved(bias, own.group * per_group + own.row * bias.dtype.itemsize)
        here = len(pieces) + _TOGETHER if own.stop == len(pieces) else own.stop
        scratch = _scratch(own.rows, inner, c.array.dtype)
        n.add("windows_product", [
            product.address, own.rows, inner, a.row, c.row, own.stop - own.start, side, min(safe, here) - own.start,
            a.at(own.group, own.row), tables[0], b.at(own.group, 0), tables[1], c.at(own.group, own.row),
            _table(n, pieces[own.start : own.stop]), ours, scratch,
            product.with_tiles(windows.product_tiles(product.tiles, own.rows)),
            own.groups, a.group, b.group, c.group, per_group,
        ])  # fmt: skip

    everything, columns = _Part(0, groups, 0, rows, 0, len(pieces)), int(pieces[:, 2].sum())
    _in_parts(n, part, everything, groups * rows * inner * columns, rows > columns, (1, _TOGETHER))


def _scratch(rows: int, inner: int, dtype: Dtype) -> Any:
    """Memory for a block of a in packed order, where tiles read it so."""
    size = windows.scratch_bytes(rows, inner, windows.tiles_of(dtype, host()))
    return Operand(Buffer(ARENA, size), 0, (), (), dtype) if size else NONE


def add_dots(n: Assembler, a: Matrix, rows: int, b: Matrix, c: Matrix, pieces: Any, groups: int) -> None:
    """c[r, p] = the sum over the columns of a[r] b[p], whose pieces say where b's columns begin, and a's."""
    dtype = c.array.dtype
    tiles = windows.tiles_of(dtype, host())
    has_sums = tiles.packs and rows >= _LEAST_ROWS
    name, function = ("window_sums", _sums(dtype)) if has_sums else ("window_dots", _window_dots(dtype))
    inner = len(b.offsets)
    table = _table(n, pieces)

    def part(own: _Part) -> None:
        to = moved(c.at(own.group, own.row), own.start * dtype.itemsize)
        if has_sums:
            last: Any = Operand(Buffer(ARENA, window_sums.scratch_bytes(tiles)), 0, (), (), dtype)
        else:
            last = function.with_tiles(windows.dots_tiles(tiles, own.rows))
        n.add(name, [
            function.address, own.rows, own.stop - own.start, a.row, c.row, len(pieces), a.at(own.group, own.row),
            b.at(own.group, 0), _offsets(n, b.offsets[own.start : own.stop]), to, table, last,
            own.groups, a.group, b.group, c.group,
        ])  # fmt: skip

    work = groups * rows * inner * int(pieces[:, 2].sum())
    grains = (window_sums.width_of(tiles), window_sums.HEIGHT) if has_sums else (1, tiles.dots[1])
    _in_parts(n, part, _Part(0, groups, 0, rows, 0, inner), work, rows > inner, grains)


class _Part(NamedTuple):
    """Some groups, rows of each, and what goes along these from `start` to `stop`."""

    group: int
    groups: int
    row: int
    rows: int
    start: int
    stop: int


def _in_parts(
    n: Assembler, part: Callable[[_Part], None], of: _Part, work: int, is_by_rows: bool, grains: tuple[int, int]
) -> None:
    """All of it, or where it is large some groups, some rows or some columns for each thread."""
    team = n.team
    if team is None or work < _LARGE:
        part(of)
        return
    if of.groups > 1:
        cut = [of._replace(group=a, groups=b - a) for a, b in bounds(of.groups, team.size)]
    elif is_by_rows:
        cut = [of._replace(row=a, rows=b - a) for a, b in bounds(of.rows, team.size, grains[0])]
    else:
        cut = [of._replace(start=a, stop=b) for a, b in bounds(of.stop, team.size, grains[1])]
    shared(n, team, [functools.partial(part, own) for own in cut])


__all__ = ["Matrix", "add_dots", "add_product", "lanes_of", "pieces_of", "window_steps"]
