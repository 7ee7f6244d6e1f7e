"""Ops with an effect on the host: print and assert, in their place in a program's order."""

from __future__ import annotations

from typing import Any

from ..core.errors import ArgumentError
from ..ops.registry import NoGradient, define_op
from .tensor import wrap

EFFECT = NoGradient("it has an effect and no value")


def _print_kernel(
    xp: Any, *values: Any, template: tuple[Any, ...], stops: tuple[bool, ...], sep: str, end: str
) -> tuple[Any, ...]:
    """template: text, or the index of a value to show there; stops: each value's stop_gradient, which is shown, too."""
    parts = [_shown(values[t], stops[t]) if isinstance(t, int) else t for t in template]
    print(sep.join(parts), end=end)
    return ()


def _shown(array: Any, stop_gradient: bool) -> str:
    tensor = wrap(array)
    tensor.stop_gradient = stop_gradient
    return str(tensor)


print_op = define_op(
    "print",
    kernel=_print_kernel,
    meta=lambda *values, template, stops, sep, end: (),
    vjp=EFFECT,
    outputs=("*outs",),
    effect=True,
)


def _assert_kernel(xp: Any, condition: Any, *values: Any, message: tuple[Any, ...], kind: str) -> tuple[Any, ...]:
    """message: text, or the index of a value to show there; kind: which error a false condition raises."""
    if not bool(condition.all()):
        text = "".join(str(wrap(values[t])) if isinstance(t, int) else t for t in message)
        raise _ERRORS[kind](text)
    return ()


class UnsetError(ArgumentError, UnboundLocalError):
    """A variable was read that the path taken did not set."""


_ERRORS: dict[str, Any] = {"assert": AssertionError, "unset": UnsetError}

assert_op = define_op(
    "assert",
    kernel=_assert_kernel,
    meta=lambda condition, *values, message, kind: (),
    vjp=EFFECT,
    outputs=("*outs",),
    effect=True,
)
