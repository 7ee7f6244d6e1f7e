"""Lengths of vectors and matrices, and distances."""

from __future__ import annotations

import math
from typing import Any

from ..core.alias import aliased
from ..core.dtype import float32, float64
from ..core.errors import ArgumentError, DTypeError
from ..core.meta import Meta, Shape, normalize_axis
from .arguments import finish, rank_of, static_ints
from .axes import axes_of, largest, reduced_shape, reduction, restored
from .compare import isfinite, logical_and
from .complex_ import abs as abs_
from .complex_ import part_meta, sgn
from .decomposition import svdvals
from .like import cast
from .linalg import inv
from .meta_rules import floating
from .reduce import max_op, min_op, sum_op
from .registry import OpDef, define_op, get_op
from .select import kept, where_op
from .shape import squeeze, unsqueeze
from .transpose import moveaxis
from .unary import sqrt

# -- vectors ---------------------------------------------------------------------------------------------------------


def _p_norm_kernel(xp: Any, x: Any, *, p: float, axis: Shape, keepdim: bool) -> Any:
    size = xp.abs(x.astype(xp.float32) if x.dtype.itemsize == 2 else x)
    kind = size.dtype if x.dtype.itemsize > 2 else x.dtype
    if p == 2:
        # scaled by the largest element, so that squares neither overflow nor vanish
        top = largest(xp, size, axis, 0.0)
        scale = xp.where((top == 0) | ~xp.isfinite(top), xp.ones_like(top), top)
        total = xp.sqrt(xp.square(size / scale).sum(axis=axis, keepdims=True)) * scale
    else:
        total = xp.power(xp.power(size, p).sum(axis=axis, keepdims=True), 1 / p)
    dropped = () if keepdim else tuple(axis)
    return xp.squeeze(total, axis=dropped).astype(kind, copy=False)


def _p_norm_vjp(ct: Any, *, x: Any, out: Any, p: float, axis: Shape, keepdim: bool) -> Any:
    """sign(x) * (|x| / norm)^(p-1); 0 for the zero vector."""
    length, flow = restored(out, axis, keepdim), restored(ct, axis, keepdim)
    if p == 2:
        return kept(length != 0, flow * x / length)
    share = abs_(x) / length
    return kept((length != 0) & (x != 0), flow * sgn(x) * share ** (p - 1))


def _p_norm_meta(x: Meta, *, p: float, axis: Shape, keepdim: bool) -> Meta:
    found = reduction("norm", floating)(x, axis=axis, keepdim=keepdim)
    return part_meta(found)


def _p_norm_native(n: Any, x: Any, *, p: float, axis: Shape, keepdim: bool) -> Any:
    if p != 2 or not n.reduces("sum", x.dtype) or x.dtype.kind != "f":
        n.refuse(f"the norm {p} of {x.dtype} has no native form")
    size = n.apply(get_op("abs"), x)
    top, zero, one = n.reduce("max", size, axis, True), n.full((), 0, x.dtype), n.full((), 1, x.dtype)
    is_scale = n.apply(get_op("logical_and"), n.apply(get_op("isfinite"), top), n.apply(get_op("not_equal"), top, zero))
    scale = n.apply(get_op("where"), is_scale, top, one)
    squares = n.apply(get_op("square"), n.apply(get_op("divide"), size, scale))
    total = n.apply(get_op("multiply"), n.apply(get_op("sqrt"), n.reduce("sum", squares, axis, True)), scale)
    return n.reshape(total, reduced_shape(x.shape, axis, keepdim))


def _p_norm_in_ops(x: Any, *, p: float, axis: Shape, keepdim: bool) -> Any:
    """As the kernel, for p = 2 over rows; None for others, and where there may be no elements, which have no largest
    one.
    """
    shape = x.meta.shape
    are_rows = sorted(axis) == list(range(len(shape) - len(axis), len(shape)))
    if p != 2 or x.dtype not in (float32, float64) or not are_rows or any(shape[a] < 1 for a in axis):
        return None
    size = abs_(x)
    top = max_op(size, axis=axis, keepdim=True)
    scale = where_op(logical_and(isfinite(top), top != 0), top, 1.0)
    ratio = size / scale
    total = sqrt(sum_op(ratio * ratio, axis=axis, keepdim=True)) * scale
    return total if keepdim else squeeze(total, axis=list(axis))


p_norm_op: OpDef = define_op(
    "p_norm",
    native=_p_norm_native,
    native_alone=True,
    decompose=_p_norm_in_ops,
    kernel=_p_norm_kernel,
    meta=_p_norm_meta,
    vjp={"x": _p_norm_vjp},
    amp="deny",
    maps={"paddle": "p_norm"},
)


def _vector_length(x: Any, p: float, axes: Shape, keepdim: bool) -> Any:
    if p == math.inf:
        return max_op(abs_(x), axis=axes, keepdim=keepdim)
    if p == -math.inf:
        return min_op(abs_(x), axis=axes, keepdim=keepdim)
    if p == 0:
        return sum_op(where_op(x != 0, 1, abs_(x) * 0), axis=axes, keepdim=keepdim)  # its gradient is 0
    if p == 1:
        return sum_op(abs_(x), axis=axes, keepdim=keepdim)
    return p_norm_op(x, p=float(p), axis=axes, keepdim=keepdim)


@aliased(p="ord", axis="dim")
def vector_norm(
    x: Any, p: float = 2.0, axis: Any = None, keepdim: bool = False, name: str | None = None, *, dtype: Any = None,
    out: Any = None,
) -> Any:  # fmt: skip
    """The p-norm over `axis` (all elements for None): (sum |x|^p)^(1/p); inf, -inf and 0 are allowed.

    x is cast to `dtype` first. The gradient at the zero vector is 0. Source: paddle.linalg.vector_norm.

    Example:
        >>> import vitrify as paddle
        >>> paddle.linalg.vector_norm(paddle.to_tensor([3.0, 4.0])).item()
        5.0
    """
    x = x if dtype is None else cast(x, dtype)
    axes = axes_of("vector_norm", axis, rank_of("vector_norm", x))
    return finish("vector_norm", _vector_length(x, p, axes, bool(keepdim)), out)


# -- matrices --------------------------------------------------------------------------------------------------------

# p -> (which of row sums and column sums, largest or smallest); "nuc", 2 and -2 come from singular values
_SUMS: dict[Any, tuple[int, OpDef]] = {
    1: (0, max_op),
    -1: (0, min_op),
    math.inf: (1, max_op),
    -math.inf: (1, min_op),
}
_SINGULAR: dict[Any, Any] = {
    "nuc": lambda s: sum_op(s, axis=(s.ndim - 1,), keepdim=False),
    2: lambda s: max_op(s, axis=(s.ndim - 1,), keepdim=False),
    -2: lambda s: min_op(s, axis=(s.ndim - 1,), keepdim=False),
}


def matrix_norm(x: Any, p: Any = "fro", axis: Any = (-2, -1), keepdim: bool = False, name: str | None = None) -> Any:
    """The norm of the matrices that two axes span: "fro", "nuc", 1, -1, 2, -2, inf or -inf.

    Raises ArgumentError for another p or number of axes. Source: paddle.linalg.matrix_norm.

    Example:
        >>> import vitrify as paddle
        >>> paddle.linalg.matrix_norm(paddle.to_tensor([[3.0, 0.0], [0.0, 4.0]])).item()
        5.0
    """
    places = [normalize_axis("matrix_norm", a, x.ndim) for a in static_ints("matrix_norm", axis, "axis")]
    if len(places) != 2 or places[0] == places[1]:
        raise ArgumentError(f"matrix_norm: axis must name two different axes, got {axis}")
    if p == "fro":
        return p_norm_op(x, p=2.0, axis=tuple(places), keepdim=bool(keepdim))
    if p in _SUMS:
        which, extreme = _SUMS[p]
        sums = sum_op(abs_(x), axis=(places[which],), keepdim=True)
        found = extreme(sums, axis=(places[1 - which],), keepdim=True)
        return found if keepdim else squeeze(found, places)
    if p not in _SINGULAR:
        raise ArgumentError(f"matrix_norm: p must be 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, got {p!r}")
    found = _SINGULAR[p](svdvals(moveaxis(x, places, [-2, -1])))
    return unsqueeze(found, sorted(places)) if keepdim else found


@aliased(x="A input", p="ord", axis="dim")
def norm(
    x: Any, p: Any = None, axis: Any = None, keepdim: bool = False, out: Any = None, dtype: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """The norm of x: of the vector along one axis, of matrices over two axes, of all elements for None.

    p: a number, inf, -inf, "fro" or "nuc"; None is 2, or "fro" for matrices. x: real or complex floating point; the
    norm is real. Raises DTypeError for integers, IndexRangeError for axes that x has not. Source: paddle.linalg.norm.

    Example:
        >>> import vitrify as paddle
        >>> paddle.linalg.norm(paddle.to_tensor([3.0, 4.0])).item()
        5.0
    """
    x = x if dtype is None else cast(x, dtype)
    axes = None if axis is None else static_ints("norm", axis, "axis")
    if axes is None and p == "nuc":
        axes = (0, 1)
    if p == "nuc" and axes is not None and len(axes) != 2:
        raise DTypeError(f"norm: p='nuc' is a norm of matrices, which lie along two axes, got axis {list(axes)}")
    if axes is not None and len(axes) == 2 and p not in (None, "fro"):
        return finish("norm", matrix_norm(x, p, axes, keepdim), out)
    return finish("norm", vector_norm(x, 2.0 if p in (None, "fro") else p, axes, keepdim), out)


def dist(x: Any, y: Any, p: float = 2, name: str | None = None) -> Any:
    """The p-norm of x - y: a 0-D tensor. Source: paddle.dist.

    Example:
        >>> import vitrify as paddle
        >>> paddle.dist(paddle.to_tensor([3.0, 4.0]), paddle.to_tensor([0.0, 0.0])).item()
        5.0
    """
    return vector_norm(x - y, float(p))


def cond(x: Any, p: Any = None, name: str | None = None) -> Any:
    """The condition numbers of matrices: the norm of x times that of its inverse; by singular values for p None, 2, -2.

    Source: paddle.linalg.cond.

    Example:
        >>> import vitrify as paddle
        >>> paddle.linalg.cond(paddle.to_tensor([[4.0, 0.0], [0.0, 2.0]])).item()
        2.0
    """
    if p in (None, 2, -2):
        values = svdvals(x)
        largest, smallest = _SINGULAR[2](values), _SINGULAR[-2](values)
        return smallest / largest if p == -2 else largest / smallest
    return matrix_norm(x, p) * matrix_norm(inv(x), p)


METHODS: dict[str, Any] = {"norm": norm, "dist": dist, "cond": cond}
INPLACE = ()
__all__ = ["dist"]
