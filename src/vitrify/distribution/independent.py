"""Distributions whose last batch dimensions count as one event."""

from __future__ import annotations

from typing import Any

from ..core.errors import ArgumentError
from .distribution import Distribution, sum_last


class Independent(Distribution):
    """`base` with the last reinterpreted_batch_rank dimensions of its batch as dimensions of the event.

    Raises ArgumentError unless 0 < reinterpreted_batch_rank <= the rank of the batch.
    Source: paddle.distribution.Independent.

    Example:
        >>> import vitrify as paddle
        >>> base = paddle.distribution.Normal(paddle.zeros([2, 3]), paddle.ones([2, 3]))
        >>> paddle.distribution.Independent(base, 1).log_prob(paddle.zeros([2, 3])).shape
        paddle.Size([2])
    """

    _flows = True

    def __init__(self, base: Distribution, reinterpreted_batch_rank: int) -> None:
        rank, count = reinterpreted_batch_rank, len(base.batch_shape)
        if not 0 < rank <= count:
            raise ArgumentError(f"Independent: reinterpreted_batch_rank must be in [1, {count}], got {rank}")
        self._base, self._rank = base, rank
        super().__init__(base.batch_shape[: count - rank], base.batch_shape[count - rank :] + base.event_shape)

    def _mean(self) -> Any:
        return self._base.mean

    def _variance(self) -> Any:
        return self._base.variance

    def _entropy(self) -> Any:
        return sum_last(self._base.entropy(), self._rank)

    def _log_prob(self, value: Any) -> Any:
        return sum_last(self._base.log_prob(value), self._rank)

    def _draw(self, shape: list[Any]) -> Any:
        return self._base.sample(shape)

    def _rsample(self, shape: list[Any]) -> Any:
        return self._base.rsample(shape)
