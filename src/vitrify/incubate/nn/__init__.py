"""`paddle.incubate.nn`: Layers that Paddle computes in one step, here by the same operators as the others."""

from __future__ import annotations

from typing import Any

from ...eager.layer import Layer
from ...eager.param_attr import ParamAttrLike
from . import functional
from .memory_efficient_attention import memory_efficient_attention
from .transformer import (
    FusedBiasDropoutResidualLayerNorm,
    FusedFeedForward,
    FusedMultiHeadAttention,
    FusedTransformerEncoderLayer,
)


class FusedLinear(Layer):
    """Linear, with the weight [in, out], or [out, in] if transpose_weight. Source: paddle.incubate.nn.FusedLinear.

    Example:
        >>> import vitrify as paddle
        >>> paddle.incubate.nn.FusedLinear(3, 4)(paddle.ones([2, 3])).shape
        paddle.Size([2, 4])
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        transpose_weight: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__()
        shape = [out_features, in_features] if transpose_weight else [in_features, out_features]
        self.weight = self.create_parameter(shape, weight_attr)
        self.bias = self.create_parameter([out_features], bias_attr, is_bias=True)
        self.transpose_weight = transpose_weight
        self.name = name

    def forward(self, input: Any) -> Any:
        """input: [*, in] -> [*, out]."""
        return functional.fused_linear(input, self.weight, self.bias, self.transpose_weight, self.name)


class FusedDropoutAdd(Layer):
    """The sum of y and x after dropout. Source: paddle.incubate.nn.FusedDropoutAdd.

    Example:
        >>> import vitrify as paddle
        >>> paddle.incubate.nn.FusedDropoutAdd(0.0)(paddle.ones([2]), paddle.ones([2])).tolist()
        [2.0, 2.0]
    """

    def __init__(self, p: float = 0.5, mode: str = "upscale_in_train", name: str | None = None) -> None:
        super().__init__()
        self.p = p
        self.mode = mode
        self.name = name

    def forward(self, x: Any, y: Any) -> Any:
        """x, y: [*] -> [*]."""
        return functional.fused_dropout_add(x, y, self.p, self.training, self.mode)

    def extra_repr(self) -> str:
        """The settings."""
        name = "" if self.name is None else f", name={self.name}"
        return f"p={self.p}, mode={self.mode}{name}"


__all__ = [
    "FusedBiasDropoutResidualLayerNorm",
    "FusedDropoutAdd",
    "FusedFeedForward",
    "FusedLinear",
    "FusedMultiHeadAttention",
    "FusedTransformerEncoderLayer",
    "functional",
    "memory_efficient_attention",
]
