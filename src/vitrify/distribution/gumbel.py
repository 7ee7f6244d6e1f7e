"""The Gumbel distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..ops.random import uniform
from ..ops.unary import exp, log, square
from .location_scale import LocationScale

_EULER = float(np.euler_gamma)


class Gumbel(LocationScale):
    """Numbers of which the largest of many is of the same kind: loc - scale * log(-log(u)), u uniform in (0, 1).

    Source: paddle.distribution.Gumbel.

    Example:
        >>> import vitrify as paddle
        >>> round(paddle.distribution.Gumbel(0.0, 1.0).mean.item(), 4)
        0.5772
    """

    def _mean(self) -> Any:
        return self.loc + _EULER * self.scale

    def _variance(self) -> Any:
        return square(self.scale) * (math.pi**2 / 6)

    def _entropy(self) -> Any:
        return log(self.scale) + (1 + _EULER)

    def _log_prob(self, value: Any) -> Any:
        distance = (value - self.loc) / self.scale
        return -(distance + exp(-distance)) - log(self.scale)

    def _cdf(self, value: Any) -> Any:
        return exp(-exp(-(value - self.loc) / self.scale))

    def _rsample(self, shape: list[Any]) -> Any:
        smallest = float(np.finfo(self.loc.dtype.np).tiny)
        drawn = uniform([*shape, *self.batch_shape], self.loc.dtype, smallest, 1.0)
        return self.loc - self.scale * log(-log(drawn))
