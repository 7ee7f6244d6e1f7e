"""Attention under the names of its fused kernels. Source: paddle.nn.functional.flash_attention."""

from ...ops.attention import flash_attention, flash_attn_qkvpacked, scaled_dot_product_attention

__all__ = ["flash_attention", "flash_attn_qkvpacked", "scaled_dot_product_attention"]
