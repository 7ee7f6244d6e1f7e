"""Sums over the columns of windows, for gradients of weights, where 16 registers are all there are (AVX2).

    i32 window_sums_<type>(m, k, a, arow, b, boffsets, c, crow, pieces, count, scratch)

As `window_dots_<type>` (`windows.py`): c[r, p] = the sum over j of a[r, j] b[p, j]. Dots take two loads for three
products, and must add up their lanes; here columns of a are packed, 16 rows side by side, and each element of b, read
where it lies, multiplies them all. Tiles hold six rows of b, and are exchanged in registers when they are written.
"""

from __future__ import annotations

from .panels import transposed
from .window_tiles import PIECE, Tiles, in_all_lanes
from .writer import Writer

# Pieces whose columns are packed at a time, and the most rows of a: what tiles read stays in the second cache.
CHUNK, ROWS = 32, 128
# Rows of b in a tile.
HEIGHT = 6


def name_of(t: Tiles) -> str:
    """The function's name."""
    return f"window_sums_{t.type}"


def width_of(t: Tiles) -> int:
    """Rows of a that a tile has side by side."""
    return 2 * t.lanes


def scratch_bytes(t: Tiles) -> int:
    """Bytes of working memory: packed columns, their offsets, and a tile."""
    return _columns(t) * (ROWS * t.dtype.itemsize + 8) + HEIGHT * width_of(t) * t.dtype.itemsize


def sums_ir(t: Tiles) -> dict[str, str]:
    """The function by its name, with those that it calls."""
    return {_name(t, "pack"): _pack(t), _name(t, "tile"): _tile(t), _name(t, "write"): _write(t), name_of(t): _sums(t)}


def _name(t: Tiles, part: str) -> str:
    return f"window_sums_{part}_{t.type}"


def _columns(t: Tiles) -> int:
    """The most columns that are packed at a time."""
    return CHUNK * t.lanes


def _sums(t: Tiles) -> str:
    """Blocks of columns, in them blocks of a's rows, in them rows of a side by side: these meet all of b while they are
    in the first cache.
    """
    T, size, width = t.type, t.dtype.itemsize, width_of(t)
    w = Writer("i32", name_of(t), (
        "i64 %m", "i64 %k", "ptr %a", "i64 %arow", "ptr %b", "ptr %bo", "ptr %c", "i64 %crow", "ptr %pieces",
        "i64 %count", "ptr %scratch",
    ))  # fmt: skip
    offsets = w.at("%scratch", _columns(t) * ROWS, T)
    tile = w.at(offsets, _columns(t))
    with w.loop("%count", 0, CHUNK) as first:
        count = w.least(w.value(f"sub i64 %count, {first}"), CHUNK)
        pieces, more = w.at("%pieces", w.times(first, PIECE)), w.value(f"icmp ne i64 {first}, 0")
        with w.loop("%m", 0, ROWS) as i0:
            rows = w.least(w.value(f"sub i64 %m, {i0}"), ROWS)
            with w.loop(rows, 0, width) as i:
                row = w.add(i0, i)
                left = w.least(w.value(f"sub i64 {rows}, {i}"), width)
                packed = w.at("%scratch", w.times(i, _columns(t)), T)
                a = w.at("%a", w.times(row, "%arow"), "i8")
                columns = w.call("i64", f"@{_name(t, 'pack')}", f"ptr {packed}", f"ptr {offsets}", f"ptr {a}",
                                 "i64 %arow", f"i64 {left}", f"ptr {pieces}", f"i64 {count}")  # fmt: skip
                with w.when(w.value(f"icmp sgt i64 {columns}, 0")), w.loop("%k", 0, HEIGHT) as p:
                    height = w.least(w.value(f"sub i64 %k, {p}"), HEIGHT)
                    w.call("void", f"@{_name(t, 'tile')}", f"i64 {columns}", f"ptr {packed}", "ptr %b",
                           f"ptr {w.at('%bo', p)}", f"i64 {height}", f"ptr {offsets}", f"ptr {tile}")  # fmt: skip
                    c = w.at(w.at("%c", w.times(row, "%crow"), "i8"), w.times(p, size), "i8")
                    w.call("void", f"@{_name(t, 'write')}", f"ptr {tile}", f"ptr {c}", "i64 %crow", f"i64 {left}",
                           f"i64 {height}", f"i1 {more}")  # fmt: skip
    w.line("ret i32 0")
    return w.text


def _pack(t: Tiles) -> str:
    """i64 pack(to, offsets, a, arow, rows, pieces, count): how many columns the pieces have. to[column, r] = a[r]
    there, zero where a has fewer rows; offsets: where each column lies in b.
    """
    T, size, width = t.type, t.dtype.itemsize, width_of(t)
    w = Writer("i64", _name(t, "pack"), (
        "ptr %to", "ptr %offsets", "ptr %a", "i64 %arow", "i64 %rows", "ptr %pieces", "i64 %count",
    ))  # fmt: skip
    done, is_whole = w.variable("i64", 0), w.value(f"icmp eq i64 %rows, {width}")
    with w.loop("%count") as number:
        piece = w.at("%pieces", w.times(number, PIECE))
        start, to, columns = (w.load(piece, i) for i in range(3))
        before = w.value(f"load i64, ptr {done}")
        with w.loop(columns) as i:
            w.store(w.add(start, w.times(i, size)), "%offsets", w.add(before, i))
        source, target = w.at("%a", to, "i8"), w.at("%to", w.times(before, width), T)
        is_full = w.value(f"and i1 {is_whole}, {w.value(f'icmp eq i64 {columns}, {t.lanes}')}")
        with w.when(is_full), w.loop(width, 0, 4) as r:
            rows = [w.at(source, w.times(w.add(r, i), "%arow"), "i8") for i in range(4)]
            for first in range(0, t.lanes, 4):
                places = [w.at(target, w.add(r, (first + i) * width), T) for i in range(4)]
                transposed(w, T, size, [w.at(at, first, T) for at in rows], places)
        with w.when(w.value(f"xor i1 {is_full}, true")), w.loop(width) as r:
            is_there = w.value(f"icmp slt i64 {r}, %rows")
            with w.when(is_there), w.loop(columns) as i:
                x = w.load(w.at(source, w.times(r, "%arow"), "i8"), i, T, size)
                w.store(x, target, w.add(w.times(i, width), r), T, size)
            with w.when(w.value(f"xor i1 {is_there}, true")), w.loop(columns) as i:
                w.store("0.0", target, w.add(w.times(i, width), r), T, size)
        w.line(f"store i64 {w.add(before, columns)}, ptr {done}")
    w.line(f"ret i64 {w.value(f'load i64, ptr {done}')}")
    return w.text


def _tile(t: Tiles) -> str:
    """void tile(columns, a, b, boffsets, left, offsets, to): to[p, r] = the sums for the first `left` rows of b and the
    packed ones of a.
    """
    T, size, own = t.type, t.dtype.itemsize, [(p, v) for p in range(HEIGHT) for v in range(2)]
    lines = [
        f"define internal void @{_name(t, 'tile')}(i64 %k, ptr %a, ptr %b, ptr %bo, i64 %left, ptr %offsets, ptr %to) "
        "#1 {", "entry:", "  %last = sub i64 %left, 1",
    ]  # fmt: skip
    for p in range(HEIGHT):  # what is not there is computed as the last that is, and not written
        lines += [f"  %is{p} = icmp ult i64 {p}, %left", f"  %which{p} = select i1 %is{p}, i64 {p}, i64 %last",
                  f"  %of{p}.at = getelementptr i64, ptr %bo, i64 %which{p}", f"  %of{p} = load i64, ptr %of{p}.at",
                  f"  %b{p} = getelementptr i8, ptr %b, i64 %of{p}"]  # fmt: skip
    lines += ["  br label %loop", "loop:", "  %j = phi i64 [0, %entry], [%j.next, %loop]",
              "  %ap = phi ptr [%a, %entry], [%ap.next, %loop]"]  # fmt: skip
    lines += [f"  %t{p}.{v} = phi {t.vector} [zeroinitializer, %entry], [%n{p}.{v}, %loop]" for p, v in own]
    lines += ["  %at = getelementptr i64, ptr %offsets, i64 %j", "  %offset = load i64, ptr %at"]
    for v in range(2):
        lines += [f"  %a{v}.at = getelementptr {T}, ptr %ap, i64 {v * t.lanes}",
                  f"  %a{v} = load {t.vector}, ptr %a{v}.at, align {size}"]  # fmt: skip
    for p in range(HEIGHT):
        lines += [f"  %x{p}.at = getelementptr i8, ptr %b{p}, i64 %offset",
                  f"  %x{p}.one = load {T}, ptr %x{p}.at, align {size}",
                  *in_all_lanes(t, f"x{p}", f"%x{p}.one")]  # fmt: skip
        lines += [
            f"  %n{p}.{v} = call {t.vector} @llvm.fmuladd.{t.suffix}({t.vector} %x{p}, {t.vector} %a{v}, "
            f"{t.vector} %t{p}.{v})" for v in range(2)
        ]  # fmt: skip
    lines += [f"  %ap.next = getelementptr {T}, ptr %ap, i64 {width_of(t)}", "  %j.next = add nuw i64 %j, 1",
              "  %again = icmp ult i64 %j.next, %k", "  br i1 %again, label %loop, label %done", "done:"]  # fmt: skip
    for p, v in own:
        lines += [f"  %o{p}.{v} = getelementptr {T}, ptr %to, i64 {p * width_of(t) + v * t.lanes}",
                  f"  store {t.vector} %n{p}.{v}, ptr %o{p}.{v}, align {size}"]  # fmt: skip
    return "\n".join([*lines, "  ret void", "}"])


def _write(t: Tiles) -> str:
    """void write(tile, c, crow, rows, height, more): c[r, p] (+)= tile[p, r]."""
    T, size, width = t.type, t.dtype.itemsize, width_of(t)
    w = Writer("void", _name(t, "write"), (
        "ptr %tile", "ptr %c", "i64 %crow", "i64 %rows", "i64 %height", "i1 %more",
    ))  # fmt: skip
    is_full = w.value(f"icmp eq i64 %height, {HEIGHT}")
    fours = w.value(f"select i1 {is_full}, i64 {w.value('and i64 %rows, -4')}, i64 0")
    new = w.space(f"[{4 * HEIGHT} x {T}]")
    with w.loop(fours, 0, 4) as r:
        for p, count in ((0, 4), (4, 2)):
            sources = [w.at("%tile", w.add(r, (p + i) * width), T) for i in range(count)]
            transposed(w, T, size, sources, [w.at(new, i * HEIGHT + p, T) for i in range(4)])
        for i in range(4):
            place = w.at("%c", w.times(w.add(r, i), "%crow"), "i8")
            for p, count in ((0, 4), (4, 2)):
                vector = f"<{count} x {T}>"
                found = w.load(w.at(new, i * HEIGHT + p, T), 0, vector, size)
                _put(w, found, w.at(place, p, T), vector, size)
    with w.loop("%rows", fours) as row, w.loop("%height") as column:
        found = w.load("%tile", w.add(w.times(column, width), row), T, size)
        _put(w, found, w.at(w.at("%c", w.times(row, "%crow"), "i8"), column, T), T, size)
    w.line("ret void")
    return w.text


def _put(w: Writer, value: str, at: str, type: str, size: int) -> None:
    """Write a value, or add it to what is there."""
    sum_of = w.variable(type, value)
    with w.when("%more"):
        w.line(f"store {type} {w.value(f'fadd {type} {w.load(at, 0, type, size)}, {value}')}, ptr {sum_of}")
    w.store(w.value(f"load {type}, ptr {sum_of}"), at, 0, type, size)


__all__ = ["HEIGHT", "name_of", "scratch_bytes", "sums_ir", "width_of"]
