"""Ops that read elements at places given by integer tensors: gather, index_select, take_along_axis, gather_nd."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.alias import aliased, dim_first
from ..core.errors import ArgumentError, DTypeError, ShapeError
from ..core.meta import UNKNOWN, Meta, Shape, broadcast_dim, normalize_axis
from .accumulate import add_along, add_at
from .arguments import finish, is_open_axis, rank_of, static_int
from .flat_index import taken_at
from .index_form import range_errors
from .like import detach_op, zeros_like
from .moving_axis import at_axis, to_front
from .order_forms import take_along_adjoint_form, take_along_form
from .registry import OpDef, define_op, get_op
from .same_sizes import same_sizes
from .shape import flatten, reshape, squeeze_op
from .sizes import dim_size, numel


def need_integers(op: str, index: Meta, name: str = "index") -> None:
    """Raise DTypeError unless `index` holds integers."""
    if not index.dtype.is_integer:
        raise DTypeError(f"{op}: {name} is {index}, expected integers")


# -- gather ----------------------------------------------------------------------------------------------------------


def _gather_kernel(xp: Any, x: Any, index: Any, *, axis: int) -> Any:
    with range_errors("gather"):
        return xp.asarray(x.take(index, axis=axis))


def _gather_meta(x: Meta, index: Meta, *, axis: int) -> Meta:
    need_integers("gather", index)
    return x.with_shape((*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]))


def _gather_adjoint_kernel(xp: Any, x: Any, like: Any, index: Any, *, axis: int) -> Any:
    out = xp.zeros(like.shape, x.dtype)
    rows = x.reshape((*like.shape[:axis], index.size, *like.shape[axis + 1 :]))
    add_along(xp, out, index.reshape(-1), rows, axis)
    return out


gather_op: OpDef = define_op(
    "gather",
    kernel=_gather_kernel,
    meta=_gather_meta,
    vjp={"x": lambda ct, *, x_like, index, axis: gather_adjoint_op(ct, x_like, index, axis=axis)},
    maps={"onnx": "Gather", "paddle": "gather"},
    native=lambda n, x, index, *, axis: n.take(x, index, axis, wraps=True),
)
gather_adjoint_op: OpDef = define_op(
    "gather_adjoint",
    kernel=_gather_adjoint_kernel,
    meta=lambda x, like, index, *, axis: x.with_shape(like.shape),
    vjp={"x": lambda ct, *, index, axis: gather_op(ct, index, axis=axis)},
    native=lambda n, x, like, index, *, axis: n.add_rows(x, index, like.shape, axis, wraps=True),
    shape_only=["like"],
)


def _one_dimension(op: str, index: Any, scalar: bool) -> Any:
    """An index of shape [n], [n, 1] (and [] where `scalar`) without its column dimension."""
    if rank_of(op, index, "index") == 1 or (scalar and index.ndim == 0):
        return index
    if index.ndim == 2 and index.shape[1] in (1, UNKNOWN):
        return squeeze_op(index, axes=(1,))
    raise ShapeError(f"{op}: index must have one dimension (or a second one of size 1), got {list(index.shape)}")


def _gather_along(input: Any, dim: int, index: Any, *, out: Any = None) -> Any:
    return take_along_axis(input, index, dim, broadcast=False, out=out)


_gather_along.__qualname__ = "gather"  # which Python names where an argument is missing


@dim_first(_gather_along)
def gather(x: Any, index: Any, axis: Any = None, name: str | None = None, out: Any = None) -> Any:
    """The slices of x at `index` along `axis` (0 by default).

    x: [..., n, ...], index: [k] or [] of integers, negative ones counting from the end -> [..., k, ...] (a 0-D index
    takes the dimension away). `gather(input, dim, index)` is `take_along_axis(input, index, dim, broadcast=False)`.
    Raises IndexRangeError outside [-n, n). Source: paddle.gather.

    Example:
        >>> import vitrify as paddle
        >>> paddle.gather(paddle.to_tensor([[1, 2], [3, 4], [5, 6]]), paddle.to_tensor([2, 0])).tolist()
        [[5, 6], [1, 2]]
    """
    if is_open_axis(axis) and index.ndim == 0:
        return finish("gather", gather_op(to_front(x, axis), index, axis=0), out)
    places = _one_dimension("gather", index, not is_open_axis(axis))
    start = 0 if axis is None else axis
    return finish("gather", at_axis("gather", [x], start, lambda xs, at: gather_op(*xs, places, axis=at)), out)


@aliased(x="input", axis="dim")
def index_select(x: Any, index: Any, axis: int = 0, name: str | None = None, *, out: Any = None) -> Any:
    """The slices of x at `index` along `axis`. Source: paddle.index_select.

    Example:
        >>> import vitrify as paddle
        >>> paddle.index_select(paddle.to_tensor([[1, 2, 3]]), paddle.to_tensor([2, 2]), axis=1).tolist()
        [[3, 3]]
    """
    at = normalize_axis("index_select", static_int("index_select", axis, "axis"), rank_of("index_select", x))
    return finish("index_select", gather_op(x, _one_dimension("index_select", index, False), axis=at), out)


def take(x: Any, index: Any, mode: str = "raise", name: str | None = None) -> Any:
    """The elements of x, seen as one row, at `index`; of index's shape.

    mode "wrap" counts round, "clip" stays at the ends (no negative indices then), "raise" raises IndexRangeError.
    Source: paddle.take.

    Example:
        >>> import vitrify as paddle
        >>> paddle.take(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([0, -1])).tolist()
        [1, 4]
    """
    if mode not in _INDEX_MODES:
        raise ArgumentError(f"take: mode must be one of {list(_INDEX_MODES)}, got {mode!r}")
    return gather_op(flatten(x), _INDEX_MODES[mode](index, x), axis=0)


_INDEX_MODES = {
    "raise": lambda index, x: index,
    "wrap": lambda index, x: index % numel(x),
    "clip": lambda index, x: get_op("minimum")(get_op("maximum")(index, 0), numel(x) - 1),
}


# -- take_along_axis -------------------------------------------------------------------------------------------------


def along_axis(xp: Any, x: Any, index: Any, axis: int, broadcast: bool) -> tuple[Any, ...]:
    """The NumPy index of x[..., index[...], ...]: `index` at `axis`, every other dimension's own places elsewhere."""
    grid = []
    for d in range(x.ndim):
        size = x.shape[d] if broadcast else index.shape[d]
        grid.append(index if d == axis else xp.arange(size).reshape((size,) + (1,) * (x.ndim - 1 - d)))
    return tuple(grid)


def along_axis_shape(op: str, x: Meta, index: Meta, axis: int, broadcast: bool) -> Shape:
    """The shape of `take_along_axis`; raises ShapeError when x and index don't fit outside `axis`."""
    need_integers(op, index, "indices")
    if x.ndim != index.ndim:
        raise ShapeError(f"{op}: arr {x} and indices {index} differ in rank")
    out = list(index.shape)
    for d, (size, taken) in enumerate(zip(x.shape, index.shape)):
        fits = taken in (1, size, UNKNOWN) if broadcast else taken <= size
        if d != axis and UNKNOWN not in (size, taken) and not fits:
            raise ShapeError(f"{op}: indices {index} do not fit arr {x} in dimension {d}")
        if d != axis and broadcast:
            out[d] = broadcast_dim(size, taken) if UNKNOWN in (size, taken) else size
    return tuple(out)


def _take_along_kernel(xp: Any, x: Any, index: Any, *, axis: int, broadcast: bool) -> Any:
    with range_errors("take_along_axis"):
        return xp.asarray(x[along_axis(xp, x, index, axis, broadcast)])


def _take_along_adjoint_kernel(xp: Any, x: Any, like: Any, index: Any, *, axis: int, broadcast: bool) -> Any:
    out = xp.zeros(like.shape, x.dtype)
    add_at(xp, out, along_axis(xp, out, index, axis, broadcast), x)
    return out


take_along_axis_op: OpDef = define_op(
    "take_along_axis",
    kernel=_take_along_kernel,
    meta=lambda x, index, *, axis, broadcast: x.with_shape(
        along_axis_shape("take_along_axis", x, index, axis, broadcast)
    ),
    vjp={
        "x": lambda ct, *, x_like, index, axis, broadcast: take_along_axis_adjoint_op(
            ct, x_like, index, axis=axis, broadcast=broadcast
        )
    },
    maps={"onnx": "GatherElements", "paddle": "take_along_axis"},
    native=take_along_form,
    native_alone=True,
)
take_along_axis_adjoint_op: OpDef = define_op(
    "take_along_axis_adjoint",
    kernel=_take_along_adjoint_kernel,
    meta=lambda x, like, index, *, axis, broadcast: x.with_shape(like.shape),
    vjp={"x": lambda ct, *, index, axis, broadcast: take_along_axis_op(ct, index, axis=axis, broadcast=broadcast)},
    shape_only=["like"],
    native=take_along_adjoint_form,
)


@aliased(arr="input", axis="dim")
def take_along_axis(arr: Any, indices: Any, axis: int, broadcast: bool = True, *, out: Any = None) -> Any:
    """For each place the element of arr that `indices` names along `axis`.

    arr, indices: equal rank. With `broadcast`, a dimension of size 1 in indices is repeated to arr's; without it,
    indices may be smaller than arr, whose further elements are ignored. Raises IndexRangeError for an index outside.
    Source: paddle.take_along_axis.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([[1, 2, 3], [4, 5, 6]])
        >>> paddle.take_along_axis(x, paddle.to_tensor([[0], [2]]), axis=1).tolist()
        [[1], [6]]
    """
    rank_of("take_along_axis", arr, "arr")
    at = normalize_axis("take_along_axis", axis, arr.ndim)
    return finish("take_along_axis", take_along_axis_op(arr, indices, axis=at, broadcast=bool(broadcast)), out)


take_along_dim = take_along_axis


def index_sample(x: Any, index: Any) -> Any:
    """For each row of x the elements at that row's `index`.

    x: [n, m], index: [n, k] of integers -> [n, k]. Raises ShapeError when the numbers of rows differ.
    Source: paddle.index_sample.

    Example:
        >>> import vitrify as paddle
        >>> paddle.index_sample(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([[1], [0]])).tolist()
        [[2], [3]]
    """
    what = "index_sample: x and index must be matrices with equally many rows"
    if rank_of("index_sample", x) != 2 or rank_of("index_sample", index, "index") != 2:
        raise ShapeError(f"{what}: {list(x.shape)} and {list(index.shape)}")
    return take_along_axis_op(x, same_sizes(what, x, index, lead=1), axis=1, broadcast=False)


# -- gather_nd -------------------------------------------------------------------------------------------------------


def nd_index(index: Any) -> tuple[Any, ...]:
    """The last dimension of `index` as a tuple of arrays, one for each dimension they index."""
    return (*(index[..., i] for i in range(index.shape[-1])), Ellipsis)


def gather_nd_shape(op: str, x: Meta, index: Meta) -> Shape:
    """The shape of `gather_nd`; raises ShapeError when index names more dimensions than x has."""
    need_integers(op, index)
    depth = index.shape[-1] if index.shape else UNKNOWN
    if depth == UNKNOWN or depth > x.ndim:
        raise ShapeError(f"{op}: the last dimension of index {index} must name up to {x.ndim} dimensions of x {x}")
    return (*index.shape[:-1], *x.shape[depth:])


def _gather_nd_kernel(xp: Any, x: Any, index: Any) -> Any:
    with range_errors("gather_nd"):
        found = x[nd_index(index)] if index.shape[-1] else xp.broadcast_to(x, index.shape[:-1] + x.shape)
    return found if found.base is None else found.copy()


def _gather_nd_native(n: Any, x: Any, index: Any) -> Any:
    if not index.shape[-1]:
        return n.copy(n.view(lambda a: np.broadcast_to(a, index.shape[:-1] + x.shape), x))
    parts = [n.view(lambda a, i=i: a[..., i], index) for i in range(index.shape[-1])]
    return taken_at(n, x, parts, 0)


gather_nd_op = define_op(
    "gather_nd",
    kernel=_gather_nd_kernel,
    meta=lambda x, index: x.with_shape(gather_nd_shape("gather_nd", x, index)),
    vjp={"x": lambda ct, *, x_like, index: get_op("scatter_nd_add")(zeros_like(x_like, ct.dtype), index, ct)},
    maps={"onnx": "GatherND", "paddle": "gather_nd"},
    native=_gather_nd_native,
)


def gather_nd(x: Any, index: Any, name: str | None = None) -> Any:
    """The slices of x at the places that index's last dimension spells out.

    x: [*s], index: [*k, depth] of integers -> [*k, *s[depth:]]. Raises IndexRangeError for a place outside.
    Source: paddle.gather_nd.

    Example:
        >>> import vitrify as paddle
        >>> paddle.gather_nd(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([[0, 1], [1, 0]])).tolist()
        [2, 3]
    """
    return gather_nd_op(x, index)


def multiplex(inputs: Sequence[Any], index: Any, name: str | None = None) -> Any:
    """Row i of the output is row i of the input that index[i] names.

    inputs: list of [n, ...], index: [n, 1] of integers -> [n, ...]. Source: paddle.multiplex.

    Example:
        >>> import vitrify as paddle
        >>> a, b = paddle.to_tensor([[1], [2]]), paddle.to_tensor([[3], [4]])
        >>> paddle.multiplex([a, b], paddle.to_tensor([[1], [0]])).tolist()
        [[3], [2]]
    """
    rows = get_op("arange")(start=0, end=dim_size(index, 0), step=1, dtype=index.dtype)
    return get_op("stack")(*inputs, axis=0)[reshape(index, [-1]), rows]


def shard_index(input: Any, index_num: int, nshards: int, shard_id: int, ignore_value: int = -1) -> Any:
    """Each number of input counted within its shard where that is shard_id, ignore_value elsewhere.

    The numbers 0 to index_num - 1 are dealt out to nshards ranges of equal length. Source: paddle.shard_index.

    Example:
        >>> import vitrify as paddle
        >>> paddle.shard_index(paddle.to_tensor([[16], [1]]), 20, 2, 0).tolist()
        [[-1], [1]]
    """
    if not 0 <= shard_id < nshards:
        raise ArgumentError(f"shard_index: shard_id must be in [0, {nshards}), got {shard_id}")
    size = -(-index_num // nshards)
    first = shard_id * size
    input = detach_op(input)
    inside = get_op("logical_and")(input >= first, input < first + size)
    ignored = get_op("full_like")(input, fill_value=ignore_value, dtype=input.dtype)
    return get_op("where")(inside, input - first, ignored)


METHODS = {
    "gather": gather,
    "index_select": index_select,
    "take": take,
    "take_along_axis": take_along_axis,
    "take_along_dim": take_along_axis,
    "index_sample": index_sample,
    "gather_nd": gather_nd,
    "multiplex": multiplex,
    "shard_index": shard_index,
}
__all__ = [
    "gather",
    "gather_nd",
    "index_sample",
    "index_select",
    "multiplex",
    "shard_index",
    "take",
    "take_along_axis",
    "take_along_dim",
]
