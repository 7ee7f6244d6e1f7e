"""Places that several integers name, as one integer each: how native programs read and write at several indices."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ..core.dtype import int64
from ..core.meta import Shape
from .compare import greater_equal, less_than, logical_and
from .index_form import spans
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


def flat_places(n: Any, indices: Sequence[Any], sizes: Shape) -> Any:
    """The row-major numbers of places in dimensions of these sizes, of the indices' common shape; those outside have a
    number that no row has.
    """
    numbers = [n.full((), size, np.dtype(np.int64)) for size in (*sizes, prod(sizes))]
    shape = np.broadcast_shapes(*[v.shape for v in indices])
    spread = [n.view(lambda a: np.broadcast_to(a, shape), v) for v in indices]
    flat = n.new(shape, np.dtype(np.int64))
    n.compute_into([flat], _flat, *spread, *numbers)
    return flat


def taken_at(n: Any, x: Any, indices: Sequence[Any], axis: int) -> Any:
    """The slices of x at indices of the dimensions from `axis` on, which broadcast; those outside end the run."""
    sizes = x.shape[axis : axis + len(indices)]
    table = n.reshape(n.contiguous(x), (*x.shape[:axis], prod(sizes), *x.shape[axis + len(indices) :]))
    return n.take(table, flat_places(n, indices, sizes), axis)


class Rows:
    """The dimensions of an array that integer arrays index, put in front as the rows of a table."""

    def __init__(self, n: Any, like: Any, indices: Sequence[Any], axes: Shape) -> None:
        """like: the array, of which the shape counts. axes: the dimension of each index."""
        if any(v.dtype.kind == "b" for v in indices):
            n.refuse("masks as indices have no native form")
        self._n = n
        self._axes = tuple(axes)
        self._front = tuple(range(len(axes)))
        self.sizes = tuple(like.shape[axis] for axis in axes)
        self.rest = tuple(size for axis, size in enumerate(like.shape) if axis not in axes)
        self.shape = np.broadcast_shapes(*[v.shape for v in indices])
        self.places = indices[0] if len(indices) == 1 else flat_places(n, indices, self.sizes)
        _, is_adjacent = spans(indices, self._axes)
        self._at = self._axes[0] if is_adjacent else 0

    @property
    def indexed_shape(self) -> Shape:
        """The shape of the part that is indexed."""
        return (*self.rest[: self._at], *self.shape, *self.rest[self._at :])

    def of_part(self, part: Any) -> Any:
        """The part that is indexed as rows, one for each place."""
        n, dims = self._n, range(len(self.shape))
        ahead = n.view(lambda a: np.moveaxis(a, [self._at + d for d in dims], [*dims]), part)
        return n.reshape(n.copy(ahead), (prod(self.shape), *self.rest))

    def table(self, x: Any) -> Any:
        """A copy of the array, as a table."""
        ahead = self._n.view(lambda a: np.moveaxis(a, self._axes, self._front), x)
        return self._n.reshape(self._n.copy(ahead), (prod(self.sizes), *self.rest))

    def array(self, table: Any) -> Any:
        """What `table` makes of an array, as an array again."""
        ahead = self._n.reshape(table, (*self.sizes, *self.rest))
        return self._n.copy(self._n.view(lambda a: np.moveaxis(a, self._front, self._axes), ahead))


__all__ = ["Rows", "taken_at"]
