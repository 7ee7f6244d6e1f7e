"""Linear functions with what follows them: activation, dropout, addition."""

from __future__ import annotations

from typing import Any

from ....core.errors import ArgumentError
from ....ops.activation import gelu, relu
from ....ops.dropout import dropout
from ....ops.matmul import matmul


def fused_matmul_bias(
    x: Any, y: Any, bias: Any = None, transpose_x: bool = False, transpose_y: bool = False, name: str | None = None
) -> Any:
    """The product of x and y, plus bias. Source: paddle.incubate.nn.functional.fused_matmul_bias."""
    out = matmul(x, y, transpose_x, transpose_y)
    return out if bias is None else out + bias


def fused_linear(x: Any, weight: Any, bias: Any = None, transpose_weight: bool = False, name: str | None = None) -> Any:
    """The product of x and weight, plus bias. Source: paddle.incubate.nn.functional.fused_linear."""
    return fused_matmul_bias(x, weight, bias, False, transpose_weight)


def fused_linear_activation(
    x: Any, y: Any, bias: Any, trans_x: bool = False, trans_y: bool = False, activation: str | None = None
) -> Any:
    """The product of x and y plus bias, then "gelu", "relu" or nothing.

    Raises ArgumentError for other activations. Source: paddle.incubate.nn.functional.fused_linear_activation.
    """
    if activation not in ACTIVATIONS:
        raise ArgumentError(f"fused_linear_activation: activation must be one of {[*ACTIVATIONS]}, got {activation!r}")
    return ACTIVATIONS[activation](fused_matmul_bias(x, y, bias, trans_x, trans_y))


ACTIVATIONS: dict[str | None, Any] = {"gelu": gelu, "relu": relu, "none": lambda x: x, None: lambda x: x}


def fused_dropout_add(
    x: Any, y: Any, p: float = 0.5, training: bool = True, mode: str = "upscale_in_train", name: str | None = None
) -> Any:
    """The sum of y and x after dropout. Source: paddle.incubate.nn.functional.fused_dropout_add."""
    return dropout(x, p, training=training, mode=mode) + y


__all__ = ["fused_dropout_add", "fused_linear", "fused_linear_activation", "fused_matmul_bias"]
