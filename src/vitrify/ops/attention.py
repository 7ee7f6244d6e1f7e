"""Scaled dot-product attention."""

from __future__ import annotations

from typing import Any

from ..core.errors import ArgumentError, ShapeError
from ..core.meta import UNKNOWN
from .arguments import need_tensors, rank_of
from .dropout import dropout
from .dropped_attention import dropped_attention_op
from .expand import repeat_interleave
from .like import cast
from .long_attention import is_long, long_attention_op
from .masks import masked
from .matmul import matmul
from .shape import flatten, squeeze, unsqueeze
from .sizes import dim_size
from .softmax import softmax
from .transpose import transpose
from .unary import rsqrt


def _with_heads(x: Any, heads: int, enable_gqa: bool) -> Any:
    """x [b, s, h, d] with each head repeated to give `heads` of them."""
    own = x.shape[2]
    if own == heads or UNKNOWN in (own, heads):
        return x
    if not enable_gqa or heads % own:
        raise ShapeError(
            f"scaled_dot_product_attention: {heads} query heads do not share {own} key and value heads evenly"
        )
    return repeat_interleave(x, heads // own, 2)


def scaled_dot_product_attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
    training: bool = True, backend: str | None = None, scale: float | None = None, enable_gqa: bool = True,
    name: str | None = None,
) -> Any:  # fmt: skip
    """softmax(query @ key^T * scale + mask) @ value for each head; scale is 1 / sqrt(d) by default.

    query: [b, s, h, d] (or [s, h, d]), key, value: [b, t, g, d], where g divides h: query heads share key heads.
    attn_mask: broadcastable to [b, h, s, t]; a bool one is True where attention is paid, another is added. is_causal
    lets position i see positions up to i, in place of attn_mask. dropout_p acts on the probabilities while training.
    The scores of long sequences of known sizes (a million for each head) are never there all at once:
    their memory grows with s + t instead of s * t, forward and backward; nor is what dropout draws.
    Raises ShapeError when dimensions do not fit. Source: Vaswani et al., "Attention Is All You Need" (2017);
    paddle.nn.functional.scaled_dot_product_attention.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.ones([1, 2, 1, 4])
        >>> paddle.nn.functional.scaled_dot_product_attention(x, x, x).shape
        paddle.Size([1, 2, 1, 4])
    """
    need_tensors("scaled_dot_product_attention", query, key, value)
    if not query.ndim == key.ndim == value.ndim or query.ndim not in (3, 4):
        raise ShapeError(
            f"scaled_dot_product_attention: query, key and value have {query.ndim}, {key.ndim} and {value.ndim} "
            "dimensions, expected 4 (or 3) each"
        )
    if query.ndim == 3:
        query, key, value = unsqueeze(query, 0), unsqueeze(key, 0), unsqueeze(value, 0)
        return squeeze(_attention(query, key, value, attn_mask, dropout_p, is_causal, training, scale, enable_gqa), 0)
    return _attention(query, key, value, attn_mask, dropout_p, is_causal, training, scale, enable_gqa)


def _attention(
    query: Any, key: Any, value: Any, attn_mask: Any, dropout_p: float, is_causal: bool, training: bool,
    scale: float | None, enable_gqa: bool,
) -> Any:  # fmt: skip
    heads, size = query.shape[2:]
    key, value = _with_heads(key, heads, enable_gqa), _with_heads(value, heads, enable_gqa)
    if scale is None:
        scale = max(size, 1) ** -0.5 if size != UNKNOWN else rsqrt(cast(dim_size(query, 3), query.dtype))
    q, k, v = (transpose(x, [0, 2, 1, 3]) for x in (query * scale, key, value))
    dropout_p = dropout_p if training else 0.0
    mask = None if is_causal else attn_mask
    if is_long(q, k, v, mask) and (not dropout_p or _is_share(dropout_p)):
        if dropout_p:
            out, *_ = dropped_attention_op(q, k, v, mask, is_causal=is_causal, p=dropout_p)
        else:
            out, _ = long_attention_op(q, k, v, mask, is_causal=is_causal)
        return transpose(out, [0, 2, 1, 3])
    probs = softmax(masked(matmul(q, k, transpose_y=True), attn_mask, is_causal))
    if dropout_p:
        probs = dropout(probs, dropout_p)
    return transpose(matmul(probs, v), [0, 2, 1, 3])


def _is_share(p: Any) -> bool:
    """Whether p is a number by which some probabilities are dropped, not all."""
    return isinstance(p, float) and 0.0 < p < 1.0


def flash_attention(
    query: Any, key: Any, value: Any, dropout: float = 0.0, causal: bool = False, return_softmax: bool = False, *,
    fixed_seed_offset: Any = None, rng_name: str = "", training: bool = True, name: str | None = None,
    softmax_scale: float | None = None,
) -> tuple[Any, None]:  # fmt: skip
    """`scaled_dot_product_attention` and None: the probabilities are not kept.

    fixed_seed_offset and rng_name have no effect. Raises ArgumentError when return_softmax is asked for.
    Source: paddle.nn.functional.flash_attention.flash_attention.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.ones([1, 2, 1, 4])
        >>> paddle.nn.functional.flash_attention.flash_attention(x, x, x, causal=True)[0].shape
        paddle.Size([1, 2, 1, 4])
    """
    if return_softmax:
        raise ArgumentError("flash_attention: return_softmax=True is not offered", hint="use softmax(q @ k^T) itself")
    out = scaled_dot_product_attention(query, key, value, None, dropout, causal, training, scale=softmax_scale)
    return out, None


def flash_attn_qkvpacked(
    qkv: Any, dropout: float = 0.0, causal: bool = False, return_softmax: bool = False, *,
    fixed_seed_offset: Any = None, rng_name: str = "", training: bool = True, name: str | None = None,
) -> tuple[Any, None]:  # fmt: skip
    """`flash_attention` of query, key and value in one tensor.

    qkv: [b, s, h / g + 2, g, d], the last two of dimension 2 being key and value -> [b, s, h, d] and None.
    Raises ShapeError for other shapes. Source: paddle.nn.functional.flash_attn_qkvpacked.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.flash_attn_qkvpacked(paddle.ones([1, 2, 4, 3, 5]))[0].shape
        paddle.Size([1, 2, 6, 5])
    """
    if rank_of("flash_attn_qkvpacked", qkv, "qkv") != 5 or 0 <= qkv.shape[2] < 3:
        raise ShapeError(f"flash_attn_qkvpacked: qkv has shape {list(qkv.shape)}, expected [b, s, h / g + 2, g, d]")
    query = flatten(qkv[:, :, :-2], 2, 3)
    return flash_attention(query, qkv[:, :, -2], qkv[:, :, -1], dropout, causal, return_softmax, training=training)


__all__ = ["flash_attention", "flash_attn_qkvpacked", "scaled_dot_product_attention"]
