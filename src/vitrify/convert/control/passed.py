"""Which of the tensors from before a loop its variables are behind it: numbers that it carries, once somebody asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from ...ir.aliases import Way, always
from ...ir.program import Operator, Variable
from ...ir.regions import add_carried, capturing_late, end_carried
from ...ops.compare import equal, greater_than
from ...ops.select import where
from ..values.base import builder
from ..values.sequences import constant

NONE_OF_THEM = 0


class Passed:
    """The tensors that a `while` hands on: each from before the loop has a number, and each loop variable can carry the
    number of the one that it is.
    """

    def __init__(
        self,
        operator: Operator,
        starts: Mapping[Variable, Variable | None],
        ends: Mapping[Variable, Sequence[Way]],
    ) -> None:
        """starts: what each head of the body is before the loop, None where it is no tensor there. ends: the ways on
        which it shares memory with another head, or with what was made outside, at the end of an iteration.
        """
        self._operator = operator
        self._starts = starts
        self._ends = {head: [way for way in ways if not way.is_view] for head, ways in ends.items()}
        self._views = {head: [way for way in ways if way.is_view] for head, ways in ends.items()}
        self._numbers: dict[Variable, int] = {}
        self._carried: dict[Variable, Variable] = {}  # behind the loop, by head

    def ways(self, head: Variable) -> list[Way]:
        """The ways on which the loop variable that is `head` in the body shares memory with a tensor from before."""
        views = self._targets([way for each in self._needed(head) for way in self._views[each]])
        return self._same(head) + [Way(None, target, is_view=True) for target in views]

    def _same(self, head: Variable) -> list[Way]:
        """Those on which it is that tensor."""
        start, ends = self._starts[head], self._ends[head]
        if all(way.taken is always and way.target is head for way in ends) and ends:
            return [] if start is None else [Way(always, start)]
        if not ends:
            return [] if start is None else [Way(self._never_ran, start)]
        needed = self._needed(head)
        unknown = self._targets([way for each in needed for way in self._ends[each] if way.taken is None])
        known = self._targets([way for each in needed for way in self._ends[each] if way.taken is not None])
        known |= {v: None for each in needed if (v := self._starts[each]) is not None}
        ways = [Way(partial(self._is, head, target), target) for target in known]
        return ways + [Way(None, target) for target in unknown]

    @property
    def _steps(self) -> Variable:
        steps: Variable = self._operator.outputs[self._operator.attrs["n_carried"]]
        return steps

    def _never_ran(self) -> Any:
        return equal(self._steps, 0)

    def ran(self) -> Any:
        """Whether there was an iteration."""
        return greater_than(self._steps, 0)

    def _needed(self, head: Variable) -> list[Variable]:
        """The heads that it may be at the end of some iteration, itself first."""
        found = {head: None}
        waiting = [head]
        while waiting:
            passed = [way.target for way in self._ends[waiting.pop()] if way.target in self._starts]
            waiting += [target for target in passed if target not in found]
            found.update(dict.fromkeys(passed))
        return list(found)

    def _targets(self, ways: Sequence[Way]) -> dict[Variable, None]:
        """What these lead to outside, the starts of heads among it."""
        ends = [self._starts.get(way.target, way.target) for way in ways]
        return dict.fromkeys([end for end in ends if end is not None])

    def _is(self, head: Variable, target: Variable) -> Any:
        """Whether it is this tensor, computed where the program is recorded now."""
        if head not in self._carried:
            self._carry(self._needed(head))
        return equal(self._carried[head], self._number(target))

    def _number(self, target: Variable | None) -> int:
        return NONE_OF_THEM if target is None else self._numbers.setdefault(target, len(self._numbers) + 1)

    def _carry(self, heads: Sequence[Variable]) -> None:
        """Let the loop carry the numbers of these heads, which are all that any of them may be."""
        numbers: dict[Variable, Variable] = {}
        for head in heads:
            with builder().resume(self._operator.outputs[0].block):
                before = constant_before(self._operator, self._number(self._starts[head]))
                made, self._carried[head] = add_carried(self._operator, before)
            numbers[head] = made[self._operator.attrs["body"]]
        with capturing_late(self._operator), builder().resume(self._operator.attrs["body"]):
            ends = [self._number_at_end(head, numbers) for head in heads]
            for head, end in reversed(list(zip(heads, ends))):  # the last one that was added stands first
                end_carried(self._operator, end, self._carried[head])

    def _number_at_end(self, head: Variable, numbers: Mapping[Variable, Variable]) -> Any:
        number = constant(NONE_OF_THEM)
        for way in self._ends[head]:
            if way.taken is not None:
                passed = numbers.get(way.target)
                found = constant(self._number(way.target)) if passed is None else passed
                taken = way.taken()
                number = found if taken is True else where(taken, found, number)
        return number


def constant_before(operator: Operator, value: bool | int) -> Variable:
    """A number, recorded in front of the operator."""
    block = operator.outputs[0].block
    made: Variable = constant(value)
    block.ops.insert(block.ops.index(operator), block.ops.pop())
    return made
