"""`paddle.incubate`: what model code takes from it."""

from . import autograd, nn

__all__ = ["autograd", "nn"]
