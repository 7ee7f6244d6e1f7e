"""Attention, by the path of the module that Paddle defines it in. Source: paddle.nn.functional.sdpa."""

from ...ops.attention import scaled_dot_product_attention

__all__ = ["scaled_dot_product_attention"]
