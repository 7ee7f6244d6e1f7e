"""Random numbers in whole programs: each run takes as many words of the generator as its plan says.

Where draws in a branch or loop leave that to the run, it counts them, from the first such draw on, and says at its end
how many they were. It is left to the interpreter if others have drawn meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.meta import Shape
from ..core.philox import WORDS
from ..core.rng import default_generator
from ..ops.elementwise import add_op
from .emit import BOOL, FLOAT32, FLOAT64, INT64, Dtype
from .errors import NoNativeForm
from .operands import Operand
from .products import moved
from .random_steps import LANES
from .sharing import in_parts

if TYPE_CHECKING:
    from .assembler import Assembler

_WORD = np.dtype(np.uint32)
# Words that a step makes at a time.
_VECTOR = WORDS * LANES
# Words from which on threads share the work.
_LARGE = 1 << 15


def drawn_below(n: Assembler, shape: Shape, p: float) -> Operand:
    """Booleans, true with probability p: `philox.bernoulli`."""
    words = _words(n, prod(shape))
    return n.full(shape, True, BOOL) if p >= 1 else _of_words(n, "below", words, shape, BOOL, 1, ceil(p * 2**32))


def drawn_below_each(n: Assembler, p: Operand) -> Operand:
    """Booleans, each true with a probability of its own, in float64; one outside of [0, 1] ends the run."""
    return _of_words(n, "below_each", _words(n, p.size), p.shape, BOOL, 1, n.contiguous(p))


def drawn_units(n: Assembler, shape: Shape, bits: int, seed: int) -> Operand:
    """Numbers from [0, 1) in float32 with so many random bits: as `philox.uniform` makes them."""
    return _of_words(n, "units", _words(n, prod(shape), seed), shape, FLOAT32, 1, 32 - bits)


def drawn_wide_units(n: Assembler, shape: Shape, seed: int) -> Operand:
    """Numbers from [0, 1) in float64, of two words each."""
    return _of_words(n, "wide_units", _words(n, 2 * prod(shape), seed), shape, FLOAT64, 2)


def drawn_integers(n: Assembler, shape: Shape, low: int, high: int, is_wide: bool) -> Operand:
    """Integers from [low, high) as int64: `philox.randint` is_wide: of 8 bytes, two words for each."""
    bounds = [((x + 2**63) & (2**64 - 1)) - 2**63 for x in (high - low, low)]  # their bits, in signed words
    words = _words(n, prod(shape) * (2 if is_wide else 1))
    return _of_words(n, "wide_integers" if is_wide else "integers", words, shape, INT64, 1 + is_wide, *bounds)


def _words(n: Assembler, count: int, seed: int = 0) -> Operand:
    """The next words of the generator, or the first of a fixed seed, with room for whole vectors."""
    if n.key is None:
        raise NoNativeForm("there is no generator")
    if n.is_inside and not seed and n.counted is None:
        n.counted = _Counted(n)
    blocks, first = -(-count // WORDS), 0 if seed else n.words // WORDS
    out = n.new((-(-count // _VECTOR) * _VECTOR,), _WORD)
    state = n.constant(np.array([seed & (2**64 - 1), 0], np.uint64).view(np.int64)) if seed else n.key
    counted = None if seed else n.counted
    if counted is not None:
        first, state = 0, counted.state(n)

    def part(start: int, stop: int) -> None:
        n.add("drawn", [moved(out, start * WORDS * _WORD.itemsize), state, first + start, stop - start])

    in_parts(n, blocks, count >= _LARGE, part, LANES)
    if counted is not None:
        counted.add(n, blocks * WORDS)
    else:
        n.words += 0 if seed else blocks * WORDS
    return out


class _Counted:
    """The seed, and the place of the next draw, which the run counts: behind the draws that are known before it."""

    def __init__(self, n: Assembler) -> None:
        self._state = n.new((2,), INT64)
        self._known = n.words

    def state(self, n: Assembler) -> Operand:
        """Where they lie. Raises NoNativeForm in a function, whose calls have memory of their own."""
        if n.functions.is_building:
            raise NoNativeForm("functions draw random numbers")
        return self._state

    @property
    def _place(self) -> Operand:
        return Operand(self._state.buffer, INT64.itemsize, (), (), INT64)

    def add(self, n: Assembler, words: int) -> None:
        """Count so many words that were drawn."""
        n.apply_into(self._place, add_op, self._place, n.full((), words, INT64))

    def finish(self, n: Assembler) -> None:
        """Begin the program at the generator's place, and let it end with telling the place that it came to."""
        key = n.key
        assert key is not None

        def begin() -> None:
            n.copy(key, self._state)
            self.add(n, self._known)

        n.steps[:0], _ = n.within(begin)
        n.copy(self._state, key)
        n.written.add(key.buffer)


def _of_words(n: Assembler, step: str, words: Operand, shape: Shape, dtype: Dtype, each: int, *more: Any) -> Operand:
    """What a step makes of words, `each` for one element. more: words of the step; an operand goes along."""
    out = n.new((words.size // each,), dtype)

    def part(start: int, stop: int) -> None:
        own = [moved(v, start * by * v.dtype.itemsize) for v, by in ((out, 1), (words, each))]
        rest = [moved(x, start * x.dtype.itemsize) if isinstance(x, Operand) else x for x in more]
        n.add(step, [*own, min(stop, prod(shape)) - start, *rest])

    in_parts(n, prod(shape), prod(shape) >= _LARGE, part, _VECTOR)
    return n.reshape(replace(out, shape=(prod(shape),)), shape)


def drawing(function: Callable[..., Any], words: int) -> Callable[..., Any]:
    """A plan's function that is given the generator's seed and place as well, and takes so many words of it."""

    def run(*arrays: Any) -> Any:
        generator = default_generator()
        key = generator.advance(words)
        state = np.array([key.seed, key.offset], np.uint64).view(np.int64)
        found = function(*arrays, state) if key.offset % WORDS == 0 else None
        if found is None:
            generator.give_back(key, words)
        return found

    return run


def counting(function: Callable[..., Any]) -> Callable[..., Any]:
    """A plan's function that is given the generator's seed and place as well, and writes there what place is next."""

    def run(*arrays: Any) -> Any:
        generator = default_generator()
        key = generator.get_state()
        state = np.array([key.seed, key.offset], np.uint64).view(np.int64)
        found = function(*arrays, state) if key.offset % WORDS == 0 else None
        if found is None or not generator.take(key, int(state.view(np.uint64)[1]) - key.offset):
            return None
        return found

    return run


__all__ = [
    "counting", "drawing", "drawn_below", "drawn_below_each", "drawn_integers", "drawn_units", "drawn_wide_units",
]  # fmt: skip
