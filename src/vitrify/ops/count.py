"""Ops that count elements: bincount and histograms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.dtype import DType, float32, float64, int64
from ..core.errors import ArgumentError, DTypeError, ShapeError
from ..core.meta import UNKNOWN, Meta
from .arguments import as_int, rank_of, static_int, static_number
from .meta_rules import need_reach
from .registry import VARIADIC_OUTPUTS, NoGradient, define_op

COUNTS = NoGradient("counts change in steps")

# -- bincount --------------------------------------------------------------------------------------------------------


def _bincount_dtype(weights: Any) -> DType:
    if weights is None:
        return int64
    return float32 if weights.dtype is float32 else float64


def _bincount_kernel(xp: Any, x: Any, weights: Any, *, minlength: int) -> Any:
    if x.size and int(x.min()) < 0:
        raise ArgumentError(f"bincount: x must not hold negative numbers, got {int(x.min())}")
    kind = "int64" if weights is None else "float32" if weights.dtype == np.float32 else "float64"
    numbers = x.astype(xp.int64, copy=False)
    return xp.bincount(numbers, weights=weights, minlength=minlength).astype(kind)


def _bincount_meta(x: Meta, weights: Meta | None, *, minlength: Any) -> Meta:
    if x.ndim != 1 or not x.dtype.is_integer:
        raise (DTypeError if x.ndim == 1 else ShapeError)(f"bincount: x is {x}, expected integers in 1 dimension")
    if weights is not None and weights.shape != x.shape and UNKNOWN not in (*weights.shape, *x.shape):
        raise ShapeError(f"bincount: x is {x}, weights are {weights}: shapes differ")
    if weights is not None and weights.dtype.is_complex:
        raise DTypeError(f"bincount: weights are {weights}, expected real numbers")
    if isinstance(minlength, int) and minlength < 0:
        raise ArgumentError(f"bincount: minlength must be >= 0, got {minlength}")
    if isinstance(minlength, int):
        need_reach("bincount", Meta((minlength,), _bincount_dtype(weights)))
    return Meta((UNKNOWN,), _bincount_dtype(weights))


bincount_op = define_op(
    "bincount",
    kernel=_bincount_kernel,
    meta=_bincount_meta,
    vjp=COUNTS,
    dynamic=("minlength",),
    maps={"paddle": "bincount"},
)


def bincount(x: Any, weights: Any = None, minlength: Any = 0, name: str | None = None) -> Any:
    """How often each number from 0 to the largest of x occurs, or the sums of its weights.

    x: [n] of integers >= 0 -> [max(x) + 1], at least minlength; int64, with weights float. Source: paddle.bincount.

    Example:
        >>> import vitrify as paddle
        >>> paddle.bincount(paddle.to_tensor([1, 2, 1])).tolist()
        [0, 2, 1]
    """
    return bincount_op(x, weights, minlength=as_int("bincount", minlength, "minlength"))


# -- histograms ------------------------------------------------------------------------------------------------------


def _bounds(x: Any, low: float, high: float, margin: float = 1.0) -> tuple[float, float]:
    """The range to divide: the data's own when low and high are both 0; `margin` around it where it is one value."""
    if low == high == 0 and x.size:
        low, high = float(x.min()), float(x.max())
    return (low - margin, high + margin) if low == high else (low, high)


def _check_range(op: str, low: float, high: float) -> None:
    if high < low:
        raise ArgumentError(f"{op}: max {high} is less than min {low}")


def _histogram_kernel(xp: Any, x: Any, weight: Any, *, bins: int, min: float, max: float, density: bool) -> Any:
    values = x.reshape(-1).astype(xp.float64)
    weights = None if weight is None else weight.reshape(-1).astype(xp.float64)
    low, high = _bounds(x, min, max) if min < max else _bounds(x, 0.0, 0.0)  # as if none were given
    counts = xp.histogram(values, bins=bins, range=(low, high), weights=weights, density=density)[0]
    return counts.astype(xp.int64 if weight is None and not density else xp.float32)


def _histogram_meta(x: Meta, weight: Meta | None, *, bins: int, min: float, max: float, density: bool) -> Meta:
    if bins < 1:
        raise ArgumentError(f"histogram: bins must be positive, got {bins}")
    _check_range("histogram", min, max)
    if weight is not None and weight.shape != x.shape and UNKNOWN not in (*weight.shape, *x.shape):
        raise ShapeError(f"histogram: input is {x}, weight is {weight}: shapes differ")
    return Meta((bins,), int64 if weight is None and not density else float32)


histogram_op = define_op(
    "histogram", kernel=_histogram_kernel, meta=_histogram_meta, vjp=COUNTS, maps={"paddle": "histogram"}
)


def histogram(
    input: Any, bins: int = 100, min: float = 0.0, max: float = 0.0, weight: Any = None, density: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """How many elements of input lie in each of `bins` equal parts of [min, max]; others are ignored.

    The range is that of the data when min and max are both 0. int64; float32 with weights or `density`, which divides
    so that the area is 1. Source: paddle.histogram.

    Example:
        >>> import vitrify as paddle
        >>> paddle.histogram(paddle.to_tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=3).tolist()
        [0, 2, 1, 0]
    """
    bins = static_int("histogram", bins, "bins")
    return histogram_op(input, weight, bins=bins, min=float(min), max=float(max), density=bool(density))


_NO_RANGE = "histogram_bin_edges: input has no elements, so min and max must be given"


def _edges_kernel(xp: Any, x: Any, *, edges: int, min: float, max: float) -> Any:
    if min == max == 0 and not x.size:
        raise ShapeError(_NO_RANGE)
    low, high = _bounds(x, min, max, margin=0.5)
    return xp.linspace(low, high, edges).astype(xp.float32)


def _edges_meta(x: Meta, *, edges: int, min: float, max: float) -> Meta:
    _check_range("histogram_bin_edges", min, max)
    if min == max == 0 and 0 in x.shape:
        raise ShapeError(_NO_RANGE)
    return Meta((edges,), float32)


edges_op = define_op("histogram_bin_edges", kernel=_edges_kernel, meta=_edges_meta, vjp=COUNTS)


def histogram_bin_edges(
    input: Any, bins: int = 100, min: float = 0.0, max: float = 0.0, name: str | None = None
) -> Any:
    """The bounds of equal parts of the range of `histogram`: [bins + 1] of float32; one value has 0.5 on each side.

    bins: for 0 the lower bound alone is left, of a number with a fraction as many bounds as are whole.
    Raises ShapeError when input has no elements that min and max could be taken from.
    Source: paddle.histogram_bin_edges.

    Example:
        >>> import vitrify as paddle
        >>> paddle.histogram_bin_edges(paddle.to_tensor([0.0, 4.0]), bins=4).tolist()
        [0.0, 1.0, 2.0, 3.0, 4.0]
    """
    edges = int(static_number("histogram_bin_edges", bins, "bins") + 1)
    if edges < 0:
        raise ArgumentError(f"histogram_bin_edges: bins must not be negative, got {bins}")
    return edges_op(input, edges=edges, min=float(min), max=float(max))


def _dd_kernel(
    xp: Any, x: Any, weights: Any, *edges: Any, bins: tuple[int, ...] | None, ranges: Any, density: bool
) -> tuple[Any, ...]:
    points = x.reshape(-1, x.shape[-1]).astype(xp.float64)
    weight = None if weights is None else weights.reshape(-1).astype(xp.float64)
    given = [e.astype(xp.float64) for e in edges] if bins is None else list(bins)
    counts, found = xp.histogramdd(points, bins=given, range=ranges, weights=weight, density=density)
    return (counts.astype(x.dtype), *(e.astype(x.dtype) for e in found))


def _dd_meta(
    x: Meta, weights: Meta | None, *edges: Meta, bins: tuple[int, ...] | None, ranges: Any, density: bool
) -> tuple[Meta, ...]:
    if x.ndim < 2 or not x.dtype.is_floating:
        raise ShapeError(f"histogramdd: x is {x}, expected floats with at least 2 dimensions")
    parts = [e.shape[0] - 1 if e.shape[0] != UNKNOWN else UNKNOWN for e in edges] if bins is None else list(bins)
    if x.shape[-1] not in (UNKNOWN, len(parts)):
        raise ArgumentError(f"histogramdd: bins for {len(parts)} dimensions, x {x} has points with {x.shape[-1]}")
    return (x.with_shape(parts), *(x.with_shape([n if n == UNKNOWN else n + 1]) for n in parts))


histogramdd_op = define_op("histogramdd", kernel=_dd_kernel, meta=_dd_meta, vjp=COUNTS, outputs=VARIADIC_OUTPUTS)


def histogramdd(
    x: Any, bins: Any = 10, ranges: Sequence[float] | None = None, density: bool = False, weights: Any = None,
    name: str | None = None,
) -> tuple[Any, list[Any]]:  # fmt: skip
    """How many points (last dimension of x) lie in each cell of a grid, and the grid's bounds in each dimension.

    bins: a number, one for each dimension, or tensors of bounds. ranges: low and high of each dimension.
    Source: paddle.histogramdd.

    Example:
        >>> import vitrify as paddle
        >>> counts, edges = paddle.histogramdd(paddle.to_tensor([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]), bins=[2, 2])
        >>> counts.tolist(), edges[0].tolist()
        ([[0.0, 1.0], [1.0, 1.0]], [0.0, 1.0, 2.0])
    """
    rank_of("histogramdd", x)
    listed = list(bins) if isinstance(bins, (list, tuple)) else [bins] * x.shape[-1]
    edges = [] if all(isinstance(b, int) for b in listed) else listed
    limits = None if ranges is None else tuple(zip(map(float, ranges[::2]), map(float, ranges[1::2])))
    found = histogramdd_op(
        x, weights, *edges, bins=None if edges else tuple(listed), ranges=limits, density=bool(density)
    )
    return found[0], list(found[1:])


METHODS = {
    "bincount": bincount,
    "histogram": histogram,
    "histogram_bin_edges": histogram_bin_edges,
    "histogramdd": histogramdd,
}
__all__ = ["bincount", "histogram", "histogram_bin_edges", "histogramdd"]
