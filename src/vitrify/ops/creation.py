"""Ops that make tensors from nothing but attributes: full, arange, linspace, eye and their relatives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.alias import aliased
from ..core.dtype import DType, as_dtype, bool_, complex128, default_dtype, fitted, float32, from_np, int64
from ..core.errors import ArgumentError, DTypeError, IndexRangeError
from ..core.meta import UNKNOWN, Meta, known_dim
from .arguments import (
    SCALARS,
    as_int,
    as_ints,
    entries,
    finish,
    is_tensor,
    packs_shape,
    shape_dims,
)
from .like import assign_op, full_like
from .order_forms import one_hot_form, range_form
from .registry import NoGradient, define_op, get_op

CONSTANT = NoGradient("the result is a constant")


# -- full ------------------------------------------------------------------------------------------------------------


def _full_kernel(xp: Any, *, shape: Any, fill_value: Any, dtype: DType) -> Any:
    return xp.full(entries(shape), fitted(fill_value, dtype), dtype.np)


def _full_ahead(n: Any, *, shape: Any, fill_value: Any, dtype: DType) -> Any:
    """The form for a value that the run computes: one number, seen everywhere."""
    sizes = entries(shape)
    if not all(isinstance(size, int) for size in sizes):
        n.refuse("a size among its attributes is known only when the program runs")
    if isinstance(fill_value, SCALARS):
        return n.full(sizes, fill_value, dtype.np)
    number = n.apply(get_op("cast"), n.reshape(fill_value, ()), dtype=dtype)
    return n.view(lambda a: np.broadcast_to(a, sizes), number)


full_op = define_op(
    "full",
    kernel=_full_kernel,
    meta=lambda *, shape, fill_value, dtype: Meta(shape_dims("full", shape), dtype),
    vjp=CONSTANT,
    dynamic=("shape", "fill_value"),
    fractions=("fill_value",),
    maps={"onnx": "ConstantOfShape", "paddle": "fill_constant"},
    native=lambda n, *, shape, fill_value, dtype: n.full(entries(shape), fill_value, dtype.np),
    ahead=_full_ahead,
    ahead_places=True,
)


def _fill_dtype(value: Any) -> DType:
    if isinstance(value, complex):
        return complex128
    return bool_ if isinstance(value, bool) else default_dtype()


def _fill_number(value: Any) -> Any:
    if isinstance(value, str):
        return float(value)
    if hasattr(type(value), "__vitrify_host_value__"):  # NumPy's, which only a run of the program knows
        return value.tensor()
    return value if is_tensor(value) or isinstance(value, SCALARS) else value.item()


@aliased(shape="size")
def full(
    shape: Any, fill_value: Any, dtype: Any = None, name: str | None = None, *, out: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Any:  # fmt: skip
    """A tensor of `shape` filled with one value; the default dtype (bool for a bool) unless `dtype` is given.

    Sizes and value may be tensors. Raises ArgumentError for negative sizes, DTypeError for no dtype.
    Source: paddle.full.

    Example:
        >>> import vitrify as paddle
        >>> paddle.full([2], 7.0).tolist()
        [7.0, 7.0]
    """
    value = _fill_number(fill_value)
    wanted = _fill_dtype(value) if dtype is None else as_dtype(dtype)
    made = full_op(shape=as_ints("full", shape, "shape"), fill_value=value, dtype=wanted)
    return finish("full", made, out, device, requires_grad)


@aliased(shape="size")
@packs_shape
def zeros(
    shape: Any, dtype: Any = None, name: str | None = None, *, out: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Any:  # fmt: skip
    """Zeros of `shape`, of the default dtype (float32) unless `dtype` is given. Source: paddle.zeros.

    shape: an int, ints, or a tensor of them. Raises ArgumentError for negative sizes, DTypeError for no dtype.

    Example:
        >>> import vitrify as paddle
        >>> paddle.zeros([2], dtype="int32").tolist()
        [0, 0]
    """
    return full(shape, 0, dtype, out=out, device=device, requires_grad=requires_grad)


@aliased(shape="size")
@packs_shape
def ones(
    shape: Any, dtype: Any = None, name: str | None = None, *, out: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Any:  # fmt: skip
    """Ones of `shape`, of the default dtype (float32) unless `dtype` is given. Source: paddle.ones.

    shape: an int, ints, or a tensor of them. Raises ArgumentError for negative sizes, DTypeError for no dtype.

    Example:
        >>> import vitrify as paddle
        >>> paddle.ones([2]).tolist()
        [1.0, 1.0]
    """
    return full(shape, 1, dtype, out=out, device=device, requires_grad=requires_grad)


@aliased(shape="size")
@packs_shape
def empty(
    shape: Any, dtype: Any = None, name: str | None = None, *, out: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Any:  # fmt: skip
    """A tensor of `shape` whose values nobody should read; zeros here, so that runs repeat. Source: paddle.empty.

    Example:
        >>> import vitrify as paddle
        >>> paddle.empty([2, 3]).shape
        paddle.Size([2, 3])
    """
    return full(shape, 0, dtype, out=out, device=device, requires_grad=requires_grad)


@aliased(x="input")
def empty_like(
    x: Any, dtype: Any = None, name: str | None = None, *, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:  # fmt: skip
    """`empty` of x's shape, and of its dtype unless another is given. Source: paddle.empty_like.

    Example:
        >>> import vitrify as paddle
        >>> paddle.empty_like(paddle.ones([2, 3])).shape
        paddle.Size([2, 3])
    """
    return finish("empty_like", full_like(x, 0, dtype), None, device, requires_grad)


# -- ranges ----------------------------------------------------------------------------------------------------------


def _range_length(start: Any, end: Any, step: Any) -> int:
    if not all(isinstance(v, (int, float)) for v in (start, end, step)):
        return UNKNOWN
    if step == 0:
        raise ArgumentError("arange: step must not be 0")
    if not (math.isfinite((end - start) / step) and math.isfinite(step)):
        raise ArgumentError(f"arange: start, end and step must give a finite number, got {start}, {end} and {step}")
    length: int = math.ceil((end - start) / step)
    return max(length, 0)


def _arange_kernel(xp: Any, *, start: Any, end: Any, step: Any, dtype: DType) -> Any:
    index = xp.arange(_range_length(start, end, step))
    return (start + index * step).astype(dtype.np)


# Numbers that a native program keeps; more of them would take memory as long as the program is there.
_MOST_KEPT = 1 << 12


def _arange_native(n: Any, *, start: Any, end: Any, step: Any, dtype: DType) -> Any:
    count = _range_length(start, end, step)
    if count > _MOST_KEPT:
        n.refuse(f"a range of {count} numbers is computed when it is needed")
    return n.constant(_arange_kernel(np, start=start, end=end, step=step, dtype=dtype))


arange_op = define_op(
    "arange",
    kernel=_arange_kernel,
    meta=lambda *, start, end, step, dtype: Meta((_range_length(start, end, step),), dtype),
    vjp=CONSTANT,
    dynamic=("start", "end", "step"),
    fractions=("start", "end", "step"),
    maps={"onnx": "Range", "paddle": "range"},
    native=_arange_native,
    ahead=lambda n, *, start, end, step, dtype: range_form(n, _range_length(start, end, step), start, step, dtype),
)


def _is_float(value: Any) -> bool:
    return bool(value.dtype.is_floating) if is_tensor(value) else isinstance(value, (float, np.floating))


def _number(op: str, value: Any, name: str) -> Any:
    if is_tensor(value) or isinstance(value, (int, float)):
        return value
    if isinstance(value, (np.generic, np.ndarray)) and value.size == 1:
        return value.item()
    raise DTypeError(f"{op}: {name} must be a number or a 0-D tensor, got {type(value).__name__}")


def _whole(values: Sequence[Any], dtype: DType) -> list[Any]:
    """The numbers as an integer dtype holds them, tensors and what is not finite as they are."""
    return [int(v) if dtype.is_integer and isinstance(v, float) and math.isfinite(v) else v for v in values]


def arange(
    start: Any = 0, end: Any = None, step: Any = 1, dtype: Any = None, *, out: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Numbers from start (0 when one bound is given) up to but without end, `step` apart: [n].

    int64 when all are integers, else the default dtype. An integer dtype cuts off the fractions of all three. Raises
    ArgumentError for a step of 0. Source: paddle.arange.

    Example:
        >>> import vitrify as paddle
        >>> paddle.arange(1, 8, 3).tolist()
        [1, 4, 7]
    """
    if end is None:
        start, end = 0, start
    bounds = [_number("arange", v, n) for v, n in ((start, "start"), (end, "end"), (step, "step"))]
    wanted = as_dtype(dtype) if dtype is not None else default_dtype() if any(map(_is_float, bounds)) else int64
    bounds = _whole(bounds, wanted)
    made = arange_op(start=bounds[0], end=bounds[1], step=bounds[2], dtype=wanted)
    return finish("arange", made, out, device, requires_grad)


def range(
    start: Any = 0, end: Any = None, step: Any = 1, dtype: Any = None, *, out: Any = None, device: Any = None,
    requires_grad: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Numbers from start up to and including end, as floats unless `dtype` says otherwise. Source: paddle.range.

    Example:
        >>> import vitrify as paddle
        >>> paddle.range(1, 3).tolist()
        [1.0, 2.0, 3.0]
    """
    if end is None:
        start, end = 0, start
    wanted = default_dtype() if dtype is None else as_dtype(dtype)
    bounds = [_number("range", v, n) for v, n in ((start, "start"), (end, "end"), (step, "step"))]
    first, last, gap = _whole(bounds, wanted)
    if all(isinstance(v, (int, float)) for v in (first, last, gap)) and gap:
        last = first + math.floor((last - first) / gap) * gap
    made = arange_op(start=first, end=last + gap * 0.5, step=gap, dtype=wanted)
    return finish("range", made, out, device, requires_grad)


def _spaced_kernel(xp: Any, *, start: Any, stop: Any, num: Any, base: Any, dtype: DType) -> Any:
    points = xp.linspace(start, stop, num)
    return (points if base is None else base**points).astype(dtype.np)


def _spaced_meta(*, start: Any, stop: Any, num: Any, base: Any, dtype: DType) -> Meta:
    if isinstance(num, int) and num < 0:
        raise ArgumentError(f"linspace: num must be >= 0, got {num}")
    return Meta((known_dim(num),), dtype)


linspace_op = define_op(
    "linspace",
    kernel=_spaced_kernel,
    meta=_spaced_meta,
    vjp=CONSTANT,
    dynamic=("start", "stop", "num", "base"),
    fractions=("start", "stop", "base"),
    maps={"paddle": "linspace"},
)


def _spaced(op: str, start: Any, stop: Any, num: Any, base: Any, dtype: Any) -> Any:
    wanted = default_dtype() if dtype is None else as_dtype(dtype)
    first, last = _whole([_number(op, start, "start"), _number(op, stop, "stop")], wanted)
    return linspace_op(
        start=first, stop=last, num=as_int(op, num, "num"), base=base,
        dtype=wanted,
    )  # fmt: skip


@aliased(stop="end", num="steps")
def linspace(
    start: Any, stop: Any, num: Any, dtype: Any = None, name: str | None = None, *, out: Any = None,
    device: Any = None, requires_grad: bool = False,
) -> Any:  # fmt: skip
    """`num` numbers from start to stop, both included, evenly spaced: [num]. Source: paddle.linspace.

    Example:
        >>> import vitrify as paddle
        >>> paddle.linspace(0, 10, 5).tolist()
        [0.0, 2.5, 5.0, 7.5, 10.0]
    """
    return finish("linspace", _spaced("linspace", start, stop, num, None, dtype), out, device, requires_grad)


def logspace(start: Any, stop: Any, num: Any, base: Any = 10.0, dtype: Any = None, name: str | None = None) -> Any:
    """base to the power of `num` evenly spaced exponents from start to stop: [num]. Source: paddle.logspace.

    Example:
        >>> import vitrify as paddle
        >>> paddle.logspace(0, 2, 3).tolist()
        [1.0, 10.0, 100.0]
    """
    return _spaced("logspace", start, stop, num, _number("logspace", base, "base"), dtype)


# -- matrices and indices --------------------------------------------------------------------------------------------


eye_op = define_op(
    "eye",
    kernel=lambda xp, *, num_rows, num_columns, dtype: xp.eye(num_rows, num_columns, dtype=dtype.np),
    meta=lambda *, num_rows, num_columns, dtype: Meta(shape_dims("eye", (num_rows, num_columns)), dtype),
    vjp=CONSTANT,
    dynamic=("num_rows", "num_columns"),
    maps={"paddle": "eye"},
)


@aliased(num_rows="n", num_columns="m")
def eye(
    num_rows: Any, num_columns: Any = None, dtype: Any = None, name: str | None = None, *, out: Any = None,
    device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Any:  # fmt: skip
    """The matrix with ones on its diagonal: [num_rows, num_columns], square by default.

    Raises DTypeError for a size below 0, a TypeError as Paddle's. Source: paddle.eye.

    Example:
        >>> import vitrify as paddle
        >>> paddle.eye(2).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    rows = as_int("eye", num_rows, "num_rows")
    columns = rows if num_columns is None else as_int("eye", num_columns, "num_columns")
    for name, size in (("num_rows", rows), ("num_columns", columns)):
        if isinstance(size, int) and size < 0:
            raise DTypeError(f"eye: {name} must be an int >= 0, got {size}")
    made = eye_op(num_rows=rows, num_columns=columns, dtype=default_dtype() if dtype is None else as_dtype(dtype))
    return finish("eye", made, out, device, requires_grad)


def _triangle_kernel(xp: Any, *, rows: int, cols: int, offset: int, lower: bool, dtype: DType) -> Any:
    i, j = np.indices((rows, cols))
    inside = j - i <= offset if lower else j - i >= offset
    return xp.asarray(np.stack([i[inside], j[inside]]).astype(dtype.np))


def _below(rows: int, cols: int, first: int) -> int:
    """The sum over i below `rows` of first + i, cut off at 0 and at `cols`."""
    start, full = min(max(-first, 0), rows), min(max(cols - first, 0), rows)  # where rows begin to count, and are full
    rising = max(full - start, 0)
    return rising * (2 * (first + start) + rising - 1) // 2 + (rows - max(full, start)) * cols


def _triangle_meta(*, rows: Any, cols: Any, offset: Any, lower: bool, dtype: DType) -> Meta:
    if any(isinstance(size, int) and size < 0 for size in (rows, cols)):
        raise ArgumentError(f"tril_indices: row and col must be >= 0, got {rows} and {cols}")
    if not all(isinstance(n, int) for n in (rows, cols, offset)):
        return Meta((2, UNKNOWN), dtype)
    below = _below(rows, cols, offset + lower)
    return Meta((2, below if lower else rows * cols - below), dtype)


triangle_indices_op = define_op(
    "triangle_indices",
    kernel=_triangle_kernel,
    meta=_triangle_meta,
    vjp=CONSTANT,
    dynamic=("rows", "cols", "offset"),
)


def _triangle_indices(op: str, row: Any, col: Any, offset: Any, dtype: Any, lower: bool) -> Any:
    rows, cols, first = (as_int(op, v, n) for v, n in ((row, "row"), (col, "col"), (offset, "offset")))
    return triangle_indices_op(rows=rows, cols=cols, offset=first, lower=lower, dtype=as_dtype(dtype))


def tril_indices(row: int, col: int, offset: int = 0, dtype: Any = "int64") -> Any:
    """Row and column numbers of the lower triangle up to diagonal `offset`: [2, n]. Source: paddle.tril_indices.

    Example:
        >>> import vitrify as paddle
        >>> paddle.tril_indices(2, 2).tolist()
        [[0, 1, 1], [0, 0, 1]]
    """
    return _triangle_indices("tril_indices", row, col, offset, dtype, lower=True)


def triu_indices(row: int, col: int | None = None, offset: int = 0, dtype: Any = "int64") -> Any:
    """Row and column numbers of the upper triangle from diagonal `offset`: [2, n]. Source: paddle.triu_indices.

    Example:
        >>> import vitrify as paddle
        >>> paddle.triu_indices(2).tolist()
        [[0, 0, 1], [0, 1, 1]]
    """
    return _triangle_indices("triu_indices", row, row if col is None else col, offset, dtype, lower=False)


def _check_classes(num_classes: Any) -> None:
    if isinstance(num_classes, int) and (num_classes < -1 or num_classes == 0):
        raise ArgumentError(f"one_hot: num_classes must be positive, or -1 to find it from x, got {num_classes}")


def _one_hot_kernel(xp: Any, x: Any, *, num_classes: Any) -> Any:
    _check_classes(num_classes)
    classes = int(x.max()) + 1 if num_classes == -1 and x.size else max(num_classes, 0)
    if x.size and (int(x.min()) < 0 or int(x.max()) >= classes):
        raise IndexRangeError(f"one_hot: class numbers must be in [0, {classes}), got {int(x.min())}..{int(x.max())}")
    return (x[..., None] == xp.arange(classes, dtype=x.dtype)).astype(xp.float32)


def _one_hot_meta(x: Meta, *, num_classes: Any) -> Meta:
    if not x.dtype.is_integer:
        raise DTypeError(f"one_hot: x is {x}, expected integers")
    _check_classes(num_classes)
    return Meta((*x.shape, known_dim(num_classes)), float32)


one_hot_op = define_op(
    "one_hot",
    kernel=_one_hot_kernel,
    meta=_one_hot_meta,
    vjp=NoGradient("class numbers are integers"),
    dynamic=("num_classes",),
    maps={"paddle": "one_hot_v2"},
    native=one_hot_form,
)


@aliased(x="input")
def one_hot(x: Any, num_classes: Any = -1, name: str | None = None) -> Any:
    """A row of zeros with a 1 at place x, for each element of x: [*s, num_classes] of float32.

    num_classes -1 takes the largest element + 1. Raises IndexRangeError for classes outside.
    Source: paddle.nn.functional.one_hot.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.one_hot(paddle.to_tensor([0, 2]), 3).tolist()
        [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    return one_hot_op(x, num_classes=as_int("one_hot", num_classes, "num_classes"))


# -- constants -------------------------------------------------------------------------------------------------------


def _constant_kernel(xp: Any, *, values: tuple[Any, ...], shape: tuple[int, ...], dtype: DType) -> Any:
    return xp.asarray(np.array(values).astype(dtype.np)).reshape(shape)


assign_value_op = define_op(
    "assign_value",
    kernel=_constant_kernel,
    meta=lambda *, values, shape, dtype: Meta(shape, dtype),
    vjp=CONSTANT,
    maps={"onnx": "Constant", "paddle": "assign_value"},
)


def constant(array: Any) -> Any:
    """A tensor with the values of a NumPy array, kept in the operator itself: small ones, in programs."""
    return assign_value_op(values=tuple(array.reshape(-1).tolist()), shape=array.shape, dtype=from_np(array.dtype))


# -- copies ----------------------------------------------------------------------------------------------------------


def assign(x: Any, output: Any = None) -> Any:
    """A copy of x (tensor, array, number or nested list), put into `output` where one is given.

    A number gives a tensor of one dimension; dtypes are NumPy's, float64 for floats. Source: paddle.assign.

    Example:
        >>> import vitrify as paddle
        >>> paddle.assign([1.0, 2.0]).tolist()
        [1.0, 2.0]
    """
    if not is_tensor(x):
        x = np.asarray(x) if isinstance(x, np.ndarray) else np.atleast_1d(x)
    return output._take(x) if is_tensor(output) else finish("assign", assign_op(x), output)


def clone(x: Any, name: str | None = None) -> Any:
    """A copy of x through which gradients flow. Source: paddle.clone.

    Example:
        >>> import vitrify as paddle
        >>> paddle.clone(paddle.ones([2])).tolist()
        [1.0, 1.0]
    """
    return assign_op(x)


METHODS = {"clone": clone}
__all__ = [
    "arange",
    "assign",
    "clone",
    "empty",
    "empty_like",
    "eye",
    "full",
    "linspace",
    "logspace",
    "ones",
    "range",
    "tril_indices",
    "triu_indices",
    "zeros",
]
