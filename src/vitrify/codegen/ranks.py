"""The order of a short row: an element's place in it is how many others come before it, which vectors count."""

from __future__ import annotations

from .emit import Dtype, memory_type
from .writer import Writer

SHORT_ROW = 512
"""Elements up to which counting takes less time than merging."""


def order_by_ranks(w: Writer, row: str, dtype: Dtype, out: str, count: str, falls: str) -> None:
    """Write the places of a row's elements in order, equal ones in theirs; NaN counts as the largest.

    falls: whether the largest comes first. The row has at most `SHORT_ROW` elements.
    """
    size = dtype.itemsize
    lanes, key = 64 // size, f"i{8 * size}"
    full, bits = f"<{lanes} x {key}>", f"<{lanes} x i1>"
    keys, own = w.space(f"[{SHORT_ROW + lanes} x {key}]", 64), w.space(full, 64)
    flipped = w.value(f"sext i1 {falls} to {key}")
    with w.loop(count) as i:
        w.store(w.value(f"xor {key} {_key(w, row, dtype, i)}, {flipped}"), keys, i, key, size)
    with w.loop(count, 0, lanes) as first:
        rank = w.variable(full, "zeroinitializer")
        mine = w.value(f"load {full}, ptr {w.at(keys, first, key)}, align {size}")

        def add(before: str, rank: str = rank) -> None:
            old, more = w.value(f"load {full}, ptr {rank}"), w.value(f"sext {bits} {before} to {full}")
            w.line(f"store {full} {w.value(f'sub {full} {old}, {more}')}, ptr {rank}")

        end = w.least(w.add(first, lanes), count)
        with w.loop(first) as j:
            add(w.value(f"icmp sle {full} {_spread(w, full, key, w.load(keys, j, key, size))}, {mine}"))
        with w.loop(end, first) as j:
            other = _spread(w, full, key, w.load(keys, j, key, size))
            at = w.value(f"sub i64 {j}, {first}")
            at = _spread(w, full, key, at if size == 8 else w.value(f"trunc i64 {at} to {key}"))
            numbers = ", ".join(f"{key} {i}" for i in range(lanes))
            is_same = w.value(f"icmp eq {full} {other}, {mine}")
            is_before = w.value(f"icmp slt {full} {at}, <{numbers}>")
            less = w.value(f"icmp slt {full} {other}, {mine}")
            add(w.value(f"or {bits} {less}, {w.value(f'and {bits} {is_same}, {is_before}')}"))
        with w.loop(count, end) as j:
            add(w.value(f"icmp slt {full} {_spread(w, full, key, w.load(keys, j, key, size))}, {mine}"))
        w.line(f"store {full} {w.value(f'load {full}, ptr {rank}')}, ptr {own}, align {size}")
        with w.loop(end, first) as i:
            place = w.load(own, w.value(f"sub i64 {i}, {first}"), key, size)
            w.store(i, out, place if size == 8 else w.value(f"sext {key} {place} to i64"))


def _key(w: Writer, row: str, dtype: Dtype, i: str) -> str:
    """An integer for an element: those of numbers are ordered as they are, that of NaN is the largest."""
    type, size = memory_type(dtype), dtype.itemsize
    x = w.load(row, i, type, size)
    if dtype.kind == "i":
        return x
    key, most = f"i{8 * size}", (1 << (8 * size - 1)) - 1
    positive = w.value(f"fadd {type} {x}, 0.0")  # so that -0.0 is 0.0
    number = w.value(f"bitcast {type} {positive} to {key}")
    sign = w.value(f"ashr {key} {number}, {8 * size - 1}")
    ordered = w.value(f"xor {key} {number}, {w.value(f'and {key} {sign}, {most}')}")
    return w.value(f"select i1 {w.value(f'fcmp uno {type} {x}, {x}')}, {key} {most}, {key} {ordered}")


def _spread(w: Writer, full: str, key: str, value: str) -> str:
    """A number in all lanes."""
    one = w.value(f"insertelement {full} poison, {key} {value}, i64 0")
    mask = full.replace(key, "i32")
    return w.value(f"shufflevector {full} {one}, {full} poison, {mask} zeroinitializer")


__all__ = ["SHORT_ROW", "order_by_ranks"]
