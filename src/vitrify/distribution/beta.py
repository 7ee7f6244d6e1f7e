"""The beta distribution."""

from __future__ import annotations

from typing import Any

from ..ops.expand import broadcast_tensors
from ..ops.join import stack
from ..ops.unary import square
from .dirichlet import Dirichlet
from .distribution import ExponentialFamily, as_floats


class Beta(ExponentialFamily):
    """Numbers in [0, 1] with a density in proportion to x^(alpha-1) (1-x)^(beta-1). Source: paddle.distribution.Beta.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distribution.Beta(1.0, 3.0).mean.item()
        0.25
    """

    def __init__(self, alpha: Any, beta: Any) -> None:
        self.alpha, self.beta = broadcast_tensors(list(as_floats(alpha, beta)))
        self._pair = Dirichlet(stack([self.alpha, self.beta], -1))
        super().__init__(self.alpha.shape)

    def _dtype(self) -> Any:
        return self.alpha.dtype

    def _mean(self) -> Any:
        return self.alpha / (self.alpha + self.beta)

    def _variance(self) -> Any:
        total = self.alpha + self.beta
        return self.alpha * self.beta / (square(total) * (total + 1))

    def _entropy(self) -> Any:
        return self._pair.entropy()

    def _log_prob(self, value: Any) -> Any:
        return self._pair.log_prob(stack([value, 1 - value], -1))

    def _draw(self, shape: list[Any]) -> Any:
        return self._pair.sample(shape)[..., 0]
