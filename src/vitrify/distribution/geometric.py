"""The geometric distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ops.random import uniform
from ..ops.unary import exp, floor, log, log1p, square
from .distribution import Distribution, as_floats


class Geometric(Distribution):
    """How many failures come before the first success of trials that succeed with probability probs.

    Source: paddle.distribution.Geometric.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distribution.Geometric(0.5).pmf(2).item()
        0.125
    """

    def __init__(self, probs: Any) -> None:
        (self.probs,) = as_floats(probs)
        super().__init__(self.probs.shape)

    def _dtype(self) -> Any:
        return self.probs.dtype

    def _mean(self) -> Any:
        return 1 / self.probs - 1

    def _variance(self) -> Any:
        return (1 - self.probs) / square(self.probs)

    def _entropy(self) -> Any:
        rest = 1 - self.probs
        return -(rest * log(rest) + self.probs * log(self.probs)) / self.probs

    def pmf(self, k: Any) -> Any:
        """The probability of k failures."""
        return exp(self.log_pmf(k))

    def log_pmf(self, k: Any) -> Any:
        """The logarithm of the probability of k failures."""
        return self._value(k) * log1p(-self.probs) + log(self.probs)

    def _log_prob(self, value: Any) -> Any:
        return self.log_pmf(value)

    def cdf(self, k: Any) -> Any:
        """The probability of at most k failures."""
        return super().cdf(k)

    def _cdf(self, value: Any) -> Any:
        return 1 - (1 - self.probs) ** (value + 1)

    def _rsample(self, shape: list[Any]) -> Any:
        smallest = float(np.finfo(self.probs.dtype.np).tiny)
        drawn = uniform([*shape, *self.batch_shape], self.probs.dtype, smallest, 1.0)
        return floor(log(drawn) / log1p(-self.probs))
