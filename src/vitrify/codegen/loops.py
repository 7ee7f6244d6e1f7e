"""Loops of a plan: values that they carry, lists that they read and write an item of each iteration.

What a loop carries may be missing before it and there behind it, or a list of whose items nothing is known before
the first is made. So the body is planned anew while it turns out that what it gives is more than what it was given.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..core.meta import Meta
from ..ir.program import Block, Variable
from . import lists
from .emit import BOOL, INT64
from .errors import NoNativeForm
from .missing import is_there, one_kind
from .operands import STATE, Edge, Frame, Listed, Maybe, Operand, Step

if TYPE_CHECKING:
    from .assembler import Assembler

_MOST_TRIES = 4


def loop(
    n: Assembler, until: Block | Operand, body: Block, carried: Sequence[Any], captured: Sequence[Any],
    read: Sequence[Any] = (), reverse: bool = False,
) -> tuple[Any, ...]:  # fmt: skip
    """What a loop makes of carried values, whose sizes stay, how many iterations it ran, and the lists that it wrote.

    until: the block that says whether there is one more, or how many there are. read: lists of which each iteration is
    given an item, and reverse: from the last on; item i of what is written then is of the same iteration.
    """
    values, words = list(carried), n.words
    for _ in range(_MOST_TRIES):
        steps, (found, wanted) = n.within(partial(_loop, n, until, body, values, captured, read, reverse))
        if wanted == values:
            n.steps += steps
            return tuple(found)
        values, n.words = wanted, words
    raise NoNativeForm("what a loop carries takes long to find")


def _loop(
    n: Assembler, until: Block | Operand, body: Block, values: Sequence[Any], captured: Sequence[Any],
    read: Sequence[Any], reverse: bool,
) -> tuple[list[Any], list[Any]]:  # fmt: skip
    """The same for values of these kinds, and those that it should have been given."""
    own = [_own(n, x) for x in values]
    count = n.new((), INT64)
    written = [lists.new_list(n) for _ in body.outputs[len(own) :]]
    if n.functions.is_trial:
        return [*own, count, *written], list(values)
    flag, test = until, list[Step]()
    if isinstance(until, Block):
        test, (flag,) = n.within(lambda: n.block(until, [*own, *captured]))
        need_flag(flag)
    elif until.dtype != INT64 or until.size != 1:
        raise NoNativeForm("the number of iterations is no int64")
    end = until if reverse and isinstance(until, Operand) else None

    def turn() -> list[Any]:
        variables = body.inputs[len(own) : len(own) + len(read)]
        items = [_item(n, body, v, x, count, end) for v, x in zip(variables, read)]
        outs = n.block(body, [*own, *items, *captured])
        wanted = [_wanted(n, x, out) for x, out in zip(values, outs)]
        if wanted == list(values):
            for i, out in enumerate(outs[len(own) :]):
                written[i] = lists.appended(n, written[i], out, into=written[i])
            _turn(n, own, outs)
        return wanted

    steps, wanted = n.within(turn)
    edges = [Edge(block, is_end) for block in (0, 1) for is_end in (False, True)]
    n.add("while_true" if isinstance(until, Block) else "repeat", [flag, *edges, count, STATE], (test, steps))
    n.has_loops = True
    if reverse:
        for x in written:
            lists.turned_around(n, x)
    return [*own, count, *written], wanted


def _own(n: Assembler, x: Any) -> Any:
    """A copy of what a loop carries, which it writes anew."""
    if isinstance(x, Frame):
        raise NoNativeForm("a loop carries a frame")
    if x is None:
        return None
    if isinstance(x, Listed):
        return Listed.of(n.copy(x), x.item)
    return Maybe.of(n.copy(Operand.of(x)), n.copy(x.flag)) if isinstance(x, Maybe) else n.copy(x)


def _wanted(n: Assembler, x: Any, out: Any) -> Any:
    """What should be carried for x, so that out is of its kind."""
    if isinstance(x, Frame) or isinstance(out, Frame) or isinstance(x, Listed) is not isinstance(out, Listed):
        raise NoNativeForm("a loop carries a value of several kinds")
    if isinstance(x, Listed):
        item = one_kind([x.item, out.item])
        return x if item == x.item else Listed.of(x, item)
    if x is None and out is not None:
        return Maybe.of(n.full(out.shape, 0, out.dtype), n.full((), False, BOOL))
    is_sure = out is not None and not isinstance(out, Maybe)
    return x if x is None or isinstance(x, Maybe) or is_sure else Maybe.of(x, n.full((), True, BOOL))


def _item(n: Assembler, body: Block, variable: Variable, x: Any, count: Operand, end: Operand | None) -> Any:
    """The item of a list for an iteration; of one whose sizes alone the body asks, zeros."""
    meta = variable.meta
    if not isinstance(meta, Meta):
        raise NoNativeForm("a list of what are no arrays")
    shape, dtype = lists.kind_of(x, meta)
    if _is_asked_for_sizes(body, variable):
        return n.full(shape, 0, dtype)
    return lists.item_of(n, x, count, (shape, dtype), end)


def _is_asked_for_sizes(body: Block, variable: Variable) -> bool:
    """Whether nothing in a block reads the elements of a variable."""
    for operator in body.ops:
        for i, value in enumerate(operator.inputs):
            is_attribute = i >= len(operator.inputs) - operator.ref_count
            if value is variable and (is_attribute or operator.op.input_name(i) not in operator.op.shape_only):
                return False
    return all(v is not variable for v in body.outputs)


def _turn(n: Assembler, own: Sequence[Any], outs: Sequence[Any]) -> None:
    """Bring what an iteration made to where the next one finds it."""
    pairs = [pair for x, to in zip(outs, own) for pair in _parts(n, x, to)]
    moved = [(x, to) for x, to in pairs if x != to]
    mine = {to.buffer for _, to in pairs}
    ready = [(n.copy(x) if x.buffer in mine else x, to) for x, to in moved]
    for x, to in ready:
        n.copy(x, to)


def _parts(n: Assembler, x: Any, to: Any) -> list[tuple[Operand, Operand]]:
    if to is None:
        return []
    flags = [(is_there(n, x), to.flag)] if isinstance(to, Maybe) else []
    return flags if x is None else [(Operand.of(x), Operand.of(to)), *flags]


def need_flag(x: Any) -> None:
    """Raise NoNativeForm unless x is one truth value."""
    if x is None or x.dtype != BOOL or x.size != 1:
        raise NoNativeForm("what decides is not one truth value")


__all__ = ["loop", "need_flag"]
