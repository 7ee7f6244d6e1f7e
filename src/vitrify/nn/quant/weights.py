"""Linear layers whose weights are stored in 8 or 4 bits: each output channel, or group of its inputs, has a scale.

Stored weights are int8 [n, k] for a weight [k, n]; of 4 bits two channels share a row, the first in the lower bits.
"""

from __future__ import annotations

from typing import Any

from ...core.errors import ArgumentError, DTypeError, ShapeError
from ...ops.join import stack
from ...ops.select import clip, where
from ...ops.shape import reshape, unsqueeze
from ...ops.unary import round as rounded

BITS = {"weight_only_int8": 8, "weight_only_int4": 4, "llm.int8": 8}
GROUPS = (-1, 64, 128)
NIBBLE = 16


def weight_quantize(
    x: Any, algo: str = "weight_only_int8", arch: int | None = None, group_size: int = -1
) -> tuple[Any, Any]:
    """The weight [k, n] as whole steps, int8 [n, k] (for 4 bits [n / 2, k]), and the scales, [n] or [k / group, n].

    algo: "weight_only_int8", "weight_only_int4" or "llm.int8", whose scales are float32; those of the others have the
    dtype of x. arch changes nothing here. group_size: how many inputs share a scale; -1: all. Raises ArgumentError for
    other values, ShapeError for sizes that they do not divide. Source: paddle.nn.quant.weight_quantize.

    Example:
        >>> import vitrify as paddle
        >>> out, scale = paddle.nn.quant.weight_quantize(paddle.to_tensor([[1.0, -2.0], [0.5, 4.0]]))
        >>> out.tolist(), [round(s * 127, 3) for s in scale.tolist()]
        ([[127, 64], [-64, 127]], [1.0, 4.0])
    """
    bits = _bits("weight_quantize", algo)
    _check("weight_quantize", x, group_size, bits)
    steps = 2 ** (bits - 1) - 1
    grouped = reshape(x.astype("float32"), [-1, x.shape[0] if group_size < 0 else group_size, x.shape[1]])
    scales = grouped.abs().max(axis=1) / steps
    whole = rounded(grouped / where(scales == 0, scales + 1, scales).unsqueeze(1))
    whole = clip(whole, -steps, steps).reshape(x.shape).transpose([1, 0]).astype("int8")
    scales = scales.squeeze(0) if group_size < 0 else scales
    return _packed(whole) if bits == 4 else whole, scales if algo == "llm.int8" else scales.astype(x.dtype)


def weight_dequantize(
    x: Any, scale: Any, algo: str = "weight_only_int8", out_dtype: Any = "float16", group_size: int = -1
) -> Any:
    """The weight [k, n] that `weight_quantize` made into `x`, in the dtype of its scales.

    out_dtype changes nothing, as in PaddlePaddle. Raises ArgumentError for other values of algo and group_size.
    Source: paddle.nn.quant.weight_dequantize.

    Example:
        >>> import vitrify as paddle
        >>> out, scale = paddle.nn.quant.weight_quantize(paddle.to_tensor([[1.0, -4.0], [0.0, 4.0]]))
        >>> paddle.nn.quant.weight_dequantize(out, scale).tolist()
        [[1.0, -4.0], [0.0, 4.0]]
    """
    bits = _bits("weight_dequantize", algo)
    _check_group("weight_dequantize", group_size)
    return _restored(x, scale, bits, group_size)


def weight_only_linear(
    x: Any, weight: Any, bias: Any = None, weight_scale: Any = None, weight_dtype: str = "int8",
    arch: int | None = None, group_size: int = -1,
) -> Any:  # fmt: skip
    """x [..., k] times the stored weight, plus bias: [..., n] in the dtype of x.

    weight, weight_scale: what `weight_quantize` gave; without scales they are 1. weight_dtype: "int8" or "int4". arch
    changes nothing here. Raises ArgumentError for others. Source: paddle.nn.quant.weight_only_linear.

    Example:
        >>> import vitrify as paddle
        >>> out, scale = paddle.nn.quant.weight_quantize(paddle.to_tensor([[1.0, -4.0], [0.0, 4.0]]))
        >>> paddle.nn.quant.weight_only_linear(paddle.to_tensor([[2.0, 1.0]]), out, weight_scale=scale).tolist()
        [[2.0, -4.0]]
    """
    if weight_dtype not in ("int8", "int4"):
        raise ArgumentError(f"weight_only_linear: weight_dtype must be int8 or int4, got {weight_dtype!r}")
    _check_group("weight_only_linear", group_size)
    restored = _restored(weight, weight_scale, int(weight_dtype.removeprefix("int")), group_size)
    return _with_bias(x.matmul(restored.astype(x.dtype)), bias)


def llm_int8_linear(x: Any, weight: Any, bias: Any = None, weight_scale: Any = None, threshold: float = 6.0) -> Any:
    """x [..., k] times the stored weight, plus bias, multiplying whole numbers of 8 bits: [..., n] in the dtype of x.

    Features of x with a value beyond the threshold are multiplied as they are. weight, weight_scale: what
    `weight_quantize(..., algo="llm.int8")` gave. Source: paddle.nn.quant.llm_int8_linear; Dettmers et al. 2022.

    Example:
        >>> import vitrify as paddle
        >>> out, scale = paddle.nn.quant.weight_quantize(paddle.to_tensor([[1.0, -4.0], [0.0, 4.0]]), algo="llm.int8")
        >>> x = paddle.to_tensor([8.0, 1.0])
        >>> [round(v, 4) for v in paddle.nn.quant.llm_int8_linear(x, out, weight_scale=scale).tolist()]
        [8.0, -28.0]
    """
    own = x.astype("float32")
    rows = own.reshape([-1, x.shape[-1]])
    is_outlier = (rows.abs() > threshold).any(axis=0)
    restored = _restored(weight, weight_scale, 8, -1).astype("float32")
    inner = where(is_outlier, rows * 0.0, rows)
    most = inner.abs().max(axis=-1, keepdim=True) / 127.0
    whole = rounded(inner / where(most == 0, most + 1.0, most))
    product = whole.matmul(restored) * most + where(is_outlier, rows, rows * 0.0).matmul(restored)
    return _with_bias(product.reshape([*x.shape[:-1], restored.shape[1]]).astype(x.dtype), bias)


def _with_bias(product: Any, bias: Any) -> Any:
    return product if bias is None else product + bias


def _restored(stored: Any, scale: Any, bits: int, group_size: int) -> Any:
    whole = (_unpacked(stored) if bits == 4 else stored).transpose([1, 0])
    if scale is None:
        return whole.astype("float32")
    if group_size < 0:
        return whole.astype(scale.dtype) * scale
    grouped = reshape(whole, [-1, group_size, whole.shape[1]]).astype(scale.dtype)
    return reshape(grouped * unsqueeze(scale, 1), whole.shape)


def _packed(whole: Any) -> Any:
    """Numbers of 4 bits, [n, k], two rows in one."""
    low, high = whole[0::2].astype("int32"), whole[1::2].astype("int32")
    return (high * NIBBLE + low % NIBBLE).astype("int8")


def _unpacked(stored: Any) -> Any:
    wide = stored.astype("int32")
    low = (wide + NIBBLE // 2) % NIBBLE - NIBBLE // 2
    return reshape(stack([low, (wide - low % NIBBLE) // NIBBLE], axis=1), [-1, stored.shape[1]])


def _bits(owner: str, algo: str) -> int:
    if algo not in BITS:
        raise ArgumentError(f"{owner}: algo must be one of {', '.join(BITS)}, got {algo!r}")
    return BITS[algo]


def _check_group(owner: str, group_size: int) -> None:
    if group_size not in GROUPS:
        raise ArgumentError(f"{owner}: group_size must be -1, 64 or 128, got {group_size}")


def _check(owner: str, x: Any, group_size: int, bits: int) -> None:
    _check_group(owner, group_size)
    if not x.dtype.is_floating:
        raise DTypeError(f"{owner}: x must be a floating tensor, got {x.dtype.name}")
    if x.ndim != 2:
        raise ShapeError(f"{owner}: x must have two dimensions, [inputs, outputs], got {list(x.shape)}")
    if group_size > 0 and x.shape[0] % group_size:
        raise ShapeError(f"{owner}: groups of {group_size} do not divide the {x.shape[0]} inputs")
    if bits == 4 and x.shape[1] % 2:
        raise ShapeError(f"{owner}: with 4 bits the number of outputs must be even, got {x.shape[1]}")


__all__ = ["llm_int8_linear", "weight_dequantize", "weight_only_linear", "weight_quantize"]
