"""Comparisons whose result is known before the program runs: no whole number reaches infinity.

`best = float("inf")` before a search through whole numbers means nothing but "none yet". A path that keeps it is never
taken, and so does not make the numbers that are found floats.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...ir.numbers import is_number
from .base import builder, is_graph, is_tensor

_DECIDED = "is_always"


def are_apart(a: Any, b: Any) -> bool:
    """Whether one is a float that no whole number is, and the other a tensor of whole numbers: no dtype has both."""
    return _is_apart(a, b) or _is_apart(b, a)


def _is_apart(bound: Any, value: Any) -> bool:
    return _is_beyond(bound) and _is_whole(value) and not is_number(value)


def _is_beyond(bound: Any) -> bool:
    return type(bound) is float and not math.isfinite(bound)


def note_always(function: Callable[[Any, Any], Any], left: Any, right: Any, found: Any) -> Any:
    """`found`, the comparison of the two; from now on known to say the same whatever the whole numbers are.

    Of several numbers it has no truth, as in eager code.
    """
    for number, bound, known in ((left, right, (0, right)), (right, left, (left, 0))):
        if _is_whole(number) and _is_beyond(bound) and is_graph(found) and all(size == 1 for size in found.shape):
            found.__dict__[_DECIDED] = function(*known)
    return found


def _is_whole(value: Any) -> bool:
    return is_tensor(value) and value.dtype.is_integer


def decided_truth(value: Any) -> Any:
    """`value`, or its truth where that is known before the program runs."""
    is_same = is_graph(value) and _DECIDED in value.__dict__ and builder().held(value) is value
    return value.__dict__[_DECIDED] if is_same else value
