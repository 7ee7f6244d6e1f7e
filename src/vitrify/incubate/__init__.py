"""`paddle.incubate`: what model code takes from it."""

from . import nn

__all__ = ["nn"]
