"""Functions on scores and losses that `paddle.incubate` holds itself."""

from __future__ import annotations

from typing import Any

from ..core.errors import ArgumentError
from ..ops.diagonal import triu
from ..ops.like import full_like
from ..ops.masked import masked_fill
from ..ops.softmax import softmax


def softmax_mask_fuse(x: Any, mask: Any, name: str | None = None) -> Any:
    """The softmax of x + mask along the last dimension. Source: paddle.incubate.softmax_mask_fuse.

    Example:
        >>> import vitrify as paddle
        >>> mask = paddle.to_tensor([0.0, -1e9])
        >>> paddle.incubate.softmax_mask_fuse(paddle.zeros([1, 1, 1, 2]), mask).tolist()
        [[[[1.0, 0.0]]]]
    """
    return softmax(x + mask)


def softmax_mask_fuse_upper_triangle(x: Any) -> Any:
    """The softmax along the last dimension of what is not above the diagonal, of which nothing counts.

    x: [*, n, n] -> the same. Source: paddle.incubate.softmax_mask_fuse_upper_triangle.

    Example:
        >>> import vitrify as paddle
        >>> paddle.incubate.softmax_mask_fuse_upper_triangle(paddle.zeros([2, 2])).tolist()
        [[1.0, 0.0], [0.5, 0.5]]
    """
    above = triu(full_like(x, 1, "bool"), 1)
    return softmax(masked_fill(x, above, float("-inf")))


REDUCTIONS = {0: "sum", 1: "mean", 2: "none", "sum": "sum", "mean": "mean", "none": "none"}


def identity_loss(x: Any, reduction: Any = "none") -> Any:
    """x, its sum or its mean, as the loss to differentiate; "sum", "mean", "none" or 0, 1, 2.

    Raises ArgumentError for other reductions. Source: paddle.incubate.identity_loss.

    Example:
        >>> import vitrify as paddle
        >>> paddle.incubate.identity_loss(paddle.to_tensor([1.0, 3.0]), "mean").item()
        2.0
    """
    if reduction not in REDUCTIONS:
        raise ArgumentError(f"identity_loss: reduction must be one of {[*REDUCTIONS]}, got {reduction!r}")
    kind = REDUCTIONS[reduction]
    return x if kind == "none" else getattr(x, kind)()


__all__ = ["identity_loss", "softmax_mask_fuse", "softmax_mask_fuse_upper_triangle"]
