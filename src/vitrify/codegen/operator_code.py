"""The machine code of eager operators, compiled once, and the functions for the slots of classes that lead to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .llvm import define
from .native import loaded
from .operator_call import OperatorCall, holder, wanted
from .operator_table import Classes, Modes, Role
from .operator_tape import record
from .ufunc import keep

COMPARISONS = ("__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__")
"""In the order of Python's numbers for them."""


class OperatorCode:
    """The function that serves all operators, for these classes and modes; `slots` makes those that Python calls."""

    def __init__(self, classes: Classes, modes: Modes, no_attrs: Mapping[str, Any]) -> None:
        self._call = _written(classes, modes, no_attrs)
        self._address = self._call.address()

    def slots(
        self, numbers: Mapping[str, Mapping[Role, Any]], comparisons: Sequence[Mapping[Role, Any]], original: int
    ) -> dict[str, int]:
        """Functions by slot: one for each operator on numbers, and one for all comparisons, in Python's order.

        original: the function that compares where the code leaves it to Python.
        """
        holders = {name: holder(self._call.kept, roles) for name, roles in numbers.items()}
        compared = [holder(self._call.kept, roles) for roles in comparisons]
        table = keep(np.array([id(h) for h in compared], np.int64))
        _KEPT.extend([*holders.values(), *compared])
        define({"vitrify.operator": self._address, "vitrify.compare": original, "vitrify.compared": table.ctypes.data})
        define({f"vitrify.{name}": id(found) for name, found in holders.items()})
        names = tuple(f"slot_{name}" for name in (*holders, "tp_richcompare"))
        addresses = loaded(_SLOTS + "\n".join(map(_slot, holders)), names).addresses
        return {name.removeprefix("slot_"): address for name, address in addresses.items()}


# Machine code is there as long as the process, and so is what it refers to.
_KEPT: list[Any] = []


def _written(classes: Classes, modes: Modes, no_attrs: Mapping[str, Any]) -> OperatorCall:
    w = OperatorCall(classes, modes)
    w.need_plain_modes()
    dtype = w.variable("ptr", "null")
    x, y = w.operand("%x", dtype), w.operand("%y", dtype)
    found = w.read(dtype, "ptr")
    w.need(w.value(f"icmp ne ptr {found}, null"))
    row = w.row_of(found)
    for operand in (x, y):
        with w.unless(operand.is_tensor):
            w.need_number(operand, row)
    mask = wanted(w, x, y, row)
    w.compute(x, y, row)
    out = w.wrap()
    with w.unless(w.same(mask, "0", "i64")):
        record(w, (x, y), mask, out, no_attrs)
    w.finish()
    return w


_SLOTS = """
declare ptr @vitrify.operator(ptr, ptr, ptr, ptr, i32)
declare ptr @vitrify.compare(ptr, ptr, i32)
@vitrify.compared = external global i8

define ptr @slot_tp_richcompare(ptr %x, ptr %y, i32 %kind) {
  %wide = zext i32 %kind to i64
  %at = getelementptr ptr, ptr @vitrify.compared, i64 %wide
  %self = load ptr, ptr %at
  %found = call ptr @vitrify.operator(ptr %self, ptr %x, ptr %y, ptr @vitrify.compare, i32 %kind)
  ret ptr %found
}
"""


def _slot(name: str) -> str:
    return f"""
@vitrify.{name} = external global i8

define ptr @slot_{name}(ptr %x, ptr %y) {{
  %found = call ptr @vitrify.operator(ptr @vitrify.{name}, ptr %x, ptr %y, ptr null, i32 0)
  ret ptr %found
}}
"""


__all__ = ["COMPARISONS", "OperatorCode"]
