"""The Poisson distribution."""

from __future__ import annotations

from typing import Any

from ..ops.creation import arange
from ..ops.expand import expand
from ..ops.like import cast
from ..ops.random_fill import poisson
from ..ops.reduce import sum as sum_
from ..ops.select import kept, where_op
from ..ops.shape import reshape, unsqueeze
from ..ops.special import lgamma
from ..ops.unary import ceil, exp, log, sqrt
from .distribution import Distribution, as_floats


class Poisson(Distribution):
    """How often something happens that happens `rate` times on average. Source: paddle.distribution.Poisson.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distribution.Poisson(paddle.to_tensor([0.5, 2.0])).variance.tolist()
        [0.5, 2.0]
    """

    def __init__(self, rate: Any) -> None:
        (given,) = as_floats(rate)
        self.rate = given if hasattr(rate, "dtype") else reshape(given, [-1])
        super().__init__(self.rate.shape)

    def _dtype(self) -> Any:
        return self.rate.dtype

    def _mean(self) -> Any:
        return self.rate

    def _variance(self) -> Any:
        return self.rate

    def _entropy(self) -> Any:
        """Summed over the counts that matter, 30 standard deviations and more above the rate."""
        largest = cast(self.rate.max(), "float64")
        counts = cast(arange(cast(ceil(largest + 30 * sqrt(largest) + 30), "int64")), self.rate.dtype)
        chance = _log_chance(counts, unsqueeze(self.rate, -1))
        return -sum_(exp(chance) * chance, axis=-1)

    def _log_prob(self, value: Any) -> Any:
        return _log_chance(value, self.rate)

    def _draw(self, shape: list[Any]) -> Any:
        return poisson(expand(self.rate, [*shape, *self.batch_shape]))


def _log_chance(count: Any, rate: Any) -> Any:
    grown = kept(count != 0, count * log(where_op(rate > 0, rate, 1.0)))
    return grown - rate - lgamma(count + 1)
