"""Which items of a list stop gradients, where they differ: a list of flags beside it, made by the same operators."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Protocol

from ..core.dtype import bool_, int64
from ..core.meta import ListMeta, Meta
from ..ir.gradient_flow import may_pass
from ..ir.operator import Operator
from ..ir.program import Block, Variable
from ..ir.regions import add_branch_output, add_carried, capturing_late, end_carried
from ..ops.control_flow import if_op, while_op
from ..ops.lists import PASSING, list_get_op, list_len_op, list_of_op, list_stack_op, list_sum_op
from ..ops.registry import get_op
from .stop_flags import NOTHING, Atom, Flag, Item, Items, Scope, is_list

Making = Generator[Atom, None, None]
"""Makes the variable of an atom, once those of the atoms that it asks for are made."""


class UnknownItemsError(Exception):
    """Nothing in the program tells of each item of a list whether it stops gradients."""


class Maker(Protocol):
    """What makes variables of atoms."""

    made: dict[Atom, Variable]
    known: dict[Block, Scope]

    def all_of(self, flag: Flag, block: Block, *, before: Operator | None = None) -> Variable:
        """Whether all of these atoms, made already, hold: at the end of a block, or in front of an operator."""


class ItemFlags:
    """Makes lists of flags beside lists, and reads them where items are read."""

    def __init__(self, maker: Maker) -> None:
        self._maker = maker
        self._items: dict[Variable, Items] = {}
        self._carried: dict[tuple[Operator, int], tuple[dict[Block, Variable], Variable]] = {}

    def items(self, var: Variable, scope: Scope) -> Items:
        """The atom of what is in a list."""
        return self._items.setdefault(var, Items(scope, var))

    def reading(self, atom: Item) -> Making:
        """Read what stands beside the item that an operator reads, or beside all items."""
        operator, block = atom.operator, atom.scope.block
        flags = self.items(operator.inputs[0], atom.scope)
        yield flags
        if operator.op is list_get_op:
            inputs = (self._maker.made[flags], *operator.inputs[1:])
            self._maker.made[atom] = _appended(block, operator, list_get_op, inputs, operator.attrs)
            return
        if operator.op is list_sum_op:  # of no items, too
            stopped = _appended(block, operator, list_sum_op, (self._maker.made[flags],), {"dtype": int64})
            count = _appended(block, operator, list_len_op, (self._maker.made[flags],), {})
            self._maker.made[atom] = _appended(block, operator, get_op("equal"), (stopped, count), {})
            return
        stacked = _appended(block, operator, list_stack_op, (self._maker.made[flags],), {"axis": 0})
        attrs = {"axis": (0,), "keepdim": False}
        self._maker.made[atom] = _appended(block, operator, get_op("all"), (stacked,), attrs)

    def listing(self, atom: Items) -> Making:
        """Make the list of flags of a list."""
        block = atom.scope.block
        operator = next((op for op in block.ops if any(out is atom.var for out in op.outputs)), None)
        if operator is None:
            yield from self._entering(atom)
        elif operator.op is if_op:
            place = _place(operator.outputs, atom.var)
            yield from self._branches(atom, operator, place)
        elif operator.op is while_op and _place(operator.outputs, atom.var) < operator.attrs["n_carried"]:
            place = _place(operator.outputs, atom.var)
            yield from self._carrying(atom.scope, operator, place)
            self._maker.made[atom] = self._carried[operator, place][1]
        elif operator.op in PASSING:
            yield from self._passing(atom, operator)
        else:
            raise UnknownItemsError

    def _entering(self, atom: Items) -> Making:
        scope, operator = atom.scope, atom.scope.operator
        if operator is None or scope.outer is None:
            raise UnknownItemsError
        place = _place(scope.block.inputs, atom.var)
        if operator.op is while_op and place < operator.attrs["n_carried"]:
            yield from self._carrying(scope.outer, operator, place)
            self._maker.made[atom] = self._carried[operator, place][0][scope.block]
            return
        outer = next((out for out, inner in scope.block.captures.items() if inner is atom.var), None)
        if outer is None:
            raise UnknownItemsError
        flags = self.items(outer, scope.outer)
        yield flags
        with capturing_late(operator):
            self._maker.made[atom] = scope.block.resolve(self._maker.made[flags])

    def _branches(self, atom: Items, operator: Operator, place: int) -> Making:
        ends = [self._end(block, place) for block in operator.blocks.values()]
        yield from ends
        self._maker.made[atom] = add_branch_output(operator, [self._maker.made[end] for end in ends])

    def _carrying(self, scope: Scope, operator: Operator, place: int) -> Making:
        if (operator, place) in self._carried:  # perhaps not made to its end: what that is made of asked for it
            return
        start = self.items(operator.inputs[place], scope)
        yield start
        made = self._carried[operator, place] = add_carried(operator, self._maker.made[start])
        end = self._end(operator.attrs["body"], place)
        yield end
        end_carried(operator, self._maker.made[end], made[1])

    def _end(self, block: Block, place: int) -> Items:
        var = block.outputs[place]
        if var is None or block not in self._maker.known:
            raise UnknownItemsError
        return self.items(var, self._maker.known[block])

    def _passing(self, atom: Items, operator: Operator) -> Making:
        """The operator again, on flags in place of tensors."""
        scope = atom.scope
        inputs = list(operator.inputs)
        for place, var in enumerate(operator.inputs):
            if not may_pass(operator.op, place):
                continue
            if isinstance(var, Variable) and is_list(var):
                flags = self.items(var, scope)
                yield flags
                inputs[place] = self._maker.made[flags]
                continue
            flag = scope.of(var)
            if flag is None or flag is NOTHING:
                raise UnknownItemsError
            if isinstance(flag, frozenset):
                yield from flag
            inputs[place] = self._maker.all_of(flag, scope.block, before=operator)
        attrs = dict(operator.attrs)
        if operator.op is list_of_op:
            attrs["item"] = _of_flags(attrs["item"])
        self._maker.made[atom] = _appended(scope.block, operator, operator.op, inputs, attrs)


def _of_flags(meta: Any) -> Any:
    """The meta of a list of flags beside a list, of one flag beside a tensor."""
    return ListMeta(_of_flags(meta.item)) if isinstance(meta, ListMeta) else None if meta is None else Meta((), bool_)


def _place(variables: Any, var: Variable) -> int:
    return next(i for i, held in enumerate(variables) if held is var)


def _appended(block: Block, before: Operator, op: Any, inputs: Any, attrs: Any) -> Variable:
    """What an operator gives that is put in front of another one."""
    operator = Operator(op, tuple(inputs), (), dict(attrs), before.locs)
    given = inputs[: len(inputs) - operator.ref_count]
    made = block.create_var(op.meta(*[v.meta for v in given], **attrs), prefix=op.name)
    operator.outputs = (made,)
    place = next(i for i, held in enumerate(block.ops) if held is before)
    block.ops.insert(place, operator)
    return made
