"""Whether an output of a program has a gradient, where the path decides: a flag of the run, made beside the results.

A branch that a flag depends on gives one more result, a loop carries one more value: the state of what it carries.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from ..convert.values.sequences import constant
from ..core.modes import grad_enabled, scoped
from ..ir.builder import Builder
from ..ir.operator import Operator
from ..ir.program import Block, Variable
from ..ir.regions import add_branch_output, add_carried, capturing_late, end_carried
from ..ops.compare import logical_and, logical_not, logical_or
from .item_flags import ItemFlags, Making, UnknownItemsError
from .stop_flags import (
    NOTHING,
    After,
    Atom,
    Captured,
    Chosen,
    Flag,
    Head,
    Item,
    Items,
    Loop,
    Picked,
    Scope,
    Tested,
    around,
    is_list,
    lifted,
)


class Stopped:
    """Finds for variables of the outermost block, or of blocks inside, whether they stop gradients in eager code.

    needed: the blocks inside.
    """

    def __init__(self, builder: Builder, needed: Collection[Block] = ()) -> None:
        self._builder = builder
        self._scope = Scope(builder.block, needed={outer for block in needed for outer in around(block)})
        self.known = self._scope.known
        self.known[builder.block] = self._scope
        self._learnt = False
        self._knows_functions = False
        self._items = ItemFlags(self)
        self.made: dict[Atom, Variable] = {}
        self._heads: dict[tuple[Loop, int], tuple[dict[Block, Variable], Variable]] = {}

    def flag(self, var: Variable) -> Any:
        """The variable that says whether `var` stops gradients, or a bool; None where the program cannot tell.

        Of a list: whether all of it does, or a list of such.
        """
        if var not in self._scope.flags:
            self._learn()
        return self._found(var, self._scope, None)

    def flag_at(self, var: Variable, operator: Operator, block: Block) -> Any:
        """As `flag`, in front of an operator of a needed block."""
        if not self._learnt:
            self._learn()
            self._learnt = True
        scope = self.known.get(block)
        return None if scope is None else self._found(var, scope, operator)

    def _learn(self) -> None:
        if not self._knows_functions:
            self._scope.functions.learn(self._scope.block, self._scope.needed, self.known)
            self._knows_functions = True
        self._scope.learn()

    def _found(self, var: Variable, scope: Scope, before: Operator | None) -> Any:
        flag = scope.of(var)
        if flag is None and is_list(var):
            flag = frozenset({self._items.items(var, scope)})
        if not isinstance(flag, frozenset):
            return None if flag is NOTHING else flag
        with scoped(grad_enabled, False):
            try:
                self._make(flag)
            except UnknownItemsError:
                return None
            return self.all_of(flag, scope.block, before=before)

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
        if atom in self.made:
            return
        if isinstance(atom, Captured):
            yield from atom.flag
            self.made[atom] = self._captured(atom)
        elif isinstance(atom, Item):
            yield from self._items.reading(atom)
        elif isinstance(atom, Items):
            yield from self._items.listing(atom)
        elif isinstance(atom, Chosen):
            yield from self._choosing(atom)
        elif isinstance(atom, Picked):
            yield from _atoms(atom.then, atom.orelse)
            self.made[atom] = self._by_decision(atom, atom.operator.inputs[0], atom.then, atom.orelse)
        elif isinstance(atom, (Head, After, Tested)):
            yield from self._carrying(atom.loop, atom.index)
            heads, after = self._heads[atom.loop, atom.index]
            self.made[atom] = after if isinstance(atom, After) else heads[atom.scope.block]

    def all_of(self, flag: Flag, block: Block, *, before: Operator | None = None) -> Variable:
        """Whether all of these atoms, made already, hold: at the end of a block, or in front of an operator."""

        def every() -> Variable:
            if not isinstance(flag, frozenset):
                known: Variable = constant(bool(flag))
                return known
            first, *others = [self.made[atom] for atom in flag]
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
        outside = self.all_of(atom.flag, scope.outer.block, before=scope.operator)
        with capturing_late(scope.operator):
            return scope.block.resolve(outside)

    def _choosing(self, atom: Chosen) -> Making:
        """From the decision, where both flags are known outside; else as one more result."""
        operator, decision = atom.operator, atom.operator.inputs[0]
        outside = [lifted(flag) for _, flag in atom.sides]
        if None not in outside and isinstance(decision, Variable) and decision.dtype.is_bool and not decision.shape:
            yield from _atoms(*outside)
            self.made[atom] = self._by_decision(atom, decision, *outside)
            return
        yield from _atoms(*[flag for _, flag in atom.sides])
        ends = [self.all_of(flag, scope.block) for scope, flag in atom.sides]
        self.made[atom] = add_branch_output(operator, ends)

    def _by_decision(self, atom: Chosen | Picked, decision: Any, then: Flag, orelse: Flag) -> Variable:
        block = atom.scope.block
        known = [f if isinstance(f, bool) else self.all_of(f, block, before=atom.operator) for f in (then, orelse)]

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
        first = self.all_of(start, loop.scope.block, before=operator)
        _, out = self._heads[loop, index] = add_carried(operator, first)
        yield from _atoms(end)
        end_carried(operator, self.all_of(end, loop.body.block), out)


def _atoms(*flags: Flag) -> Making:
    for flag in flags:
        if isinstance(flag, frozenset):
            yield from flag


def _both(decision: Variable, flag: Any) -> Variable:
    """Whether the decision and the flag hold."""
    return decision if flag is True else logical_and(decision, flag)
