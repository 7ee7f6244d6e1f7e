"""Philox-4x32-10: random 32-bit words as a pure function of a seed and a position, and numbers made from them.

Every function takes the array module `xp` (NumPy or CuPy) and a `Key`. What it returns depends on the key alone, so
eager and static runs, any schedule and any device give the same words. How words become numbers is stated with each
function to the last bit, for the generators of machine code; only `log`, `cos` and `sin` may differ in the last place
between mathematical libraries.

Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), and its Random123 library.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from .dtype import DType, bfloat16, bool_, float16, float32, float64, int64
from .errors import ArgumentError, DTypeError

# Multipliers and key increments of the paper's table 2.
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
WEYL = (0x9E3779B9, 0xBB67AE85)
ROUNDS = 10
_MASK = 0xFFFFFFFF
WORDS = 4  # words in a block
# Blocks computed at once on the CPU: the working arrays of one chunk stay in the level-2 cache.
_CHUNK = 1 << 14

# From how many elements on a draw is made in blocks, and how many these have: an even number, for pairs.
_MANY, _BLOCK = 1 << 22, 1 << 20

# Words that are computed together for draws of a few, and how many a few are.
_STRETCH, _FEW = 1 << 10, 1 << 8

# An array of `xp`; NumPy and CuPy share no type that could be named here.
Array = Any


@dataclass(frozen=True, slots=True)
class Key:
    """Where a draw starts: the seed (64 bits) and the offset, counted in 32-bit words.

    Word `i` of the stream is word `i % 4` of the block whose 128-bit counter is `i // 4`.
    """

    seed: int
    offset: int = 0


def philox(xp: Any, key: Key, n: int) -> Array:
    """Return words `key.offset` to `key.offset + n` of the stream that `key.seed` names: uint32[n].

    >>> philox(np, Key(0), 4).tolist()
    [1713891541, 3781805453, 3159862348, 2600524760]
    """
    if n <= _FEW and xp is np:
        return _few(key, n)
    return _words(xp, key, n)


def _few(key: Key, n: int) -> Array:
    """Return so many words by way of the stretches of the stream where they are.

    Four words take two thirds of the time of a thousand, and whoever draws four will soon draw the next ones.
    """
    number, skip = divmod(key.offset, _STRETCH)
    found = _stretch(key.seed, number)[skip : skip + n]
    if found.size == n:
        return found.copy()
    return np.concatenate([found, _stretch(key.seed, number + 1)[: n - found.size]])


@lru_cache(maxsize=8)
def _stretch(seed: int, number: int) -> Array:
    return _words(np, Key(seed, number * _STRETCH), _STRETCH)


def _words(xp: Any, key: Key, n: int) -> Array:
    first, skip = divmod(key.offset, WORDS)
    blocks = -(-(skip + n) // WORDS)
    step = _CHUNK if xp is np else max(blocks, 1)
    words = xp.empty((blocks, WORDS), np.uint32)
    for start in range(0, blocks, step):
        stop = min(start + step, blocks)
        counter = xp.arange(first + start, first + stop, dtype=np.uint64)
        _encrypt(xp, counter, key.seed, words[start:stop])
    return words.reshape(-1)[skip : skip + n]


def _encrypt(xp: Any, counter: Array, seed: int, out: Array) -> None:
    """Write the four words of each block to a row of `out`; `counter` holds the low 64 bits of the block counters."""
    zeros = xp.zeros_like(counter)
    even = xp.stack([counter & np.uint64(_MASK), zeros])  # words 0 and 2 of the counter
    odd = xp.stack([counter >> np.uint64(32), zeros])  # words 1 and 3
    even, odd = rounds(xp, even, odd, seed)
    out[:, 0::2] = even.T
    out[:, 1::2] = odd.T


def rounds(xp: Any, even: Array, odd: Array, seed: int) -> tuple[Array, Array]:
    """Return words (0, 2) and words (1, 3) of each block after ten rounds, as uint64[2, blocks]; `even` is overwritten.

    A round multiplies words 0 and 2 by constants; the high halves, exchanged and xored with words 1 and 3 and with
    the round's key, are the next words 0 and 2, and the low halves, exchanged, the next words 1 and 3.
    """
    multipliers = xp.asarray(MULTIPLIERS, np.uint64)[:, None]
    keys = xp.asarray(_round_keys(seed), np.uint64)[:, :, None]
    mask, half = np.uint64(_MASK), np.uint64(32)
    product = xp.empty_like(even)
    for key in keys:
        xp.multiply(even, multipliers, out=product)
        xp.right_shift(product, half, out=even)
        odd = odd ^ key
        odd ^= even[::-1]
        even, odd, product = odd, xp.bitwise_and(product, mask)[::-1], even
    return even, odd


def _round_keys(seed: int) -> list[list[int]]:
    """Return the two key words of each round, starting from the low and the high half of the seed."""
    halves = (seed & _MASK, (seed >> 32) & _MASK)
    return [[(half + i * step) & _MASK for half, step in zip(halves, WEYL, strict=True)] for i in range(ROUNDS)]


# --- numbers from words -------------------------------------------------------------------------------------------

# Leading bits of a word that make a uniform number: as many as the type's significand holds.
SIGNIFICANT_BITS = {float16: 11, bfloat16: 8, float32: 24}


def word_count(shape: tuple[int, ...], dtype: DType) -> int:
    """Return how many words a draw of this shape uses: two an element for 8-byte types, else one."""
    return math.prod(shape) * (2 if dtype.itemsize == 8 else 1)


def uniform(
    xp: Any, key: Key, shape: tuple[int, ...], dtype: DType = float32, low: float = 0.0, high: float = 1.0
) -> Array:
    """Return numbers from [low, high), uniformly distributed; rounding may give `high` itself unless it is 1.

    With b significant bits (float32 24, float16 11, bfloat16 8), number i is `(w[i] >> (32 - b)) * 2**-b`. A float64
    takes two words: `((w[2i] >> 5) * 2**26 + (w[2i+1] >> 6)) * 2**-53`. That number u then becomes
    `u * (high - low) + low`, computed in float64 for float64 and in float32 for the others.
    Raises DTypeError for types that are not floating.

    >>> uniform(np, Key(7), (2,), low=-1.0, high=1.0).dtype
    dtype('float32')
    """
    _floating("uniform", dtype)

    def drawn(key: Key, count: int) -> Array:
        return _uniform(xp, key, count, dtype, low, high)

    return _in_blocks(xp, key, drawn, shape, dtype)


def _in_blocks(xp: Any, key: Key, drawn: Callable[[Key, int], Array], shape: tuple[int, ...], dtype: DType) -> Array:
    """Return what `drawn(key, count)` gives for all elements; of many, one block after the other.

    The words behind large parameters, and what is made of them on the way, take several times their memory.
    """
    count = math.prod(shape)
    if xp is not np or count <= _MANY:
        return drawn(key, count).reshape(shape)
    out = np.empty(count, dtype.np)
    for start in range(0, count, _BLOCK):
        here = Key(key.seed, key.offset + word_count((start,), dtype))
        out[start : start + _BLOCK] = drawn(here, min(_BLOCK, count - start))
    return out.reshape(shape)


def _uniform(xp: Any, key: Key, count: int, dtype: DType, low: float, high: float) -> Array:
    unit = _unit(philox(xp, key, word_count((count,), dtype)), dtype)
    if (low, high) != (0.0, 1.0):
        unit *= unit.dtype.type(high - low)
        unit += unit.dtype.type(low)
    return unit.astype(dtype.np, copy=False)


def _floating(what: str, dtype: DType) -> DType:
    """Return `dtype`; raise DTypeError if it is not floating."""
    if not dtype.is_floating:
        raise DTypeError(f"{what}: the dtype must be floating, but received {dtype.name}")
    return dtype


def _unit(words: Array, dtype: DType) -> Array:
    """Return the uniform numbers in [0, 1) made of `words`, in float64 or float32."""
    if dtype is float64:
        return _unit53(words)
    bits = SIGNIFICANT_BITS[dtype]
    unit = (words >> np.uint32(32 - bits)).astype(np.float32)
    unit *= np.float32(2.0**-bits)
    return unit


def _unit53(words: Array) -> Array:
    """Return a float64 in [0, 1) with 53 random bits for each pair of words."""
    unit = (words[0::2] >> np.uint32(5)).astype(np.float64)
    unit *= 2.0**26
    unit += words[1::2] >> np.uint32(6)
    unit *= 2.0**-53
    return unit


def normal(
    xp: Any, key: Key, shape: tuple[int, ...], dtype: DType = float32, mean: float = 0.0, std: float = 1.0
) -> Array:
    """Return normally distributed numbers (Box-Muller).

    Numbers 2i and 2i+1 are `r * cos(t)` and `r * sin(t)` with `r = sqrt(-2 * log(a))`, `t = 2 * pi * b`. In float32
    (float16 and bfloat16 are rounded from it) `a = w[2i] * 2**-32 + 2**-33` and `b = w[2i+1] * 2**-32`. In float64
    `a = 1 - u[2i]` and `b = u[2i+1]`, where u are the uniform float64 of the same key. `z * std + mean` comes last.
    Raises DTypeError for types that are not floating.

    Source: Box, Muller, "A note on the generation of random normal deviates" (1958).
    """
    _floating("normal", dtype)

    def drawn(key: Key, count: int) -> Array:
        return _normal(xp, key, count, dtype, mean, std)

    return _in_blocks(xp, key, drawn, shape, dtype)


def _normal(xp: Any, key: Key, count: int, dtype: DType, mean: float, std: float) -> Array:
    pairs = -(-count // 2)
    radius, angle = _polar(xp, key, pairs, dtype)
    pair = xp.empty((pairs, 2), radius.dtype)
    xp.multiply(radius, xp.cos(angle), out=pair[:, 0])
    xp.multiply(radius, xp.sin(angle), out=pair[:, 1])
    numbers = pair.reshape(-1)[:count]
    if (mean, std) != (0.0, 1.0):
        numbers *= numbers.dtype.type(std)
        numbers += numbers.dtype.type(mean)
    return numbers.astype(dtype.np, copy=False)


def _polar(xp: Any, key: Key, pairs: int, dtype: DType) -> tuple[Array, Array]:
    """Return radius and angle of each Box-Muller pair."""
    if dtype is float64:
        unit = _unit53(philox(xp, key, 4 * pairs))
        above_zero, turn = 1.0 - unit[0::2], unit[1::2]
    else:
        scaled = philox(xp, key, 2 * pairs).astype(np.float32)
        scaled *= np.float32(2.0**-32)
        above_zero, turn = scaled[0::2] + np.float32(2.0**-33), scaled[1::2]
    full_turn = above_zero.dtype.type(2.0 * math.pi)
    return xp.sqrt(above_zero.dtype.type(-2.0) * xp.log(above_zero)), turn * full_turn


def randint(xp: Any, key: Key, low: int, high: int, shape: tuple[int, ...], dtype: DType = int64) -> Array:
    """Return integers from [low, high), uniform to within (high - low) / 2**32, or / 2**64 for 8-byte types.

    Number i is `low + (w[i] * (high - low) >> 32)`; for 8-byte types `low + (w[2i] + 2**32 * w[2i+1]) % (high - low)`.
    Raises ArgumentError for an empty range and DTypeError for types that are not integer.
    """
    if low >= high:
        raise ArgumentError(f"randint: the range [low, high) is empty: low is {low}, high is {high}")
    if not (dtype.is_integer or dtype is bool_):
        raise DTypeError(f"randint: the dtype must be an integer one, but received {dtype.name}")
    words = philox(xp, key, word_count(shape, dtype))
    span = np.uint64(high - low)
    if dtype.itemsize == 8:
        steps = _wide(words) % span
    else:
        steps = (words.astype(np.uint64) * span) >> np.uint64(32)
    # Unsigned arithmetic wraps around, so adding a negative `low` modulo 2**64 gives its two's complement.
    return (steps + np.uint64(low & 0xFFFFFFFFFFFFFFFF)).astype(dtype.np).reshape(shape)


def _wide(words: Array) -> Array:
    """Return a uint64 for each pair of words, the low half first."""
    return words[0::2].astype(np.uint64) | (words[1::2].astype(np.uint64) << np.uint64(32))


def bernoulli(xp: Any, key: Key, p: float | Array, shape: tuple[int, ...]) -> Array:
    """Return booleans of this shape that are true with probability `p`, a number or an array that broadcasts.

    Element i is `w[i] < p * 2**32`, in exact arithmetic: p = 0 is never true and p = 1 always.
    """
    words = philox(xp, key, math.prod(shape)).reshape(shape)
    if isinstance(p, float | int):
        # Compared as integers (the bound rounded up), which is the same and needs no conversion of the words.
        return words < math.ceil(p * 2**32) if p < 1 else xp.ones(shape, np.bool_)
    return words.astype(np.float64) < p.astype(np.float64) * 2.0**32


def permutation(xp: Any, key: Key, n: int, dtype: DType = int64) -> Array:
    """Return the integers 0 to n - 1 in random order: the stable sort order of n random 64-bit numbers.

    Number i is `w[2i] + 2**32 * w[2i+1]`.
    """
    return xp.argsort(_wide(philox(xp, key, 2 * n)), kind="stable").astype(dtype.np, copy=False)
