"""Normalizations with what stands before them: bias and residual."""

from __future__ import annotations

from typing import Any

from ....core.errors import ArgumentError, UnsupportedError
from ....core.meta import UNKNOWN
from ....ops.arguments import rank_of
from ....ops.normalization import layer_norm_op, rms_norm
from ....ops.shape import flatten


def fused_layer_norm(
    x: Any, norm_weight: Any, norm_bias: Any, epsilon: float, residual_alpha: float = 1.0, begin_norm_axis: int = 1,
    bias: Any = None, residual: Any = None, quant_scale: float = -1, quant_round_type: float = 0,
    quant_max_bound: float = 0, quant_min_bound: float = 0,
) -> tuple[Any, Any, Any, Any]:  # fmt: skip
    """The layer norm of x + bias + residual_alpha * residual, that sum, and mean and 1 / deviation of each row.

    x: [*] -> [*], [*], [rows], [rows]; weights have as many values as the dimensions from begin_norm_axis on. Without
    weights the first is the sum itself. Raises UnsupportedError when a quantized result is asked for.
    Source: paddle.incubate.nn.functional.fused_layer_norm.

    Example:
        >>> import vitrify as paddle
        >>> x, w = paddle.to_tensor([[1.0, 3.0]]), paddle.ones([2])
        >>> paddle.incubate.nn.functional.fused_layer_norm(x, w, w, 0.0)[0].tolist()
        [[0.0, 2.0]]
    """
    _refuse_quantized("fused_layer_norm", quant_scale)
    total = _summed(x, bias, residual, residual_alpha)
    axes = _axes("fused_layer_norm", total, begin_norm_axis)
    given = [None if w is None else _in_shape(w, total, axes) for w in (norm_weight, norm_bias)]
    out, mean, rstd = layer_norm_op(total, *given, axes=axes, param_axes=axes, groups=0, epsilon=float(epsilon))
    plain = norm_weight is None and norm_bias is None
    return total if plain else out, total, flatten(mean), flatten(rstd)


def fused_rms_norm(
    x: Any, norm_weight: Any, norm_bias: Any, epsilon: float, begin_norm_axis: int = 1, bias: Any = None,
    residual: Any = None, quant_scale: float = -1, quant_round_type: float = 0, quant_max_bound: float = 0,
    quant_min_bound: float = 0,
) -> tuple[Any, Any]:  # fmt: skip
    """The RMS norm of x + bias + residual, plus norm_bias, and that sum. x: [*] -> [*], [*].

    Raises UnsupportedError when a quantized result is asked for. Source: paddle.incubate.nn.functional.fused_rms_norm.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([[3.0, 3.0]])
        >>> paddle.incubate.nn.functional.fused_rms_norm(x, paddle.ones([2]), None, 0.0)[0].tolist()
        [[1.0, 1.0]]
    """
    _refuse_quantized("fused_rms_norm", quant_scale)
    total = _summed(x, bias, residual, 1.0)
    axes = _axes("fused_rms_norm", total, begin_norm_axis)
    sizes = [total.shape[a] for a in axes]
    out = rms_norm(total, sizes, _in_shape(norm_weight, total, axes), epsilon)[0]
    return out if norm_bias is None else out + _in_shape(norm_bias, total, axes), total


def fused_rms_norm_ext(x: Any, scale: Any, epsilon: float = 1e-5, name: str | None = None) -> tuple[Any, Any]:
    """The RMS norm of the last dimension, and 1 / sqrt(mean of squares) of each row. x: [*, n] -> [*, n], [rows].

    Source: paddle.incubate.nn.functional.fused_rms_norm_ext.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([[2.0, 2.0]])
        >>> out, scale = paddle.incubate.nn.functional.fused_rms_norm_ext(x, paddle.ones([2]))
        >>> [round(v, 3) for v in out[0].tolist()], round(scale.item(), 3)
        ([1.0, 1.0], 0.5)
    """
    return rms_norm(x, [x.shape[-1]], scale, epsilon)


def fast_rms_norm(x: Any, scale: Any, epsilon: float = 1e-5) -> tuple[Any, Any]:
    """`fused_rms_norm_ext`. Source: paddle.incubate.nn.functional.fast_rms_norm.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([[2.0, 2.0]])
        >>> out, scale = paddle.incubate.nn.functional.fast_rms_norm(x, paddle.ones([2]))
        >>> [round(v, 3) for v in out[0].tolist()]
        [1.0, 1.0]
    """
    return fused_rms_norm_ext(x, scale, epsilon)


def fast_ln(x: Any, scale: Any, bias: Any, epsilon: float = 1e-5) -> tuple[Any, Any, Any]:
    """The layer norm of the last dimension, and mean and 1 / deviation of each row.

    x: [*, n] -> [*, n], [rows], [rows].
    Source: paddle.incubate.nn.functional.fast_ln.

    Example:
        >>> import vitrify as paddle
        >>> x, ones = paddle.to_tensor([[1.0, 3.0]]), paddle.ones([2])
        >>> out, mean, scale = paddle.incubate.nn.functional.fast_ln(x, ones, ones * 0)
        >>> [round(v, 3) for v in out[0].tolist()], mean.tolist()
        ([-1.0, 1.0], [2.0])
    """
    out, _, mean, rstd = fused_layer_norm(x, scale, bias, epsilon, begin_norm_axis=x.ndim - 1)
    return out, mean, rstd


def _summed(x: Any, bias: Any, residual: Any, alpha: float) -> Any:
    total = x if bias is None else x + bias
    return total if residual is None else total + (residual if alpha == 1.0 else residual * alpha)


def _axes(op: str, x: Any, begin: int) -> tuple[int, ...]:
    rank_of(op, x)
    if not 0 < begin < x.ndim:
        raise ArgumentError(
            f"{op}: begin_norm_axis must lie in [1, {x.ndim}) for x of shape {list(x.shape)}, got {begin}"
        )
    return tuple(range(begin, x.ndim))


def _in_shape(weight: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """A weight of one dimension in the shape of those normalized."""
    rank_of("fused_layer_norm", weight, "weight")
    sizes = [x.shape[a] for a in axes]
    return weight if len(sizes) == weight.ndim or UNKNOWN in sizes else weight.reshape(sizes)


def _refuse_quantized(op: str, scale: float) -> None:
    if scale > 0:
        raise UnsupportedError(f"{op}: no quantized results are made here, got quant_scale={scale}")
