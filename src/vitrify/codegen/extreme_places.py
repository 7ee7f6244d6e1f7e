"""Where rows have their largest or smallest elements: a step `i32 step(ptr *P, intp *c)`, as those of `steps`."""

from __future__ import annotations

from .emit import Dtype, memory_type
from .steps import PARAMETERS, array, word
from .writer import Writer

_MANY = 32
"""Elements that are taken side by side."""


def extreme_place(name: str, dtype: Dtype) -> str:
    """Where each row has its first largest or smallest element; the first NaN where there is one.

    c: 2 the places, of int64, 3 the rows, 4 how many, 5 their size.
    """
    type, size = memory_type(dtype), dtype.itemsize
    w = Writer("i32", f"{name}_place_{type}", PARAMETERS)
    out, x, count = array(w, 2), array(w, 3), word(w, 5)
    whole = w.value(f"and i64 {count}, {-_MANY}")
    full = f"<{_MANY} x {type}>"
    with w.loop(word(w, 4)) as r:
        row = w.at(x, w.times(r, count), type)
        best, is_nan = w.variable(type, w.load(row, 0, type, size)), w.variable("i1", "false")
        with w.when(w.value(f"icmp sgt i64 {whole}, 0")):
            bests, nans = w.variable(full, w.load(row, 0, full, size)), w.variable(f"<{_MANY} x i1>", "zeroinitializer")
            with w.loop(whole, 0, _MANY) as i:
                _better(w, name, full, w.load(w.at(row, i, type), 0, full, size), (bests, nans))
            found, width = w.value(f"load {full}, ptr {bests}"), _MANY
            while width > 1:  # halves, until one is left
                width //= 2
                masks = (", ".join(f"i32 {first + i}" for i in range(width)) for first in (0, width))
                wide, half = f"<{2 * width} x {type}>", f"<{width} x {type}>"
                low, high = (
                    w.value(f"shufflevector {wide} {found}, {wide} poison, <{width} x i32> <{mask}>") for mask in masks
                )
                better = w.value(f"{_compare(name, type)} {half} {high}, {low}")
                found = w.value(f"select <{width} x i1> {better}, {half} {high}, {half} {low}")
            w.line(f"store {type} {w.value(f'extractelement <1 x {type}> {found}, i64 0')}, ptr {best}")
            bits = w.value(f"bitcast <{_MANY} x i1> {w.value(f'load <{_MANY} x i1>, ptr {nans}')} to i{_MANY}")
            w.line(f"store i1 {w.value(f'icmp ne i{_MANY} {bits}, 0')}, ptr {is_nan}")
        with w.loop(count, whole) as i:
            _better(w, name, type, w.load(row, i, type, size), (best, is_nan))
        wanted = w.value(f"load {type}, ptr {best}"), w.value(f"load i1, ptr {is_nan}")
        w.store(_first_place(w, row, (count, whole), (type, size), wanted), out, r)
    w.line("ret i32 0")
    return w.text


def _compare(name: str, type: str) -> str:
    order = "gt" if name == "max" else "lt"
    return f"icmp s{order}" if type.startswith("i") else f"fcmp o{order}"


def _better(w: Writer, name: str, type: str, x: str, kept: tuple[str, str]) -> None:
    """Keep an element, or a vector of them, where it is better than those so far, and whether there was NaN."""
    bits = f"<{_MANY} x i1>" if type.startswith("<") else "i1"
    old = w.value(f"load {type}, ptr {kept[0]}")
    better = w.value(f"{_compare(name, type.rpartition(' ')[2])} {type} {x}, {old}")
    w.line(f"store {type} {w.value(f'select {bits} {better}, {type} {x}, {type} {old}')}, ptr {kept[0]}")
    if "i64" not in type and "i32" not in type:
        nan, before = w.value(f"fcmp uno {type} {x}, {x}"), w.value(f"load {bits}, ptr {kept[1]}")
        w.line(f"store {bits} {w.value(f'or {bits} {nan}, {before}')}, ptr {kept[1]}")


def _first_place(w: Writer, row: str, sizes: tuple[str, str], element: tuple[str, int], wanted: tuple[str, str]) -> str:
    """Where a row has its first element that is this; its first NaN if that is wanted."""
    (count, whole), (type, size), (best, is_nan) = sizes, element, wanted
    full, bits = f"<{_MANY} x {type}>", f"<{_MANY} x i1>"
    one = w.value(f"insertelement {full} poison, {type} {best}, i64 0")
    all_of_it = w.value(f"shufflevector {full} {one}, {full} poison, <{_MANY} x i32> zeroinitializer")
    at, done = w.variable("i64", 0), w.fresh_label()

    def hits(kind: str, x: str, best: str) -> str:
        if type.startswith("i"):
            return w.value(f"icmp eq {kind} {x}, {best}")
        own = bits if kind == full else "i1"
        pair = w.value(f"fcmp uno {kind} {x}, {x}"), w.value(f"fcmp oeq {kind} {x}, {best}")
        return w.value(f"select i1 {is_nan}, {own} {pair[0]}, {own} {pair[1]}")

    with w.loop(whole, 0, _MANY) as i:
        hit = hits(full, w.load(w.at(row, i, type), 0, full, size), all_of_it)
        found = w.value(f"bitcast {bits} {hit} to i{_MANY}")
        w.line(f"store i64 {i}, ptr {at}")
        with w.when(w.value(f"icmp ne i{_MANY} {found}, 0")):
            lane = w.value(f"call i{_MANY} @llvm.cttz.i{_MANY}(i{_MANY} {found}, i1 true)")
            w.line(f"store i64 {w.add(i, w.value(f'zext i{_MANY} {lane} to i64'))}, ptr {at}")
            w.go(done)
    with w.loop(count, whole) as i:
        w.line(f"store i64 {i}, ptr {at}")
        with w.when(hits(type, w.load(row, i, type, size), best)):
            w.go(done)
    w.label(done)
    return w.value(f"load i64, ptr {at}")
