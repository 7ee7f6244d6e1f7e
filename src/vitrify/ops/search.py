"""Ops that find elements: nonzero, searchsorted, bucketize, isin."""

from __future__ import annotations

import math
from typing import Any

from ..core.alias import aliased
from ..core.dtype import bool_, int32, int64
from ..core.errors import ArgumentError, ShapeError
from ..core.meta import UNKNOWN, Meta
from .arguments import finish, is_tensor, rank_of
from .registry import NoGradient, define_op, get_op
from .split import unstack_op

PLACES = NoGradient("places are integers")


# -- nonzero ---------------------------------------------------------------------------------------------------------


def _nonzero_kernel(xp: Any, x: Any) -> Any:
    return xp.stack(xp.nonzero(x), axis=1).astype(xp.int64, copy=False)


def _nonzero_meta(x: Meta) -> Meta:
    if x.ndim == 0:
        raise ShapeError("nonzero: x is 0-D and has no places", hint="compare it with 0")
    return Meta((UNKNOWN, x.ndim), int64)


nonzero_op = define_op(
    "nonzero",
    kernel=_nonzero_kernel,
    meta=_nonzero_meta,
    vjp=PLACES,
    maps={"paddle": "where_index"},
)


@aliased(x="input")
def nonzero(x: Any, as_tuple: bool = False, *, out: Any = None) -> Any:
    """The places of the elements of x that are not zero: [n, ndim] of int64, in row-major order.

    With `as_tuple`, one [n] tensor for each dimension. Source: paddle.nonzero.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nonzero(paddle.to_tensor([[1, 0], [0, 2]])).tolist()
        [[0, 0], [1, 1]]
    """
    places = nonzero_op(x)
    if as_tuple:
        return tuple(unstack_op(places, axis=1, num=x.ndim))
    return finish("nonzero", places, out)


def argwhere(input: Any) -> Any:
    """`nonzero` as one tensor. Source: paddle.argwhere.

    Example:
        >>> import vitrify as paddle
        >>> paddle.argwhere(paddle.to_tensor([0, 3, 4])).tolist()
        [[1], [2]]
    """
    return nonzero_op(input)


# -- sorted sequences ------------------------------------------------------------------------------------------------


def _searchsorted_kernel(xp: Any, sequence: Any, values: Any, *, right: bool, dtype: Any) -> Any:
    side = "right" if right else "left"
    if sequence.ndim == 1:
        return xp.asarray(xp.searchsorted(sequence, values, side=side)).astype(dtype.np)
    count = math.prod(sequence.shape[:-1])
    rows, wanted = (a.reshape(count, a.shape[-1]) for a in (sequence, values))
    return _bisected(xp, rows, wanted, right).reshape(values.shape).astype(dtype.np)


def _bisected(xp: Any, rows: Any, wanted: Any, right: bool) -> Any:
    """Where the values of each row belong in it, all rows at a time; what is not a number is the largest."""
    low, high = xp.zeros(wanted.shape, int64.np), xp.full(wanted.shape, rows.shape[1], int64.np)
    for _ in range(rows.shape[1].bit_length()):
        middle = (low + high) // 2
        found = xp.take_along_axis(rows, xp.minimum(middle, rows.shape[1] - 1), axis=1)
        is_later = ~_precedes(wanted, found) if right else _precedes(found, wanted)
        is_open = low < high
        low = xp.where(is_open & is_later, middle + 1, low)
        high = xp.where(is_open & ~is_later, middle, high)
    return low


def _precedes(a: Any, b: Any) -> Any:
    return (a < b) | ((b != b) & (a == a))


def _searchsorted_meta(sequence: Meta, values: Meta, *, right: bool, dtype: Any) -> Meta:
    if sequence.ndim == 0:
        raise ShapeError("searchsorted: sorted_sequence is 0-D, expected at least 1 dimension")
    lead = list(zip(sequence.shape[:-1], values.shape[:-1]))
    differ = any(a != b and UNKNOWN not in (a, b) for a, b in lead)
    if sequence.ndim > 1 and (sequence.ndim != values.ndim or differ):
        raise ShapeError(
            f"searchsorted: sorted_sequence {sequence} and values {values} must agree but in their last dimension"
        )
    return values.with_dtype(dtype)


searchsorted_op = define_op(
    "searchsorted",
    kernel=_searchsorted_kernel,
    meta=_searchsorted_meta,
    vjp=PLACES,
    maps={"paddle": "searchsorted"},
)


@aliased(values="input")
def searchsorted(
    sorted_sequence: Any, values: Any, out_int32: bool = False, right: bool = False, name: str | None = None, *,
    side: str | None = None, out: Any = None, sorter: Any = None,
) -> Any:  # fmt: skip
    """For each of `values` the place where it goes into the ascending sequence: before equals, or after with `right`.

    sorted_sequence: [*s, n] or [n], values: [*s, k] -> [*s, k] of int64 (int32 with out_int32). `sorter`: indices
    that sort a sequence which is not. Source: paddle.searchsorted.

    Example:
        >>> import vitrify as paddle
        >>> paddle.searchsorted(paddle.to_tensor([1, 3, 5]), paddle.to_tensor([3, 6])).tolist()
        [1, 3]
    """
    if side not in (None, "left", "right"):
        raise ArgumentError(f"searchsorted: side must be 'left' or 'right', got {side!r}")
    if sorter is not None:
        sorted_sequence = get_op("take_along_axis")(
            sorted_sequence, sorter, axis=sorted_sequence.ndim - 1, broadcast=False
        )
    after = right if side is None else side == "right"
    found = searchsorted_op(sorted_sequence, values, right=bool(after), dtype=int32 if out_int32 else int64)
    return finish("searchsorted", found, out)


@aliased(x="input", sorted_sequence="boundaries")
def bucketize(
    x: Any, sorted_sequence: Any, out_int32: bool = False, right: bool = False, name: str | None = None, *,
    out: Any = None,
) -> Any:  # fmt: skip
    """`searchsorted` of x, a tensor or number, in one 1-D sequence of bounds. Source: paddle.bucketize.

    Example:
        >>> import vitrify as paddle
        >>> paddle.bucketize(paddle.to_tensor([[3, 6]]), paddle.to_tensor([1, 3, 5])).tolist()
        [[1, 3]]
    """
    if rank_of("bucketize", sorted_sequence, "sorted_sequence") != 1:
        raise ShapeError(f"bucketize: sorted_sequence must have 1 dimension, got {list(sorted_sequence.shape)}")
    if not is_tensor(x):
        x = get_op("full")(shape=(), fill_value=x, dtype=sorted_sequence.dtype)
    return searchsorted(sorted_sequence, x, out_int32, right, out=out)


def _isin_kernel(xp: Any, x: Any, test_x: Any, *, assume_unique: bool, invert: bool) -> Any:
    return xp.asarray(xp.isin(x, test_x, assume_unique=assume_unique, invert=invert)).reshape(x.shape)


isin_op = define_op(
    "isin",
    kernel=_isin_kernel,
    meta=lambda x, test_x, *, assume_unique, invert: x.with_dtype(bool_),
    vjp=PLACES,
)


@aliased(x="elements", test_x="test_elements")
def isin(x: Any, test_x: Any, assume_unique: bool = False, invert: bool = False, name: str | None = None) -> Any:
    """Whether each element of x is among those of test_x (or is not, with `invert`). Source: paddle.isin.

    Example:
        >>> import vitrify as paddle
        >>> paddle.isin(paddle.to_tensor([1, 2, 3]), paddle.to_tensor([3, 1])).tolist()
        [True, False, True]
    """
    rank_of("isin", test_x, "test_x")
    return isin_op(x, test_x, assume_unique=bool(assume_unique), invert=bool(invert))


METHODS = {
    "nonzero": nonzero,
    "argwhere": argwhere,
    "bucketize": bucketize,
    "isin": isin,
}
__all__ = ["argwhere", "bucketize", "isin", "nonzero", "searchsorted"]
