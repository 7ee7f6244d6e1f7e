"""Steps over rows whose elements are ordered, run over, or named one by one: `i32 step(ptr *P, intp *c)`.

Rows lie side by side, their elements too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .emit import FLOAT32, FLOAT64, INT64, Dtype, memory_type
from .extreme_places import extreme_place
from .ranks import SHORT_ROW, order_by_ranks
from .steps import PARAMETERS, REFUSED, array, word
from .writer import Writer

KEYS = (FLOAT32, FLOAT64, np.dtype(np.int32), INT64)
"""What can be ordered and summed."""
LANES = 8
"""Elements that are taken side by side."""
ROWS = 4
"""Rows that are run over in turns."""
_LEVELS = 62


def ordered(dtype: Dtype) -> str:
    """The places of each row's elements in order, equal ones in theirs; NaN counts as the largest.

    Short rows by how many elements come before each; others by merging runs of 1, 2, 4, ... c: 2 the places, of int64,
    3 the rows, 4 room for the places of one, 5 how many rows, 6 their size, 7 whether the largest comes first.
    """
    type, size = memory_type(dtype), dtype.itemsize
    w = Writer("i32", f"ordered_{type}", PARAMETERS)
    out, x, room = (array(w, i) for i in (2, 3, 4))
    count, falls = word(w, 6), w.value(f"icmp ne i64 {word(w, 7)}, 0")
    is_short = w.value(f"icmp sle i64 {count}, {SHORT_ROW}")
    with w.loop(word(w, 5)) as r:
        row, first = w.at(x, w.times(r, count), type), w.at(out, w.times(r, count))
        done = w.fresh_label()
        with w.when(is_short):
            order_by_ranks(w, row, dtype, first, count, falls)
            w.go(done)
        with w.loop(count) as i:
            w.store(i, first, i)
        source, target = w.variable("ptr", first), w.variable("ptr", room)
        with w.loop(_LEVELS) as level:
            width = w.value(f"shl i64 1, {level}")
            with w.when(w.value(f"icmp slt i64 {width}, {count}")):
                a, b = (w.value(f"load ptr, ptr {v}") for v in (source, target))
                with w.loop(count, 0, w.times(width, 2)) as low:
                    middle = w.least(w.add(low, width), count)
                    _merge(w, (row, type, size), (a, b), (low, middle, w.least(w.add(middle, width), count)), falls)
                w.line(f"store ptr {b}, ptr {source}")
                w.line(f"store ptr {a}, ptr {target}")
        found = w.value(f"load ptr, ptr {source}")
        with w.when(w.value(f"icmp ne ptr {found}, {first}")):
            length = f"i64 {w.times(count, 8)}"
            w.call("void", "@llvm.memcpy.p0.p0.i64", f"ptr {first}", f"ptr {found}", length, "i1 0")
        w.label(done)
    w.line("ret i32 0")
    return w.text


def _merge(
    w: Writer, keys: tuple[str, str, int], runs: tuple[str, str], edges: tuple[str, str, str], falls: str
) -> None:
    """Bring two runs of places, from the first edge to the second and on to the third, into one in another array."""
    row, type, size = keys
    source, target = runs
    low, middle, high = edges
    left, right = w.variable("i64", low), w.variable("i64", middle)
    with w.loop(high, low) as at:
        i, j = (w.value(f"load i64, ptr {v}") for v in (left, right))
        is_left_over = w.value(f"icmp sge i64 {i}, {middle}")
        has_right = w.value(f"icmp slt i64 {j}, {high}")
        # Where one run is over its first place stands in: what it says is not used.
        a = w.load(source, w.value(f"select i1 {is_left_over}, i64 {low}, i64 {i}"))
        b = w.load(source, w.value(f"select i1 {has_right}, i64 {j}, i64 {low}"))
        x, y = (w.load(row, place, type, size) for place in (a, b))
        first = w.value(f"select i1 {falls}, i1 {_less(w, type, x, y)}, i1 {_less(w, type, y, x)}")
        takes = w.value(f"or i1 {is_left_over}, {w.value(f'and i1 {has_right}, {first}')}")
        w.store(w.value(f"select i1 {takes}, i64 {b}, i64 {a}"), target, at)
        step = w.value(f"zext i1 {takes} to i64")
        w.line(f"store i64 {w.add(j, step)}, ptr {right}")
        w.line(f"store i64 {w.value(f'sub i64 {w.add(i, 1)}, {step}')}, ptr {left}")


def _less(w: Writer, type: str, x: str, y: str) -> str:
    if type.startswith("i"):
        return w.value(f"icmp slt {type} {x}, {y}")
    is_last = w.value(f"and i1 {w.value(f'fcmp uno {type} {y}, {y}')}, {w.value(f'fcmp ord {type} {x}, {x}')}")
    return w.value(f"or i1 {w.value(f'fcmp olt {type} {x}, {y}')}, {is_last}")


def picked_along(size: int) -> str:
    """out[r, i] = x[r, places[r, i]], for elements of so many bytes; a place outside of the row ends the run.

    c: 2 out, 3 x, 4 places, 5 rows, 6 the size of a row of x, 7 how many places for each. Negative ones count from the
    end.
    """
    type = f"i{8 * size}"
    w = Writer("i32", f"picked_along_{size}", PARAMETERS)
    out, x, places = (array(w, i) for i in (2, 3, 4))
    count, wanted = word(w, 6), word(w, 7)
    with w.loop(word(w, 5)) as r:
        row = w.at(x, w.times(r, count), type)
        with w.loop(wanted) as i:
            at = w.add(w.times(r, wanted), i)
            w.store(w.load(row, _inside(w, w.load(places, at), count), type, size), out, at, type, size)
    w.line("ret i32 0")
    return w.text


def _inside(w: Writer, place: str, count: str) -> str:
    """The place counted from the start; one outside ends the run."""
    is_negative = w.value(f"icmp slt i64 {place}, 0")
    found = w.value(f"select i1 {is_negative}, i64 {w.add(place, count)}, i64 {place}")
    with w.when(w.value(f"icmp uge i64 {found}, {count}")):
        w.leave(f"i32 {REFUSED}")
    return found


def put_rows() -> str:
    """table[ids[i]] = x[i], in the order of the ids; one outside ends the run.

    c: 2 table, 3 x, 4 ids, 5 how many, 6 rows of the table, 7 bytes of a row, 8 bytes from one row of x to the next.
    """
    w = Writer("i32", "put_rows", PARAMETERS)
    table, x, ids = (array(w, i) for i in (2, 3, 4))
    rows, size, step = (word(w, i) for i in (6, 7, 8))
    with w.loop(word(w, 5)) as i:
        row = _inside(w, w.load(ids, i), rows)
        target, source = w.at(table, w.times(row, size), "i8"), w.at(x, w.times(i, step), "i8")
        w.call("void", "@llvm.memcpy.p0.p0.i64", f"ptr {target}", f"ptr {source}", f"i64 {size}", "i1 0")
    w.line("ret i32 0")
    return w.text


def running(name: str, dtype: Dtype) -> str:
    """The sums or products of the elements so far, along the middle of three dimensions.

    c: 2 out, 3 x, 4 5 6 their sizes, 7 the place to begin at, 8 the step to the next: 1 or -1.
    """
    type, size = memory_type(dtype), dtype.itemsize
    operation = ("" if type.startswith("i") else "f") + {"sum": "add", "prod": "mul"}[name]
    w = Writer("i32", f"running_{name}_{type}", PARAMETERS)
    out, x = array(w, 2), array(w, 3)
    count, width, begin, step = (word(w, i) for i in (5, 6, 7, 8))
    by, whole = w.times(width, step), w.value(f"and i64 {width}, {-LANES}")
    is_one = w.value(f"icmp eq i64 {width}, 1")
    is_wide = w.value(f"xor i1 {is_one}, true")
    with w.loop(word(w, 4)) as outer, w.loop(w.least(count, 1)):
        first = w.times(w.add(w.times(outer, count), begin), width)
        length = f"i64 {w.times(width, size)}"
        ends = [f"ptr {w.at(p, first, type)}" for p in (out, x)]
        w.call("void", "@llvm.memcpy.p0.p0.i64", *ends, length, "i1 0")
        with w.when(is_one):
            total = w.variable(type, w.load(x, first, type, size))
            with w.loop(count, 1) as k:
                here = w.add(first, w.times(k, by))
                so_far = w.value(f"load {type}, ptr {total}")
                found = w.value(f"{operation} {type} {so_far}, {w.load(x, here, type, size)}")
                w.line(f"store {type} {found}, ptr {total}")
                w.store(found, out, here, type, size)
        with w.when(is_wide), w.loop(count, 1) as k:
            here = w.add(first, w.times(k, by))
            rows = [w.at(out, w.value(f"sub i64 {here}, {by}"), type), w.at(x, here, type), w.at(out, here, type)]
            for kind, start, end, stride in ((f"<{LANES} x {type}>", 0, whole, LANES), (type, whole, width, 1)):
                with w.loop(end, start, stride) as i:
                    before, own, to = (w.at(row, i, type) for row in rows)
                    pair = [w.value(f"load {kind}, ptr {p}, align {size}") for p in (before, own)]
                    found = w.value(f"{operation} {kind} {pair[0]}, {pair[1]}")
                    w.line(f"store {kind} {found}, ptr {to}, align {size}")
    w.line("ret i32 0")
    return w.text


def running_place(name: str, dtype: Dtype) -> str:
    """Where the last largest or smallest of the elements so far stands, along the middle of three dimensions; NaN is
    the extreme from there on.

    c: 2 the places, of int64, 3 x, 4 5 6 its sizes.
    """
    type, size = memory_type(dtype), dtype.itemsize
    w = Writer("i32", f"running_{name}_{type}", PARAMETERS)
    out, x, count, width = array(w, 2), array(w, 3), word(w, 5), word(w, 6)
    whole = w.value(f"and i64 {width}, {-LANES}")
    rows, is_one = word(w, 4), w.value(f"icmp eq i64 {width}, 1")
    with w.when(is_one):
        whole_rows = w.value(f"and i64 {rows}, {-ROWS}")
        for together, start, end in ((ROWS, 0, whole_rows), (1, whole_rows, rows)):
            _along_rows(w, name, (type, size), (x, out), count, (together, start, end))
    with w.when(w.value(f"xor i1 {is_one}, true")), w.loop(rows) as outer, w.loop(w.least(count, 1)):
        first = w.times(w.times(outer, count), width)
        for lanes, start, end in ((LANES, 0, whole), (1, whole, width)):
            kinds = [f"<{lanes} x {t}>" if lanes > 1 else t for t in (type, "i64", "i1")]
            with w.loop(end, start, lanes) as i:
                column = w.add(first, i)
                kept = _first(w, kinds, w.at(x, column, type), size)
                with w.loop(count) as k:
                    _taken(w, name, (kinds, size), kept, (x, out), w.add(column, w.times(k, width)), k)
    w.line("ret i32 0")
    return w.text


def _first(w: Writer, kinds: Sequence[str], at: str, size: int) -> tuple[str, str]:
    """The best element so far and its place: the first ones."""
    return w.variable(kinds[0], w.load(at, 0, kinds[0], size)), w.variable(kinds[1], "zeroinitializer")


def _along_rows(
    w: Writer, name: str, element: tuple[str, int], arrays: tuple[str, str], count: str, rows: tuple[int, object, str]
) -> None:
    """Places along rows whose elements are neighbours; several rows in turns, as each element waits for the one before
    it. rows: how many at a time, the first, and the end.
    """
    type, size = element
    together, start, end = rows
    kinds = [type, "i64", "i1"]
    with w.loop(end, start, together) as row, w.loop(w.least(count, 1)):
        firsts = [w.times(w.add(row, i), count) for i in range(together)]
        kept = [_first(w, kinds, w.at(arrays[0], first, type), size) for first in firsts]
        with w.loop(count) as k:
            for first, best in zip(firsts, kept):
                _taken(w, name, (kinds, size), best, arrays, w.add(first, k), k)


def _taken(
    w: Writer, name: str, kind: tuple[list[str], int], kept: tuple[str, str], arrays: tuple[str, str], at: str, k: str
) -> None:
    """Take an element, or a vector of them, where it is no worse than those so far; write where that was."""
    (full, places, bits), size = kind
    type, order = full.rpartition(" ")[2].rstrip(">"), "ge" if name == "max" else "le"
    value = w.load(w.at(arrays[0], at, type), 0, full, size)
    best, place = w.value(f"load {full}, ptr {kept[0]}"), w.value(f"load {places}, ptr {kept[1]}")
    here = k
    if full != type:
        one = w.value(f"insertelement {places} poison, i64 {k}, i64 0")
        here = w.value(f"shufflevector {places} {one}, {places} poison, <{LANES} x i32> zeroinitializer")
    if type.startswith("i"):
        takes = w.value(f"icmp s{order} {full} {value}, {best}")
    else:
        found = w.value(f"fcmp o{order} {full} {value}, {best}"), w.value(f"fcmp uno {full} {value}, {value}")
        takes = w.value(f"or {bits} {found[0]}, {found[1]}")
    place = w.value(f"select {bits} {takes}, {places} {here}, {places} {place}")
    w.line(f"store {full} {w.value(f'select {bits} {takes}, {full} {value}, {full} {best}')}, ptr {kept[0]}")
    w.line(f"store {places} {place}, ptr {kept[1]}")
    w.line(f"store {places} {place}, ptr {w.at(arrays[1], at)}, align 8")


def divided(dtype: Dtype) -> str:
    """Quotients of integers rounded down, or what they leave; a divisor of 0 ends the run.

    c: 2 out, 3 x, 4 y, 5 how many, 6 the elements from one divisor to the next: 1 or 0, 7 whether the rest is wanted.
    """
    type, size = memory_type(dtype), dtype.itemsize
    w = Writer("i32", f"divided_{type}", PARAMETERS)
    out, x, y = (array(w, i) for i in (2, 3, 4))
    step, wants_rest = word(w, 6), w.value(f"icmp ne i64 {word(w, 7)}, 0")
    with w.loop(word(w, 5)) as i:
        a, b = w.load(x, i, type, size), w.load(y, w.times(i, step), type, size)
        with w.when(w.value(f"icmp eq {type} {b}, 0")):
            w.leave(f"i32 {REFUSED}")
        is_minus = w.value(f"icmp eq {type} {b}, -1")  # the least integer by -1 is none that there is
        by = w.value(f"select i1 {is_minus}, {type} 1, {type} {b}")
        cut, rest = w.value(f"sdiv {type} {a}, {by}"), w.value(f"srem {type} {a}, {by}")
        differs = w.value(f"icmp slt {type} {w.value(f'xor {type} {rest}, {by}')}, 0")
        down = w.value(f"and i1 {differs}, {w.value(f'icmp ne {type} {rest}, 0')}")
        quotient = w.value(f"sub {type} {cut}, {w.value(f'zext i1 {down} to {type}')}")
        negated = w.value(f"sub {type} 0, {a}")
        quotient = w.value(f"select i1 {is_minus}, {type} {negated}, {type} {quotient}")
        left = w.value(f"select i1 {down}, {type} {w.value(f'add {type} {rest}, {by}')}, {type} {rest}")
        w.store(w.value(f"select i1 {wants_rest}, {type} {left}, {type} {quotient}"), out, i, type, size)
    w.line("ret i32 0")
    return w.text


def order_steps() -> dict[str, str]:
    """All functions, by name."""
    texts = [ordered(d) for d in KEYS] + [running(n, d) for n in ("sum", "prod") for d in KEYS]
    texts += [running_place(n, d) for n in ("max", "min") for d in KEYS]
    texts += [divided(d) for d in KEYS if d.kind == "i"]
    texts += [extreme_place(n, d) for n in ("max", "min") for d in KEYS]
    texts += [picked_along(size) for size in (1, 2, 4, 8)]
    texts.append(put_rows())
    return {text.partition("@")[2].partition("(")[0]: text for text in texts}
