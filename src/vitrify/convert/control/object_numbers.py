"""Which tensor a variable is, and which ones a list holds: numbers beside them, made by the same operators.

Two variables are one object in eager code where their numbers are equal. What is made in the outermost block has a
number that is known, what each turn of a loop makes another one in each. What was recorded is complete where this is
asked, but for the blocks around the place that asks.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

from ...core.dtype import int64
from ...core.meta import ListMeta, Meta
from ...ir.aliases import Cut, Way
from ...ir.gradient_flow import may_pass
from ...ir.operator import Operator
from ...ir.program import Block, Variable
from ...ir.regions import add_branch_output, add_carried, capturing_late, end_carried
from ...ops.calls import call_op
from ...ops.control_flow import if_op, while_op
from ...ops.creation import arange
from ...ops.lists import PASSING, list_len_op, list_of_op, list_unstack_op
from ...ops.registry import get_op
from ...ops.select import where
from ..values.base import builder
from ..values.sequences import constant

_TURN = 0x1E3779B97F4A7C15
"""What lies between the numbers of one turn and those of the next: no small number of turns comes near to 2**64."""
_ITEM = 2**24
"""What lies between the numbers of the items that one operator makes."""
_ODD = 0x3F58476D1CE4E5B9

Number = int | Variable
_Making = Generator[Variable, None, Number]


class UnknownObjectError(Exception):
    """Nothing in the program tells which tensor a variable is."""


class ObjectNumbers:
    """Makes numbers of tensors and lists of numbers of lists, each once."""

    def __init__(self) -> None:
        self._made: dict[Variable, Number] = {}
        self._stamps: dict[Block, Number] = {}
        self._carried: set[tuple[Operator, int]] = set()

    def of(self, var: Variable) -> Number:
        """The number of a tensor, or the list of numbers of a list, in the block of it; an int where that is known.

        Raises UnknownObjectError where nothing tells.
        """
        try:
            return self._found(var)
        except UnknownObjectError:
            self._made.clear()  # some of them were made of what has no number
            self._carried.clear()
            raise

    def _found(self, var: Variable) -> Number:
        waiting: list[tuple[Variable, _Making]] = []
        asked: Variable | None = var
        while asked is not None or waiting:
            if asked is not None and asked not in self._made:
                if any(asked is other for other, _ in waiting):
                    _end(waiting)
                    raise UnknownObjectError()
                waiting.append((asked, self._number(asked)))
            if not waiting:
                break
            current, making = waiting[-1]
            try:
                asked = next(making)
            except StopIteration as end:
                self._made[current] = end.value
                waiting.pop()
                asked = None
            except UnknownObjectError:
                _end(waiting)
                raise
        return self._made[var]

    def as_variable(self, number: Number, block: Block) -> Variable:
        """A number as a variable at the end of a block, in which it may be used."""
        return self._variable(number, block, block.ops[-1] if block.ops else None)

    # -- single values ----------------------------------------------------------------------------------------------

    def _number(self, var: Variable) -> _Making:
        build, block = builder(), var.block
        original = build.object_of.get(var)
        if original is var:
            raise UnknownObjectError()
        view = build.aliases.views.get(var)
        if original is None and isinstance(view, Cut):
            original = view.base
        if original is not None:
            yield original
            return self._in(block, self._made[original])
        maker = next((op for op in block.ops if any(out is var for out in op.outputs)), None)
        if maker is None:
            return (yield from self._entering(var))
        if maker.op is if_op:
            return (yield from self._branches(maker, _place(maker.outputs, var)))
        if maker.op is while_op and (place := _place(maker.outputs, var)) < maker.attrs["n_carried"]:
            yield from self._carrying(maker, place)
            return self._made[var]
        if maker.op in PASSING:
            return (yield from self._passing(maker))
        ways = [way for way in build.aliases.forks.get(var, ()) if not way.is_view]
        is_run = bool(maker.blocks) or maker.op is call_op  # what it puts into lists may be what others know
        if any(way.taken is None for way in ways) or (is_run and isinstance(var.meta, ListMeta)):
            raise UnknownObjectError()
        return (yield from self._on_ways(var, maker, ways)) if ways else self._fresh(var, maker)

    def _on_ways(self, var: Variable, maker: Operator, ways: Sequence[Way]) -> _Making:
        """The number of what is another tensor on some paths, as was noted: a function's result, a maximum."""
        block, found = var.block, self._fresh(var, maker)
        known: list[tuple[Way, Number]] = []
        for way in ways:
            yield way.target
            known.append((way, self._in(block, self._made[way.target])))

        def chosen() -> Any:
            number = constant(found) if isinstance(found, int) else found
            for way, other in known:
                taken = way.taken() if way.taken is not None else False
                other = constant(other) if isinstance(other, int) else other
                number = other if taken is True else number if taken is False else where(taken, other, number)
            return number

        at = maker if isinstance(found, int) else next(op for op in block.ops if found in op.outputs)
        return self._recorded(block, at, chosen)

    def _fresh(self, var: Variable, maker: Operator) -> Number:
        """The number of what an operator makes, another one whenever it runs."""
        known = builder().object_numbers
        own, stamp = known.setdefault(var, len(known) + 1), self._stamp(var.block)
        if isinstance(var.meta, ListMeta):
            if isinstance(var.meta.item, ListMeta):
                raise UnknownObjectError()
            return self._recorded(var.block, maker, lambda: _numbers_of_items(var, own, stamp))
        return stamp + own if isinstance(stamp, int) else self._recorded(var.block, maker, lambda: stamp + own)

    def _entering(self, var: Variable) -> _Making:
        """The number of an input of a block."""
        block, known = var.block, builder().object_numbers
        if block.parent is None:
            if block.name or isinstance(var.meta, ListMeta):
                raise UnknownObjectError()
            return known.setdefault(var, len(known) + 1)
        outer = next((outer for outer, inner in block.captures.items() if inner is var), None)
        if outer is not None:
            yield outer
            return self._in(block, self._made[outer])
        owner = _owner(block)
        if owner is None or owner.op is not while_op:
            raise UnknownObjectError()
        yield from self._carrying(owner, _place(block.inputs, var))
        return self._made[var]

    def _branches(self, operator: Operator, place: int) -> _Making:
        blocks, found = list(operator.blocks.values()), []
        for block in blocks:
            end = block.outputs[place] if len(block.outputs) > place else None
            if end is None:
                raise UnknownObjectError()
            yield end
            found.append(self._made[end])
        if all(isinstance(number, int) and number == found[0] for number in found):
            return found[0]
        return add_branch_output(operator, [self.as_variable(n, b) for n, b in zip(found, blocks)])

    def _carrying(self, operator: Operator, place: int) -> _Making:
        """Let a loop carry the numbers of one of its variables."""
        body = operator.attrs["body"]
        start, end, out = operator.inputs[place], body.outputs[place], operator.outputs[place]
        heads = [block.inputs[place] for block in operator.blocks.values()]
        if (operator, place) not in self._carried:  # else what its end is made of asks for it
            self._carried.add((operator, place))
            if not isinstance(start, Variable) or end is None:
                raise UnknownObjectError()
            yield start
            before = self._variable(self._made[start], operator.outputs[0].block, operator, is_before=True)
            made, behind = add_carried(operator, before)
            self._made.update((head, made[head.block]) for head in heads)
            self._made[out] = behind
            found: Number = 0
            try:
                yield end
                found = self._made[end]
            finally:  # also where nothing tells: what was begun must have an end
                end_carried(operator, self.as_variable(found, body), behind)
        return self._made[out]

    def _passing(self, operator: Operator) -> _Making:
        """The operator again, on numbers in place of tensors."""
        block, inputs = operator.outputs[0].block, list(operator.inputs)
        for place, var in enumerate(operator.inputs):
            if not may_pass(operator.op, place):
                continue
            if not isinstance(var, Variable):
                raise UnknownObjectError()
            yield var
            inputs[place] = self._variable(self._made[var], block, operator, is_before=True)
        attrs = dict(operator.attrs)
        if operator.op is list_of_op:
            attrs["item"] = _of_numbers(attrs["item"])
        given = inputs[: len(inputs) - operator.ref_count]
        made = block.create_var(operator.op.meta(*[v.meta for v in given], **attrs), prefix=operator.op.name)
        copy = Operator(operator.op, tuple(inputs), (made,), attrs, operator.locs)
        block.ops.insert(_place(block.ops, operator) + 1, copy)
        return made

    # -- where ------------------------------------------------------------------------------------------------------

    def _stamp(self, block: Block) -> Number:
        """What tells the runs of a block apart: 0 in the outermost one, which runs once."""
        if block not in self._stamps:
            self._stamps[block] = self._new_stamp(block)
        return self._stamps[block]

    def _new_stamp(self, block: Block) -> Number:
        if block.parent is None:
            if block.name:
                raise UnknownObjectError()
            return 0
        owner, build = _owner(block), builder()
        if owner is None and (block in build.loop_bodies or block in build.loop_tests):
            raise UnknownObjectError()
        if owner is None or owner.op is if_op:
            return self._in(block, self._stamp(block.parent))
        if owner.op is not while_op:
            raise UnknownObjectError()
        start, known = self._stamp(block.parent), build.object_numbers
        first = known.setdefault(owner.outputs[0], len(known) + 1) * _ODD % 2**62  # of this loop alone
        if isinstance(start, int):
            before = self._variable(first, block.parent, owner, is_before=True)
        else:
            before = self._recorded(block.parent, owner, lambda: _mixed(start, first), is_before=True)
        made, behind = add_carried(owner, before)
        body = owner.attrs["body"]
        end_carried(owner, self._recorded(body, None, lambda: made[body] + _TURN), behind)
        self._stamps.update(made)
        return made[block]

    def _in(self, block: Block, number: Number) -> Number:
        """A number of a block around this one, in it."""
        if isinstance(number, int) or number.block is block:
            return number
        if block.parent is None:
            raise UnknownObjectError()
        outer, owner = self._in(block.parent, number), _owner(block)
        assert isinstance(outer, Variable)
        if owner is None:
            return block.resolve(outer)
        with capturing_late(owner):
            return block.resolve(outer)

    def _variable(self, number: Number, block: Block, at: Operator | None, *, is_before: bool = False) -> Variable:
        found = self._in(block, number)
        if isinstance(found, Variable):
            return found
        return self._recorded(block, at, lambda: constant(found), is_before=is_before)

    def _recorded(
        self, block: Block, at: Operator | None, make: Callable[[], Any], *, is_before: bool = False
    ) -> Variable:
        """What `make` records, behind an operator of a block or in front of it; None: in front of all."""
        mark = len(block.ops)
        with builder().resume(block), builder().at(() if at is None else at.locs):
            made: Variable = make()
        place = 0 if at is None else _place(block.ops, at) + (not is_before)
        recorded = block.ops[mark:]
        del block.ops[mark:]
        if at is not None and not is_before:  # what tells of paths may be made behind what is another tensor on them
            given = {v for op in recorded for v in op.variables}
            place = max([place, *(i + 1 for i, op in enumerate(block.ops) if not given.isdisjoint(op.outputs))])
        block.ops[place:place] = recorded
        return made


def _end(waiting: list[tuple[Variable, _Making]]) -> None:
    """Give up what was begun, the last one first."""
    for _, making in reversed(waiting):
        making.close()


def _owner(block: Block) -> Operator | None:
    """The operator that a block belongs to; None while it is being traced."""
    parent = block.parent
    assert parent is not None
    found = next((op for op in parent.ops if any(inner is block for inner in op.blocks.values())), None)
    if found is None and not _is_open(block):
        raise UnknownObjectError()
    return found


def _is_open(block: Block) -> bool:
    around: Block | None = builder().block
    while around is not None and around is not block:
        around = around.parent
    return around is not None


def _place(held: Any, wanted: Any) -> int:
    return next(i for i, found in enumerate(held) if found is wanted)


def _mixed(stamp: Variable, first: int) -> Any:
    """Another number for each stamp, such that those of neighbours are far apart."""
    high = get_op("bitwise_right_shift")(stamp, constant(29))
    return get_op("bitwise_xor")(stamp, high) * _ODD + first


def _numbers_of_items(var: Variable, own: int, stamp: Number) -> Any:
    """A number for each item of a list that an operator has made."""
    places = arange(list_len_op(var), dtype="int64")
    return list_unstack_op(places * _ITEM + own + stamp, axis=0)


def _of_numbers(meta: Any) -> Any:
    """The meta of what stands beside a list or tensor."""
    return ListMeta(_of_numbers(meta.item)) if isinstance(meta, ListMeta) else Meta((), int64)
