"""Whether an output of a program has a gradient, where the path decides: a flag of the run, made beside the results.

A branch that a flag depends on gives one more result, a loop carries one more value: the state of what it carries.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from ..convert.values.sequences import constant
from ..core.modes import grad_enabled, scoped
from ..ir.builder import Builder
from ..ir.operator import Operator
from ..ir.program import Block, Variable
from ..ir.regions import add_branch_output, add_carried, capturing_late, end_carried
from ..ops.compare import logical_and, logical_not, logical_or
from .stop_flags import After, Atom, Captured, Chosen, Flag, Head, Loop, Scope, lifted

Making = Generator[Atom, None, None]
"""Makes the variable of an atom, once those of the atoms that it asks for are made."""


class Stopped:
    """Finds for variables of the outermost block whether they stop gradients in eager code."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._scope = Scope(builder.block)
        self._made: dict[Atom, Variable] = {}
        self._heads: dict[tuple[Loop, int], tuple[Variable, Variable]] = {}

    def flag(self, var: Variable) -> Any:
        """The variable that says whether `var` stops gradients, or a bool; None where the program cannot tell."""
        if var not in self._scope.flags:
            self._scope.learn()
        flag = self._scope.of(var)
        if not isinstance(flag, frozenset):
            return flag
        with scoped(grad_enabled, False):
            self._make(flag)
            return self._all(flag, self._scope.block)

    def _make(self, flag: frozenset[Atom]) -> None:
        """Make the variables of these atoms. Not by recursion: what follows decisions one by one may be long."""
        waiting: list[Making] = [self._making(atom) for atom in flag]
        while waiting:
            wanted = next(waiting[-1], None)
            if wanted is None:
                waiting.pop()
            else:
                waiting.append(self._making(wanted))

    def _making(self, atom: Atom) -> Making:
        if atom in self._made:
            return
        if isinstance(atom, Captured):
            yield from atom.flag
            self._made[atom] = self._captured(atom)
        elif isinstance(atom, Chosen):
            yield from self._choosing(atom)
        elif isinstance(atom, (Head, After)):
            yield from self._carrying(atom.loop, atom.index)
            self._made[atom] = self._heads[atom.loop, atom.index][isinstance(atom, After)]

    def _all(self, flag: Flag, block: Block, *, before: Operator | None = None) -> Variable:
        """Whether all of these atoms, made already, hold: at the end of a block, or in front of an operator."""

        def every() -> Variable:
            if not isinstance(flag, frozenset):
                return constant(bool(flag))  # type: ignore[no-any-return]  # an op's result
            first, *others = [self._made[atom] for atom in flag]
            for other in others:
                first = logical_and(first, other)
            return first

        return self._recorded(every, block, block.ops.index(before) if before is not None else None)

    def _recorded(self, function: Callable[[], Variable], block: Block, at: int | None) -> Variable:
        """What `function` gives; it records into the block, at a place among its operators or the end."""
        mark = len(block.ops)
        with self._builder.resume(block):
            found = function()
        if at is not None:
            made = list(block.ops[mark:])
            del block.ops[mark:]
            block.ops[at:at] = made
        return found

    def _captured(self, atom: Captured) -> Variable:
        scope = atom.scope
        assert scope.operator is not None and scope.outer is not None
        outside = self._all(atom.flag, scope.outer.block, before=scope.operator)
        with capturing_late(scope.operator):
            return scope.block.resolve(outside)

    def _choosing(self, atom: Chosen) -> Making:
        """From the decision, where both flags are known outside; else as one more result."""
        operator, decision = atom.operator, atom.operator.inputs[0]
        outside = [lifted(flag) for _, flag in atom.sides]
        if None not in outside and isinstance(decision, Variable) and decision.dtype.is_bool and not decision.shape:
            yield from _atoms(*outside)
            self._made[atom] = self._by_decision(atom, decision, *outside)
            return
        yield from _atoms(*[flag for _, flag in atom.sides])
        ends = [self._all(flag, scope.block) for scope, flag in atom.sides]
        self._made[atom] = add_branch_output(operator, ends)

    def _by_decision(self, atom: Chosen, decision: Variable, then: Flag, orelse: Flag) -> Variable:
        block = atom.scope.block
        known = [f if isinstance(f, bool) else self._all(f, block, before=atom.operator) for f in (then, orelse)]

        def chosen() -> Variable:
            given = [] if known[0] is False else [_both(decision, known[0])]
            given += [] if known[1] is False else [_both(logical_not(decision), known[1])]
            return given[0] if len(given) == 1 else logical_or(*given)

        return self._recorded(chosen, block, block.ops.index(atom.operator) + 1)

    def _carrying(self, loop: Loop, index: int) -> Making:
        if (loop, index) in self._heads:  # perhaps not made to its end: what that is made of asked for it
            return
        operator, start, end = loop.operator, loop.starts[index], loop.ends[index]
        yield from _atoms(start)
        first = self._all(start, loop.scope.block, before=operator)
        _, out = self._heads[loop, index] = add_carried(operator, first)
        yield from _atoms(end)
        end_carried(operator, self._all(end, loop.body.block), out)


def _atoms(*flags: Flag) -> Making:
    for flag in flags:
        if isinstance(flag, frozenset):
            yield from flag


def _both(decision: Variable, flag: Any) -> Variable:
    """Whether the decision and the flag hold."""
    return decision if flag is True else logical_and(decision, flag)
