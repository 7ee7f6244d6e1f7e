"""The continuous Bernoulli distribution."""

from __future__ import annotations

import math
from typing import Any

from ..ops.complex_ import abs as abs_
from ..ops.random import rand
from ..ops.select import where
from ..ops.shape import reshape
from ..ops.trig import atanh
from ..ops.unary import exp, log, log1p, square
from .bernoulli import inside_unit
from .distribution import Distribution, as_floats


class ContinuousBernoulli(Distribution):
    """Numbers in [0, 1] with a density in proportion to probs^x (1-probs)^(1-x).

    lims: between them, about 0.5, where the formulas are not exact, their Taylor series are taken.
    Source: paddle.distribution.ContinuousBernoulli.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distribution.ContinuousBernoulli(paddle.to_tensor([0.5])).mean.tolist()
        [0.5]
    """

    def __init__(self, probs: Any, lims: tuple[float, float] = (0.499, 0.501)) -> None:
        (given,) = as_floats(probs)
        self.probs = given if hasattr(probs, "dtype") else reshape(given, [-1])
        self.lims = lims
        super().__init__(self.probs.shape)

    def _dtype(self) -> Any:
        return self.probs.dtype

    def _middle(self) -> Any:
        """Whether a probability is about 0.5."""
        return (self.probs >= self.lims[0]) & (self.probs <= self.lims[1])

    def _outside(self) -> Any:
        """The probabilities, another in place of those about 0.5."""
        safe = inside_unit(self.probs)
        return where(self._middle(), safe * 0 + self.lims[0] - 0.1, safe)

    def _by_series(self, series: Any, exact: Any) -> Any:
        return where(self._middle(), series, exact)

    def _log_norm(self) -> Any:
        p, x = self._outside(), square(self.probs - 0.5)
        exact = log(2 * abs_(atanh(1 - 2 * p))) - log(abs_(1 - 2 * p))
        return self._by_series(math.log(2.0) + (4 / 3 + 104 / 45 * x) * x, exact)

    def _mean(self) -> Any:
        p, x = self._outside(), self.probs - 0.5
        exact = p / (2 * p - 1) + 1 / (2 * atanh(1 - 2 * p))
        return self._by_series(0.5 + (1 / 3 + 16 / 45 * square(x)) * x, exact)

    def _variance(self) -> Any:
        p, x = self._outside(), square(self.probs - 0.5)
        exact = p * (p - 1) / square(1 - 2 * p) + 1 / square(2 * atanh(1 - 2 * p))
        return self._by_series(1 / 12 - (1 / 15 - 128 / 945 * x) * x, exact)

    def _log_prob(self, value: Any) -> Any:
        safe = inside_unit(self.probs)
        return value * log(safe) + (1 - value) * log1p(-safe) + self._log_norm()

    def _entropy(self) -> Any:
        safe, mean = inside_unit(self.probs), self._mean()
        return -(mean * log(safe) + (1 - mean) * log1p(-safe) + self._log_norm())

    def _cdf(self, value: Any) -> Any:
        p = self._outside()
        exact = (exp(value * log(p) + (1 - value) * log1p(-p)) + p - 1) / (2 * p - 1)
        found = self._by_series(value + 0 * p, exact)
        return where(value <= 0, found * 0, where(value >= 1, found * 0 + 1, found))

    def _icdf(self, value: Any) -> Any:
        p = self._outside()
        exact = (log1p(-p + value * (2 * p - 1)) - log1p(-p)) / (log(p) - log1p(-p))
        return self._by_series(value + 0 * p, exact)

    def _rsample(self, shape: list[Any]) -> Any:
        return self._icdf(rand([*shape, *self.batch_shape], self.probs.dtype))
