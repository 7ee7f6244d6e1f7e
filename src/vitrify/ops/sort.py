"""Ops that order elements: sort, argsort, topk, kthvalue, mode."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core.alias import aliased
from ..core.dtype import int64
from ..core.errors import ArgumentError
from ..core.meta import UNKNOWN, Meta, known_dim, normalize_axis
from .accumulate import wide
from .arguments import as_int, finish, rank_of, static_int
from .gather import take_along_axis_adjoint_op
from .order_forms import first_form, sort_form, sort_values_form
from .registry import OpDef, define_op, get_op

# Full sorts beat partitions of short rows, and of few elements.
PARTITION_FROM = 64
PARTITION_FACTOR = 8
_FEW = 2048
STABLE_BY_TIES_FROM = 4096


def _order(xp: Any, x: Any, axis: int, descending: bool) -> Any:
    """Indices that sort x along `axis`, equal elements in their order; nan counts as the largest."""
    key = wide(xp, x)
    if not descending:
        return _stable(xp, key, axis)
    backwards = _stable(xp, xp.flip(key, axis), axis)
    return x.shape[axis] - 1 - xp.flip(backwards, axis)


def _stable(xp: Any, key: Any, axis: int) -> Any:
    """`argsort(kind="stable")`. NumPy's other sort is several times as fast on long rows; ties are put right here."""
    if xp is not np or key.dtype.itemsize < 4 or key.shape[axis] < STABLE_BY_TIES_FROM:
        return xp.argsort(key, axis=axis, kind="stable")
    rows = np.moveaxis(key, axis, -1)
    order = np.argsort(rows, axis=-1)
    ordered = np.take_along_axis(rows, order, -1)
    tied = ordered[..., 1:] == ordered[..., :-1]
    if key.dtype.kind in "fc":
        tied |= (ordered[..., 1:] != ordered[..., 1:]) & (ordered[..., :-1] != ordered[..., :-1])
    starts = np.ones(ordered.shape, bool)
    np.logical_not(tied, out=starts[..., 1:])
    within = ~starts  # the elements of groups of ties: those that go on with one, and those before them
    within[..., :-1] |= tied
    group = np.cumsum(starts, dtype=np.int64).reshape(starts.shape)[within]
    order[within] = np.sort(group * rows.shape[-1] + order[within]) % rows.shape[-1]
    return np.moveaxis(order, -1, axis)


def _along(xp: Any, x: Any, order: Any, axis: int) -> Any:
    return xp.take_along_axis(x, order, axis)


def _from_chosen(ct: Any, x_like: Any, indices: Any, axis: int, keepdim: bool = True) -> Any:
    """The cotangent of x when the output holds the elements of x at `indices`."""
    if not keepdim:
        ct, indices = (get_op("unsqueeze")(t, axes=(axis,)) for t in (ct, indices))
    return take_along_axis_adjoint_op(ct, x_like, indices, axis=axis, broadcast=False)


# -- sort ------------------------------------------------------------------------------------------------------------


def _sort_kernel(xp: Any, x: Any, *, axis: int, descending: bool) -> tuple[Any, Any]:
    if x.ndim == 0:
        return x.copy(), xp.zeros((), xp.int64)
    order = _order(xp, x, axis, descending)
    return _along(xp, x, order, axis), order


sort_op: OpDef = define_op(
    "sort",
    kernel=_sort_kernel,
    meta=lambda x, *, axis, descending: (x, x.with_dtype(int64)),
    vjp={"x": lambda cts, *, x_like, indices, axis: _from_chosen(cts[0], x_like, indices, axis)},
    outputs=("out", "indices"),
    maps={"paddle": "argsort"},
    native=sort_form,
)


def _values_kernel(xp: Any, x: Any, *, axis: int, descending: bool) -> Any:
    if x.ndim == 0:
        return x.copy()
    ordered = xp.sort(wide(xp, x), axis=axis).astype(x.dtype, copy=False)
    return xp.ascontiguousarray(xp.flip(ordered, axis)) if descending else ordered


def _values_vjp(ct: Any, *, x: Any, axis: int, descending: bool) -> Any:
    return _from_chosen(ct, x, sort_op(x, axis=axis, descending=descending)[1], axis)


# Without indices the values are sorted many times as fast; backward, where one is asked for, finds the indices itself.
sort_values_op: OpDef = define_op(
    "sort_values",
    kernel=_values_kernel,
    meta=lambda x, *, axis, descending: x,
    vjp={"x": _values_vjp},
    native=sort_values_form,
)


def sort(x: Any, axis: int = -1, descending: bool = False, stable: bool = False, name: str | None = None) -> Any:
    """The elements of x in order along `axis`; nan counts as the largest. Source: paddle.sort.

    Example:
        >>> import vitrify as paddle
        >>> paddle.sort(paddle.to_tensor([3, 1, 2]), descending=True).tolist()
        [3, 2, 1]
    """
    return sort_values_op(x, axis=normalize_axis("sort", axis, rank_of("sort", x)), descending=bool(descending))


@aliased(x="input", axis="dim")
def argsort(x: Any, axis: int = -1, descending: bool = False, stable: bool = False, name: str | None = None) -> Any:
    """The indices (int64) that sort x along `axis`; equal elements stay in their order. Source: paddle.argsort.

    Example:
        >>> import vitrify as paddle
        >>> paddle.argsort(paddle.to_tensor([3, 1, 2])).tolist()
        [1, 2, 0]
    """
    return sort_op(x, axis=normalize_axis("argsort", axis, rank_of("argsort", x)), descending=bool(descending))[1]


def msort(input: Any, *, out: Any = None) -> Any:
    """input sorted along its first dimension. Source: paddle.msort.

    Example:
        >>> import vitrify as paddle
        >>> paddle.msort(paddle.to_tensor([[3, 1], [2, 5]])).tolist()
        [[2, 1], [3, 5]]
    """
    return finish("msort", sort(input, axis=0), out)


# -- topk ------------------------------------------------------------------------------------------------------------


def _candidates(xp: Any, x: Any, k: int, axis: int, largest: bool) -> Any:
    """The indices of the k first elements, ascending, by a partition; of equal elements those that come first.

    None where the last of them is nan, which compares with nothing.
    """
    key, size = wide(xp, x), x.shape[axis]
    at = size - k if largest else k - 1
    last = xp.take(xp.partition(key, at, axis=axis), xp.asarray([at]), axis=axis)
    if (last != last).any():
        return None
    chosen = ~(key < last) if largest else key <= last
    if (chosen.sum(axis) > k).any():
        tied = key == last
        chosen &= ~tied
        chosen |= tied & (xp.cumsum(tied, axis) <= k - chosen.sum(axis, keepdims=True))
    rows = xp.moveaxis(chosen, axis, -1)
    return xp.moveaxis(xp.nonzero(rows)[-1].reshape(*rows.shape[:-1], k), -1, axis)


def _check_k(k: Any) -> None:
    if isinstance(k, int) and k < 1:
        raise ArgumentError(f"topk: k must be at least 1, got {k}")


def _topk_kernel(xp: Any, x: Any, *, k: int, axis: int, largest: bool) -> tuple[Any, Any]:
    _check_k(k)
    if x.ndim == 0:
        return x.copy(), xp.zeros((), xp.int64)
    size = x.shape[axis]
    if k > size:
        raise ArgumentError(f"topk: k is {k}, the dimension has only {size} elements")
    pays = size >= PARTITION_FROM and k * PARTITION_FACTOR <= size and x.size >= _FEW
    found = _candidates(xp, x, k, axis, largest) if pays else None
    if found is None:
        order = _order(xp, x, axis, largest)[(*(slice(None),) * axis, slice(None, k))]
    else:
        order = _along(xp, found, _order(xp, _along(xp, x, found, axis), axis, largest), axis)
    return _along(xp, x, order, axis), xp.ascontiguousarray(order)


def _topk_meta(x: Meta, *, k: Any, axis: int, largest: bool) -> tuple[Meta, Meta]:
    wanted = known_dim(k)
    _check_k(k)
    if x.ndim and UNKNOWN not in (wanted, x.shape[axis]) and wanted > x.shape[axis]:
        raise ArgumentError(f"topk: k is {k}, dimension {axis} of x {x} has only {x.shape[axis]} elements")
    shape = (*x.shape[:axis], wanted, *x.shape[axis + 1 :]) if x.ndim else ()
    return Meta(shape, x.dtype), Meta(shape, int64)


topk_op: OpDef = define_op(
    "topk",
    kernel=_topk_kernel,
    meta=_topk_meta,
    vjp={"x": lambda cts, *, x_like, indices, axis: _from_chosen(cts[0], x_like, indices, axis)},
    outputs=("out", "indices"),
    dynamic=("k",),
    maps={"onnx": "TopK", "paddle": "top_k_v2"},
    native=first_form,
)


class TopKRetType(NamedTuple):
    """What `topk` returns: the elements and where they were."""

    values: Any
    indices: Any


@aliased(x="input", axis="dim")
def topk(
    x: Any, k: Any, axis: int | None = None, largest: bool = True, sorted: bool = True, name: str | None = None,
    *, out: Any = None,
) -> Any:  # fmt: skip
    """The k largest (or smallest) elements along `axis` (the last by default), in order, and their indices.

    k may be an integer tensor. Raises ArgumentError when it exceeds the dimension. Source: paddle.topk.

    Example:
        >>> import vitrify as paddle
        >>> values, indices = paddle.topk(paddle.to_tensor([1, 9, 5]), k=2)
        >>> values.tolist(), indices.tolist()
        ([9, 5], [1, 2])
    """
    at = normalize_axis("topk", -1 if axis is None else axis, rank_of("topk", x))
    found = topk_op(x, k=as_int("topk", k, "k"), axis=at, largest=bool(largest))
    targets = (None, None) if out is None else out
    return TopKRetType(*(finish("topk", value, target) for value, target in zip(found, targets)))


# -- kthvalue, mode --------------------------------------------------------------------------------------------------


def _picked_meta(x: Meta, axis: int, keepdim: bool) -> tuple[Meta, Meta]:
    middle = (1,) if keepdim else ()
    shape = (*x.shape[:axis], *middle, *x.shape[axis + 1 :]) if x.ndim else ()
    return Meta(shape, x.dtype), Meta(shape, int64)


def _picked(xp: Any, x: Any, indices: Any, axis: int, keepdim: bool) -> tuple[Any, Any]:
    """The elements of x at `indices` (of size 1 along `axis`), and the indices."""
    values = _along(xp, x, indices, axis)
    if keepdim:
        return values, indices
    return xp.squeeze(values, axis).copy(), xp.squeeze(indices, axis).copy()


def _kth_kernel(xp: Any, x: Any, *, k: int, axis: int, keepdim: bool) -> tuple[Any, Any]:
    if x.ndim == 0:
        return x.copy(), xp.zeros((), xp.int64)
    order = _order(xp, x, axis, False)
    return _picked(xp, x, order[(*(slice(None),) * axis, slice(k - 1, k))], axis, keepdim)


def _kth_meta(x: Meta, *, k: int, axis: int, keepdim: bool) -> tuple[Meta, Meta]:
    size = x.shape[axis] if x.ndim else 1
    if k < 1 or (size != UNKNOWN and k > size):
        raise ArgumentError(f"kthvalue: k must be in [1, {size}] for dimension {axis} of x {x}, got {k}")
    return _picked_meta(x, axis, keepdim)


PICKED_VJP = {
    "x": lambda cts, *, x_like, indices, axis, keepdim: _from_chosen(
        cts[0], x_like, indices, axis, keepdim or not x_like.shape
    )
}
kthvalue_op = define_op(
    "kthvalue",
    kernel=_kth_kernel,
    meta=_kth_meta,
    vjp=PICKED_VJP,
    outputs=("out", "indices"),
    maps={"paddle": "kthvalue"},
)


def kthvalue(
    x: Any, k: int, axis: int | None = None, keepdim: bool = False, name: str | None = None
) -> tuple[Any, Any]:
    """The k-th smallest element (k from 1) along `axis`, the last by default, and its index. Source: paddle.kthvalue.

    Example:
        >>> import vitrify as paddle
        >>> value, index = paddle.kthvalue(paddle.to_tensor([4, 1, 3]), 2)
        >>> value.item(), index.item()
        (3, 2)
    """
    at = normalize_axis("kthvalue", -1 if axis is None else axis, rank_of("kthvalue", x))
    value, index = kthvalue_op(x, k=static_int("kthvalue", k, "k"), axis=at, keepdim=bool(keepdim))
    return value, index


def _mode_kernel(xp: Any, x: Any, *, axis: int, keepdim: bool) -> tuple[Any, Any]:
    """In sorted rows, the first longest run of equal elements; a stable sort puts its last occurrence at its end."""
    if x.ndim == 0:
        return x.copy(), xp.zeros((), xp.int64)
    order = xp.moveaxis(_order(xp, x, axis, False), axis, -1)
    rows = xp.take_along_axis(xp.moveaxis(x, axis, -1), order, -1)
    place = xp.arange(rows.shape[-1])
    starts = xp.concatenate([xp.ones((*rows.shape[:-1], 1), bool), rows[..., 1:] != rows[..., :-1]], axis=-1)
    run = place - xp.maximum.accumulate(xp.where(starts, place, 0), axis=-1)
    ends = xp.argmax(run, axis=-1)[..., None]
    return _picked(xp, x, xp.moveaxis(xp.take_along_axis(order, ends, -1), -1, axis), axis, keepdim)


def _mode_meta(x: Meta, *, axis: int, keepdim: bool) -> tuple[Meta, Meta]:
    if x.ndim and x.shape[axis] == 0:
        raise ArgumentError(f"mode: dimension {axis} of x {x} has no elements")
    return _picked_meta(x, axis, keepdim)


mode_op = define_op(
    "mode",
    kernel=_mode_kernel,
    meta=_mode_meta,
    vjp=PICKED_VJP,
    outputs=("out", "indices"),
    maps={"paddle": "mode"},
)


def mode(x: Any, axis: int = -1, keepdim: bool = False, name: str | None = None) -> tuple[Any, Any]:
    """The most frequent element along `axis` (the smallest of several) and the index where it stands last.

    Source: paddle.mode.

    Example:
        >>> import vitrify as paddle
        >>> value, index = paddle.mode(paddle.to_tensor([2, 3, 3, 1]))
        >>> value.item(), index.item()
        (3, 2)
    """
    value, index = mode_op(x, axis=normalize_axis("mode", axis, rank_of("mode", x)), keepdim=bool(keepdim))
    return value, index


METHODS = {"sort": sort, "argsort": argsort, "msort": msort, "topk": topk, "kthvalue": kthvalue, "mode": mode}
__all__ = ["argsort", "kthvalue", "mode", "msort", "sort", "topk"]
