"""Blocks of transformers as one function each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....core.dtype import int32
from ....core.errors import ArgumentError, ShapeError, UnsupportedError
from ....ops.activation import gelu, relu, silu
from ....ops.creation import arange
from ....ops.dropout import dropout
from ....ops.join import concat, stack
from ....ops.like import cast
from ....ops.linear import linear
from ....ops.matmul import matmul
from ....ops.normalization import layer_norm
from ....ops.select import where
from ....ops.shape import flatten, reshape, unsqueeze
from ....ops.sizes import size_of
from ....ops.softmax import softmax, swiglu
from ....ops.special import sigmoid
from ....ops.split import chunk
from ....ops.transpose import transpose


def _gated(activation: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def call(x: Any) -> Any:
        first, second = chunk(x, 2, -1)
        return activation(first) * second

    return call


_ACTS: dict[str, Callable[[Any], Any]] = {
    "gelu": gelu, "relu": relu, "silu": silu, "swish": silu, "sigmoid": sigmoid, "swiglu": swiglu,
    "geglu": _gated(gelu),
}  # fmt: skip


def fused_bias_act(
    x: Any, bias: Any = None, dequant_scales: Any = None, shift: Any = None, smooth: Any = None,
    act_method: str = "gelu", compute_dtype: str = "default", quant_scale: float = -1, quant_round_type: int = 0,
    quant_max_bound: float = 0, quant_min_bound: float = 0,
) -> Any:  # fmt: skip
    """The activation of x + bias, then (... + shift) * smooth: [*, n] -> [*, n], half as wide for "swiglu" and "geglu".

    Raises ArgumentError for other activations, UnsupportedError when quantized numbers are given or asked for.
    Source: paddle.incubate.nn.functional.fused_bias_act.

    Example:
        >>> import vitrify as paddle
        >>> paddle.incubate.nn.functional.fused_bias_act(paddle.ones([2]), paddle.ones([2]), act_method="relu").tolist()
        [2.0, 2.0]
    """
    if act_method not in _ACTS:
        raise ArgumentError(f"fused_bias_act: act_method must be one of {[*_ACTS]}, got {act_method!r}")
    if dequant_scales is not None or quant_scale > 0:
        raise UnsupportedError("fused_bias_act: no quantized numbers are taken or made here")
    out = _ACTS[act_method](x if bias is None else x + bias)
    out = out if shift is None else out + shift
    return out if smooth is None else out * smooth


def _normalized(x: Any, scale: Any, bias: Any, epsilon: float) -> Any:
    return layer_norm(x, [x.shape[-1]], scale, bias, epsilon)


def fused_bias_dropout_residual_layer_norm(
    x: Any, residual: Any, bias: Any = None, ln_scale: Any = None, ln_bias: Any = None, dropout_rate: float = 0.5,
    ln_epsilon: float = 1e-5, training: bool = True, mode: str = "upscale_in_train", name: str | None = None,
) -> Any:  # fmt: skip
    """layer_norm(residual + dropout(x + bias)). x, residual: [*, n] -> [*, n].

    Source: paddle.incubate.nn.functional.fused_bias_dropout_residual_layer_norm.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([[1.0, 3.0]])
        >>> out = paddle.incubate.nn.functional.fused_bias_dropout_residual_layer_norm(x, x, dropout_rate=0.0)
        >>> [round(n, 4) for n in out[0].tolist()]
        [-1.0, 1.0]
    """
    total = residual + dropout(x if bias is None else x + bias, dropout_rate, training=training, mode=mode)
    return _normalized(total, ln_scale, ln_bias, ln_epsilon)


def fused_feedforward(
    x: Any, linear1_weight: Any, linear2_weight: Any, linear1_bias: Any = None, linear2_bias: Any = None,
    ln1_scale: Any = None, ln1_bias: Any = None, ln2_scale: Any = None, ln2_bias: Any = None,
    dropout1_rate: float = 0.5, dropout2_rate: float = 0.5, activation: str = "relu", ln1_epsilon: float = 1e-5,
    ln2_epsilon: float = 1e-5, pre_layer_norm: bool = False, training: bool = True, mode: str = "upscale_in_train",
    ring_id: int = -1, add_residual: bool = True, name: str | None = None,
) -> Any:  # fmt: skip
    """x + dropout2(linear2(dropout1(activation(linear1(x))))), with a layer norm before it, or else behind it.

    x: [batch, steps, n] -> the same. Raises ArgumentError for other activations than "relu" and "gelu".
    Source: paddle.incubate.nn.functional.fused_feedforward.

    Example:
        >>> import vitrify as paddle
        >>> x, w = paddle.ones([1, 1, 2]), paddle.zeros([2, 2])
        >>> paddle.incubate.nn.functional.fused_feedforward(x, w, w, pre_layer_norm=True).tolist()
        [[[1.0, 1.0]]]
    """
    if activation not in ("relu", "gelu"):
        raise ArgumentError(f"fused_feedforward: activation must be relu or gelu, got {activation!r}")
    out = _normalized(x, ln1_scale, ln1_bias, ln1_epsilon) if pre_layer_norm else x
    inner = _ACTS[activation](linear(out, linear1_weight, linear1_bias))
    out = linear(dropout(inner, dropout1_rate, training=training, mode=mode), linear2_weight, linear2_bias)
    out = dropout(out, dropout2_rate, training=training, mode=mode)
    out = x + out if add_residual else out
    return out if pre_layer_norm else _normalized(out, ln2_scale, ln2_bias, ln2_epsilon)


def fused_multi_head_attention(
    x: Any, qkv_weight: Any, linear_weight: Any, pre_layer_norm: bool = False, pre_ln_scale: Any = None,
    pre_ln_bias: Any = None, ln_scale: Any = None, ln_bias: Any = None, pre_ln_epsilon: float = 1e-5,
    qkv_bias: Any = None, linear_bias: Any = None, cache_kv: Any = None, attn_mask: Any = None,
    dropout_rate: float = 0.5, attn_dropout_rate: float = 0.5, ln_epsilon: float = 1e-5, training: bool = True,
    mode: str = "upscale_in_train", ring_id: int = -1, add_residual: bool = True, num_heads: int = -1,
    transpose_qkv_wb: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """x + dropout(linear(attention of x to itself)), with a layer norm before it, or else behind it.

    x: [batch, steps, n] -> the same. qkv_weight: [3, heads, size, n], or [n, 3 * n] with num_heads if transpose_qkv_wb;
    qkv_bias: [3, heads, size] or [3 * n]; attn_mask: [batch, heads or 1, steps, steps], added (false and 0: left out).
    cache_kv: [2, batch, heads, earlier, size]; the result is then a pair with the longer one.
    Raises ArgumentError when num_heads is missing. Source: paddle.incubate.nn.functional.fused_multi_head_attention.

    Example:
        >>> import vitrify as paddle
        >>> x, qkv, w = paddle.ones([1, 2, 4]), paddle.ones([3, 2, 2, 4]), paddle.zeros([4, 4])
        >>> out = paddle.incubate.nn.functional.fused_multi_head_attention(x, qkv, w, pre_layer_norm=True)
        >>> out.tolist() == x.tolist()
        True
    """
    inside = _normalized(x, pre_ln_scale, pre_ln_bias, pre_ln_epsilon) if pre_layer_norm else x
    query, key, value = _heads(inside, qkv_weight, qkv_bias, num_heads, transpose_qkv_wb)
    cache = None
    if cache_kv is not None:
        key, value = (concat([old, new], 2) for old, new in zip((cache_kv[0], cache_kv[1]), (key, value)))
        cache = stack([key, value], 0)
    scores = matmul(query * size_of(query, -1) ** -0.5, key, transpose_y=True)
    scores = scores if attn_mask is None else scores + _added(attn_mask, scores)
    weights = dropout(softmax(scores, -1), attn_dropout_rate, training=training, mode=mode)
    out = linear(flatten(transpose(matmul(weights, value), [0, 2, 1, 3]), 2), linear_weight, linear_bias)
    out = dropout(out, dropout_rate, training=training, mode=mode)
    out = x + out if add_residual else out
    out = out if pre_layer_norm else _normalized(out, ln_scale, ln_bias, ln_epsilon)
    return out if cache is None else (out, cache)


def _heads(x: Any, weight: Any, bias: Any, num_heads: int, transposed: bool) -> Any:
    """Query, key and value: [batch, heads, steps, size] each."""
    if transposed:
        if num_heads < 1:
            raise ArgumentError("fused_multi_head_attention: transpose_qkv_wb needs num_heads")
        heads, size = num_heads, weight.shape[1] // 3 // num_heads
        made = linear(x, weight, bias)
    else:
        if weight.ndim != 4:
            raise ShapeError(
                f"fused_multi_head_attention: qkv_weight has shape {list(weight.shape)}, expected [3, heads, size, n]"
            )
        heads, size = weight.shape[1:3]
        made = matmul(x, reshape(weight, [-1, weight.shape[3]]), transpose_y=True)
        made = made if bias is None else made + flatten(bias)
    parts = reshape(made, [0, 0, 3, heads, size])
    return [transpose(parts[:, :, i], [0, 2, 1, 3]) for i in range(3)]


def _added(mask: Any, scores: Any) -> Any:
    """A mask as numbers to add: of truth values and integers, a large negative number where it is 0."""
    if mask.dtype.is_floating:
        return mask
    return where(mask.astype("bool"), 0.0, -1e9 if scores.dtype.name != "float16" else -6e4).astype(scores.dtype)


def variable_length_memory_efficient_attention(
    query: Any, key: Any, value: Any, seq_lens: Any, kv_seq_lens: Any, mask: Any = None, scale: float | None = None,
    causal: bool = False, pre_cache_length: int = 0,
) -> Any:  # fmt: skip
    """The attention of sequences that end before their rows do: softmax(scale * query key^T + mask) value.

    query: [batch, heads, steps, size], key, value: [batch, heads, others, size]; seq_lens, kv_seq_lens: [batch, 1];
    mask: [batch, 1, steps, others] -> [batch, heads, steps, size], zeros beyond each sequence's end.
    Source: paddle.incubate.nn.functional.variable_length_memory_efficient_attention.

    Example:
        >>> import vitrify as paddle
        >>> q, lengths = paddle.ones([2, 1, 3, 4]), paddle.to_tensor([[3], [1]])
        >>> attend = paddle.incubate.nn.functional.variable_length_memory_efficient_attention
        >>> attend(q, q, q, lengths, lengths)[:, 0, :, 0].tolist()
        [[1.0, 1.0, 1.0], [1.0, 0.0, 0.0]]
    """
    steps, others = size_of(query, 2), size_of(key, 2)
    factor = size_of(query, -1) ** -0.5 if scale is None else scale
    scores = matmul(query, key, transpose_y=True) * factor
    scores = scores if mask is None else scores + mask
    at, to = unsqueeze(arange(steps, dtype="int32"), 1), unsqueeze(arange(others, dtype="int32"), 0)
    seen = to < reshape(cast(kv_seq_lens, int32), [-1, 1, 1, 1])
    if causal:
        seen = seen.logical_and(to <= at + pre_cache_length)
    weights = softmax(where(seen, scores, -1e9).astype(scores.dtype), -1)
    within = (at < reshape(cast(seq_lens, int32), [-1, 1, 1, 1])).astype(query.dtype)
    return matmul(weights, value) * within
