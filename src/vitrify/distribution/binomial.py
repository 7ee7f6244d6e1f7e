"""The binomial distribution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ops.creation import arange
from ..ops.expand import broadcast_tensors, expand
from ..ops.like import cast
from ..ops.random_fill import binomial
from ..ops.reduce import sum as sum_
from ..ops.select import clip, kept
from ..ops.shape import unsqueeze
from ..ops.special import lgamma
from ..ops.unary import exp, log, log1p
from .bernoulli import inside_unit
from .distribution import Distribution, as_floats


class Binomial(Distribution):
    """How many of total_count trials succeed, each with probability probs. Source: paddle.distribution.Binomial.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distribution.Binomial(4, 0.25).mean.item()
        1.0
    """

    def __init__(self, total_count: Any, probs: Any) -> None:
        chance, count = as_floats(probs, total_count)
        self.total_count, self.probs = broadcast_tensors([count, chance])
        super().__init__(self.probs.shape)

    def _dtype(self) -> Any:
        return self.probs.dtype

    def _mean(self) -> Any:
        return self.total_count * self.probs

    def _variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def _entropy(self) -> Any:
        return -self._average(lambda counts, chance: chance)

    def _average(self, of: Callable[[Any, Any], Any]) -> Any:
        """The expected value of what `of` makes of counts and the logarithms of their chances."""
        counts = arange(self.total_count.max() + 1, dtype=self.probs.dtype)
        total, probs = unsqueeze(self.total_count, -1), unsqueeze(self.probs, -1)
        within = clip(counts, max=total)
        chance = _log_chance(within, total, probs)
        return sum_(kept(counts <= total, exp(chance) * of(within, chance)), axis=-1)

    def _mean_log_ways(self, total: Any) -> Any:
        """The expected logarithm of how many sets of as many trials there are among `total` of them."""
        among = unsqueeze(total, -1)
        return self._average(lambda counts, chance: _log_ways(clip(counts, max=among), among))

    def _log_prob(self, value: Any) -> Any:
        return _log_chance(value, self.total_count, self.probs)

    def _draw(self, shape: list[Any]) -> Any:
        sizes = [*shape, *self.batch_shape]
        drawn = binomial(expand(cast(self.total_count, "int64"), sizes), expand(self.probs, sizes))
        return cast(drawn, self.probs.dtype)


def _log_ways(count: Any, total: Any) -> Any:
    return lgamma(total + 1) - lgamma(count + 1) - lgamma(total - count + 1)


def _log_chance(count: Any, total: Any, probs: Any) -> Any:
    safe = inside_unit(probs)
    return _log_ways(count, total) + count * log(safe) + (total - count) * log1p(-safe)
