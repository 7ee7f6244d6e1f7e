"""How errors leave compiled code: with the user's frames only, and a place in the user's source."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from ..core.config import DEBUG
from ..core.errors import UnsupportedError, VitrifyError
from ..core.source import innermost_user_loc, repeated_user_loc, show_traceback, user_traceback
from ..core.unset_local import of_one_function

P = ParamSpec("P")
R = TypeVar("R")


class UnboundedRecursionError(UnsupportedError, RecursionError):
    """A function calls itself until a tensor says stop: converting it would never end."""


def presented(err: Exception) -> Exception:
    """The exception to show for `err`: itself, its traceback cut to the user's frames unless VITRIFY_DEBUG is set."""
    if DEBUG.value:
        return err
    err = of_one_function(err)
    # Deep down the limit may be met inside a library; the user's own frame is the one that comes back all the time.
    deepest = repeated_user_loc if isinstance(err, RecursionError) else innermost_user_loc
    loc = deepest(err.__traceback__)
    if isinstance(err, RecursionError) and not isinstance(err, VitrifyError):
        found: Exception = UnboundedRecursionError(
            "a function calls itself without end while it is converted",
            loc=loc,
            hint="where a tensor stops the recursion, each call needs tensors of one dtype and rank in one structure",
        )
        found.__suppress_context__ = True
        return found
    if isinstance(err, VitrifyError):
        err.__cause__ = None  # what NumPy or Python said first is part of the message already
        if err.loc is None:
            err.loc = loc
    return err.with_traceback(user_traceback(err.__traceback__) if loc is not None else None)


def show_users_frames(err: BaseException) -> None:
    """Leave the user's frames alone in the tracebacks of `err` and of what it came of, unless VITRIFY_DEBUG is set.

    For a handler at the border that ends with a bare `raise`.
    """
    left: list[BaseException | None] = [] if DEBUG.value else [err]
    seen: set[int] = set()
    while left:
        error = left.pop()
        if error is not None and id(error) not in seen:
            seen.add(id(error))
            is_users = innermost_user_loc(error.__traceback__) is not None
            show_traceback(error, user_traceback(error.__traceback__) if is_users else None)
            left += [error.__context__, error.__cause__]


def at_border(fn: Callable[P, R]) -> Callable[P, R]:
    """`fn`, which the user calls, with no frame of ours in the tracebacks of what it raises."""

    @functools.wraps(fn)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return fn(*args, **kwargs)
        except Exception as err:
            show_users_frames(err)
            raise

    return called


def cause_of(err: Exception) -> Exception:
    """The error of ours, with a place, that code in C said something else about; `err` itself where there is none."""
    cause = err.__cause__
    if not isinstance(cause, UnsupportedError):
        return err
    cause.loc = cause.loc or innermost_user_loc(err.__traceback__)
    return cause
