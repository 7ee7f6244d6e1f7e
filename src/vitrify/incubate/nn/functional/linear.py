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
    """The product of x and y, plus bias. Source: paddle.incubate.nn.functional.fused_matmul_bias.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([[1.0, 2.0]])
        >>> paddle.incubate.nn.functional.fused_matmul_bias(x, x, paddle.to_tensor([10.0]), transpose_y=True).tolist()
        [[15.0]]
    """
    out = matmul(x, y, transpose_x, transpose_y)
    return out if bias is None else out + bias


def fused_linear(x: Any, weight: Any, bias: Any = None, transpose_weight: bool = False, name: str | None = None) -> Any:
    """The product of x and weight, plus bias. Source: paddle.incubate.nn.functional.fused_linear.

    Example:
        >>> import vitrify as paddle
        >>> x, weight = paddle.to_tensor([[1.0, 2.0]]), paddle.to_tensor([[3.0], [4.0]])
        >>> paddle.incubate.nn.functional.fused_linear(x, weight, paddle.to_tensor([100.0])).tolist()
        [[111.0]]
    """
    return fused_matmul_bias(x, weight, bias, False, transpose_weight)


def fused_linear_activation(
    x: Any, y: Any, bias: Any, trans_x: bool = False, trans_y: bool = False, activation: str | None = None
) -> Any:
    """The product of x and y plus bias, then "gelu", "relu" or nothing.

    Raises ArgumentError for other activations. Source: paddle.incubate.nn.functional.fused_linear_activation.

    Example:
        >>> import vitrify as paddle
        >>> x, y = paddle.to_tensor([[1.0, -2.0]]), paddle.eye(2)
        >>> paddle.incubate.nn.functional.fused_linear_activation(x, y, paddle.zeros([2]), activation="relu").tolist()
        [[1.0, 0.0]]
    """
    if activation not in ACTIVATIONS:
        raise ArgumentError(f"fused_linear_activation: activation must be one of {[*ACTIVATIONS]}, got {activation!r}")
    return ACTIVATIONS[activation](fused_matmul_bias(x, y, bias, trans_x, trans_y))


ACTIVATIONS: dict[str | None, Any] = {"gelu": gelu, "relu": relu, "none": lambda x: x, None: lambda x: x}


def fused_dropout_add(
    x: Any, y: Any, p: float = 0.5, training: bool = True, mode: str = "upscale_in_train", name: str | None = None
) -> Any:
    """The sum of y and x after dropout. Source: paddle.incubate.nn.functional.fused_dropout_add.

    Example:
        >>> import vitrify as paddle
        >>> x, y = paddle.ones([2]), paddle.to_tensor([10.0, 20.0])
        >>> paddle.incubate.nn.functional.fused_dropout_add(x, y, p=0.5, training=False).tolist()
        [11.0, 21.0]
    """
    return dropout(x, p, training=training, mode=mode) + y


__all__ = ["fused_dropout_add", "fused_linear", "fused_linear_activation", "fused_matmul_bias"]
