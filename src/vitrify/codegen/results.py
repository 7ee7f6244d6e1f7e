"""What a program or a function gives: arrays of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .emit import INT64
from .operands import ARENA, OUTPUT, STATE, Buffer, Frame, Listed, Maybe, Operand

if TYPE_CHECKING:
    from .assembler import Assembler


def results_of(assembler: Assembler, outputs: Sequence[Operand]) -> list[Operand]:
    """The outputs, each all of a buffer of its own, which is a result's from now on, in the order of their elements."""
    found = _owned(assembler, outputs, _is_in_order)
    _number(found)
    return found


def results_of_program(assembler: Assembler, outputs: Sequence[Any]) -> list[Operand]:
    """The same as they lie; frames, lists and None for what is missing are put among the results when the run ends."""
    given = [Frame.of(assembler.full((), 0, INT64)) if out is None else out for out in outputs]
    arrays = iter(_owned(assembler, [x for x in given if not is_object(x)], _fills))
    found = [x if is_object(x) else next(arrays) for x in given]
    _number(found)
    for number, out in enumerate(given):
        if isinstance(out, Frame):
            assembler.add("give", [STATE, out, number])
        elif isinstance(out, Listed):
            assembler.add("list_give", [STATE, out, number])
        elif isinstance(out, Maybe):
            assembler.add("leave_out", [STATE, out.flag, number])
    assembler.has_objects = assembler.has_objects or any(is_object(x) or isinstance(x, Maybe) for x in given)
    return found


def is_object(x: Operand) -> bool:
    """Whether a result is an object of Python's that is no array."""
    return isinstance(x, (Frame, Listed))


def _owned(assembler: Assembler, outputs: Sequence[Operand], lies_well: Callable[[Operand], bool]) -> list[Operand]:
    taken: set[Buffer] = set()
    found = list[Operand]()
    for out in outputs:
        size = out.size * out.dtype.itemsize
        whole = out.offset == 0 and lies_well(out) and out.buffer.size == size
        if out.buffer.kind != ARENA or out.buffer in taken or not whole:
            out = assembler.copy(out)
        taken.add(out.buffer)
        found.append(out)
    return found


def _number(results: Sequence[Operand]) -> None:
    for number, out in enumerate(results):
        if not is_object(out):
            out.buffer.kind, out.buffer.number = OUTPUT, number


def _is_in_order(x: Operand) -> bool:
    """Whether the elements lie in their order, without gaps."""
    return x.is_contiguous


def _fills(x: Operand) -> bool:
    """Whether the elements lie side by side, in whatever order of the dimensions."""
    if x.is_contiguous:
        return True
    order = sorted(range(x.ndim), key=lambda d: -x.strides[d])
    return replace(x, shape=tuple(x.shape[d] for d in order), strides=tuple(x.strides[d] for d in order)).is_contiguous


__all__ = ["is_object", "results_of", "results_of_program"]
