"""Which mode operators are called in, asked by the inner names of PaddlePaddle."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from ..core.dispatch import in_dynamic_mode
from ..core.errors import UserCodeError
from ..core.modes import is_tracing

P = ParamSpec("P")
R = TypeVar("R")


class ModeError(UserCodeError, AssertionError):
    """A function of eager mode called while a program is being built."""


def dygraph_only(func: Callable[P, R]) -> Callable[P, R]:
    """`func`, which raises ModeError where operators are recorded. Source: paddle.framework.dygraph_only.

    >>> dygraph_only(abs)(-1)
    1
    """

    return _where(in_dynamic_mode, func)


def non_static_only(func: Callable[P, R]) -> Callable[P, R]:
    """`func`, which raises ModeError while a program is built by hand. Source: paddle.base.framework.non_static_only.

    What `to_static` makes a program of may call it: an optimizer of the user's own steps in a training step.

    >>> non_static_only(abs)(-1)
    1
    """
    return _where(lambda: in_dynamic_mode() or is_tracing(), func)


def _where(is_meant: Callable[[], bool], func: Callable[P, R]) -> Callable[P, R]:
    @wraps(func)
    def eagerly(*args: P.args, **kwargs: P.kwargs) -> R:
        if not is_meant():
            raise ModeError(f"{func.__name__}() is of eager mode only", hint="call paddle.disable_static() before")
        return func(*args, **kwargs)

    return eagerly


def _no_check_dy2st_diff() -> bool:
    """Return False: operators do the same eagerly and in programs, and nobody has to look the other way."""
    return False


def in_pir_mode() -> bool:
    """Return whether a program is being built, as `to_static` and `program_guard` do.

    >>> in_pir_mode()
    False
    """
    return not in_dynamic_mode()


def use_pir_api() -> bool:
    """Return True: there is one kind of programs.

    >>> use_pir_api()
    True
    """
    return True


def in_dynamic_or_pir_mode() -> bool:
    """Return True: operators run eagerly or are recorded, and there is no third mode.

    >>> in_dynamic_or_pir_mode()
    True
    """
    return True
