"""Operators of Programs as Paddle's programs describe them, for code that looks for types and slots."""

from __future__ import annotations

from typing import Any

from ..core.errors import VitrifyError
from ..ir.described import Description
from ..ir.program import Operator, Variable
from .desc_writing import operator_descs
from .emitter import FORMS, Emitter, held
from .exporting import write_operator
from .graph import Param
from .reading import attributes_of
from .scalars import is_written

_BIAS = "bias"
_ADDED = frozenset(("reshape2", "elementwise_add"))
"""What a bias is added by."""
_CONSTANTS = frozenset(("fill_constant", "assign_value"))


def described(operator: Operator) -> Description | None:
    """The one operator of Paddle's that this is; None where it is none, or several.

    A bias, which Paddle adds by an operator of its own, is in the slot `Bias`. Numbers that stand among the inputs have
    no variable, so their slots are empty.
    """
    if operator.blocks or not (FORMS.get(operator.op) or is_written(operator.op)):
        return None
    try:
        return _described(operator)
    except VitrifyError:  # it has no form, with these attributes
        return None


def _described(operator: Operator) -> Description | None:
    g = Emitter(True)
    env: dict[Variable, Any] = {v: g.value(held(v.meta)) for v in dict.fromkeys(operator.variables)}
    g.graph.params = [
        Param(value.id, var.name, value.dtype, value.shape, False) for var, value in env.items() if var.persistable
    ]
    names = {value.id: operator.name_of(var) for var, value in env.items()}
    write_operator(g, operator, env)
    names |= {env[v].id: operator.name_of(v) for v in operator.outputs if v in env}
    is_known = frozenset(names.values())
    ops = [op for op in operator_descs(g, names) if op.type not in _CONSTANTS or not operator.variables]
    main = ops[0]
    inputs = {slot.parameter: [a for a in slot.arguments if a in is_known] for slot in main.inputs}
    outputs = {slot.parameter: [a for a in slot.arguments if a in is_known] for slot in main.outputs}
    bias = operator.inputs[operator.op.inputs.index(_BIAS)] if _BIAS in operator.op.inputs else None
    if len(ops) > 1:
        if not isinstance(bias, Variable) or {op.type for op in ops[1:]} - _ADDED:
            return None
        inputs.setdefault("Bias", [operator.name_of(bias)])
        outputs = {slot: operator.output_arg_names if names_ == [] else names_ for slot, names_ in outputs.items()}
    return Description(main.type, inputs, outputs, attributes_of(main))
