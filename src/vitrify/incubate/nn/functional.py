"""`paddle.incubate.nn.functional`: functions that Paddle computes in one step."""

from __future__ import annotations

from typing import Any

from ...ops.matmul import matmul


def fused_matmul_bias(
    x: Any, y: Any, bias: Any = None, transpose_x: bool = False, transpose_y: bool = False, name: str | None = None
) -> Any:
    """The product of x and y, plus bias. Source: paddle.incubate.nn.functional.fused_matmul_bias."""
    out = matmul(x, y, transpose_x, transpose_y)
    return out if bias is None else out + bias


def fused_linear(x: Any, weight: Any, bias: Any = None, transpose_weight: bool = False, name: str | None = None) -> Any:
    """The product of x and weight, plus bias. Source: paddle.incubate.nn.functional.fused_linear."""
    return fused_matmul_bias(x, weight, bias, False, transpose_weight)


__all__ = ["fused_linear", "fused_matmul_bias"]
