"""What the machine code of eager operators is told of one operator: a tuple of objects and an array of numbers.

The code is one function for all operators; each has a *holder*, a tuple with its `Role`s, which lies where the code
expects the objects that a built-in function works with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

import numpy as np

from ..ops.registry import OpDef, Vjp
from ..ops.scalar import UFUNCS
from .ufunc_loops import InnerLoop, loops_of


@dataclass(frozen=True)
class Classes:
    """The classes whose objects the code reads and makes: those of tensors, the first being that of results, of nodes
    of the tape and of what these keep.
    """

    tensors: tuple[type, ...]
    node: type
    saved: type
    saved_output: type


@dataclass(frozen=True)
class Modes:
    """Context variables by which calls go other ways, and the object whose `on` says whether operators are watched."""

    unset: tuple[Any, ...]
    unset_where_kept: Any
    gradient: Any
    watch: Any


class Role(Enum):
    """What differs from one operator to the next: the op, its plans by who wants a cotangent, its Python methods, and
    the holder for squares that powers have.
    """

    OP = auto()
    NUMBERS = auto()
    PLAN_X = auto()
    PLAN_Y = auto()
    PLAN_XY = auto()
    FORWARD = auto()
    REFLECTED = auto()
    SQUARE = auto()


# Words of the array: how many rows there are, the bits of x and y where they may want a cotangent, for each of four
# sets of those how many values are kept and which, and the rows.
ROWS, BITS, KEPT, MOST_KEPT = 0, 1, 3, 3
FIRST_ROW = KEPT + 4 * (1 + MOST_KEPT)
# Of a row: dtypes of the operands and of the result, the loop, sizes of elements, what a Python number beside such an
# operand becomes.
DTYPE, RESULT, FUNCTION, LOOP_DATA, SIZE, RESULT_SIZE, NUMBER = range(7)
ROW = 7
X, Y, OUT = range(3)
"""What may be kept for backward."""


class Number(Enum):
    """What a Python number beside a tensor becomes; each is an IR type of so many bits that it fits in exactly."""

    NONE = 0
    FLOAT = 1
    DOUBLE = 2
    I32 = 3
    I64 = 4


_NUMBERS = {"f": Number.FLOAT, "d": Number.DOUBLE, "i": Number.I32, "l": Number.I64}
_REAL, _ALL = "fd", "fdil?bBhHILFD"
# Where Python's method does more than the ufunc for others: integers divided by zero raise, or become floats first.
_ACCEPTED = {"square": "fdFD", "div": "fdFD", "floordiv": _REAL, "mod": _REAL}


def ufunc_of(op: OpDef) -> np.ufunc:
    """The function of NumPy's that computes an op of one primitive."""
    found: np.ufunc = getattr(np, UFUNCS[op.scalar])
    return found


def rows_of(op: OpDef) -> list[tuple[np.dtype[Any], np.dtype[Any], InnerLoop]]:
    """The dtypes of operands and result for which an op is one of NumPy's inner loops, the most used first."""
    ufunc, found = ufunc_of(op), []
    loops = loops_of(ufunc)
    for code in _ACCEPTED.get(op.scalar, _ALL):
        for result in dict.fromkeys((code, "?")):
            loop = loops.get(f"{code * ufunc.nin}->{result}")
            if loop is not None:
                found.append((np.dtype(code), np.dtype(result), loop))
    return found


def numbers_of(op: OpDef, kept: Mapping[int, Sequence[int]]) -> np.ndarray:
    """An operator's words. kept: by set of operands that want cotangents, what is kept for backward."""
    rows = rows_of(op)
    words = np.zeros(FIRST_ROW + ROW * len(rows), np.int64)
    words[ROWS] = len(rows)
    if isinstance(op.vjp, Vjp):
        words[BITS : BITS + len(op.vjp.bits)] = op.vjp.bits
    for mask, which in kept.items():
        at = KEPT + mask * (1 + MOST_KEPT)
        words[at] = len(which)
        words[at + 1 : at + 1 + len(which)] = which
    for i, (dtype, result, loop) in enumerate(rows):
        words[FIRST_ROW + ROW * i :][:ROW] = [
            id(dtype), id(result), loop.function, loop.data, dtype.itemsize, result.itemsize,
            _NUMBERS.get(dtype.char, Number.NONE).value,
        ]  # fmt: skip
    return words


__all__ = ["Classes", "Modes", "Number", "Role", "numbers_of", "rows_of", "ufunc_of"]
