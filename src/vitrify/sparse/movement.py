"""Sparse tensors in another order, shape or extent, and sums of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..core.errors import ArgumentError, DTypeError, ShapeError
from ..core.meta import normalize_axes, normalize_axis
from ..ops.arguments import static_ints
from ..ops.creation import zeros
from ..ops.gather import gather
from ..ops.join import stack
from ..ops.like import cast
from ..ops.reduce import sum as sum_
from ..ops.search import nonzero
from ..ops.shape import reshape as reshape_dense
from ..ops.sparse_tensor import SparseCooTensor, unraveled
from .unary import need_sparse


def coalesce(x: Any, name: str | None = None) -> SparseCooTensor:
    """x with each place stored once, in order, values of one place summed. Raises DTypeError unless x is COO.

    Source: paddle.sparse.coalesce.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[1, 0, 1]], [1.0, 2.0, 3.0], [2])
        >>> paddle.sparse.coalesce(x).values().tolist()
        [2.0, 4.0]
    """
    if not isinstance(x, SparseCooTensor):
        raise DTypeError(f"sparse.coalesce: x must be a sparse COO tensor, got {type(x).__name__}")
    return x.coalesce()


def _whole(op: str, x: Any) -> SparseCooTensor:
    """x by indices. Raises ShapeError where it has dimensions without."""
    found: SparseCooTensor = need_sparse(op, x).coo()
    if found.dense_dim():
        raise ShapeError(f"sparse.{op}: x must have indices for every dimension, got {found.dense_dim()} without")
    return found


def transpose(x: Any, perm: Sequence[int], name: str | None = None) -> Any:
    """x with its dimensions in the order `perm`. Raises ShapeError. Source: paddle.sparse.transpose.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0], [1]], [5.0], [2, 3])
        >>> paddle.sparse.transpose(x, [1, 0]).indices().tolist()
        [[1], [0]]
    """
    source = _whole("transpose", x)
    order = [normalize_axis("transpose", a, x.ndim, "perm") for a in perm]
    if sorted(order) != list(range(x.ndim)):
        raise ShapeError(f"sparse.transpose: perm must name each of the {x.ndim} dimensions once, got {list(perm)}")
    places = stack([source.indices()[a] for a in order])
    return x.like(SparseCooTensor(places, source.values(), [x.shape[a] for a in order]))


def reshape(x: Any, shape: Sequence[int], name: str | None = None) -> Any:
    """x in another shape of the same size; one -1 stands for what is left. Source: paddle.sparse.reshape.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0], [1]], [5.0], [2, 3])
        >>> paddle.sparse.reshape(x, [3, -1]).indices().tolist()
        [[0], [1]]
    """
    source = _whole("reshape", x)
    sizes = [x.shape[i] if n == 0 else n for i, n in enumerate(static_ints("reshape", shape, "shape"))]
    if -1 in sizes:
        known = math.prod(n for n in sizes if n != -1)
        sizes[sizes.index(-1)] = x.size // known if known else 0
    if math.prod(sizes) != x.size:
        raise ShapeError(f"sparse.reshape: {list(x.shape)} has {x.size} elements, {list(shape)} another number")
    return x.like(SparseCooTensor(unraveled(source.flat_places(), sizes), source.values(), sizes))


def sum(x: Any, axis: Any = None, dtype: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """The sums over `axis`, by default over all elements, as a sparse tensor; of CSR over the last axis, which is kept.

    Raises ArgumentError for another axis of CSR. Source: paddle.sparse.sum.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 0], [1, 2]], [5.0, 1.0], [2, 3])
        >>> paddle.sparse.sum(x, 1).values().tolist()
        [6.0]
    """
    source = _whole("sum", x)
    values = source.values() if dtype is None else cast(source.values(), dtype)
    axes = normalize_axes("sum", axis, x.ndim)
    if x.is_sparse_csr() and axis is not None and axes != (1,):
        raise ArgumentError(f"sparse.sum: of a CSR tensor only the last axis can be summed, got {axis}")
    if len(axes) == x.ndim:
        shape = [1] * x.ndim if keepdim else [1]
        return SparseCooTensor(zeros([len(shape), 1], "int64"), reshape_dense(sum_(values), [1]), shape)
    keepdim = keepdim or x.is_sparse_csr()
    rows = [source.indices()[a] * (a not in axes) for a in range(x.ndim) if keepdim or a not in axes]
    sizes = [1 if a in axes else n for a, n in enumerate(x.shape) if keepdim or a not in axes]
    return x.like(SparseCooTensor(stack(rows), values, sizes).coalesce())


def slice(x: Any, axes: Any, starts: Any, ends: Any, name: str | None = None) -> Any:
    """The part of x from `starts` up to `ends` along `axes`. Source: paddle.sparse.slice.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 2]], [5.0, 6.0], [3])
        >>> paddle.sparse.slice(x, [0], [1], [3]).indices().tolist()
        [[1]]
    """
    source = _whole("slice", x)
    names, lows, highs = (static_ints("slice", v, n) for v, n in ((axes, "axes"), (starts, "starts"), (ends, "ends")))
    first, last = [0] * x.ndim, x.shape
    for axis, low, high in zip(names, lows, highs):
        at = normalize_axis("slice", axis, x.ndim)
        first[at], last[at] = _bounds(low, high, x.shape[at])
    places = source.indices()
    inside = (places[0] >= first[0]) & (places[0] < last[0])
    for a in range(1, x.ndim):
        inside = inside & (places[a] >= first[a]) & (places[a] < last[a])
    kept = nonzero(inside)[:, 0]
    rows = stack([gather(places[a], kept) - first[a] for a in range(x.ndim)])
    return x.like(SparseCooTensor(rows, gather(source.values(), kept), [b - a for a, b in zip(first, last)]))


def _bounds(low: int, high: int, size: int) -> tuple[int, int]:
    """Start and end inside [0, size], the end not before the start."""
    start = min(max(low + size if low < 0 else low, 0), size)
    end = min(max(high + size if high < 0 else high, 0), size)
    return start, max(end, start)
