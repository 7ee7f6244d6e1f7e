"""`and`, `or`, `not` and chained comparisons: short-circuit and value semantics, on tensors too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ...core.meta import numel
from ...ir.aliases import Way
from ...ir.graph_tensor import as_number, is_number
from ...ir.program import Variable
from ...ops.compare import logical_and, logical_not, logical_or
from ...ops.like import assign_op
from ..state.cells import closed_over
from ..state.journal import journaling
from ..values.base import Unmergeable, builder, is_graph, scalar_condition
from ..values.emit import is_numeric
from ..values.optional import Facts, MaybeNoneError, means, tell, told_by
from .branches import convert_ifexp, trace_branches
from .protocols import asks_for_truth, truth
from .raise_ import ENDED, run_path
from .unknown import Noticeable, Pending, tried, trying

Function = Callable[..., Any]
MAX_EAGER_OPERATORS = 8


def convert_and(first: Any, *rest: Function, asked: bool = False) -> Any:
    """`first and rest[0]() and ...`; `asked`: for nothing but its truth."""
    value = first
    for position, function in enumerate(rest):
        test = truth(value)
        if is_graph(test):
            return _lazy(test, value, partial(_rest, convert_and, rest[position:], asked), logical_and, False, asked)
        if not test:
            return value
        value = function()
    return value


def convert_or(first: Any, *rest: Function, asked: bool = False) -> Any:
    """`first or rest[0]() or ...`; `asked`: for nothing but its truth."""
    value = first
    for position, function in enumerate(rest):
        test = truth(value)
        if is_graph(test):
            return _lazy(test, value, partial(_rest, convert_or, rest[position:], asked), logical_or, True, asked)
        if test:
            return value
        value = function()
    return value


def _rest(combine: Function, operands: Sequence[Function], asked: bool) -> Any:
    """The remaining operands, the first of them evaluated now."""
    return combine(operands[0](), *operands[1:], asked=asked)


def _lazy(test: Any, left: Any, right: Function, combine: Function, stop_on: bool, asked: bool) -> Any:
    """`left`, whose truth is `test`, where it decides, else `right()`, which runs only then.

    It is evaluated at once where that cannot matter.
    """
    if not is_graph(left):
        return _object_decides(test, left, right, stop_on)
    early = _tried(right) if _is_flag(left) else None
    if early is not None:
        (other,) = early
        if tried() is None:
            other = right()
        elif _is_flag(other):
            other = left  # a trial around this one needs some flag, whatever it says
        is_alike = asked or is_number(left) is (isinstance(other, bool) or is_number(other))
        if _is_flag(other) and is_alike:
            found = tell(combine(left, other), _told_by_both(left, other, stop_on))
            if not asked and not is_number(left):
                _note_object(found, left, other, stop_on)
            return found
        decided = None if is_graph(other) or asks_for_truth(other) else truth(other)
        if (isinstance(decided, bool) and is_alike) or (
            decided is not None and not is_numeric(other) and not is_graph(decided)
        ):
            return _python_decides(left, other, bool(decided), stop_on)
    holds, fails = told_by(test)
    if stop_on:
        return tell(convert_ifexp(left, lambda: left, right), (frozenset(), fails))
    return tell(convert_ifexp(left, right, lambda: left), (holds, frozenset()))


def _note_object(found: Variable, left: Any, other: Any, stop_on: bool) -> None:
    """Note that what `left or other` (stop_on), or `left and other`, gives is the one tensor or the other."""
    build = builder()
    first, second = build.held(left), build.held(other)

    def holds() -> Any:
        with build.as_made([first]):
            return assign_op(first)  # whatever becomes of the tensor

    def fails() -> Any:
        with build.as_made([first]):
            return logical_not(first)

    ways = (first, second) if stop_on else (second, first)
    build.aliases.fork(found, [Way(holds, ways[0]), Way(fails, ways[1])])


def _told_by_both(left: Any, right: Any, stop_on: bool) -> Facts:
    """What `left or right` tells (stop_on), or `left and right`."""
    (holds, fails), (also_holds, also_fails) = told_by(left), told_by(right)
    return (holds & also_holds, fails | also_fails) if stop_on else (holds | also_holds, fails & also_fails)


def _python_decides(left: Any, other: Any, decided: bool, stop_on: bool) -> Any:
    """`t and True` is t, `t and False` is False; other Python values (`t or 'no'`) are what a path gives."""
    result = left if decided is not stop_on else decided
    if isinstance(other, bool):
        return result
    then, orelse = (left, other) if stop_on else (other, left)
    value = convert_ifexp(left, lambda: then, lambda: orelse)
    if isinstance(value, Unmergeable):
        value.decided = result
    return value


def _object_decides(test: Any, left: Any, right: Function, stop_on: bool) -> Any:
    """An object of the user's class whose truth is a tensor: where both operands cannot be one value, their truth."""

    untold: list[Any] = []

    def other() -> tuple[Any, Any]:
        value = right()
        if asks_for_truth(value):
            untold.append(value)  # eager code does not ask the last operand: its method may do more than to tell
            return value, stop_on
        known = truth(value)
        if is_graph(known) and numel(tuple(known.shape)) != 1:
            untold.append(value)  # eager code does not ask it, and may not be able to
            return value, stop_on
        return value, scalar_condition(known, "bool()") if is_graph(known) else bool(known)

    def same() -> tuple[Any, Any]:
        return left, stop_on

    then, orelse = (same, other) if stop_on else (other, same)
    value, decided = trace_branches(scalar_condition(test, "bool()"), then, orelse, ("condition", "its truth"))
    if isinstance(value, Unmergeable) and not untold:
        value.decided = decided
    return value


def _is_flag(value: Any) -> bool:
    return is_graph(value) and value.dtype.is_bool and value.ndim == 0


def _tried(function: Function) -> tuple[Any] | None:
    """What the operand gives, in a block that is left behind, where evaluating it early cannot be noticed; else None.

    It cannot where it is few elementwise operators, without effects and errors. A trial inside of a trial is not done
    again to be recorded there: else operands of operands would be evaluated twice for each level around them.
    """
    outer = tried()
    with journaling(closed_over((function,))) as journal, builder().sub_block() as block, trying() as trial:
        if len(trial.trials) > MAX_EAGER_OPERATORS:  # each of which takes an operator at least
            raise Noticeable(trial.trials[0])
        try:
            value = run_path(function)
        except (Pending, MaybeNoneError):
            return None
        except Noticeable as signal:
            if signal.target is not trial:
                raise
            return None
        if value is ENDED:
            return None
        journal.forget_local(())
        journal.refuse_spent()
        if journal.is_changed():
            return None
        trial.count += len(block.ops)
        if trial.count > MAX_EAGER_OPERATORS or not all(op.op.elementwise and not op.op.raises for op in block.ops):
            return None
    if outer is not None:
        outer.count += trial.count
    return (value,)


def convert_not(value: Any) -> Any:
    """`not value`."""
    value = truth(value)
    if not is_graph(value):
        return not value
    return means(as_number(logical_not(scalar_condition(value, "not"))), value, False)
