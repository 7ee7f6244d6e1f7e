"""The exponential distribution."""

from __future__ import annotations

from typing import Any

from ..ops.random import rand
from ..ops.unary import expm1, log, log1p, square
from .distribution import ExponentialFamily, as_floats


class Exponential(ExponentialFamily):
    """Times until an event that happens `rate` times per unit of time. Source: paddle.distribution.Exponential.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distribution.Exponential(0.5).mean.item()
        2.0
    """

    def __init__(self, rate: Any) -> None:
        (self.rate,) = as_floats(rate)
        super().__init__(self.rate.shape)

    def _dtype(self) -> Any:
        return self.rate.dtype

    def _mean(self) -> Any:
        return 1 / self.rate

    def _variance(self) -> Any:
        return 1 / square(self.rate)

    def _entropy(self) -> Any:
        return 1 - log(self.rate)

    def _log_prob(self, value: Any) -> Any:
        return log(self.rate) - self.rate * value

    def _cdf(self, value: Any) -> Any:
        return -expm1(-self.rate * value)

    def _icdf(self, value: Any) -> Any:
        return -log1p(-value) / self.rate

    def _rsample(self, shape: list[Any]) -> Any:
        return self._icdf(rand([*shape, *self.batch_shape], self.rate.dtype))
