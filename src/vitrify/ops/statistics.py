"""Where the extremes stand, log-sum-exp, variance, and reductions that pass over NaN."""

from __future__ import annotations

import math
from typing import Any

from ..core.alias import aliased
from ..core.dtype import DType, as_dtype, float32
from ..core.errors import ArgumentError, ShapeError
from ..core.meta import Meta, Shape, normalize_axis
from .arguments import finish, is_open_axis, rank_of, static_ints
from .axes import axes_of, count_over, divided, largest, over_front, reduced, reduced_shape, reduction, restored
from .compare import equal, isnan, logical_not
from .like import as_float, cast, cast_op
from .meta_rules import real_floating
from .moving_axis import unknown_axes
from .reduce import mean_op, sum_op
from .registry import NoGradient, define_op, get_op
from .select import maximum, where_op
from .shape import flatten, reshape
from .unary import exp, sqrt, square

# -- where the extremes stand ----------------------------------------------------------------------------------------

_POSITION = NoGradient("the result is a position")


def _arg_kernel(name: str) -> Any:
    def kernel(xp: Any, x: Any, *, axis: int, keepdim: bool, dtype: DType) -> Any:
        found = getattr(xp, name)(x, axis=axis, keepdims=keepdim) if x.ndim else xp.zeros((), "int64")
        return xp.asarray(found).astype(dtype.np)

    return kernel


def _arg_meta(name: str) -> Any:
    def rule(x: Meta, *, axis: int, keepdim: bool, dtype: DType) -> Meta:
        if x.ndim and x.shape[axis] == 0:
            raise ShapeError(f"{name}: x is {x}: a dimension of size 0 has no {name}")
        return Meta(reduced_shape(x.shape, (axis,), keepdim) if x.ndim else (), dtype)

    return rule


def _arg_form(name: str) -> Any:
    def form(n: Any, x: Any, *, axis: int, keepdim: bool, dtype: DType) -> Any:
        if not x.ndim:
            return n.full((), 0, dtype.np)
        found = n.extreme_place(name[3:], x, axis)
        found = n.apply(cast_op, found, dtype=dtype) if dtype.np != found.dtype else found
        return n.reshape(found, reduced_shape(x.shape, (axis,), keepdim)) if keepdim else found

    return form


_ARG_OPS = {
    name: define_op(
        name,
        kernel=_arg_kernel(name),
        meta=_arg_meta(name),
        vjp=_POSITION,
        maps={"paddle": name[:3] + "_" + name[3:]},
        native=_arg_form(name),
    )
    for name in ("argmax", "argmin")
}


def _position(name: str, x: Any, axis: Any, keepdim: bool, dtype: Any) -> Any:
    wanted = as_dtype(dtype)
    if not wanted.is_integer:
        raise ArgumentError(f"{name}: dtype must be an integer type, got {wanted.name}")
    if is_open_axis(axis):
        return over_front(name, lambda front, _: _position(name, front, 0, False, dtype), x, [axis], keepdim)
    if axis is not None:
        place = normalize_axis(name, static_ints(name, axis, "axis")[0], x.ndim)
        return _ARG_OPS[name](x, axis=place, keepdim=bool(keepdim), dtype=wanted)
    found = _ARG_OPS[name](flatten(x), axis=0, keepdim=False, dtype=wanted)
    return reshape(found, [1] * x.ndim) if keepdim else found


@aliased(x="input", axis="dim")
def argmax(
    x: Any, axis: Any = None, keepdim: bool = False, dtype: Any = "int64", name: str | None = None, *, out: Any = None
) -> Any:
    """The position of the first largest element along `axis`, or in the flattened x for None.

    Raises ShapeError when there is no element. Source: paddle.argmax.

    Example:
        >>> import vitrify as paddle
        >>> paddle.argmax(paddle.to_tensor([[1.0, 5.0], [6.0, 4.0]]), axis=1).tolist()
        [1, 0]
    """
    return finish("argmax", _position("argmax", x, axis, keepdim, dtype), out)


@aliased(x="input", axis="dim")
def argmin(
    x: Any, axis: Any = None, keepdim: bool = False, dtype: Any = "int64", name: str | None = None, *, out: Any = None
) -> Any:
    """The position of the first smallest element along `axis`, or in the flattened x for None.

    Raises ShapeError when there is no element. Source: paddle.argmin.

    Example:
        >>> import vitrify as paddle
        >>> paddle.argmin(paddle.to_tensor([[1.0, 5.0], [6.0, 4.0]]), axis=1).tolist()
        [0, 1]
    """
    return finish("argmin", _position("argmin", x, axis, keepdim, dtype), out)


# -- log-sum-exp -----------------------------------------------------------------------------------------------------


def _logsumexp_kernel(xp: Any, x: Any, *, axis: Shape, keepdim: bool) -> Any:
    wide = x.astype(xp.float32) if x.dtype.itemsize == 2 else x
    top = largest(xp, wide, axis, -math.inf)
    shift = xp.where(xp.isfinite(top), top, xp.zeros_like(top))
    total = xp.log(xp.exp(wide - shift).sum(axis=axis, keepdims=True)) + shift
    return xp.asarray(total).reshape(reduced_shape(x.shape, axis, keepdim)).astype(x.dtype, copy=False)


def _logsumexp_vjp(ct: Any, *, x: Any, out: Any, axis: Shape, keepdim: bool) -> Any:
    """The softmax of x; 1 where x is the whole sum, so that infinities give no NaN."""
    total = restored(out, axis, keepdim)
    return restored(ct, axis, keepdim) * where_op(equal(x, total), 1, exp(x - total))


def _logsumexp_native(n: Any, x: Any, *, axis: Shape, keepdim: bool) -> Any:
    if not n.reduces("sum", x.dtype):
        n.refuse(f"logsumexp of {x.dtype} has no native form")
    top = n.reduce("max", x, axis, True)
    is_number = n.apply(get_op("isfinite"), top)
    shift = n.apply(where_op, is_number, top, n.full((), 0, x.dtype))
    powers = n.apply(get_op("exp"), n.apply(get_op("subtract"), x, shift))
    total = n.apply(get_op("log"), n.reduce("sum", powers, axis, True))
    return n.reshape(n.apply(get_op("add"), total, shift), reduced_shape(x.shape, axis, keepdim))


logsumexp_op = define_op(
    "logsumexp",
    native=_logsumexp_native,
    kernel=_logsumexp_kernel,
    meta=reduction("logsumexp", real_floating),
    vjp={"x": _logsumexp_vjp},
    amp="deny",
    maps={"onnx": "ReduceLogSumExp", "paddle": "logsumexp"},
)


@aliased(x="input", axis="dim")
def logsumexp(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None, *, out: Any = None) -> Any:
    """log(sum(exp(x))) over `axis` (all axes for None) without overflow; integers give float32.

    Source: paddle.logsumexp.

    Example:
        >>> import vitrify as paddle
        >>> paddle.logsumexp(paddle.to_tensor([1000.0, 0.0])).item()
        1000.0
    """
    result = reduced(logsumexp_op, as_float(x), axis, keepdim)
    return finish("logsumexp", result, out)


# -- variance --------------------------------------------------------------------------------------------------------


def _variance(op: str, x: Any, axis: Any, correction: float, keepdim: bool) -> Any:
    unknown = unknown_axes(axis)
    if unknown is not None:
        return over_front(op, lambda front, first: _variance(op, front, first, correction, False), x, unknown, keepdim)
    axes = axes_of(op, axis, rank_of(op, x))
    x = cast(x, float32) if x.dtype.is_bool else x
    deviation = as_float(x - mean_op(x, axis=axes, keepdim=True))
    count = count_over(x, axes)
    found = divided(sum_op(square(deviation), axis=axes, keepdim=keepdim), _freedom(count, correction))
    return cast(found, x.dtype)


def _freedom(count: Any, correction: float) -> Any:
    """count - correction, and 0 instead of less, so that too few elements give NaN."""
    return max(count - correction, 0) if isinstance(count, int) else maximum(count - correction, count * 0)


@aliased(x="input", axis="dim")
def var(
    x: Any, axis: Any = None, unbiased: bool | None = None, keepdim: bool = False, name: str | None = None, *,
    correction: float = 1, out: Any = None,
) -> Any:  # fmt: skip
    """The variance over `axis` (all axes for None), divided by n - 1 if `unbiased`, by n if not, else n - correction.

    Integers give integers, rounded on the way as PaddlePaddle does. NaN for too few elements. Raises ArgumentError if
    both are given. Source: paddle.var.

    Example:
        >>> import vitrify as paddle
        >>> paddle.var(paddle.to_tensor([1.0, 2.0, 3.0])).item()
        1.0
    """
    if unbiased is not None and correction != 1:
        raise ArgumentError("var: only one of unbiased and correction may be given")
    correction = correction if unbiased is None else int(unbiased)
    return finish("var", _variance("var", x, axis, correction, bool(keepdim)), out)


def std(
    x: Any, axis: Any = None, unbiased: bool = True, keepdim: bool = False, name: str | None = None, *, out: Any = None
) -> Any:
    """The standard deviation over `axis`: the square root of `var`. Source: paddle.std.

    Example:
        >>> import vitrify as paddle
        >>> paddle.std(paddle.to_tensor([1.0, 2.0, 3.0])).item()
        1.0
    """
    return finish("std", sqrt(as_float(_variance("std", x, axis, int(bool(unbiased)), bool(keepdim)))), out)


# -- passing over NaN ------------------------------------------------------------------------------------------------


def nansum(x: Any, axis: Any = None, dtype: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """The sum over `axis` of all elements but NaN. Source: paddle.nansum.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nansum(paddle.to_tensor([1.0, float("nan"), 2.0])).item()
        3.0
    """
    x = x if dtype is None else cast(x, dtype)
    total = reduced(sum_op, where_op(isnan(x), 0, x), axis, keepdim, "nansum")
    return total if dtype is None else cast(total, dtype)


def nanmean(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """The mean over `axis` of all elements but NaN; NaN where there is none other. Source: paddle.nanmean.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nanmean(paddle.to_tensor([1.0, float("nan"), 2.0])).item()
        1.5
    """
    x = as_float(x)
    count = reduced(sum_op, logical_not(isnan(x)), axis, keepdim, "nanmean")
    return nansum(x, axis, keepdim=keepdim) / cast(count, x.dtype)


METHODS: dict[str, Any] = {fn.__name__: fn for fn in (argmax, argmin, logsumexp, var, std, nansum, nanmean)}
INPLACE = ()
__all__ = ["argmax", "argmin", "logsumexp", "nanmean", "nansum", "std", "var"]
