"""Ops that give the same elements another shape: reshape, flatten, squeeze, unsqueeze and their relatives."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

from ..core.alias import aliased
from ..core.dtype import DType, as_dtype, from_np
from ..core.errors import ArgumentError, DTypeError, ShapeError, TakenSizeError
from ..core.meta import UNKNOWN, Meta, Ref, Shape, known_dim, normalize_axis, numel
from .arguments import (
    as_ints,
    entries,
    is_open_axis,
    is_tensor,
    only_ints,
    packs_ints,
    rank_of,
    static_int,
    static_ints,
)
from .like import reshape_like
from .moving_axis import all_to_front, from_front, unknown_axes
from .registry import OpDef, define_op, get_op

RESHAPED = {"x": lambda ct, *, x_like: reshape_like(ct, x_like)}


def reshaped(xp: Any, x: Any, shape: Sequence[int]) -> Any:
    """`x` with another shape: a view when it is contiguous, else a fresh array that nothing else holds."""
    if x.flags.c_contiguous:
        return x.reshape(shape)
    out = xp.empty(tuple(shape), x.dtype)
    out.reshape(x.shape)[...] = x  # writing through keeps out.base None, which tells views from copies
    return out


# -- reshape ---------------------------------------------------------------------------------------------------------


def _check_target(op: str, x: Meta, shape: Sequence[Any]) -> None:
    known = [s for s in shape if isinstance(s, int)]
    if known.count(-1) > 1:
        raise ArgumentError(f"{op}: only one size can be -1, got shape={list(shape)} for x {x}")
    if any(s < -1 for s in known):
        raise ArgumentError(f"{op}: sizes must be >= -1, got shape={list(shape)} for x {x}")


def _copied(shape: Sequence[Any], x: Shape) -> set[int]:
    """The places of `shape` that take over x's size there."""
    return {i for i, s in enumerate(shape) if s == 0 and i < len(x) and not isinstance(s, Ref)}


def _inferred(op: str, x: Meta, shape: Sequence[Any]) -> Shape:
    """The output shape of reshape: 0 copies, -1 is what remains; sizes that are copied, unknown or not, cancel out."""
    _check_target(op, x, shape)
    copied = _copied(shape, x.shape)
    target = [x.shape[i] if i in copied else known_dim(s) for i, s in enumerate(shape)]
    at = next((i for i, s in enumerate(shape) if s == -1 and not isinstance(s, Ref)), None)
    have = numel([d for i, d in enumerate(x.shape) if i not in copied])
    want = numel([d for i, d in enumerate(target) if i != at and i not in copied])
    if UNKNOWN in (have, want):
        return tuple(target)
    if at is not None:
        target[at] = have // want if want else 0
        want *= target[at]
    if have == want:
        return tuple(target)
    if at is None and numel(x.shape) == 0 and 0 in shape:
        return tuple(known_dim(s) for s in shape)  # an empty tensor takes any empty shape
    raise ShapeError(
        f"{op}: cannot reshape x {x} into {list(shape)}: {numel(x.shape)} elements do not fill "
        f"[{', '.join(str(d) for d in target)}]"
    )


def _reshape_meta(x: Meta, *, shape: Any) -> Meta:
    return x.with_shape(_inferred("reshape", x, entries(shape)))


def _reshape_kernel(xp: Any, x: Any, *, shape: Any) -> Any:
    target = entries(shape)
    if min(target, default=1) < 1:
        target = _inferred("reshape", Meta(x.shape, from_np(x.dtype)), target)
    return reshaped(xp, x, target)


reshape_op = define_op(
    "reshape",
    kernel=_reshape_kernel,
    meta=_reshape_meta,
    vjp=RESHAPED,
    dynamic=("shape",),
    view=True,
    maps={"onnx": "Reshape", "paddle": "reshape2"},
)


@aliased(x="input")
@packs_ints
def reshape(x: Any, shape: Any, name: str | None = None) -> Any:
    """The elements of x in another shape; shares memory with x where x is contiguous.

    x: [*s] -> [*shape], same dtype. A size 0 copies x's size at that place, one -1 takes what remains; sizes, or the
    whole shape, may be integer tensors. Raises ShapeError when the numbers of elements differ.
    Source: paddle.reshape.

    Example:
        >>> import vitrify as paddle
        >>> paddle.reshape(paddle.ones([2, 3, 4]), [0, -1]).shape
        paddle.Size([2, 12])
    """
    sizes = as_ints("reshape", shape, "shape")
    if only_ints(sizes) and (-1 in sizes or 0 in sizes):
        rank_of("reshape", x)
        sizes = _settled(x.shape, sizes)
    return reshape_op(x, shape=sizes)


def _settled(shape: Sequence[int], sizes: Shape) -> Shape:
    """`sizes` with 0 and -1 worked out where all is known, so that calls with one shape look alike to caches."""
    if UNKNOWN in shape:
        return sizes
    out = [shape[i] if s == 0 and i < len(shape) else s for i, s in enumerate(sizes)]
    total = math.prod(shape)
    if -1 in out:
        at = out.index(-1)
        others = math.prod(out[:at] + out[at + 1 :])
        out[at] = total // others if others > 0 else 0
    return tuple(out) if total and math.prod(out) == total else sizes


@aliased(shape_or_dtype="dtype size")
def view(x: Any, shape_or_dtype: Any, name: str | None = None) -> Any:
    """x with another shape, or its bytes read as another dtype; the last dimension grows or shrinks to match.

    Source: paddle.view.

    Example:
        >>> import vitrify as paddle
        >>> paddle.view(paddle.ones([2, 3]), "uint8").shape
        paddle.Size([2, 12])
    """
    if isinstance(shape_or_dtype, (list, tuple)):
        return reshape(x, shape_or_dtype)
    return bitcast_op(x, dtype=as_dtype(shape_or_dtype))


def _view_method(x: Any, *shape_or_dtype: Any, name: str | None = None, **one_by_name: Any) -> Any:
    """`view`, with the sizes in a list or one by one. Source: paddle.Tensor.view.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.arange(6)
        >>> x.view(2, 3).shape, x.view([3, -1]).shape
        (paddle.Size([2, 3]), paddle.Size([3, 2]))
    """
    if one_by_name:
        return view(x, *shape_or_dtype, **one_by_name)
    one = shape_or_dtype[0] if len(shape_or_dtype) == 1 else list(shape_or_dtype)
    return view(x, [one] if isinstance(one, int) else one)


def view_as(x: Any, other: Any, name: str | None = None) -> Any:
    """x in other's shape. Source: paddle.view_as.

    Example:
        >>> import vitrify as paddle
        >>> paddle.view_as(paddle.ones([2, 3]), paddle.ones([6])).shape
        paddle.Size([6])
    """
    return reshape_like(x, other)


# -- the bytes as another dtype --------------------------------------------------------------------------------------


def _bitcast_meta(x: Meta, *, dtype: DType) -> Meta:
    old, new = x.dtype.itemsize, dtype.itemsize
    if old == new:
        return x.with_dtype(dtype)
    if not x.shape:
        raise ShapeError(f"view: x {x} has no last dimension to hold {dtype.name}, whose size differs")
    last = x.shape[-1]
    if last != UNKNOWN and last * old % new:
        raise ShapeError(f"view: the last {last * old} bytes of x {x} are no multiple of {dtype.name}'s {new}")
    return Meta((*x.shape[:-1], last if last == UNKNOWN else last * old // new), dtype)


def _bitcast_kernel(xp: Any, x: Any, *, dtype: DType) -> Any:
    return (x if x.flags.c_contiguous else xp.ascontiguousarray(x)).view(dtype.np)


bitcast_op: OpDef = define_op(
    "view_dtype",
    kernel=_bitcast_kernel,
    meta=_bitcast_meta,
    vjp={"x": lambda ct, *, x_like: bitcast_op(ct, dtype=x_like.dtype)},
    view=True,
    maps={"paddle": "view_dtype"},
)


def view_as_complex(input: Any) -> Any:
    """The complex numbers whose parts lie in input's last dimension: [*s, 2] -> [*s]. Source: paddle.view_as_complex.

    Example:
        >>> import vitrify as paddle
        >>> paddle.view_as_complex(paddle.to_tensor([[1.0, 2.0]])).tolist()
        [(1+2j)]
    """
    return get_op("as_complex")(input)


def view_as_real(input: Any) -> Any:
    """The parts of complex numbers as a last dimension: [*s] -> [*s, 2]. Source: paddle.view_as_real.

    Example:
        >>> import vitrify as paddle
        >>> paddle.view_as_real(paddle.to_tensor([1 + 2j])).tolist()
        [[1.0, 2.0]]
    """
    return get_op("as_real")(input)


# -- flatten, unflatten ----------------------------------------------------------------------------------------------


def _merged(x: Shape, start: int, stop: int) -> Shape:
    return (*x[:start], numel(x[start : stop + 1]), *x[stop + 1 :]) if x else (1,)


flatten_op = define_op(
    "flatten",
    kernel=lambda xp, x, *, start_axis, stop_axis: reshaped(xp, x, _merged(x.shape, start_axis, stop_axis)),
    meta=lambda x, *, start_axis, stop_axis: x.with_shape(_merged(x.shape, start_axis, stop_axis)),
    vjp=RESHAPED,
    view=True,
    maps={"paddle": "flatten_contiguous_range"},
)


@aliased(x="input", start_axis="start_dim", stop_axis="end_dim")
def flatten(x: Any, start_axis: int = 0, stop_axis: int = -1, name: str | None = None) -> Any:
    """x with the dimensions start_axis to stop_axis merged into one; a 0-D tensor becomes [1].

    x: any dtype, which the result has, too. Raises ArgumentError when stop_axis lies before start_axis, IndexRangeError
    for axes that x has not. Source: paddle.flatten.

    Example:
        >>> import vitrify as paddle
        >>> paddle.flatten(paddle.ones([2, 3, 4]), 1).shape
        paddle.Size([2, 12])
    """
    start = normalize_axis("flatten", start_axis, rank_of("flatten", x), "start_axis")
    stop = normalize_axis("flatten", stop_axis, x.ndim, "stop_axis")
    if stop < start:
        raise ArgumentError(
            f"flatten: stop_axis {stop_axis} lies before start_axis {start_axis} for shape {list(x.shape)}"
        )
    return flatten_op(x, start_axis=start, stop_axis=stop)


def ravel(input: Any) -> Any:
    """input as one dimension. Source: paddle.ravel.

    Example:
        >>> import vitrify as paddle
        >>> paddle.ravel(paddle.ones([2, 3])).shape
        paddle.Size([6])
    """
    return flatten(input)


def _unflatten_meta(x: Meta, *, axis: int, shape: Any) -> Meta:
    part = _inferred("unflatten", x.with_shape(x.shape[axis : axis + 1]), entries(shape))
    return x.with_shape((*x.shape[:axis], *part, *x.shape[axis + 1 :]))


def _unflatten_kernel(xp: Any, x: Any, *, axis: int, shape: Any) -> Any:
    part = _inferred("unflatten", Meta(x.shape[axis : axis + 1], from_np(x.dtype)), entries(shape))
    return reshaped(xp, x, (*x.shape[:axis], *part, *x.shape[axis + 1 :]))


unflatten_op = define_op(
    "unflatten", kernel=_unflatten_kernel, meta=_unflatten_meta, vjp=RESHAPED, dynamic=("shape",), view=True
)


@aliased(x="input", axis="dim", shape="sizes")
def unflatten(x: Any, axis: int, shape: Any, name: str | None = None) -> Any:
    """x with dimension `axis` split into `shape`, in which one size may be -1. Source: paddle.unflatten.

    Example:
        >>> import vitrify as paddle
        >>> paddle.unflatten(paddle.ones([4, 6]), 1, [2, -1]).shape
        paddle.Size([4, 2, 3])
    """
    rank_of("unflatten", x)
    at = normalize_axis("unflatten", static_int("unflatten", axis, "axis"), x.ndim)
    return unflatten_op(x, axis=at, shape=as_ints("unflatten", shape, "shape"))


# -- squeeze, unsqueeze ----------------------------------------------------------------------------------------------


def _squeeze_meta(x: Meta, *, axes: Shape) -> Meta:
    wrong = [a for a in axes if x.shape[a] not in (1, UNKNOWN)]
    if wrong:
        raise TakenSizeError(f"squeeze: dimension {wrong[0]} of x {x} has size {x.shape[wrong[0]]}, not 1")
    return x.with_shape([d for i, d in enumerate(x.shape) if i not in axes])


squeeze_op: OpDef = define_op(
    "squeeze",
    kernel=lambda xp, x, *, axes: xp.squeeze(x, axis=axes) if axes else x[...],
    meta=_squeeze_meta,
    vjp={"x": lambda ct, *, axes: unsqueeze_op(ct, axes=axes)},
    view=True,
    maps={"onnx": "Squeeze", "paddle": "squeeze2"},
)
unsqueeze_op: OpDef = define_op(
    "unsqueeze",
    kernel=lambda xp, x, *, axes: xp.expand_dims(x, axes) if axes else x[...],
    meta=lambda x, *, axes: x.with_shape(_with_ones(x.shape, axes)),
    vjp={"x": lambda ct, *, axes: squeeze_op(ct, axes=axes)},
    view=True,
    maps={"onnx": "Unsqueeze", "paddle": "unsqueeze2"},
)


def _with_ones(shape: Shape, axes: Shape) -> list[int]:
    """`shape` with a 1 at each of `axes`, counted in the result and ascending."""
    out = list(shape)
    for axis in axes:
        out.insert(axis, 1)
    return out


@aliased(x="input", axis="dim")
def squeeze(x: Any, axis: Any = None, name: str | None = None) -> Any:
    """x without dimensions of size 1: all of them, or those among `axis` (other sizes there are left alone).

    While a program is built, an unknown size named by `axis` is taken to be 1, one not named to be another; a call of a
    compiled function for which that is wrong gets a program of its own, a saved program raises ShapeError for it.
    Source: paddle.squeeze.

    Example:
        >>> import vitrify as paddle
        >>> paddle.squeeze(paddle.ones([1, 2, 1]), 0).shape
        paddle.Size([2, 1])
    """
    axes = unknown_axes(axis)
    if axes is not None:
        return squeeze(all_to_front("squeeze", x, axes)[0], list(range(len(axes))))
    rank_of("squeeze", x)
    shape = x.shape
    named = () if axis is None else static_ints("squeeze", axis, "axis")
    if not named:
        if UNKNOWN in shape:
            x = x._keep_unknown_sizes()
        return squeeze_op(x, axes=tuple(i for i, d in enumerate(shape) if d == 1))
    chosen = {normalize_axis("squeeze", a, max(len(shape), 1)) for a in named}
    gone = tuple(a for a in sorted(chosen) if shape and shape[a] in (1, UNKNOWN))
    taken = tuple(a for a in gone if shape[a] == UNKNOWN)
    if taken:
        x = x._take_unknown_sizes_for_one(taken)
    return squeeze_op(x, axes=gone)


@aliased(x="input", axis="dim")
def unsqueeze(x: Any, axis: Any, name: str | None = None) -> Any:
    """x with dimensions of size 1 put in, one after the other at each place of `axis`. Source: paddle.unsqueeze.

    x: [*s], any dtype, which the result has, too. axis: an int or several. Raises IndexRangeError for a place that is
    not there.

    Example:
        >>> import vitrify as paddle
        >>> paddle.unsqueeze(paddle.ones([2, 3]), [0, -1]).shape
        paddle.Size([1, 2, 3, 1])
    """
    axes = unknown_axes(axis)
    if axes is not None:
        return functools.reduce(_with_one, axes, x)
    marks: list[int] = [0] * rank_of("unsqueeze", x)
    for place in static_ints("unsqueeze", axis, "axis"):
        marks.insert(normalize_axis("unsqueeze", place, len(marks) + 1), 1)
    return unsqueeze_op(x, axes=tuple(i for i, new in enumerate(marks) if new))


def _with_one(x: Any, axis: Any) -> Any:
    return from_front(unsqueeze(x, 0), axis) if is_open_axis(axis) else unsqueeze(x, axis)


def _at_least(ndim: int, x: Any) -> Any:
    missing = {1: (0,), 2: {0: (0, 1), 1: (0,)}.get(x.ndim, ()), 3: {0: (0, 1, 2), 1: (0, 2), 2: (2,)}.get(x.ndim, ())}
    return unsqueeze_op(x, axes=missing[ndim]) if x.ndim < ndim else x


def _each_at_least(op: str, ndim: int, inputs: Sequence[Any]) -> Any:
    if len(inputs) == 1 and isinstance(inputs[0], (list, tuple)):
        inputs = inputs[0]
    if not all(is_tensor(x) for x in inputs):
        raise DTypeError(f"{op}: expects tensors, got {', '.join(type(x).__name__ for x in inputs)}")
    out = [_at_least(ndim, x) for x in inputs]
    return out[0] if len(out) == 1 else out


def atleast_1d(*inputs: Any, name: str | None = None) -> Any:
    """Each input with at least one dimension; one tensor for one input, else a list. Source: paddle.atleast_1d.

    Example:
        >>> import vitrify as paddle
        >>> paddle.atleast_1d(paddle.to_tensor(3.0)).shape
        paddle.Size([1])
    """
    return _each_at_least("atleast_1d", 1, inputs)


def atleast_2d(*inputs: Any, name: str | None = None) -> Any:
    """Each input with at least two dimensions: [n] becomes [1, n]. Source: paddle.atleast_2d.

    Example:
        >>> import vitrify as paddle
        >>> paddle.atleast_2d(paddle.ones([3])).shape
        paddle.Size([1, 3])
    """
    return _each_at_least("atleast_2d", 2, inputs)


def atleast_3d(*inputs: Any, name: str | None = None) -> Any:
    """Each input with at least three dimensions: [n] becomes [1, n, 1], [n, m] becomes [n, m, 1].

    Source: paddle.atleast_3d.

    Example:
        >>> import vitrify as paddle
        >>> paddle.atleast_3d(paddle.ones([3])).shape
        paddle.Size([1, 3, 1])
    """
    return _each_at_least("atleast_3d", 3, inputs)


METHODS = {
    "reshape": reshape,
    "view": _view_method,
    "view_as": view_as,
    "view_as_complex": view_as_complex,
    "view_as_real": view_as_real,
    "flatten": flatten,
    "ravel": ravel,
    "unflatten": unflatten,
    "squeeze": squeeze,
    "unsqueeze": unsqueeze,
    "atleast_1d": atleast_1d,
    "atleast_2d": atleast_2d,
    "atleast_3d": atleast_3d,
}
INPLACE = ("reshape", "flatten", "squeeze", "unsqueeze")
__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "flatten",
    "ravel",
    "reshape",
    "squeeze",
    "unflatten",
    "unsqueeze",
    "view",
    "view_as",
    "view_as_complex",
    "view_as_real",
]
