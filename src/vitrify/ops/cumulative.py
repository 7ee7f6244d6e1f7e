"""Running sums, products and extremes along an axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.alias import aliased
from ..core.dtype import DType, as_dtype, int64
from ..core.errors import DTypeError
from ..core.meta import Meta, normalize_axis
from .arguments import finish, rank_of
from .compare import equal
from .elementwise import conj
from .gather import take_along_axis
from .like import as_float, cast
from .meta_rules import Predicate, any_dtype, real_floating
from .moving_axis import at_axis
from .order_forms import running_form, running_logs_form, running_place_form
from .reduce import wide_dtype
from .registry import NoGradient, OpDef, define_op
from .select import kept, where_op
from .shape import flatten
from .unary import exp, log

Accumulate = Callable[[Any, Any, int], Any]


def _scan(accumulate: Accumulate) -> Callable[..., Any]:
    """The kernel of a running op from its forward direction; `reverse` runs from the end."""

    def kernel(xp: Any, x: Any, *, axis: int, reverse: bool) -> Any:
        if x.ndim == 0:
            return x.copy()
        wide = x.astype(wide_dtype(xp, x.dtype), copy=False)
        if not reverse:
            return accumulate(xp, wide, axis).astype(x.dtype, copy=False)
        return xp.flip(accumulate(xp, xp.flip(wide, axis), axis), axis).astype(x.dtype)

    return kernel


def _scan_meta(op: str, accepts: Predicate) -> Callable[..., Meta]:
    def rule(x: Meta, *, axis: int, reverse: bool) -> Meta:
        if not accepts(x.dtype):
            raise DTypeError(f"{op}: x is {x}, expected {(accepts.__doc__ or '').rstrip('.').lower()}")
        return x

    return rule


def running(xp: Any, name: str, x: Any, axis: int) -> Any:
    """The running result of the associative function `name` of `xp` along an axis."""
    if xp is np:
        return getattr(np, name).accumulate(x, axis=axis)
    # CuPy accumulates sums and products only: here each step joins runs twice as long
    out, step = xp.moveaxis(x, axis, 0).copy(), 1
    while step < out.shape[0]:
        out[step:] = getattr(xp, name)(out[step:], out[:-step].copy())
        step *= 2
    return xp.moveaxis(out, 0, axis)


# -- sums ------------------------------------------------------------------------------------------------------------

cumsum_op: OpDef = define_op(
    "cumsum",
    amp="wide",
    kernel=_scan(lambda xp, x, axis: xp.cumsum(x, axis=axis, dtype=x.dtype)),
    meta=_scan_meta("cumsum", any_dtype),
    vjp={"x": lambda ct, *, axis, reverse: cumsum_op(ct, axis=axis, reverse=not reverse)},
    maps={"onnx": "CumSum", "paddle": "cumsum"},
    native=running_form("sum"),
    native_alone=True,
)


def _axis_or_flat(op: str, x: Any, axis: Any) -> tuple[Any, int]:
    """x and a valid axis; x flattened when `axis` is None."""
    if axis is None:
        return flatten(x), 0
    return x, normalize_axis(op, axis, x.ndim)


def _running_along(op: OpDef, x: Any, axis: Any) -> Any:
    """`op`, which keeps the shape, along `axis`, which may be a tensor whose value only a run knows."""
    if axis is None:
        return op(flatten(x), axis=0, reverse=False)
    return at_axis(op.name, [x], axis, lambda xs, place: op(xs[0], axis=place, reverse=False))


@aliased(x="input", axis="dim")
def cumsum(x: Any, axis: int | None = None, dtype: Any = None, name: str | None = None, *, out: Any = None) -> Any:
    """The running sum along `axis`, or over the flattened x for None; integers give int64 unless `dtype` is given.

    Source: paddle.cumsum.

    Example:
        >>> import vitrify as paddle
        >>> paddle.cumsum(paddle.to_tensor([1.0, 2.0, 3.0])).tolist()
        [1.0, 3.0, 6.0]
    """
    rank_of("cumsum", x)
    wanted = as_dtype(dtype) if dtype is not None else x.dtype if x.dtype.is_inexact else int64
    return finish("cumsum", _running_along(cumsum_op, cast(x, wanted), axis), out)


# -- products --------------------------------------------------------------------------------------------------------


def _cumprod_vjp(ct: Any, *, x: Any, out: Any, axis: int, reverse: bool) -> Any:
    """Sums over what follows of ct times the product without x, exact also at and around the first zero."""
    zero = equal(x, 0)
    first = zero & equal(cumsum_op(cast(zero, int64), axis=axis, reverse=reverse), 1)
    past_first = cumprod_op(where_op(first, 1, x), axis=axis, reverse=reverse)

    def following(value: Any) -> Any:
        return cumsum_op(value, axis=axis, reverse=not reverse)

    before = cast(following(ct * conj(out)) / conj(where_op(zero, 1, x)), ct.dtype)  # whole numbers give floats
    return where_op(first, following(ct * conj(past_first)), before)


cumprod_op: OpDef = define_op(
    "cumprod",
    amp="wide",
    kernel=_scan(lambda xp, x, axis: xp.cumprod(x, axis=axis, dtype=x.dtype)),
    meta=_scan_meta("cumprod", any_dtype),
    vjp={"x": _cumprod_vjp},
    maps={"paddle": "cumprod"},
    native=running_form("prod"),
    native_alone=True,
)


@aliased(x="input")
def cumprod(x: Any, dim: int | None = None, *, dtype: Any = None, out: Any = None, name: str | None = None) -> Any:
    """The running product along `dim`, or over the flattened x for None. Source: paddle.cumprod.

    Example:
        >>> import vitrify as paddle
        >>> paddle.cumprod(paddle.to_tensor([1.0, 2.0, 3.0]), dim=0).tolist()
        [1.0, 2.0, 6.0]
    """
    return finish("cumprod", _running_along(cumprod_op, x if dtype is None else cast(x, dtype), dim), out)


# -- log of sums -----------------------------------------------------------------------------------------------------


def _logcumsumexp_vjp(ct: Any, *, x: Any, out: Any, axis: int, reverse: bool) -> Any:
    """exp(x) times the sums over what follows of ct * exp(-out), kept in logarithms, each sign of ct by itself."""

    def flow(part: Any) -> Any:
        following = logcumsumexp_op(log(part) - out, axis=axis, reverse=not reverse)
        return exp(following + x)

    return flow(kept(ct > 0, ct)) - flow(kept(ct < 0, -ct))


logcumsumexp_op: OpDef = define_op(
    "logcumsumexp",
    amp="wide",
    kernel=_scan(lambda xp, x, axis: running(xp, "logaddexp", x, axis)),
    meta=_scan_meta("logcumsumexp", real_floating),
    vjp={"x": _logcumsumexp_vjp},
    maps={"paddle": "logcumsumexp"},
    native=running_logs_form,
)


def logcumsumexp(
    x: Any, axis: int | None = None, dtype: Any = None, name: str | None = None, *, out: Any = None
) -> Any:
    """The logarithm of the running sum of exp(x) along `axis`, or over the flattened x, without overflow.

    Integers give float32. Source: paddle.logcumsumexp.

    Example:
        >>> import vitrify as paddle
        >>> paddle.logcumsumexp(paddle.to_tensor([1000.0, 0.0])).tolist()
        [1000.0, 1000.0]
    """
    x = as_float(x) if dtype is None else cast(x, dtype)
    return finish("logcumsumexp", _running_along(logcumsumexp_op, x, axis), out)


# -- extremes --------------------------------------------------------------------------------------------------------


def _running_place(extreme: str) -> Callable[..., Any]:
    """The kernel that finds where the extreme so far stands: the latest place among equal ones; NaN wins and stays."""

    def kernel(xp: Any, x: Any, *, axis: int, dtype: DType) -> Any:
        if x.ndim == 0:
            return xp.zeros((), dtype.np)
        best = running(xp, extreme, x, axis)
        place = xp.arange(x.shape[axis]).reshape([-1] + [1] * (x.ndim - 1 - axis))
        reached = xp.where((x == best) | (x != x), place, 0)
        return running(xp, "maximum", reached, axis).astype(dtype.np)

    return kernel


def _place_op(name: str, extreme: str) -> OpDef:
    return define_op(
        f"{name}_index",
        kernel=_running_place(extreme),
        meta=lambda x, *, axis, dtype: x.with_dtype(dtype),
        vjp=NoGradient("the result is a position"),
        native=running_place_form(extreme[:3]),
        native_alone=True,
    )


_CUMMAX = _place_op("cummax", "maximum")
_CUMMIN = _place_op("cummin", "minimum")


def _running(op: str, places: OpDef, x: Any, axis: Any, dtype: Any) -> tuple[Any, Any]:
    x, place = _axis_or_flat(op, x, axis)
    index = places(x, axis=place, dtype=as_dtype(dtype))
    return (x.clone() if x.ndim == 0 else take_along_axis(x, index, place)), index


def cummax(x: Any, axis: int | None = None, dtype: Any = "int64", name: str | None = None) -> tuple[Any, Any]:
    """(the largest element so far, its position as `dtype`) along `axis`, or over the flattened x for None.

    Source: paddle.cummax.

    Example:
        >>> import vitrify as paddle
        >>> [t.tolist() for t in paddle.cummax(paddle.to_tensor([1, 3, 2]))]
        [[1, 3, 3], [0, 1, 1]]
    """
    return _running("cummax", _CUMMAX, x, axis, dtype)


def cummin(x: Any, axis: int | None = None, dtype: Any = "int64", name: str | None = None) -> tuple[Any, Any]:
    """(the smallest element so far, its position as `dtype`) along `axis`, or over the flattened x for None.

    Source: paddle.cummin.

    Example:
        >>> import vitrify as paddle
        >>> [t.tolist() for t in paddle.cummin(paddle.to_tensor([3, 1, 2]))]
        [[3, 1, 1], [0, 1, 1]]
    """
    return _running("cummin", _CUMMIN, x, axis, dtype)


@aliased(axis="dim")
def _cumsum_in_place(x: Any, axis: Any = None, dtype: Any = None, name: str | None = None) -> Any:
    """`cumsum` put into x, in x's dtype unless another is asked for; returns x. Source: paddle.cumsum_.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([1.0, 2.0, 3.0])
        >>> _ = x.cumsum_()
        >>> x.tolist()
        [1.0, 3.0, 6.0]
    """
    rank_of("cumsum_", x)
    return x._become(cumsum(x, axis, x.dtype if dtype is None else dtype))


@aliased(x="input")
def _cumprod_in_place(x: Any, dim: int | None = None, dtype: Any = None, name: str | None = None) -> Any:
    """`cumprod` put into x, which is returned. Source: paddle.cumprod_.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([1.0, 2.0, 3.0])
        >>> _ = x.cumprod_(dim=0)
        >>> x.tolist()
        [1.0, 2.0, 6.0]
    """
    rank_of("cumprod_", x)
    return x._become(cumprod(x, dim, dtype=dtype))


METHODS: dict[str, Any] = {fn.__name__: fn for fn in (cumsum, cumprod, logcumsumexp, cummax, cummin)} | {
    "cumsum_": _cumsum_in_place,
    "cumprod_": _cumprod_in_place,
}
INPLACE = ()
__all__ = ["cummax", "cummin", "cumprod", "cumsum", "logcumsumexp"]
