"""The Laplace distribution."""

from __future__ import annotations

import math
from typing import Any

from ..ops.complex_ import abs as abs_
from ..ops.random import uniform
from ..ops.unary import expm1, log, log1p, sign, square
from .location_scale import LocationScale


class Laplace(LocationScale):
    """Numbers about loc whose distance from it is exponential with mean scale. Source: paddle.distribution.Laplace.

    Example:
        >>> import vitrify as paddle
        >>> round(paddle.distribution.Laplace(0.0, 1.0).stddev.item(), 4)
        1.4142
    """

    def _mean(self) -> Any:
        return self.loc

    def _variance(self) -> Any:
        return 2 * square(self.scale)

    def _entropy(self) -> Any:
        return 1 + log(2 * self.scale)

    def _log_prob(self, value: Any) -> Any:
        return -log(2 * self.scale) - abs_(value - self.loc) / self.scale

    def _cdf(self, value: Any) -> Any:
        distance = value - self.loc
        return 0.5 - 0.5 * sign(distance) * expm1(-abs_(distance) / self.scale)

    def _icdf(self, value: Any) -> Any:
        term = value - 0.5
        return self.loc - self.scale * sign(term) * log1p(-2 * abs_(term))

    def _rsample(self, shape: list[Any]) -> Any:
        lowest = math.nextafter(-0.5, 0.0) if self.loc.dtype.np.itemsize > 4 else -0.5 + 2.0**-24
        drawn = uniform([*shape, *self.batch_shape], self.loc.dtype, lowest, 0.5)
        return self.loc - self.scale * sign(drawn) * log1p(-2 * abs_(drawn))
