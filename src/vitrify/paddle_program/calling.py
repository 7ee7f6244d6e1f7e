"""Operators of Paddle's programs, called where the code stands: by slots and attributes as a `.pdmodel` names them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import tensor as T
from ..core.dtype import DType
from ..core.errors import ArgumentError, FileFormatError
from ..core.sequences import as_list
from ..ir.known_values import as_tensor
from .attr_defaults import DEFAULTS
from .importing import run_node
from .reading import CHOICES, NUMBERS, node_of
from .table import Row, old_rows

_ROWS = old_rows()
Slots = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class _Slot:
    parameter: str
    arguments: list[str]


@dataclass(frozen=True)
class _Op:
    """An operator as the description of a program holds it: its arguments are names."""

    type: str
    inputs: list[_Slot]
    outputs: list[_Slot]


def rows_of(kind: str) -> list[Row]:
    """The rows of the operator; raises ArgumentError for one that is not known."""
    if kind not in _ROWS:
        raise ArgumentError(f"there is no operator {kind!r} of PaddlePaddle's programs here")
    return _ROWS[kind]


def row_of(kind: str, inputs: Slots, attrs: Mapping[str, Any]) -> Row:
    """The row of the operator as it is called with these inputs and attributes."""
    rows, op = rows_of(kind), _named(kind, inputs, {})[0]
    return CHOICES[kind](rows, op, attrs) if kind in CHOICES else rows[0]


def call_operator(
    kind: str, inputs: Slots, attrs: Mapping[str, Any], wanted: Collection[str] = ()
) -> dict[str, list[Any]]:
    """What the operator gives, by slot; attributes that are not given are what Paddle takes them to be.

    wanted: the slots that somebody reads; what gradients alone use is left out of others.

    Raises ArgumentError for operators that are not known and for inputs that are missing, UnsupportedError for inputs
    and attributes that are not known, and what the operator itself raises.
    """
    attrs = {**DEFAULTS.get(kind, {}), **{name: _plain(value) for name, value in attrs.items()}}
    row = row_of(kind, inputs, attrs)
    slots: Slots = {out.slot: [out.slot] for out in row.outputs}
    op, values = _named(kind, inputs, slots)
    try:
        node = node_of(row, op, dict(attrs))
    except FileFormatError as err:  # what is no sound file is no sound call
        raise ArgumentError(err.message, hint=err.hint) from err
    given = [[values[n] for n in i] if isinstance(i, list) else values.get(i, i) if isinstance(i, str) else i
             for i in node.inputs]  # fmt: skip
    more = _MORE[kind](inputs, attrs) if kind in _MORE and not _MORE_SLOTS.isdisjoint(wanted) else {}
    found = run_node(node, given)
    listed = [as_list(v) for v in found]
    return {out.slot: value for out, value in zip(row.outputs, listed)} | more


def _statistics(inputs: Slots, attrs: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The mean and variance of what a layer_norm takes as one row."""
    x = as_tensor(inputs["X"][0])
    rows = T.flatten(x, attrs["begin_norm_axis"], -1)
    return {"Mean": [T.mean(rows, -1)], "Variance": [T.var(rows, -1, unbiased=False)]}


# Outputs that reading a file leaves out, because nothing but gradients asks for them there.
_MORE: Mapping[str, Callable[..., dict[str, list[Any]]]] = {"layer_norm": _statistics}
_MORE_SLOTS = frozenset(("Mean", "Variance"))


def _plain(value: Any) -> Any:
    """An attribute as programs hold it: dtypes are numbers there."""
    return NUMBERS.get(value.name, value) if isinstance(value, DType) else value


def _named(kind: str, inputs: Slots, outputs: Slots) -> tuple[_Op, dict[str, Any]]:
    """The operator with a name for each argument, and the values by name."""
    values: dict[str, Any] = {}
    slots = []
    for slot, arguments in inputs.items():
        names = [f"{slot}.{i}" for i in range(len(arguments))]
        values.update(zip(names, arguments))
        slots.append(_Slot(slot, names))
    return _Op(kind, slots, [_Slot(slot, list(names)) for slot, names in outputs.items()]), values
