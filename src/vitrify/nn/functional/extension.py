"""Sequences, beams and videos. Source: paddle.nn.functional.extension."""

from ...ops.diagonal import diag_embed
from ...ops.gather_tree import gather_tree
from ...ops.rearrange import sequence_mask
from ...ops.vision import temporal_shift

__all__ = ["diag_embed", "gather_tree", "sequence_mask", "temporal_shift"]
