"""Integers as vectors. Source: paddle.nn.functional.input."""

from ...ops.creation import one_hot
from ...ops.embedding import embedding

__all__ = ["embedding", "one_hot"]
