"""Sizes of tensors that are read: numbers where the file says them, 0-D tensors where only the run knows."""

from __future__ import annotations

import math
from typing import Any

from ..core.meta import UNKNOWN
from ..ops.registry import get_op


def extent(x: Any, axis: int) -> Any:
    """A size: a number where it is known, else a 0-D tensor."""
    return x.shape[axis] if x.shape[axis] != UNKNOWN else get_op("dim_size")(x, axis=axis)


def reshaped(x: Any, sizes: Any) -> Any:
    """x reshaped; where x's sizes are known, to known sizes."""
    if isinstance(sizes, tuple) and all(isinstance(s, int) for s in sizes) and UNKNOWN not in x.shape:
        out = [x.shape[i] if s == 0 else s for i, s in enumerate(sizes)]
        if -1 in out:
            rest = math.prod(s for s in out if s != -1)
            out[out.index(-1)] = math.prod(x.shape) // rest if rest else 0
        sizes = tuple(out)
    return get_op("reshape")(x, shape=sizes)


def as_matrix(x: Any, axis: int) -> Any:
    """x with the dimensions before `axis` as rows and the others as columns."""
    if UNKNOWN not in x.shape[:axis]:
        return reshaped(x, (math.prod(x.shape[:axis]), -1))
    return get_op("reshape")(x, shape=(-1, math.prod(extent(x, i) for i in range(axis, x.ndim))))
