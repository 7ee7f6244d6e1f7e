"""Metric: what all metrics share."""

from __future__ import annotations

import abc
from typing import Any

import numpy as np

from ..core.errors import DTypeError
from ..eager.tensor import Tensor


class Metric(abc.ABC):
    """Base of the metrics: `update` with each batch, `accumulate` for the value so far, `reset` to start again.

    Source: paddle.metric.Metric.

    Example:
        >>> from vitrify.metric import Metric
        >>> class Count(Metric):
        ...     total = 0
        ...     def reset(self):
        ...         self.total = 0
        ...     def update(self, batch):
        ...         self.total += len(batch)
        ...     def accumulate(self):
        ...         return self.total
        ...     def name(self):
        ...         return "count"
        >>> count = Count()
        >>> count.update([1, 2])
        >>> count.accumulate()
        2
    """

    @abc.abstractmethod
    def reset(self) -> None:
        """Forget all batches."""

    @abc.abstractmethod
    def update(self, *args: Any) -> Any:
        """Take in one batch."""

    @abc.abstractmethod
    def accumulate(self) -> Any:
        """The value over all batches since the last reset."""

    @abc.abstractmethod
    def name(self) -> Any:
        """The metric's name, or a list of names."""

    def compute(self, *args: Any) -> Any:
        """What `update` is given, computed from predictions and labels; by default they themselves."""
        return args


def as_array(owner: str, name: str, value: Any) -> np.ndarray[Any, Any]:
    """`value`, a Tensor or NumPy array, as an array; raises DTypeError for others."""
    if isinstance(value, Tensor):
        return value.numpy()
    if isinstance(value, np.ndarray):
        return value
    raise DTypeError(f"{owner}: {name} must be a NumPy array or Tensor, got {type(value).__name__}")
