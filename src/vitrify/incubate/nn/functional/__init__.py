"""`paddle.incubate.nn.functional`: functions that Paddle computes in one step, here by the same operators as others."""

from ....ops.softmax import swiglu
from .linear import fused_dropout_add, fused_linear, fused_linear_activation, fused_matmul_bias
from .normalization import fast_ln, fast_rms_norm, fused_layer_norm, fused_rms_norm, fused_rms_norm_ext
from .rotary import fused_rotary_position_embedding
from .transformer import (
    fused_bias_act,
    fused_bias_dropout_residual_layer_norm,
    fused_feedforward,
    fused_multi_head_attention,
    variable_length_memory_efficient_attention,
)

__all__ = [
    "fast_ln",
    "fast_rms_norm",
    "fused_bias_act",
    "fused_bias_dropout_residual_layer_norm",
    "fused_dropout_add",
    "fused_feedforward",
    "fused_layer_norm",
    "fused_linear",
    "fused_linear_activation",
    "fused_matmul_bias",
    "fused_multi_head_attention",
    "fused_rms_norm",
    "fused_rms_norm_ext",
    "fused_rotary_position_embedding",
    "swiglu",
    "variable_length_memory_efficient_attention",
]
