"""Calls whose exceptions come back as values, so that a tensor may decide whether they are raised.

A `try` that would miss what a called function raises when the program runs is remembered (`handlers.learn`); the trace
is made again, with the function around it converted such that its calls give `(error, value)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import CellType, FunctionType, MethodType
from typing import Any

from ...core.errors import UnsupportedError
from ...core.pytree import is_open
from ...ir.builder import current_builder
from ...ir.dead_code import has_effect
from ...ir.program import Variable
from ..state.journal import is_region_changed, kept_unless_given_up
from ..values.base import MaybeUnset, Undefined, builder
from ..values.emit import unset_flag
from ..values.handlers import RaisedInCallError, attempting
from ..values.user_code import class_attribute, is_left_alone, is_user_code
from ..values.user_errors import told, without_frames
from .comprehension import GeneratorExpression
from .raise_ import convert_raise, is_raised_by_user
from .recursion import entered


def returned(value: Any) -> tuple[Any, Any]:
    """What a function gives that returns `value`."""
    return None, value


def raised(error: BaseException | None) -> tuple[Any, Any]:
    """What a function gives that raises `error`."""
    return error, Undefined()


def tried(compute: Callable[[], Any], given: Iterable[Any] = ()) -> tuple[Any, Any]:
    """`(None, compute())`, or what Python finds wrong with plain values there, and nothing.

    given: what it works on; iterators among that may be used up once.
    """
    if current_builder() is None:
        return returned(compute())
    resets = [_reset(value) for value in given if isinstance(value, Iterator)]
    return _tried(compute, 0, lambda: all(reset() for reset in resets))


def _reset(iterator: Iterator[Any]) -> Callable[[], bool]:
    """What puts an iterator back to where it is now, and says whether it could."""
    return iterator.reset_to_now() if isinstance(iterator, GeneratorExpression) else lambda: False


def _tried(compute: Callable[[], Any], passed: int, reset: Callable[[], bool]) -> tuple[Any, Any]:
    """As `tried`, where the first `passed` exceptions that a tensor may let it raise are known not to be raised.

    reset: puts the iterators back that it used up, and says whether it could.
    """
    build = builder()
    mark, current = len(build.block.ops), dict(build.current)
    changes = []

    def is_given_up(err: BaseException) -> bool:
        is_decided = _is_decided(err)
        changes.append(is_decided and is_region_changed())
        return is_decided

    try:
        with kept_unless_given_up((), is_given_up), attempting(passed):
            return returned(compute())
    except RaisedInCallError as refusal:
        if not _is_decided(refusal) or not _can_repeat(current, mark) or not reset():
            raise
        unless, error = refusal.unless, refusal.error
    except Exception as err:
        if not is_raised_by_user(err):
            raise
        return _given(err)

    def fail() -> Any:
        reset()
        return _failing(compute, passed) if any(changes) else _given(error)

    pair: tuple[Any, Any] = build.choose(unless, lambda: _tried(compute, passed + 1, reset), fail, "error")
    return pair


def _failing(compute: Callable[[], Any], passed: int) -> tuple[Any, Any]:
    """What the exception behind the first `passed` gives, after what is changed before it is raised was changed."""
    build = builder()
    mark, current = len(build.block.ops), dict(build.current)
    try:
        with attempting(passed):
            return returned(compute())
    except RaisedInCallError as refusal:
        if not _is_decided(refusal) or not _can_repeat(current, mark):
            raise
        return _given(refusal.error)


def _can_repeat(current: Mapping[Variable, Variable], mark: int) -> bool:
    """Whether operators since `mark` may run once more than they should: no tensor was changed, nobody told of it."""
    build = builder()
    return not (build.is_anything_changed(current, mark) or any(map(has_effect, build.block.ops[mark:])))


def _is_decided(err: BaseException) -> bool:
    """Whether a flag that is known here decides about an exception that a `try` is to see."""
    return isinstance(err, RaisedInCallError) and err.unless is not None and err.block is builder().block


def _given(err: Any) -> tuple[Any, Any]:
    return raised(convert_raise(without_frames(_as_before(err))))


def _as_before(err: Exception) -> BaseException:
    """An error like it that this trace met before: a loop, traced again until it is settled, carries one object."""
    text = told(err)
    known = (held for held, _, _ in builder().errors.values() if type(held) is type(err))
    return err if text is None else next((held for held in known if told(held) == text), err)


def raising_form(function: Any, convert_raising: Callable[[FunctionType], FunctionType]) -> Any:
    """The function of the user's that is called, in the form that gives what it raises; None for any other."""
    plain: Any
    owner: tuple[Any, ...]
    if isinstance(function, MethodType):
        plain, owner = function.__func__, (function.__self__,)
    elif isinstance(function, FunctionType):
        plain, owner = function, ()
    else:
        plain, owner = class_attribute(type(function), "__call__"), (function,)
    if not isinstance(plain, FunctionType) or not is_user_code(plain) or any(map(is_left_alone, owner)):
        return None
    if isinstance(function, type) or plain.__code__.co_flags & _FRAMES or entered(plain) is not plain:
        return None
    if any(map(_may_be_unset, plain.__closure__ or ())):  # which the function around looks at, not this one alone
        return None
    try:
        found = convert_raising(plain)
    except UnsupportedError:
        return None
    return MethodType(found, *owner) if owner else found


def _may_be_unset(cell: CellType) -> bool:
    """Whether a path may have left the variable of a closure unset."""
    try:
        held = cell.cell_contents
    except ValueError:
        return False
    # What somebody else holds may be large, or hold itself: flags stand in what a path made, on top of it.
    if isinstance(held, (MaybeUnset, Undefined)) or unset_flag(held) is not None:
        return True
    items = list(held) if isinstance(held, (list, tuple)) and not is_open(held) else ()
    return any(unset_flag(item) is not None for item in items)


_FRAMES = 0x20 | 0x80 | 0x100 | 0x200
"""Flags of the code of generators and coroutines."""
