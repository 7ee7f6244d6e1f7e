"""A backward program for when only some outputs of the forward got a cotangent.

The others' are zeros, which must not be computed with: where a derivative is infinite, zero times that is not a number.
What a backward program makes of cotangents is linear in them, so what depends on missing ones alone is missing, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.meta import Meta
from ..ir.builder import Builder, building, differentiable
from ..ir.clone import clone_program
from ..ir.dead_code import prune
from ..ir.program import Block, Operator, Program, Variable
from ..ops.control_flow import if_op, list_add_op, while_op
from ..ops.creation import full
from ..ops.elementwise import add_op

Flags = Sequence[bool]


class _NotLinear(Exception):
    """Some operator makes of cotangents what is no cotangent, or needs zeros of a shape that is not known."""


@dataclass(frozen=True)
class GivenBackward:
    """A backward of fewer cotangents. `outputs`: the number here of each output of the whole one, None where no
    gradient comes.
    """

    program: Program
    outputs: tuple[int | None, ...]


def backward_of_given(whole: Program, n_cotangents: int, given: Sequence[bool]) -> GivenBackward | None:
    """The backward `whole`, whose last inputs are cotangents, for those `given`; None where it cannot be told apart."""
    program = clone_program(whole)
    block = program.global_block()
    first = len(block.inputs) - n_cotangents
    cts = block.inputs[first:]
    missing = {v for v, is_given in zip(cts, given) if not is_given}
    residuals = block.inputs[:first]
    try:
        with building(Builder(program)) as builder:
            gone = _Rewriting(builder).block(block, missing, set(cts))
    except _NotLinear:
        return None
    kept = [i for i, v in enumerate(block.outputs) if v not in gone]
    block.outputs = [block.outputs[i] for i in kept]
    prune(block)
    block.inputs = [*residuals, *[v for v in cts if v not in missing]]
    numbers = {old: new for new, old in enumerate(kept)}
    return GivenBackward(program, tuple(map(numbers.get, range(len(whole.global_block().outputs)))))


# --- which variables are missing -------------------------------------------------------------------------------------


class _State:
    """The variables of a block that depend on cotangents, and those of them that depend on missing ones alone."""

    def __init__(self, gone: Iterable[Variable], dependent: Iterable[Variable]) -> None:
        self.gone = set(gone)
        self.dependent = set(dependent)

    def pass_by(self, operator: Operator) -> None:
        """Take note of what the operator gives."""
        found = [v for v in operator.variables if v in self.dependent]
        if not found:
            return
        self.dependent.update(operator.outputs)
        if any(v in self.gone for v in found):
            outs = zip(operator.outputs, _missing_outputs(operator, self, all(v in self.gone for v in found)))
            self.gone.update(v for v, is_missing in outs if is_missing)


def _missing_outputs(operator: Operator, state: _State, is_all: bool) -> Flags:
    """For each output whether it is missing."""
    if operator.op is if_op:
        return _missing_of_if(operator, state)
    if operator.op is while_op:
        return _missing_of_while(operator, state)
    if not all(differentiable(v.meta) for v in operator.outputs):
        raise _NotLinear
    return [is_all] * len(operator.outputs)


def _after(block: Block, gone: Iterable[Variable], dependent: Iterable[Variable]) -> _State:
    state = _State(gone, dependent)
    for operator in block.ops:
        state.pass_by(operator)
    return state


def _picked(formals: Sequence[Variable], inputs: Sequence[Any], wanted: set[Variable]) -> set[Variable]:
    """The formals whose inputs are `wanted`."""
    return {f for f, v in zip(formals, inputs) if isinstance(v, Variable) and v in wanted}


def _missing_of_if(operator: Operator, state: _State) -> Flags:
    ends = []
    for block in operator.blocks.values():
        formals = [_picked(block.inputs, operator.inputs[1:], wanted) for wanted in (state.gone, state.dependent)]
        after = _after(block, *formals)
        ends.append([v is None or v in after.gone for v in block.outputs])
    return [all(pair) for pair in zip(*ends)]


def _entering(operator: Operator, state: _State) -> tuple[set[Variable], set[Variable]]:
    """The inputs of a loop's body that are missing throughout, and those that depend on cotangents."""
    if operator.attrs["cond"] is not None:
        raise _NotLinear
    body, n = operator.attrs["body"], operator.attrs["n_carried"]
    inputs = operator.inputs[1:]
    carried = body.inputs[:n]
    # What is carried are cotangents and their sums: those that start from no cotangent start from zeros.
    gone = {f for f, v in zip(carried, inputs) if v in state.gone or v not in state.dependent}
    others = _picked(body.inputs[n:], inputs[n:], state.gone)
    dependent = {*carried, *_picked(body.inputs[n:], inputs[n:], state.dependent)}
    while True:
        after = _after(body, gone | others, dependent)
        kept = {f for f, end in zip(carried, body.outputs) if f in gone and end in after.gone}
        if kept == gone:
            return gone | others, dependent
        gone = kept


def _missing_of_while(operator: Operator, state: _State) -> Flags:
    body, n = operator.attrs["body"], operator.attrs["n_carried"]
    gone, dependent = _entering(operator, state)
    after = _after(body, gone, dependent)
    lists = [v in after.gone for v in body.outputs[n:]]
    return [*[f in gone for f in body.inputs[:n]], False, *lists]


# --- the program without them ----------------------------------------------------------------------------------------


class _Rewriting:
    def __init__(self, builder: Builder) -> None:
        self.builder = builder

    def block(self, block: Block, gone: Iterable[Variable], dependent: Iterable[Variable]) -> set[Variable]:
        """Leave out of the block what gives missing cotangents; those."""
        state = _State(gone, dependent)
        operators = list(block.ops)
        instead: dict[Variable, Any] = {}
        block.ops.clear()
        with self.builder.resume(block):
            for operator in operators:
                operator.inputs = tuple(instead.get(v, v) if isinstance(v, Variable) else v for v in operator.inputs)
                state.pass_by(operator)
                self._operator(block, operator, state, instead)
        block.outputs = [v if v is None else instead.get(v, v) for v in block.outputs]
        return state.gone

    def _operator(self, block: Block, operator: Operator, state: _State, instead: dict[Variable, Any]) -> None:
        if all(v in state.gone for v in operator.outputs) and operator.outputs:
            return
        missing = {v for v in operator.variables if v in state.gone}
        if operator.op in (add_op, list_add_op) and missing:
            (other,) = [v for v in operator.inputs if v not in missing]
            if other.meta != operator.outputs[0].meta:
                raise _NotLinear
            instead[operator.outputs[0]] = other
            state.dependent.add(other)
            return
        if operator.op is if_op and missing:
            self._branches(operator, state)
        elif operator.op is while_op and missing:
            self._loop(operator, state)
        else:
            given = {v: self.zeros(v) for v in missing}
            operator.inputs = tuple(given.get(v, v) if isinstance(v, Variable) else v for v in operator.inputs)
        block.ops.append(operator)

    def zeros(self, like: Variable) -> Variable:
        """Zeros in place of a missing cotangent."""
        if not isinstance(like.meta, Meta) or any(size < 0 for size in like.meta.shape):
            raise _NotLinear
        return full(list(like.meta.shape), 0, like.meta.dtype)  # type: ignore[no-any-return]

    def _ends(self, block: Block, outputs: Sequence[Any], gone: set[Variable], kept: Flags) -> list[Any]:
        """The outputs that stay, with zeros for those that are missing here."""
        with self.builder.resume(block):
            found = [v for v, is_kept in zip(outputs, kept) if is_kept]
            return [self.zeros(v) if v in gone else v for v in found]

    def _branches(self, operator: Operator, state: _State) -> None:
        kept = [v not in state.gone for v in operator.outputs]
        for block in operator.blocks.values():
            formals = [_picked(block.inputs, operator.inputs[1:], w) for w in (state.gone, state.dependent)]
            gone = self.block(block, *formals)
            block.outputs = self._ends(block, block.outputs, gone, kept)
            block.inputs = [f for f in block.inputs if f not in formals[0]]
        operator.inputs = tuple(v for v in operator.inputs if v not in state.gone)
        operator.outputs = tuple(v for v in operator.outputs if v not in state.gone)

    def _loop(self, operator: Operator, state: _State) -> None:
        body, n, n_xs = (operator.attrs[name] for name in ("body", "n_carried", "n_xs"))
        left, dependent = _entering(operator, state)
        for position, formal in enumerate(body.inputs[:n]):
            if formal not in left and operator.inputs[1 + position] in state.gone:
                inputs = list(operator.inputs)
                inputs[1 + position] = self.zeros(inputs[1 + position])
                operator.inputs = tuple(inputs)
        lists = [v not in state.gone for v in operator.outputs[n + 1 :]]
        flags = [*[f not in left for f in body.inputs[:n]], True, *lists]
        gone = self.block(body, left, dependent)
        body.outputs = self._ends(body, body.outputs, gone, [*flags[:n], *flags[n + 1 :]])
        kept = [f not in left for f in body.inputs]
        operator.inputs = (operator.inputs[0], *[v for v, k in zip(operator.inputs[1:], kept) if k])
        operator.outputs = tuple(v for v, k in zip(operator.outputs, flags) if k)
        body.inputs = [f for f, k in zip(body.inputs, kept) if k]
        operator.attrs = {**operator.attrs, "n_carried": sum(kept[:n]), "n_xs": sum(kept[n : n + n_xs])}
