"""Operators that programs have whose numbers are rounded to few bits: scales, rounding, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import tensor as T
from ..core.errors import FileFormatError, UnsupportedError
from ..ir.known_values import as_tensor
from .operator_table import reads


def _levels(bit_length: int) -> float:
    if not 1 < bit_length <= 16:
        raise FileFormatError(f"numbers of {bit_length} bits are none")
    return float((1 << (bit_length - 1)) - 1)


def _rounded(x: Any, scale: Any, levels: float, round_type: int) -> Any:
    """x in whole steps of the scale; with round_type 0, halves go to the even number."""
    if round_type == 0:
        return T.clip(T.round(x / scale * levels), -levels - 1, levels)
    # Away from zero, of what is inside of the scale.
    inside = T.maximum(T.minimum(x, scale), -scale) * (levels / scale)
    return T.sign(inside) * T.floor(T.abs(inside) + 0.5)


def _largest(x: Any, axis: int | None) -> Any:
    found = T.abs(x)
    if axis is None:
        return T.reshape(T.max(found), [1])
    return T.max(found, axis=[i for i in range(x.ndim) if i != axis], keepdim=True)


def _quantizer(by_channel: bool, back: bool) -> Callable[..., Any]:
    def quantize(x: Any, *, bit_length: int = 8, round_type: int = 1, quant_axis: int = 0) -> Any:
        """x rounded by its own largest magnitude, of all or of each channel, and that."""
        x, levels = as_tensor(x), _levels(bit_length)
        scale = _largest(x, quant_axis if by_channel else None)
        out = _rounded(x, scale, levels, round_type)
        return out * scale / levels if back else out, T.reshape(scale, [-1])

    return quantize


reads("fake_quantize_abs_max")(_quantizer(False, False))
reads("fake_quantize_dequantize_abs_max")(_quantizer(False, True))
reads("fake_channel_wise_quantize_abs_max")(_quantizer(True, False))
reads("fake_channel_wise_quantize_dequantize_abs_max")(_quantizer(True, True))


@reads("fake_quantize_dequantize_moving_average_abs_max")
def with_kept_scale(
    x: Any, scale: Any, accum: Any = None, state: Any = None, *, bit_length: int = 8, round_type: int = 1
) -> Any:
    """x rounded by a scale that training has found."""
    scale, levels = as_tensor(scale), _levels(bit_length)
    return _rounded(as_tensor(x), scale, levels, round_type) * scale / levels, scale, state, accum


@reads("moving_average_abs_max_scale")
def observed(x: Any, accum: Any = None, state: Any = None) -> Any:
    """x, whose scale was observed in training."""
    return as_tensor(x) + 0.0, None, state, accum


@reads("fake_dequantize_max_abs")
def dequantize_max_abs(x: Any, scale: Any, *, max_range: float) -> Any:
    """Whole numbers times their step."""
    return as_tensor(x) * as_tensor(scale) / max_range


@reads("fake_channel_wise_dequantize_max_abs")
def dequantize_channels(
    x: Any, scales: Sequence[Any], *, quant_bits: Sequence[int], quant_axis: int = 0, x_num_col_dims: int = 1
) -> Any:
    """Whole numbers times the step of each channel."""
    if len(scales) != 1 or not quant_bits:
        raise UnsupportedError("whole numbers with the scale of what they were multiplied by cannot be read")
    x = as_tensor(x)
    return x * _along(x, as_tensor(scales[0]), quant_axis) / _levels(quant_bits[0])


def _along(x: Any, scale: Any, axis: int) -> Any:
    if axis < 0:
        return scale
    return T.reshape(scale, [-1 if i == axis else 1 for i in range(x.ndim)])


@reads("quantize_linear")
def quantize_linear(
    x: Any, scale: Any, zero: Any = None, accum: Any = None, state: Any = None, *, quant_axis: int = -1,
    bit_length: int = 8, round_type: int = 0, only_observer: bool = False,
) -> Any:  # fmt: skip
    """x as whole steps of a scale, of all or of each channel."""
    x, scale = as_tensor(x), as_tensor(scale)
    if only_observer:
        return x + 0.0, scale, accum, state
    return _rounded(x, _along(x, scale, quant_axis), _levels(bit_length), round_type), scale, accum, state


@reads("dequantize_linear")
def dequantize_linear(
    x: Any, scale: Any, zero: Any = None, accum: Any = None, state: Any = None, *, quant_axis: int = -1,
    bit_length: int = 8, only_observer: bool = False,
) -> Any:  # fmt: skip
    """Whole steps of a scale as numbers."""
    x, scale = as_tensor(x), as_tensor(scale)
    if only_observer:
        return x + 0.0, scale, accum, state
    return T.cast(x, scale.dtype) * _along(x, scale, quant_axis) / _levels(bit_length), scale, accum, state
