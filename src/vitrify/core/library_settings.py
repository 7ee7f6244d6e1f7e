"""Settings that C code of libraries keeps and asks unseen: how `decimal` rounds, and how NumPy writes arrays."""

from __future__ import annotations

import decimal
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .bound import plain_attribute


def _decimal_context() -> tuple[Any, ...]:
    context = decimal.getcontext()
    fields = ("prec", "rounding", "Emin", "Emax", "capitals", "clamp")
    return (*[getattr(context, name) for name in fields], *context.traps.values())


def _print_options() -> tuple[str, ...]:
    return tuple(f"{name}={value}" for name, value in np.get_printoptions().items())


SETTINGS: Mapping[str, Callable[[], Any]] = {"decimal": _decimal_context, "print": _print_options}
"""What each kind of settings is now, by its name."""

_OF_TEXT: tuple[Any, ...] = (
    np.array2string, np.array_repr, np.array_str, np.format_float_positional, np.format_float_scientific,
)  # fmt: skip


def setting_asked_by(function: Any, *values: Any) -> str | None:
    """The settings that a function of a library, or an operator of these values, asks; None where none is known."""
    if any(isinstance(value, decimal.Decimal) for value in values):
        return "decimal"
    if plain_attribute(function, "__module__") in ("decimal", "_decimal"):
        return "decimal"
    return "print" if any(function is known for known in _OF_TEXT) else None


def writes_arrays(value: Any) -> bool:
    """Whether the text of a value is that of arrays of NumPy, as far as plain containers hold some."""
    if isinstance(value, dict):
        return any(map(writes_arrays, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(writes_arrays, value))
    return isinstance(value, np.ndarray)
