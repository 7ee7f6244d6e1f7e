"""`paddle.incubate`: what model code takes from it."""

from ..geometric import segment_max, segment_mean, segment_min, segment_sum
from . import autograd, autotune, jit, nn, optimizer
from .graphs import graph_reindex, graph_sample_neighbors, graph_send_recv
from .jit import inference
from .losses import identity_loss, softmax_mask_fuse, softmax_mask_fuse_upper_triangle
from .optimizer import LookAhead, ModelAverage

__all__ = [
    "LookAhead", "ModelAverage", "autograd", "autotune", "graph_reindex", "graph_sample_neighbors", "graph_send_recv",
    "identity_loss", "inference", "jit", "nn", "optimizer", "segment_max", "segment_mean", "segment_min", "segment_sum",
    "softmax_mask_fuse", "softmax_mask_fuse_upper_triangle",
]  # fmt: skip
