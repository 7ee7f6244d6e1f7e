"""Whether the user's handlers see an exception raised while a program is built: only if eager code raises it, too.

What conversion cannot do raises errors of its own. Library code that was given a tensor without a value raises whatever
it thinks of it. Neither is an error of the user's, so neither `except` nor `with suppress(...)` may take it for one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Any

from ...core.errors import ForeignVariableError, UnsupportedError, VitrifyError
from ...core.source import Loc, user_locs
from ...ir.builder import current_builder
from ..control.protocols import truth
from ..control.raise_ import is_raised_by_user
from ..values.base import builder, is_graph
from ..values.deferred import holds_deferred
from ..values.handlers import catching
from ..values.user_code import is_own_file, user_method
from ..values.user_errors import named


def pass_on() -> None:
    """Raise the exception being handled again, or one in its place, if eager code does not meet it."""
    err = sys.exc_info()[1]
    ours = None if err is None or current_builder() is None else of_conversion(err)
    if ours is not None:
        raise ours


def of_conversion(err: BaseException) -> BaseException | None:
    """The error to raise instead of `err` where that tells of the conversion, or of tensors without a value."""
    if isinstance(err, (UnsupportedError, ForeignVariableError)):
        return err
    if hasattr(err, "exceptions"):  # a group of several
        return next(filter(None, map(of_conversion, err.exceptions)), None)
    return None if isinstance(err, VitrifyError) or not isinstance(err, Exception) else _of_library(err)


def unmasked(err: Exception) -> Exception:
    """The error that tells of the conversion, where `err` came up in a `finally` of the user's that it passed."""
    met: BaseException | None = err
    while met is not None and not isinstance(met, UnsupportedError):
        met = met.__context__
    return met if isinstance(met, UnsupportedError) else err


def _of_library(err: Exception) -> BaseException | None:
    holds = holds_deferred
    if is_raised_by_user(err):
        if type(err) is not ValueError or id(err) in builder().errors:
            return None
        holds = is_graph  # raised by a function in C, then
    elif isinstance(err, (StopIteration, AttributeError)):
        return None
    frame, loc = _where(err.__traceback__)
    if frame is None or loc is None or not any(map(holds, named(loc, frame))):
        return None
    found = UnsupportedError(
        f"library code raised {type(err).__name__} ({str(err)[:80]}), given a tensor that has a value only when the "
        "program runs; a handler here would take that for an error of its own",
        loc=loc,
        hint="use a tensor operation, put the `try` around the call, or convert with full_graph=False",
    )
    found.__suppress_context__ = True
    return found


def _where(tb: TracebackType | None) -> tuple[FrameType | None, Loc | None]:
    """The innermost frame of the user's, and where it stood."""
    held, frame = tb, None
    while tb is not None:
        if is_own_file(tb.tb_frame.f_code.co_filename):
            frame = tb.tb_frame
        tb = tb.tb_next
    locs = [] if frame is None else [loc for loc in user_locs(held) if loc.file == frame.f_code.co_filename]
    return frame, locs[0] if locs else None


def managed(manager: Any, closes: Callable[..., Any] | None = None) -> Any:
    """A context manager whose `__enter__` and `__exit__` run in converted form, where they are the user's.

    What tells of the conversion leaves its block whatever `__exit__` says. closes: called in place of `__exit__`.
    """
    if current_builder() is None or type(manager).__module__.partition(".")[0] == "vitrify":
        return manager
    enter, leave = user_method(manager, "__enter__"), user_method(manager, "__exit__")
    return _Managed(manager, enter or manager.__enter__, closes or leave or manager.__exit__)


class _Managed:
    """Stands for a context manager."""

    def __init__(self, manager: Any, enter: Callable[[], Any], leave: Callable[..., Any]) -> None:
        self._enter = enter
        self._leave = leave
        held = getattr(manager, "_exceptions", ()) if isinstance(manager, suppress) else None
        self._suppressing = None if held is None else catching(held, "the `with suppress(...)` around it")

    def __enter__(self) -> Any:
        if self._suppressing is not None:
            self._suppressing.__enter__()
        builder().catches = True
        return self._enter()

    def __exit__(self, *error: Any) -> Any:
        if self._suppressing is not None:
            self._suppressing.__exit__(None, None, None)
        passed = self._leave(*error)
        if error[1] is None:
            return False  # whatever it says: there is nothing to pass
        if is_graph(truth(passed)):
            return _passed_by_run(truth(passed), error[1])
        ours = of_conversion(error[1]) if passed else None
        if ours is not None and ours is not error[1]:
            raise ours
        return passed if ours is None else False


def _passed_by_run(passed: Any, error: BaseException) -> bool:
    """Let the program raise the error where a tensor says that it is not suppressed; whether it is not raised here."""
    if of_conversion(error) is not None:
        return False

    def raise_it() -> None:
        raise error

    builder().choose(passed, lambda: None, raise_it, "suppressed")
    return True
