"""Whether an output of a program has a gradient, where the path decides: a flag of the run, made of its decisions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..convert.values.emit import emit
from ..core.meta import Meta
from ..core.modes import grad_enabled, scoped
from ..ir.builder import Builder
from ..ir.operator import Operator
from ..ir.program import Block, Variable
from ..ops.compare import equal, logical_and, logical_not, logical_or
from ..ops.control_flow import if_op, while_op

Path = tuple[tuple[Operator, str], ...] | None
"""The branches that lead to a block: operators, and which of their blocks it is. None inside of loops."""


@dataclass(frozen=True, eq=False)
class Choice:
    """A tensor stops gradients as `then` says where a decision is true, else as `orelse` says.

    The decision is a variable of the block at the end of `path`; where that is a number, whether it is zero.
    """

    decision: Variable
    path: tuple[tuple[Operator, str], ...]
    then: Flag
    orelse: Flag


Flag = bool | frozenset[Choice] | None
"""Whether a tensor stops gradients: as always, where all choices say so, or unknown."""


class Stopped:
    """Finds for variables of the outermost block whether they stop gradients in eager code."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._flags: dict[Variable, Flag] = {}
        self._made: dict[Choice, Any] = {}
        self._lifted: dict[tuple[Variable, Operator], Variable] = {}

    def flag(self, var: Variable) -> Any:
        """The variable that says whether `var` stops gradients, or a bool; None where the program cannot tell."""
        if var not in self._flags:  # recorded since it was asked before
            block = self._builder.block
            self._flags = _flags_in(block, (), [False] * len(block.inputs))
        with scoped(grad_enabled, False):
            return self._variable(_of(var, self._flags))

    def _variable(self, flag: Flag) -> Any:
        if not isinstance(flag, frozenset):
            return flag
        for choice in _in_order(flag):
            if choice not in self._made:
                self._made[choice] = self._chosen(choice)
        return self._all(flag)

    def _all(self, flag: Flag) -> Any:
        if not isinstance(flag, frozenset):
            return flag
        first, *others = [self._made[choice] for choice in flag]
        for other in others:
            first = None if first is None or other is None else logical_and(first, other)
        return first

    def _chosen(self, choice: Choice) -> Any:
        decision = self._lift(choice.decision, choice.path)
        then, orelse = self._all(choice.then), self._all(choice.orelse)
        if decision is None or then is None or orelse is None:
            return None
        decision = decision if decision.dtype.is_bool else equal(decision, 0)
        if isinstance(orelse, bool):
            if isinstance(then, bool):
                return decision if then else logical_not(decision)
            return logical_or(logical_not(decision), then) if orelse else logical_and(decision, then)
        if isinstance(then, bool):
            return logical_or(decision, orelse) if then else logical_and(logical_not(decision), orelse)
        return logical_or(logical_and(decision, then), logical_and(logical_not(decision), orelse))

    def _lift(self, var: Any, path: tuple[tuple[Operator, str], ...]) -> Variable | None:
        """A value of an inner block as one of the outermost; it means nothing where other paths are taken."""
        if not isinstance(var, Variable) or not isinstance(var.meta, Meta) or var.meta.shape:
            return None
        for operator, name in reversed(path):
            captured = dict(zip(operator.attrs[name].inputs, operator.inputs[1:]))
            if var in captured:
                var = captured[var]
                continue
            if (var, operator) not in self._lifted:
                self._lifted[var, operator] = self._given_out(var, operator, name)
            var = self._lifted[var, operator]
        return var if isinstance(var, Variable) else None

    def _given_out(self, var: Variable, operator: Operator, name: str) -> Variable:
        """One more output of an `if`."""
        outer = operator.outputs[0].block
        for side in ("then", "orelse"):
            block = operator.attrs[side]
            with self._builder.resume(block):
                given = var if side == name else emit(False if var.dtype.is_bool else 0, var.dtype)
            block.outputs = [*block.outputs, given]
        made = outer.create_var(var.meta, stop_gradient=True)
        operator.outputs = (*operator.outputs, made)
        return made


def _in_order(flag: frozenset[Choice]) -> list[Choice]:
    """All choices that it depends on, each behind those that it is made of."""
    found: list[Choice] = []
    waiting = [(choice, False) for choice in flag]
    seen: set[Choice] = set()
    while waiting:
        choice, is_done = waiting.pop()
        if is_done:
            found.append(choice)
        elif choice not in seen:
            seen.add(choice)
            waiting.append((choice, True))
            parts = [part for part in (choice.then, choice.orelse) if isinstance(part, frozenset)]
            waiting += [(inner, False) for part in parts for inner in part]
    return found


# --- what operators make of it ---------------------------------------------------------------------------------------


def _flags_in(block: Block, path: Path, given: Sequence[Flag]) -> dict[Variable, Flag]:
    """Of all variables of a block that may want a gradient, whether they stop it; `given` for its inputs."""
    found: dict[Variable, Flag] = dict(zip(block.inputs, given))
    for operator in block.ops:
        if all(out.stop_gradient for out in operator.outputs):
            continue
        flags: Iterable[Flag]
        if operator.op is if_op:
            flags = _flags_of_if(operator, path, found)
        elif operator.op is while_op:
            flags = _flags_of_while(operator, path, found)
        else:
            flags = [_of_all(operator, found)] * len(operator.outputs)
        found.update(zip(operator.outputs, flags))
    return found


def _of(var: Any, found: dict[Variable, Flag]) -> Flag:
    return True if not isinstance(var, Variable) or var.stop_gradient else found.get(var, False)


def _of_all(operator: Operator, found: dict[Variable, Flag]) -> Flag:
    """Whether all inputs that may want a gradient stop it; where there is none, the op made what wants one."""
    flags = [found.get(v, False) for v in operator.inputs if isinstance(v, Variable) and not v.stop_gradient]
    if False in flags or not flags:
        return False
    if None in flags or any(isinstance(value, Block) for value in operator.attrs.values()):
        return None
    choices = [flag for flag in flags if isinstance(flag, frozenset)]
    return frozenset().union(*choices) if choices else True


def _flags_of_if(operator: Operator, path: Path, found: dict[Variable, Flag]) -> list[Flag]:
    captured = [_of(v, found) for v in operator.inputs[1:]]
    sides = []
    for name in ("then", "orelse"):
        block = operator.attrs[name]
        inside = _flags_in(block, None if path is None else (*path, (operator, name)), captured)
        sides.append([_of(v, inside) for v in block.outputs])
    return [_choice(operator.inputs[0], path, then, orelse) for then, orelse in zip(*sides)]


def _flags_of_while(operator: Operator, path: Path, found: dict[Variable, Flag]) -> list[Flag]:
    """Of carried values: those from before where no iteration runs, else what all iterations leave likewise."""
    attrs = operator.attrs
    count, body = attrs["n_carried"], attrs["body"]
    given = [_of(v, found) for v in operator.inputs[attrs["cond"] is None :]]
    first, others = given[:count], given[count:]

    def after(heads: Sequence[Flag]) -> list[Flag]:
        inside = _flags_in(body, None, [*heads, *others])
        return [_of(v, inside) for v in body.outputs[:count]]

    once = after(first)
    ends = [a if a == b else None for a, b in zip(once, after(once))]
    carried = [_choice(operator.outputs[count], path, start, end) for start, end in zip(first, ends)]
    return [*carried, *[None] * (len(operator.outputs) - count)]


def _choice(decision: Any, path: Path, then: Flag, orelse: Flag) -> Flag:
    if then == orelse or then is None or orelse is None:
        return then if then == orelse else None
    is_known = path is not None and isinstance(decision, Variable)
    return frozenset({Choice(decision, path or (), then, orelse)}) if is_known else None
