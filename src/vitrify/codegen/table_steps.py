"""Steps over rows of tables that integers name: `i32 step(ptr *P, intp *c)`, as those of `steps`.

Tables and what is read or added lie side by side, in order; there may be several tables one behind the other.
"""

from __future__ import annotations

from .steps import PARAMETERS, REFUSED, array, word
from .writer import Writer

# Elements that are added side by side.
_LANES = 8


def _row(w: Writer, ids: str, at: str, rows: str) -> str:
    """The row that an id names; one out of range ends the run. c: 7 whether negative ids count from the end."""
    number = w.load(ids, at)
    is_negative = w.value(f"icmp slt i64 {number}, 0")
    wraps = w.value(f"icmp ne i64 {word(w, 7)}, 0")
    turned = w.value(f"and i1 {is_negative}, {wraps}")
    number = w.value(f"select i1 {turned}, i64 {w.add(number, rows)}, i64 {number}")
    with w.when(w.value(f"icmp uge i64 {number}, {rows}")):
        w.leave(f"i32 {REFUSED}")
    return number


def taken() -> str:
    """out[t, i] = table[t, ids[i]], zeros where the id is a certain one.

    c: 2 out, 3 table, 4 ids, 5 how many, 6 rows of a table, 7 as of `_row`, 8 the id for zeros, 9 bytes of a row,
    10 tables.
    """
    w = Writer("i32", "taken", PARAMETERS)
    out, table, ids = (array(w, i) for i in (2, 3, 4))
    count, rows, size = word(w, 5), word(w, 6), word(w, 9)
    with w.loop(word(w, 10)) as number, w.loop(count) as i:
        row = _row(w, ids, i, rows)
        place = w.times(w.add(w.times(number, count), i), size)
        target = w.at(out, place, "i8")
        source = w.at(table, w.times(w.add(w.times(number, rows), row), size), "i8")
        copied = w.fresh_label()
        for width in (4, 8):  # elements are copied one by one in less time than the C library is called
            with w.when(w.value(f"icmp eq i64 {size}, {width}")):
                w.store(w.load(source, 0, f"i{8 * width}", 1), target, 0, f"i{8 * width}", 1)
                w.go(copied)
        w.call("void", "@llvm.memcpy.p0.p0.i64", f"ptr {target}", f"ptr {source}", f"i64 {size}", "i1 0")
        w.label(copied)
        with w.when(w.value(f"icmp eq i64 {row}, {word(w, 8)}")):
            w.call("void", "@llvm.memset.p0.i64", f"ptr {target}", "i8 0", f"i64 {size}", "i1 0")
    w.line("ret i32 0")
    return w.text


def added(type: str, size: int) -> str:
    """table[t, ids[i]] += x[t, i], in the order of the ids; nothing where the id is a certain one.

    c: 2 table, 3 x, 4 ids, 5 how many, 6 rows of a table, 7 as of `_row`, 8 the id to leave out, 9 elements of a row,
    10 tables.
    """
    w = Writer("i32", f"added_{type}", PARAMETERS)
    table, x, ids = (array(w, i) for i in (2, 3, 4))
    count, rows, width = word(w, 5), word(w, 6), word(w, 9)
    whole = w.value(f"and i64 {width}, {-_LANES}")
    full = f"<{_LANES} x {type}>"
    with w.loop(word(w, 10)) as number, w.loop(count) as i:
        row = _row(w, ids, i, rows)
        with w.when(w.value(f"icmp ne i64 {row}, {word(w, 8)}")):
            target = w.at(table, w.times(w.add(w.times(number, rows), row), width), type)
            source = w.at(x, w.times(w.add(w.times(number, count), i), width), type)
            for kind, first, end, step in ((full, 0, whole, _LANES), (type, whole, width, 1)):
                with w.loop(end, first, step) as k:
                    here, other = w.at(target, k, type), w.at(source, k, type)
                    both = [w.value(f"load {kind}, ptr {p}, align {size}") for p in (here, other)]
                    w.line(f"store {kind} {w.value(f'fadd {kind} {both[0]}, {both[1]}')}, ptr {here}, align {size}")
    w.line("ret i32 0")
    return w.text


def table_steps() -> dict[str, str]:
    """All functions, by name."""
    return {"taken": taken(), "added_float": added("float", 4), "added_double": added("double", 8)}
