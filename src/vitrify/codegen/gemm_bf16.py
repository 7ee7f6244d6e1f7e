"""Matrix products of bfloat16 by the instruction that multiplies pairs of them and adds up in float32 (AVX512-BF16).

    i32 gemm_bf16(m, n, k, a, row, column, b, row, column, c, row, scratch, koffsets, joffsets, bias, along)

c = a b, plus in each column its element of along unless that is null, rounded once; sizes are in elements, k is 1 at
least, steps in bytes, rows of c lie side by side; there are no tables of offsets, and nothing is added to rows. Blocks
and tiles are those of `gemm.py`. What is packed are pairs of neighbours along the inner size, in 32 bits, with a zero
where that is odd.

The instruction takes numbers below 2**-126 for zeros, of its operands as of its sums.
"""

from __future__ import annotations

import functools

from .gemm import fitting, table_ir
from .native import loaded
from .writer import Writer

_LANES = 16
_WIDTH = 2 * _LANES
_HEIGHTS = (12, 8, 4, 2, 1)
_TABLE = "tiles_bf16"
# Rows of a and columns of b that are held in packed order, and the part of the inner size that goes with them.
_ROWS, _COLUMNS, _INNER = 192, 1024, 512
_ALIGNED = 64
_PAIRS, _SUMS, _SHORTS = f"<{_LANES} x i32>", f"<{_LANES} x float>", f"<{_LANES} x i16>"
NAME = "gemm_bf16"
DECLARATIONS = (
    f"declare {_SUMS} @llvm.x86.avx512bf16.dpbf16ps.512({_SUMS}, <32 x bfloat>, <32 x bfloat>)",
    f"declare {_SHORTS} @llvm.masked.load.v16i16.p0(ptr, i32, <{_LANES} x i1>, {_SHORTS})",
    f"declare void @llvm.masked.store.v16i16.p0({_SHORTS}, ptr, i32, <{_LANES} x i1>)",
)


def scratch_bytes(m: int, n: int, k: int) -> int:
    """Bytes of memory that a product of these sizes needs beside its arrays."""
    columns = min(-(-n // _WIDTH) * _WIDTH, _COLUMNS)
    pairs = (min(k, _INNER) + 1) // 2
    sums = m * columns if k > _INNER else 0
    return (4 * (sums + (min(m, _ROWS) + columns) * pairs) // _ALIGNED + 2) * _ALIGNED


@functools.lru_cache(maxsize=1)
def address() -> int:
    """Where the function lies, compiled when it is first asked for."""
    return loaded(gemm_ir(), (NAME,)).addresses[NAME]


def gemm_ir() -> str:
    """All functions."""
    tiles = [_tile(rows) for rows in _HEIGHTS]
    table = table_ir(_TABLE, [(rows, f"tile_bf16_{rows}") for rows in _HEIGHTS])
    return "\n\n".join([*tiles, table, _pack(), _gemm(), *DECLARATIONS])


def _tile(rows: int) -> str:
    """c[:rows, :left] = sums + a b, in float32 kept in `sums` unless this is the last part of the inner size.

    k counts pairs. more: `sums` has what earlier parts gave; else columns begin with their bias, or with zero.
    """
    lines = [
        f"define internal void @tile_bf16_{rows}(i64 %k, ptr %a, ptr %b, ptr %sums, i64 %srow, ptr %c, i64 %crow, "
        "i1 %more, i1 %last, i64 %left, ptr %bias) #1 {",
        "entry:", *_masks(),
        "  br i1 %more, label %adding, label %starting", "adding:",
    ]  # fmt: skip
    tile = [(r, v) for r in range(rows) for v in range(2)]
    for r in range(rows):
        lines += [f"  %s{r}.row = mul i64 %srow, {r}", f"  %s{r} = getelementptr i8, ptr %sums, i64 %s{r}.row"]
    for r, v in tile:
        lines += [f"  %s{r}.{v} = getelementptr float, ptr %s{r}, i64 {v * _LANES}",
                  f"  %o{r}.{v} = load {_SUMS}, ptr %s{r}.{v}, align 4"]  # fmt: skip
    lines += ["  br label %loop", "starting:", "  %is.plain = icmp eq ptr %bias, null",
              "  br i1 %is.plain, label %loop, label %biased", "biased:", *_biased(), "  br label %loop", "loop:",
              "  %p = phi i64 [0, %adding], [0, %starting], [0, %biased], [%p.next, %loop]",
              "  %ap = phi ptr [%a, %adding], [%a, %starting], [%a, %biased], [%ap.next, %loop]",
              "  %bp = phi ptr [%b, %adding], [%b, %starting], [%b, %biased], [%bp.next, %loop]"]  # fmt: skip
    lines += [
        f"  %t{r}.{v} = phi {_SUMS} [%o{r}.{v}, %adding], [zeroinitializer, %starting], [%z{v}, %biased], "
        f"[%n{r}.{v}, %loop]" for r, v in tile
    ]  # fmt: skip
    for v in range(2):
        lines += [f"  %b{v}.at = getelementptr i32, ptr %bp, i64 {v * _LANES}",
                  f"  %b{v}.raw = load {_PAIRS}, ptr %b{v}.at, align 4",
                  f"  %b{v} = bitcast {_PAIRS} %b{v}.raw to <32 x bfloat>"]  # fmt: skip
    for r in range(rows):
        lines += [f"  %a{r}.at = getelementptr i32, ptr %ap, i64 {r}", f"  %a{r}.one = load i32, ptr %a{r}.at, align 4",
                  f"  %a{r}.first = insertelement {_PAIRS} poison, i32 %a{r}.one, i64 0",
                  f"  %a{r}.all = shufflevector {_PAIRS} %a{r}.first, {_PAIRS} poison, {_PAIRS} zeroinitializer",
                  f"  %a{r} = bitcast {_PAIRS} %a{r}.all to <32 x bfloat>"]  # fmt: skip
        lines += [f"  %n{r}.{v} = call {_SUMS} @llvm.x86.avx512bf16.dpbf16ps.512({_SUMS} %t{r}.{v}, "
                  f"<32 x bfloat> %a{r}, <32 x bfloat> %b{v})" for v in range(2)]  # fmt: skip
    lines += [f"  %ap.next = getelementptr i32, ptr %ap, i64 {rows}",
              f"  %bp.next = getelementptr i32, ptr %bp, i64 {_WIDTH}",
              "  %p.next = add nuw i64 %p, 1", "  %again = icmp ult i64 %p.next, %k",
              "  br i1 %again, label %loop, label %done", "done:",
              "  br i1 %last, label %rounding, label %keeping", "keeping:"]  # fmt: skip
    for r in range(rows):
        lines += [f"  %k{r}.row = mul i64 %srow, {r}", f"  %k{r} = getelementptr i8, ptr %sums, i64 %k{r}.row"]
    for r, v in tile:
        lines += [f"  %k{r}.{v} = getelementptr float, ptr %k{r}, i64 {v * _LANES}",
                  f"  store {_SUMS} %n{r}.{v}, ptr %k{r}.{v}, align 4"]  # fmt: skip
    lines += ["  ret void", "rounding:"]
    for r in range(rows):
        lines += [f"  %c{r}.row = mul i64 %crow, {r}", f"  %c{r} = getelementptr i8, ptr %c, i64 %c{r}.row"]
    for r, v in tile:
        lines += [f"  %c{r}.{v} = getelementptr i16, ptr %c{r}, i64 {v * _LANES}",
                  f"  %r{r}.{v} = fptrunc {_SUMS} %n{r}.{v} to <{_LANES} x bfloat>",
                  f"  %w{r}.{v} = bitcast <{_LANES} x bfloat> %r{r}.{v} to {_SHORTS}",
                  f"  call void @llvm.masked.store.v16i16.p0({_SHORTS} %w{r}.{v}, ptr %c{r}.{v}, i32 2, "
                  f"<{_LANES} x i1> %m{v})"]  # fmt: skip
    return "\n".join([*lines, "  ret void", "}"])


def _masks() -> list[str]:
    """For both vectors which of their columns there are."""
    full = f"<{_LANES} x i64>"
    lines = [f"  %left.one = insertelement {full} poison, i64 %left, i64 0",
             f"  %left.all = shufflevector {full} %left.one, {full} poison, {_PAIRS} zeroinitializer"]  # fmt: skip
    for v in range(2):
        numbers = ", ".join(f"i64 {v * _LANES + i}" for i in range(_LANES))
        lines.append(f"  %m{v} = icmp ugt {full} %left.all, <{numbers}>")
    return lines


def _biased() -> list[str]:
    """Both vectors of the bias, as float32."""
    lines = []
    for v in range(2):
        lines += [f"  %z{v}.at = getelementptr i16, ptr %bias, i64 {v * _LANES}",
                  f"  %z{v}.raw = call {_SHORTS} @llvm.masked.load.v16i16.p0(ptr %z{v}.at, i32 2, "
                  f"<{_LANES} x i1> %m{v}, {_SHORTS} zeroinitializer)",
                  f"  %z{v}.wide = zext {_SHORTS} %z{v}.raw to {_PAIRS}",
                  f"  %z{v}.bits = shl {_PAIRS} %z{v}.wide, splat (i32 16)",
                  f"  %z{v} = bitcast {_PAIRS} %z{v}.bits to {_SUMS}"]  # fmt: skip
    return lines


# -- packing -----------------------------------------------------------------------------------------------------------


def _pack() -> str:
    """to[p, :width] = the pairs from[:rows, 2p : 2p + 2], zeros behind the rows and behind k; `row` and `inner` are
    from's steps in bytes.
    """
    w = Writer("void", "pack_bf16", (
        "ptr %to", "i64 %width", "ptr %from", "i64 %rows", "i64 %k", "i64 %row", "i64 %inner"
    ))  # fmt: skip
    done, fours = w.variable("i64", 0), w.value("and i64 %rows, -4")
    whole = w.value("lshr i64 %k, 1")
    with w.when(w.value("icmp eq i64 %row, 2")):  # rows lie side by side
        _side_by_side(w, whole, fours)
        w.line(f"store i64 {fours}, ptr {done}")
    left = w.value(f"load i64, ptr {done}")
    is_across = w.value("icmp eq i64 %inner, 2")
    with w.when(w.value(f"and i1 {is_across}, {w.value(f'icmp eq i64 {left}, 0')}")):
        square = w.value(f"and i64 {whole}, -4")
        with w.loop(fours, 0, 4) as r:
            with w.loop(square, 0, 4) as p:
                _transposed(w, r, p)
            with w.loop(4) as i:
                _one_row(w, w.add(r, i), square, whole)
        w.line(f"store i64 {fours}, ptr {done}")
    with w.loop("%rows", w.value(f"load i64, ptr {done}")) as r:
        _one_row(w, r, 0, whole)
    pairs = w.value(f"lshr i64 {w.add('%k', 1)}, 1")
    with w.loop("%width", "%rows") as r, w.loop(pairs) as p:
        w.store(0, "%to", w.add(w.times(p, "%width"), r), "i32", 4)
    w.line("ret void")
    return w.text


def _is_odd(w: Writer) -> str:
    return w.value("trunc i64 %k to i1")


def _side_by_side(w: Writer, whole: str, fours: str) -> None:
    """Pairs of rows' elements that are neighbours, several at a time."""
    wide = w.value(f"and i64 %rows, {-_LANES}")
    with w.loop(whole) as p:
        for step, start, end in ((_LANES, 0, wide), (4, wide, fours)):
            with w.loop(end, start, step) as r:
                low = _shorts(w, p, 0, r, step)
                high = w.value(f"shl <{step} x i32> {_shorts(w, p, 1, r, step)}, splat (i32 16)")
                _put(w, w.value(f"or <{step} x i32> {low}, {high}"), p, r, step)
    with w.when(_is_odd(w)), w.loop(fours, 0, 4) as r:
        _put(w, _shorts(w, whole, 0, r, 4), whole, r, 4)


def _shorts(w: Writer, pair: str, which: int, r: str, count: int) -> str:
    """Elements of neighbouring rows, the first or second of their pairs, each in the low half of 32 bits."""
    at = w.at("%from", w.times(w.add(w.times(pair, 2), which), "%inner"), "i8")
    short = w.value(f"load <{count} x i16>, ptr {w.at(at, r, 'i16')}, align 2")
    return w.value(f"zext <{count} x i16> {short} to <{count} x i32>")


def _put(w: Writer, pairs: str, p: str, r: str, count: int) -> None:
    w.line(f"store <{count} x i32> {pairs}, ptr {w.at('%to', w.add(w.times(p, '%width'), r), 'i32')}, align 4")


def _transposed(w: Writer, r: str, p: str) -> None:
    """Four rows of four pairs, exchanged in registers."""
    four = "<4 x i32>"
    at = w.at("%from", w.add(w.times(r, "%row"), w.times(p, 4)), "i8")
    rows = [w.value(f"load {four}, ptr {w.at(at, w.times('%row', i), 'i8')}, align 2") for i in range(4)]

    def mixed(x: str, y: str, lanes: tuple[int, ...]) -> str:
        chosen = ", ".join(f"i32 {i}" for i in lanes)
        return w.value(f"shufflevector {four} {x}, {four} {y}, {four} <{chosen}>")

    low = [mixed(rows[i], rows[i + 1], (0, 4, 1, 5)) for i in (0, 2)]
    high = [mixed(rows[i], rows[i + 1], (2, 6, 3, 7)) for i in (0, 2)]
    columns = [mixed(x, y, lanes) for x, y in (low, high) for lanes in ((0, 1, 4, 5), (2, 3, 6, 7))]
    for i, column in enumerate(columns):
        _put(w, column, w.add(p, i), r, 4)


def _one_row(w: Writer, r: str, start: object, whole: str) -> None:
    source = w.at("%from", w.times(r, "%row"), "i8")

    def half(place: str) -> str:
        short = w.load(w.at(source, w.times(place, "%inner"), "i8"), 0, "i16", 2)
        return w.value(f"zext i16 {short} to i32")

    def put(pair: str, p: str) -> None:
        w.store(pair, "%to", w.add(w.times(p, "%width"), r), "i32", 4)

    with w.loop(whole, start) as p:
        place = w.times(p, 2)
        high = w.value(f"shl i32 {half(w.add(place, 1))}, 16")
        put(w.value(f"or i32 {half(place)}, {high}"), p)
    with w.when(_is_odd(w)):
        put(half(w.value("sub i64 %k, 1")), whole)


# -- products ----------------------------------------------------------------------------------------------------------


def _gemm() -> str:
    w = Writer("i32", NAME, (
        "i64 %m", "i64 %n", "i64 %k", "ptr %a", "i64 %arow", "i64 %acolumn", "ptr %b", "i64 %brow", "i64 %bcolumn",
        "ptr %c", "i64 %crow", "ptr %scratch", "ptr %koffsets", "ptr %joffsets", "ptr %bias",
        "ptr %along",
    ))  # fmt: skip
    room = w.least(w.rounded_up("%n", _WIDTH), _COLUMNS)
    srow = w.times(room, 4)
    is_long = w.value(f"icmp sgt i64 %k, {_INNER}")
    packed_b = w.at("%scratch", w.value(f"select i1 {is_long}, i64 {w.times('%m', srow)}, i64 0"), "i8")
    is_plain = w.value("icmp eq ptr %along, null")
    with w.loop("%n", 0, _COLUMNS) as j0:
        columns = w.least(w.value(f"sub i64 %n, {j0}"), _COLUMNS)
        with w.loop("%k", 0, _INNER) as p0:
            inner = w.least(w.value(f"sub i64 %k, {p0}"), _INNER)
            pairs = w.value(f"lshr i64 {w.add(inner, 1)}, 1")
            with w.loop(columns, 0, _WIDTH) as j:
                place = w.add(w.times(p0, "%brow"), w.times(w.add(j0, j), "%bcolumn"))
                left = w.least(w.value(f"sub i64 {columns}, {j}"), _WIDTH)
                w.call("void", "@pack_bf16", f"ptr {_packed(w, packed_b, j, pairs)}", f"i64 {_WIDTH}",
                       f"ptr {w.at('%b', place, 'i8')}", f"i64 {left}", f"i64 {inner}", "i64 %bcolumn",
                       "i64 %brow")  # fmt: skip
            packed_a = _packed(w, packed_b, w.rounded_up(columns, _WIDTH), pairs)
            more = w.value(f"icmp ne i64 {p0}, 0")
            last = w.value(f"icmp sge i64 {w.add(p0, _INNER)}, %k")
            with w.loop("%m", 0, _ROWS) as i0:
                count = w.least(w.value(f"sub i64 %m, {i0}"), _ROWS)
                for i, height, _ in fitting(w, _TABLE, 2, count):
                    place = w.add(w.times(w.add(i0, i), "%arow"), w.times(p0, "%acolumn"))
                    w.call("void", "@pack_bf16", f"ptr {_packed(w, packed_a, i, pairs)}", f"i64 {height}",
                           f"ptr {w.at('%a', place, 'i8')}", f"i64 {height}", f"i64 {inner}", "i64 %arow",
                           "i64 %acolumn")  # fmt: skip
                with w.loop(columns, 0, _WIDTH) as j:
                    b, left = _packed(w, packed_b, j, pairs), w.value(f"sub i64 {columns}, {j}")
                    own = w.value(f"select i1 {is_plain}, ptr null, ptr {w.at('%along', w.add(j0, j), 'i16')}")
                    for i, _, tile in fitting(w, _TABLE, 2, count):
                        row = w.add(i0, i)
                        sums = w.at("%scratch", w.add(w.times(row, srow), w.times(j, 4)), "i8")
                        c = w.at("%c", w.add(w.times(row, "%crow"), w.times(w.add(j0, j), 2)), "i8")
                        w.call("void", w.load(tile, 1, "ptr"), f"i64 {pairs}", f"ptr {_packed(w, packed_a, i, pairs)}",
                               f"ptr {b}", f"ptr {sums}", f"i64 {srow}", f"ptr {c}", "i64 %crow", f"i1 {more}",
                               f"i1 {last}", f"i64 {left}", f"ptr {own}")  # fmt: skip
    w.line("ret i32 0")
    return w.text


def _packed(w: Writer, start: str, line: str, pairs: str) -> str:
    """Where the pairs of a line of packed ones begin."""
    return w.at(start, w.times(line, pairs), "i32")


__all__ = ["NAME", "address", "gemm_ir", "scratch_bytes"]
