"""Values that may be missing when a program runs: a truth value beside each says whether it is there.

Cotangents that no path gives, and what a path leaves out for its backward. A value that surely is missing is None, and
what depends on it alone is decided when the plan is made; so most programs ask nothing when they run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..ops.registry import get_op
from .emit import BOOL, INT64
from .errors import NoNativeForm
from .operands import CONSTANT, Frame, Listed, Maybe, Operand

if TYPE_CHECKING:
    from .assembler import Assembler

Build = Callable[[], Sequence[Any]]


def is_surely_array(x: Any) -> bool:
    """Whether a value is an array that is there."""
    return x is not None and not isinstance(x, (Maybe, Frame, Listed))


def known_flag(x: Operand) -> bool | None:
    """The truth value that an operand is when the plan is made; None where only the run knows."""
    return any(x.buffer.number) if x.buffer.kind == CONSTANT and isinstance(x.buffer.number, bytes) else None


def chosen(n: Assembler, pred: Operand, then: Build, orelse: Build) -> tuple[Any, ...]:
    """What one of two gives: the same values, each of one size."""
    flag = known_flag(pred)
    if flag is not None:
        return tuple(then() if flag else orelse())
    paths = [n.within(build) for build in (then, orelse)]
    found = [_joined(n, [steps for steps, _ in paths], pair) for pair in zip(*[outs for _, outs in paths])]
    n.add_branch(pred, [steps for steps, _ in paths])
    return tuple(found)


def _joined(n: Assembler, paths: Sequence[list[Any]], values: Sequence[Any]) -> Any:
    """One value for what two paths give, in memory of its own that both write."""
    like = next((v for v in values if v is not None), None)
    if like is None:
        return None
    if isinstance(like, Listed):
        if not all(isinstance(v, Listed) for v in values):
            raise NoNativeForm("a path gives no list")
        return Listed.of(_copied(n, paths, values), one_kind([v.item for v in values]))
    if isinstance(like, Frame):
        nothing = n.full((), 0, INT64)
        return Frame.of(_copied(n, paths, [nothing if v is None else v for v in values]))
    if all(v is not None and not isinstance(v, Maybe) for v in values):
        return _copied(n, paths, values)
    flag = _copied(n, paths, [is_there(n, v) for v in values])
    return Maybe.of(_copied(n, paths, values), flag)


def one_kind(items: Sequence[Any]) -> Any:
    """What is known of the items of a list that is one of several; they must be of one kind."""
    known = [item for item in items if item is not None]
    if any(item != known[0] for item in known):
        raise NoNativeForm("lists of arrays of several sizes")
    return known[0] if known else None


def _copied(n: Assembler, paths: Sequence[list[Any]], values: Sequence[Any]) -> Operand:
    """A new array into which each path copies its own, if it has one."""
    into: Operand | None = None
    for steps, value in zip(paths, values):
        if value is not None:
            into = n.onto(steps, partial(n.copy, value, into))
    assert into is not None
    return into


def is_there(n: Assembler, x: Any) -> Operand:
    """Whether a value is there."""
    return x.flag if isinstance(x, Maybe) else n.full((), x is not None, BOOL)


def is_given(n: Assembler, values: Sequence[Any]) -> Operand:
    """Whether one of these is there."""
    if any(isinstance(v, (Frame, Listed)) for v in values):
        raise NoNativeForm("it is asked whether a frame or list is there")
    flags = [is_there(n, v) for v in values if v is not None]
    if not flags or any(known_flag(f) for f in flags):
        return n.full((), bool(flags), BOOL)
    found = flags[0]
    for flag in flags[1:]:
        found = n.apply(get_op("logical_or"), found, flag)
    return found


def added(n: Assembler, x: Any, y: Any) -> Any:
    """x + y, where what is missing adds nothing."""
    if x is None or y is None:
        return y if x is None else x
    if isinstance(x, (Frame, Listed)) or isinstance(y, (Frame, Listed)):
        raise NoNativeForm("frames or lists are added")

    def total() -> Sequence[Any]:
        return [n.apply(get_op("add"), x, y)]

    def with_x() -> Sequence[Any]:
        return chosen(n, is_there(n, y), total, lambda: [Operand.of(x)])

    (found,) = chosen(n, is_there(n, x), with_x, lambda: [y])
    return found


def filled(n: Assembler, x: Any, like: Operand) -> Operand:
    """x, or zeros like another array where it is missing."""
    found: Operand
    (found,) = chosen(n, is_there(n, x), lambda: [Operand.of(x)], lambda: [n.full(like.shape, 0, like.dtype)])
    return found


def if_run(n: Assembler, x: Any, steps: Operand) -> Any:
    """x, missing where a loop made no step."""
    if x is None or isinstance(x, (Frame, Listed)):
        return n.refuse("a loop's frame or list may be missing") if x is not None else None
    has_run = n.apply(get_op("not_equal"), n.reshape(steps, ()), n.full((), 0, steps.dtype))
    if isinstance(x, Maybe):
        has_run = n.apply(get_op("logical_and"), has_run, x.flag)
    return Maybe.of(x, has_run)


def zeros_like(n: Assembler, x: Any) -> Any:
    """Zeros like x, missing where it is missing."""
    if x is None or isinstance(x, (Frame, Listed)):
        n.refuse("zeros are wanted for what is missing")
    zeros = n.full(x.shape, 0, x.dtype)
    return Maybe.of(zeros, x.flag) if isinstance(x, Maybe) else zeros


__all__ = [
    "added", "chosen", "filled", "if_run", "is_given", "is_surely_array", "is_there", "known_flag", "one_kind",
    "zeros_like",
]  # fmt: skip
