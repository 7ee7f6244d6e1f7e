"""Gradients of 16-bit float types where programs update by them."""

from __future__ import annotations

from typing import Any

from ..ops.like import cast
from .slots import HALF


def widened_gradient(grad: Any) -> Any:
    """A gradient of a 16-bit float type as float32, in which clipping loses nothing; others as they are."""
    return cast(grad, "float32") if grad.dtype.itemsize == HALF else grad
