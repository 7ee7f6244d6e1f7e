"""Whether variables of a program stop gradients in eager code, as far as its operators tell: always, or by the path.

What depends on the path is named by `Atom`s: results of branches and loops. Nothing is recorded here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..ir.operator import Operator
from ..ir.program import Block, Variable
from ..ir.stop_flags import WANTS
from ..ops.control_flow import if_op, while_op


@dataclass(eq=False)
class Atom:
    """Something that stops gradients on some paths: a variable of the scope's block will say so of each run."""

    scope: Scope


Flag = bool | frozenset[Atom] | None
"""Whether a tensor stops gradients: as always, where all atoms say so, or unknown."""


@dataclass(eq=False)
class Scope:
    """A block, the operator that it belongs to, and the flags of those of its variables that may want a gradient."""

    block: Block
    operator: Operator | None = None
    outer: Scope | None = None
    flags: dict[Variable, Flag] = field(default_factory=dict)

    def of(self, var: Any) -> Flag:
        """The flag of a variable; what is no variable has no gradient."""
        return True if not isinstance(var, Variable) or var.stop_gradient else self.flags.get(var, False)

    def learn(self) -> None:
        """Find the flags of what was recorded since this was asked before."""
        for operator in self.block.ops:
            outs = operator.outputs
            if all(out.stop_gradient or out in self.flags for out in outs):
                continue
            flags: Sequence[Flag]
            if operator.op is if_op:
                flags = _of_branches(operator, self)
            elif operator.op is while_op and operator.attrs["cond"] is not None:
                flags = _of_loop(operator, self)
            else:
                flags = [_of_all(operator, self)] * len(outs)
            self.flags.update((out, False if WANTS in out.__dict__ else flag) for out, flag in zip(outs, flags))

    def inside(self, operator: Operator, name: str, heads: Sequence[Flag] = ()) -> Scope:
        """The scope of a block of an operator, its flags found; heads: of those of its inputs that are not captured."""
        found = Scope(operator.attrs[name], operator, self)
        inputs = found.block.inputs
        captured = operator.inputs[len(operator.inputs) - len(inputs) + len(heads) :]
        found.flags.update(zip(inputs, (*heads, *[_seen_inside(self.of(v), found) for v in captured])))
        found.learn()
        return found


@dataclass(eq=False)
class Captured(Atom):
    """What is captured from outside stops gradients as it does there."""

    flag: frozenset[Atom]


@dataclass(eq=False)
class Chosen(Atom):
    """A result of an `if`: as the one of its branches that runs leaves it."""

    operator: Operator
    sides: tuple[tuple[Scope, Flag], tuple[Scope, Flag]]


@dataclass(eq=False)
class Loop:
    """A `while`, and the flags of what it carries, before it and at the end of an iteration."""

    operator: Operator
    scope: Scope
    starts: list[Flag]
    body: Scope = field(init=False)
    ends: list[Flag] = field(init=False)


@dataclass(eq=False)
class Head(Atom):
    """What a loop carries, at the head of its body."""

    loop: Loop
    index: int


@dataclass(eq=False)
class After(Atom):
    """What a loop carries, after it."""

    loop: Loop
    index: int


def lifted(flag: Flag) -> Flag:
    """The flag of an inner block as one of the block around it; unknown where that takes something of the inner one."""
    if not isinstance(flag, frozenset):
        return flag
    if not all(isinstance(atom, Captured) for atom in flag):
        return None
    return frozenset().union(*[atom.flag for atom in flag if isinstance(atom, Captured)])


def _seen_inside(flag: Flag, scope: Scope) -> Flag:
    return frozenset({Captured(scope, flag)}) if isinstance(flag, frozenset) else flag


def _of_all(operator: Operator, scope: Scope) -> Flag:
    """Whether all inputs that may want a gradient stop it; where there is none, the op made what wants one."""
    flags = [scope.of(v) for v in operator.variables if not v.stop_gradient]
    if False in flags or not flags:
        return False
    if None in flags or any(isinstance(value, Block) for value in operator.attrs.values()):
        return None
    return _all(flags)


def _all(flags: Iterable[Flag]) -> Flag:
    atoms = frozenset().union(*[flag for flag in flags if isinstance(flag, frozenset)])
    return atoms or True


def _of_branches(operator: Operator, scope: Scope) -> list[Flag]:
    then, orelse = (scope.inside(operator, name) for name in ("then", "orelse"))
    found: list[Flag] = []
    for a, b in zip(then.block.outputs, orelse.block.outputs):
        sides = (then, then.of(a)), (orelse, orelse.of(b))
        flags = [flag for _, flag in sides]
        if None in flags:
            found.append(None)
        elif lifted(flags[0]) == lifted(flags[1]) is not None:
            found.append(lifted(flags[0]))
        else:
            found.append(frozenset({Chosen(scope, operator, sides)}))
    return found


def _of_loop(operator: Operator, scope: Scope) -> list[Flag]:
    """Of carried values; traced with what all iterations leave as it was taken for constant, until that holds."""
    count = operator.attrs["n_carried"]
    starts = [scope.of(v) for v in operator.inputs[:count]]
    varying = {i for i, flag in enumerate(starts) if isinstance(flag, frozenset)}
    unknown = {i for i, flag in enumerate(starts) if flag is None}
    while True:
        loop = Loop(operator, scope, starts)
        atoms = {i: Head(scope, loop, i) for i in varying - unknown}
        heads = [None if i in unknown else frozenset({atoms[i]}) if i in atoms else starts[i] for i in range(count)]
        loop.body = scope.inside(operator, "body", heads)
        loop.ends = [loop.body.of(v) for v in loop.body.block.outputs[:count]]
        known = len(varying), len(unknown)
        unknown |= {i for i, end in enumerate(loop.ends) if end is None}
        varying |= {i for i, end in enumerate(loop.ends) if i not in atoms and end != starts[i]}
        if known == (len(varying), len(unknown)):
            break
    for atom in atoms.values():
        atom.scope = loop.body
    passed_on = {i for i, atom in atoms.items() if loop.ends[i] == frozenset({atom})}
    found: list[Flag] = [None] * len(operator.outputs)
    for i in set(range(count)) - unknown:
        found[i] = frozenset({After(scope, loop, i)}) if i in atoms and i not in passed_on else starts[i]
    return found
