"""Ops that put tensors together: concat, stack and their relatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.alias import aliased
from ..core.errors import ArgumentError, DTypeError, ShapeError
from ..core.meta import UNKNOWN, Meta, merge_dim, normalize_axis
from .arguments import finish, is_tensor, static_int
from .moving_axis import at_axis
from .registry import define_op
from .shape import atleast_1d, atleast_2d, atleast_3d, unsqueeze_op
from .split import split_like_op, unstack_op


def _check_alike(op: str, metas: Sequence[Meta], joined: int | None) -> None:
    """Raise unless all have one dtype, one rank, and equal sizes but along dimension `joined`."""
    first = metas[0]
    for i, m in enumerate(metas):
        if m.dtype is not first.dtype:
            raise DTypeError(f"{op}: tensors differ in dtype: x[0] is {first}, x[{i}] is {m}", hint="cast one of them")
        if m.ndim != first.ndim:
            raise ShapeError(f"{op}: tensors differ in rank: x[0] is {first}, x[{i}] is {m}")
        for d, (a, b) in enumerate(zip(first.shape, m.shape)):
            if d != joined and a != b and UNKNOWN not in (a, b):
                raise ShapeError(f"{op}: sizes differ: x[0] is {first}, x[{i}] is {m} (dimension {d}: {a} != {b})")


def _merged_shape(metas: Sequence[Meta]) -> list[int]:
    sizes = list(metas[0].shape)
    for m in metas[1:]:
        sizes = [a if a == b else merge_dim(a, b) if UNKNOWN in (a, b) else a for a, b in zip(sizes, m.shape)]
    return sizes


def _concat_meta(*xs: Meta, axis: int) -> Meta:
    _check_alike("concat", xs, axis)
    shape = _merged_shape(xs)
    along = [m.shape[axis] for m in xs]
    shape[axis] = UNKNOWN if UNKNOWN in along else sum(along)
    return xs[0].with_shape(shape)


def _concat_native(n: Any, *xs: Any, axis: int) -> Any:
    shape = list(xs[0].shape)
    shape[axis] = sum(x.shape[axis] for x in xs)
    out = n.new(shape, xs[0].dtype)
    before, start = (slice(None),) * axis, 0
    for x in xs:
        part = slice(start, start + x.shape[axis])
        n.copy(x, n.view(lambda a, part=part: a[(*before, part)], out))
        start = part.stop
    return out


concat_op = define_op(
    "concat",
    kernel=lambda xp, *xs, axis: xp.concatenate(xs, axis=axis),
    meta=_concat_meta,
    vjp=lambda ct, *, xs_like, axis: {"xs": split_like_op(ct, *xs_like, axis=axis)},
    maps={"onnx": "Concat", "paddle": "concat"},
    native=_concat_native,
)


def _tensors(op: str, x: Any) -> list[Any]:
    if is_tensor(x) or not isinstance(x, (list, tuple)) or not x or not all(is_tensor(t) for t in x):
        raise ArgumentError(f"{op}: expects a non-empty list of tensors, got {type(x).__name__}")
    return list(x)


@aliased(x="tensors", axis="dim")
def concat(x: Sequence[Any], axis: Any = 0, name: str | None = None, *, out: Any = None) -> Any:
    """The tensors of x one after the other along `axis`.

    x: list of [..., n_i, ...] of one dtype -> [..., sum n_i, ...]. Raises ShapeError when other sizes differ,
    DTypeError when dtypes do. Source: paddle.concat.

    Example:
        >>> import vitrify as paddle
        >>> paddle.concat([paddle.ones([2, 1]), paddle.zeros([2, 2])], axis=1).shape
        paddle.Size([2, 3])
    """
    tensors = _tensors("concat", x)
    if tensors[0].ndim == 0:
        raise ShapeError("concat: 0-D tensors have no dimension to join along", hint="use stack")
    return finish("concat", at_axis("concat", tensors, axis, lambda xs, at: concat_op(*xs, axis=at)), out)


cat = concatenate = concat


def _stack_meta(*xs: Meta, axis: int) -> Meta:
    _check_alike("stack", xs, None)
    shape = _merged_shape(xs)
    shape.insert(axis, len(xs))
    return xs[0].with_shape(shape)


def _stack_native(n: Any, *xs: Any, axis: int) -> Any:
    place = axis % (xs[0].ndim + 1)
    return _concat_native(n, *[n.view(lambda a: a[(*(slice(None),) * place, None)], x) for x in xs], axis=place)


stack_op = define_op(
    "stack",
    kernel=lambda xp, *xs, axis: xp.stack(xs, axis=axis),
    meta=_stack_meta,
    vjp=lambda ct, *, xs_like, axis: {"xs": unstack_op(ct, axis=axis, num=len(xs_like))},
    maps={"paddle": "stack"},
    native=_stack_native,
    native_alone=True,  # what NumPy's gives for transposed parts lies as they do, and a reshape copies it
)


@aliased(x="tensors", axis="dim")
def stack(x: Sequence[Any], axis: int = 0, name: str | None = None, *, out: Any = None) -> Any:
    """The tensors of x, all of one shape, along a new dimension at `axis`. Source: paddle.stack.

    x: a list of n tensors [*s], any dtype -> [*s] with n put in, of that dtype. Raises ShapeError and DTypeError where
    theirs differ, ArgumentError for none, IndexRangeError for an axis that the result has not.

    Example:
        >>> import vitrify as paddle
        >>> paddle.stack([paddle.ones([3]), paddle.zeros([3])], axis=1).shape
        paddle.Size([3, 2])
    """
    tensors = _tensors("stack", x)
    at = normalize_axis("stack", static_int("stack", axis, "axis"), tensors[0].ndim + 1)
    return finish("stack", stack_op(*tensors, axis=at), out)


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def hstack(x: Sequence[Any], name: str | None = None) -> Any:
    """The tensors side by side: along dimension 1, or 0 for 1-D ones. Source: paddle.hstack.

    Example:
        >>> import vitrify as paddle
        >>> paddle.hstack([paddle.ones([2]), paddle.zeros([1])]).shape
        paddle.Size([3])
    """
    tensors = _as_list(atleast_1d(*_tensors("hstack", x)))
    return concat(tensors, axis=0 if tensors[0].ndim == 1 else 1)


def vstack(x: Sequence[Any], name: str | None = None) -> Any:
    """The tensors on top of each other, 1-D ones as rows. Source: paddle.vstack.

    Example:
        >>> import vitrify as paddle
        >>> paddle.vstack([paddle.ones([3]), paddle.zeros([2, 3])]).shape
        paddle.Size([3, 3])
    """
    return concat(_as_list(atleast_2d(*_tensors("vstack", x))), axis=0)


def dstack(x: Sequence[Any], name: str | None = None) -> Any:
    """The tensors along dimension 2, put in where missing. Source: paddle.dstack.

    Example:
        >>> import vitrify as paddle
        >>> paddle.dstack([paddle.ones([3]), paddle.zeros([3])]).shape
        paddle.Size([1, 3, 2])
    """
    return concat(_as_list(atleast_3d(*_tensors("dstack", x))), axis=2)


def column_stack(x: Sequence[Any], name: str | None = None) -> Any:
    """The tensors side by side, 0-D and 1-D ones as columns. Source: paddle.column_stack.

    Example:
        >>> import vitrify as paddle
        >>> paddle.column_stack([paddle.ones([2]), paddle.zeros([2, 3])]).shape
        paddle.Size([2, 4])
    """
    missing: dict[int, tuple[int, ...]] = {0: (0, 1), 1: (1,)}
    columns = [unsqueeze_op(t, axes=missing[t.ndim]) if t.ndim < 2 else t for t in _tensors("column_stack", x)]
    return concat(columns, axis=1)


row_stack = vstack

METHODS = {"concat": concat, "stack": stack}
__all__ = ["cat", "column_stack", "concat", "concatenate", "dstack", "hstack", "row_stack", "stack", "vstack"]
