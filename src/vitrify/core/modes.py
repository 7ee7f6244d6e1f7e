"""Scoped modes (D7): what is current in this thread or task. Every one is a ContextVar, entered by `with`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ContextDecorator, contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Generic, TypeVar

T = TypeVar("T")

grad_enabled: ContextVar[bool] = ContextVar("grad_enabled", default=True)
# The backend that receives op calls while a Program is being built; None means: run eagerly.
recorder: ContextVar[Any] = ContextVar("recorder", default=None)
# In the `__dict__` of a graph tensor that stands for what is a Python number in eager code.
PYTHON_NUMBER = "python_number"


@dataclass(frozen=True)
class AmpState:
    """What auto_cast asks of every op call: level "O1", "O2" or "OD", compute dtype name, op overrides.

    `promote`: at level O2 an op with a float32 input computes in float32, unless it is one of the allowed ones.
    """

    level: str
    dtype: str
    allow: frozenset[str] = frozenset()
    deny: frozenset[str] = frozenset()
    promote: bool = True


amp_state: ContextVar[AmpState | None] = ContextVar("amp_state", default=None)


class Scoped(ContextDecorator, Generic[T]):
    """Sets a ContextVar inside `with` (or around a decorated function) and restores it, also on error.

    Reentrant: each entry keeps its own token.
    """

    def __init__(self, var: ContextVar[T], value: T) -> None:
        self._var = var
        self._value = value
        self._tokens: list[Token[T]] = []

    def __enter__(self) -> None:
        self._tokens.append(self._var.set(self._value))

    def __exit__(self, kind: type[BaseException] | None, err: BaseException | None, tb: TracebackType | None) -> None:
        self._var.reset(self._tokens.pop())

    def _recreate_cm(self) -> Scoped[T]:  # a decorated function may run in many threads at once
        return Scoped(self._var, self._value)


@contextmanager
def scoped(var: ContextVar[T], value: T) -> Iterator[None]:
    """Set `var` to `value` for the duration of the block."""
    token = var.set(value)
    try:
        yield
    finally:
        var.reset(token)


def is_tracing() -> bool:
    """Whether the user's Python runs only to be recorded: what tensors hold now is not what a run will find."""
    return bool(getattr(recorder.get(), "tracing", False))


def is_grad_enabled() -> bool:
    """Whether ops record gradients in this thread. Source: paddle.is_grad_enabled.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.no_grad():
        ...     print(paddle.is_grad_enabled())
        False
    """
    return grad_enabled.get()
