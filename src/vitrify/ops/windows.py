"""Views of overlapping pieces: unfold and as_strided; and small combinatorial tensors."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations as pairs_of
from itertools import combinations_with_replacement
from math import comb
from typing import Any

import numpy as np

from ..core.alias import aliased
from ..core.dtype import int64
from ..core.errors import ArgumentError, ShapeError
from ..core.meta import UNKNOWN, Meta, Ref, Shape, normalize_axis, numel
from .accumulate import add_rows
from .arguments import rank_of, static_int, static_ints
from .creation import arange, triu_indices
from .gather import gather_op
from .like import cast
from .meta_rules import need_reach
from .registry import OpDef, define_op
from .shape import unsqueeze
from .sizes import size_of
from .transpose import transpose

# -- unfold ----------------------------------------------------------------------------------------------------------


def _windows(xp: Any, x: Any, axis: int, size: int, step: int) -> Any:
    every = (slice(None),) * axis + (slice(None, None, step),)
    return xp.lib.stride_tricks.sliding_window_view(x, size, axis=axis)[every]


def _unfold_meta(x: Meta, *, axis: int, size: int | Ref, step: int) -> Meta:
    length = x.shape[axis]
    if isinstance(size, Ref):  # known when it runs
        return x.with_shape((*x.shape[:axis], UNKNOWN, *x.shape[axis + 1 :], UNKNOWN))
    if size < 0 or step < 1:
        raise ArgumentError(f"unfold: size must be >= 0 and step positive, got {size} and {step}")
    if length != UNKNOWN and size > length:
        raise ShapeError(f"unfold: windows of size {size} do not fit dimension {axis} of x {x}")
    count = UNKNOWN if length == UNKNOWN else (length - size) // step + 1
    return x.with_shape((*x.shape[:axis], count, *x.shape[axis + 1 :], size))


def overlap_added(xp: Any, x: Any, axis: int, step: int, length: int) -> Any:
    """The windows of x, [..., count, ..., size] with `axis` counting them, summed where they lie, `step` apart.

    Cut into blocks of `step` elements, windows overlap block by block: block j of all of them is added at once.
    """
    count, size = x.shape[axis], x.shape[-1]
    blocks = -(-size // step)
    windows = xp.moveaxis(x, axis, -2)
    out = xp.zeros((*windows.shape[:-2], max(count + blocks, -(-length // step)), step), x.dtype)
    for j in range(blocks):
        part = windows[..., j * step : (j + 1) * step]
        out[..., j : j + count, : part.shape[-1]] += part
    flat = out.reshape((*out.shape[:-2], out.shape[-2] * step))[..., :length]
    return xp.ascontiguousarray(xp.moveaxis(flat, -1, axis))


def _fold_kernel(xp: Any, x: Any, like: Any, *, axis: int, size: int, step: int) -> Any:
    return overlap_added(xp, x, axis, step, like.shape[axis])


unfold_op: OpDef = define_op(
    "unfold_windows",
    kernel=lambda xp, x, *, axis, size, step: _windows(xp, x, axis, size, step).copy(),
    meta=_unfold_meta,
    vjp={"x": lambda ct, *, x_like, axis, size, step: fold_op(ct, x_like, axis=axis, size=size, step=step)},
    dynamic=["size"],
    native=lambda n, x, *, axis, size, step: n.view(lambda a: _windows(np, a, axis, size, step), x),
)
fold_op: OpDef = define_op(
    "fold_windows",
    kernel=_fold_kernel,
    meta=lambda x, like, *, axis, size, step: x.with_shape(like.shape),
    vjp={"x": lambda ct, *, axis, size, step: unfold_op(ct, axis=axis, size=size, step=step)},
    shape_only=["like"],
    dynamic=["size"],
)


@aliased(axis="dimension")
def unfold(x: Any, axis: int, size: int, step: int, name: str | None = None) -> Any:
    """The windows of `size` elements, `step` apart, along `axis`; their elements are the last dimension.

    Of a 0-D x there is one window, [size]. Source: paddle.unfold.

    Example:
        >>> import vitrify as paddle
        >>> paddle.unfold(paddle.to_tensor([1, 2, 3, 4]), 0, 2, 1).tolist()
        [[1, 2], [2, 3], [3, 4]]
    """
    rank = rank_of("unfold", x)
    at = normalize_axis("unfold", axis, max(rank, 1))
    size, step = static_int("unfold", size, "size"), static_int("unfold", step, "step")
    windows = unfold_op(x if rank else unsqueeze(x, 0), axis=at, size=size, step=step)
    return windows if rank else windows[0]


# -- as_strided ------------------------------------------------------------------------------------------------------


def _places(xp: Any, shape: Shape, stride: Shape, offset: int) -> Any:
    """Which element of the flat x each element of the view is."""
    out = xp.full((), offset, xp.int64)
    for size, step in zip(shape, stride):
        out = out[..., None] + xp.arange(size) * step
    return out


def _strided_kernel(xp: Any, x: Any, *, shape: Shape, stride: Shape, offset: int) -> Any:
    flat = xp.ascontiguousarray(x).reshape(-1)[offset:]
    return xp.lib.stride_tricks.as_strided(flat, shape, [s * x.dtype.itemsize for s in stride])


def _strided_meta(x: Meta, *, shape: Shape, stride: Shape, offset: int) -> Meta:
    if len(shape) != len(stride) or min((*shape, *stride, offset), default=0) < 0:
        raise ArgumentError(f"as_strided: shape {shape} and stride {stride} must be equally long and not negative")
    last = offset + sum((n - 1) * s for n, s in zip(shape, stride)) if 0 not in shape else 0
    have = numel(x.shape)
    if have != UNKNOWN and last >= max(have, 1):
        raise ShapeError(f"as_strided: element {last} lies outside x {x}, which has {have} elements")
    return x.with_shape(shape)


def _strided_adjoint_kernel(xp: Any, x: Any, like: Any, *, shape: Shape, stride: Shape, offset: int) -> Any:
    out = xp.zeros(like.size, x.dtype)
    add_rows(xp, out, _places(xp, shape, stride, offset).reshape(-1), x.reshape(-1))
    return out.reshape(like.shape)


as_strided_op: OpDef = define_op(
    "as_strided",
    kernel=_strided_kernel,
    meta=_strided_meta,
    vjp={
        "x": lambda ct, *, x_like, shape, stride, offset: as_strided_adjoint_op(
            ct, x_like, shape=shape, stride=stride, offset=offset
        )
    },
    view=True,
)
as_strided_adjoint_op: OpDef = define_op(
    "as_strided_adjoint",
    kernel=_strided_adjoint_kernel,
    meta=lambda x, like, *, shape, stride, offset: x.with_shape(like.shape),
    vjp={"x": lambda ct, *, shape, stride, offset: as_strided_op(ct, shape=shape, stride=stride, offset=offset)},
    shape_only=["like"],
)


def as_strided(x: Any, shape: Sequence[int], stride: Sequence[int], offset: int = 0, name: str | None = None) -> Any:
    """x's elements, in row-major order, read from `offset` on with these strides (all in elements); a view.

    Raises ShapeError where that would read beyond x. Source: paddle.as_strided.

    Example:
        >>> import vitrify as paddle
        >>> paddle.as_strided(paddle.to_tensor([1, 2, 3, 4]), [3, 2], [1, 1]).tolist()
        [[1, 2], [2, 3], [3, 4]]
    """
    sizes, steps = (static_ints("as_strided", v, n) for v, n in ((shape, "shape"), (stride, "stride")))
    return as_strided_op(x, shape=sizes, stride=steps, offset=static_int("as_strided", offset, "offset"))


# -- combinations and powers -----------------------------------------------------------------------------------------


def combinations(x: Any, r: int = 2, with_replacement: bool = False, name: str | None = None) -> Any:
    """Every choice of r elements of the 1-D tensor x, in order, as rows. Source: paddle.combinations.

    Raises ShapeError for other numbers of dimensions, and for a size that only a run knows unless r is 1 or 2;
    ArgumentError for r < 0.

    Example:
        >>> import vitrify as paddle
        >>> paddle.combinations(paddle.to_tensor([1, 2, 3])).tolist()
        [[1, 2], [1, 3], [2, 3]]
    """
    r = static_int("combinations", r, "r")
    is_open = rank_of("combinations", x) == 1 and x.shape[0] == UNKNOWN
    if x.ndim != 1 or (is_open and r > 2):
        what = "one dimension of known size, or of any where r is 1 or 2"
        raise ShapeError(f"combinations: x must have {what}, got {list(x.shape)}")
    n = x.shape[0]
    if r < 0:
        raise ArgumentError(f"combinations: r must be >= 0, got {r}")
    if r == 0:
        return x[:0]
    if r == 1:
        return unsqueeze(x, 1)
    if is_open:
        pairs = triu_indices(size_of(x, 0), size_of(x, 0), 0 if with_replacement else 1)
        return gather_op(x, transpose(pairs, [1, 0]), axis=0)
    choose = combinations_with_replacement if with_replacement else pairs_of
    count = 0 if n == 0 else comb(n + r - 1, n - 1) if with_replacement else comb(n, r) if r <= n else 0
    need_reach("combinations", Meta((count, r), int64))
    rows = np.array(list(choose(range(n), r)) if count else [], np.int64).reshape(count, r)
    return gather_op(x, rows, axis=0)


def vander(x: Any, n: int | None = None, increasing: bool = False, name: str | None = None) -> Any:
    """The matrix whose row i holds the n powers of x[i], the highest first unless `increasing`.

    Source: paddle.vander.

    Example:
        >>> import vitrify as paddle
        >>> paddle.vander(paddle.to_tensor([1.0, 2.0]), 3).tolist()
        [[1.0, 1.0, 1.0], [4.0, 2.0, 1.0]]
    """
    if rank_of("vander", x) != 1:
        raise ShapeError(f"vander: x must have 1 dimension, got {list(x.shape)}")
    count = size_of(x, 0) if n is None else n
    if n is not None and n < 0:
        raise ArgumentError(f"vander: n must be >= 0, got {n}")
    powers = arange(count) if increasing else arange(count - 1, -1, -1)
    return unsqueeze(x, 1) ** cast(powers, x.dtype)


METHODS = {"unfold": unfold, "as_strided": as_strided, "combinations": combinations, "vander": vander}
__all__ = ["as_strided", "combinations", "unfold", "vander"]
