"""Steps that draw random numbers, the same ones as `core/philox.py`: `i32 step(ptr *P, intp *c)`."""

from __future__ import annotations

from ..core.philox import MULTIPLIERS, ROUNDS, WEYL, WORDS
from .steps import PARAMETERS, array, word
from .writer import Writer

LANES = 8
"""Blocks of words that are made side by side."""
_WIDE, _NARROW = f"<{LANES} x i64>", f"<{LANES} x i32>"


def _splat(w: Writer, x: object, type: str = "i64") -> str:
    """A vector of one number."""
    full = f"<{LANES} x {type}>"
    one = w.value(f"insertelement {full} poison, {type} {x}, i64 0")
    return w.value(f"shufflevector {full} {one}, {full} poison, <{LANES} x i32> zeroinitializer")


def _round(w: Writer, even: list[str], odd: list[str], keys: list[str]) -> tuple[list[str], list[str]]:
    """Words (0, 2) and (1, 3) of each block after one more round."""
    products = [w.value(f"mul {_WIDE} {x}, splat (i64 {m})") for x, m in zip(even, MULTIPLIERS)]
    high = [w.value(f"lshr {_WIDE} {p}, splat (i64 32)") for p in reversed(products)]
    low = [w.value(f"and {_WIDE} {p}, splat (i64 4294967295)") for p in reversed(products)]
    mixed = [w.value(f"xor {_WIDE} {x}, {_splat(w, k)}") for x, k in zip(odd, keys)]
    return [w.value(f"xor {_WIDE} {x}, {h}") for x, h in zip(mixed, high)], low


def drawn() -> str:
    """Random words. c: 2 out, 3 the seed and the offset in words, 4 the first block behind it, 5 how many blocks."""
    w = Writer("i32", "drawn", PARAMETERS)
    out, state = array(w, 2), array(w, 3)
    seed, offset = w.load(state, 0), w.load(state, 1)
    first = w.add(w.value(f"lshr i64 {offset}, {(WORDS - 1).bit_length()}"), word(w, 4))
    halves = [w.value(f"and i64 {seed}, 4294967295"), w.value(f"lshr i64 {seed}, 32")]
    with w.loop(word(w, 5), 0, LANES) as block:
        lanes = ", ".join(f"i64 {i}" for i in range(LANES))
        counter = w.value(f"add {_WIDE} {_splat(w, w.add(first, block))}, <{lanes}>")
        even = [w.value(f"and {_WIDE} {counter}, splat (i64 4294967295)"), "zeroinitializer"]
        odd = [w.value(f"lshr {_WIDE} {counter}, splat (i64 32)"), "zeroinitializer"]
        for number in range(ROUNDS):
            steps = [w.add(half, number * step) for half, step in zip(halves, WEYL)]
            even, odd = _round(w, even, odd, [w.value(f"and i64 {k}, 4294967295") for k in steps])
        _stored(w, [even[0], odd[0], even[1], odd[1]], w.at(out, w.times(block, WORDS), "i32"))
    w.line("ret i32 0")
    return w.text


def _stored(w: Writer, words: list[str], at: str) -> None:
    """Write the words of blocks, those of each block side by side."""
    short = [w.value(f"trunc {_WIDE} {x} to {_NARROW}") for x in words]
    order = ", ".join(f"i32 {i}" for i in range(2 * LANES))
    type, both = f"<{2 * LANES} x i32>", []
    for a, b in (short[:2], short[2:]):
        both.append(w.value(f"shufflevector {_NARROW} {a}, {_NARROW} {b}, <{2 * LANES} x i32> <{order}>"))
    turned = ", ".join(f"i32 {j * LANES + i}" for i in range(LANES) for j in range(WORDS))
    size = WORDS * LANES
    whole = w.value(f"shufflevector {type} {both[0]}, {type} {both[1]}, <{size} x i32> <{turned}>")
    w.line(f"store <{size} x i32> {whole}, ptr {at}, align 4")


def below() -> str:
    """out[i] = words[i] < bound. c: 2 out, 3 words, 4 how many, 5 the bound, up to 2**32.

    The words' memory and the result's are for whole vectors.
    """
    w = Writer("i32", "below", PARAMETERS)
    out, words = array(w, 2), array(w, 3)
    bound = _splat(w, word(w, 5))
    with w.loop(word(w, 4), 0, LANES) as i:
        x = w.value(f"load {_NARROW}, ptr {w.at(words, i, 'i32')}, align 4")
        wide = w.value(f"zext {_NARROW} {x} to {_WIDE}")
        is_below = w.value(f"icmp ult {_WIDE} {wide}, {bound}")
        byte = w.value(f"zext <{LANES} x i1> {is_below} to <{LANES} x i8>")
        w.line(f"store <{LANES} x i8> {byte}, ptr {w.at(out, i, 'i8')}, align 1")
    w.line("ret i32 0")
    return w.text


def units() -> str:
    """out[i] = (words[i] >> shift) * 2**(shift - 32) in float32. c: 2 out, 3 words, 4 how many, 5 shift, at least 8.

    The words' memory and the result's are for whole vectors.
    """
    w = Writer("i32", "units", PARAMETERS)
    out, words = array(w, 2), array(w, 3)
    shift = w.value(f"trunc i64 {word(w, 5)} to i32")
    # The bits of that power of two.
    bits = w.value(f"shl i32 {w.value(f'add i32 {shift}, {127 - 32}')}, 23")
    scale, by = _splat(w, w.value(f"bitcast i32 {bits} to float"), "float"), _splat(w, shift, "i32")
    full = f"<{LANES} x float>"
    with w.loop(word(w, 4), 0, LANES) as i:
        x = w.value(f"load {_NARROW}, ptr {w.at(words, i, 'i32')}, align 4")
        number = w.value(f"sitofp {_NARROW} {w.value(f'lshr {_NARROW} {x}, {by}')} to {full}")
        w.line(f"store {full} {w.value(f'fmul {full} {number}, {scale}')}, ptr {w.at(out, i, 'float')}, align 4")
    w.line("ret i32 0")
    return w.text


def random_steps() -> dict[str, str]:
    """All functions, by name."""
    return {f.__name__: f() for f in (drawn, below, units)}
