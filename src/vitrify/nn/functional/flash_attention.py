"""Attention under the names of its fused kernels. Source: paddle.nn.functional.flash_attention."""

from ...ops.attention import flash_attention, flash_attn_qkvpacked, scaled_dot_product_attention
from ...ops.packed_attention import flash_attn_unpadded, flash_attn_varlen_qkvpacked, flashmask_attention

__all__ = [
    "flash_attention", "flash_attn_qkvpacked", "flash_attn_unpadded", "flash_attn_varlen_qkvpacked",
    "flashmask_attention", "scaled_dot_product_attention",
]  # fmt: skip
