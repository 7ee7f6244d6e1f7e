"""What steps of a plan are made of: buffers, the parts of them that native forms handle as arrays, and the steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np

from .emit import Dtype
from .errors import NoNativeForm

Shape = tuple[int, ...]
INPUT, OUTPUT, ARENA, CONSTANT = "input", "output", "arena", "constant"


@dataclass(eq=False)
class Buffer:
    """Memory: an input, a result, a part of the arena or a number. `number`: which one; of constants, their bytes."""

    kind: str
    size: int
    number: Any = 0


@dataclass(frozen=True)
class Operand:
    """An array in a buffer: as NumPy describes one, with offset and steps in bytes."""

    buffer: Buffer
    offset: int
    shape: Shape
    strides: Shape
    dtype: Dtype

    @staticmethod
    def of(x: Operand, *_: Any) -> Operand:
        """The array itself, known to be there."""
        return Operand(x.buffer, x.offset, x.shape, x.strides, x.dtype)

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many elements it has."""
        return prod(self.shape)

    @property
    def is_contiguous(self) -> bool:
        """Whether its elements lie in their order, without gaps."""
        return self.size <= 1 or all(
            n == 1 or step == expected
            for n, step, expected in zip(self.shape, self.strides, dense(self.shape, self.dtype.itemsize))
        )


@dataclass(frozen=True)
class Maybe(Operand):
    """An array that may be missing: `flag` says whether it is there. Who takes it for an array knows that it is."""

    flag: Operand

    @staticmethod
    def of(x: Operand, flag: Operand) -> Maybe:
        """An array that is there if the flag says so."""
        return Maybe(x.buffer, x.offset, x.shape, x.strides, x.dtype, flag)


@dataclass(frozen=True)
class Frame(Operand):
    """What a function keeps for its gradient: the address of a tuple of Python's, or 0 where it is missing.

    is_list: it is the address of a list that the program is given.
    """

    is_list: bool = False

    @staticmethod
    def of(x: Operand) -> Frame:
        """The frame whose address x holds."""
        return Frame(x.buffer, x.offset, x.shape, x.strides, x.dtype)


@dataclass(frozen=True)
class Listed(Operand):
    """A list of arrays of one kind: three words (`list_steps`). item: their shape and dtype, where that is known."""

    item: tuple[Shape, Dtype] | None = None

    @staticmethod
    def of(x: Operand, item: tuple[Shape, Dtype] | None = None) -> Listed:
        """The list whose words x holds."""
        return Listed(x.buffer, x.offset, x.shape, x.strides, x.dtype, item)


def dense(shape: Shape, itemsize: int) -> Shape:
    """The steps of an array whose elements lie side by side."""
    found, step = [], itemsize
    for n in reversed(shape):
        found.append(step)
        step *= max(n, 1)
    return tuple(found[::-1])


@dataclass(eq=False)
class Step:
    """One step: its function, its words (an Operand stands for its address), and what it runs (`Edge` in the words).

    is_sure: it never leaves the run to the interpreter, as others of its function may; operator: what it is a step of.
    """

    function: str
    words: list[Any]
    blocks: tuple[list[Step], ...] = ()
    touched: list[Buffer] = field(default_factory=list)
    is_sure: bool = False
    operator: Any = None


def all_steps(steps: Sequence[Step]) -> Iterator[Step]:
    """Yield the steps, and behind each those of the blocks in it."""
    for step in steps:
        yield step
        for block in step.blocks:
            yield from all_steps(block)


@dataclass(frozen=True)
class Edge:
    """Where the steps of a block begin or end."""

    block: int
    is_end: bool


@dataclass(frozen=True)
class Entry:
    """Where the plan says what a function is (`calls.NativeFunction`)."""

    function: Any


STATE = Edge(-1, False)
"""The word that says where the plan and the thread lie among a run's addresses."""


def broadcast(shapes: Sequence[Shape]) -> Shape:
    """The shape that these broadcast to. Raises NoNativeForm where they do not."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError as err:
        raise NoNativeForm(str(err)) from err


def expanded(x: Operand, shape: Shape) -> Operand:
    """x broadcast to a shape."""
    missing = len(shape) - x.ndim
    strides = [0 if n == 1 and m != 1 else s for n, m, s in zip(x.shape, shape[missing:], x.strides)]
    return replace(x, shape=shape, strides=(*[0] * missing, *strides))
