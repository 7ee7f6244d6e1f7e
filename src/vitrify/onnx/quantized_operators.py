"""What ONNX's operators of quantized numbers mean here: whole numbers of 8 bits, times a scale, from a zero point."""

from __future__ import annotations

from typing import Any

from ..core.dtype import DType, float32, float64, int8, int32, uint8
from ..core.errors import UnsupportedError
from ..ir.known_values import as_tensor
from ..ops import functions as F
from .layer_operators import conv
from .node import Node, axis_in
from .operator_table import operator

_ENDS: dict[DType, tuple[int, int]] = {uint8: (0, 255), int8: (-128, 127)}


def _along(value: Any, ndim: int, axis: int) -> Any:
    """One number for all, or one for each place along an axis, to stand beside a tensor."""
    found = as_tensor(value)
    if found.ndim == 0 or found.shape == [1]:
        return F.reshape(found, [])
    if found.ndim != 1:
        raise UnsupportedError("scales of blocks cannot be read")
    return F.reshape(found, [-1 if d == axis else 1 for d in range(ndim)])


def _quantized(x: Any, zero: Any, kind: DType) -> Any:
    """x, in units of its scale, as the nearest whole numbers from a zero point on."""
    if kind not in _ENDS:
        raise UnsupportedError(f"numbers quantized to {kind} cannot be read")
    found = F.round(x)
    found = found if zero is None else found + F.cast(zero, x.dtype)
    return F.cast(F.clip(found, *_ENDS[kind]), kind)


def _shifted(x: Any, zero: Any, dtype: DType, axis: int) -> Any:
    """Whole numbers less their zero point, in a floating dtype that holds the difference."""
    found = F.cast(as_tensor(x), dtype)
    return found if zero is None else found - F.cast(_along(zero, found.ndim, axis), dtype)


@operator("QuantizeLinear")
def quantize(node: Node, x: Any, scale: Any, zero: Any = None) -> Any:
    """x over its scale, as whole numbers."""
    node.refuse("block_size", 0)
    node.refuse("output_dtype", 0)
    x = as_tensor(x)
    axis = axis_in(node.number("axis", 1), x.ndim) if x.ndim > 1 else 0
    start = None if zero is None else _along(zero, x.ndim, axis)
    return _quantized(F.cast(x, float32) / _along(scale, x.ndim, axis), start, uint8 if start is None else start.dtype)


@operator("DequantizeLinear")
def dequantize(node: Node, x: Any, scale: Any, zero: Any = None) -> Any:
    """Whole numbers less their zero point, times their scale."""
    node.refuse("block_size", 0)
    x, by = as_tensor(x), as_tensor(scale)
    axis = axis_in(node.number("axis", 1), x.ndim) if x.ndim > 1 else 0
    return _shifted(x, zero, by.dtype, axis) * _along(by, x.ndim, axis)


@operator("DynamicQuantizeLinear")
def quantize_anew(node: Node, x: Any) -> Any:
    """x as whole numbers by a scale that fits it, the scale, and the zero point."""
    x = as_tensor(x)
    low, high = F.clip(F.min(x), max=0.0), F.clip(F.max(x), min=0.0)
    scale = (high - low) / 255.0
    scale = F.where(scale == 0, F.ones_like(scale), scale)
    zero = _quantized(-low / scale, None, uint8)
    return _quantized(x / scale, zero, uint8), scale, zero


@operator("MatMulInteger")
def whole_product(node: Node, a: Any, b: Any, a_zero: Any = None, b_zero: Any = None) -> Any:
    """The product of whole numbers less their zero points: exact in float64."""
    return F.cast(_product(a, a_zero, b, b_zero), int32)


def _product(a: Any, a_zero: Any, b: Any, b_zero: Any) -> Any:
    rows, columns = as_tensor(a).ndim - 2, as_tensor(b).ndim - 1
    return F.matmul(_shifted(a, a_zero, float64, rows), _shifted(b, b_zero, float64, columns))


@operator("QLinearMatMul")
def quantized_product(
    node: Node, a: Any, a_scale: Any, a_zero: Any, b: Any, b_scale: Any, b_zero: Any, y_scale: Any, y_zero: Any
) -> Any:
    """The product of what the numbers stand for, quantized again."""
    found = _product(a, a_zero, b, b_zero)
    n = found.ndim
    by = _along(a_scale, n, n - 2) * _along(b_scale, n, n - 1) / _along(y_scale, n, n - 2)
    start = _along(y_zero, n, n - 2)
    return _quantized(F.cast(found, float32) * by, start, start.dtype)


@operator("ConvInteger")
def whole_convolution(node: Node, x: Any, weight: Any, x_zero: Any = None, w_zero: Any = None) -> Any:
    """The convolution of whole numbers less their zero points: exact in float64."""
    return F.cast(_convolution(node, x, x_zero, weight, w_zero), int32)


def _convolution(node: Node, x: Any, x_zero: Any, weight: Any, w_zero: Any) -> Any:
    return conv(node, _shifted(x, x_zero, float64, 1), _shifted(weight, w_zero, float64, 0))


@operator("QLinearConv")
def quantized_convolution(
    node: Node, x: Any, x_scale: Any, x_zero: Any, weight: Any, w_scale: Any, w_zero: Any, y_scale: Any, y_zero: Any,
    bias: Any = None,
) -> Any:  # fmt: skip
    """The convolution of what the numbers stand for, quantized again; the bias is in units of the products."""
    found = _convolution(node, x, x_zero, weight, w_zero)
    n = found.ndim
    if bias is not None:
        found = found + _along(F.cast(as_tensor(bias), float64), n, 1)
    by = _along(x_scale, n, 1) * _along(w_scale, n, 1) / _along(y_scale, n, 1)
    start = _along(y_zero, n, 1)
    return _quantized(F.cast(found, float32) * by, start, start.dtype)
