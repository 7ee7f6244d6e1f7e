"""Flags: whether a container has a key or item, a bool or a number of the program."""

from __future__ import annotations

from typing import Any

from ...ir.numbers import as_number
from ...ops.compare import logical_and, logical_not, logical_or

Flag = Any


def either(a: Flag, b: Flag) -> Flag:
    """`a or b`."""
    if a is True or b is True:
        return True
    return b if a is False else a if b is False else as_number(logical_or(a, b))


def both(a: Flag, b: Flag) -> Flag:
    """`a and b`."""
    if a is False or b is False:
        return False
    return b if a is True else a if b is True else as_number(logical_and(a, b))


def negated(a: Flag) -> Flag:
    """`not a`."""
    return (not a) if isinstance(a, bool) else as_number(logical_not(a))


def differs(a: Flag, b: Flag) -> Flag:
    """Whether one of them holds and the other not."""
    return either(both(a, negated(b)), both(negated(a), b))
