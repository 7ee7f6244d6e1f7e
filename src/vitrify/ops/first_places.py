"""first_places: which places of an index name their element first; those behind them write nothing of the gradient."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from ..core.dtype import bool_
from ..core.meta import Meta, Shape
from .accumulate import put_at
from .index_form import array_shape, is_mask, spans
from .registry import NoGradient, OpDef, define_op, get_op


def _kernel(xp: Any, like: Any, *indices: Any, axes: Shape) -> Any:
    places = [part for v in indices for part in (xp.nonzero(v) if is_mask(v) else (v,))]
    where = tuple(xp.broadcast_arrays(*places))
    numbers = xp.arange(where[0].size).reshape(where[0].shape)
    taken, _ = spans(indices, axes)
    first = xp.empty([like.shape[d] for d in taken], numbers.dtype)
    # Backwards: of several numbers for one element the last that is written stays.
    put_at(xp, first, [v.ravel()[::-1] for v in where], numbers.ravel()[::-1])
    found = first[where] == numbers
    return found.reshape(found.shape + (1,) * _behind(like, indices, axes))


def _behind(like: Any, indices: Sequence[Any], axes: Shape) -> int:
    """How many dimensions of like[indices] stand behind those of the indices."""
    taken, adjacent = spans(indices, axes)
    return len(like.shape) - len(taken) - (taken[0] if adjacent else 0)


def _meta(like: Meta, *indices: Meta, axes: Shape) -> Meta:
    taken, _ = spans(indices, axes)
    own = like.with_shape(tuple(like.shape[d] for d in taken))
    packed = tuple(accumulate((v.ndim if is_mask(v) else 1 for v in indices[:-1]), initial=0))
    shape = array_shape("setitem", own, indices, packed)
    return Meta((*shape, *(1,) * _behind(like, indices, axes)), bool_)


def _native(n: Any, like: Any, *indices: Any, axes: Shape) -> Any:
    if len(indices) > 1 or is_mask(indices[0]):
        n.refuse("masks, and several arrays as one index, have no native form")
    (index,) = indices
    places, numbers = n.reshape(n.contiguous(index), (index.size,)), n.constant(np.arange(index.size))
    first = n.copy(n.full((like.shape[axes[0]],), 0, numbers.dtype))
    n.put_rows(first, *(n.copy(n.view(lambda a: a[::-1], v)) for v in (places, numbers)))
    found = n.apply(get_op("equal"), n.take(first, places, 0, wraps=True), numbers)
    return n.reshape(found, (*index.shape, *(1,) * _behind(like, indices, axes)))


first_places_op: OpDef = define_op(
    "first_places",
    kernel=_kernel,
    meta=_meta,
    vjp=NoGradient("whether a place was named before is no number"),
    native=_native,
    shape_only=["like"],
)

__all__ = ["first_places_op"]
