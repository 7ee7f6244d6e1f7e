"""Which tensors a program only hands through lists: what a list gives back is the object that was put into it.

A program knows values, not objects. An array that comes out of a list as the very one that went in, by an operator that
puts it there as it is, belongs to the same tensor: one that the call was given, or another one that it gives back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..core.meta import ListMeta
from ..eager.tensor import Tensor
from ..ir.operator import Operator
from ..ir.program import Program, Variable
from ..ops import lists
from ..ops.control_flow import if_op, while_op

PASSING = frozenset(
    {lists.list_of_op, lists.list_append_op, lists.list_extend_op, lists.list_get_op, lists.list_set_op}
    | {lists.list_put_op, lists.list_remove_op, lists.list_slice_op, lists.list_order_op, lists.list_zip_op}
    | {lists.list_pluck_op}
)
"""Operators whose results hold what they are given, or are it."""


@dataclass
class Handed:
    """The tensors that a value may be, by their numbers: `inputs` and outputs of the program.

    `given`: outputs that the call gives as they are. `made`: others that the program made. `outputs`: others, which are
    one of those on their part.
    """

    inputs: list[int] = field(default_factory=list)
    given: list[int] = field(default_factory=list)
    made: list[int] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)

    def same(self, value: Any, values: Sequence[Any], inputs: Sequence[Any]) -> Any:
        """`value`, a tensor or a list of such, with those in it that are one of these as the objects they are."""
        found: dict[int, Any] = {}
        for these in (self.outputs, self.made, self.given):  # the last one counts most
            found |= _by_array([values[i] for i in these])
        found |= _by_array([inputs[i] for i in self.inputs])
        return _exchanged(value, found) if found else value


def _by_array(tensors: Collection[Any]) -> dict[int, Any]:
    """The tensors by the ids of their arrays, but those on one array: which of them a value is, nobody can tell."""
    counts = Counter(id(tensor._data) for tensor in tensors)
    return {id(tensor._data): tensor for tensor in tensors if counts[id(tensor._data)] == 1}


def _exchanged(value: Any, known: Mapping[int, Tensor]) -> Any:
    if isinstance(value, list):
        return [_exchanged(item, known) for item in value]
    return known.get(id(value._data), value) if isinstance(value, Tensor) else value


class Origins:
    """Where the values of a program come from, as far as its operators pass them on as they are."""

    def __init__(self, program: Program) -> None:
        self._sources: dict[Variable, list[Any]] = {}
        operators = [op for block in program.blocks for op in block.ops]
        if any(op.op in PASSING for op in operators):
            for operator in operators:
                self._learn(operator)

    def _learn(self, operator: Operator) -> None:
        for block in operator.blocks.values():
            self._sources.update((inner, [outer]) for outer, inner in block.captures.items())
        if operator.op in PASSING:
            self._sources.update((out, [*operator.variables]) for out in operator.outputs)
        elif operator.op is if_op:
            ends = zip(*[block.outputs for block in operator.blocks.values()])
            self._sources.update((out, list(both)) for out, both in zip(operator.outputs, ends))
        elif operator.op is while_op:
            body, count = operator.blocks["body"], operator.attrs["n_carried"]
            ends = zip(operator.inputs[:count], body.outputs[:count])
            for out, head, both in zip(operator.outputs, body.inputs, ends):
                self._sources[out] = self._sources[head] = list(both)

    def of(self, parts: Iterable[Variable]) -> set[Variable]:
        """What these values may be: inputs of the program, and results of operators that pass nothing on."""
        return {var for var in self._passed_by(parts) if var not in self._sources}

    def is_made(self, var: Variable) -> bool:
        """Whether it is no other value that an operator passed on."""
        return var not in self._sources

    def are_listed(self, parts: Iterable[Variable]) -> bool:
        """Whether lists are among what these values come by."""
        return bool(self._sources) and any(isinstance(var.meta, ListMeta) for var in self._passed_by(parts))

    def _passed_by(self, parts: Iterable[Variable]) -> set[Variable]:
        seen: set[Variable] = set()
        waiting: list[Any] = list(parts)
        while waiting:
            var = waiting.pop()
            if isinstance(var, Variable) and var not in seen:
                seen.add(var)
                waiting += self._sources.get(var, ())
        return seen
