"""Which tensors an item of a list may be, of which only the run knows what it holds: those that were ever put there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...core.meta import ListMeta
from ...ir.aliases import Cut
from ...ir.program import Block, Operator, Variable
from ...ops.control_flow import if_op, while_op
from ..values.base import builder
from ..values.foreign import undecided_identity


class _Unknown(Exception):
    """What a variable is will be known only when the loop, or function, is traced that it belongs to."""


def may_be_one(first: Iterable[Variable], second: Iterable[Variable]) -> bool:
    """Whether one of the tensors `first` may be one of `second`, by way of lists, branches and loops.

    What the caller gives is taken for different tensors, which each call is looked at for. What a loop adds that is
    still being traced is looked at behind it (`refuse_added`).
    """
    first, second = tuple(first), tuple(second)
    search = _Search()
    try:
        mine, theirs = search.reached(first), search.reached(second)
    except _Unknown:
        return True
    if search.is_changed(mine | theirs) or any(not isinstance(v.meta, ListMeta) for v in mine & theirs):
        return True
    given = [[v for v in found if search.is_given(v)] for found in (mine, theirs)]
    builder().apart |= {(a, b) for a in given[0] for b in given[1]}
    if search.meets_open_loop:
        builder().apart_so_far.append((first, second))
    return False


def refuse_added() -> None:
    """Raise ForkedError where the loop that was recorded now makes a tensor one that was taken for another in it."""
    asked, builder().apart_so_far = builder().apart_so_far, []
    if any(may_be_one(first, second) for first, second in asked):
        raise undecided_identity("tensor")


class _Search:
    """One search backwards, from a tensor to what it may be, and from a list to what it may hold."""

    def __init__(self) -> None:
        self._makers: dict[Block, dict[Variable, tuple[Operator, int]]] = {}
        self.meets_open_loop = False

    def reached(self, starts: Iterable[Variable]) -> set[Variable]:
        """All that the variables may be, or hold."""
        found: set[Variable] = set()
        waiting = list(starts)
        while waiting:
            var = waiting.pop()
            if var not in found:
                found.add(var)
                waiting += self._before(var)
        return found

    def is_given(self, var: Variable) -> bool:
        """Whether it comes from outside of the program."""
        return var.block.parent is None and var not in self._makers_in(var.block)

    def is_changed(self, found: set[Variable]) -> bool:
        """Whether one of them was changed in place, or had its stop_gradient set: it has several variables."""
        build = builder()
        changed = {*build.current, *build.current.values(), *build.aliases.replaced, *build.aliases.replaced.values()}
        return not found.isdisjoint(changed) or any(isinstance(build.aliases.views.get(v), Cut) for v in found)

    def _before(self, var: Variable) -> Iterator[Variable]:
        for way in builder().aliases.forks.get(var, ()):
            if not way.is_view:
                yield way.target
        maker, index = self._makers_in(var.block).get(var, (None, 0))
        if maker is None:
            yield from self._outside(var)
        elif maker.op is if_op or maker.op is while_op:
            yield from self._at_ends(maker, index)
        elif maker.blocks:
            raise _Unknown
        elif isinstance(var.meta, ListMeta) or any(isinstance(given.meta, ListMeta) for given in maker.variables):
            yield from maker.variables

    def _makers_in(self, block: Block) -> dict[Variable, tuple[Operator, int]]:
        if block not in self._makers:
            self._makers[block] = {out: (op, i) for op in block.ops for i, out in enumerate(op.outputs)}
        return self._makers[block]

    def _at_ends(self, operator: Operator, index: int) -> Iterator[Variable]:
        """What output `index` of an `if` or `while` is at the end of each block, and before a loop."""
        if operator.op is while_op:
            if index >= operator.attrs["n_carried"]:
                return
            yield _variable(operator.inputs[index])
            yield _variable(operator.attrs["body"].outputs[index])
            return
        for block in operator.blocks.values():
            if block.outputs:  # else the path always raises
                yield _variable(block.outputs[index])

    def _outside(self, var: Variable) -> Iterator[Variable]:
        """What a formal input of a block is: what it captures, or what a loop carries."""
        block = var.block
        if block.parent is None:
            if block.name:
                raise _Unknown
            return
        owner = next((op for op in block.parent.ops if any(inner is block for inner in op.blocks.values())), None)
        if owner is None:
            outer = next((outer for outer, inner in block.captures.items() if inner is var), None)
            if outer is not None:
                yield outer
            elif block not in builder().loop_bodies:
                raise _Unknown
            self.meets_open_loop |= outer is None
            return
        index = next(i for i, formal in enumerate(block.inputs) if formal is var)
        yield _variable(owner.inputs[index + len(owner.inputs) - len(block.inputs)])
        if owner.op is while_op and index < owner.attrs["n_carried"]:
            yield _variable(owner.attrs["body"].outputs[index])


def _variable(value: object) -> Variable:
    if not isinstance(value, Variable):
        raise _Unknown
    return value
