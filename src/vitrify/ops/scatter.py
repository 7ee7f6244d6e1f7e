"""Ops that write or add values at places given by integer tensors, into a copy of a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.alias import aliased, dim_first
from ..core.errors import ArgumentError, DTypeError, ShapeError
from ..core.meta import UNKNOWN, Meta, Shape, normalize_axis
from .accumulate import add_along, add_at, put_at
from .arguments import as_ints, finish, is_tensor, rank_of, static_int
from .creation import full
from .gather import gather_nd_shape, gather_op, nd_index, need_integers
from .index import array_index, index_get_op, index_put_op, summed_to_value, with_item
from .index_form import FULL, array_shape, parse_index, range_errors
from .moving_forms import scatter_form, scatter_nd_form
from .put_along_axis import put_along_axis
from .registry import OpDef, define_op, get_op
from .shape import reshape, unsqueeze


def _alike(op: str, x: Meta, value: Meta, name: str) -> None:
    if x.dtype is not value.dtype:
        raise DTypeError(f"{op}: x is {x}, {name} is {value}: dtypes differ", hint=f"cast {name} to x's dtype")


def _fits(op: str, value: Meta, wanted: Shape, name: str) -> None:
    differ = len(value.shape) != len(wanted) or any(
        a != b and UNKNOWN not in (a, b) for a, b in zip(value.shape, wanted)
    )
    if differ:
        raise ShapeError(f"{op}: {name} is {value}, expected shape {list(wanted)}")


# -- rows of dimension 0 ---------------------------------------------------------------------------------------------


def _scatter_kernel(xp: Any, x: Any, index: Any, updates: Any, *, overwrite: bool) -> Any:
    out = x.copy()
    with range_errors("scatter"):
        if overwrite:
            put_at(xp, out, (index,), updates)
        else:
            out[index] = 0
            add_at(xp, out, (index,), updates)
    return out


def _scatter_meta(x: Meta, index: Meta, updates: Meta, *, overwrite: bool) -> Meta:
    need_integers("scatter", index)
    _alike("scatter", x, updates, "updates")
    _fits("scatter", updates, (*index.shape, *x.shape[1:]), "updates")
    return x


scatter_op: OpDef = define_op(
    "scatter",
    kernel=_scatter_kernel,
    meta=_scatter_meta,
    vjp={
        "x": lambda ct, *, index: with_item(ct, index, 0),
        "updates": lambda ct, *, index: gather_op(ct, index, axis=0),
    },
    maps={"paddle": "scatter"},
    amp="deny",
    native=scatter_form,
)


def _scatter_along(
    input: Any, dim: int, index: Any, src: Any = None, reduce: str | None = None, *, value: Any = None, out: Any = None
) -> Any:
    source = value if src is None else src
    result = put_along_axis(input, index, source, dim, reduce or "assign", broadcast=False)
    return result if out is None else out._become(result)


@dim_first(_scatter_along)
def scatter(x: Any, index: Any, updates: Any, overwrite: bool = True, name: str | None = None, out: Any = None) -> Any:
    """A copy of x in which row index[i] is updates[i], or with overwrite=False the sum of all updates for that row.

    x: [n, *s], index: [k], updates: [k, *s] of x's dtype. Of several updates for one row the last stays.
    `scatter(input, dim, index, src, reduce=None)` is `put_along_axis(input, index, src, dim, reduce, broadcast=False)`.
    Source: paddle.scatter.

    Example:
        >>> import vitrify as paddle
        >>> x, rows = paddle.zeros([3]), paddle.to_tensor([2, 0, 0])
        >>> paddle.scatter(x, rows, paddle.to_tensor([1.0, 2.0, 3.0]), overwrite=False).tolist()
        [5.0, 0.0, 1.0]
    """
    rows = index if rank_of("scatter", index, "index") == 1 else reshape(index, [-1])
    if index.ndim == 0 and updates.ndim < x.ndim:
        updates = unsqueeze(updates, 0)
    result = scatter_op(x, rows, updates, overwrite=bool(overwrite))
    return result if out is None else out._become(result)


# -- places with several coordinates ---------------------------------------------------------------------------------


def _scatter_nd_kernel(xp: Any, x: Any, index: Any, updates: Any) -> Any:
    out = x.copy()
    if index.shape[-1] == 0:
        return out + updates.sum(axis=tuple(range(index.ndim - 1)), dtype=x.dtype)
    with range_errors("scatter_nd_add"):
        add_at(xp, out, nd_index(index), updates)
    return out


def _scatter_nd_meta(x: Meta, index: Meta, updates: Meta) -> Meta:
    _alike("scatter_nd_add", x, updates, "updates")
    _fits("scatter_nd_add", updates, gather_nd_shape("scatter_nd_add", x, index), "updates")
    return x


scatter_nd_add_op = define_op(
    "scatter_nd_add",
    kernel=_scatter_nd_kernel,
    meta=_scatter_nd_meta,
    vjp={"x": lambda ct: ct, "updates": lambda ct, *, index: get_op("gather_nd")(ct, index)},
    maps={"paddle": "scatter_nd_add"},
    native=scatter_nd_form,
)


def scatter_nd_add(x: Any, index: Any, updates: Any, name: str | None = None) -> Any:
    """x with `updates` added at the places that index's last dimension spells out.

    x: [*s], index: [*k, depth], updates: [*k, *s[depth:]]. Source: paddle.scatter_nd_add.

    Example:
        >>> import vitrify as paddle
        >>> at, plus = paddle.to_tensor([[1], [1]]), paddle.to_tensor([2.0, 3.0])
        >>> paddle.scatter_nd_add(paddle.ones([3]), at, plus).tolist()
        [1.0, 6.0, 1.0]
    """
    return scatter_nd_add_op(x, index, updates)


def scatter_nd(index: Any, updates: Any, shape: Any, name: str | None = None) -> Any:
    """Zeros of `shape` with `updates` added as in `scatter_nd_add`. Source: paddle.scatter_nd.

    Example:
        >>> import vitrify as paddle
        >>> paddle.scatter_nd(paddle.to_tensor([[1]]), paddle.to_tensor([2.0]), [3]).tolist()
        [0.0, 2.0, 0.0]
    """
    rank_of("scatter_nd", updates, "updates")
    return scatter_nd_add_op(full(as_ints("scatter_nd", shape, "shape"), 0, updates.dtype), index, updates)


# -- slices along one axis -------------------------------------------------------------------------------------------


def _index_add_kernel(xp: Any, x: Any, index: Any, value: Any, *, axis: int) -> Any:
    out = x.copy()
    with range_errors("index_add"):
        add_along(xp, out, index, value, axis)
    return out


def _index_add_meta(x: Meta, index: Meta, value: Meta, *, axis: int) -> Meta:
    need_integers("index_add", index)
    _alike("index_add", x, value, "value")
    _fits("index_add", value, (*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]), "value")
    return x


index_add_op = define_op(
    "index_add",
    kernel=_index_add_kernel,
    meta=_index_add_meta,
    vjp={"x": lambda ct: ct, "value": lambda ct, *, index, axis: gather_op(ct, index, axis=axis)},
    maps={"paddle": "index_add"},
    native=lambda n, x, index, value, *, axis: n.apply(
        get_op("add"), x, n.add_rows(value, index, x.shape, axis, wraps=True)
    ),
)


@aliased(input="x", source="value")
def _index_add_along(input: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1, out: Any = None) -> Any:
    return index_add(input, index, dim, source, alpha, out=out)


@dim_first(_index_add_along)
@aliased(x="input", value="source")
def index_add(
    x: Any, index: Any, axis: int, value: Any, alpha: Any = 1, name: str | None = None, *, out: Any = None
) -> Any:
    """x with alpha * value added to its slices at `index` along `axis`.

    x: [..., n, ...], index: [k], value: [..., k, ...] of x's dtype. Source: paddle.index_add.

    Example:
        >>> import vitrify as paddle
        >>> rows = paddle.to_tensor([0, 0])
        >>> paddle.index_add(paddle.zeros([2, 2]), rows, 0, paddle.ones([2, 2])).tolist()
        [[2.0, 2.0], [0.0, 0.0]]
    """
    rank_of("index_add", x)
    at = normalize_axis("index_add", static_int("index_add", axis, "axis"), x.ndim)
    result = index_add_op(x, index, value if alpha == 1 else value * alpha, axis=at)
    return result if out is None else out._become(result)


def index_fill(x: Any, index: Any, axis: int, value: Any, name: str | None = None) -> Any:
    """A copy of x with its slices at `index` along `axis` filled with one value. Source: paddle.index_fill.

    Example:
        >>> import vitrify as paddle
        >>> paddle.index_fill(paddle.zeros([3]), paddle.to_tensor([0, 2]), 0, 7).tolist()
        [7.0, 0.0, 7.0]
    """
    rank_of("index_fill", x)
    if is_tensor(value) and value.ndim > 0:
        raise ShapeError(f"index_fill: value must be a number or a 0-D tensor, got shape {list(value.shape)}")
    at = normalize_axis("index_fill", axis, x.ndim)
    return with_item(x, (*(FULL,) * at, index), value, index_put_op)


# -- index tuples ----------------------------------------------------------------------------------------------------


def _index_put_kernel(xp: Any, x: Any, value: Any, *indices: Any, axes: Shape) -> Any:
    out = x.copy()
    with range_errors("index_put"):
        add_at(xp, out, array_index(indices, axes), value)
    return out


def _index_put_meta(x: Meta, value: Meta, *indices: Meta, axes: Shape) -> Meta:
    _alike("index_put", x, value, "value")
    region = array_shape("index_put", x, indices, axes)
    pairs = zip(reversed(value.shape), reversed(region))
    if value.ndim > len(region) or any(v not in (1, r) and UNKNOWN not in (v, r) for v, r in pairs):
        raise ShapeError(f"index_put: value {value} does not broadcast to the indexed shape {list(region)}")
    return x


index_put_add_op = define_op(
    "index_put_add",
    kernel=_index_put_kernel,
    meta=_index_put_meta,
    vjp={
        "x": lambda ct: ct,
        "value": lambda ct, *, value_like, indices, axes: summed_to_value(
            index_get_op(ct, *indices, axes=axes), value_like
        ),
    },
)


@aliased(x="input", value="values")
def index_put(
    x: Any, indices: Sequence[Any], value: Any, accumulate: bool = False, name: str | None = None, *, out: Any = None
) -> Any:
    """A copy of x in which x[indices] is `value`, or with `accumulate` has value added, repeated places included.

    indices: a tuple of integer or bool tensors; value: a tensor of x's dtype that broadcasts to x[indices]. Of
    several values for one element the last stays, and each has its gradient. Source: paddle.index_put.

    Example:
        >>> import vitrify as paddle
        >>> at = (paddle.to_tensor([0, 0]),)
        >>> paddle.index_put(paddle.zeros([2]), at, paddle.to_tensor(1.0), accumulate=True).tolist()
        [2.0, 0.0]
    """
    rank_of("index_put", x)
    rank_of("index_put", value, "value")
    if x.dtype is not value.dtype:
        raise DTypeError(f"index_put: x is {x.dtype.name}, value is {value.dtype.name}", hint="cast value to x's dtype")
    if not accumulate:
        return finish("index_put", with_item(x, tuple(indices), value, index_put_op), out)
    index = parse_index("index_put", x, tuple(indices))
    return finish("index_put", index_put_add_op(x, value, *index.arrays, axes=index.axes), out)


# -- whole regions ---------------------------------------------------------------------------------------------------


def slice_scatter(
    x: Any, value: Any, axes: Sequence[int], starts: Sequence[int], ends: Sequence[int], strides: Sequence[int],
    name: str | None = None,
) -> Any:  # fmt: skip
    """A copy of x whose slice (starts, ends, strides along `axes`) is `value`. Source: paddle.slice_scatter.

    Example:
        >>> import vitrify as paddle
        >>> paddle.slice_scatter(paddle.zeros([4]), paddle.ones([2]), [0], [0], [4], [2]).tolist()
        [1.0, 0.0, 1.0, 0.0]
    """
    rank_of("slice_scatter", x)
    if not len(axes) == len(starts) == len(ends) == len(strides):
        raise ArgumentError("slice_scatter: axes, starts, ends and strides must have equal lengths")
    parts = [FULL] * x.ndim
    for axis, start, end, stride in zip(axes, starts, ends, strides):
        parts[normalize_axis("slice_scatter", axis, x.ndim)] = slice(start, end, stride)
    return with_item(x, tuple(parts), value)


def select_scatter(x: Any, values: Any, axis: int, index: int, name: str | None = None) -> Any:
    """A copy of x whose slice number `index` along `axis` is `values`. Source: paddle.select_scatter.

    Example:
        >>> import vitrify as paddle
        >>> paddle.select_scatter(paddle.zeros([2, 2]), paddle.ones([2]), 1, 0).tolist()
        [[1.0, 0.0], [1.0, 0.0]]
    """
    rank_of("select_scatter", x)
    at = normalize_axis("select_scatter", axis, x.ndim)
    return with_item(x, (*(FULL,) * at, index), values)


METHODS = {
    "scatter": scatter,
    "scatter_nd_add": scatter_nd_add,
    "scatter_nd": scatter_nd,
    "index_add": index_add,
    "index_fill": index_fill,
    "index_put": index_put,
    "slice_scatter": slice_scatter,
    "select_scatter": select_scatter,
}
INPLACE = ("scatter", "index_add", "index_fill", "index_put")
__all__ = [
    "index_add",
    "index_fill",
    "index_put",
    "scatter",
    "scatter_nd",
    "scatter_nd_add",
    "select_scatter",
    "slice_scatter",
]
