"""Exceptions that a program raises while it runs pass by the handlers that surrounded their code when it was traced."""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from types import FrameType
from typing import Any

from ..core.errors import UnsupportedError
from ..core.modes import scoped
from ..core.source import Loc, is_user_file, user_frames
from ..transformers import tries_around
from .values import builder


def refuse_if_caught(err: BaseException, loc: Loc | None = None) -> None:
    """Raise UnsupportedError when a `try` now open in traced code would see `err`, raised when the program runs."""
    for frame in _traced_frames():
        name = frame.f_code.co_filename
        if not is_user_file(name):
            continue
        for around in tries_around(name, "".join(linecache.getlines(name)), frame.f_lineno):
            if around.has_final or any(_catches(expr, err, frame) for expr in around.handlers):
                raise _passes_by(err, f"the `try` statement at {name}:{around.line}", loc)
    if any(manager.__exit__(type(err), err, None) for manager in _SUPPRESSING.get()):
        raise _passes_by(err, "the `with suppress(...)` around it", loc)


_SUPPRESSING: ContextVar[tuple[Any, ...]] = ContextVar("suppressing", default=())


@contextmanager
def suppressing(manager: suppress) -> Iterator[None]:
    """Let `refuse_if_caught` know of a `with suppress(...)` around what is traced inside."""
    with scoped(_SUPPRESSING, (*_SUPPRESSING.get(), manager)):
        yield


def _passes_by(err: BaseException, what: str, loc: Loc | None) -> UnsupportedError:
    frames = (loc,) if loc is not None else user_frames(3, limit=1)
    return UnsupportedError(
        f"a tensor decides whether {type(err).__name__} is raised here, so {what} cannot see it: the program runs "
        "after that statement",
        loc=frames[0] if frames else None,
        hint="put the `try` around the call of the converted function, or write the condition with `if` and a value",
    )


def _traced_frames() -> Iterator[FrameType]:
    """The frames of the trace in progress, innermost first."""
    found: list[FrameType] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        found.append(frame)
        frame = frame.f_back
    return iter(found[: len(found) - builder().depth])


def _catches(expr: ast.expr | None, err: BaseException, frame: FrameType) -> bool:
    """Whether `except expr` catches `err`; taken to do so where that is not plain to see."""
    if expr is None:
        return True
    if isinstance(expr, ast.Tuple):
        return any(_catches(item, err, frame) for item in expr.elts)
    found = _looked_up(expr, frame)
    return not isinstance(found, (type, tuple)) or isinstance(err, found)


def _looked_up(expr: ast.expr, frame: FrameType) -> Any:
    """What a name or dotted name means in a frame; None for anything else."""
    if isinstance(expr, ast.Attribute):
        return getattr(_looked_up(expr.value, frame), expr.attr, None)
    if not isinstance(expr, ast.Name):
        return None
    for names in (frame.f_locals, frame.f_globals, frame.f_builtins):
        if expr.id in names:
            return names[expr.id]
    return None
