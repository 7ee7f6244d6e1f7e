"""Steps that draw random numbers, the same ones as `core/philox.py`: `i32 step(ptr *P, intp *c)`."""

from __future__ import annotations

from ..core.philox import MULTIPLIERS, ROUNDS, WEYL, WORDS
from .steps import PARAMETERS, REFUSED, array, word
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
    """out[i] = (words[i] >> shift) * 2**(shift - 32) in float32. c: 2 out, 3 words, 4 how many, 5 shift.

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
        number = w.value(f"uitofp {_NARROW} {w.value(f'lshr {_NARROW} {x}, {by}')} to {full}")
        w.line(f"store {full} {w.value(f'fmul {full} {number}, {scale}')}, ptr {w.at(out, i, 'float')}, align 4")
    w.line("ret i32 0")
    return w.text


def _pair(w: Writer, words: str, i: str) -> list[str]:
    """Words 2i and 2i + 1, in 64 bits each."""
    first = w.times(i, 2)
    return [w.value(f"zext i32 {w.load(words, at, 'i32', 4)} to i64") for at in (first, w.add(first, 1))]


def wide_units() -> str:
    """out[i] = ((words[2i] >> 5) * 2**26 + (words[2i + 1] >> 6)) * 2**-53 in float64. c: 2 out, 3 words, 4 how many."""
    w = Writer("i32", "wide_units", PARAMETERS)
    out, words = array(w, 2), array(w, 3)
    with w.loop(word(w, 4)) as i:
        high, low = _pair(w, words, i)
        high, low = w.value(f"lshr i64 {high}, 5"), w.value(f"lshr i64 {low}, 6")
        both = w.value(f"or i64 {w.value(f'shl i64 {high}, 26')}, {low}")
        number = w.value(f"sitofp i64 {both} to double")
        w.store(w.value(f"fmul double {number}, 0x3CA0000000000000"), out, i, "double")
    w.line("ret i32 0")
    return w.text


def integers() -> str:
    """out[i] = low + (words[i] * span >> 32), of int64. c: 2 out, 3 words, 4 how many, 5 span, 6 low.

    The words' memory and the result's are for whole vectors.
    """
    w = Writer("i32", "integers", PARAMETERS)
    out, words = array(w, 2), array(w, 3)
    span, low = _splat(w, word(w, 5)), _splat(w, word(w, 6))
    with w.loop(word(w, 4), 0, LANES) as i:
        x = w.value(f"load {_NARROW}, ptr {w.at(words, i, 'i32')}, align 4")
        product = w.value(f"mul {_WIDE} {w.value(f'zext {_NARROW} {x} to {_WIDE}')}, {span}")
        high = w.value(f"lshr {_WIDE} {product}, splat (i64 32)")
        w.line(f"store {_WIDE} {w.value(f'add {_WIDE} {high}, {low}')}, ptr {w.at(out, i)}, align 8")
    w.line("ret i32 0")
    return w.text


def wide_integers() -> str:
    """out[i] = low + (words[2i] + 2**32 * words[2i + 1]) % span, of int64.

    c: 2 out, 3 words, 4 how many, 5 span, 6 low.
    """
    w = Writer("i32", "wide_integers", PARAMETERS)
    out, words = array(w, 2), array(w, 3)
    span, least = word(w, 5), word(w, 6)
    with w.loop(word(w, 4)) as i:
        low, high = _pair(w, words, i)
        number = w.value(f"or i64 {low}, {w.value(f'shl i64 {high}, 32')}")
        w.store(w.add(w.value(f"urem i64 {number}, {span}"), least), out, i)
    w.line("ret i32 0")
    return w.text


def below_each() -> str:
    """out[i] = words[i] < p[i] * 2**32; a p outside of [0, 1] ends the run.

    c: 2 out, 3 words, 4 how many, 5 p, of float64.
    """
    w = Writer("i32", "below_each", PARAMETERS)
    out, words, shares = array(w, 2), array(w, 3), array(w, 5)
    with w.loop(word(w, 4)) as i:
        p = w.load(shares, i, "double")
        low, high = w.value(f"fcmp oge double {p}, 0.0"), w.value(f"fcmp ole double {p}, 1.0")
        with w.when(w.value(f"xor i1 {w.value(f'and i1 {low}, {high}')}, true")):
            w.leave(f"i32 {REFUSED}")
        number = w.value(f"uitofp i32 {w.load(words, i, 'i32', 4)} to double")
        bound = w.value(f"fmul double {p}, 4294967296.0")
        is_below = w.value(f"fcmp olt double {number}, {bound}")
        w.store(w.value(f"zext i1 {is_below} to i8"), out, i, "i8", 1)
    w.line("ret i32 0")
    return w.text


def random_steps() -> dict[str, str]:
    """All functions, by name."""
    made = (drawn, below, units, wide_units, integers, wide_integers, below_each)
    return {f.__name__: f() for f in made}
