"""Reductions over axes: sum, mean, extremes, products, logic, logsumexp."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.alias import aliased
from ..core.dtype import DType, as_dtype, bool_, float32, int32, int64
from ..core.errors import ShapeError
from ..core.meta import UNKNOWN, Shape, numel
from .arguments import finish, rank_of
from .axes import count_over, divided, reduced, reduction, restored, spread
from .combiner import Combiner, greatest, least
from .compare import equal
from .elementwise import conj, divide_op
from .like import cast, sum_to_like
from .meta_rules import numeric
from .registry import NoGradient, OpDef, define_op, get_op
from .select import kept, where_op


def wide_dtype(xp: Any, dtype: Any) -> Any:
    """What sums of an array are accumulated in: float32 for the 16-bit floating types, else the dtype itself."""
    return xp.float32 if dtype.itemsize == 2 and dtype.kind in "fV" else dtype


def _native(name: str) -> Callable[..., Any]:
    """The native form of the reduction of this name: a loop of its own for some dtypes, a compiled one for others."""

    def form(n: Any, x: Any, *, axis: Shape, keepdim: bool) -> Any:
        if n.reduces(name, x.dtype):
            return n.reduce(name, x, axis, keepdim)
        return n.combine(get_op(name), x, axis, keepdim)

    return form


# -- sum and mean ----------------------------------------------------------------------------------------------------


def _sum_dtype(dtype: DType) -> DType:
    return int64 if dtype in (bool_, int32) else dtype


def _sum_kernel(xp: Any, x: Any, *, axis: Shape, keepdim: bool) -> Any:
    if x.dtype.itemsize > 2:  # NumPy adds these up in their own dtype, and int32 in int64 as Paddle does
        return xp.add.reduce(x, axis, None, None, keepdim)
    wide = wide_dtype(xp, x.dtype) if x.dtype.kind != "b" else xp.int64
    total = xp.add.reduce(x, axis, wide, None, keepdim)
    return total if x.dtype.kind == "b" else total.astype(x.dtype)


sum_form = _native("sum")
sum_op: OpDef = define_op(
    "sum",
    amp="wide",
    kernel=_sum_kernel,
    meta=reduction("sum", result=_sum_dtype),
    native=sum_form,
    vjp={"x": lambda ct, *, x_like, axis, keepdim: spread(ct, x_like, axis, keepdim)},
    maps={"onnx": "ReduceSum", "paddle": "reduce_sum"},
    combiner=Combiner(0, "add"),
)


@aliased(x="input", axis="dim")
def sum(
    x: Any, axis: Any = None, dtype: Any = None, keepdim: bool = False, name: str | None = None, *, out: Any = None
) -> Any:
    """The sum over `axis` (all axes for None).

    x: any dtype; bool and int32 give int64 unless `dtype`, to which x is cast first, says otherwise. As in Paddle,
    `keepdim` and `dtype` may also come in this order.
    Raises IndexRangeError for an axis outside. Source: paddle.sum.

    Example:
        >>> import vitrify as paddle
        >>> paddle.sum(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), axis=0).tolist()
        [4.0, 6.0]
    """
    if isinstance(dtype, bool):
        dtype, keepdim = None if isinstance(keepdim, bool) else keepdim, dtype
    wanted = None if dtype is None else as_dtype(dtype)
    result = reduced(sum_op, x if wanted is None else cast(x, wanted), axis, keepdim)
    return finish("sum", result if wanted is None else cast(result, wanted), out)


def _mean_kernel(xp: Any, x: Any, *, axis: Shape, keepdim: bool) -> Any:
    total = x.sum(axis=axis, keepdims=keepdim, dtype=wide_dtype(xp, x.dtype))
    count = 1
    for i in axis:
        count *= x.shape[i]
    # integers are cut towards zero, as in Paddle
    mean = total / count if x.dtype.kind in "fcV" else xp.trunc(xp.true_divide(total, count))
    return mean.astype(x.dtype, copy=False)


def _mean_native(n: Any, x: Any, *, axis: Shape, keepdim: bool) -> Any:
    if not n.reduces("sum", x.dtype):
        return n.combine(mean_op, x, axis, keepdim)
    total = n.reduce("sum", x, axis, keepdim)
    return n.apply(divide_op, total, n.full((), numel(tuple(x.shape[i] for i in axis)), x.dtype))


mean_op: OpDef = define_op(
    "mean",
    amp="wide",
    kernel=_mean_kernel,
    meta=reduction("mean", numeric),
    native=_mean_native,
    vjp={
        "x": lambda ct, *, x_like, axis, keepdim: spread(divided(ct, count_over(x_like, axis)), x_like, axis, keepdim)
    },
    maps={"onnx": "ReduceMean", "paddle": "reduce_mean"},
    combiner=Combiner(0, "add", finish=divide_op),
)


@aliased(x="input", axis="dim")
def mean(
    x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None, *, dtype: Any = None, out: Any = None
) -> Any:
    """The mean over `axis` (all axes for None), in x's dtype; bool gives float32. x is cast to `dtype` first.

    x: [*s] -> [*s] without those axes, with ones there for keepdim. Raises IndexRangeError for axes that x has not.
    Source: paddle.mean.

    Example:
        >>> import vitrify as paddle
        >>> paddle.mean(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), axis=1).tolist()
        [1.5, 3.5]
    """
    rank_of("mean", x)
    if dtype is not None:
        x = cast(x, dtype)
    elif x.dtype.is_bool:
        x = cast(x, float32)
    return finish("mean", reduced(mean_op, x, axis, keepdim), out)


# -- extremes --------------------------------------------------------------------------------------------------------


def _extreme_vjp(ct: Any, *, x: Any, out: Any, axis: Shape, keepdim: bool) -> Any:
    """The cotangent, shared evenly among the elements that tie."""
    ties = equal(x, restored(out, axis, keepdim))
    share = ct / cast(sum_op(ties, axis=axis, keepdim=keepdim), ct.dtype)
    return kept(ties, restored(share, axis, keepdim))


def _extreme(name: str, onnx: str, combiner: Combiner) -> OpDef:
    def kernel(xp: Any, x: Any, *, axis: Shape, keepdim: bool) -> Any:
        return getattr(xp, name)(x, axis=axis, keepdims=keepdim)

    return define_op(
        name,
        kernel=kernel,
        meta=reduction(name, _ordered, nonempty=True),
        native=_native(name),
        vjp={"x": _extreme_vjp},
        maps={"onnx": onnx, "paddle": f"reduce_{name}"},
        combiner=combiner,
    )


def _ordered(dtype: DType) -> bool:
    """Integers, bool or real floating point."""
    return not dtype.is_complex


max_op = _extreme("max", "ReduceMax", Combiner(least, "maximum"))
min_op = _extreme("min", "ReduceMin", Combiner(greatest, "minimum"))


def max(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None, *, out: Any = None) -> Any:
    """The largest element over `axis` (all axes for None); ties share the gradient evenly.

    Raises ShapeError when an axis has size 0. Source: paddle.max.

    Example:
        >>> import vitrify as paddle
        >>> paddle.max(paddle.to_tensor([[1.0, 5.0], [3.0, 4.0]]), axis=1).tolist()
        [5.0, 4.0]
    """
    return finish("max", reduced(max_op, x, axis, keepdim), out)


def min(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None, *, out: Any = None) -> Any:
    """The smallest element over `axis` (all axes for None); ties share the gradient evenly.

    Raises ShapeError when an axis has size 0. Source: paddle.min.

    Example:
        >>> import vitrify as paddle
        >>> paddle.min(paddle.to_tensor([[1.0, 5.0], [3.0, 4.0]]), axis=1).tolist()
        [1.0, 3.0]
    """
    return finish("min", reduced(min_op, x, axis, keepdim), out)


@aliased(x="input", axis="dim")
def amax(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None, *, out: Any = None) -> Any:
    """The largest element over `axis`, as `max` gives it. Source: paddle.amax.

    Example:
        >>> import vitrify as paddle
        >>> paddle.amax(paddle.to_tensor([1.0, 3.0])).item()
        3.0
    """
    return max(x, axis, keepdim, out=out)


@aliased(x="input", axis="dim")
def amin(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None, *, out: Any = None) -> Any:
    """The smallest element over `axis`, as `min` gives it. Source: paddle.amin.

    Example:
        >>> import vitrify as paddle
        >>> paddle.amin(paddle.to_tensor([1.0, 3.0])).item()
        1.0
    """
    return min(x, axis, keepdim, out=out)


# -- product ---------------------------------------------------------------------------------------------------------


def _prod_kernel(xp: Any, x: Any, *, axis: Shape, keepdim: bool) -> Any:
    return x.prod(axis=axis, keepdims=keepdim, dtype=wide_dtype(xp, x.dtype)).astype(x.dtype, copy=False)


def _prod_vjp(ct: Any, *, x: Any, axis: Shape, keepdim: bool) -> Any:
    """The product of all other elements, exact also where one of them is 0."""
    zero = equal(x, 0)
    zeros = restored(sum_op(zero, axis=axis, keepdim=keepdim), axis, keepdim)
    filled = where_op(zero, 1, x)
    others = ct * conj(prod_op(filled, axis=axis, keepdim=keepdim))
    alone = where_op(zero, equal(zeros, 1), equal(zeros, 0))
    return kept(alone, restored(others, axis, keepdim) / conj(filled))


prod_op: OpDef = define_op(
    "prod",
    amp="wide",
    kernel=_prod_kernel,
    meta=reduction("prod"),
    vjp={"x": _prod_vjp},
    maps={"onnx": "ReduceProd", "paddle": "reduce_prod"},
    native=_native("prod"),
    combiner=Combiner(1, "mul"),
)


@aliased(x="input", axis="dim")
def prod(
    x: Any, axis: Any = None, keepdim: bool = False, dtype: Any = None, out: Any = None, name: str | None = None
) -> Any:
    """The product over `axis` (all axes for None), after casting x to `dtype` where one is given.

    Bool gives int64. Source: paddle.prod.

    Example:
        >>> import vitrify as paddle
        >>> paddle.prod(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), axis=1).tolist()
        [2.0, 12.0]
    """
    rank_of("prod", x)
    if dtype is not None or x.dtype.is_bool:
        x = cast(x, int64 if dtype is None else dtype)
    return finish("prod", reduced(prod_op, x, axis, keepdim), out)


# -- logic -----------------------------------------------------------------------------------------------------------


def _truth(name: str, combiner: Combiner) -> OpDef:
    def kernel(xp: Any, x: Any, *, axis: Shape, keepdim: bool) -> Any:
        return getattr(xp, name)(x, axis=axis, keepdims=keepdim)

    return define_op(
        name,
        kernel=kernel,
        meta=reduction(name, result=lambda dtype: bool_),
        vjp=NoGradient("the result is bool"),
        maps={"paddle": f"reduce_{name}"},
        native=_native(name),
        combiner=combiner,
    )


any_op = _truth("any", Combiner(False, "or_", truth=True))
all_op = _truth("all", Combiner(True, "and_", truth=True))


@aliased(x="input", axis="dim")
def any(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None, *, out: Any = None) -> Any:
    """Whether any element over `axis` is non-zero. Source: paddle.any.

    Example:
        >>> import vitrify as paddle
        >>> paddle.any(paddle.to_tensor([False, True])).item()
        True
    """
    return finish("any", reduced(any_op, x, axis, keepdim), out)


@aliased(x="input", axis="dim")
def all(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None, *, out: Any = None) -> Any:
    """Whether all elements over `axis` are non-zero. Source: paddle.all.

    Example:
        >>> import vitrify as paddle
        >>> paddle.all(paddle.to_tensor([False, True])).item()
        False
    """
    return finish("all", reduced(all_op, x, axis, keepdim), out)


def count_nonzero(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """How many elements over `axis` are non-zero, as int64. Source: paddle.count_nonzero.

    Example:
        >>> import vitrify as paddle
        >>> paddle.count_nonzero(paddle.to_tensor([0.0, 1.0, 2.0])).item()
        2
    """
    return reduced(sum_op, cast(x, bool_), axis, keepdim, "count_nonzero")  # whose gradient is 1, as PaddlePaddle's


def reduce_as(x: Any, target: Any, name: str | None = None) -> Any:
    """x summed down to target's shape; int32 and bool as int64, as `sum` has them. Source: paddle.reduce_as.

    Raises ShapeError where that does not broadcast to x's.

    Example:
        >>> import vitrify as paddle
        >>> paddle.reduce_as(paddle.ones([2, 3]), paddle.ones([3])).tolist()
        [2.0, 2.0, 2.0]
    """
    rank_of("reduce_as", target, "target")
    rank_of("reduce_as", x)
    pairs = zip(x.shape[x.ndim - target.ndim :], target.shape)
    if target.ndim > x.ndim or [w for f, w in pairs if w not in (1, f) and UNKNOWN not in (f, w)]:
        raise ShapeError(f"reduce_as: x has shape {list(x.shape)}, which is not summed down to {list(target.shape)}")
    return sum_to_like(cast(x, int64) if x.dtype in (bool_, int32) else x, target)


METHODS: dict[str, Any] = {
    fn.__name__: fn for fn in (sum, mean, max, min, amax, amin, prod, any, all, count_nonzero, reduce_as)
}
INPLACE = ()
__all__ = ["all", "amax", "amin", "any", "count_nonzero", "max", "mean", "min", "prod", "reduce_as", "sum"]
