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
_LONG = 512
# How many elements of a row there are for a pair of parts, at least one of them for each.
_SHORT_PARTS = 4
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
    rows = xp.ascontiguousarray(xp.moveaxis(wide(xp, x), axis, -1))
    size = rows.shape[-1]
    last = _last_of_first(xp, rows, k, largest)
    if (last != last).any():
        return None
    chosen = ~(rows < last) if largest else rows <= last
    if int(xp.count_nonzero(chosen)) > last.size * k:
        tied = rows == last
        chosen &= ~tied
        chosen |= tied & (xp.cumsum(tied, -1) <= k - chosen.sum(-1, keepdims=True))
    found = xp.flatnonzero(chosen).reshape(*rows.shape[:-1], k)  # along one dimension in a tenth of the time
    return xp.moveaxis(found % size, -1, axis)


def _last_of_first(xp: Any, rows: Any, k: int, largest: bool) -> Any:
    """The last of the k first elements of each row, as [..., 1]; nan counts as the largest.

    Of long rows a partition takes only those that are no worse than the k-th best of the extremes of as many parts as
    bring few of them: a hundredth of the elements.
    """
    size = rows.shape[-1]
    parts = 2 * k + int(size**0.5)
    if size >= _LONG and parts * parts <= size * _SHORT_PARTS and rows.dtype.kind in "fiu":
        found = _among_candidates(xp, rows.reshape(-1, size), k, largest, parts)
        if found is not None:
            return found.reshape(*rows.shape[:-1], 1)
    at = size - k if largest else k - 1
    return xp.partition(rows, at, axis=-1)[..., at : at + 1]


def _among_candidates(xp: Any, rows: Any, k: int, largest: bool, parts: int) -> Any:
    """`_last_of_first` of rows [n, size] by the extremes of so many parts; None where that leaves too many elements."""
    count, size = rows.shape
    each = size // parts
    cut = rows[:, : parts * each].reshape(count, each, parts)
    extremes = cut.max(1) if largest else cut.min(1)
    at = parts - k if largest else k - 1
    bound = xp.partition(extremes, at, axis=-1)[:, at : at + 1]
    if not largest and (extremes != extremes).any():  # nan is the least of its part, and the last of all
        return None
    flat = xp.flatnonzero(~(rows < bound) if largest else rows <= bound)
    if flat.size > rows.size // PARTITION_FACTOR:
        return None
    lines = flat // size
    counts = xp.bincount(lines, minlength=count)
    width = int(counts.max())
    if int(counts.min()) < k:  # nan, or nothing but nan
        return None
    places = xp.arange(flat.size) - xp.repeat(xp.cumsum(counts) - counts, counts)
    kept = xp.full((count, width), _worst(xp, rows.dtype, largest), rows.dtype)
    kept[lines, places] = rows.reshape(-1)[flat]
    at = width - k if largest else k - 1
    return xp.partition(kept, at, axis=-1)[:, at : at + 1]


def _worst(xp: Any, dtype: Any, largest: bool) -> Any:
    """What comes behind all other numbers."""
    if dtype.kind == "f":
        return -xp.inf if largest else xp.inf
    return xp.iinfo(dtype).min if largest else xp.iinfo(dtype).max


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
    found = _kth_place(xp, x, k, axis) if x.shape[axis] >= PARTITION_FROM and x.size >= _FEW else None
    if found is None:
        found = _order(xp, x, axis, False)[(*(slice(None),) * axis, slice(k - 1, k))]
    return _picked(xp, x, found, axis, keepdim)


def _kth_place(xp: Any, x: Any, k: int, axis: int) -> Any:
    """Where the k-th smallest element stands, of equal ones in their order, by a partition; None where it is nan."""
    rows = xp.ascontiguousarray(xp.moveaxis(wide(xp, x), axis, -1))
    value = xp.partition(rows, k - 1, axis=-1)[..., k - 1 : k]
    if (value != value).any():
        return None
    tied = rows == value
    if int(xp.count_nonzero(tied)) > value.size:
        before = (rows < value).sum(-1, keepdims=True)
        tied &= xp.cumsum(tied, -1) == k - before
    return xp.moveaxis(xp.flatnonzero(tied).reshape(value.shape) % rows.shape[-1], -1, axis)


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

    x: [*s] -> [*s] without that axis, of x's dtype and int64. Raises ArgumentError for a dimension without elements.
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
