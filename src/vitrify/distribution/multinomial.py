"""The multinomial distribution."""

from __future__ import annotations

from typing import Any

from ..core.errors import ArgumentError
from ..ops.creation import arange, one_hot
from ..ops.like import cast
from ..ops.random import multinomial
from ..ops.reduce import sum as sum_
from ..ops.shape import flatten, reshape, unsqueeze
from ..ops.special import lgamma
from ..ops.unary import exp, log, log1p
from .bernoulli import inside_unit
from .distribution import Distribution, as_floats


class Multinomial(Distribution):
    """How often each class comes up in total_count draws: [*batch, classes], in proportion to probs.

    Raises ArgumentError unless total_count is a positive int. Source: paddle.distribution.Multinomial.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distribution.Multinomial(4, paddle.to_tensor([0.25, 0.75])).mean.tolist()
        [1.0, 3.0]
    """

    def __init__(self, total_count: int, probs: Any) -> None:
        if not isinstance(total_count, int) or total_count < 1:
            raise ArgumentError(f"Multinomial: total_count must be a positive int, got {total_count!r}")
        (given,) = as_floats(probs)
        self.total_count = total_count
        self.probs = given / sum_(given, axis=-1, keepdim=True)
        super().__init__(given.shape[:-1], given.shape[-1:])

    def _dtype(self) -> Any:
        return self.probs.dtype

    def _mean(self) -> Any:
        return self.total_count * self.probs

    def _variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def _log_ways(self, value: Any) -> Any:
        return lgamma(sum_(value, axis=-1) + 1) - sum_(lgamma(value + 1), axis=-1)

    def _entropy(self) -> Any:
        """n H(p) - log n! + Σ E[log xᵢ!], where each xᵢ alone is binomial."""
        n, probs = self.total_count, inside_unit(self.probs)
        counts = cast(arange(1, n + 1), probs.dtype)
        column = unsqueeze(probs, -1)
        whole = lgamma(counts * 0 + (n + 1))
        chance = exp(
            whole - lgamma(counts + 1) - lgamma(n - counts + 1) + counts * log(column) + (n - counts) * log1p(-column)
        )
        spread = sum_(sum_(chance * lgamma(counts + 1), axis=-1), axis=-1)
        return -n * sum_(self.probs * log(probs), axis=-1) - whole[0] + spread

    def _log_prob(self, value: Any) -> Any:
        return self._log_ways(value) + sum_(value * log(inside_unit(self.probs)), axis=-1)

    def _draw(self, shape: list[Any]) -> Any:
        total = 1
        for size in shape:
            total *= size
        rows = flatten(self.probs, 0, -2) if self.probs.ndim > 1 else unsqueeze(self.probs, 0)
        drawn = multinomial(rows, total * self.total_count, replacement=True)  # [rows, total * count]
        classes = self.probs.shape[-1]
        hits = one_hot(reshape(drawn, [rows.shape[0], total, self.total_count]), classes)
        counts = cast(sum_(hits, axis=2), self.probs.dtype).transpose([1, 0, 2])
        return reshape(counts, [*shape, *self.probs.shape])
