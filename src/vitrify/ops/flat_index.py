"""Places that several integers name, as one integer each: how native programs read at several indices."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ..core.dtype import int64
from .compare import greater_equal, less_than, logical_and
from .like import cast
from .registry import get_op


def _flat(*given: Any) -> tuple[Any]:
    """Row-major numbers of places: given indices (those below 0 from the end), as many sizes, and the product of these.

    What lies outside of a dimension has the product, a row that no table has.
    """
    half = len(given) // 2
    flat = inside = None
    for index, size in zip(given[:half], given[half:-1]):
        wide = index if index.dtype is int64 else cast(index, int64)
        at = get_op("where")(less_than(wide, 0), wide + size, wide)
        is_own = logical_and(greater_equal(at, 0), less_than(at, size))
        flat = at if flat is None else flat * size + at
        inside = is_own if inside is None else logical_and(inside, is_own)
    return (get_op("where")(inside, flat, given[-1]),)


def taken_at(n: Any, x: Any, indices: Sequence[Any], axis: int) -> Any:
    """The slices of x at indices of the dimensions from `axis` on, which broadcast; those outside end the run."""
    sizes = x.shape[axis : axis + len(indices)]
    numbers = [n.full((), size, np.dtype(np.int64)) for size in (*sizes, prod(sizes))]
    shape = np.broadcast_shapes(*[v.shape for v in indices])
    spread = [n.view(lambda a: np.broadcast_to(a, shape), v) for v in indices]
    flat = n.new(shape, np.dtype(np.int64))
    n.compute_into([flat], _flat, *spread, *numbers)
    table = n.reshape(n.contiguous(x), (*x.shape[:axis], prod(sizes), *x.shape[axis + len(indices) :]))
    return n.take(table, flat, axis)


__all__ = ["taken_at"]
