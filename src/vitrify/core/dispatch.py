"""bind: the one place that chooses between running an op now and recording it into a Program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from .modes import recorder

_current = recorder.get


class Backend(Protocol):
    """What receives op calls: the eager engine, or a Program being built."""

    def apply(self, op: Any, inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
        """Run or record one op call; returns what the op's caller sees."""


class EagerSlot:
    """Holds the eager engine's entry point, filled in once when `vitrify.eager` is imported.

    core lies below eager and may not import it; this is the seam between them. `pair` is `binary`, or machine code that
    does the same where it can; `large` is what an op's kernel gives for large arrays of the host, computed as is best,
    and `large_rule` what an op's vjp rules give for such cotangents, or None where they are to be called themselves.
    """

    __slots__ = ("apply", "binary", "large", "large_rule", "pair")

    apply: Callable[[Any, Sequence[Any], Mapping[str, Any]], Any]
    binary: Callable[[Any, Any, Any], Any]
    pair: Callable[[Any, Any, Any], Any]
    large: Callable[[Any, list[Any], Mapping[str, Any]], Any]
    large_rule: Callable[[Any, Any, Mapping[str, Any]], Any]


EAGER = EagerSlot()


def bind(op: Any, inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    """The outputs of `op` on `inputs`: Tensors when eager, Variables while a Program is being built."""
    backend: Backend | None = _current()
    if backend is None:
        return EAGER.apply(op, inputs, attrs)
    return backend.apply(op, inputs, attrs)


def bind_pair(op: Any, x: Any, y: Any) -> Any:
    """`bind` for operators of two operands, without attributes: the calls that models make most."""
    backend: Backend | None = _current()
    if backend is None:
        return EAGER.pair(op, x, y)
    return backend.apply(op, (x, y), {})


def operator_of(op: Any) -> Callable[[Any, Any], Any]:
    """The method behind a binary operator: `bind_pair` with this op, without one more call."""
    current, eager = _current, EAGER

    def method(x: Any, y: Any) -> Any:
        backend = current()
        return eager.binary(op, x, y) if backend is None else backend.apply(op, (x, y), {})

    return method


def in_dynamic_mode() -> bool:
    """Whether op calls run eagerly in this thread. Source: paddle.in_dynamic_mode.

    Example:
        >>> import vitrify as paddle
        >>> paddle.in_dynamic_mode()
        True
    """
    return _current() is None
