"""Sizes as tensors: values that depend on shapes alone, known when the program runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtype import bool_, int32, int64
from ..core.meta import UNKNOWN, Meta, normalize_axis
from .arguments import rank_of
from .registry import NoGradient, define_op

SIZE = NoGradient("a size does not depend on the values of x")

shape_op = define_op(
    "shape",
    kernel=lambda xp, x: xp.asarray(x.shape, dtype="int64"),
    meta=lambda x: Meta((x.ndim,), int64),
    vjp=SIZE,
    shape_only=["x"],
    maps={"onnx": "Shape", "paddle": "shape"},
)
dim_size_op = define_op(
    "dim_size",
    kernel=lambda xp, x, *, axis: xp.asarray(x.shape[axis], dtype="int64"),
    meta=lambda x, *, axis: Meta((), int64),
    vjp=SIZE,
    shape_only=["x"],
)
numel_op = define_op(
    "numel",
    kernel=lambda xp, x: xp.asarray(x.size, dtype="int64"),
    meta=lambda x: Meta((), int64),
    vjp=SIZE,
    shape_only=["x"],
    maps={"onnx": "Size", "paddle": "size"},
)
rank_op = define_op(
    "rank", kernel=lambda xp, x: xp.asarray(x.ndim, dtype="int32"), meta=lambda x: Meta((), int32), vjp=SIZE,
    shape_only=["x"],
)  # fmt: skip


def _stand_in(xp: Any, x: Any) -> Any:
    """An array like x whose elements, all 0, share one place in memory; for a list one such array for each item."""
    if isinstance(x, list):
        return _stand_ins(xp, x)
    if xp is np:
        return np.ndarray(x.shape, x.dtype, _ZEROS, 0, (0,) * x.ndim)
    return xp.broadcast_to(xp.zeros((), x.dtype), x.shape)


def _stand_ins(xp: Any, items: list[Any]) -> list[Any]:
    """One for each item. Items that are alike have one in common: a loop makes such a list at each append."""
    found: list[Any] = []
    shape = dtype = made = None
    for item in items:
        if item is None or isinstance(item, list):
            found.append(None if item is None else _stand_ins(xp, item))
            continue
        if item.dtype is not dtype or item.shape != shape:
            shape, dtype, made = item.shape, item.dtype, _stand_in(xp, item)
        found.append(made)
    return found


_ZEROS = bytes(16)  # as much as the largest element takes
stand_in_op = define_op(
    "stand_in", kernel=_stand_in, meta=lambda x: x, vjp=NoGradient("it has the shape of x, not its values"),
    shape_only=["x"], native=lambda n, x: x,
)  # fmt: skip
is_empty_op = define_op(
    "is_empty",
    kernel=lambda xp, x: xp.asarray(x.size == 0),
    meta=lambda x: Meta((), bool_),
    vjp=SIZE,
    shape_only=["x"],
    maps={"paddle": "is_empty"},
)


def shape(input: Any) -> Any:
    """The sizes of input's dimensions: [ndim] of int64. Source: paddle.shape.

    Example:
        >>> import vitrify as paddle
        >>> paddle.shape(paddle.ones([2, 3])).tolist()
        [2, 3]
    """
    return shape_op(input)


def have_one_shape(x: Any, y: Any) -> Any:
    """Whether x and y have the same shape: a bool, or a 0-D bool tensor where only a run knows their sizes."""
    if len(x.shape) != len(y.shape) or any(a != b and UNKNOWN not in (a, b) for a, b in zip(x.shape, y.shape)):
        return False
    if x is y:
        return True
    found: Any = True
    for axis, sizes in enumerate(zip(x.shape, y.shape)):
        if UNKNOWN in sizes:
            alike = size_of(x, axis) == size_of(y, axis)
            found = alike if found is True else found & alike
    return found


def dim_size(x: Any, axis: int) -> Any:
    """The size of one dimension of x, as a 0-D int64 tensor."""
    rank_of("shape", x)
    return dim_size_op(x, axis=normalize_axis("dim_size", axis, x.ndim))


def size_of(x: Any, axis: int) -> Any:
    """The size of one dimension: an int where it is known, else a 0-D tensor."""
    rank_of("shape", x)
    size = x.shape[axis]
    return dim_size(x, axis) if size == UNKNOWN else size


def numel(x: Any, name: str | None = None) -> Any:
    """The number of elements of x, as a 0-D int64 tensor. Source: paddle.numel.

    Example:
        >>> import vitrify as paddle
        >>> paddle.numel(paddle.ones([2, 3])).item()
        6
    """
    return numel_op(x)


def rank(input: Any) -> Any:
    """The number of dimensions of input, as a 0-D int32 tensor. Source: paddle.rank.

    Example:
        >>> import vitrify as paddle
        >>> paddle.rank(paddle.ones([2, 3])).item()
        2
    """
    return rank_op(input)


def is_empty(x: Any, name: str | None = None) -> Any:
    """Whether x has no elements, as a 0-D bool tensor. Source: paddle.is_empty.

    Example:
        >>> import vitrify as paddle
        >>> paddle.is_empty(paddle.ones([0, 3])).item()
        True
    """
    return is_empty_op(x)


def sizes_of(x: Any) -> Any:
    """x's shape as a dynamic shape attribute: a tuple where all sizes are known, else a 1-D tensor."""
    rank_of("shape", x)
    sizes = tuple(x.shape)
    return shape_op(x) if UNKNOWN in sizes else sizes


METHODS = {"numel": numel, "rank": rank, "is_empty": is_empty}
__all__ = ["is_empty", "numel", "rank", "shape"]
