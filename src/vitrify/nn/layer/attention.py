"""Multi-head attention with caches for step-by-step decoding."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...core.errors import ArgumentError
from ...eager.layer import Layer
from ...eager.param_attr import ParamAttrLike
from ...ops.creation import full
from ...ops.join import concat
from ...ops.matmul import matmul
from .. import functional as F
from .common import Linear
from .rnn_cells import batch_size


def additive_mask(mask: Any, dtype: Any) -> Any:
    """A mask to add to attention scores: as it is if floating, else a large negative number where it is False or 0."""
    if mask is None or mask.dtype.is_floating:
        return mask
    lowest = 6e4 if dtype.name == "float16" else 1e9
    return (mask.astype(dtype) - 1.0) * lowest


class MultiHeadAttention(Layer):
    """Scaled dot-product attention in `num_heads` subspaces. Source: paddle.nn.MultiHeadAttention; Vaswani 2017.

    kdim, vdim: feature sizes of keys and values, embed_dim for None. need_weights: return the attention weights too.
    Raises ArgumentError when embed_dim does not divide into the heads.

    Example:
        >>> import vitrify as paddle
        >>> attention = paddle.nn.MultiHeadAttention(128, 2)
        >>> attention(paddle.ones([2, 4, 128])).shape
        paddle.Size([2, 4, 128])
    """

    class Cache(NamedTuple):
        """Keys and values of all positions so far; grows with each call."""

        k: Any
        v: Any

    class StaticCache(NamedTuple):
        """Keys and values computed once, for attention to a memory that stays the same."""

        k: Any
        v: Any

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        kdim: int | None = None,
        vdim: int | None = None,
        need_weights: bool = False,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
    ) -> None:
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0 or embed_dim % num_heads:
            raise ArgumentError(
                f"MultiHeadAttention: embed_dim {embed_dim} must be positive and divisible by num_heads {num_heads}"
            )
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.num_heads = num_heads
        self.dropout = dropout
        self.need_weights = need_weights
        self.head_dim = embed_dim // num_heads
        self.q_proj = Linear(embed_dim, embed_dim, weight_attr, bias_attr)
        self.k_proj = Linear(self.kdim, embed_dim, weight_attr, bias_attr)
        self.v_proj = Linear(self.vdim, embed_dim, weight_attr, bias_attr)
        self.out_proj = Linear(embed_dim, embed_dim, weight_attr, bias_attr)

    def _heads(self, x: Any) -> Any:
        """[N, L, embed_dim] -> [N, num_heads, L, head_dim]."""
        return x.reshape([0, 0, self.num_heads, self.head_dim]).transpose([0, 2, 1, 3])

    def compute_kv(self, key: Any, value: Any) -> tuple[Any, Any]:
        """Projected keys and values of all heads. key: [N, L, kdim], value: [N, L, vdim] -> [N, heads, L, head_dim]."""
        return self._heads(self.k_proj(key)), self._heads(self.v_proj(value))

    def gen_cache(self, key: Any, value: Any = None, type: Any = Cache) -> Any:
        """A cache to pass to `forward`: a StaticCache computed from key and value; a Cache of what was projected
        before, or an empty one when `value` is None (key then gives batch size and dtype).
        """
        if type is self.StaticCache:
            return self.StaticCache(*self.compute_kv(key, key if value is None else value))
        if value is not None:
            return type(key, value)
        empty = full([batch_size(key, 0), self.num_heads, 0, self.head_dim], 0.0, key.dtype)
        return type(empty, empty)

    def _prepare_qkv(self, query: Any, key: Any, value: Any, cache: Any = None) -> tuple[Any, ...]:
        """Queries, keys and values of all heads, and the cache afterwards where one is given.

        Models override it under this name, say to rotate what it gives by position.
        """
        q = self._heads(self.q_proj(query))
        if isinstance(cache, self.StaticCache):
            return q, cache.k, cache.v, cache
        k, v = self.compute_kv(key, value)
        if cache is None:
            return q, k, v
        k, v = concat([cache.k, k], axis=2), concat([cache.v, v], axis=2)
        return q, k, v, self.Cache(k, v)

    def forward(self, query: Any, key: Any = None, value: Any = None, attn_mask: Any = None, cache: Any = None) -> Any:
        """The attention output; with need_weights or a cache a tuple of it, the weights and the new cache.

        query: [N, L, embed_dim]; key: [N, S, kdim] and value: [N, S, vdim], query for None; attn_mask: broadcasts to
        [N, heads, L, S], added if floating, else False or 0 where attention is forbidden.
        """
        key = query if key is None else key
        value = query if value is None else value
        if cache is None:
            q, k, v = self._prepare_qkv(query, key, value)
        else:
            q, k, v, cache = self._prepare_qkv(query, key, value, cache)
        scores = matmul(q * self.head_dim**-0.5, k, transpose_y=True)
        if attn_mask is not None:
            scores = scores + additive_mask(attn_mask, scores.dtype)
        weights = F.softmax(scores)
        if self.dropout:
            weights = F.dropout(weights, self.dropout, training=self.training, mode="upscale_in_train")
        out = matmul(weights, v).transpose([0, 2, 1, 3]).reshape([0, 0, self.embed_dim])
        outputs = [self.out_proj(out)]
        if self.need_weights:
            outputs.append(weights)
        if cache is not None:
            outputs.append(cache)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)


__all__ = ["MultiHeadAttention", "additive_mask"]
