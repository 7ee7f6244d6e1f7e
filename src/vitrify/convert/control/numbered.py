"""Which tensor a loop variable is, while its loop is traced: a number that iterations hand on, once somebody asks.

What was there before the loop has a number of its own, and so has what an iteration makes, in each another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ...ir.aliases import Way
from ...ir.operator import Operator
from ...ir.program import Block, Variable
from ...ir.regions import add_carried, capturing_late, end_carried
from ...ops.compare import equal
from ...ops.registry import get_op
from ...ops.select import where
from ..values.base import builder
from ..values.foreign import undecided_identity
from ..values.sequences import constant

NO_TENSOR = 0
_OF_ONE_TURN = 2**20
"""So many numbers each iteration has for what it makes."""


def is_head(var: Variable) -> bool:
    """Whether it is what a loop hands on, in an iteration that is being traced, or in its test."""
    blocks = builder().loop_bodies, builder().loop_tests
    return any(var.block in found for found in blocks) and any(head is var for head in var.block.inputs)


def number_of(var: Variable) -> Any:
    """The number of the tensor that a variable is: a number of the program where a loop or a path decides it."""
    return _Numbers(_known_here, _own_number).of(var)


def _known_here(var: Variable) -> Any:
    """The number of a variable that is itself on every path, as far as is known here; None for others."""
    return _stand_in(var) if is_head(var) else None


class _Numbers:
    """The numbers of variables where the program is recorded now.

    known: the number of what needs no looking into, None for others; own: that of what is made on some path.
    """

    def __init__(self, known: Callable[[Variable], Any], own: Callable[[Variable], Any]) -> None:
        self._known = known
        self._own = own
        self._found: dict[Variable, Any] = {}

    def of(self, var: Variable) -> Any:
        """The number of the tensor that it is."""
        if var not in self._found:
            _refuse_changed(var)
            known = self._known(var)
            self._found[var] = self._by_path(var) if known is None else known
        return self._found[var]

    def _by_path(self, var: Variable) -> Any:
        """Its own number, or that of what it is on a path. Of variables that are each other the first one's counts."""
        number = self._own(var)
        for way in sorted(directly(var), key=lambda way: -_own_number(way.target)):
            if _own_number(way.target) < _own_number(var) or not ways_to(var, way.target):
                number = _on_way(way, self.of(way.target), number)
        return number if isinstance(number, Variable) else constant(number)


def _refuse_changed(var: Variable) -> None:
    """Raise ForkedError for what was changed in place, or had its stop_gradient set: it has several variables."""
    current, replaced = builder().current, builder().aliases.replaced
    if var in {*current, *current.values(), *replaced, *replaced.values()}:
        raise undecided_identity("tensor")


def directly(var: Variable) -> list[Way]:
    """The ways on which a variable is another one, as it was noted."""
    ways = builder().aliases.ways(var, lambda v: None if v is var else v)
    return [way for way in ways if not way.is_view]


def reached(var: Variable) -> dict[Variable, None]:
    """All that a variable may be on some path, itself first."""
    found: dict[Variable, None] = {}
    waiting = [var]
    while waiting:
        at = waiting.pop()
        if at not in found:
            found[at] = None
            waiting += [way.target for way in directly(at)]
    return found


def ways_to(target: Variable, var: Variable) -> list[Way]:
    """The ways on which a variable is `target`, by whatever others."""
    ways = builder().aliases.ways(var, lambda v: v if v is target else None)
    return [way for way in ways if way.target is target]


def _on_way(way: Way, found: Any, number: Any) -> Any:
    """The number, where it may be that of another tensor on a path."""
    if way.taken is None:
        raise undecided_identity("tensor")
    taken = way.taken()
    return found if taken is True else number if taken is False else where(taken, found, number)


def _own_number(var: Variable) -> int:
    known = builder().object_numbers
    return known.setdefault(var, len(known) + 1)


def _stand_in(head: Variable) -> Variable:
    """The number of a loop variable, or what stands for it until the loop is recorded that carries it."""
    build, block = builder(), head.block
    recorded: Numbered | None = build.numbered.get(head)
    if recorded is not None:
        return recorded.at(head)
    if head not in build.head_numbers or _place(block, build.head_numbers[head][1]) is None:
        with build.resume(block):
            made: Variable = constant(NO_TENSOR)
        block.ops.insert(0, block.ops.pop())  # before all that may ask for it
        build.head_numbers[head] = made, block.ops[0]
    found: Variable = build.head_numbers[head][0]
    return found


def _place(block: Block, operator: Operator) -> int | None:
    """Where an operator stands in a block; None where it was taken back."""
    return next((place for place, known in enumerate(block.ops) if known is operator), None)


class Numbered:
    """The numbers of what a `while` hands on."""

    def __init__(
        self,
        operator: Operator,
        starts: Mapping[Variable, Variable | None],
        ends: Mapping[Variable, Variable | None],
        outer: Callable[[Variable], Variable | None],
    ) -> None:
        """starts, ends: what each head of the body is before the loop, and when an iteration ends; None for no tensor.

        outer: gives the variable outside that one in the body is.
        """
        self._operator = operator
        self._starts = starts
        self._ends = ends
        self._outer = outer
        self._carried: dict[Variable, Variable] = {}  # behind the loop, by head
        self._at_head: dict[Variable, dict[Block, Variable]] = {}
        self._made_by_head: dict[Variable, set[Variable]] = {}
        self._heads: dict[Variable, Variable] = {}  # of the body, by those of the body and of the test
        self._is_carrying = False

    def answer(self) -> None:
        """Put the numbers where the blocks of the loop ask for them, or will."""
        body, test = self._operator.attrs["body"], self._operator.attrs["cond"]
        for own, asked in zip(body.inputs, test.inputs):
            if own in self._ends:
                self._heads.update({own: own, asked: own})
        builder().numbered.update(dict.fromkeys(self._heads, self))
        for head in self._heads:
            if head in builder().head_numbers:
                self._fill(head)

    def _fill(self, head: Variable) -> None:
        made, operator = builder().head_numbers.pop(head)
        place = _place(head.block, operator)
        if place is not None:
            number = self.at(head)
            head.block.ops[place] = Operator(get_op("assign"), (number,), (made,), {}, operator.locs)

    def at(self, head: Variable) -> Variable:
        """The number that a loop variable has at the head of the body, or test, of which `head` is an input."""
        self._carry(self._heads[head])
        return self._at_head[self._heads[head]][head.block]

    def behind(self, head: Variable) -> Any:
        """The number that a loop variable has behind the loop."""
        self._carry(head)
        return self._carried[head]

    def may_be_one(self, first: Variable, second: Variable) -> bool:
        """Whether two loop variables may both be what one iteration has made."""
        return not self._made(first).isdisjoint(self._made(second))

    def end_as_one(self, first: Variable, second: Variable) -> bool:
        """Whether each iteration ends with one tensor in two loop variables."""
        return self._ends[first] is self._ends[second]

    def is_same(self, first: Variable, second: Variable) -> Any:
        """Whether two loop variables are one tensor, computed where the program is recorded now."""
        return equal(self.behind(first), self.behind(second))

    def _reached(self, head: Variable) -> set[Variable]:
        """All that a loop variable may be: heads, itself among them, what was made outside, and in the body."""
        found: set[Variable] = set()
        waiting = [head]
        while waiting:
            var = waiting.pop()
            if var in found:
                continue
            found.add(var)
            if var in self._ends:
                end = self._ends[var]
                waiting += [] if end is None else [end]
            elif self._outer(var) is None:
                waiting += [way.target for way in directly(var)]
        return found

    def _made(self, head: Variable) -> set[Variable]:
        """What iterations make that it may be."""
        if head not in self._made_by_head:
            inside = (var for var in self._reached(head) if var not in self._ends and self._outer(var) is None)
            self._made_by_head[head] = set(inside)
        return self._made_by_head[head]

    def _carry(self, asked: Variable) -> None:
        """Let the loop carry the number of a head, and of all that it may be."""
        heads = [head for head in self._ends if head in self._reached(asked) and head not in self._carried]
        if not heads:
            return
        block, body = self._operator.outputs[0].block, self._operator.attrs["body"]
        added: list[tuple[Variable, Variable]] = []
        starts = [self._starts[head] for head in heads]
        for var in [var for start in starts if start is not None for var in reached(start)]:
            if is_head(var):
                _stand_in(var)  # which loops around this one record at their ends
        for start in (None, *starts):
            last = block.ops[-1]
            with builder().resume(block):
                before = block.resolve(constant(NO_TENSOR) if start is None else number_of(start))
            _move_behind(block, last, self._operator)
            made, behind = add_carried(self._operator, before)
            added.append((made[body], behind))
            if len(added) > 1:
                head = heads[len(added) - 2]
                self._at_head[head], self._carried[head] = made, behind
        with self._capturing(), builder().resume(body):
            turn = added[0][0]
            ends = [turn + 1, *[self._number_at_end(head, turn) for head in heads]]
            for end, (_, behind) in reversed(list(zip(ends, added))):  # the last one that was added stands first
                end_carried(self._operator, body.resolve(end), behind)

    @contextmanager
    def _capturing(self) -> Iterator[None]:
        """Give the loop what its blocks capture inside; once, where a number asks for a further one."""
        if self._is_carrying:
            yield
            return
        self._is_carrying = True
        try:
            with capturing_late(self._operator):
                yield
        finally:
            self._is_carrying = False

    def _number_at_end(self, head: Variable, turn: Variable) -> Any:
        end, body = self._ends[head], self._operator.attrs["body"]

        def known(var: Variable) -> Any:
            if var in self._at_head:
                return self._at_head[var][body]
            found = self._outer(var)
            return None if found is None else number_of(found)

        def made(var: Variable) -> Any:
            return -(turn * _OF_ONE_TURN + _own_number(var))

        return constant(NO_TENSOR) if end is None else _Numbers(known, made).of(end)


def _move_behind(block: Block, last: Operator, before: Operator) -> None:
    """Put what was recorded behind the operator `last` in front of another one."""
    mark = block.ops.index(last) + 1
    made: Sequence[Operator] = list(block.ops[mark:])
    del block.ops[mark:]
    place = block.ops.index(before)
    block.ops[place:place] = made
