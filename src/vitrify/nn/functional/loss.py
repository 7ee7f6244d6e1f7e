"""Losses. Source: paddle.nn.functional.loss."""

# ruff: noqa: F403

from ...ops import class_loss as _class_loss
from ...ops import cross_entropy as _cross_entropy
from ...ops import losses as _losses
from ...ops import margin_losses as _margin_losses
from ...ops import sequence_loss as _sequence_loss
from ...ops.class_loss import *
from ...ops.cross_entropy import *
from ...ops.losses import *
from ...ops.margin_losses import *
from ...ops.sequence_loss import *

_FAMILIES = (_class_loss, _cross_entropy, _losses, _margin_losses, _sequence_loss)
_ELSEWHERE = {"class_center_sample", "pairwise_distance"}

__all__ = [name for family in _FAMILIES for name in family.__all__ if name not in _ELSEWHERE]
