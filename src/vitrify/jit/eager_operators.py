"""Eager operators in machine code: how it takes the place of Python's.

The operators of Tensor are functions of Python. Once they were called often (`operator_calls.py`), Tensor's slots get
functions of machine code (`codegen/operator_code.py`), which leave to those methods all but the most frequent cases.
The methods themselves stay what they are: whoever replaces one of them replaces what its operator does, for Python then
writes the slot anew.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable, Mapping
from threading import RLock
from typing import Any

from ..codegen.operator_code import ALONE_SLOTS, COMPARISONS, SQUARED, OperatorCode
from ..codegen.operator_table import OUT, Classes, Modes, Role, X, Y, numbers_of
from ..codegen.type_slots import slots_of
from ..core.dispatch import EAGER
from ..core.modes import amp_state, grad_enabled, recorder
from ..core.setting import WATCH
from ..eager.packing import HOOKS
from ..eager.parameter import Parameter
from ..eager.recording import NO_ATTRS, plan_of
from ..eager.tape import GradNode, Saved, SavedOutput
from ..eager.tensor import Tensor
from ..ops.registry import OpDef, Vjp, get_op
from ..ops.tensor_methods import TensorMethods

CLASSES = Classes((Tensor, Parameter), GradNode, Saved, SavedOutput)
MODES = Modes((recorder, amp_state), HOOKS, grad_enabled, WATCH)

# What each slot does: the methods of Python, and the op behind them; of powers, that behind the exponent 2.
OPERATORS: Mapping[str, tuple[str, str, str]] = {
    "nb_add": ("__add__", "__radd__", "add"),
    "nb_subtract": ("__sub__", "__rsub__", "subtract"),
    "nb_multiply": ("__mul__", "__rmul__", "multiply"),
    "nb_true_divide": ("__truediv__", "__rtruediv__", "divide"),
    "nb_floor_divide": ("__floordiv__", "__rfloordiv__", "floor_divide"),
    "nb_remainder": ("__mod__", "__rmod__", "mod"),
    "nb_and": ("__and__", "__rand__", "bitwise_and"),
    "nb_negative": ("__neg__", "__neg__", "neg"),
    "nb_power": ("__pow__", "__rpow__", "square"),
    "nb_or": ("__or__", "__ror__", "bitwise_or"),
    "nb_xor": ("__xor__", "__rxor__", "bitwise_xor"),
}
COMPARED = {
    "__lt__": "less_than", "__le__": "less_equal", "__eq__": "equal", "__ne__": "not_equal", "__gt__": "greater_than",
    "__ge__": "greater_equal",
}  # fmt: skip
METHODS = {name: vars(TensorMethods)[name] for pair in OPERATORS.values() for name in pair[:2]} | {
    name: vars(TensorMethods)[name] for name in COMPARED
}


class EagerOperators:
    """Machine code for the operators of Tensor: `install` puts it where Python calls it, `remove` takes it away."""

    def __init__(self) -> None:
        # Collecting garbage while code is made may run operators, and those may ask for the code, too.
        self._lock = RLock()
        self._made: dict[str, int] = {}
        # The functions that look methods up, which all classes written in Python share.
        self._general: dict[str, int] = {}
        self._pair: Callable[..., Any] = _without_code

    def install(self) -> None:
        """Let operators be machine code, but those whose methods somebody has replaced. Raises NoNativeForm."""
        with self._lock:
            self._make()
            for kind in CLASSES.tensors:
                for name, slot in slots_of(kind).items():
                    if name in self._made and slot.value == self._general[name] and _is_untouched(kind, name):
                        slot.set(self._made[name])
            EAGER.pair = self._pair

    def remove(self) -> None:
        """Let operators be Python's methods again."""
        with self._lock:
            for kind in CLASSES.tensors:
                for name, slot in slots_of(kind).items():
                    if name in self._made and slot.value == self._made[name]:
                        slot.set(self._general[name])
            EAGER.pair = _without_code

    def is_installed(self, kind: type, name: str) -> bool:
        """Whether a slot of a class leads to machine code."""
        return name in self._made and slots_of(kind)[name].value == self._made[name]

    def _make(self) -> None:
        if self._made:
            return
        general = _general_slots()
        code = OperatorCode(CLASSES, MODES, NO_ATTRS)
        numbers = {slot: _roles(get_op(name)) | _methods(*pair) for slot, (*pair, name) in OPERATORS.items()}
        comparisons = [_roles(get_op(COMPARED[name])) | _methods(name, name) for name in COMPARISONS]
        made = code.slots(numbers, comparisons, general["tp_richcompare"])
        of_two = [roles for slot, roles in numbers.items() if slot not in (SQUARED, *ALONE_SLOTS)]
        self._pair = code.pair({roles[Role.OP]: roles for roles in (*of_two, *comparisons)}, _without_code)
        self._general, self._made = general, made
        # What is left to do when Python ends must not come upon machine code whose objects are gone already.
        atexit.register(self.remove)


def _without_code(op: Any, x: Any, y: Any) -> Any:
    return EAGER.binary(op, x, y)


def _general_slots() -> dict[str, int]:
    """What a class without machine code has in its slots."""

    class Plain(Tensor):
        __slots__ = ()

    return {name: slot.value for name, slot in slots_of(Plain).items()}


def _is_untouched(kind: type, slot: str) -> bool:
    names = COMPARED if slot == "tp_richcompare" else OPERATORS[slot][:2]
    return all(getattr(kind, name) is METHODS[name] for name in names)


def _methods(forward: str, reflected: str) -> dict[Role, Any]:
    return {Role.FORWARD: METHODS[forward], Role.REFLECTED: METHODS[reflected]}


def _roles(op: OpDef) -> dict[Role, Any]:
    rules = op.vjp
    plans: dict[int, Any] = dict.fromkeys((1, 2, 3))
    kept: dict[int, list[int]] = {}
    if isinstance(rules, Vjp):
        places = dict(zip(op.inputs, (X, Y))) | {op.outputs[0]: OUT}
        for mask in range(1, 1 << len(op.inputs)):
            plans[mask] = rules.plans.get(mask) or plan_of(op, rules, mask)
            kept[mask] = [places[name] for name in plans[mask].names]
    return {
        Role.OP: op, Role.NUMBERS: numbers_of(op, kept), Role.PLAN_X: plans[1], Role.PLAN_Y: plans[2],
        Role.PLAN_XY: plans[3],
    }  # fmt: skip


OPERATORS_IN_CODE = EagerOperators()


__all__ = ["OPERATORS_IN_CODE", "EagerOperators"]
