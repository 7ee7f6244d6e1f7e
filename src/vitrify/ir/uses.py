"""How often variables are read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from .operator import Operator
from .variable import Variable


def times_read(operators: Iterable[Operator], outputs: Iterable[Any]) -> dict[Variable, int]:
    """By how many inputs of the operators and outputs each variable is read; 0 for those that nobody reads.

    Not a Counter: who looks a number of the user's program up in one would be Python's library, not vitrify, and what
    users put into sets and dicts of their own is refused.
    """
    found: dict[Variable, int] = defaultdict(int)
    for operator in operators:
        for value in operator.inputs:
            if isinstance(value, Variable):
                found[value] += 1
    for value in outputs:
        if isinstance(value, Variable):
            found[value] += 1
    return found


__all__ = ["times_read"]
