"""Operators of PaddlePaddle 2 that its newer programs have no more: products, shapes, numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

from .. import tensor as T
from ..core.dtype import DType, float32, int32
from ..core.errors import FileFormatError, UnsupportedError
from ..core.meta import UNKNOWN
from ..ir.known_values import as_tensor, known_ints
from ..nn import functional as F
from ..ops.flat_product import mul_op
from ..ops.gather import shard_index as shard_index_
from .operator_table import known_number, reads

# -- products ----------------------------------------------------------------------------------------------------------


@reads("mul")
def mul(x: Any, y: Any, *, x_num_col_dims: int = 1, y_num_col_dims: int = 1) -> Any:
    """The product of matrices that the first dimensions of x and of y make with the others."""
    x, y = as_tensor(x), as_tensor(y)
    if y.ndim == 2 and y_num_col_dims == 1:
        return mul_op(x, y, x_num_col_dims=x_num_col_dims)
    if not 0 < y_num_col_dims < y.ndim or UNKNOWN in y.shape:
        raise FileFormatError(f"y of {y.ndim} dimensions has no {y_num_col_dims} first ones, or open sizes")
    rows, columns = y.shape[:y_num_col_dims], y.shape[y_num_col_dims:]
    out = mul_op(x, T.reshape(y, [prod(rows), prod(columns)]), x_num_col_dims=x_num_col_dims)
    return T.reshape(out, [*[0] * x_num_col_dims, *columns])


@reads("old_matmul")
def matmul(x: Any, y: Any, *, transpose_x: bool = False, transpose_y: bool = False, alpha: float = 1.0) -> Any:
    """alpha times the product of matrices."""
    out = T.matmul(as_tensor(x), as_tensor(y), transpose_x, transpose_y)
    return out if alpha == 1.0 else out * alpha


@reads("fc")
def fc(
    x: Any, w: Any, bias: Any = None, *, in_num_col_dims: int = 1, activation_type: str = "",
    padding_weights: bool = False,
) -> Any:  # fmt: skip
    """A layer of products, bias and activation."""
    if padding_weights or activation_type not in ("", "relu"):
        raise UnsupportedError(f"fc with padded weights or the activation {activation_type!r} cannot be read")
    out = mul_op(as_tensor(x), as_tensor(w), x_num_col_dims=in_num_col_dims)
    if bias is not None:
        out = out + T.reshape(as_tensor(bias), [-1])
    return F.relu(out) if activation_type else out


@reads("minus")
def minus(x: Any, y: Any) -> Any:
    """x - y."""
    return as_tensor(x) - as_tensor(y)


_FUNCTORS: Mapping[str, Callable[..., Any]] = {
    "elementwise_add": lambda x, y: x + y,
    "elementwise_mul": lambda x, y: x * y,
    "relu": F.relu,
    "sigmoid": F.sigmoid,
    "tanh": T.tanh,
    "gelu": F.gelu,
}
_OF_TWO = ("elementwise_add", "elementwise_mul")


@reads("fused_elemwise_activation")
def fused_elemwise_activation(
    x: Any, y: Any, *, functor_list: Sequence[str], axis: int = -1, scale: float = 0.0
) -> Any:
    """The first function of what the second gives, one of them of two operands; and what the inner one gave."""
    known: Mapping[str, Callable[..., Any]] = {**_FUNCTORS, "scale": lambda v: v * scale}
    if len(functor_list) != 2 or any(f not in known for f in functor_list) or axis != -1:
        raise UnsupportedError(f"fused functions {list(functor_list)} along axis {axis} cannot be read")
    outer, inner = functor_list
    x, y = as_tensor(x), as_tensor(y)
    if inner in _OF_TWO:
        between = known[inner](x, y)
        return known[outer](between), between
    between = known[inner](y)
    return known[outer](x, between), between


# -- shapes ------------------------------------------------------------------------------------------------------------


@reads("old_reshape")
def reshape(x: Any, shape: Any) -> Any:
    """x in another shape."""
    return reads.call("reshape", [x, shape], {})


@reads("old_transpose")
def transpose(x: Any, *, axis: Sequence[int]) -> Any:
    """x with its dimensions in another order."""
    return T.transpose(as_tensor(x), list(axis))


@reads("old_squeeze")
def squeeze(x: Any, *, axes: Sequence[int] = ()) -> Any:
    """x without these dimensions of one element, or without any."""
    return T.squeeze(as_tensor(x), list(axes) or None)


@reads("old_unsqueeze")
def unsqueeze(x: Any, axes: Any) -> Any:
    """x with dimensions of one element more."""
    return T.unsqueeze(as_tensor(x), known_ints(axes))


@reads("old_flatten", "flatten2")
def flatten(x: Any, *, axis: int = 1) -> Any:
    """A matrix of the first `axis` dimensions and the others."""
    x = as_tensor(x)
    if not 0 <= axis <= x.ndim:
        raise FileFormatError(f"there is no axis {axis} of {x.ndim}")
    if axis == 0:
        return T.reshape(x, [1, -1])
    rows = T.flatten(x, 0, axis - 1)
    return T.flatten(rows, 1, -1) if rows.ndim > 1 else T.unsqueeze(rows, 1)


@reads("old_expand")
def expand(x: Any, times: Any) -> Any:
    """x so many times along each dimension."""
    return T.tile(as_tensor(x), known_ints(times))


@reads("expand_as_v2")
def expand_as(x: Any, y: Any = None, *, target_shape: Sequence[int] = ()) -> Any:
    """x in the shape of y."""
    return T.expand(as_tensor(x), list(target_shape)) if y is None else T.expand_as(as_tensor(x), as_tensor(y))


@reads("old_crop")
def crop(x: Any, y: Any, offsets: Any, *, shape: Sequence[int] = ()) -> Any:
    """A block of x of this shape, or of y's."""
    return T.crop(as_tensor(x), list(shape) if y is None else as_tensor(y).shape, known_ints(offsets))


@reads("reverse")
def reverse(x: Any, *, axis: Sequence[int]) -> Any:
    """x from the other end."""
    return T.flip(as_tensor(x), list(axis))


@reads("shuffle_channel")
def shuffle_channel(x: Any, *, group: int = 1) -> Any:
    """The channels, of each group in turn."""
    return F.channel_shuffle(as_tensor(x), group)


@reads("lookup_table")
def lookup_table(w: Any, ids: Any, *, padding_idx: int = -1) -> Any:
    """Rows of a table, by numbers in a last dimension of one element; those of padding_idx are zeros."""
    found = F.embedding(T.squeeze(as_tensor(ids), -1), as_tensor(w))
    if padding_idx == -1:
        return found
    return T.where(as_tensor(ids) == padding_idx, T.zeros([1], found.dtype), found)


@reads("old_one_hot")
def one_hot(x: Any, depth: Any, *, dtype: int = 5, allow_out_of_range: bool = False) -> Any:
    """Numbers in a last dimension of one element as vectors."""
    return F.one_hot(T.squeeze(as_tensor(x), -1), int(known_number(depth)))


@reads("shard_index")
def shard_index(x: Any, *, index_num: int, nshards: int, shard_id: int, ignore_value: int = -1) -> Any:
    """Numbers of a part of a table."""
    return shard_index_(as_tensor(x), index_num, nshards, shard_id, ignore_value)


def _parts(xs: Sequence[Any], start: int, length: int) -> list[Any]:
    tensors = [as_tensor(x) for x in xs]
    if not tensors or any(x.ndim != 2 or x.shape[1] == UNKNOWN for x in tensors):
        raise UnsupportedError("parts of others than matrices cannot be read")
    width = tensors[0].shape[1]
    first = start % width
    return [x[:, first : width if length < 0 else first + length] for x in tensors]


@reads("partial_concat")
def partial_concat(xs: Sequence[Any], *, start_index: int = 0, length: int = -1) -> Any:
    """Some columns of each, side by side."""
    return T.concat(_parts(xs, start_index, length), 1)


@reads("partial_sum")
def partial_sum(xs: Sequence[Any], *, start_index: int = 0, length: int = -1) -> Any:
    """The sum of some columns of each."""
    return T.add_n(_parts(xs, start_index, length))


# -- numbers -----------------------------------------------------------------------------------------------------------


@reads("soft_relu")
def soft_relu(x: Any, *, threshold: float = 40.0) -> Any:
    """log(1 + exp(x)) of what is cut off on both sides."""
    return T.log(T.exp(T.clip(as_tensor(x), -threshold, threshold)) + 1.0)


@reads("l2_normalize")
def l2_normalize(x: Any, *, axis: int = -1, epsilon: float = 1e-10) -> Any:
    """x over its length along an axis, and that length."""
    x = as_tensor(x)
    length = T.sqrt(T.sum(x * x, axis=axis, keepdim=True) + epsilon)
    return x / length, length


@reads("l1_norm")
def l1_norm(x: Any) -> Any:
    """The sum of magnitudes."""
    return T.sum(T.abs(as_tensor(x)))


def _of_all(function: Callable[[Any], Any], joined: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: T.reshape(joined(function(as_tensor(x))), [1])


reads("old_isfinite")(_of_all(T.isfinite, T.all))
reads("old_isinf")(_of_all(T.isinf, T.any))
reads("old_isnan")(_of_all(T.isnan, T.any))


@reads("top_k")
def top_k(x: Any, k: Any) -> Any:
    """The largest numbers of each row, and where they are."""
    return T.topk(as_tensor(x), int(known_number(k)))


@reads("unique_with_counts")
def unique_with_counts(x: Any, *, dtype: int = 2) -> Any:
    """The distinct elements by their first place; which of them is where, and how many of each there are."""
    out, where, counts = in_order_of_place(as_tensor(x))
    kind = int32 if dtype == 2 else where.dtype
    return out, T.cast(where, kind), T.cast(counts, kind)


def in_order_of_place(x: Any) -> tuple[Any, Any, Any]:
    """The distinct elements by their first place, which of them is where, and counts."""
    out, first, where, counts = T.unique(x, True, True, True)
    order = T.argsort(first)
    rank = T.argsort(order)
    return T.index_select(out, order), T.index_select(rank, where), T.index_select(counts, order)


@reads("fill_zeros_like")
def fill_zeros_like(x: Any) -> Any:
    """Zeros."""
    return T.zeros_like(as_tensor(x))


@reads("fill_any")
def fill_any(x: Any, *, value_float: float = 0.0, value_int: int = 0) -> Any:
    """One number, of x's dtype."""
    x = as_tensor(x)
    return T.full_like(x, value_float if x.dtype.is_floating else value_int)


@reads("fill_constant_batch_size_like")
def fill_constant_batch_size_like(
    x: Any, *, shape: Sequence[int], value: float = 0.0, str_value: str = "", dtype: DType = float32,
    input_dim_idx: int = 0, output_dim_idx: int = 0,
) -> Any:  # fmt: skip
    """One number, in a shape of which one size is that of x."""
    sizes: list[Any] = list(shape)
    if not 0 <= output_dim_idx < len(sizes):
        raise FileFormatError(f"there is no dimension {output_dim_idx} of {len(sizes)}")
    sizes[output_dim_idx] = T.shape(as_tensor(x))[input_dim_idx]
    return T.full(sizes, float(str_value) if str_value else value, dtype)
