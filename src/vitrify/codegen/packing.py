"""Matrices that several products read, or one in a loop, are packed once: those that a plan is given and nobody writes.

The weights of a recurrent network are such: each step of time multiplies by them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .operands import ARENA, INPUT, Buffer, Operand, Step
from .own_products import any_gemm
from .products import NONE, OWN_PRODUCTS

if TYPE_CHECKING:
    from .assembler import Assembler

# Words of a step of our own products (`steps.own_products`): sizes, the second matrix and its steps, how many products.
_M, _N, _K, _ROW, _COLUMN, _Y, _COUNT, _TABLE = 1, 2, 3, 6, 7, 10, 13, 17
_LOOPS = ("while_true", "repeat")
# What `row` is of a matrix that is packed.
_PACKED = -1
# Rows of a product up to which it reads the second matrix where it lies, if its rows lie side by side.
_FEW_ROWS = 24


class _Use(NamedTuple):
    step: Step
    is_repeated: bool


def pack_once(n: Assembler) -> None:
    """Put steps that pack such matrices in front of the others, and let products read what these make."""
    uses: dict[tuple[Any, ...], list[_Use]] = {}
    for use in _products(n.steps, False):
        words = use.step.words
        y = words[_Y]
        if y.buffer.kind == INPUT and y.buffer not in n.written and _would_pack(words):
            key = (y.buffer, y.offset, y.dtype, *(words[i] for i in (_N, _K, _ROW, _COLUMN)))
            uses.setdefault(key, []).append(use)
    first = [step for found in uses.values() for step in _packed(found)]
    n.steps[:0] = first


def _products(steps: Sequence[Step], is_repeated: bool) -> Iterator[_Use]:
    for step in steps:
        if step.function == OWN_PRODUCTS:
            yield _Use(step, is_repeated)
        for block in step.blocks:
            yield from _products(block, is_repeated or step.function in _LOOPS)


def _would_pack(words: Sequence[Any]) -> bool:
    """Whether one product packs the second matrix, and only this."""
    lies = words[_M] <= _FEW_ROWS and words[_COLUMN] == words[_Y].dtype.itemsize
    return words[_COUNT] == 1 and words[_TABLE] is NONE and not lies


def _packed(uses: Sequence[_Use]) -> Iterator[Step]:
    words = uses[0].step.words
    y = words[_Y]
    own = any_gemm(y.dtype)
    if own is None or not own.pack or (len(uses) == 1 and not uses[0].is_repeated):
        return
    columns, rows = words[_N], words[_K]
    size = own.packed(columns, rows)
    to = Operand(Buffer(ARENA, size), 0, (size,), (1,), np.dtype(np.uint8))
    given = [own.pack, columns, rows, y, words[_ROW], words[_COLUMN], to]
    yield Step("packed", given, touched=[y.buffer, to.buffer])
    for step, _ in uses:
        step.words[_Y], step.words[_ROW], step.words[_COLUMN] = to, _PACKED, 0
        step.touched.append(to.buffer)


__all__ = ["pack_once"]
