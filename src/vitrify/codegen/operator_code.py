"""The machine code of eager operators, compiled once, and the functions for the slots of classes that lead to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .llvm import define
from .native import loaded
from .objects import TYPE, Builtin
from .operator_call import ALONE, UNDONE, OperatorCall, call_methods, holder, wanted
from .operator_table import Classes, Modes, Role
from .operator_tape import record
from .ufunc import keep

COMPARISONS = ("__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__")
"""In the order of Python's numbers for them."""


ALONE_SLOTS = ("nb_negative",)
"""Those of operators with one operand."""
SQUARED = "nb_power"
"""The slot whose operator has machine code for the exponent 2 alone."""


class OperatorCode:
    """The function that serves all operators, for these classes and modes; `slots` makes those that Python calls."""

    def __init__(self, classes: Classes, modes: Modes, no_attrs: Mapping[str, Any]) -> None:
        self._call, self._power = _written(classes, modes, no_attrs), _power(classes)
        define({"vitrify.operator": self._call.address()})
        define({"vitrify.power": self._power.address()})

    def slots(
        self, numbers: Mapping[str, Mapping[Role, Any]], comparisons: Sequence[Mapping[Role, Any]], original: int
    ) -> dict[str, int]:
        """Functions by slot: one for each operator on numbers, and one for all comparisons, in Python's order.

        original: the function that compares where the code leaves it to Python.
        """
        holders = {name: self._holder(name, roles) for name, roles in numbers.items()}
        compared = [holder(self._call.kept, roles) for roles in comparisons]
        table = keep(np.array([id(h) for h in compared], np.int64))
        _KEPT.extend([*holders.values(), *compared])
        define({"vitrify.compare": original, "vitrify.compared": table.ctypes.data})
        define({f"vitrify.{name}": id(found) for name, found in holders.items()})
        names = tuple(f"slot_{name}" for name in (*holders, "tp_richcompare"))
        addresses = loaded(_SLOTS + "\n".join(map(_slot, holders)), names).addresses
        return {name.removeprefix("slot_"): address for name, address in addresses.items()}

    def pair(self, holders: Mapping[Any, Mapping[Role, Any]], python: Callable[..., Any]) -> Callable[..., Any]:
        """`pair(op, x, y)`, a built-in function that does what `python` does, quicker for ops that have holders."""
        return _pair({op: holder(self._call.kept, roles) for op, roles in holders.items()}, python).made()

    def _holder(self, name: str, roles: Mapping[Role, Any]) -> tuple[Any, ...]:
        found = holder(self._call.kept, roles)
        return holder(self._power.kept, {**roles, Role.SQUARE: found}) if name == SQUARED else found


# Machine code is there as long as the process, and so is what it refers to.
_KEPT: list[Any] = []


def _written(classes: Classes, modes: Modes, no_attrs: Mapping[str, Any]) -> OperatorCall:
    w = OperatorCall(classes, modes)
    w.need_plain_modes()
    dtype = w.variable("ptr", "null")
    x, y = w.operand("%x", dtype), w.operand(w.either(w.is_alone, w.held(None), "%y", "ptr"), dtype)
    found = w.read(dtype, "ptr")
    w.need(w.value(f"icmp ne ptr {found}, null"))
    row = w.row_of(found)
    for operand in (x, y):
        with w.unless(w.value(f"or i1 {operand.is_tensor}, {w.is_alone}")):
            w.need_number(operand, row)
    mask = wanted(w, x, y)
    w.compute(x, y, row)
    out = w.wrap()
    with w.unless(w.same(mask, "0", "i64")):
        record(w, (x, y), mask, out, no_attrs)
    w.finish()
    return w


def _pair(holders: Mapping[Any, Any], python: Callable[..., Any]) -> Builtin:
    w = Builtin("pair")
    op, x, y = (w.argument(i) for i in range(3))
    with w.when(w.same("%count", "3", "i64")):
        found = w.capi("PyDict_GetItemWithError", w.held(holders), op)
        with w.unless(w.same(found, "null")):
            given = f"ptr {found}", f"ptr {x}", f"ptr {y}", "ptr null", f"i32 {UNDONE}"
            result = w.own("vitrify.operator", "ptr", *given)
            is_raised = w.value(f"icmp ne ptr {w.capi('PyErr_Occurred')}, null")
            with w.when(w.value(f"or i1 {is_raised}, {w.value(f'icmp ne ptr {result}, null')}")):
                w.leave(f"ptr {result}")
        w.capi("PyErr_Clear")
    w.leave(f"ptr {w.capi('PyObject_VectorcallDict', w.held(python), '%arguments', '%count', 'null')}")
    return w


def _power(classes: Classes) -> Builtin:
    """x ** 2 as the square of x, all others by Python's methods."""
    w = Builtin("power", ("ptr %self", "ptr %x", "ptr %y", "ptr %modulus"))
    with w.unless(w.same("%modulus", w.held(None))):
        _power_modulo(w, classes.tensors[0])
    is_two = w.variable("i1", w.same("%y", w.held(2)))
    with w.when(w.is_instance("%y", float)):
        found = w.value(f"fcmp oeq double {w.capi('PyFloat_AsDouble', '%y')}, 2.0")
        w.store(found, is_two, 0, "i1", 1)
    with w.when(w.load(is_two, 0, "i1", 1)):
        square = f"ptr {w.held(Role.SQUARE)}"
        w.leave(f"ptr {w.own('vitrify.operator', 'ptr', square, 'ptr %x', 'ptr %y', 'ptr null', f'i32 {ALONE}')}")
    call_methods(w, classes.tensors[0])
    return w


def _power_modulo(w: Builtin, tensor: type) -> None:
    """What `pow(x, y, modulus)` gives, which has no reflected form."""
    with w.when(w.same(w.capi("PyType_IsSubtype", w.field("%x", TYPE), w.held(tensor)), "0", "i32")):
        w.give(w.held(NotImplemented))
    given = w.space("[3 x ptr]")
    for i, argument in enumerate(("%x", "%y", "%modulus")):
        w.store(argument, given, i, "ptr")
    w.leave(f"ptr {w.capi('PyObject_VectorcallDict', w.held(Role.FORWARD), given, 3, 'null')}")


_SLOTS = """
declare ptr @vitrify.operator(ptr, ptr, ptr, ptr, i32)
declare ptr @vitrify.power(ptr, ptr, ptr, ptr)
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
    """What Python calls for an operator on numbers."""
    takes, call = "ptr %x, ptr %y", "operator(ptr @vitrify.{name}, ptr %x, ptr %y, ptr null, i32 0)"
    if name in ALONE_SLOTS:
        takes, call = "ptr %x", f"operator(ptr @vitrify.{{name}}, ptr %x, ptr null, ptr null, i32 {ALONE})"
    elif name == SQUARED:
        takes, call = "ptr %x, ptr %y, ptr %modulus", "power(ptr @vitrify.{name}, ptr %x, ptr %y, ptr %modulus)"
    return f"""
@vitrify.{name} = external global i8

define ptr @slot_{name}({takes}) {{
  %found = call ptr @vitrify.{call.format(name=name)}
  ret ptr %found
}}
"""


__all__ = ["ALONE_SLOTS", "COMPARISONS", "SQUARED", "OperatorCode"]
