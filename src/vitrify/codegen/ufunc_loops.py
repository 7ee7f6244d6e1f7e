"""NumPy's own inner loops: the address of the function that a ufunc calls for arrays of one dtype.

A ufunc is an object of C with a table of such functions; `loops_of` reads it where NumPy's C interface has it since
NumPy 1, and asks the ufunc itself whether what it finds there is true.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import numpy as np

# Fields of a ufunc: offsets in bytes.
_NIN, _NOUT, _FUNCTIONS, _DATA, _COUNT, _NAME, _TYPES = 16, 20, 32, 40, 48, 56, 64


@dataclass(frozen=True)
class InnerLoop:
    """`void function(char **arrays, intp *size, intp *steps, void *data)`, as addresses."""

    function: int
    data: int


def loops_of(ufunc: np.ufunc) -> dict[str, InnerLoop]:
    """A ufunc's inner loops by their types, such as "ff->f"; none where they do not lie as expected."""
    at = id(ufunc)
    if [_int(at, o) for o in (_NIN, _NOUT, _COUNT)] != [ufunc.nin, ufunc.nout, ufunc.ntypes]:
        return {}
    if ctypes.string_at(_word(at, _NAME)).decode() != ufunc.__name__:
        return {}
    functions, data, codes = (_word(at, o) for o in (_FUNCTIONS, _DATA, _TYPES))
    found = {}
    for i, types in enumerate(ufunc.types):
        given = [np.dtype(c).num for c in types.replace("->", "")]
        if list(ctypes.string_at(codes + i * len(given), len(given))) != given:
            return {}
        found[types] = InnerLoop(_word(functions, 8 * i), _word(data, 8 * i) if data else 0)
    return found


def _word(at: int, offset: int) -> int:
    return ctypes.c_int64.from_address(at + offset).value


def _int(at: int, offset: int) -> int:
    return ctypes.c_int32.from_address(at + offset).value


__all__ = ["InnerLoop", "loops_of"]
