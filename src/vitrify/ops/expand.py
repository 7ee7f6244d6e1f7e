"""Ops that repeat elements: expand and broadcast_to, tile, repeat_interleave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.alias import aliased
from ..core.dtype import int64
from ..core.errors import ArgumentError, DTypeError, ShapeError, UnknownValueError
from ..core.meta import UNKNOWN, Meta, Shape, normalize_axis
from ..core.meta import broadcast_shapes as common_shape
from .accumulate import add_along
from .arguments import as_int, as_ints, entries, finish, is_tensor, packs_ints, rank_of
from .like import broadcast_view, expand_like_op, sum_to_like
from .meta_rules import need_reach
from .moving_forms import broadcast_form
from .reduce import sum_form
from .registry import VARIADIC_OUTPUTS, OpDef, define_op
from .shape import flatten

# -- expand ----------------------------------------------------------------------------------------------------------


def _expanded_dim(op: str, x: Meta, size: int, wanted: Any, leading: bool) -> int:
    if not isinstance(wanted, int):
        return UNKNOWN if size in (1, UNKNOWN) else size
    if wanted == -1 and not leading:
        return size
    if wanted < 0:
        raise ArgumentError(f"{op}: size {wanted} in shape has no dimension of x {x} to keep")
    if size not in (1, UNKNOWN, wanted):
        raise ShapeError(f"{op}: x {x} does not expand: size {size} would become {wanted}")
    return wanted


def _expanded(op: str, x: Meta, shape: Sequence[Any]) -> Shape:
    lead = len(shape) - x.ndim
    if lead < 0:
        raise ShapeError(f"{op}: shape {list(shape)} has fewer dimensions than x {x}")
    sizes = (1,) * lead + x.shape
    return tuple(_expanded_dim(op, x, s, w, i < lead) for i, (s, w) in enumerate(zip(sizes, shape)))


def _expand_meta(x: Meta, *, shape: Any) -> Meta:
    return x.with_shape(_expanded("expand", x, entries(shape)))


def _broadcast_view(xp: Any, x: Any, *, shape: Any) -> Any:
    wanted = entries(shape)
    lead = len(wanted) - x.ndim
    return broadcast_view(xp, x, tuple([x.shape[i - lead] if w == -1 else w for i, w in enumerate(wanted)]))


EXPAND_VJP = {"x": lambda ct, *, x_like: sum_to_like(ct, x_like)}
expand_op = define_op(
    "expand",
    kernel=lambda xp, x, *, shape: _broadcast_view(xp, x, shape=shape).copy(),
    meta=_expand_meta,
    vjp=EXPAND_VJP,
    dynamic=("shape",),
    maps={"onnx": "Expand", "paddle": "expand_v2"},
    native=lambda n, x, *, shape: n.view(lambda a: _broadcast_view(np, a, shape=shape), x),
)
# For vjp rules, whose results nobody changes in place: no memory is written.
expand_view_op = define_op(
    "expand_view", kernel=_broadcast_view, meta=_expand_meta, vjp=EXPAND_VJP, dynamic=("shape",), view=True
)


@aliased(x="input", shape="size")
@packs_ints
def expand(x: Any, shape: Any, name: str | None = None) -> Any:
    """x repeated along dimensions of size 1, and along new leading ones, to `shape`; -1 keeps a size.

    Raises ShapeError when another size would have to change. Source: paddle.expand.

    Example:
        >>> import vitrify as paddle
        >>> paddle.expand(paddle.ones([3, 1]), [2, -1, 4]).shape
        paddle.Size([2, 3, 4])
    """
    return expand_op(x, shape=as_ints("expand", shape, "shape"))


@aliased(x="input", shape="size")
@packs_ints
def broadcast_to(x: Any, shape: Any, name: str | None = None) -> Any:
    """x repeated to `shape`, as `expand` does. Source: paddle.broadcast_to.

    Example:
        >>> import vitrify as paddle
        >>> paddle.broadcast_to(paddle.ones([3]), [2, 3]).shape
        paddle.Size([2, 3])
    """
    return expand_op(x, shape=as_ints("broadcast_to", shape, "shape"))


@aliased(x="input", y="other")
def expand_as(x: Any, y: Any, name: str | None = None, *, out: Any = None) -> Any:
    """x repeated to y's shape. Source: paddle.expand_as.

    Example:
        >>> import vitrify as paddle
        >>> paddle.expand_as(paddle.ones([3]), paddle.ones([2, 3])).shape
        paddle.Size([2, 3])
    """
    rank_of("expand_as", y, "y")
    shape = tuple(y.shape)
    result = expand_like_op(x, y) if UNKNOWN in shape else expand_op(x, shape=shape)
    return finish("expand_as", result, out)


def broadcast_shapes(*shapes: Sequence[int]) -> list[int]:
    """The shape that tensors of these shapes broadcast to. Source: paddle.broadcast_shapes.

    Example:
        >>> import vitrify as paddle
        >>> paddle.broadcast_shapes([2, 1], [3])
        [2, 3]
    """
    names = [f"shape {i}" for i in range(len(shapes))]
    return list(common_shape("broadcast_shapes", [tuple(s) for s in shapes], names))


def broadcast_shape(x_shape: Sequence[int], y_shape: Sequence[int]) -> list[int]:
    """The shape that two tensors of these shapes broadcast to. Source: paddle.broadcast_shape.

    A size that only a run knows may meet a 1 or no other size: UnknownValueError else. Raises ShapeError for sizes that
    do not broadcast.

    Example:
        >>> import vitrify as paddle
        >>> paddle.broadcast_shape([2, 1], [3])
        [2, 3]
    """
    if not any(is_tensor(size) for size in (*x_shape, *y_shape)):
        return broadcast_shapes(x_shape, y_shape)
    rank = max(len(x_shape), len(y_shape))
    pairs = zip(*([1] * (rank - len(shape)) + list(shape) for shape in (x_shape, y_shape)))
    return [_open_size(a, b) for a, b in pairs]


def _open_size(a: Any, b: Any) -> Any:
    """The size that two broadcast to, each a number or a tensor."""
    if not is_tensor(a) and not is_tensor(b):
        return broadcast_shapes([a], [b])[0]
    numbers = [size for size in (a, b) if not is_tensor(size)]
    if numbers != [1]:
        raise UnknownValueError("broadcast_shape: only a run knows whether two sizes broadcast", hint="expand tensors")
    return a if is_tensor(a) else b


def _broadcast_meta(*xs: Meta) -> tuple[Meta, ...]:
    shape = common_shape("broadcast_tensors", [x.shape for x in xs], [f"input {i}" for i in range(len(xs))])
    return tuple(x.with_shape(shape) for x in xs)


broadcast_tensors_op = define_op(
    "broadcast_tensors",
    kernel=lambda xp, *xs: tuple(x.copy() for x in xp.broadcast_arrays(*xs)),
    meta=_broadcast_meta,
    vjp=lambda cts, *, xs_like: {"xs": [sum_to_like(ct, x) for ct, x in zip(cts, xs_like)]},
    outputs=VARIADIC_OUTPUTS,
    maps={"paddle": "broadcast_tensors"},
    native=broadcast_form,
)


def broadcast_tensors(input: Sequence[Any], name: str | None = None) -> list[Any]:
    """The tensors, each repeated to their common shape. Source: paddle.broadcast_tensors.

    Example:
        >>> import vitrify as paddle
        >>> [t.shape for t in paddle.broadcast_tensors([paddle.ones([2, 1]), paddle.ones([3])])]
        [paddle.Size([2, 3]), paddle.Size([2, 3])]
    """
    return list(broadcast_tensors_op(*input))


# -- tile ------------------------------------------------------------------------------------------------------------


def _aligned(shape: Shape, times: Sequence[Any]) -> tuple[Shape, tuple[Any, ...]]:
    """Sizes and repeats, with ones put in front of the shorter."""
    ndim = max(len(shape), len(times))
    return (1,) * (ndim - len(shape)) + tuple(shape), (1,) * (ndim - len(times)) + tuple(times)


def _tile_meta(x: Meta, *, repeat_times: Any) -> Meta:
    sizes, times = _aligned(x.shape, entries(repeat_times))
    if any(isinstance(t, int) and t < 0 for t in times):
        raise ArgumentError(f"tile: repeat_times must be >= 0, got {list(entries(repeat_times))}")
    return x.with_shape([s * t if isinstance(t, int) and s != UNKNOWN else UNKNOWN for s, t in zip(sizes, times)])


def _sum_tiles_kernel(xp: Any, x: Any, like: Any, *, repeat_times: Any) -> Any:
    sizes, times = _aligned(like.shape, entries(repeat_times))
    pairs = [n for pair in zip(times, sizes) for n in pair]
    summed = x.reshape(pairs).sum(axis=tuple(range(0, len(pairs), 2)), dtype=x.dtype)
    return xp.asarray(summed).reshape(like.shape)


def _tile_native(n: Any, x: Any, *, repeat_times: Any) -> Any:
    sizes, times = _aligned(x.shape, entries(repeat_times))
    apart = [part for size in sizes for part in (1, size)]
    wide = [part for pair in zip(times, sizes) for part in pair]
    spread = n.view(lambda a: np.broadcast_to(a.reshape(apart), wide), x)
    return n.reshape(n.copy(spread), [t * size for t, size in zip(times, sizes)])


tile_op: OpDef = define_op(
    "tile",
    kernel=lambda xp, x, *, repeat_times: xp.array(xp.tile(x, entries(repeat_times))),
    meta=_tile_meta,
    vjp={"x": lambda ct, *, x_like, repeat_times: sum_tiles_op(ct, x_like, repeat_times=repeat_times)},
    dynamic=("repeat_times",),
    maps={"onnx": "Tile", "paddle": "tile"},
    native=_tile_native,
)
sum_tiles_op: OpDef = define_op(
    "sum_tiles",
    kernel=_sum_tiles_kernel,
    meta=lambda x, like, *, repeat_times: x.with_shape(like.shape),
    vjp={"x": lambda ct, *, repeat_times: tile_op(ct, repeat_times=repeat_times)},
    dynamic=("repeat_times",),
    shape_only=["like"],
)


@aliased(x="input", repeat_times="dims")
def tile(x: Any, repeat_times: Any, name: str | None = None) -> Any:
    """x repeated as a whole, `repeat_times` along each dimension. Source: paddle.tile.

    x: any dtype, which the result has, too; of x and repeat_times the shorter one begins with ones. Raises
    ArgumentError for negative times.

    Example:
        >>> import vitrify as paddle
        >>> paddle.tile(paddle.to_tensor([1, 2]), [2, 2]).tolist()
        [[1, 2, 1, 2], [1, 2, 1, 2]]
    """
    return tile_op(x, repeat_times=as_ints("tile", repeat_times, "repeat_times"))


# -- repeat_interleave -----------------------------------------------------------------------------------------------


def _repeat_meta(x: Meta, repeats: Meta | None, *, times: Any, axis: int) -> Meta:
    if repeats is not None and repeats.dtype.is_complex:
        raise DTypeError(f"repeat_interleave: repeats is {repeats}, expected integers")
    size = x.shape[axis]
    out = UNKNOWN
    if repeats is not None:
        if repeats.ndim != 1 or (UNKNOWN not in (size, repeats.shape[0]) and repeats.shape[0] != size):
            raise ShapeError(f"repeat_interleave: repeats {repeats} must hold one count for each of the {size} slices")
    elif isinstance(times, int):
        if times < 0:
            raise ArgumentError(f"repeat_interleave: repeats must be >= 0, got {times}")
        out = UNKNOWN if size == UNKNOWN else size * times
    return x.with_shape((*x.shape[:axis], out, *x.shape[axis + 1 :]))


def _repeat_index(xp: Any, size: int, repeats: Any, times: Any) -> Any:
    """Which slice of x each slice of the output is."""
    counts = [times] * size if repeats is None else repeats.tolist()
    if min(counts, default=0) >= 0:
        need_reach("repeat_interleave", Meta((sum(counts),), int64))
    return xp.repeat(xp.arange(size), times if repeats is None else counts)


def _check_times(times: Any) -> None:
    if isinstance(times, int) and times < 1:
        raise ArgumentError(f"repeat_interleave: repeats must be at least 1, got {times}")


def _repeat_kernel(xp: Any, x: Any, repeats: Any, *, times: Any, axis: int) -> Any:
    _check_times(times)
    return x.take(_repeat_index(xp, x.shape[axis], repeats, times), axis=axis)


def _repeat_native(n: Any, x: Any, repeats: Any, *, times: Any, axis: int) -> Any:
    if repeats is not None or not isinstance(times, int):
        n.refuse("counts that only the run knows have no native form")
    before, size, after = x.shape[:axis], x.shape[axis], x.shape[axis + 1 :]
    apart = n.reshape(x, (*before, size, 1, *after))
    spread = n.view(lambda a: np.broadcast_to(a, (*before, size, times, *after)), apart)
    return n.reshape(n.copy(spread), (*before, size * times, *after))


def _sum_repeats_kernel(xp: Any, x: Any, like: Any, repeats: Any, *, times: Any, axis: int) -> Any:
    out = xp.zeros(like.shape, x.dtype)
    add_along(xp, out, _repeat_index(xp, like.shape[axis], repeats, times), x, axis)
    return out


def _sum_repeats_native(n: Any, x: Any, like: Any, repeats: Any, *, times: Any, axis: int) -> Any:
    if repeats is not None or not isinstance(times, int):
        n.refuse("counts that only the run knows have no native form")
    apart = n.reshape(x, (*like.shape[: axis + 1], times, *like.shape[axis + 1 :]))
    return sum_form(n, apart, axis=(axis + 1,), keepdim=False)


repeat_interleave_op: OpDef = define_op(
    "repeat_interleave",
    kernel=_repeat_kernel,
    meta=_repeat_meta,
    vjp={"x": lambda ct, *, x_like, repeats, times, axis: sum_repeats_op(ct, x_like, repeats, times=times, axis=axis)},
    dynamic=("times",),
    maps={"paddle": "repeat_interleave"},
    native=_repeat_native,
)
sum_repeats_op: OpDef = define_op(
    "sum_repeats",
    kernel=_sum_repeats_kernel,
    meta=lambda x, like, repeats, *, times, axis: x.with_shape(like.shape),
    vjp={"x": lambda ct, *, repeats, times, axis: repeat_interleave_op(ct, repeats, times=times, axis=axis)},
    dynamic=("times",),
    shape_only=["like"],
    native=_sum_repeats_native,
)


@aliased(x="input", axis="dim")
def repeat_interleave(
    x: Any, repeats: Any, axis: int | None = None, name: str | None = None, *, output_size: int | None = None
) -> Any:
    """x with each slice along `axis` repeated in place: `repeats` times, or as often as a 1-D tensor says for each.

    Without an axis x is flattened first. Raises ShapeError when repeats has another length than the dimension.
    Source: paddle.repeat_interleave.

    Example:
        >>> import vitrify as paddle
        >>> paddle.repeat_interleave(paddle.to_tensor([1, 2, 3]), 2).tolist()
        [1, 1, 2, 2, 3, 3]
    """
    if axis is None or x.ndim == 0:
        x, axis = flatten(x), 0
    at = normalize_axis("repeat_interleave", axis, x.ndim)
    if is_tensor(repeats) and repeats.ndim == 1:
        return repeat_interleave_op(x, repeats, times=None, axis=at)
    times = as_int("repeat_interleave", repeats, "repeats")
    _check_times(times)
    return repeat_interleave_op(x, None, times=times, axis=at)


def _repeat(input: Any, *sizes: Any, repeats: Any = None) -> Any:
    """`input` repeated as a whole, by numbers for each dimension or one list of them. Source: paddle.Tensor.repeat.

    Example:
        >>> import vitrify as paddle
        >>> paddle.to_tensor([1, 2]).repeat(2, 2).tolist()
        [[1, 2, 1, 2], [1, 2, 1, 2]]
    """
    if repeats is not None:
        sizes = (repeats,)
    one = len(sizes) == 1 and (is_tensor(sizes[0]) or isinstance(sizes[0], (list, tuple)))
    return tile(input, sizes[0] if one else list(sizes))


METHODS = {
    "expand": expand,
    "broadcast_to": broadcast_to,
    "expand_as": expand_as,
    "tile": tile,
    "repeat": _repeat,
    "repeat_interleave": repeat_interleave,
    "broadcast_tensors": broadcast_tensors,
    "broadcast_shape": broadcast_shape,
    "broadcast_shapes": broadcast_shapes,
}
__all__ = [
    "broadcast_shape",
    "broadcast_shapes",
    "broadcast_tensors",
    "broadcast_to",
    "expand",
    "expand_as",
    "repeat_interleave",
    "tile",
]
