"""Vectors of float32 in functions that a `Writer` writes: loads and stores, all of one or some lanes."""

from __future__ import annotations

from .writer import Writer

LANES = 16
FULL, BITS = f"<{LANES} x float>", f"<{LANES} x i1>"
_NUMBERS = ", ".join(f"i32 {i}" for i in range(LANES))
DECLARATIONS = (
    f"declare {FULL} @llvm.masked.load.v{LANES}f32.p0(ptr, i32, {BITS}, {FULL})",
    f"declare void @llvm.masked.store.v{LANES}f32.p0({FULL}, ptr, i32, {BITS})",
    f"declare {FULL} @llvm.fmuladd.v{LANES}f32({FULL}, {FULL}, {FULL})",
    f"declare float @llvm.vector.reduce.fadd.v{LANES}f32(float, {FULL})",
)


def first_lanes(w: Writer, count: str) -> str:
    """So many lanes, the first ones, as bits."""
    wide = f"<{LANES} x i32>"
    one = w.value(f"insertelement {wide} poison, i32 {w.value(f'trunc i64 {count} to i32')}, i64 0")
    same = w.value(f"shufflevector {wide} {one}, {wide} poison, {wide} zeroinitializer")
    return w.value(f"icmp ugt {wide} {same}, <{_NUMBERS}>")


def between(w: Writer, first: str, end: str) -> str:
    """The lanes whose number, counted from `first` on, is at least 0 and less than `end`, as bits."""
    wide = f"<{LANES} x i32>"
    ones = [
        w.value(f"insertelement {wide} poison, i32 {w.value(f'trunc i64 {x} to i32')}, i64 0") for x in (first, end)
    ]
    start, stop = (w.value(f"shufflevector {wide} {x}, {wide} poison, {wide} zeroinitializer") for x in ones)
    return w.value(f"icmp ult {wide} {w.value(f'add {wide} {start}, <{_NUMBERS}>')}, {stop}")


def load(w: Writer, at: str, mask: str = "") -> str:
    """The vector there; zeros beside the lanes of a mask."""
    if not mask:
        return w.value(f"load {FULL}, ptr {at}, align 4")
    given = f"ptr {at}, i32 4, {BITS} {mask}, {FULL} zeroinitializer"
    return w.value(f"call {FULL} @llvm.masked.load.v{LANES}f32.p0({given})")


def store(w: Writer, value: str, at: str, mask: str = "") -> None:
    """Write a vector, or its lanes of a mask."""
    if not mask:
        w.line(f"store {FULL} {value}, ptr {at}, align 4")
        return
    w.line(f"call void @llvm.masked.store.v{LANES}f32.p0({FULL} {value}, ptr {at}, i32 4, {BITS} {mask})")


def spread(w: Writer, value: str) -> str:
    """A float in all lanes."""
    one = w.value(f"insertelement {FULL} poison, float {value}, i64 0")
    return w.value(f"shufflevector {FULL} {one}, {FULL} poison, <{LANES} x i32> zeroinitializer")


def fma(w: Writer, x: str, y: str, z: str) -> str:
    """x * y + z."""
    return w.value(f"call {FULL} @llvm.fmuladd.v{LANES}f32({FULL} {x}, {FULL} {y}, {FULL} {z})")


def total(w: Writer, value: str) -> str:
    """The sum of all lanes, in whatever order."""
    return w.value(f"call reassoc float @llvm.vector.reduce.fadd.v{LANES}f32(float -0.0, {FULL} {value})")
