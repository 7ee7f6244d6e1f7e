"""How a reduction combines elements: what code generators know of it besides its kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .registry import OpDef

Dtype = np.dtype[Any]


def least(dtype: Dtype) -> Any:
    """What no element of a real dtype is smaller than."""
    return -np.inf if dtype.kind in "fV" else np.iinfo(dtype).min if dtype.kind != "b" else False


def greatest(dtype: Dtype) -> Any:
    """What no element of a real dtype is greater than."""
    return np.inf if dtype.kind in "fV" else np.iinfo(dtype).max if dtype.kind != "b" else True


@dataclass(frozen=True)
class Combiner:
    """A reduction with attributes `axis` and `keepdim`, element by element.

    start: what it begins with, of the dtype in which it combines: a number, or a function of the dtype. combine: the
    scalar primitive of two. truth: whether elements count as bool. finish: the elementwise op that makes the result of
    what was combined and of the number of elements; its expression is one primitive.
    """

    start: Any
    combine: str
    truth: bool = False
    finish: OpDef | None = None

    def first(self, dtype: Dtype) -> Any:
        """What it begins with in this dtype."""
        return self.start(dtype) if callable(self.start) else self.start

    def dtype(self, element: Dtype, result: Dtype) -> Dtype:
        """The dtype in which it combines such elements to such a result."""
        if self.truth:
            return np.dtype(bool)
        is_short = element.itemsize == 2 and element.kind in "fV" and self.combine in ("add", "mul")
        return np.dtype(np.float32) if is_short else result


__all__ = ["Combiner", "greatest", "least"]
