"""Who looks at what each operator gives: checks of numbers, counts of calls by dtype.

Hot paths ask `WATCH.on` first; programs run the operators that were recorded while somebody looks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from .dtype import DType, from_np
from .setting import WATCH, Setting


class Inspector(Protocol):
    """Looks at operators behind their kernels, in whatever thread they run."""

    def saw(self, op: Any, dtype: DType | None, results: Sequence[Any]) -> None:
        """Look at the arrays that one call gave. dtype: what it computed in, None for an op without arrays."""


INSPECTORS: Setting[tuple[Inspector, ...]] = Setting("inspectors", (), WATCH)


def dtype_of(arrays: Sequence[Any]) -> DType | None:
    """The dtype of the first array, by which a call is counted."""
    return next((from_np(array.dtype) for array in arrays if hasattr(array, "dtype")), None)


def show(op: Any, arrays: Sequence[Any], results: Sequence[Any]) -> None:
    """Let those who look here see a call of an op: what it took, and what it gave."""
    for inspector in INSPECTORS.get():
        inspector.saw(op, dtype_of((*arrays, *results)), results)


def enlist(inspector: Inspector) -> None:
    """Let an inspector look from here on: in the innermost scope of `INSPECTORS`, or in the whole process."""
    INSPECTORS.set((*INSPECTORS.get(), inspector))


def dismiss(kind: type) -> list[Any]:
    """Take away the inspectors of a class, and return them."""
    found = [one for one in INSPECTORS.get() if isinstance(one, kind)]
    INSPECTORS.set(tuple(one for one in INSPECTORS.get() if not isinstance(one, kind)))
    return found
