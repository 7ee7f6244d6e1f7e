"""Medians and quantiles: elements of the sorted tensor at a position, or between two of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any

from ..core.alias import aliased
from ..core.dtype import float32, float64, int64
from ..core.errors import ArgumentError
from ..core.meta import UNKNOWN, Shape
from .arguments import is_python_number, is_tensor, rank_of
from .axes import axes_of
from .compare import isnan, logical_not
from .gather import take_along_axis
from .join import stack
from .like import cast, detach_op
from .pad import pad
from .reduce import any_op, sum_op
from .select import maximum, where_op
from .shape import flatten, squeeze, unsqueeze
from .sort import sort_op, sort_values_op
from .statistics import argmax
from .transpose import transpose
from .unary import ceil, floor, round
from .within import probabilities

Place = Callable[[Any], Any]  # from the number of elements in a row to a position in the sorted row


def _lined_up(x: Any, axes: Shape) -> Any:
    """x with the reduced axes merged into one last dimension."""
    if x.ndim == 0:
        return unsqueeze(x, 0)
    kept = [i for i in range(x.ndim) if i not in axes]
    moved = transpose(x, [*kept, *axes]) if tuple(kept + list(axes)) != tuple(range(x.ndim)) else x
    return flatten(moved, len(kept), -1) if len(axes) > 1 else moved


def _at(rows: Any, place: Any) -> Any:
    return take_along_axis(rows, maximum(place, 0), axis=-1)


def _pick(
    x: Any, axes: Shape, keepdim: bool, skip_nan: bool, low: Place, high: Place, share: Place, of_nothing: float
) -> Any:
    """The value between the sorted elements at `low` and `high`, `share` of the way up; NaN counts unless skipped."""
    if any(x.shape[a] == 0 for a in axes):
        return sum_op(x, axis=axes, keepdim=keepdim) + of_nothing
    rows = _lined_up(x, axes)
    ordered = sort_values_op(rows, axis=rows.ndim - 1, descending=False)
    if any(x.shape[a] == UNKNOWN for a in axes):  # an element behind the last, which is the first where there is none
        ordered = pad(ordered, [*[0] * (2 * rows.ndim - 1), 1], value=of_nothing, pad_from_left_axis=True)
    count = _count(rows)
    below, above = _at(ordered, low(count)), _at(ordered, high(count))
    value = below + (above - below) * cast(share(count), x.dtype)
    if not skip_nan:
        value = where_op(_has_nan(rows), math.nan, value)
    return _dimensions_back(squeeze(value, -1), axes, keepdim)


def _dimensions_back(value: Any, axes: Shape, keepdim: bool) -> Any:
    return unsqueeze(value, list(axes)) if keepdim and axes else value


def _count(rows: Any) -> Any:
    """How many elements of each row are no NaN: [*rows, 1] of int64."""
    return sum_op(logical_not(isnan(rows)), axis=(rows.ndim - 1,), keepdim=True)


def _has_nan(rows: Any) -> Any:
    return any_op(isnan(rows), axis=(rows.ndim - 1,), keepdim=True)


# -- medians ---------------------------------------------------------------------------------------------------------


def _median(op: str, x: Any, axis: Any, keepdim: bool, mode: str, skip_nan: bool) -> Any:
    if mode not in ("avg", "min"):
        raise ArgumentError(f"{op}: mode must be 'avg' or 'min', got {mode!r}")
    if isinstance(axis, (list, tuple)) and (not skip_nan or not axis):
        raise ArgumentError(f"{op}: axis must be None or {'axes' if skip_nan else 'an int'}, got {axis}")
    axes = axes_of(op, axis, rank_of(op, x))
    if mode == "avg":
        x = x if x.dtype is float64 else cast(x, float32)
        middle: tuple[Place, Place, Place] = (lambda n: (n - 1) // 2, lambda n: n // 2, lambda n: n * 0 + 0.5)
        return _pick(x, axes, keepdim, skip_nan, *middle, of_nothing=math.nan)
    value, index = _lower_median(x, axes, skip_nan)
    pair = [_dimensions_back(t, axes, keepdim) for t in (value, index)]
    return tuple(pair) if isinstance(axis, int) else pair[0]


def _lower_median(x: Any, axes: Shape, skip_nan: bool) -> tuple[Any, Any]:
    rows = _lined_up(x, axes)
    ordered, order = sort_op(rows, axis=rows.ndim - 1, descending=False)
    place = (_count(rows) - 1) // 2
    value, index = _at(ordered, place), _at(detach_op(order), place)
    if not skip_nan and x.dtype.is_floating:
        broken = _has_nan(rows)
        value = where_op(broken, math.nan, value)
        index = where_op(broken, argmax(cast(isnan(rows), int64), axis=-1, keepdim=True), index)
    return squeeze(value, -1), squeeze(index, -1)


def _lower_by_other_names(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator: a call in PyTorch's names, `dim` or `input`, means PyTorch's median, which is mode "min"."""

    @wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        if "dim" in kwargs or "input" in kwargs:
            kwargs.setdefault("mode", "min")
        return fn(*args, **kwargs)

    return call


@_lower_by_other_names
@aliased(x="input", axis="dim")
def median(
    x: Any, axis: Any = None, keepdim: bool = False, mode: str = "avg", name: str | None = None, *, out: Any = None
) -> Any:
    """The median over `axis` (all elements for None); NaN where an element is NaN.

    mode: "avg" takes the mean of the two middle elements of an even number, in float32 or float64; "min" the lower
    one, in x's dtype, and for an int axis its position too: (median, index). It is the default of calls that say `dim`
    or `input`, as PyTorch's are. Source: paddle.median.

    Example:
        >>> import vitrify as paddle
        >>> paddle.median(paddle.to_tensor([3.0, 1.0, 2.0, 4.0])).item()
        2.5
    """
    result = _median("median", x, axis, bool(keepdim), mode, skip_nan=False)
    if out is not None and isinstance(result, tuple):
        return tuple(held._become(new) for held, new in zip(out, result))
    return result if out is None else out._become(result)


def nanmedian(x: Any, axis: Any = None, keepdim: bool = False, mode: str = "avg", name: str | None = None) -> Any:
    """The median over `axis` of all elements but NaN, in x's dtype; see `median`. Source: paddle.nanmedian.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nanmedian(paddle.to_tensor([3.0, float("nan"), 2.0])).item()
        2.5
    """
    found = _median("nanmedian", x, axis, bool(keepdim), mode, skip_nan=True)
    return found if mode == "min" or not x.dtype.is_integer else cast(found, x.dtype)


# -- quantiles -------------------------------------------------------------------------------------------------------

# interpolation -> how the position between two elements is turned into (low, high, share)
_BETWEEN: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], Callable[[Any], Any]]] = {
    "linear": (floor, ceil, lambda p: p - floor(p)),
    "lower": (floor, floor, lambda p: p * 0),
    "higher": (ceil, ceil, lambda p: p * 0),
    "nearest": (round, round, lambda p: p * 0),
    "midpoint": (floor, ceil, lambda p: p * 0 + 0.5),
}


def _quantile(op: str, x: Any, q: Any, axis: Any, keepdim: bool, interpolation: str, skip_nan: bool) -> Any:
    if interpolation not in _BETWEEN:
        raise ArgumentError(f"{op}: interpolation must be one of {', '.join(_BETWEEN)}, got {interpolation!r}")
    rank_of(op, x)
    wanted = x if x.dtype is float64 else cast(x, float32)
    axes = axes_of(op, axis, x.ndim)
    low, high, share = _BETWEEN[interpolation]

    def one(part: Any) -> Any:
        def position(count: Any) -> Any:
            return cast(count - 1, float64) * part

        def place(rounding: Any) -> Place:
            return lambda count: cast(rounding(position(count)), int64)

        places = (place(low), place(high), lambda count: share(position(count)))
        return _pick(wanted, axes, keepdim, skip_nan, *places, of_nothing=0.0)  # 0 as PaddlePaddle has it

    many = q.ndim > 0 if is_tensor(q) else isinstance(q, (list, tuple))
    found = [one(_checked(op, part)) for part in (q if many else [q])]
    return found[0] if len(found) == 1 else stack(found, 0)


def _checked(op: str, q: Any) -> Any:
    if is_python_number(q):  # a tensor may be anything, as in PaddlePaddle
        return probabilities(f"{op}: q", q)
    if not is_tensor(q) and not 0 <= q <= 1:
        raise ArgumentError(f"{op}: q must be in [0, 1], got {q}")
    return q


@aliased(x="input", axis="dim")
def quantile(
    x: Any, q: Any, axis: Any = None, keepdim: bool = False, interpolation: str = "linear", name: str | None = None, *,
    out: Any = None,
) -> Any:  # fmt: skip
    """The q-quantile over `axis`, for each q in [0, 1]; several q give one more leading dimension.

    interpolation: "linear", "lower", "higher", "nearest" or "midpoint" between two elements. float64 x gives float64,
    all else float32. Source: paddle.quantile.

    Example:
        >>> import vitrify as paddle
        >>> paddle.quantile(paddle.to_tensor([1.0, 2.0, 3.0]), 0.75).item()
        2.5
    """
    result = _quantile("quantile", x, q, axis, bool(keepdim), interpolation, skip_nan=False)
    return result if out is None else out._become(result)


def nanquantile(x: Any, q: Any, axis: Any = None, keepdim: bool = False, interpolation: str = "linear") -> Any:
    """The q-quantile over `axis` of all elements but NaN; see `quantile`. Source: paddle.nanquantile.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nanquantile(paddle.to_tensor([1.0, float("nan"), 3.0]), 0.5).item()
        2.0
    """
    return _quantile("nanquantile", x, q, axis, bool(keepdim), interpolation, skip_nan=True)


METHODS: dict[str, Any] = {fn.__name__: fn for fn in (median, nanmedian, quantile, nanquantile)}
INPLACE = ()
__all__ = ["median", "nanmedian", "nanquantile", "quantile"]
