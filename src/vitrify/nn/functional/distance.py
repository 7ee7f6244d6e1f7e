"""Distances. Source: paddle.nn.functional.distance."""

from ...ops.distance import pdist
from ...ops.margin_losses import pairwise_distance

__all__ = ["pairwise_distance", "pdist"]
