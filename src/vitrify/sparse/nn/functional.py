"""Functions of sparse tensors in networks. Source: paddle.sparse.nn.functional."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...core.errors import ArgumentError, ShapeError
from ...ops import activation
from ...ops.creation import full
from ...ops.gather import gather
from ...ops.matmul import matmul
from ...ops.put_along_axis import put_along_axis
from ...ops.scatter import scatter_nd
from ...ops.select import maximum
from ...ops.shape import unsqueeze
from ...ops.sliding_window import per_dim
from ...ops.sparse_tensor import SparseCooTensor
from ...ops.unary import exp
from ..unary import need_sparse
from .windows import Stored, Window, need_channels, need_voxels, reached, tap_columns, window_of


def relu(x: Any, name: str | None = None) -> Any:
    """relu of each stored element. Source: paddle.sparse.nn.functional.relu.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 2]], [-1.0, 3.0], [4])
        >>> paddle.sparse.nn.functional.relu(x).values().tolist()
        [0.0, 3.0]
    """
    return need_sparse("nn.relu", x).with_values(activation.relu(x.values()))


def relu6(x: Any, name: str | None = None) -> Any:
    """relu6 of each stored element. Source: paddle.sparse.nn.functional.relu6.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 2]], [-1.0, 9.0], [4])
        >>> paddle.sparse.nn.functional.relu6(x).values().tolist()
        [0.0, 6.0]
    """
    return need_sparse("nn.relu6", x).with_values(activation.relu6(x.values()))


def leaky_relu(x: Any, negative_slope: float = 0.01, name: str | None = None) -> Any:
    """leaky_relu of each stored element. Source: paddle.sparse.nn.functional.leaky_relu.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 2]], [-1.0, 9.0], [4])
        >>> paddle.sparse.nn.functional.leaky_relu(x, 0.5).values().tolist()
        [-0.5, 9.0]
    """
    return need_sparse("nn.leaky_relu", x).with_values(activation.leaky_relu(x.values(), negative_slope))


def softmax(x: Any, axis: int = -1, name: str | None = None) -> Any:
    """softmax over the stored elements of each row: what is not stored counts as minus infinity.

    axis: the last one alone. Raises ArgumentError or ShapeError. Source: paddle.sparse.nn.functional.softmax.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 0, 1], [0, 2, 1]], [2.0, 2.0, 7.0], [2, 3])
        >>> paddle.sparse.nn.functional.softmax(x).values().tolist()
        [0.5, 0.5, 1.0]
    """
    places = need_sparse("nn.softmax", x).coo()
    if axis not in (-1, x.ndim - 1):
        raise ArgumentError(f"sparse.nn.softmax: axis must be the last one, got {axis}")
    if places.dense_dim() or x.ndim < 2:
        raise ShapeError(f"sparse.nn.softmax: x must have 2 or more dimensions, all with indices, got {list(x.shape)}")
    rows = SparseCooTensor(places.indices()[:-1], places.values(), x.shape[:-1])
    row, count = rows.flat_places(), math.prod(rows.shape)
    values = x.values()
    largest = put_along_axis(full([count], -math.inf, values.dtype), row, values.detach(), 0, "amax")
    powers = exp(values - gather(largest, row))
    totals = scatter_nd(unsqueeze(row, 1), powers, [count])
    return x.with_values(powers / gather(totals, row))


def conv2d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: int | Sequence[int] = 1,
    padding: Any = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
    data_format: str = "NHWC",
    name: str | None = None,
) -> SparseCooTensor:
    """Convolution of sparse x [N, H, W, C] -> [N, *sizes, M], stored where a window holds a stored element.

    weight: [kH, kW, C, M]; bias: [M], added to what is stored. Source: paddle.sparse.nn.functional.conv2d.
    """
    return _convolved("conv2d", 2, x, weight, bias, (stride, padding, dilation, groups, data_format))


def conv3d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: int | Sequence[int] = 1,
    padding: Any = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> SparseCooTensor:
    """Convolution of sparse x [N, D, H, W, C] -> [N, *sizes, M], stored where a window holds a stored element.

    weight: [kD, kH, kW, C, M]; bias: [M], added to what is stored. Source: paddle.sparse.nn.functional.conv3d.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0], [0], [1], [1]], [[2.0]], [1, 1, 3, 3, 1])
        >>> paddle.sparse.nn.functional.conv3d(x, paddle.ones([1, 2, 2, 1, 1])).nnz()
        4
    """
    return _convolved("conv3d", 3, x, weight, bias, (stride, padding, dilation, groups, data_format))


def subm_conv2d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: int | Sequence[int] = 1,
    padding: Any = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
    data_format: str = "NHWC",
    key: str | None = None,
    name: str | None = None,
) -> SparseCooTensor:
    """Convolution of sparse x [N, H, W, C] -> [N, H, W, M], stored where x is; see `subm_conv3d`.

    Source: paddle.sparse.nn.functional.subm_conv2d.
    """
    return _submanifold("subm_conv2d", 2, x, weight, bias, (stride, dilation, groups, data_format))


def subm_conv3d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: int | Sequence[int] = 1,
    padding: Any = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
    data_format: str = "NDHWC",
    key: str | None = None,
    name: str | None = None,
) -> SparseCooTensor:
    """Submanifold convolution of sparse x [N, D, H, W, C] -> [N, D, H, W, M]: its result is stored where x is.

    The kernel's middle lies on each stored element, whatever `padding` says; stride: 1 alone. key: under which other
    layers look up what is where; it is found anew here. Source: paddle.sparse.nn.functional.subm_conv3d.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 0], [0, 0], [1, 1], [1, 2]], [[2.0], [1.0]], [1, 1, 3, 3, 1])
        >>> paddle.sparse.nn.functional.subm_conv3d(x, paddle.ones([1, 3, 3, 1, 1])).values().tolist()
        [[3.0], [3.0]]
    """
    return _submanifold("subm_conv3d", 3, x, weight, bias, (stride, dilation, groups, data_format))


def _convolved(op: str, dims: int, x: Any, weight: Any, bias: Any, settings: tuple[Any, ...]) -> SparseCooTensor:
    stride, padding, dilation, groups, data_format = settings
    source = need_voxels(op, x, dims)
    need_channels(op, source, weight, dims, groups, data_format)
    window = window_of(op, source, list(weight.shape[:dims]), stride, padding, dilation)
    indices = reached(source, window)
    values = _summed(source, window, indices, weight, bias)
    return SparseCooTensor(indices, values, [source.shape[0], *window.positions(), weight.shape[-1]])


def _submanifold(op: str, dims: int, x: Any, weight: Any, bias: Any, settings: tuple[Any, ...]) -> SparseCooTensor:
    stride, dilation, groups, data_format = settings
    source = need_voxels(op, x, dims)
    need_channels(op, source, weight, dims, groups, data_format)
    if set(per_dim(op, stride, dims, "stride")) != {1}:
        raise ArgumentError(f"sparse.nn.{op}: stride must be 1, for the result is stored where x is, got {stride}")
    kernel = [int(n) for n in weight.shape[:dims]]
    steps = per_dim(op, dilation, dims, "dilation")
    middle = [low for n, step in zip(kernel, steps) for low in ((n // 2) * step, ((n - 1) // 2) * step)]
    window = window_of(op, source, kernel, 1, middle, dilation)
    values = _summed(source, window, source.indices(), weight, bias)
    return SparseCooTensor(source.indices(), values, [*source.shape[:-1], weight.shape[-1]])


def _summed(source: SparseCooTensor, window: Window, indices: Any, weight: Any, bias: Any) -> Any:
    """The products of the windows at `indices` with the weight: [n, M]."""
    stored = Stored(source, 0.0)
    columns = [indices[axis + 1] for axis in range(len(window.kernel))]
    total = bias
    for tap in window.taps():
        found = stored.at(indices[0], tap_columns(window, tap, columns))
        part = matmul(found, weight[tap])
        total = part if total is None else total + part
    return total


def max_pool3d(
    x: Any,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> SparseCooTensor:
    """The largest stored element of each window of sparse x [N, D, H, W, C], stored where there is one.

    Source: paddle.sparse.nn.functional.max_pool3d.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 0], [0, 0], [1, 0], [1, 1]], [[-2.0], [-1.0]], [1, 2, 2, 2, 1])
        >>> paddle.sparse.nn.functional.max_pool3d(x, 2).values().tolist()
        [[-1.0]]
    """
    if data_format != "NDHWC":
        raise ArgumentError(f"sparse.nn.max_pool3d: data_format must be 'NDHWC', got {data_format!r}")
    source = need_voxels("max_pool3d", x, 3)
    kernel = per_dim("max_pool3d", kernel_size, 3, "kernel_size")
    window = window_of("max_pool3d", source, kernel, kernel if stride is None else stride, padding, 1, ceil_mode)
    indices, stored = reached(source, window), Stored(source, -math.inf)
    columns = [indices[axis] for axis in (1, 2, 3)]
    values = None
    for tap in window.taps():
        found = stored.at(indices[0], tap_columns(window, tap, columns))
        values = found if values is None else maximum(values, found)
    return SparseCooTensor(indices, values, [source.shape[0], *window.positions(), source.shape[-1]])


__all__ = [
    "conv2d", "conv3d", "leaky_relu", "max_pool3d", "relu", "relu6", "softmax", "subm_conv2d", "subm_conv3d",
]  # fmt: skip
