"""How many rows of scores have the right class among their best."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtype import float32
from ..core.errors import ShapeError
from ..core.meta import UNKNOWN, Meta
from .registry import NoGradient, define_op


def _hits_kernel(xp: Any, scores: Any, label: Any, *, k: int) -> Any:
    best = xp.argsort(-scores, axis=-1, kind="stable")[..., :k]
    if label.ndim == scores.ndim and label.shape[-1] != 1:
        label = label.argmax(-1, keepdims=True)
    elif label.ndim == scores.ndim - 1:
        label = label[..., None]
    return (best == label).astype(np.float32)


def _hits_meta(scores: Meta, label: Meta, *, k: int) -> Meta:
    lead = scores.shape[:-1]
    if label.ndim not in (scores.ndim, scores.ndim - 1) or any(
        a != b for a, b in zip(lead, label.shape) if UNKNOWN not in (a, b)
    ):
        raise ShapeError(f"accuracy: input is {scores}, label is {label}: expected one label for each row")
    width = scores.shape[-1]
    return Meta((*lead, width if width != UNKNOWN and width < k else k), float32)


# Which of the k best classes of each row is the right one: [*batch, classes], [*batch(, 1 or classes)] -> [*batch, k].
top_k_hits = define_op(
    "top_k_hits", kernel=_hits_kernel, meta=_hits_meta, vjp=NoGradient("a count has no gradient"), amp="deny"
)


def accuracy(
    input: Any, label: Any, k: int = 1, correct: Any = None, total: Any = None, name: str | None = None
) -> Any:
    """The share of rows of `input` whose label is among the k best scores, a 0-D float32 Tensor.

    input: scores [n, classes]. label: [n, 1] or [n]. correct, total: Tensors that receive the counts.
    Source: paddle.metric.accuracy.

    Example:
        >>> import vitrify as paddle
        >>> paddle.metric.accuracy(paddle.to_tensor([[0.9, 0.1], [0.8, 0.2]]), paddle.to_tensor([[0], [1]])).item()
        0.5
    """
    hits = top_k_hits(input, label, k=k).sum(axis=-1)
    for target, value in ((correct, hits.sum()), (total, hits.numel())):
        if target is not None:
            target.set_value(value.astype(target.dtype).reshape(target.shape))
    return hits.mean()


__all__ = ["accuracy", "top_k_hits"]
