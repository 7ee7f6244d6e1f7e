"""Normalization. Source: paddle.nn.functional.norm."""

from ...ops.batch_norm import batch_norm
from ...ops.normalization import group_norm, instance_norm, layer_norm, rms_norm
from ...ops.similarity import local_response_norm, normalize

__all__ = [
    "batch_norm",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "local_response_norm",
    "normalize",
    "rms_norm",
]
