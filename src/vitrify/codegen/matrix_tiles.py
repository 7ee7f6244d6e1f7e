"""Tiles of numbers that one instruction multiplies (AMX): eight registers of up to 16 rows of 64 bytes.

Two classes write the same operations: `AmxTiles` as Intel's instructions, `EmulatedTiles` as what Intel's manual says
that these do (SDM, volume 2, LDTILECFG to TDPBF16PS), on tiles that lie in memory. So whatever is written with them is
tested where no CPU has the instructions. What a CPU answers with a fault ends the process there, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from .writer import Writer

TILES, ROWS, ROW_BYTES = 8, 16, 64
LANES = ROW_BYTES // 4
# The configuration: 64 bytes, of which these say something, the others are zero. Byte 0 is the palette: the first.
CONFIGURATION_BYTES, PALETTE, COLSB_AT, ROWS_AT = 64, 1, 16, 48
INTS, FLOATS, SHORTS = f"<{LANES} x i32>", f"<{LANES} x float>", f"<{LANES} x i16>"
# Numbers of float32 that are smaller are denormal: 2**-126.
_SMALLEST = "0x3810000000000000"


class Tiles(Protocol):
    """What writes the operations into a function. state: memory of the caller's, the configuration in front."""

    state_bytes: int

    def configure(self, w: Writer, state: str) -> None:
        """Take the configuration; all tiles are zeros then."""

    def zero(self, w: Writer, state: str, tile: int) -> None:
        """tile = 0"""

    def load(self, w: Writer, state: str, tile: int, at: str, step: object) -> None:
        """The tile's rows from memory, `step` bytes from one to the next."""

    def store(self, w: Writer, state: str, tile: int, at: str, step: object) -> None:
        """The tile's rows into memory."""

    def dot(self, w: Writer, state: str, sums: int, a: int, b: int) -> None:
        """sums += a b: rows of a are pairs of bfloat16, those of b a pair for each column."""

    def release(self, w: Writer) -> None:
        """Give the tiles up: threads without are switched faster."""

    def rounded(self, w: Writer, low: str, high: str) -> str:
        """Twice 16 numbers of float32 as the bits of bfloat16, to the even neighbour; denormal ones are zeros."""

    def functions(self) -> Sequence[str]:
        """What a module needs besides."""


class AmxTiles:
    """By AMX-TILE and AMX-BF16, and AVX512-BF16, which all CPUs with these have."""

    state_bytes = CONFIGURATION_BYTES

    def configure(self, w: Writer, state: str) -> None:
        w.call("void", "@llvm.x86.ldtilecfg", f"ptr {state}")

    def zero(self, w: Writer, state: str, tile: int) -> None:
        w.call("void", "@llvm.x86.tilezero", f"i8 {tile}")

    def load(self, w: Writer, state: str, tile: int, at: str, step: object) -> None:
        w.call("void", "@llvm.x86.tileloadd64", f"i8 {tile}", f"ptr {at}", f"i64 {step}")

    def store(self, w: Writer, state: str, tile: int, at: str, step: object) -> None:
        w.call("void", "@llvm.x86.tilestored64", f"i8 {tile}", f"ptr {at}", f"i64 {step}")

    def dot(self, w: Writer, state: str, sums: int, a: int, b: int) -> None:
        w.call("void", "@llvm.x86.tdpbf16ps", f"i8 {sums}", f"i8 {a}", f"i8 {b}")

    def release(self, w: Writer) -> None:
        w.call("void", "@llvm.x86.tilerelease")

    def rounded(self, w: Writer, low: str, high: str) -> str:
        halves = [w.value(f"fptrunc {FLOATS} {sums} to <{LANES} x bfloat>") for sums in (low, high)]
        return _side_by_side(w, *(w.value(f"bitcast <{LANES} x bfloat> {half} to {SHORTS}") for half in halves))

    def functions(self) -> Sequence[str]:
        tile = "i8 immarg"
        return (
            "declare void @llvm.x86.ldtilecfg(ptr)",
            f"declare void @llvm.x86.tilezero({tile})",
            f"declare void @llvm.x86.tileloadd64({tile}, ptr, i64)",
            f"declare void @llvm.x86.tilestored64({tile}, ptr, i64)",
            f"declare void @llvm.x86.tdpbf16ps({tile}, {tile}, {tile})",
            "declare void @llvm.x86.tilerelease()",
        )


def _side_by_side(w: Writer, low: str, high: str) -> str:
    lanes = ", ".join(f"i32 {i}" for i in range(2 * LANES))
    return w.value(f"shufflevector {SHORTS} {low}, {SHORTS} {high}, <{2 * LANES} x i32> <{lanes}>")


# Of the emulation's state: the configuration in force, a copy, as that in front may change behind its back; the tiles.
_IN_FORCE, _MEMORY = 64, 128
_TILE_BYTES = ROWS * ROW_BYTES


class EmulatedTiles:
    """On tiles in memory, for any CPU."""

    state_bytes = _MEMORY + TILES * _TILE_BYTES

    def configure(self, w: Writer, state: str) -> None:
        w.call("void", "@emulated_configure", f"ptr {state}")

    def zero(self, w: Writer, state: str, tile: int) -> None:
        w.call("void", "@emulated_zero", f"ptr {state}", f"i64 {tile}")

    def load(self, w: Writer, state: str, tile: int, at: str, step: object) -> None:
        w.call("void", "@emulated_load", f"ptr {state}", f"i64 {tile}", f"ptr {at}", f"i64 {step}")

    def store(self, w: Writer, state: str, tile: int, at: str, step: object) -> None:
        w.call("void", "@emulated_store", f"ptr {state}", f"i64 {tile}", f"ptr {at}", f"i64 {step}")

    def dot(self, w: Writer, state: str, sums: int, a: int, b: int) -> None:
        w.call("void", "@emulated_dot", f"ptr {state}", f"i64 {sums}", f"i64 {a}", f"i64 {b}")

    def release(self, w: Writer) -> None:
        """Nothing is held."""

    def rounded(self, w: Writer, low: str, high: str) -> str:
        return _side_by_side(w, *(_bits_of_bfloat16(w, sums) for sums in (low, high)))

    def functions(self) -> Sequence[str]:
        return (
            _emulated_configure(), _emulated_zero(), _emulated_load(), _emulated_store(), _emulated_dot(),
            "declare void @llvm.trap()",
            f"declare {INTS} @llvm.masked.load.v16i32.p0(ptr, i32, <{LANES} x i1>, {INTS})",
            f"declare void @llvm.masked.store.v16i32.p0({INTS}, ptr, i32, <{LANES} x i1>)",
            f"declare {FLOATS} @llvm.fma.v16f32({FLOATS}, {FLOATS}, {FLOATS})",
            f"declare {FLOATS} @llvm.fabs.v16f32({FLOATS})",
            f"declare {FLOATS} @llvm.copysign.v16f32({FLOATS}, {FLOATS})",
        )  # fmt: skip


def configuration_into(w: Writer, state: str, shapes: Sequence[tuple[object, object]]) -> None:
    """Write a configuration: for each tile its rows and bytes of a row, both zero where it is not used."""
    for at in range(0, CONFIGURATION_BYTES, 8):
        w.store(PALETTE if at == 0 else 0, state, at // 8)
    for tile, (rows, colsb) in enumerate(shapes):
        for value, type, index in ((colsb, "i16", COLSB_AT // 2 + tile), (rows, "i8", ROWS_AT + tile)):
            w.store(w.value(f"trunc i64 {value} to {type}"), state, index, type, 2 if type == "i16" else 1)


# -- what the instructions do, on memory -------------------------------------------------------------------------------


def _fault(w: Writer, condition: str) -> None:
    with w.when(condition):
        w.call("void", "@llvm.trap")


def _byte(w: Writer, at: str, index: object) -> str:
    return w.value(f"zext i8 {w.load(at, index, 'i8', 1)} to i64")


def _shape(w: Writer, state: str, tile: object) -> tuple[str, str]:
    """Rows of a tile and bytes of a row; a tile that is not used is a fault."""
    held = w.at(state, _IN_FORCE, "i8")
    rows = _byte(w, held, w.add(tile, ROWS_AT))
    colsb = w.value(f"zext i16 {w.load(held, w.add(tile, COLSB_AT // 2), 'i16', 2)} to i64")
    _fault(w, w.value(f"icmp eq i64 {rows}, 0"))
    return rows, colsb


def _row(w: Writer, state: str, tile: object, row: object) -> str:
    place = w.add(w.add(w.times(tile, _TILE_BYTES), w.times(row, ROW_BYTES)), _MEMORY)
    return w.at(state, place, "i8")


def _emulated_configure() -> str:
    w = Writer("void", "emulated_configure", ("ptr %state",))
    _fault(w, w.value(f"icmp ne i8 {w.load('%state', 0, 'i8', 1)}, {PALETTE}"))
    last_of_colsb = COLSB_AT + 2 * TILES
    # Byte 1 is the row from which an interrupted load goes on: here always the first.
    for start, end in ((1, COLSB_AT), (last_of_colsb, ROWS_AT), (ROWS_AT + TILES, CONFIGURATION_BYTES)):
        with w.loop(end, start) as i:
            _fault(w, w.value(f"icmp ne i8 {w.load('%state', i, 'i8', 1)}, 0"))
    with w.loop(TILES) as tile:
        rows = _byte(w, "%state", w.add(tile, ROWS_AT))
        colsb = w.value(f"zext i16 {w.load('%state', w.add(tile, COLSB_AT // 2), 'i16', 2)} to i64")
        _fault(w, w.value(f"icmp ugt i64 {rows}, {ROWS}"))
        _fault(w, w.value(f"icmp ugt i64 {colsb}, {ROW_BYTES}"))
        has_rows, has_columns = (w.value(f"icmp ne i64 {x}, 0") for x in (rows, colsb))
        _fault(w, w.value(f"xor i1 {has_rows}, {has_columns}"))
    with w.loop(CONFIGURATION_BYTES // 8) as i:
        w.store(w.load("%state", i), w.at("%state", _IN_FORCE, "i8"), i)
    with w.loop(TILES * ROWS) as row:
        w.store("zeroinitializer", _row(w, "%state", 0, row), 0, INTS, 4)
    w.line("ret void")
    return w.text


def _emulated_zero() -> str:
    w = Writer("void", "emulated_zero", ("ptr %state", "i64 %tile"))
    _shape(w, "%state", "%tile")
    with w.loop(ROWS) as row:
        w.store("zeroinitializer", _row(w, "%state", "%tile", row), 0, INTS, 4)
    w.line("ret void")
    return w.text


def _there(w: Writer, colsb: str) -> str:
    """Which of a row's columns there are; parts of columns are nobody's."""
    _fault(w, w.value(f"icmp ne i64 {w.value(f'and i64 {colsb}, 3')}, 0"))
    return lanes_below(w, w.value(f"lshr i64 {colsb}, 2"))


def lanes_below(w: Writer, count: str, lanes: int = LANES) -> str:
    """A mask of the first lanes, `count` of them, which may be none or more than there are."""
    type = f"<{lanes} x i64>"
    one = w.value(f"insertelement {type} poison, i64 {count}, i64 0")
    every = w.value(f"shufflevector {type} {one}, {type} poison, <{lanes} x i32> zeroinitializer")
    return w.value(f"icmp sgt {type} {every}, <{', '.join(f'i64 {i}' for i in range(lanes))}>")


def _emulated_load() -> str:
    w = Writer("void", "emulated_load", ("ptr %state", "i64 %tile", "ptr %at", "i64 %step"))
    rows, colsb = _shape(w, "%state", "%tile")
    mask = f"<{LANES} x i1> {_there(w, colsb)}"
    with w.loop(ROWS) as row:
        w.store("zeroinitializer", _row(w, "%state", "%tile", row), 0, INTS, 4)
    with w.loop(rows) as row:
        at = w.at("%at", w.times(row, "%step"), "i8")
        found = w.call(INTS, "@llvm.masked.load.v16i32.p0", f"ptr {at}", "i32 1", mask, f"{INTS} zeroinitializer")
        w.store(found, _row(w, "%state", "%tile", row), 0, INTS, 4)
    w.line("ret void")
    return w.text


def _emulated_store() -> str:
    w = Writer("void", "emulated_store", ("ptr %state", "i64 %tile", "ptr %at", "i64 %step"))
    rows, colsb = _shape(w, "%state", "%tile")
    mask = f"<{LANES} x i1> {_there(w, colsb)}"
    with w.loop(rows) as row:
        found = w.load(_row(w, "%state", "%tile", row), 0, INTS, 4)
        at = w.at("%at", w.times(row, "%step"), "i8")
        w.call("void", "@llvm.masked.store.v16i32.p0", f"{INTS} {found}", f"ptr {at}", "i32 1", mask)
    w.line("ret void")
    return w.text


def _emulated_dot() -> str:
    """For each row the sums of the first of all pairs and of the second ones, one product after the other, each rounded
    once; both together are added to what is there. Denormal operands are zeros, and so are such results.
    """
    w = Writer("void", "emulated_dot", ("ptr %state", "i64 %sums", "i64 %a", "i64 %b"))
    (rows, colsb), (a_rows, a_colsb), (b_rows, b_colsb) = (_shape(w, "%state", t) for t in ("%sums", "%a", "%b"))
    pairs = w.value(f"lshr i64 {a_colsb}, 2")
    for x, y in (("%sums", "%a"), ("%sums", "%b"), ("%a", "%b")):
        _fault(w, w.value(f"icmp eq i64 {x}, {y}"))
    for x, y in ((rows, a_rows), (colsb, b_colsb), (pairs, b_rows)):
        _fault(w, w.value(f"icmp ne i64 {x}, {y}"))
    for size in (colsb, a_colsb):
        _there(w, size)
    with w.loop(rows) as row:
        own, given = _row(w, "%state", "%sums", row), _row(w, "%state", "%a", row)
        halves = [w.variable(FLOATS, "zeroinitializer") for _ in range(2)]
        with w.loop(pairs) as pair:
            one = w.value(f"insertelement {INTS} poison, i32 {w.load(given, pair, 'i32', 4)}, i64 0")
            x = w.value(f"shufflevector {INTS} {one}, {INTS} poison, {INTS} zeroinitializer")
            y = w.load(_row(w, "%state", "%b", pair), 0, INTS, 4)
            for half, sums in enumerate(halves):
                before = w.value(f"load {FLOATS}, ptr {sums}")
                w.line(f"store {FLOATS} {_added(w, _half(w, x, half), _half(w, y, half), before)}, ptr {sums}")
        first, second = (w.value(f"load {FLOATS}, ptr {sums}") for sums in halves)
        both = _without_denormals(w, w.value(f"fadd {FLOATS} {first}, {second}"))
        kept = _without_denormals(w, w.load(own, 0, FLOATS, 4))
        w.store(_without_denormals(w, w.value(f"fadd {FLOATS} {kept}, {both}")), own, 0, FLOATS, 4)
    w.line("ret void")
    return w.text


def _half(w: Writer, pairs: str, which: int) -> str:
    """The first or second of each pair as float32."""
    bits = w.value(f"and {INTS} {pairs}, splat (i32 -65536)" if which else f"shl {INTS} {pairs}, splat (i32 16)")
    return _without_denormals(w, w.value(f"bitcast {INTS} {bits} to {FLOATS}"))


def _without_denormals(w: Writer, x: str) -> str:
    """Numbers below 2**-126 as zeros of their sign."""
    return _zero_where(w, w.value(f"fcmp olt {FLOATS} {_magnitude(w, x)}, splat (float {_SMALLEST})"), x)


def _bits_of_bfloat16(w: Writer, sums: str) -> str:
    bits = w.value(f"bitcast {FLOATS} {_without_denormals(w, sums)} to {INTS}")
    odd = w.value(f"and {INTS} {w.value(f'lshr {INTS} {bits}, splat (i32 16)')}, splat (i32 1)")
    up = w.value(f"add {INTS} {bits}, {w.value(f'add {INTS} {odd}, splat (i32 32767)')}")
    quiet = w.value(f"or {INTS} {bits}, splat (i32 4194304)")
    is_nan = w.value(f"fcmp uno {FLOATS} {sums}, {sums}")
    found = w.value(f"select <{LANES} x i1> {is_nan}, {INTS} {quiet}, {INTS} {up}")
    return w.value(f"trunc {INTS} {w.value(f'lshr {INTS} {found}, splat (i32 16)')} to {SHORTS}")


def _zero_where(w: Writer, condition: str, x: str) -> str:
    zero = w.call(FLOATS, "@llvm.copysign.v16f32", f"{FLOATS} zeroinitializer", f"{FLOATS} {x}")
    return w.value(f"select <{LANES} x i1> {condition}, {FLOATS} {zero}, {FLOATS} {x}")


def _magnitude(w: Writer, x: str) -> str:
    return w.call(FLOATS, "@llvm.fabs.v16f32", f"{FLOATS} {x}")


def _added(w: Writer, x: str, y: str, sums: str) -> str:
    """x y + sums. Whether the result is denormal is asked of it rounded to 24 bits, as if exponents had no least: that
    is what it is with all of it 2**64 times as large.
    """
    scale = "splat (float 0x43F0000000000000)"

    def fma(x: str, sums: str) -> str:
        return w.call(FLOATS, "@llvm.fma.v16f32", f"{FLOATS} {x}", f"{FLOATS} {y}", f"{FLOATS} {sums}")

    large = fma(*(w.value(f"fmul {FLOATS} {v}, {scale}") for v in (x, sums)))
    is_denormal = w.value(f"fcmp olt {FLOATS} {_magnitude(w, large)}, splat (float 0x3C10000000000000)")
    return _zero_where(w, is_denormal, fma(x, sums))


__all__ = [
    "COLSB_AT", "CONFIGURATION_BYTES", "FLOATS", "INTS", "LANES", "PALETTE", "ROWS", "ROWS_AT", "ROW_BYTES", "SHORTS",
    "AmxTiles", "EmulatedTiles", "Tiles", "configuration_into", "lanes_below",
]  # fmt: skip
