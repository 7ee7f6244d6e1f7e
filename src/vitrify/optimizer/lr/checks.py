"""What scheduler arguments must be; every message names the scheduler and the argument."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

from ...core.errors import ArgumentError, DTypeError


def require_real(owner: str, name: str, value: Any) -> float:
    """`value` as a float; raises DTypeError when it is no real number."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise DTypeError(f"{owner}: the type of {name} must be float, got {type(value).__name__}")
    return float(value)


def require_type(owner: str, name: str, value: Any, kinds: type | tuple[type, ...], words: str) -> None:
    """Raise DTypeError unless `value` is an instance of `kinds`, described by `words`."""
    if not isinstance(value, kinds):
        raise DTypeError(f"{owner}: {name} must be {words}, got {type(value).__name__}")


def require_positive(owner: str, name: str, value: Any) -> float:
    """`value` as a float above 0; raises DTypeError or ArgumentError."""
    found = require_real(owner, name, value)
    if found <= 0:
        raise ArgumentError(f"{owner}: {name} must be positive, got {value}")
    return found


def require_positive_int(owner: str, name: str, value: Any) -> int:
    """`value` as an int above 0; raises DTypeError or ArgumentError."""
    require_type(owner, name, value, Integral, "an int")
    if value <= 0:
        raise ArgumentError(f"{owner}: {name} must be a positive integer, got {value}")
    return int(value)


def require_between(owner: str, name: str, value: float, low: float, high: float, *, closed: bool = False) -> None:
    """Raise ArgumentError unless low < value < high (`closed`: low < value <= high)."""
    if not (low < value < high or (closed and value == high)):
        raise ArgumentError(f"{owner}: {name} must be in ({low:g}, {high:g}{']' if closed else ')'}, got {value}")


def require_below_one(owner: str, name: str, value: float) -> None:
    """Raise ArgumentError for a decay factor that would not decay."""
    if value >= 1.0:
        raise ArgumentError(f"{owner}: {name} must be below 1.0 so that the learning rate decays, got {value}")


def require_one_of(owner: str, name: str, value: Any, choices: Sequence[str]) -> None:
    """Raise ArgumentError unless `value` is one of `choices`."""
    if value not in choices:
        listed = " or ".join(repr(c) for c in choices)
        raise ArgumentError(f"{owner}: {name} must be {listed}, got {value!r}")
