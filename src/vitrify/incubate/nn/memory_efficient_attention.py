"""`paddle.incubate.nn.memory_efficient_attention`: attention, by the name under which model code imports it."""

from ...ops.packed_attention import memory_efficient_attention

__all__ = ["memory_efficient_attention"]
