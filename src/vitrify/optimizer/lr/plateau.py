"""ReduceOnPlateau: lower the rate when a metric stops improving."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import ArgumentError, DTypeError
from ...eager.gradients import training_of_trace
from ...eager.tensor import Tensor
from .base import LRScheduler
from .checks import require_below_one, require_one_of, require_real
from .in_trace import step_in_trace


class ReduceOnPlateau(LRScheduler):
    """Multiplies the rate by `factor` when the metric given to `step` has not improved for `patience` epochs.

    mode: "min" or "max", which way the metric improves. threshold, threshold_mode: the improvement that counts,
    relative to the best value ("rel") or absolute ("abs"). cooldown: epochs without watching after a change.
    min_lr: the lowest rate. epsilon: smaller changes of the rate are not made.
    Raises ArgumentError for other modes or factor >= 1. Source: paddle.optimizer.lr.ReduceOnPlateau.

    Example:
        >>> from vitrify.optimizer.lr import ReduceOnPlateau
        >>> rate = ReduceOnPlateau(1.0, factor=0.5, patience=0)
        >>> for loss in (3.0, 2.0, 2.0):
        ...     rate.step(loss)
        >>> rate()
        0.5
    """

    def __init__(
        self,
        learning_rate: float,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float = 0,
        epsilon: float = 1e-8,
        verbose: bool = False,
    ) -> None:
        require_one_of("ReduceOnPlateau", "mode", mode, ("min", "max"))
        require_one_of("ReduceOnPlateau", "threshold_mode", threshold_mode, ("rel", "abs"))
        require_below_one("ReduceOnPlateau", "factor", factor)
        self.mode = mode
        self.factor = factor
        self.patience = patience
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self.cooldown = cooldown
        self.min_lr = min_lr
        self.epsilon = epsilon
        self.cooldown_counter = 0
        self.best: float | None = None
        self.num_bad_epochs = 0
        # The base class would call step(), which needs a metric here.
        self.base_lr = self.last_lr = require_real("ReduceOnPlateau", "learning_rate", learning_rate)
        self.last_epoch = 0
        self.verbose = verbose
        self.keys = []

    def state_keys(self) -> None:
        """Set `self.keys` to what `state_dict` saves."""
        self.keys = ["cooldown_counter", "best", "num_bad_epochs", "last_epoch", "last_lr"]

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]  # Paddle's signature
        """Note this epoch's metric (a number, or a Tensor or array with one element); maybe lower the rate."""
        training = training_of_trace()
        if training is not None:
            step_in_trace(training, self, (metrics,) if epoch is None else (metrics, epoch))
            return
        value = _metric_value(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            return
        if self.best is None or self._is_better(value, self.best):
            self.best = value
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.num_bad_epochs > self.patience:
            self._reduce()

    def _reduce(self) -> None:
        self.cooldown_counter = self.cooldown
        self.num_bad_epochs = 0
        lowered = max(self.last_lr * self.factor, self.min_lr)
        if self.last_lr - lowered > self.epsilon:
            self.last_lr = lowered
            self._report()

    def _is_better(self, value: float, best: float) -> bool:
        margin = best * self.threshold if self.threshold_mode == "rel" else self.threshold
        return value < best - margin if self.mode == "min" else value > best + margin

    def get_lr(self) -> float:
        """The rate in force."""
        return float(self.last_lr)


def _metric_value(metrics: Any) -> float:
    """The metric as a float; raises DTypeError or ArgumentError."""
    if not isinstance(metrics, (int, float, np.generic, np.ndarray, Tensor)):
        raise DTypeError(
            f"ReduceOnPlateau.step: metrics must be a number, NumPy array or Tensor, got {type(metrics).__name__}"
        )
    array = np.asarray(metrics)
    if array.size != 1:
        raise ArgumentError(
            f"ReduceOnPlateau.step: metrics must have 1 element, got {array.size}", hint="take its mean first"
        )
    return float(array.reshape(()))
