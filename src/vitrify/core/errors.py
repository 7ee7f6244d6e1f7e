"""Error classes: who must act, what was expected and found, and where.

`UserCodeError` — the user's code; `UnsupportedError` — valid Python that vitrify cannot convert, with the
way out; `InternalError` — our bug. Each concrete class also inherits the builtin that plain Python would
raise, so `except ValueError` keeps working.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Sequence

from .source import Loc


class VitrifyError(Exception):
    """Base of every error raised on purpose; prints what, where and one next step."""

    def __init__(self, message: str, *, loc: Loc | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.loc = loc
        self.hint = hint

    def __str__(self) -> str:
        parts = [self.message]
        if self.loc is not None:
            parts.append("  " + self.loc.report().replace("\n", "\n  "))
        if self.hint is not None:
            parts.append(f"  hint: {self.hint}")
        return "\n".join(parts)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.message, self.loc, self.hint)


def _rebuild(cls: type[VitrifyError], message: str, loc: Loc | None, hint: str | None) -> VitrifyError:
    return cls(message, loc=loc, hint=hint)


class UserCodeError(VitrifyError):
    """The user's code asked for something impossible."""


class UnsupportedError(VitrifyError):
    """Valid Python that cannot be converted; the hint names the way out."""


class EndlessRecursionError(UnsupportedError, RecursionError):
    """A function that calls itself on every path."""


class InternalError(VitrifyError, RuntimeError):
    """A bug in vitrify itself."""


# What is wrong with arguments is an AssertionError, too: Paddle asserts now and then, and code may catch that.


class ShapeError(UserCodeError, ValueError, AssertionError):
    """Shapes of arguments don't fit the op or each other."""


class TakenSizeError(ShapeError):
    """A size that a program took for 1, or for another one, while it was built, as it was unknown then, is not that."""


class ArgumentError(UserCodeError, ValueError, AssertionError):
    """An argument has a value the op does not accept."""


class ForeignVariableError(ArgumentError):
    """A variable is used in a program that it is not of, or behind the branch or loop that it was made in."""


class DTypeError(UserCodeError, TypeError, ValueError, AssertionError):
    """An argument has a dtype or Python type the op does not accept; Paddle raises now TypeError, now ValueError."""


class NoValueError(ArgumentError, RuntimeError):
    """A program reads a variable that nothing gave a value; its startup program was not run, in most cases."""


class MissingFileError(UserCodeError, FileNotFoundError, ValueError):
    """There is no such file: FileNotFoundError is what Python says then, ValueError what Paddle says."""


class UnknownValueError(UnsupportedError, DTypeError):
    """Python needs the value of a tensor while a program is built; eager code, which has the value, does not fail."""


class UnsettledError(UnsupportedError, ArgumentError):
    """What a tensor decides differs too much between the paths to be one value; eager code takes one path."""


class FeedFetchError(DTypeError, ArgumentError):
    """What is fed or fetched is of the wrong type."""


class ClosedError(UserCodeError, RuntimeError):
    """An Executor is used after it was closed."""


class IndexRangeError(UserCodeError, IndexError, ValueError, AssertionError):
    """An index or axis lies outside the dimension it addresses: Paddle raises now IndexError, now ValueError for it."""


class DepthError(UserCodeError, RecursionError):
    """A function of a program called itself deeper than the interpreter goes."""


class StaleBackwardError(UserCodeError, RuntimeError):
    """A tensor needed by backward was changed in place after forward saved it, or was freed."""


class NoGradientError(ArgumentError, RuntimeError):
    """A hook is put on a tensor that gets no gradient."""


class NotFiniteError(UserCodeError, RuntimeError):
    """A result has a NaN or an infinity, and `FLAGS_check_nan_inf` or a tensor checker asks to stop there."""


class OutOfMemoryError(UserCodeError, MemoryError):
    """A device has no memory for another array."""


class HangError(VitrifyError, RuntimeError, TimeoutError):
    """Nothing ended for as long as `hang_seconds` says; the text tells what threads and streams do or wait for."""


class FileFormatError(UserCodeError, ValueError):
    """A model file is truncated, tampered with, or of another format."""


def exception_named(name: str) -> type[BaseException] | None:
    """The exception of Python's or of this module that is called so; None where there is none."""
    found = vars(builtins).get(name) or globals().get(name)
    return found if isinstance(found, type) and issubclass(found, BaseException) else None


RAISED_BY_PROGRAM = "_vitrify_raised"
"""Marks an exception that a program raises because the user's code says so, until it is on its way."""


def add_note(err: BaseException, note: str) -> None:
    """Attach `note` to an exception raised by user code, keeping its type and identity (PEP 678)."""
    if sys.version_info >= (3, 11):
        err.add_note(note)
    else:
        notes = getattr(err, "__notes__", None)
        if notes is None:
            err.__notes__ = [note]  # type: ignore[attr-defined]  # 3.10 shows them only in our reports
        else:
            notes.append(note)


def call_chain(locs: Sequence[Loc], told: Loc | None = None) -> str:
    """The user's frames as text: the innermost with its source line, the others one line each.

    told: a place that the reader knows already.
    """
    if not locs:
        return ""
    is_told = told is not None and (told.file, told.line) == (locs[0].file, locs[0].line)
    lines = [] if is_told else [locs[0].report()]
    lines += [f"called from {loc.file}:{loc.line} in {loc.function}" for loc in locs[1:]]
    return "\n".join(lines)
