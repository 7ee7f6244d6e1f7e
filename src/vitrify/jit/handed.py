"""Which tensors a program only hands through lists: what a list gives back is the object that was put into it.

A program knows values, not objects. Beside what comes out of lists it gives numbers that say which tensors those are
(`convert/control/object_numbers.py`): one that the call was given, or another one that it gives back. Where it has
no numbers, an array that comes out as the very one that went in belongs to the same tensor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..core.meta import ListMeta
from ..eager.tensor import Tensor
from ..ir.operator import Operator
from ..ir.program import Program, Variable
from ..ops.calls import call_op
from ..ops.control_flow import if_op, while_op
from ..ops.lists import PASSING

Met = dict[int, Any]
OBJECTS = -1
"""The key, among the containers that a call has made so far, of its tensors by number."""


@dataclass
class Objects:
    """The tensors of a call that may come out of lists, too: numbers, or the outputs that give them, with places."""

    inputs: list[tuple[int, int]] = field(default_factory=list)
    outputs: list[tuple[int, int]] = field(default_factory=list)
    given: list[tuple[int, int]] = field(default_factory=list)

    def of_call(self, values: Sequence[Any], inputs: Sequence[Any], met: Met) -> dict[int, Any]:
        """The tensors of this call by their numbers; `met` is what it has made so far."""
        found: dict[int, Any] | None = met.get(OBJECTS)
        if found is None:
            found = met[OBJECTS] = {}
            for number, place in self.inputs:
                found.setdefault(number, inputs[place])
            for number, index in self.given:
                found.setdefault(number, values[index])
            for flag, index in self.outputs:
                found.setdefault(values[flag].item(), values[index])
        return found


@dataclass
class Handed:
    """The tensors that a value may be, by their numbers: `inputs` and outputs of the program.

    `given`: outputs that the call gives as they are. `made`: others that the program made. `outputs`: others, which are
    one of those on their part. `numbers`, by output: the number of the tensor, or the output, from -1 downwards, that
    gives it, or those of the items of a list; `objects` are then all tensors that it may be.
    """

    inputs: list[int] = field(default_factory=list)
    given: list[int] = field(default_factory=list)
    made: list[int] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    numbers: dict[int, int] = field(default_factory=dict)
    objects: Objects | None = None

    def same(self, index: int, values: Sequence[Any], inputs: Sequence[Any], met: Met) -> Any:
        """Output `index`, a tensor or list of tensors, in which each that is one of these is that object."""
        value = values[index]
        if self.objects is not None:
            flag = self.numbers.get(index)
            if flag is None:
                return value
            return _by_number(value, values[flag], self.objects.of_call(values, inputs, met))
        found: dict[int, Any] = {}
        for these in (self.outputs, self.made, self.given):  # the last one counts most
            found |= by_array([values[i] for i in these])
        found |= by_array([inputs[i] for i in self.inputs])
        return _exchanged(value, found) if found else value

    @property
    def goes_by_array(self) -> bool:
        """Whether a value may be one of those tensors, which its array tells."""
        return self.objects is None and bool(self.inputs or self.given or self.made or self.outputs)


def _by_number(value: Any, number: Any, known: dict[int, Any]) -> Any:
    """A tensor, or a list of such, with each as the first one of its number."""
    if isinstance(value, list):
        return [_by_number(item, beside, known) for item, beside in zip(value, number)]
    return known.setdefault(number.item(), value)


def by_array(tensors: Collection[Any]) -> dict[int, Any]:
    """The tensors by the ids of their arrays, but those on one array: which of them a value is, nobody can tell."""
    counts = Counter(id(tensor._data) for tensor in tensors)
    return {id(tensor._data): tensor for tensor in tensors if counts[id(tensor._data)] == 1}


def _exchanged(value: Any, known: Mapping[int, Tensor]) -> Any:
    if isinstance(value, list):
        return [_exchanged(item, known) for item in value]
    return known.get(id(value._data), value) if isinstance(value, Tensor) else value


def is_list(var: Variable) -> bool:
    """Whether a variable holds a list."""
    return isinstance(var.meta, ListMeta)


class Origins:
    """Where the values of a program come from, as far as its operators pass them on as they are.

    changed: the tensor that a variable is, of those that hold what one means since it was changed in place.
    """

    def __init__(self, program: Program, changed: Mapping[Variable, Variable]) -> None:
        self._operators = [op for block in program.blocks for op in block.ops]
        self._changed = changed
        self._has_lists = any(op.op in PASSING for op in self._operators)
        self._exits: set[Variable] = set()
        self._repeated: set[Variable] = set()

    @cached_property
    def _sources(self) -> dict[Variable, list[Any]]:
        """What each variable may be, or hold, that is another one or a list."""
        found: dict[Variable, list[Any]] = {}
        for operator in self._operators:
            self._learn(operator, found)
        found.update((var, [first]) for var, first in self._changed.items() if var is not first)
        return found

    def _learn(self, operator: Operator, found: dict[Variable, list[Any]]) -> None:
        for block in operator.blocks.values():
            found.update((inner, [outer]) for outer, inner in block.captures.items())
            if operator.op is not if_op:
                self._repeated.update(block.captures.values())
        if operator.op in PASSING:
            found.update((out, [*operator.variables]) for out in operator.outputs)
        elif operator.op is if_op:
            ends = zip(*[block.outputs for block in operator.blocks.values()])
            found.update((out, list(both)) for out, both in zip(operator.outputs, ends))
        elif operator.op is call_op:
            function = operator.attrs["function"]
            for inner, outer in zip(function.inputs, operator.inputs):
                found.setdefault(inner, []).append(outer)
                self._repeated.add(inner)
            found.update((out, [end]) for out, end in zip(operator.outputs, function.outputs))
        elif operator.op is while_op:
            body, count = operator.blocks["body"], operator.attrs["n_carried"]
            ends = zip(operator.inputs[:count], body.outputs[:count])
            for out, head, both in zip(operator.outputs, body.inputs, ends):
                found[out] = found[head] = list(both)
                self._exits.add(out)

    def of(self, parts: Iterable[Variable], is_end: Callable[[Variable], bool] = lambda var: False) -> set[Variable]:
        """What these values may be: inputs of the program, and results of operators that pass nothing on.

        is_end: tells which others are not looked into.
        """
        return {var for var in self._passed_by(parts, is_end) if var not in self._sources or is_end(var)}

    def is_made(self, var: Variable) -> bool:
        """Whether it is no other value that an operator passed on."""
        return var not in self._sources

    def are_listed(self, parts: Iterable[Variable]) -> bool:
        """Whether lists are among what these values come by."""
        return self._has_lists and any(map(is_list, self._passed_by(parts)))

    def doubled_by(self, parts: Sequence[Variable]) -> Operator | None:
        """The call of a function by whose lists these values come, if they may hold what the calls made twice.

        Nothing outside knows that, so its array tells nothing either.
        """
        passed = self._passed_by(parts)
        calls = [op for op in self._operators if op.op is call_op]
        call = next((op for op in calls if any(is_list(out) and out in passed for out in op.outputs)), None)
        if call is None:
            return None
        formals = {var for op in calls for var in op.attrs["function"].inputs}
        put = Counter([id(item) for var in passed if is_list(var) for item in self._sources.get(var, ())])
        for var in passed - formals:
            is_inside = var.block.parent is not None or bool(var.block.name)
            if var in self._repeated if is_list(var) else is_inside and put[id(var)] > 1:
                return call
        return None

    def are_once(self, parts: Sequence[Variable]) -> bool:
        """Whether nothing is in these values twice, as each is passed on but once."""
        passed = self._passed_by(parts)
        return passed.isdisjoint(self._repeated) and all(count == 1 for count in self._uses(parts, passed).values())

    def _uses(self, parts: Sequence[Variable], passed: Collection[Variable]) -> Counter[int]:
        """How often each value is passed on, by ids; what loops give is what they carry."""
        taken = [*parts, *[v for var in passed if var not in self._exits for v in self._sources.get(var, ())]]
        return Counter([id(var) for var in taken if isinstance(var, Variable)])

    def _passed_by(
        self, parts: Iterable[Variable], is_end: Callable[[Variable], bool] = lambda var: False
    ) -> set[Variable]:
        seen: set[Variable] = set()
        waiting: list[Any] = list(parts)
        while waiting:
            var = waiting.pop()
            if isinstance(var, Variable) and var not in seen:
                seen.add(var)
                waiting += () if is_end(var) else self._sources.get(var, ())
        return seen
