"""What reductions share: axes as attributes, output shapes, and cotangents brought back over the reduced axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.dtype import DType
from ..core.errors import DTypeError, ShapeError
from ..core.meta import UNKNOWN, Meta, Shape, normalize_axes
from .arguments import rank_of, static_ints
from .like import cast, expand_like
from .meta_rules import Predicate, any_dtype
from .moving_axis import all_from_front, all_to_front, unknown_axes
from .registry import OpDef
from .shape import unsqueeze
from .sizes import dim_size


def axes_of(op: str, axis: Any, ndim: int) -> Shape:
    """The axes that a reduction of a tensor with `ndim` dimensions runs over, in order, from the argument `axis`."""
    axes = None if axis is None else static_ints(op, axis, "axis")
    found = tuple(sorted(normalize_axes(op, axes, ndim)))
    return found if ndim else ()


def reduced(op: OpDef, x: Any, axis: Any, keepdim: Any, name: str | None = None) -> Any:
    """`op`, a reduction, of x over Paddle's argument `axis`, in which tensors may stand that only a run knows.

    name: what errors call the function, by default the name of `op`.
    """
    axes = unknown_axes(axis)
    if axes is not None:
        return over_front(name or op.name, lambda front, first: op(front, axis=first, keepdim=False), x, axes, keepdim)
    name = name or op.name
    return op(x, axis=axes_of(name, axis, rank_of(name, x)), keepdim=bool(keepdim))


def over_front(op: str, reduce: Callable[[Any, Shape], Any], x: Any, axes: list[Any], keepdim: Any) -> Any:
    """`reduce` over the first dimensions of x after those at `axes`, which only a run knows, were brought there.

    A 0-D tensor has none to bring: axis 0, which reductions take for it, reduces over nothing.
    """
    if not rank_of(op, x):
        return reduce(x, ())
    front, places = all_to_front(op, x, axes)
    first = tuple(range(len(axes)))
    found = reduce(front, first)
    return all_from_front(unsqueeze(found, list(first)), places) if keepdim else found


def reduced_shape(shape: Shape, axis: Shape, keepdim: bool) -> Shape:
    """`shape` with the axes removed, or of size 1 when `keepdim`."""
    if keepdim:
        return tuple(1 if i in axis else d for i, d in enumerate(shape))
    return tuple(d for i, d in enumerate(shape) if i not in axis)


def reduction(
    op: str, accepts: Predicate = any_dtype, result: Callable[[DType], DType] | None = None, nonempty: bool = False
) -> Callable[..., Meta]:
    """The meta rule of a reduction with attributes `axis` and `keepdim`.

    result: the output's dtype from the input's. nonempty: raise ShapeError when nothing is left to reduce over.
    """

    def rule(x: Meta, *, axis: Shape, keepdim: bool, **attrs: Any) -> Meta:
        if not accepts(x.dtype):
            raise DTypeError(f"{op}: x is {x}, expected {(accepts.__doc__ or '').rstrip('.').lower()}")
        if nonempty and any(x.shape[i] == 0 for i in axis):
            raise ShapeError(f"{op}: x is {x}: a dimension of size 0 has no {op}")
        return Meta(reduced_shape(x.shape, axis, keepdim), result(x.dtype) if result else x.dtype)

    return rule


def restored(value: Any, axis: Shape, keepdim: bool) -> Any:
    """`value`, the result of a reduction, with the reduced axes back as dimensions of size 1."""
    return value if keepdim or not axis or value.ndim == 0 else unsqueeze(value, list(axis))


def spread(value: Any, x_like: Any, axis: Shape, keepdim: bool) -> Any:
    """`value`, the result of a reduction of `x_like`, repeated over the reduced axes."""
    return expand_like(restored(value, axis, keepdim), x_like)


def largest(xp: Any, x: Any, axis: Shape, floor: float) -> Any:
    """The array x's largest elements over `axis`, kept as dimensions of size 1; `floor` where there is none."""
    if any(x.shape[i] == 0 for i in axis):
        return xp.full(reduced_shape(x.shape, axis, True), floor, x.dtype)
    return x.max(axis=axis, keepdims=True)


def count_over(x: Any, axis: Shape) -> Any:
    """How many elements each result of a reduction is made of: an int, or a 0-D tensor while sizes are unknown."""
    known = 1
    unknown = None
    for i in axis:
        if x.shape[i] != UNKNOWN:
            known *= x.shape[i]
        else:
            size = dim_size(x, i)
            unknown = size if unknown is None else unknown * size
    return known if unknown is None else unknown * known


def divided(value: Any, count: Any) -> Any:
    """value / count in value's dtype."""
    return value / (count if isinstance(count, (int, float)) else cast(count, value.dtype))
