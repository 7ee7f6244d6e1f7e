"""Attention among the parts of long sequences: several sequences in one, and masks told column by column."""

from __future__ import annotations

from typing import Any

from ..core.errors import ArgumentError, ShapeError
from ..core.limits import finfo
from .arguments import need_tensors, rank_of
from .attention import scaled_dot_product_attention
from .creation import arange
from .expand import repeat_interleave
from .reduce import any as any_of
from .search import searchsorted
from .select import where, where_op
from .shape import unsqueeze
from .transpose import transpose


def _attended(query: Any, key: Any, value: Any, seen: Any, dropout: float, training: bool, scale: Any) -> Any:
    """Attention where `seen` [.., s, t] is True; zeros for positions that see nothing."""
    lowest = float(finfo(query.dtype).min)
    mask = where(seen, 0.0, lowest).astype(query.dtype)
    out = scaled_dot_product_attention(query, key, value, mask, dropout, training=training, scale=scale)
    sees_some = transpose(any_of(seen, axis=-1, keepdim=True), [0, 2, 1, 3])  # [b, h, s, 1] -> [b, s, h, 1]
    return where_op(sees_some, out, 0.0)


def _no_softmax(what: str, wanted: bool) -> None:
    if wanted:
        raise ArgumentError(f"{what}: the probabilities are not kept", hint="use softmax(q @ k^T) itself")


def _places(length: Any, bounds: Any) -> tuple[Any, Any, Any]:
    """For each position of sequences that follow each other: which one it is in, where there, and how long that is."""
    at = arange(0, length, dtype="int64")
    bounds = bounds.astype("int64")
    number = searchsorted(bounds, at, right=True) - 1
    start = bounds[number]
    return number, at - start, bounds[number + 1] - start


def flash_attn_unpadded(
    query: Any, key: Any, value: Any, cu_seqlens_q: Any, cu_seqlens_k: Any, max_seqlen_q: Any, max_seqlen_k: Any,
    scale: float, dropout: float = 0.0, causal: bool = False, return_softmax: bool = False,
    fixed_seed_offset: Any = None, rng_name: str = "", training: bool = True, name: str | None = None,
) -> tuple[Any, None]:  # fmt: skip
    """Attention within each of several sequences that follow each other in one tensor, and None.

    query: [total_q, h, d]; key, value: [total_k, g, d], where g divides h. cu_seqlens_q, cu_seqlens_k: int [n + 1],
    where sequence i reaches from entry i to entry i + 1, from 0 to total_q and total_k. causal: the last query of a
    sequence sees all its keys, each one before it one key less. max_seqlen_q, max_seqlen_k, fixed_seed_offset and
    rng_name have no effect. The whole [total_q, total_k] of scores is computed.
    Raises ShapeError for other ranks, ArgumentError when return_softmax is asked for.
    Source: paddle.nn.functional.flash_attention.flash_attn_unpadded.

    Example:
        >>> import vitrify as paddle
        >>> x, bounds = paddle.ones([5, 2, 4]), paddle.to_tensor([0, 2, 5], "int32")
        >>> paddle.nn.functional.flash_attention.flash_attn_unpadded(x, x, x, bounds, bounds, 3, 3, 0.5)[0].shape
        paddle.Size([5, 2, 4])
    """
    need_tensors("flash_attn_unpadded", query, key, value)
    if not query.ndim == key.ndim == value.ndim == 3:
        raise ShapeError(
            f"flash_attn_unpadded: query, key and value have {query.ndim}, {key.ndim} and {value.ndim} dimensions, "
            "expected [total, heads, size] each"
        )
    _no_softmax("flash_attn_unpadded", return_softmax)
    of_query, row, rows = (unsqueeze(x, 1) for x in _places(query.shape[0], cu_seqlens_q))
    of_key, column, columns = (unsqueeze(x, 0) for x in _places(key.shape[0], cu_seqlens_k))
    seen = of_query == of_key
    if causal:
        seen = seen & (column - columns <= row - rows)
    seen = unsqueeze(seen, [0, 1])
    query, key, value = (unsqueeze(x, 0) for x in (query, key, value))
    out = _attended(query, key, value, seen, dropout, training, scale)
    return out[0], None


def flash_attn_varlen_qkvpacked(
    qkv: Any, cu_seqlens_q: Any, cu_seqlens_k: Any, max_seqlen_q: Any, max_seqlen_k: Any, scale: float,
    dropout: float = 0.0, causal: bool = False, return_softmax: bool = False, fixed_seed_offset: Any = None,
    rng_name: str = "", varlen_padded: bool = True, training: bool = True, name: str | None = None,
) -> tuple[Any, None]:  # fmt: skip
    """`flash_attn_unpadded` of query, key and value in one tensor.

    qkv: [total, h / g + 2, g, d], the last two of dimension 1 being key and value -> [total, h, d] and None.
    Raises ShapeError for other shapes. Source: paddle.nn.functional.flash_attn_varlen_qkvpacked.

    Example:
        >>> import vitrify as paddle
        >>> qkv, bounds = paddle.ones([5, 4, 3, 4]), paddle.to_tensor([0, 2, 5], "int32")
        >>> paddle.nn.functional.flash_attn_varlen_qkvpacked(qkv, bounds, bounds, 3, 3, 0.5)[0].shape
        paddle.Size([5, 6, 4])
    """
    if rank_of("flash_attn_varlen_qkvpacked", qkv, "qkv") != 4 or 0 <= qkv.shape[1] < 3:
        raise ShapeError(f"flash_attn_varlen_qkvpacked: qkv has shape {list(qkv.shape)}, expected [t, h / g + 2, g, d]")
    return flash_attn_unpadded(
        qkv[:, :-2].flatten(1, 2), qkv[:, -2], qkv[:, -1], cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k,
        scale, dropout, causal, return_softmax, training=training,
    )  # fmt: skip


def _hidden(rows: Any, bounds: Any, causal: bool) -> Any:
    """Where a mask told by rows [b, g, t, n] forbids attention: bool [b, g, s, t]. rows: the numbers of queries."""
    parts = [unsqueeze(bounds[..., i], 2) for i in range(bounds.shape[-1])]
    if causal and len(parts) == 1:
        return rows >= parts[0]
    if causal and len(parts) == 2:
        return (rows >= parts[0]) & (rows < parts[1])
    if not causal and len(parts) == 2:
        return (rows >= parts[0]) | (rows < parts[1])
    if not causal and len(parts) == 4:
        return ((rows >= parts[0]) & (rows < parts[1])) | ((rows >= parts[2]) & (rows < parts[3]))
    expected = "1 or 2" if causal else "2 or 4"
    raise ShapeError(
        f"flashmask_attention: startend_row_indices has {len(parts)} bounds for each key, expected {expected} with "
        f"causal={causal}"
    )


def flashmask_attention(
    query: Any, key: Any, value: Any, startend_row_indices: Any = None, *, dropout: float = 0.0, causal: bool = False,
    window_size: Any = None, return_softmax_lse: bool = False, return_seed_offset: bool = False,
    fixed_seed_offset: Any = None, rng_name: str = "", training: bool = True, name: str | None = None,
    softmax_scale: float | None = None, block_mask: Any = None,
) -> Any:  # fmt: skip
    """Attention with a mask that tells for each key which queries do not see it.

    query: [b, s, h, d]; key, value: [b, t, g, d], where g divides h. startend_row_indices: int [b, g or 1, t, n]; the
    queries that do not see a key are, with causal (no query sees keys behind it), from the first bound on (n = 1), up
    to the second (n = 2); without, from the first on and those before the second (n = 2), or from the first up to the
    second and from the third up to the fourth (n = 4). window_size: how many keys to the left, and without causal to
    the right, of a query it sees; one number or two. fixed_seed_offset and rng_name have no effect. Positions that see
    nothing give zeros. The whole [s, t] of scores is computed.

    Raises ShapeError for other shapes, ArgumentError for block_mask, return_softmax_lse and return_seed_offset.
    Source: Wang et al., "FlashMask" (2024); paddle.nn.functional.flashmask_attention.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.ones([1, 4, 2, 8])
        >>> bounds = paddle.to_tensor([2, 2, 4, 4], "int32").reshape([1, 1, 4, 1])  # two documents of two tokens
        >>> paddle.nn.functional.flashmask_attention(x, x, x, bounds, causal=True).shape
        paddle.Size([1, 4, 2, 8])
    """
    need_tensors("flashmask_attention", query, key, value)
    if not query.ndim == key.ndim == value.ndim == 4:
        raise ShapeError(
            f"flashmask_attention: query, key and value have {query.ndim}, {key.ndim} and {value.ndim} dimensions, "
            "expected [batch, length, heads, size] each"
        )
    if block_mask is not None:
        raise ArgumentError("flashmask_attention: block_mask is not offered", hint="use startend_row_indices")
    _no_softmax("flashmask_attention", return_softmax_lse or return_seed_offset)
    rows = unsqueeze(arange(0, query.shape[1], dtype="int64"), 1)
    columns = unsqueeze(arange(0, key.shape[1], dtype="int64"), 0)
    seen = unsqueeze(_within(rows, columns, causal, window_size), [0, 1])
    if startend_row_indices is not None:
        bounds = startend_row_indices.astype("int64")
        hidden = _hidden(rows, bounds, causal)
        if bounds.shape[1] not in (1, query.shape[2]):
            hidden = repeat_interleave(hidden, query.shape[2] // bounds.shape[1], 1)
        seen = seen & ~hidden
    return _attended(query, key, value, seen, dropout, training, softmax_scale)


def _within(rows: Any, columns: Any, causal: bool, window_size: Any) -> Any:
    """Which keys lie in the window of each query: bool [s, t]."""
    left, right = (window_size, window_size) if window_size is None or isinstance(window_size, int) else window_size
    seen = columns <= rows if causal else rows + columns >= 0  # every one
    if left is not None:
        seen = seen & (columns >= rows - left)
    return seen if right is None or causal else seen & (columns <= rows + right)


def memory_efficient_attention(
    query: Any, key: Any, value: Any, attn_bias: Any = None, p: float = 0.0, scale: float | None = None,
    training: bool = True,
) -> Any:  # fmt: skip
    """`scaled_dot_product_attention`, with attn_bias added to the scores.

    query: [b, s, h, d]; key, value: [b, t, h, d]; attn_bias: broadcastable to [b, h, s, t].
    Source: paddle.incubate.nn.memory_efficient_attention.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.ones([1, 2, 1, 4])
        >>> paddle.incubate.nn.memory_efficient_attention(x, x, x).shape
        paddle.Size([1, 2, 1, 4])
    """
    return scaled_dot_product_attention(query, key, value, attn_bias, p, training=training, scale=scale)


__all__ = [
    "flash_attn_unpadded", "flash_attn_varlen_qkvpacked", "flashmask_attention", "memory_efficient_attention",
]  # fmt: skip
