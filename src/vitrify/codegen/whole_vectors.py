"""Short loops over whole vectors: what lies behind an array in the arena is padding that nobody reads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .arena import padded
from .operands import ARENA, Operand, Step

_HEAD = 6
"""The words of `over_elements` before those of its operands, where there are no outer dimensions."""


def fill_vectors(steps: Iterable[Step], loop: Any, lanes: int) -> None:
    """Let loops of kernels over less than whole vectors, which take copies of the rest, go to the end of the last one.

    That is for floating-point numbers and truth values: a division of integers would stop at a zero that is no element.
    """
    for step in steps:
        if step.function != "over_elements" or step.words[0] != loop:
            continue
        inner, outer = step.words[3:5]
        wide = -(-inner // lanes) * lanes
        if not outer and wide != inner and all(_has_room(*each, inner, wide) for each in _operands(step)):
            step.words[3] = wide


def _operands(step: Step) -> Iterable[tuple[Operand, int]]:
    """The operands of a loop without outer dimensions, and their steps."""
    words = step.words[_HEAD:]
    return zip(words[::2], words[1::2])


def _has_room(x: Operand, step: int, inner: int, wide: int) -> bool:
    """Whether x is one number, or ends where its memory ends but for padding that holds the rest."""
    size = x.dtype.itemsize
    if x.buffer.kind != ARENA or x.dtype.kind not in "fbV":
        return step == 0 and x.dtype.kind in "fbV"
    ends = x.offset + inner * size == x.buffer.size and x.offset + wide * size <= padded(x.buffer.size)
    return step == 0 or (step == size and ends)


__all__ = ["fill_vectors"]
