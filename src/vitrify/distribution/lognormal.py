"""The distribution of numbers whose logarithm is normal."""

from __future__ import annotations

from typing import Any

from ..ops.unary import exp, expm1, square
from .distribution import Distribution
from .normal import Normal
from .transform import ExpTransform
from .transformed_distribution import TransformedDistribution


class LogNormal(TransformedDistribution):
    """Numbers whose logarithm is normal with mean loc and standard deviation scale.

    Source: paddle.distribution.LogNormal.

    Example:
        >>> import vitrify as paddle
        >>> round(paddle.distribution.LogNormal(0.0, 1.0).mean.item(), 4)
        1.6487
    """

    probs = Distribution.prob

    def __init__(self, loc: Any, scale: Any) -> None:
        normal = Normal(loc, scale)
        self.loc, self.scale = normal.loc, normal.scale
        super().__init__(normal, [ExpTransform()])

    def _mean(self) -> Any:
        return exp(self.loc + square(self.scale) / 2)

    def _variance(self) -> Any:
        return expm1(square(self.scale)) * exp(2 * self.loc + square(self.scale))

    def _entropy(self) -> Any:
        return self._base.entropy() + self.loc
