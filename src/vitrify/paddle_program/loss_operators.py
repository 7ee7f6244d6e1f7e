"""Paddle's operators of losses and metrics that say more than one of our functions does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import tensor as T
from ..core.dtype import float32, int32
from ..core.errors import UnsupportedError
from ..ir.known_values import as_tensor, optional_tensor
from ..nn import functional as F
from ..ops.deform_conv import deform_conv2d
from ..ops.yolo import yolo_loss
from .operator_table import reads


@reads("sigmoid_cross_entropy_with_logits")
def sigmoid_cross_entropy(
    x: Any, label: Any, weight: Any = None, *, normalize: bool = False, ignore_index: int = -100
) -> Any:
    """The cross entropy of each element; 0 where the label is to be ignored, over how many are not."""
    x, label = as_tensor(x), as_tensor(label)
    # Paddle's weight is not that of its function, but 1 + (weight - 1) * label.
    by = 1.0 if weight is None else as_tensor(weight)
    counts = T.cast(label != ignore_index, x.dtype)
    loss = ((1 - label) * x + by * F.softplus(-x)) * counts
    return loss / T.clip(T.sum(counts), min=1e-5) if normalize else loss


@reads("warpctc")
def warpctc(
    logits: Any, label: Any, logits_length: Any, labels_length: Any, *, blank: int = 0, norm_by_times: bool = False
) -> Any:
    """The CTC loss of each sequence, as [batch, 1]."""
    if logits_length is None or labels_length is None:
        raise UnsupportedError("a CTC loss of sequences with levels of detail cannot be read")
    tensors = [as_tensor(v) for v in (logits, label, logits_length, labels_length)]
    return F.ctc_loss(*tensors, blank=blank, reduction="none", norm_by_times=norm_by_times).unsqueeze(-1), None


@reads("hsigmoid_loss")
def hsigmoid_loss(
    x: Any, label: Any, weight: Any, bias: Any, path: Any, code: Any, *, num_classes: int, is_sparse: bool = False
) -> Any:
    """The loss of each sample by the decisions on the way to its class."""
    more = [optional_tensor(v) for v in (bias, path, code)]
    found = F.hsigmoid_loss(as_tensor(x), as_tensor(label), num_classes, as_tensor(weight), *more, is_sparse)
    return found, None, None


@reads("yolo_loss")
def yolo(
    x: Any, box: Any, label: Any, score: Any = None, *, anchors: list[int], anchor_mask: list[int], class_num: int,
    ignore_thresh: float, downsample_ratio: int, use_label_smooth: bool = True, scale_x_y: float = 1.0,
) -> Any:  # fmt: skip
    """The loss of a YOLO network for each image."""
    found = yolo_loss(
        as_tensor(x), as_tensor(box), as_tensor(label), anchors, anchor_mask, class_num, ignore_thresh,
        downsample_ratio, optional_tensor(score), use_label_smooth, scale_x_y=scale_x_y,
    )  # fmt: skip
    return found, None, None


@reads("accuracy")
def accuracy(scores: Any, indices: Any, label: Any) -> Any:
    """The share of samples with their label among the indices, how many they are, and of how many."""
    indices = as_tensor(indices)
    hits = T.any(indices == T.cast(as_tensor(label), indices.dtype), axis=-1)
    correct, total = T.sum(T.cast(hits, int32)), T.cast(T.numel(hits), int32)
    return T.cast(correct, float32) / T.cast(total, float32), correct, total


@reads("deformable_conv", "deformable_conv_v1")
def deformable_conv(
    x: Any, offset: Any, weight: Any, mask: Any = None, *, strides: Sequence[int] = (1, 1),
    paddings: Sequence[int] = (0, 0), dilations: Sequence[int] = (1, 1), deformable_groups: int = 1, groups: int = 1,
) -> Any:  # fmt: skip
    """A convolution whose windows are moved."""
    return deform_conv2d(
        as_tensor(x), as_tensor(offset), as_tensor(weight), None, list(strides), list(paddings), list(dilations),
        deformable_groups, groups, optional_tensor(mask),
    )  # fmt: skip
