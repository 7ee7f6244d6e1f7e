"""What belongs to no other family. Source: paddle.nn.functional.common."""

from ...ops.class_loss import class_center_sample
from ...ops.dropout import (
    alpha_dropout,
    dropout,
    dropout1d,
    dropout2d,
    dropout3d,
    feature_alpha_dropout,
)
from ...ops.embedding import label_smooth
from ...ops.interpolate import interpolate, upsample
from ...ops.linear import bilinear, linear
from ...ops.pad import pad, zeropad2d
from ...ops.patches import fold, unfold
from ...ops.similarity import cosine_similarity

__all__ = [
    "alpha_dropout",
    "bilinear",
    "class_center_sample",
    "cosine_similarity",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "feature_alpha_dropout",
    "fold",
    "interpolate",
    "label_smooth",
    "linear",
    "pad",
    "unfold",
    "upsample",
    "zeropad2d",
]
