"""Panels: blocks of matrices copied into the order in which tiles read them.

    void pack_<type>_<rows>(to, from, k, row, inner)
    void pack_<type>(to, from, rows, k, row, inner)
    void collect_<type>(to, from, left, k, koffsets, joffsets)
    void put_<type>(to, row, from, step, rows, left)

The first two: to[p, :] = from[:, p] for k values of p, where `row` and `inner` are from's steps in bytes. The second is
for a tile of b that has fewer rows than the others; behind them it writes zeros. The third is for columns that tables
of offsets say. The last one writes the first columns of a tile that has more, whose rows lie `step` bytes apart: whole
vectors, and of what is left halves of one, their halves, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence

from .tiles import Shape, column_masks
from .writer import Writer


def panels_ir(shape: Shape) -> dict[str, str]:
    """The functions by name."""
    T = shape.type
    fixed = {f"pack_{T}_{rows}": _pack_rows(shape, rows) for rows in sorted({shape.width, *(r for r, _ in shape.rows)})}
    return {**fixed, f"pack_{T}": _pack_some(shape), f"collect_{T}": _collect(shape),
            f"put_{T}": _put(shape)}  # fmt: skip


# -- by steps ----------------------------------------------------------------------------------------------------------


def _pack_rows(shape: Shape, rows: int) -> str:
    T, size = shape.type, shape.dtype.itemsize
    w = Writer("void", f"pack_{T}_{rows}", ("ptr %to", "ptr %from", "i64 %k", "i64 %row", "i64 %inner"))
    with w.when(w.value(f"icmp eq i64 %row, {size}")):  # rows lie side by side
        with w.loop("%k") as p:
            source, target = w.at("%from", w.times(p, "%inner"), "i8"), w.at("%to", w.times(p, rows), T)
            for r, count in _pieces(rows, shape.lanes):
                _copy(w, w.at(source, r, T), w.at(target, r, T), T, size, count)
        w.leave("void")
    whole = w.variable("i64", 0)
    with w.when(w.value(f"icmp eq i64 %inner, {size}")):
        fours = w.value("and i64 %k, -4")
        w.line(f"store i64 {fours}, ptr {whole}")
        for r, count in _pieces(rows, 4):
            starts = [w.at("%from", w.times("%row", r + i), "i8") for i in range(count)]
            target = w.at("%to", r, T)
            with w.loop(fours, 0, 4) as p:
                _transpose(w, T, size, [w.at(s, p, T) for s in starts], w.at(target, w.times(p, rows), T), rows)
    first = w.value(f"load i64, ptr {whole}")
    with w.loop(rows) as number:
        _row(w, T, size, number, first, rows)
    w.line("ret void")
    return w.text


def _pieces(rows: int, most: int) -> list[tuple[int, int]]:
    """Rows in pieces, each a power of two: where each begins, and its rows."""
    found, start = [], 0
    while start < rows:
        count = most
        while count > rows - start:
            count //= 2
        found.append((start, count))
        start += count
    return found


def _copy(w: Writer, source: str, target: str, T: str, size: int, count: int) -> None:
    full = f"<{count} x {T}>"
    x = w.value(f"load {full}, ptr {source}, align {size}")
    w.line(f"store {full} {x}, ptr {target}, align {size}")


def _transpose(w: Writer, T: str, size: int, sources: Sequence[str], target: str, width: int) -> None:
    transposed(w, T, size, sources, [w.at(target, i * width, T) for i in range(4)])


def transposed(w: Writer, T: str, size: int, sources: Sequence[str], targets: Sequence[str]) -> None:
    """Write four elements of each of four rows, two or one, column by column: exchanged in registers."""
    count = len(sources)
    four, part = f"<4 x {T}>", f"<{count} x {T}>"
    rows = [w.value(f"load {four}, ptr {at}, align {size}") for at in sources]

    def mixed(x: str, y: str, *lanes: int) -> str:
        chosen = ", ".join(f"i32 {i}" for i in lanes)
        return w.value(f"shufflevector {four} {x}, {four} {y}, <{len(lanes)} x i32> <{chosen}>")

    if count == 4:
        pairs = [[mixed(rows[i], rows[i + 1], *lanes) for i in (0, 2)] for lanes in ((0, 4, 1, 5), (2, 6, 3, 7))]
        columns = [mixed(x, y, *lanes) for x, y in pairs for lanes in ((0, 1, 4, 5), (2, 3, 6, 7))]
    else:
        columns = [mixed(rows[0], rows[-1], *((i, 4 + i)[:count])) for i in range(4)]
    for column, target in zip(columns, targets, strict=True):
        w.line(f"store {part} {column}, ptr {target}, align {size}")


def _pack_some(shape: Shape) -> str:
    T, size, width = shape.type, shape.dtype.itemsize, shape.width
    w = Writer("void", f"pack_{T}", ("ptr %to", "ptr %from", "i64 %rows", "i64 %k", "i64 %row", "i64 %inner"))
    if shape.reads_whole:
        with w.when(w.value(f"icmp eq i64 %row, {size}")):
            _padded(w, shape)
            w.leave("void")
    done, fours = w.variable("i64", 0), w.value("and i64 %rows, -4")
    with w.when(w.value(f"icmp eq i64 %row, {size}")):  # rows lie side by side
        with w.loop("%k") as p:
            source, target = w.at("%from", w.times(p, "%inner"), "i8"), w.at("%to", w.times(p, width), T)
            with w.loop(fours, 0, 4) as r:
                _copy(w, w.at(source, r, T), w.at(target, r, T), T, size, 4)
        w.line(f"store i64 {fours}, ptr {done}")
    left = w.value(f"load i64, ptr {done}")
    is_across = w.value(f"icmp eq i64 %inner, {size}")
    with w.when(w.value(f"and i1 {is_across}, {w.value(f'icmp eq i64 {left}, 0')}")):
        whole = w.value("and i64 %k, -4")
        with w.loop(fours, 0, 4) as r:
            starts = [w.at("%from", w.times(w.add(r, i), "%row"), "i8") for i in range(4)]
            target = w.at("%to", r, T)
            with w.loop(whole, 0, 4) as p:
                _transpose(w, T, size, [w.at(s, p, T) for s in starts], w.at(target, w.times(p, width), T), width)
            with w.loop(4) as i:
                _row(w, T, size, w.add(r, i), whole, width)
        w.line(f"store i64 {fours}, ptr {done}")
    with w.loop("%rows", w.value(f"load i64, ptr {done}")) as r:
        _row(w, T, size, r, 0, width)
    with w.loop(width, "%rows") as r, w.loop("%k") as p:
        w.store("0.0", "%to", w.add(w.times(p, width), r), T, size)
    w.line("ret void")
    return w.text


def _padded(w: Writer, shape: Shape) -> None:
    """Rows that lie side by side and zeros behind them, a vector at a time."""
    T, full, size, lanes = shape.type, shape.full, shape.dtype.itemsize, shape.lanes
    masks = column_masks(lanes, shape.width // lanes, "%rows")
    for line in masks:
        w.line(line)
    with w.loop("%k") as p:
        source, target = w.at("%from", w.times(p, "%inner"), "i8"), w.at("%to", w.times(p, shape.width), T)
        for v in range(shape.width // lanes):
            given = f"ptr {w.at(source, v * lanes, T)}, i32 {size}, <{lanes} x i1> %m{v}, {full} zeroinitializer"
            x = w.value(f"call {full} @llvm.masked.load.{shape.suffix}.p0({given})")
            w.line(f"store {full} {x}, ptr {w.at(target, v * lanes, T)}, align {size}")


def _row(w: Writer, T: str, size: int, r: object, start: object, width: int) -> None:
    """One row from so many values on."""
    source, target = w.at("%from", w.times(r, "%row"), "i8"), w.at("%to", r, T)
    with w.loop("%k", start) as p:
        w.store(w.load(w.at(source, w.times(p, "%inner"), "i8"), 0, T, size), target, w.times(p, width), T, size)


def _put(shape: Shape) -> str:
    T, size = shape.type, shape.dtype.itemsize
    parameters = ("ptr %to", "i64 %row", "ptr %from", "i64 %step", "i64 %rows", "i64 %left")
    w = Writer("internal void", f"put_{T}", parameters)
    whole = w.value(f"and i64 %left, {-shape.lanes}")
    with w.loop(whole, 0, shape.lanes) as j, w.loop("%rows") as r:
        _copy_at(w, r, j, T, size, shape.lanes)
    done, count = w.variable("i64", whole), shape.lanes // 2
    while count:
        with w.when(w.value(f"icmp ne i64 {w.value(f'and i64 %left, {count}')}, 0")):
            j = w.value(f"load i64, ptr {done}")
            with w.loop("%rows") as r:
                _copy_at(w, r, j, T, size, count)
            w.line(f"store i64 {w.add(j, count)}, ptr {done}")
        count //= 2
    w.line("ret void")
    return w.text


def _copy_at(w: Writer, row: str, column: str, T: str, size: int, count: int) -> None:
    source, target = (w.at(w.at(f"%{name}", w.times(row, f"%{step}"), "i8"), column, T)
                      for name, step in (("from", "step"), ("to", "row")))  # fmt: skip
    _copy(w, source, target, T, size, count)


# -- by tables ---------------------------------------------------------------------------------------------------------


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


__all__ = ["panels_ir", "transposed"]
