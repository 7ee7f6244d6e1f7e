"""put_along_axis and its relatives: writing along one axis with a choice of how equal places combine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from ..core.dtype import bool_
from ..core.errors import ArgumentError, DTypeError, ShapeError
from ..core.meta import UNKNOWN, Meta, Shape, normalize_axis
from .accumulate import add_at, put_at
from .arguments import is_tensor, rank_of
from .flat_index import Rows
from .gather import along_axis, along_axis_shape, take_along_axis_adjoint_op, take_along_axis_op
from .index_form import array_shape, is_mask, range_errors, spans
from .like import cast, ones_like, sum_to_like, zeros_like
from .order_forms import put_along_form
from .registry import NoGradient, OpDef, define_op, get_op
from .sizes import size_of

# name -> the value that leaves a combination unchanged, for places that must not count themselves
NEUTRAL: dict[str, Any] = {
    "assign": lambda dtype: 0,
    "add": lambda dtype: 0,
    "mean": lambda dtype: 0,
    "mul": lambda dtype: 1,
    "amin": lambda dtype: dtype.type(np.inf) if dtype.kind in "fV" else np.iinfo(dtype).max,
    "amax": lambda dtype: dtype.type(-np.inf) if dtype.kind in "fV" else np.iinfo(dtype).min,
}
# each function's words for them
PUT_WORDS = {**{name: name for name in NEUTRAL}, "multiply": "mul"}
SCATTER_WORDS = {"sum": "add", "prod": "mul", "mean": "mean", "amin": "amin", "amax": "amax"}


def _combine(xp: Any, out: Any, where: Any, values: Any, reduce: str) -> None:
    if reduce == "assign":
        put_at(xp, out, where, xp.broadcast_to(values, xp.broadcast(*where).shape) if where else values)
    elif reduce in ("add", "mean"):
        add_at(xp, out, where, values)
    else:
        {"mul": xp.multiply, "amin": xp.minimum, "amax": xp.maximum}[reduce].at(out, where, values)


def _kernel(
    xp: Any, x: Any, index: Any, values: Any, *, axis: int, reduce: str, include_self: bool, broadcast: bool
) -> Any:
    out = x.copy()
    with range_errors("put_along_axis"):
        where = along_axis(xp, x, index, axis, broadcast)
        if not include_self:
            out[where] = NEUTRAL[reduce](x.dtype)
        _combine(xp, out, where, values, reduce)
        if reduce == "mean":
            return _divided(xp, out, where, include_self)
    return out


def _divided(xp: Any, out: Any, where: Any, include_self: bool) -> Any:
    counts = xp.zeros(out.shape, xp.int64)
    xp.add.at(counts, where, 1)
    counts = xp.maximum(counts + 1 if include_self else counts, 1)
    return (out // counts if out.dtype.kind in "iu" else out / counts.astype(out.dtype)).astype(out.dtype)


def _meta(x: Meta, index: Meta, values: Meta, *, axis: int, reduce: str, include_self: bool, broadcast: bool) -> Meta:
    shape = along_axis_shape("put_along_axis", x, index, axis, broadcast)
    if values.dtype is not x.dtype:
        raise DTypeError(f"put_along_axis: arr is {x}, values is {values}: dtypes differ")
    if any(v not in (1, s) and UNKNOWN not in (v, s) for v, s in zip(values.shape, shape)):
        raise ShapeError(f"put_along_axis: values {values} do not fit indices {index}")
    return x


# -- gradients: `how` holds axis and broadcast -----------------------------------------------------------------------


def _places(ct: Any, index: Any, how: dict[str, Any]) -> Any:
    return take_along_axis_op(ct, index, **how)


def _hits(values: Any, like: Any, index: Any, how: dict[str, Any]) -> Any:
    """`values` added up at their places in a tensor of like's shape."""
    return take_along_axis_adjoint_op(values, like, index, **how)


def _without_places(ct: Any, index: Any, how: dict[str, Any]) -> Any:
    return put_along_axis_op(ct, index, zeros_like(_places(ct, index, how)), reduce="assign", include_self=True, **how)


def _writers_kernel(xp: Any, index: Any, like: Any, *, axis: int, broadcast: bool) -> Any:
    where = along_axis(xp, like, index, axis, broadcast)
    shape = xp.broadcast(*where).shape
    numbers = xp.arange(math.prod(shape)).reshape(shape)
    last = xp.zeros(like.shape, numbers.dtype)
    put_at(xp, last, where, numbers)
    return last[where] == numbers


last_writers_op = define_op(
    "last_writers",
    kernel=_writers_kernel,
    meta=lambda index, like, *, axis, broadcast: Meta(
        along_axis_shape("put_along_axis", like, index, axis, broadcast), bool_
    ),
    vjp=NoGradient("places are integers"),
    shape_only=["like"],
)


def _linear_vjp(
    ct: Any, *, index: Any, values_like: Any, axis: int, reduce: str, include_self: bool, broadcast: bool
) -> dict[str, Any]:
    how = {"axis": axis, "broadcast": broadcast}
    if reduce == "mean":
        hits = _hits(ones_like(_places(ct, index, how)), ct, index, how)
        ct = ct / (hits + 1 if include_self else get_op("maximum")(hits, ones_like(hits)))
    keeps_self = reduce != "assign" and include_self
    to_values = _places(ct, index, how)
    if reduce == "assign":  # of several values for one place only the last stays
        to_values = to_values * cast(last_writers_op(index, ct, **how), ct.dtype)
    return {
        "x": ct if keeps_self else _without_places(ct, index, how),
        "values": sum_to_like(to_values, values_like),
    }


def _chosen_vjp(
    ct: Any, *, x: Any, index: Any, values: Any, out: Any, axis: int, reduce: str, include_self: bool, broadcast: bool
) -> dict[str, Any]:
    how = {"axis": axis, "broadcast": broadcast}
    if reduce == "mul":
        whole = ct * out
        to_x, to_values = whole / x, _places(whole, index, how) / values
    else:  # everything that equals the result gets an equal share
        at_value = cast(get_op("equal")(values, _places(out, index, how)), ct.dtype)
        at_self = cast(get_op("equal")(x, out), ct.dtype)
        at_self = at_self if include_self else _without_places(at_self, index, how)
        shared = ct / (at_self + _hits(at_value, ct, index, how))
        to_x, to_values = shared * at_self, _places(shared, index, how) * at_value
    kept = to_x if include_self or reduce != "mul" else _without_places(ct, index, how)
    return {"x": kept, "values": sum_to_like(to_values, values)}


put_along_axis_op: OpDef = define_op(
    "put_along_axis",
    kernel=_kernel,
    meta=_meta,
    vjp=_linear_vjp,
    native=put_along_form,
    maps={"onnx": "ScatterElements", "paddle": "put_along_axis"},
)
# mul, amin and amax: their gradients need the values.
put_chosen_op: OpDef = define_op("put_along_axis_chosen", kernel=_kernel, meta=_meta, vjp=_chosen_vjp)


def _put(
    op: str, arr: Any, indices: Any, values: Any, axis: int, reduce: str, include_self: bool, broadcast: bool
) -> Any:
    rank_of(op, arr, "arr")
    rank_of(op, indices, "indices")
    if not is_tensor(values):
        values = get_op("full")(shape=(1,) * arr.ndim, fill_value=values, dtype=arr.dtype)
    elif not broadcast and values.ndim == indices.ndim:
        values = _cut(values, indices)
    chosen = put_along_axis_op if reduce in ("assign", "add", "mean") else put_chosen_op
    at = normalize_axis(op, axis, arr.ndim)
    how = {"axis": at, "reduce": reduce, "include_self": bool(include_self), "broadcast": bool(broadcast)}
    return chosen(arr, indices, values, **how)


def _combination(op: str, words: dict[str, str], reduce: str) -> str:
    if reduce not in words:
        raise ArgumentError(f"{op}: reduce must be one of {list(words)}, got {reduce!r}")
    return words[reduce]


def _cut(values: Any, indices: Any) -> Any:
    """`values` without what reaches beyond the places of `indices`."""
    longer = [UNKNOWN in (v, i) or v > i for v, i in zip(values.shape, indices.shape)]
    if not any(longer):
        return values
    return values[tuple(slice(None, size_of(indices, d)) if cut else slice(None) for d, cut in enumerate(longer))]


def put_along_axis(
    arr: Any, indices: Any, values: Any, axis: int, reduce: str = "assign", include_self: bool = True,
    broadcast: bool = True,
) -> Any:  # fmt: skip
    """A copy of arr with `values` put at the places that `indices` names along `axis`.

    reduce: "assign", "add", "mul" (or "multiply"), "mean", "amin", "amax" says how values for one place, and with
    include_self the old element there, combine. arr, indices: equal rank; values: a number, or a tensor of arr's
    dtype in indices' shape. Source: paddle.put_along_axis.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([[10, 30, 20], [60, 40, 50]])
        >>> paddle.put_along_axis(x, paddle.to_tensor([[0]]), 99, axis=1).tolist()
        [[99, 30, 20], [99, 40, 50]]
    """
    how = _combination("put_along_axis", PUT_WORDS, reduce)
    return _put("put_along_axis", arr, indices, values, axis, how, include_self, broadcast)


def scatter_add(input: Any, dim: int, index: Any, src: Any) -> Any:
    """A copy of input with `src` added at the places that `index` names along `dim`. Source: paddle.scatter_add.

    Example:
        >>> import vitrify as paddle
        >>> paddle.scatter_add(paddle.zeros([3]), 0, paddle.to_tensor([1, 1]), paddle.ones([2])).tolist()
        [0.0, 2.0, 0.0]
    """
    return _put("scatter_add", input, index, src, dim, "add", True, False)


def scatter_reduce(input: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True) -> Any:
    """`scatter_add` with another combination: "sum", "prod", "mean", "amin" or "amax". Source: paddle.scatter_reduce.

    Example:
        >>> import vitrify as paddle
        >>> places, x = paddle.to_tensor([1, 1]), paddle.to_tensor([3.0, 4.0])
        >>> paddle.scatter_reduce(paddle.ones([2]), 0, places, x, "prod").tolist()
        [1.0, 12.0]
    """
    how = _combination("scatter_reduce", SCATTER_WORDS, reduce)
    return _put("scatter_reduce", input, index, src, dim, how, include_self, False)


# -- which places of an index name their element first: those behind them have nothing of the gradient of x[i] = v -----


def _firsts_kernel(xp: Any, like: Any, *indices: Any, axes: Shape) -> Any:
    places = [part for v in indices for part in (xp.nonzero(v) if is_mask(v) else (v,))]
    where = tuple(xp.broadcast_arrays(*places))
    numbers = xp.arange(where[0].size).reshape(where[0].shape)
    taken, _ = spans(indices, axes)
    first = xp.empty([like.shape[d] for d in taken], numbers.dtype)
    # Backwards: of several numbers for one element the last that is written stays.
    put_at(xp, first, [v.ravel()[::-1] for v in where], numbers.ravel()[::-1])
    found = first[where] == numbers
    return found.reshape(found.shape + (1,) * _behind(like, indices, axes))


def _behind(like: Any, indices: Sequence[Any], axes: Shape) -> int:
    """How many dimensions of like[indices] stand behind those of the indices."""
    taken, adjacent = spans(indices, axes)
    return len(like.shape) - len(taken) - (taken[0] if adjacent else 0)


def _firsts_meta(like: Meta, *indices: Meta, axes: Shape) -> Meta:
    taken, _ = spans(indices, axes)
    own = like.with_shape(tuple(like.shape[d] for d in taken))
    packed = tuple(accumulate((v.ndim if is_mask(v) else 1 for v in indices[:-1]), initial=0))
    shape = array_shape("setitem", own, indices, packed)
    return Meta((*shape, *(1,) * _behind(like, indices, axes)), bool_)


def _firsts_native(n: Any, like: Any, *indices: Any, axes: Shape) -> Any:
    rows = Rows(n, like, indices, axes)
    count = math.prod(rows.shape)
    places, numbers = n.reshape(n.contiguous(rows.places), (count,)), n.constant(np.arange(count))
    first = n.copy(n.full((math.prod(rows.sizes),), 0, numbers.dtype))
    n.put_rows(first, *(n.copy(n.view(lambda a: a[::-1], v)) for v in (places, numbers)))
    found = n.apply(get_op("equal"), n.take(first, places, 0, wraps=True), numbers)
    return n.reshape(found, (*rows.shape, *(1,) * _behind(like, indices, axes)))


first_places_op: OpDef = define_op(
    "first_places",
    kernel=_firsts_kernel,
    meta=_firsts_meta,
    vjp=NoGradient("whether a place was named before is no number"),
    native=_firsts_native,
    shape_only=["like"],
)


METHODS = {"put_along_axis": put_along_axis, "scatter_add": scatter_add, "scatter_reduce": scatter_reduce}
INPLACE = ("put_along_axis", "scatter_add")
__all__ = ["put_along_axis", "scatter_add", "scatter_reduce"]
