"""Runs a program eagerly and compiled, and says whether they agree."""

from __future__ import annotations

import linecache
import re
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import FrameType, ModuleType
from typing import Any

import numpy as np

import vitrify as paddle
from tests.end_to_end.differential import Again, Array, Node, Outcome, difference, outcomes
from vitrify.core.errors import ArgumentError, DTypeError, StaleBackwardError, UnsupportedError
from vitrify.jit.split import SMALLEST_PART

REFUSALS = (UnsupportedError, ArgumentError, DTypeError)
PLANNED = (ValueError, KeyError, UnboundLocalError, NameError, AssertionError, IndexError)
SECONDS = 10


@dataclass(frozen=True)
class Verdict:
    """How it went: "agree", "refused" (a clear error asks to write it otherwise), "differ" or "invalid".

    `kind` groups what is alike; `detail` says what was seen.
    """

    word: str
    kind: str = ""
    detail: str = ""


class TookTooLong(BaseException):
    """A program did not end; no `except Exception` of the program may stop this."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TookTooLong in the block after some seconds of computing (main thread of POSIX only)."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise TookTooLong

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 1.0)  # again, where it came in what lets no exception out
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def load(source: str, name: str = "fuzzed") -> dict[str, Any]:
    """Return the namespace of a program; its source can be read as if it came from a file."""
    filename = f"<{name}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    module = ModuleType(name)
    exec(compile(source, filename, "exec", dont_inherit=True), module.__dict__)
    return module.__dict__


def judge(source: str, shared: bool = False, full_graph: bool = True) -> Verdict:
    """Return the verdict on a program: its `f` on its `CALLS`; invalid when it cannot even be loaded."""
    try:
        # However small, segments are compiled: they are what is tested.
        with time_limit(SECONDS), warnings.catch_warnings(), SMALLEST_PART.scope(0):
            warnings.simplefilter("ignore")
            return _judge(load(source), shared, full_graph)
    except TookTooLong:
        return Verdict("differ", "endless", f"took more than {SECONDS} s")
    except Exception as err:  # noqa: BLE001 - shrinking tries programs that lack what they need
        return Verdict("invalid", "not loaded", str(err))


def _judge(namespace: dict[str, Any], shared: bool, full_graph: bool) -> Verdict:
    function, calls = namespace["f"], namespace["CALLS"]
    static = paddle.jit.to_static(function, full_graph=full_graph)
    invalid = None
    for number, (eager, compiled) in enumerate(outcomes(function, static, calls, shared)):
        if isinstance(eager.error, StaleBackwardError):
            return Verdict("invalid", type(eager.error).__name__, str(eager.error))
        if eager.error is not None and not isinstance(eager.error, PLANNED):
            invalid = eager.error
        if full_graph and isinstance(compiled.error, REFUSALS) and not isinstance(compiled.error, type(eager.error)):
            return Verdict("refused", reason(compiled.error), str(compiled.error))
        found = difference(eager, compiled) and difference(replace(eager, result=allowed(eager, compiled)), compiled)
        if found is not None:
            return Verdict("differ", kind_of(found, eager, compiled), f"call {number}: {found}")
    if invalid is not None:
        return Verdict("invalid", f"{type(invalid).__name__}: {invalid}"[:60], str(invalid))
    return Verdict("agree")


def allowed(eager: Outcome, compiled: Outcome) -> Any:
    """Return the eager result with what a program may do otherwise as the compiled function does it.

    Where a tensor chooses between containers the result is a new one, where it chooses between dtypes it is promoted;
    `tensor or True` is True.
    """
    met: list[Any] = []
    for root in (eager.arguments, eager.result):
        _number(root, met)
    return _adapted(eager.result, compiled.result, met)


def _number(value: Any, met: list[Any]) -> None:
    """Append the nodes that `Again` may refer to, in the order of their numbers."""
    if isinstance(value, Node):
        if not issubclass(value.kind, tuple):
            met.append(value)
        for _, child in value.children:
            _number(child, met)


def _adapted(a: Any, b: Any, met: list[Any]) -> Any:
    if isinstance(a, Again) and isinstance(b, Node):
        return met[a.index]
    if isinstance(a, Array) and isinstance(b, Array):
        promoted = np.promote_types(a.value.dtype, b.value.dtype) == b.value.dtype
        return Array(a.value.astype(b.value.dtype)) if promoted else a
    if isinstance(a, Array) and isinstance(b, bool):
        return bool(a.value) if a.value.dtype == bool and a.value.ndim == 0 else a
    if isinstance(a, Node) and isinstance(b, Node) and len(a.children) == len(b.children):
        pairs = zip(a.children, b.children)
        return Node(a.kind, tuple((key, _adapted(x, y, met)) for (key, x), (_, y) in pairs))
    return a


def kind_of(found: str, eager: Outcome, compiled: Outcome) -> str:
    """Return what differences that probably have one cause share."""
    word = re.match(r"\w+", found)
    assert word is not None
    if word[0] != "error":
        return word[0]
    return f"error: {type(eager.error).__name__} against {type(compiled.error).__name__}"


def reason(err: BaseException) -> str:
    """Return the message of a refusal without names and numbers, so that equal ones can be counted."""
    first = str(getattr(err, "message", err)).split("\n")[0]
    text = re.sub(r"'[^']*'|`[^`]*`", "_", first)
    text = re.sub(r"\b[a-z]+\d+\b|\bp_[a-z]+\b", "_", text)
    return f"{type(err).__name__}: {re.sub(r'[0-9.]+', '0', text)[:110]}"
