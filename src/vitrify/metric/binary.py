"""Metrics of yes-or-no predictions: precision, recall, area under the curve."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.errors import ArgumentError, ShapeError
from .metric import Metric, as_array


def _decided(
    owner: str, preds: Any, labels: Any, half_is_yes: bool
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Predictions above one half, and labels, both as flat bool arrays of one length."""
    chance = as_array(owner, "preds", preds).reshape(-1)
    yes = chance >= 0.5 if half_is_yes else chance > 0.5
    true = as_array(owner, "labels", labels).reshape(-1).astype(bool)
    if yes.shape != true.shape:
        raise ShapeError(f"{owner}: {yes.size} predictions for {true.size} labels")
    return yes, true


class Precision(Metric):
    """Of the samples predicted positive, the share that is. Source: paddle.metric.Precision.

    Example:
        >>> import numpy as np
        >>> from vitrify.metric import Precision
        >>> metric = Precision()
        >>> metric.update(np.array([0.1, 0.6, 0.7, 0.8]), np.array([0, 0, 1, 1]))
        >>> round(metric.accumulate(), 4)
        0.6667
    """

    def __init__(self, name: str = "precision", *args: Any, **kwargs: Any) -> None:
        self._name = name
        self.reset()

    def update(self, preds: Any, labels: Any) -> None:
        """Take in probabilities of "yes" and labels 0 or 1, each [n] or [n, 1]."""
        # Paddle takes one half for yes here, and for no in Recall.
        yes, true = _decided("Precision.update", preds, labels, half_is_yes=True)
        self.tp += int((yes & true).sum())
        self.fp += int((yes & ~true).sum())

    def reset(self) -> None:
        """Forget all batches."""
        self.tp = 0
        self.fp = 0

    def accumulate(self) -> float:
        """True positives over all predicted positive, 0 where there are none."""
        found = self.tp + self.fp
        return self.tp / found if found else 0.0

    def name(self) -> str:
        """The metric's name."""
        return self._name


class Recall(Metric):
    """Of the samples that are positive, the share predicted so. Source: paddle.metric.Recall.

    Example:
        >>> import numpy as np
        >>> from vitrify.metric import Recall
        >>> metric = Recall()
        >>> metric.update(np.array([0.1, 0.6, 0.7, 0.8]), np.array([1, 0, 1, 1]))
        >>> round(metric.accumulate(), 4)
        0.6667
    """

    def __init__(self, name: str = "recall", *args: Any, **kwargs: Any) -> None:
        self._name = name
        self.reset()

    def update(self, preds: Any, labels: Any) -> None:
        """Take in probabilities of "yes" and labels 0 or 1, each [n] or [n, 1]."""
        yes, true = _decided("Recall.update", preds, labels, half_is_yes=False)
        self.tp += int((yes & true).sum())
        self.fn += int((~yes & true).sum())

    def reset(self) -> None:
        """Forget all batches."""
        self.tp = 0
        self.fn = 0

    def accumulate(self) -> float:
        """True positives over all positives, 0 where there are none."""
        found = self.tp + self.fn
        return self.tp / found if found else 0.0

    def name(self) -> str:
        """The metric's name."""
        return self._name


class Auc(Metric):
    """The area under the ROC curve (or, with curve="PR", the precision-recall curve), by counting in bins.

    num_thresholds: how many bins the probabilities are sorted into. Raises ArgumentError for another curve.
    Source: paddle.metric.Auc.

    Example:
        >>> import numpy as np
        >>> from vitrify.metric import Auc
        >>> metric = Auc()
        >>> metric.update(np.array([[0.9, 0.1], [0.4, 0.6], [0.7, 0.3]]), np.array([0, 1, 1]))
        >>> metric.accumulate()
        1.0
    """

    def __init__(
        self, curve: str = "ROC", num_thresholds: int = 4095, name: str = "auc", *args: Any, **kwargs: Any
    ) -> None:
        if curve not in ("ROC", "PR"):
            raise ArgumentError(f"Auc: curve must be 'ROC' or 'PR', got {curve!r}")
        self._curve = curve
        self._num_thresholds = num_thresholds
        self._name = name
        self.reset()

    def update(self, preds: Any, labels: Any) -> None:
        """Take in probabilities [n, 2] (or of "yes" alone, [n] or [n, 1]) and labels 0 or 1, [n] or [n, 1]."""
        scores = as_array("Auc.update", "preds", preds)
        yes = scores[:, -1] if scores.ndim > 1 else scores
        true = as_array("Auc.update", "labels", labels).reshape(-1).astype(bool)
        if yes.shape != true.shape:
            raise ShapeError(f"Auc.update: {yes.size} predictions for {true.size} labels")
        bins = np.clip((yes * self._num_thresholds).astype(np.int64), 0, self._num_thresholds)
        self._stat_pos += np.bincount(bins[true], minlength=self._num_thresholds + 1)
        self._stat_neg += np.bincount(bins[~true], minlength=self._num_thresholds + 1)

    def reset(self) -> None:
        """Forget all batches."""
        self._stat_pos = np.zeros(self._num_thresholds + 1)
        self._stat_neg = np.zeros(self._num_thresholds + 1)

    def accumulate(self) -> float:
        """The area, 0 while one of the classes has not been seen."""
        # from the highest threshold down: how many of each class are predicted positive
        pos = np.concatenate([[0.0], np.cumsum(self._stat_pos[::-1])])
        neg = np.concatenate([[0.0], np.cumsum(self._stat_neg[::-1])])
        if not pos[-1] or not neg[-1]:
            return 0.0
        if self._curve == "ROC":
            return _area(neg / neg[-1], pos / pos[-1])
        found = pos + neg
        precision = np.divide(pos, found, out=np.ones_like(pos), where=found > 0)
        return _area(pos / pos[-1], precision)

    def name(self) -> str:
        """The metric's name."""
        return self._name


def _area(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> float:
    """The area under the points joined by lines."""
    return float(((x[1:] - x[:-1]) * (y[1:] + y[:-1])).sum() / 2)
