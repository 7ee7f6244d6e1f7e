"""Random numbers in whole programs: each run takes as many words of the generator as its plan says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.meta import Shape
from ..core.philox import WORDS
from ..core.rng import default_generator
from .emit import BOOL, FLOAT32
from .errors import NoNativeForm
from .random_steps import LANES

if TYPE_CHECKING:
    from .assembler import Assembler
    from .operands import Operand

_WORD = np.dtype(np.uint32)
# Words that a step makes at a time.
_VECTOR = WORDS * LANES


def drawn_below(n: Assembler, shape: Shape, p: float) -> Operand:
    """Booleans, true with probability p: `philox.bernoulli`."""
    if p >= 1:
        _words(n, prod(shape))
        return n.full(shape, True, BOOL)
    words = _words(n, prod(shape))
    out = n.new(words.shape, BOOL)
    n.add("below", [out, words, words.size, ceil(p * 2**32)])
    return _first(n, out, shape)


def drawn_units(n: Assembler, shape: Shape, bits: int) -> Operand:
    """Numbers from [0, 1) in float32 with so many random bits: as `philox.uniform` makes them."""
    words = _words(n, prod(shape))
    out = n.new(words.shape, FLOAT32)
    n.add("units", [out, words, words.size, 32 - bits])
    return _first(n, out, shape)


def _words(n: Assembler, count: int) -> Operand:
    """The generator's next words, with room for whole vectors."""
    if n.key is None or n.is_inside:
        raise NoNativeForm("how many random numbers are drawn is known only when the program runs")
    blocks = -(-count // WORDS)
    out = n.new((-(-count // _VECTOR) * _VECTOR,), _WORD)
    n.add("drawn", [out, n.key, n.words // WORDS, blocks])
    n.words += blocks * WORDS
    return out


def _first(n: Assembler, x: Operand, shape: Shape) -> Operand:
    """The first elements of x in this shape."""
    return n.reshape(replace(x, shape=(prod(shape),)), shape)


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


__all__ = ["drawing", "drawn_below", "drawn_units"]
