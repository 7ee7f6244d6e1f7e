"""The functions of C that Python calls for the operators of a class: where the class holds them, read and written.

A class written in Python has functions there that look its methods up. Others may take their place for a while: Python
itself puts the general ones back when somebody assigns to one of those methods, of the class or of one below it.
"""

from __future__ import annotations

import ctypes
import functools
from dataclasses import dataclass

from .errors import NoNativeForm
from .objects import layout_is_known

# By the name of a slot: its number for PyType_GetSlot, and where it lies in the block that the class points to.
_NUMBERS = {
    "nb_add": (7, 0), "nb_subtract": (36, 8), "nb_multiply": (29, 16), "nb_remainder": (34, 24), "nb_power": (33, 40),
    "nb_negative": (30, 48), "nb_lshift": (28, 88), "nb_rshift": (35, 96), "nb_and": (8, 104), "nb_xor": (38, 112),
    "nb_or": (31, 120), "nb_floor_divide": (12, 232), "nb_true_divide": (37, 240),
}  # fmt: skip
_AS_NUMBER, _RICH_COMPARE = 96, 200
_TP_RICHCOMPARE = 67


@dataclass(frozen=True)
class Slot:
    """A place in a class."""

    at: int

    @property
    def value(self) -> int:
        """The address of the function there."""
        return ctypes.c_int64.from_address(self.at).value

    def set(self, function: int) -> None:
        """Put another function there."""
        ctypes.c_int64.from_address(self.at).value = function


@functools.cache
def slots_of(kind: type) -> dict[str, Slot]:
    """A class's slots for numbers, and `tp_richcompare`. Raises NoNativeForm where they do not lie as expected.

    The class must have all of those operators: that Python finds each function where we do shows that the places are
    the right ones.
    """
    if not layout_is_known():
        raise NoNativeForm("objects of this Python lie in memory otherwise")
    numbers = ctypes.c_int64.from_address(id(kind) + _AS_NUMBER).value
    found = {name: Slot(numbers + offset) for name, (_, offset) in _NUMBERS.items()}
    found["tp_richcompare"] = Slot(id(kind) + _RICH_COMPARE)
    expected = [_slot_of(kind, number) for number in (*[n for n, _ in _NUMBERS.values()], _TP_RICHCOMPARE)]
    if [slot.value for slot in found.values()] != expected or len({0, *expected}) != len(expected) + 1:
        raise NoNativeForm("classes of this Python lie in memory otherwise")
    return found


def _slot_of(kind: type, number: int) -> int:
    ask = ctypes.pythonapi.PyType_GetSlot
    ask.restype, ask.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_int]
    return ask(kind, number) or 0


__all__ = ["Slot", "slots_of"]
