"""Losses and metrics of PaddlePaddle 2 that its newer programs have no more."""

from __future__ import annotations

from typing import Any

from .. import tensor as T
from ..core.errors import UnsupportedError
from ..ir.known_values import as_tensor
from ..nn import functional as F
from ..static.metric import area_under, counts_of
from .operator_table import reads


def _minus_log(x: Any) -> Any:
    return -T.log(x)


def _of_label(x: Any, label: Any, ignore_index: int) -> Any:
    """-log of each row's number at the label; 0 where that is ignored."""
    ignored = label == ignore_index
    at = T.where(ignored, T.zeros_like(label), label)
    found = _minus_log(T.take_along_axis(x, at, axis=-1))
    return T.where(ignored, T.zeros_like(found), found)


@reads("old_cross_entropy")
def cross_entropy(x: Any, label: Any, *, soft_label: bool = False, ignore_index: int = -100) -> Any:
    """-log of the probability of the label, or the mean by soft labels."""
    x, label = as_tensor(x), as_tensor(label)
    if soft_label:
        return T.sum(label * _minus_log(x), axis=-1, keepdim=True)
    return _of_label(x, label, ignore_index)


@reads("cross_entropy2")
def cross_entropy2(x: Any, label: Any, *, ignore_index: int = -100) -> Any:
    """Likewise of labels that are numbers."""
    return _of_label(as_tensor(x), as_tensor(label), ignore_index), None, None


@reads("hinge_loss")
def hinge_loss(logits: Any, labels: Any) -> Any:
    """How far each is from the right side of 1."""
    return F.relu(1.0 - (as_tensor(labels) * 2.0 - 1.0) * as_tensor(logits))


@reads("modified_huber_loss")
def modified_huber_loss(x: Any, y: Any) -> Any:
    """The margin, and its square or line."""
    margin = (as_tensor(y) * 2.0 - 1.0) * as_tensor(x)
    near = T.square(F.relu(1.0 - margin))
    return margin, T.where(margin < -1.0, margin * -4.0, near)


@reads("rank_loss")
def rank_loss(label: Any, left: Any, right: Any) -> Any:
    """How likely the left one is not before the right one."""
    apart = as_tensor(left) - as_tensor(right)
    return F.softplus(apart) - as_tensor(label) * apart


@reads("bpr_loss")
def bpr_loss(x: Any, label: Any) -> Any:
    """How far the label's score is above the others, in the mean."""
    x, label = as_tensor(x), as_tensor(label)
    apart = F.softplus(x - T.take_along_axis(x, label, axis=-1))
    itself = T.take_along_axis(apart, label, axis=-1)
    return (T.sum(apart, axis=-1, keepdim=True) - itself) / float(x.shape[-1] - 1)


@reads("teacher_student_sigmoid_loss")
def teacher_student_sigmoid_loss(x: Any, label: Any) -> Any:
    """The loss by what was clicked, and by a teacher's score where the label has one: -2, -1, [0, 1) and [1, 2]."""
    x, label = as_tensor(x), as_tensor(label)
    clicked_not = F.softplus(x)
    clicked = clicked_not - x
    low = T.where(label < -1.0, clicked_not, clicked)
    high = T.where(label < 1.0, clicked_not + clicked_not - x * label, clicked + clicked_not - x * (label - 1.0))
    return T.where(label < 0.0, low, high)


@reads("auc")
def auc(
    predict: Any, label: Any, yes: Any, no: Any, weight: Any = None, *, curve: str = "ROC", num_thresholds: int = 4095,
    slide_steps: int = 0,
) -> Any:  # fmt: skip
    """The area under the curve of all runs, and the counts that it comes from."""
    if curve != "ROC" or slide_steps or weight is not None:
        raise UnsupportedError("areas under other curves, of the last runs, or with weights cannot be read")
    yes, no = as_tensor(yes), as_tensor(no)
    found = counts_of(as_tensor(predict), as_tensor(label), num_thresholds + 1)
    counts = [kept + T.reshape(latest, kept.shape) for kept, latest in zip((yes, no), found)]
    return area_under(*[T.reshape(count, [1, -1]) for count in counts]), *counts
