"""Arrays of tensors, by the path that model code imports from. Source: paddle.tensor.array."""

from ..static.nn.arrays import array_length, array_read, array_write, create_array

__all__ = ["array_length", "array_read", "array_write", "create_array"]
