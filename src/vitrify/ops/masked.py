"""Ops that choose elements by a bool mask."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.alias import aliased
from ..core.dtype import bool_
from ..core.errors import DTypeError, ShapeError
from ..core.meta import UNKNOWN, Meta, broadcast_shapes
from .arguments import finish, is_tensor, rank_of
from .expand import broadcast_tensors
from .index import index_get_op
from .like import cast
from .registry import OpDef, define_op, get_op


def _need_mask(op: str, mask: Any) -> None:
    rank_of(op, mask, "mask")
    if not mask.dtype.is_bool:
        raise DTypeError(f"{op}: mask must be bool, got {mask.dtype.name}", hint="compare, for example x > 0")


@aliased(x="input")
def masked_select(x: Any, mask: Any, name: str | None = None, *, out: Any = None) -> Any:
    """The elements of x where `mask` is True, in order: [number of True]. x and mask are broadcast first.

    Source: paddle.masked_select.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([1, 2, 3])
        >>> paddle.masked_select(x, x > 1).tolist()
        [2, 3]
    """
    rank_of("masked_select", x)
    _need_mask("masked_select", mask)
    if x.shape != mask.shape or UNKNOWN in x.shape:
        x, mask = broadcast_tensors([x, mask])
    if x.ndim == 0:
        x, mask = (get_op("unsqueeze")(t, axes=(0,)) for t in (x, mask))
    return finish("masked_select", index_get_op(x, mask, axes=(0,)), out)


def masked_fill(x: Any, mask: Any, value: Any, name: str | None = None) -> Any:
    """x with `value` (a number or a tensor) where `mask` is True; all broadcast, x's dtype. Source: paddle.masked_fill.

    A mask of numbers is True where it is not 0.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([1, 2, 3])
        >>> paddle.masked_fill(x, x > 1, 0).tolist()
        [1, 0, 0]
    """
    rank_of("masked_fill", x)
    rank_of("masked_fill", mask, "mask")
    mask = cast(mask, bool_)
    if is_tensor(value):
        return get_op("where")(mask, cast(value, x.dtype), x)
    return get_op("where")(mask, get_op("full")(shape=(), fill_value=value, dtype=x.dtype), x)


def _masked_scatter_kernel(xp: Any, x: Any, mask: Any, value: Any) -> Any:
    shape = np.broadcast_shapes(x.shape, mask.shape)
    out = xp.array(xp.broadcast_to(x, shape))
    where = xp.broadcast_to(mask, shape)
    count = int(where.sum())
    if count > value.size:
        raise ShapeError(f"masked_scatter: the mask has {count} True elements, value only {value.size}")
    out[where] = value.reshape(-1)[:count]
    return out


def _masked_scatter_meta(x: Meta, mask: Meta, value: Meta) -> Meta:
    if x.dtype is not value.dtype:
        raise DTypeError(f"masked_scatter: x is {x}, value is {value}: dtypes differ")
    return x.with_shape(broadcast_shapes("masked_scatter", (x.shape, mask.shape), ("x", "mask")))


def _masked_gather_kernel(xp: Any, x: Any, like: Any, mask: Any) -> Any:
    out = xp.zeros(like.shape, x.dtype)
    found = x[xp.broadcast_to(mask, x.shape)]
    out.reshape(-1)[: found.size] = found
    return out


masked_scatter_op: OpDef = define_op(
    "masked_scatter",
    kernel=_masked_scatter_kernel,
    meta=_masked_scatter_meta,
    vjp={
        "x": lambda ct, *, mask: masked_fill(ct, mask, 0),
        "value": lambda ct, *, mask, value_like: masked_gather_op(ct, value_like, mask),
    },
    broadcast=True,
)
masked_gather_op: OpDef = define_op(
    "masked_gather",
    kernel=_masked_gather_kernel,
    meta=lambda x, like, mask: x.with_shape(like.shape),
    vjp={"x": lambda ct, *, x_like, mask: masked_scatter_op(_zeros(x_like, ct), mask, ct)},
    shape_only=["like"],
)


def _zeros(like: Any, ct: Any) -> Any:
    return get_op("full_like")(like, fill_value=0, dtype=ct.dtype)


def masked_scatter(x: Any, mask: Any, value: Any, name: str | None = None) -> Any:
    """x with its elements where `mask` is True replaced by the first elements of `value`, in order.

    Raises ShapeError when value has too few. Source: paddle.masked_scatter.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([1, 2, 3])
        >>> paddle.masked_scatter(x, x > 1, paddle.to_tensor([7, 8, 9])).tolist()
        [1, 7, 8]
    """
    _need_mask("masked_scatter", mask)
    return masked_scatter_op(x, mask, value)


METHODS = {"masked_select": masked_select, "masked_fill": masked_fill, "masked_scatter": masked_scatter}
INPLACE = ("masked_fill", "masked_scatter")
__all__ = ["masked_fill", "masked_scatter", "masked_select"]
