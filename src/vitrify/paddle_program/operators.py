"""What Paddle's operators of arithmetic, shapes, indices, reductions and products mean here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.dtype import DType, bool_, int32, int64
from ..core.errors import FileFormatError, UnsupportedError
from ..core.meta import UNKNOWN
from ..ir.known_values import as_tensor, known_ints, sizes_argument, sizes_array
from ..ops import functions as F
from ..ops.creation import constant
from ..ops.einsum import einsum as einsum_
from ..ops.registry import get_op
from .operator_table import known_number, number, reads

_PADDLE_3 = 3_000_000
_BEFORE_ALL = -(1 << 62)
SMALL = 64
"""Constants with at most as many elements are known while a program is read."""

# -- elementwise -------------------------------------------------------------------------------------------------------

_SAME = (
    "abs acos acosh asin asinh atan atanh bitwise_not ceil cos cosh digamma erf erfinv exp expm1 floor "
    "isfinite isinf isnan lgamma log log10 log1p log2 logical_not logsigmoid reciprocal relu relu6 rsqrt "
    "sigmoid sign silu sin sinh softsign sqrt square tan tanh tanh_shrink trunc assign atan2 bitwise_and "
    "bitwise_or bitwise_xor fmax fmin logical_and logical_or logical_xor where lerp"
)
for _name in _SAME.split():
    reads.elementwise(_name, _name)
reads.elementwise("trunc_divide", "trunc_divide")
for _theirs, _ours in {"swish": "silu", "share_data_": "assign", "share_data": "assign"}.items():
    reads.elementwise(_theirs, _ours)

_BROADCAST = {
    "add": "add", "subtract": "subtract", "multiply": "multiply", "divide": "divide", "maximum": "maximum",
    "minimum": "minimum", "remainder": "mod", "floor_divide": "floor_divide", "elementwise_pow": "pow",
    "equal": "equal", "not_equal": "not_equal", "less_than": "less_than", "less_equal": "less_equal",
    "greater_than": "greater_than", "greater_equal": "greater_equal",
}  # fmt: skip
# Arithmetic on sizes, of which some are known.
_ON_SIZES = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "floor_divide": np.floor_divide}


def _broadcast(theirs: str, ours: str) -> Any:
    def read(x: Any, y: Any, *, axis: int = -1) -> Any:
        if theirs in _ON_SIZES and _is_sizes(x) and _is_sizes(y):
            return sizes_array(_ON_SIZES[theirs](x.astype(object), y.astype(object)))
        x, y = as_tensor(x), as_tensor(y)
        if axis != -1 and 0 < y.ndim < x.ndim:  # y's first dimension is this one of x
            after = x.ndim - (axis % x.ndim) - y.ndim
            y = F.unsqueeze(y, list(range(y.ndim, y.ndim + after))) if after > 0 else y
        return get_op(ours)(x, y)

    return read


def _is_sizes(value: Any) -> bool:
    return isinstance(value, np.ndarray) and (value.dtype == object or value.dtype.kind == "i") and value.size <= SMALL


for _theirs, _ours in _BROADCAST.items():
    reads(_theirs)(_broadcast(_theirs, _ours))

for _name in ("bmm", "dot", "kron", "mv"):
    reads(_name)(lambda x, y, _name=_name: getattr(F, _name)(as_tensor(x), as_tensor(y)))


@reads("scale")
def scale(x: Any, factor: Any, *, bias: float = 0.0, bias_after_scale: bool = True) -> Any:
    """x * factor + bias, or (x + bias) * factor."""
    by = number(factor)
    if isinstance(x, np.ndarray) and x.dtype == object and by == int(by) and bias == int(bias):
        by, add = int(by), int(bias)
        return sizes_array(x * by + add if bias_after_scale else (x + add) * by)
    return F.scale(as_tensor(x), by, bias, bias_after_scale)


@reads("pow")
def power(x: Any, *, y: float) -> Any:
    """x ** y."""
    return as_tensor(x) ** y


@reads("cast")
def cast(x: Any, *, dtype: DType) -> Any:
    """x in another dtype; sizes stay sizes."""
    if isinstance(x, np.ndarray) and x.dtype == object and dtype in (int64, int32):
        return x
    return F.cast(as_tensor(x), dtype)


@reads("round")
def round_(x: Any, *, decimals: int = 0) -> Any:
    """x to so many decimals."""
    return F.round(as_tensor(x), decimals)


@reads("clip")
def clip(x: Any, low: Any, high: Any) -> Any:
    """x between two numbers."""
    x = as_tensor(x)
    return F.clip(x, _bound(number(low), x.dtype), _bound(number(high), x.dtype))


def _bound(value: Any, dtype: DType) -> Any:
    """An end of a range, which a file has as a floating number for integers too."""
    return int(value) if isinstance(value, float) and dtype.is_integer and value == int(value) else value


# -- reductions --------------------------------------------------------------------------------------------------------


def _axes(axis: Any, reduce_all: bool) -> list[int] | None:
    found = None if reduce_all or axis is None else axis if isinstance(axis, list) else known_ints(axis)
    return found or None


def _reduction(name: str) -> Any:
    def read(x: Any, axis: Any = None, *, keepdim: bool = False, reduce_all: bool = False) -> Any:
        return getattr(F, name)(as_tensor(x), axis=_axes(axis, reduce_all), keepdim=keepdim)

    return read


for _name in ("mean", "max", "min", "prod"):
    reads(_name)(_reduction(_name))


def _attr_reduction(name: str) -> Any:
    def read(x: Any, *, axis: Any = None, keepdim: bool = False, reduce_all: bool = False) -> Any:
        return getattr(F, name)(as_tensor(x), axis=_axes(axis, reduce_all), keepdim=keepdim)

    return read


for _name in ("all", "any", "amax", "amin", "logsumexp"):
    reads(_name)(_attr_reduction(_name))


@reads("sum")
def sum_(x: Any, axis: Any, *, keepdim: bool = False, dtype: Any = None, reduce_all: bool = False) -> Any:
    """The sum, in another dtype if one is given."""
    return F.sum(as_tensor(x), axis=_axes(axis, reduce_all), dtype=dtype, keepdim=keepdim)


@reads("frobenius_norm")
def frobenius_norm(x: Any, axis: Any, *, keepdim: bool = False, reduce_all: bool = False) -> Any:
    """The square root of the sum of squares."""
    return F.sqrt(F.sum(F.square(as_tensor(x)), axis=_axes(axis, reduce_all), keepdim=keepdim))


@reads("p_norm")
def p_norm(
    x: Any, *, porder: float = 2.0, axis: int = -1, keepdim: bool = False, asvector: bool = False, epsilon: float = 0.0
) -> Any:
    """The p-norm along one axis, or of all elements."""
    return F.norm(as_tensor(x), p=porder, axis=None if asvector else axis, keepdim=keepdim)


def _arg(name: str) -> Any:
    def read(x: Any, axis: Any, *, keepdims: bool = False, flatten: bool = False, dtype: DType = int64) -> Any:
        along = None if flatten else int(known_number(axis))
        return getattr(F, name)(as_tensor(x), axis=along, keepdim=keepdims, dtype=dtype or int64)

    return read


reads("argmax")(_arg("argmax"))
reads("argmin")(_arg("argmin"))


@reads("argsort")
def argsort(x: Any, *, axis: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """The sorted values and where they were."""
    x = as_tensor(x)
    order = F.argsort(x, axis=axis, descending=descending, stable=True)
    return F.take_along_axis(x, order, axis), order


@reads("topk")
def topk(x: Any, k: Any, *, axis: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The k largest or smallest values and where they were."""
    return F.topk(as_tensor(x), int(known_number(k)), axis=axis, largest=largest, sorted=sorted)


@reads("cumsum")
def cumsum(x: Any, axis: Any, *, flatten: bool = False, exclusive: bool = False, reverse: bool = False) -> Any:
    """Running sums; without what stands at a place itself where `exclusive`."""
    x = as_tensor(x)
    x, along = (F.flatten(x), 0) if flatten else (x, int(known_number(axis)))
    found = F.flip(F.cumsum(F.flip(x, along), along), along) if reverse else F.cumsum(x, along)
    return found - x if exclusive else found


@reads("cumprod")
def cumprod(x: Any, *, dim: int, exclusive: bool = False, reverse: bool = False) -> Any:
    """Running products."""
    if exclusive or reverse:
        raise UnsupportedError("cumprod that is exclusive or runs backwards cannot be read")
    return F.cumprod(as_tensor(x), dim)


# -- products ----------------------------------------------------------------------------------------------------------


@reads("matmul")
def matmul(x: Any, y: Any, *, transpose_x: bool = False, transpose_y: bool = False) -> Any:
    """The product of matrices."""
    return F.matmul(as_tensor(x), as_tensor(y), transpose_x, transpose_y)


@reads("addmm")
def addmm(inner: Any, x: Any, y: Any, *, alpha: float = 1.0, beta: float = 1.0) -> Any:
    """beta * inner + alpha * x @ y."""
    return F.addmm(as_tensor(inner), as_tensor(x), as_tensor(y), beta, alpha)


@reads("einsum")
def einsum(operands: Sequence[Any], *, equation: str) -> Any:
    """Einstein's summation; the outputs that gradients need are left out."""
    return einsum_(equation, *map(as_tensor, operands)), None, None


# -- shapes ------------------------------------------------------------------------------------------------------------


@reads("reshape")
def reshape(x: Any, shape: Any) -> Any:
    """x in another shape: 0 keeps a size, -1 is what is left."""
    if isinstance(x, np.ndarray) and isinstance(shape, np.ndarray) and shape.dtype != object and x.size <= SMALL:
        return x.reshape([x.shape[i] if s == 0 else s for i, s in enumerate(known_ints(shape))])
    return F.reshape(as_tensor(x), list(_sizes(shape)))


def _sizes(value: Any) -> tuple[Any, ...]:
    if isinstance(value, list):
        return tuple(number(v) for v in value)
    found: tuple[Any, ...] = sizes_argument(value)
    return found


@reads("transpose")
def transpose(x: Any, *, perm: list[int]) -> Any:
    """x with its dimensions in another order."""
    return F.transpose(as_tensor(x), perm)


@reads("flatten")
def flatten(x: Any, *, start_axis: int = 1, stop_axis: int = 1) -> Any:
    """Some dimensions as one."""
    return F.flatten(as_tensor(x), start_axis, stop_axis)


@reads("squeeze")
def squeeze(x: Any, axis: Any) -> Any:
    """x without dimensions of size 1."""
    axes = known_ints(axis) or None
    if _is_sizes(x):
        return np.squeeze(x, None if axes is None else tuple(axes))
    return F.squeeze(as_tensor(x), axes)


@reads("unsqueeze")
def unsqueeze(x: Any, axis: Any) -> Any:
    """x with new dimensions."""
    return np.expand_dims(x, known_ints(axis)) if _is_sizes(x) else F.unsqueeze(as_tensor(x), known_ints(axis))


@reads("concat")
def concat(xs: Sequence[Any], axis: Any) -> Any:
    """Tensors one behind the other."""
    if all(_is_sizes(x) for x in xs):
        return sizes_array(np.concatenate([x.astype(object) for x in xs], int(known_number(axis))))
    return F.concat([as_tensor(x) for x in xs], int(known_number(axis)))


@reads("stack")
def stack(xs: Sequence[Any], *, axis: int = 0) -> Any:
    """Tensors along a new dimension."""
    if all(_is_sizes(x) and x.ndim == 0 for x in xs):
        return sizes_array([x.item() for x in xs])
    return F.stack([as_tensor(x) for x in xs], axis)


@reads("split")
def split(x: Any, sections: Any, axis: Any) -> Any:
    """Parts of the given sizes."""
    return [F.split(as_tensor(x), [number(s) for s in _sizes(sections)], int(known_number(axis)))]


@reads("split_with_num")
def split_with_num(x: Any, axis: Any, *, num: int) -> Any:
    """So many parts of one size."""
    return [F.split(as_tensor(x), num, int(known_number(axis)))]


@reads("unstack")
def unstack(x: Any, *, axis: int = 0, num: int = 0) -> Any:
    """The slices along a dimension."""
    return [F.unstack(as_tensor(x), axis)]


@reads("unbind")
def unbind(x: Any, *, axis: int = 0) -> Any:
    """The slices along a dimension."""
    return [F.unbind(as_tensor(x), axis)]


@reads("meshgrid")
def meshgrid(xs: Sequence[Any]) -> Any:
    """Grids of coordinates."""
    return [F.meshgrid([as_tensor(x) for x in xs])]


@reads("expand")
def expand(x: Any, shape: Any) -> Any:
    """x repeated to a shape, in which -1 keeps a size."""
    return F.expand(as_tensor(x), list(_sizes(shape)))


@reads("tile")
def tile(x: Any, repeat_times: Any) -> Any:
    """x repeated."""
    return F.tile(as_tensor(x), list(_sizes(repeat_times)))


@reads("flip")
def flip(x: Any, *, axis: list[int]) -> Any:
    """x backwards."""
    return F.flip(as_tensor(x), axis)


@reads("roll")
def roll(x: Any, shifts: Any, *, axis: list[int]) -> Any:
    """x moved around."""
    return F.roll(as_tensor(x), list(sizes_argument(shifts)), axis or None)


@reads("shape64", "shape")
def shape_(x: Any) -> Any:
    """The sizes of x, as far as they are known."""
    x = as_tensor(x)
    return sizes_array([s if s != UNKNOWN else get_op("dim_size")(x, axis=i) for i, s in enumerate(x.shape)])


@reads("numel")
def numel(x: Any) -> Any:
    """The number of elements."""
    return F.numel(as_tensor(x))


# -- reading and writing at indices ------------------------------------------------------------------------------------


@reads("slice")
def slice_(
    x: Any, starts: Any, ends: Any, *, axes: list[int], decrease_axis: Sequence[int] = (), infer_flags: Any = None
) -> Any:
    """x[start:end] along some axes, of which some are taken out."""
    return _sliced(x, axes, _bounds(starts, axes), _bounds(ends, axes), [1] * len(axes), decrease_axis)


@reads("strided_slice")
def strided_slice(
    x: Any, starts: Any, ends: Any, strides: Any, *, axes: list[int], decrease_axis: Sequence[int] = (),
    version: int = 0,
) -> Any:  # fmt: skip
    """x[start:end:step] along some axes."""
    if 0 < version < _PADDLE_3:
        ends = _old_ends(as_tensor(x), _bounds(ends, axes), _bounds(strides, axes), axes)
    return _sliced(x, axes, _bounds(starts, axes), _bounds(ends, axes), _bounds(strides, axes), decrease_axis)


def _old_ends(x: Any, ends: list[Any], steps: list[Any], axes: Sequence[int]) -> list[Any]:
    """The ends of slices that run backwards, as Paddle 2 meant them: -1 is what lies before the first element."""
    found = list(ends)
    for i, (end, step, axis) in enumerate(zip(ends, steps, axes)):
        if isinstance(step, int) and step > 0:
            continue
        if not isinstance(step, int) or not isinstance(end, int) or end < -max(1, x.shape[axis]):
            raise UnsupportedError("a slice of Paddle 2 that runs backwards to this end cannot be read")
        found[i] = _BEFORE_ALL if end == -1 else end
    return found


def _bounds(value: Any, axes: Sequence[int]) -> list[Any]:
    found = [number(v) if isinstance(v, np.ndarray) else v for v in _sizes(value)]
    if len(found) != len(axes):
        raise FileFormatError(f"{len(found)} bounds stand for {len(axes)} axes")
    return found


def _index(ndim: int, axes: Sequence[int], starts: Any, ends: Any, steps: Any, taken: Sequence[int]) -> Any:
    index: list[Any] = [slice(None)] * ndim
    for axis, start, end, step in zip(axes, starts, ends, steps):
        if not -ndim <= axis < ndim:
            raise FileFormatError(f"axis {axis} is none of {ndim} dimensions")
        index[axis] = start if axis in taken else slice(start, _end(end, step), step)
    return tuple(index)


def _end(end: Any, step: Any) -> Any:
    """The end of a slice; backwards, what lies far below 0 means: up to the first element."""
    return None if isinstance(step, int) and step < 0 and isinstance(end, int) and end < -(1 << 30) else end


def _sliced(x: Any, axes: Sequence[int], starts: Any, ends: Any, steps: Any, taken: Sequence[int]) -> Any:
    known = all(isinstance(v, int) for v in (*starts, *ends, *steps))
    if known and _is_sizes(x):
        found = x[_index(x.ndim, axes, starts, ends, steps, taken)]
        return found if isinstance(found, np.ndarray) else sizes_array([found]).reshape(())
    x = as_tensor(x)
    return x[_index(x.ndim, axes, starts, ends, steps, taken)]


@reads("set_value_")
def set_value(
    x: Any, starts: Any, ends: Any, steps: Any, *, axes: list[int], decrease_axes: list[int], none_axes: list[int],
    shape: list[int], values: list[Any],
) -> Any:  # fmt: skip
    """x with numbers written at a slice."""
    x = as_tensor(x)
    value = constant(np.asarray(values).astype(x.dtype.np).reshape(shape))
    return set_value_with_tensor(
        x, value, starts, ends, steps, axes=axes, decrease_axes=decrease_axes, none_axes=none_axes
    )


@reads("set_value_with_tensor_", "set_value_with_tensor")
def set_value_with_tensor(
    x: Any, value: Any, starts: Any, ends: Any, steps: Any, *, axes: list[int], decrease_axes: list[int],
    none_axes: list[int],
) -> Any:  # fmt: skip
    """x with a tensor written at a slice."""
    if none_axes:
        raise UnsupportedError("writing at an index with None cannot be read")
    x = F.assign(as_tensor(x))
    first, last, by = (_bounds(v, axes) for v in (starts, ends, steps))
    x[_index(x.ndim, axes, first, last, by, decrease_axes)] = as_tensor(value)
    return x


@reads("gather")
def gather(x: Any, index: Any, axis: Any = None) -> Any:
    """Rows, or slices along an axis."""
    return F.gather(as_tensor(x), as_tensor(index), 0 if axis is None else int(known_number(axis)))


@reads("gather_nd")
def gather_nd(x: Any, index: Any) -> Any:
    """Elements or slices at places of several dimensions."""
    return F.gather_nd(as_tensor(x), as_tensor(index))


@reads("index_select")
def index_select(x: Any, index: Any, *, axis: int = 0) -> Any:
    """Slices along an axis."""
    return F.index_select(as_tensor(x), as_tensor(index), axis)


@reads("take_along_axis")
def take_along_axis(x: Any, index: Any, *, axis: int) -> Any:
    """An element for each index."""
    return F.take_along_axis(as_tensor(x), as_tensor(index), axis, broadcast=False)


@reads("put_along_axis")
def put_along_axis(
    x: Any, index: Any, values: Any, *, axis: int, reduce: str = "assign", include_self: bool = True
) -> Any:
    """x with an element written for each index."""
    return F.put_along_axis(
        as_tensor(x), as_tensor(index), as_tensor(values), axis, reduce, include_self=include_self, broadcast=False
    )


@reads("scatter")
def scatter(x: Any, index: Any, updates: Any, *, overwrite: bool = True) -> Any:
    """x with rows written or added."""
    return F.scatter(as_tensor(x), as_tensor(index), as_tensor(updates), overwrite)


@reads("nonzero")
def nonzero(x: Any) -> Any:
    """The places of what is not zero."""
    return F.nonzero(as_tensor(x))


@reads("masked_select")
def masked_select(x: Any, mask: Any) -> Any:
    """The elements where the mask is true."""
    return F.masked_select(as_tensor(x), as_tensor(mask))


@reads("masked_fill")
def masked_fill(x: Any, mask: Any, value: Any) -> Any:
    """A number where the mask is true."""
    x = as_tensor(x)
    return F.where(as_tensor(mask), F.cast(as_tensor(value), x.dtype), x)


@reads("tril")
def tril(x: Any, *, diagonal: int = 0) -> Any:
    """What lies below a diagonal."""
    return F.tril(as_tensor(x), diagonal)


@reads("triu")
def triu(x: Any, *, diagonal: int = 0) -> Any:
    """What lies above a diagonal."""
    return F.triu(as_tensor(x), diagonal)


# -- made of attributes ------------------------------------------------------------------------------------------------


@reads("full")
def full(*, shape: list[int], value: float, dtype: DType, str_value: str = "") -> Any:
    """One number everywhere."""
    filled = _filler(value, dtype, str_value)
    if any(s < 0 for s in shape):
        raise FileFormatError(f"a constant has the sizes {shape[:8]}")
    if int(np.prod(shape, dtype=object)) <= SMALL:
        return np.full(shape, filled, dtype.np)
    return F.full(shape, filled, dtype)


def _filler(value: float, dtype: DType, text: str) -> Any:
    exact: Any = (int(text) if dtype.is_integer and text.lstrip("-").isdecimal() else float(text)) if text else value
    return bool(exact) if dtype is bool_ else int(exact) if dtype.is_integer else exact


@reads("full_int_array")
def full_int_array(*, value: list[Any], dtype: DType = int64) -> Any:
    """Integers."""
    return np.asarray(value, dtype.np)


@reads("assign_value", "assign_value_")
def assign_value(target: Any = None, *, shape: list[int], dtype: DType, values: list[Any]) -> Any:
    """An array."""
    return np.asarray(values).astype(dtype.np).reshape(shape)


@reads("full_with_tensor")
def full_with_tensor(value: Any, shape: Any, *, dtype: DType, str_value: str = "") -> Any:
    """One number everywhere, in a shape that the program works out."""
    filled = number(value)
    if isinstance(filled, (int, float)):
        return F.full(list(_sizes(shape)), _filler(filled, dtype, str_value), dtype)
    return F.expand(F.cast(filled, dtype), list(_sizes(shape)))


@reads("empty")
def empty(shape: Any, *, dtype: DType) -> Any:
    """Zeros: what memory held is nothing that a program may go by."""
    return F.zeros(list(sizes_argument(shape)), dtype)


@reads("full_like")
def full_like(x: Any, value: Any, *, dtype: DType | None = None) -> Any:
    """One number in the shape of x."""
    return F.full_like(as_tensor(x), known_number(value), dtype=dtype)


@reads("arange")
def arange(start: Any, end: Any, step: Any, *, dtype: DType | None = None) -> Any:
    """Numbers from start to end."""
    kinds = [v.dtype.type for v in (start, end, step) if isinstance(v, np.ndarray) and v.dtype != object]
    wanted = dtype or (np.result_type(*kinds).name if len(kinds) == 3 else None)
    return F.arange(number(start), number(end), number(step), wanted)


@reads("linspace")
def linspace(start: Any, stop: Any, count: Any, *, dtype: DType) -> Any:
    """So many numbers from start to stop."""
    return F.linspace(number(start), number(stop), int(known_number(count)), dtype)


@reads("eye")
def eye(rows: Any, columns: Any, *, dtype: DType) -> Any:
    """Ones on the diagonal."""
    return F.eye(int(known_number(rows)), int(known_number(columns)), dtype)


@reads("one_hot")
def one_hot(x: Any, classes: Any) -> Any:
    """A one at each index."""
    return F.one_hot(as_tensor(x), int(known_number(classes)))
