"""`paddle.static.nn`: layers with parameters in one call, and control flow, for programs written by hand."""

from ..absent import (
    sequence_conv,
    sequence_expand,
    sequence_first_step,
    sequence_last_step,
    sequence_pool,
    sequence_softmax,
    sparse_embedding,
)
from ..py_func import py_func
from .control_flow import Assert, case, cond, switch_case, while_loop
from .convolution import conv2d, conv2d_transpose, conv3d, conv3d_transpose, deform_conv2d
from .layers import bilinear_tensor_product, embedding, fc, prelu, row_conv, spectral_norm
from .loss import nce
from .normalization import batch_norm, group_norm, instance_norm, layer_norm
from .pylayer import static_pylayer

__all__ = [
    "Assert",
    "batch_norm",
    "bilinear_tensor_product",
    "case",
    "cond",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "deform_conv2d",
    "embedding",
    "fc",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "nce",
    "prelu",
    "py_func",
    "row_conv",
    "sequence_conv",
    "sequence_expand",
    "sequence_first_step",
    "sequence_last_step",
    "sequence_pool",
    "sequence_softmax",
    "sparse_embedding",
    "spectral_norm",
    "static_pylayer",
    "switch_case",
    "while_loop",
]
