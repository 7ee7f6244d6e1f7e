"""The uniform distribution."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..ops.like import cast
from ..ops.random import uniform
from ..ops.select import clip
from ..ops.unary import log, square
from .distribution import Distribution, as_alike_floats, common_shape


class Uniform(Distribution):
    """Numbers between low and high, all alike. Source: paddle.distribution.Uniform.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distribution.Uniform(0.0, 2.0).prob(paddle.to_tensor([1.0, 3.0])).tolist()
        [0.5, 0.0]
    """

    probs = Distribution.prob

    _flows = True

    def __init__(self, low: Any, high: Any, name: str | None = None) -> None:
        self.low, self.high = as_alike_floats(low, high)
        super().__init__(common_shape(self.low, self.high))

    def _dtype(self) -> Any:
        return self.low.dtype

    def _mean(self) -> Any:
        return (self.low + self.high) / 2

    def _variance(self) -> Any:
        return square(self.high - self.low) / 12

    def _entropy(self) -> Any:
        return log(self.high - self.low)

    def _log_prob(self, value: Any) -> Any:
        inside = cast((value > self.low) & (value < self.high), self.low.dtype)
        return log(inside) - log(self.high - self.low)

    def _cdf(self, value: Any) -> Any:
        return clip((value - self.low) / (self.high - self.low), 0, 1)

    def _icdf(self, value: Any) -> Any:
        return self.low + value * (self.high - self.low)

    def _rsample(self, shape: list[Any], seed: int = 0) -> Any:
        drawn = uniform([*shape, *self.batch_shape], self.low.dtype, 0.0, 1.0, seed)
        return self.low + drawn * (self.high - self.low)

    def sample(self, shape: Iterable[int] = (), seed: int = 0) -> Any:
        """Draws: [*shape, *batch], through which gradients flow as through those of `rsample`.

        A seed other than 0 gives the same ones each time.
        """
        return super().sample(shape) if not seed else self._rsample(list(shape), seed)
