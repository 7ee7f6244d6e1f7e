"""`paddle.incubate`: what model code takes from it."""

from . import autograd, nn
from .losses import identity_loss, softmax_mask_fuse

__all__ = ["autograd", "identity_loss", "nn", "softmax_mask_fuse"]
