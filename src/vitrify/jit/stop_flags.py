"""Whether variables of a program stop gradients in eager code, as far as its operators tell: always, or by the path.

What depends on the path is named by `Atom`s: results of branches and loops. Nothing is recorded here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from ..core.meta import ListMeta
from ..ir.aliases import CHOSEN
from ..ir.gradient_flow import may_pass
from ..ir.operator import Operator
from ..ir.program import Block, Variable
from ..ir.stop_flags import WANTS
from ..ops.calls import call_op
from ..ops.control_flow import if_op, while_op
from ..ops.lists import list_get_op, list_join_op, list_stack_op, list_sum_op


@dataclass(eq=False)
class Atom:
    """Something that stops gradients on some paths: a variable of the scope's block will say so of each run."""

    scope: Scope


class Nothing(Enum):
    """The flag of the items of a list that has none, which is that of whatever else may stand there."""

    NOTHING = "nothing"


NOTHING = Nothing.NOTHING
Flag = bool | frozenset[Atom] | None | Nothing
"""Whether a tensor stops gradients: as always, where all atoms say so, or unknown. Of a list: whether all items do."""


@dataclass(eq=False)
class Scope:
    """A block, the operator that it belongs to, and the flags of those of its variables that may want a gradient.

    needed: blocks that somebody asks about; their scopes are noted in `known`, as those of blocks around them.
    """

    block: Block
    operator: Operator | None = None
    outer: Scope | None = None
    flags: dict[Variable, Flag] = field(default_factory=dict)
    needed: Collection[Block] = ()
    known: dict[Block, Scope] = field(default_factory=dict)
    functions: Functions = field(default_factory=lambda: Functions())

    def of(self, var: Any) -> Flag:
        """The flag of a variable; what is no variable has no gradient."""
        if not isinstance(var, Variable):
            return True
        return self.flags.get(var, var.stop_gradient) if is_list(var) or not var.stop_gradient else True

    def learn(self) -> None:
        """Find the flags of what was recorded since this was asked before."""
        for operator in self.block.ops:
            outs = operator.outputs
            is_known = all((out.stop_gradient and not is_list(out)) or out in self.flags for out in outs)
            if is_known and not (self.needed and any(block in self.needed for block in operator.blocks.values())):
                continue
            flags: Sequence[Flag]
            if operator.op is if_op:
                flags = _of_branches(operator, self)
            elif operator.op is call_op:
                flags = self.functions.called(operator, [self.of(v) for v in operator.inputs])
            elif operator.op is while_op and operator.attrs["cond"] is not None:
                flags = _of_loop(operator, self)
            elif CHOSEN in outs[0].__dict__:
                flags = [_of_choice(operator, self)]
            else:
                flags = [_of_items(operator, self) if is_list(out) else _of_all(operator, self) for out in outs]
            self.flags.update((out, False if WANTS in out.__dict__ else flag) for out, flag in zip(outs, flags))

    def inside(self, operator: Operator, name: str, heads: Sequence[Flag] = (), outside: Collection[int] = ()) -> Scope:
        """The scope of a block of an operator, its flags found.

        heads: of those of its inputs that are not captured; outside: which of them are flags of this scope.
        """
        found = Scope(operator.attrs[name], operator, self, {}, self.needed, self.known, self.functions)
        inputs = found.block.inputs
        captured = operator.inputs[len(operator.inputs) - len(inputs) + len(heads) :]
        own = [_seen_inside(flag, found) if i in outside else flag for i, flag in enumerate(heads)]
        found.flags.update(zip(inputs, (*own, *[_seen_inside(self.of(v), found) for v in captured])))
        self.known[found.block] = found
        found.learn()
        return found


@dataclass
class Functions:
    """What the functions of a program are given and give: flags that are the same in all calls; None for others."""

    given: dict[Block, list[Flag]] = field(default_factory=dict)
    gives: dict[Block, list[Flag]] = field(default_factory=dict)

    def called(self, operator: Operator, flags: Sequence[Flag]) -> list[Flag]:
        """The flags of what a call gives, which is given these."""
        function = operator.attrs["function"]
        before = self.given.get(function, [NOTHING] * len(flags))
        self.given[function] = [_joined(known, _constant(flag)) for known, flag in zip(before, flags)]
        return self.gives.get(function, [NOTHING] * len(operator.outputs))

    def learn(self, block: Block, needed: Collection[Block], known: dict[Block, Scope]) -> None:
        """Find the flags of all functions that are called in a block or by each other; needed, known: as of scopes."""
        calls = [(held, op) for held in blocks_run(block) for op in held.ops if op.op is call_op]
        needed = {*needed, *[outer for held, _ in calls for outer in around(held)]}
        while calls:
            before = dict(self.given), dict(self.gives)
            scope = Scope(block, needed=needed, functions=self)
            scope.learn()
            for held, operator in calls:
                if held is not block and held not in scope.known and held not in known:
                    self.called(operator, [None] * len(operator.inputs))
            for function, flags in list(self.given.items()):
                scope = known[function] = Scope(function, None, None, {}, needed, known, self)
                scope.flags.update(zip(function.inputs, flags))
                scope.learn()
                self.gives[function] = [_constant(scope.of(var)) for var in function.outputs]
            if before == (self.given, self.gives):
                return


def blocks_run(block: Block) -> dict[Block, None]:
    """The block and those that its operators run; none that was given up."""
    found = {block: None}
    waiting = [block]
    while waiting:
        inner = [held for op in waiting.pop().ops for held in op.attrs.values() if isinstance(held, Block)]
        waiting += [held for held in dict.fromkeys(inner) if held not in found]
        found |= dict.fromkeys(inner)
    return found


def around(block: Block) -> set[Block]:
    """The block and those around it."""
    found: set[Block] = set()
    outer: Block | None = block
    while outer is not None:
        found.add(outer)
        outer = outer.parent
    return found


def _constant(flag: Flag) -> Flag:
    return None if isinstance(flag, frozenset) else flag


@dataclass(eq=False)
class Captured(Atom):
    """What is captured from outside stops gradients as it does there."""

    flag: frozenset[Atom]


@dataclass(eq=False)
class Item(Atom):
    """An item that an operator reads of a list, or a tensor that it makes of all: of which some stop gradients."""

    operator: Operator


@dataclass(eq=False)
class Items(Atom):
    """What is in a list, of which some items stop gradients: stands for a list of flags, one for each."""

    var: Variable


@dataclass(eq=False)
class Chosen(Atom):
    """A result of an `if`: as the one of its branches that runs leaves it."""

    operator: Operator
    sides: tuple[tuple[Scope, Flag], tuple[Scope, Flag]]


@dataclass(eq=False)
class Picked(Atom):
    """What an operator takes of two tensors of its block: as the one that it takes."""

    operator: Operator
    then: Flag
    orelse: Flag


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
class Tested(Atom):
    """What a loop carries, at the head of its condition."""

    loop: Loop
    index: int


@dataclass(eq=False)
class After(Atom):
    """What a loop carries, after it."""

    loop: Loop
    index: int


def is_list(var: Variable) -> bool:
    """Whether the variable holds a list of tensors."""
    return isinstance(var.meta, ListMeta)


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
    flags = [scope.of(v) for v in _passing(operator) if is_list(v) or not v.stop_gradient]
    if any(isinstance(value, Block) for value in operator.attrs.values()):
        return None
    if False in flags or not flags:
        return False
    if None in flags:
        return frozenset({Item(scope, operator)}) if operator.op in READING else None
    return _all(flags)


READING = frozenset({list_get_op, list_stack_op, list_join_op, list_sum_op})
"""Operators that make a tensor of one item of a list, or of all."""


def _of_items(operator: Operator, scope: Scope) -> Flag:
    """Whether the items of a list stop gradients, of what the operator puts into it; unknown where they differ."""
    if operator.blocks:
        return None
    found: Flag = NOTHING
    for var in _passing(operator):
        found = _joined(found, scope.of(var))
    return found


def _passing(operator: Operator) -> list[Variable]:
    """The inputs that a gradient may flow to."""
    given = enumerate(operator.inputs)
    return [var for place, var in given if isinstance(var, Variable) and may_pass(operator.op, place)]


def _joined(a: Flag, b: Flag) -> Flag:
    """The flag of items of which some have the one and some the other."""
    if NOTHING in (a, b):
        return a if b is NOTHING else b
    return a if a == b else None


def _all(flags: Iterable[Flag]) -> Flag:
    given = [flag for flag in flags if flag is not NOTHING]
    atoms = frozenset().union(*[flag for flag in given if isinstance(flag, frozenset)])
    return atoms or (True if given else NOTHING)


def _of_branches(operator: Operator, scope: Scope) -> list[Flag]:
    then, orelse = (scope.inside(operator, name) for name in ("then", "orelse"))
    found: list[Flag] = []
    for a, b in zip(then.block.outputs, orelse.block.outputs):
        sides = (then, then.of(a)), (orelse, orelse.of(b))
        flags = [flag for _, flag in sides]
        outside = [lifted(flag) for flag in flags]
        if None in flags:
            found.append(None)
        elif None not in outside and (NOTHING in outside or outside[0] == outside[1]):
            found.append(_joined(*outside))
        else:
            found.append(frozenset({Chosen(scope, operator, sides)}))
    return found


def _of_choice(operator: Operator, scope: Scope) -> Flag:
    then, orelse = (scope.of(var) for var in operator.inputs[1:])
    if then is None or orelse is None:
        return None
    return (
        _joined(then, orelse)
        if then == orelse or NOTHING in (then, orelse)
        else frozenset({Picked(scope, operator, then, orelse)})
    )


def _of_loop(operator: Operator, scope: Scope) -> list[Flag]:
    return _Carried(operator, scope).settle()


class _Carried:
    """The flags of what a loop carries; traced with what all iterations leave taken for constant, until that holds.

    By number: `items` has the flags of lists; `varying` are those that the path decides, `unknown` those nobody tells.
    """

    def __init__(self, operator: Operator, scope: Scope) -> None:
        self.operator = operator
        self.scope = scope
        carried = operator.inputs[: operator.attrs["n_carried"]]
        self.starts = [scope.of(v) for v in carried]
        lists = {i for i, v in enumerate(carried) if isinstance(v, Variable) and is_list(v)}
        self.items = {i: self.starts[i] for i in sorted(lists)}
        self.varying = {i for i, flag in enumerate(self.starts) if isinstance(flag, frozenset)} - lists
        self.unknown = {i for i, flag in enumerate(self.starts) if flag is None} - lists
        self.loop = Loop(operator, scope, self.starts)
        self.atoms: dict[int, Head] = {}

    def settle(self) -> list[Flag]:
        """The flags of the loop's outputs."""
        while True:
            known = len(self.varying), len(self.unknown), dict(self.items)
            self._trace()
            self._learn()
            if known == (len(self.varying), len(self.unknown), self.items):
                break
        for atom in self.atoms.values():
            atom.scope = self.loop.body
        if self.operator.attrs["cond"] in self.scope.needed:
            self._look_into_test()
        return self._behind()

    def _heads(self, at: Mapping[int, Atom]) -> list[Flag]:
        """What an iteration, or the test before it, is given; at: what stands there for flags that vary."""
        heads = [frozenset({at[i]}) if i in at else start for i, start in enumerate(self.starts)]
        return [self.items.get(i, None if i in self.unknown else head) for i, head in enumerate(heads)]

    def _trace(self) -> None:
        loop = self.loop = Loop(self.operator, self.scope, self.starts)
        self.atoms = {i: Head(self.scope, loop, i) for i in self.varying - self.unknown}
        loop.body = self.scope.inside(self.operator, "body", self._heads(self.atoms), self.items)
        loop.ends = [loop.body.of(v) for v in loop.body.block.outputs[: len(self.starts)]]

    def _learn(self) -> None:
        """Take note of what the iteration leaves otherwise than it was taken for."""
        ends = self.loop.ends
        others = [i for i in range(len(ends)) if i not in self.items]
        self.items = {i: _joined(flag, lifted(ends[i])) for i, flag in self.items.items()}
        self.unknown |= {i for i in others if ends[i] is None}
        self.varying |= {i for i in others if i not in self.atoms and ends[i] != self.starts[i]}

    def _look_into_test(self) -> None:
        tested = {i: Tested(self.scope, self.loop, i) for i in self.atoms}
        test = self.scope.inside(self.operator, "cond", self._heads(tested), self.items)
        for seen in tested.values():
            seen.scope = test

    def _behind(self) -> list[Flag]:
        passed_on = {i for i, atom in self.atoms.items() if self.loop.ends[i] == frozenset({atom})}
        found: list[Flag] = [None] * len(self.operator.outputs)
        for i in set(range(len(self.starts))) - self.unknown:
            is_made = i in self.atoms and i not in passed_on
            found[i] = frozenset({After(self.scope, self.loop, i)}) if is_made else self.starts[i]
        return [self.items.get(i, flag) for i, flag in enumerate(found)]
