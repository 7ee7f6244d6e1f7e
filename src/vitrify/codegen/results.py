"""What a program or a function gives: arrays of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from .operands import ARENA, OUTPUT, Buffer, Operand

if TYPE_CHECKING:
    from .assembler import Assembler


def results_of(assembler: Assembler, outputs: Sequence[Operand], in_any_order: bool = False) -> list[Operand]:
    """The outputs, each all of a buffer of its own, which is a result's from now on: in the order of their elements, or
    as they lie.
    """
    taken: set[Buffer] = set()
    found = []
    for out in outputs:
        size = out.size * out.dtype.itemsize
        whole = out.offset == 0 and (out.is_contiguous or (in_any_order and _fills(out))) and out.buffer.size == size
        if out.buffer.kind != ARENA or out.buffer in taken or not whole:
            out = assembler.copy(out)
        taken.add(out.buffer)
        found.append(out)
    for number, out in enumerate(found):
        out.buffer.kind, out.buffer.number = OUTPUT, number
    return found


def _fills(x: Operand) -> bool:
    """Whether the elements lie side by side, in whatever order of the dimensions."""
    order = sorted(range(x.ndim), key=lambda d: -x.strides[d])
    return replace(x, shape=tuple(x.shape[d] for d in order), strides=tuple(x.strides[d] for d in order)).is_contiguous


__all__ = ["results_of"]
