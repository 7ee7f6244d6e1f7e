"""How often the right class is among the k that score highest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.errors import DTypeError
from ..ops.accuracy import accuracy, top_k_hits
from .metric import Metric, as_array


class Accuracy(Metric):
    """The share of samples whose right class is among the k best, for each k in `topk`.

    Source: paddle.metric.Accuracy.

    Example:
        >>> import vitrify as paddle
        >>> metric = paddle.metric.Accuracy()
        >>> scores = paddle.to_tensor([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.3, 0.7]])
        >>> metric.update(metric.compute(scores, paddle.to_tensor([0, 1, 1, 1])))
        0.75
    """

    def __init__(self, topk: Sequence[int] = (1,), name: str | None = None, *args: Any, **kwargs: Any) -> None:
        if not isinstance(topk, Sequence):
            raise DTypeError(f"Accuracy: topk must be a list of ints, got {type(topk).__name__}")
        self.topk = tuple(topk)
        self.maxk = max(self.topk)
        stem = name or "acc"
        self._names = [stem] if self.maxk == 1 else [f"{stem}_top{k}" for k in self.topk]
        self.reset()

    def compute(self, pred: Any, label: Any, *args: Any) -> Any:
        """Which of the best classes is right: [*batch, max(topk)] of 0 and 1.

        pred: scores [*batch, classes]. label: class numbers [*batch] or [*batch, 1], or one-hot [*batch, classes].
        """
        return top_k_hits(pred, label, k=self.maxk)

    def update(self, correct: Any, *args: Any) -> Any:
        """Take in what `compute` gave; returns the accuracies over this batch."""
        hits = as_array("Accuracy.update", "correct", correct)
        samples = int(np.prod(hits.shape[:-1]))
        found = []
        for i, k in enumerate(self.topk):
            right = float(hits[..., :k].sum())
            self.total[i] += right
            self.count[i] += samples
            found.append(right / samples if samples else 0.0)
        return found[0] if len(found) == 1 else found

    def reset(self) -> None:
        """Forget all batches."""
        self.total = [0.0] * len(self.topk)
        self.count = [0] * len(self.topk)

    def accumulate(self) -> Any:
        """The accuracies over all batches; one number for one k."""
        found = [total / count if count else 0.0 for total, count in zip(self.total, self.count)]
        return found[0] if len(found) == 1 else found

    def name(self) -> list[str]:
        """One name for each k."""
        return self._names


__all__ = ["Accuracy", "accuracy"]
