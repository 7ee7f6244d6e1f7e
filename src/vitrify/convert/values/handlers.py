"""Exceptions that a program raises while it runs pass by the handlers that surrounded their code when it was traced."""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from itertools import islice
from types import FrameType
from typing import Any

from ...core.cache import BoundedCache
from ...core.errors import UnknownValueError, UnsettledError, UnsupportedError
from ...core.modes import scoped
from ...core.source import Loc, is_user_file, user_frames, user_locs
from ...ir.program import Block
from ...transformers import TryLines, tries_around
from .base import builder


class LearnedError(UnsupportedError):
    """What another conversion of a statement may do without; `place`: its file and line, if any."""

    place: tuple[str, int] | None = None


class DecidedManagerError(LearnedError, UnsettledError):
    """A tensor decides about the context manager of a `with`."""


class RaisedInCallError(LearnedError):
    """What sees exceptions misses one that a tensor decides; `place` is that of the `try` or method.

    `error`: the exception, which is raised where the flag `unless`, of the block `block`, does not hold.
    """

    error: BaseException | None = None
    unless: Any = None
    block: Block | None = None

    def decided(self, unless: Any, error: BaseException) -> RaisedInCallError:
        """This error, which knows what decides whether `error` is raised."""
        self.unless, self.error, self.block = unless, error, builder().block
        return self


class Attempt:
    """An expression that is traced again; of what a tensor decides to raise in it, the first `passed` is not raised."""

    def __init__(self, passed: int) -> None:
        self.passed = passed
        self.block = builder().block


_ATTEMPT: ContextVar[Attempt | None] = ContextVar("attempt", default=None)


def attempting(passed: int) -> AbstractContextManager[None]:
    """Trace an expression that does not raise the first `passed` exceptions that a tensor may let it raise."""
    return scoped(_ATTEMPT, Attempt(passed))


def refuse_unless_decided(err: BaseException, unless: Any) -> bool:
    """As `refuse_if_caught`, of what is raised where `unless` does not hold; whether that is known to hold."""
    try:
        refuse_if_caught(err)
    except RaisedInCallError as refusal:
        if is_passed():
            return True
        raise refusal.decided(unless, err) from None
    return False


def is_passed() -> bool:
    """Whether the exception that comes next in the expression being traced is one that is known not to be raised."""
    attempt = _ATTEMPT.get()
    if attempt is None or attempt.block is not builder().block or not attempt.passed:
        return False
    attempt.passed -= 1
    return True


def left_to_pass() -> tuple[int, int]:
    """Which attempt is made, and how many exceptions it still passes: less, where one was known not to be raised."""
    attempt = _ATTEMPT.get()
    return (0, 0) if attempt is None else (id(attempt), attempt.passed)


MAX_TRIES = 4096
_DEEP: BoundedCache[tuple[str, int], bool] = BoundedCache("tries around calls that raise", MAX_TRIES)


def decided_manager(err: UnsupportedError) -> DecidedManagerError:
    """The error of a `with` whose manager depends on a tensor, which says what `err` does."""
    loc = next(iter(user_frames(1, limit=1)), None)
    found = DecidedManagerError(err.message, loc=loc, hint=err.hint)
    found.place = None if loc is None else (loc.file, loc.line)
    return found


def _of_mode(err: BaseException) -> tuple[str, int] | None:
    """The place of the `with` whose mode is given a tensor as its flag."""
    locs = user_locs(err.__traceback__) if isinstance(err, UnknownValueError) else []
    loc = locs[0] if locs else None
    text = "" if loc is None else linecache.getline(loc.file, loc.line)
    return (loc.file, loc.line) if loc is not None and any(mode in text for mode in _MODES) else None


_MODES = ("set_grad_enabled(", "auto_cast(", "amp_guard(", "autocast(")


def learn(err: BaseException) -> bool:
    """Whether the trace that ended in this error may do better now: a statement is remembered that was not before."""
    place = err.place if isinstance(err, LearnedError) else _of_mode(err)
    if place is None or place in _DEEP:
        return False
    _DEEP.put(place, True)
    return True


def is_deep(place: tuple[str, int]) -> bool:
    """Whether a `try` or method is remembered."""
    return place in _DEEP


def deep_tries(filename: str) -> frozenset[int]:
    """The lines of the remembered `try` statements of a file."""
    known = _DEEP.keys() if len(_DEEP) else []
    return frozenset(line for name, line in known if name == filename)


def refuse_if_caught(err: BaseException, loc: Loc | None = None) -> None:
    """Raise UnsupportedError when a `try` now open in traced code would see `err`, raised when the program runs.

    A `try` that is left to eager code (`leave_to_eager`) is no reason to: the call runs again then.
    """
    known: dict[tuple[int, int], list[TryLines]] = {}
    for frame in _traced_frames():
        name = frame.f_code.co_filename
        if not is_user_file(name):
            continue
        for around in _tries_around(frame, known):
            if around.manager is not None and _looked_up(around.manager, frame) is not suppress:
                continue
            if around.has_final or any(_catches(expr, err, frame) for expr in around.handlers):
                _refuse_at((name, around.line), err, loc)
                return
    for kinds, who, place in _CATCHING.get():
        if isinstance(err, kinds):
            refusal = _passes_by(err, who, loc)
            refusal.place = place
            raise refusal


def _tries_around(frame: FrameType, known: dict[tuple[int, int], list[TryLines]]) -> list[TryLines]:
    """The `try` statements around where a frame is; `known`: those of frames before, as a recursion has many alike."""
    at = id(frame.f_code), frame.f_lasti
    found = known.get(at)
    if found is None:
        name = frame.f_code.co_filename
        found = tries_around(name, linecache.getlines(name), frame.f_lineno, partial(_column, frame))
        known[at] = found
    return found


def _refuse_at(place: tuple[str, int], err: BaseException, loc: Loc | None) -> None:
    """Raise UnsupportedError for the `try` at `place`, unless what the program raises there is left to eager code."""
    build = builder()
    if build.left_tries.get(place, 0) > 0:
        build.left_tries[place] -= 1
        build.catches = True
        return
    refusal = _passes_by(err, "the `try` statement at {}:{}".format(*place), loc)
    refusal.place = place
    raise refusal


MAX_LEFT = 64
"""How often a `try` of one trace may leave an exception to eager code: one that ends a Python loop never comes."""


def leave_to_eager(err: BaseException, left: dict[tuple[str, int], int]) -> bool:
    """Whether the trace that ended in this error may do better now: `left` has a `try` that it had not.

    A program that raises what such a `try` would see is given up, and the call runs eagerly, which sees it.
    """
    place = err.place if isinstance(err, RaisedInCallError) else None
    if place is None or place in left:
        return False
    left[place] = MAX_LEFT
    return True


_CATCHING: ContextVar[tuple[tuple[Any, str, tuple[str, int] | None], ...]] = ContextVar("catching", default=())


@contextmanager
def catching(kinds: Any, who: str, place: tuple[str, int] | None = None) -> Iterator[None]:
    """Let `refuse_if_caught` know of what sees exceptions of these classes: `with suppress(...)`, a loop its end."""
    with scoped(_CATCHING, (*_CATCHING.get(), (kinds, who, place))):
        yield


def _column(frame: FrameType) -> int | None:
    """Where in its line a frame is, in Pythons that know."""
    positions = getattr(frame.f_code, "co_positions", None)
    at = None if positions is None else next(islice(positions(), frame.f_lasti // 2, None), None)
    return None if at is None else at[2]


def _passes_by(err: BaseException, what: str, loc: Loc | None) -> RaisedInCallError:
    frames = (loc,) if loc is not None else user_frames(3, limit=1)
    return RaisedInCallError(
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
