"""The gamma distribution."""

from __future__ import annotations

from typing import Any

from ..ops.expand import broadcast_tensors, expand
from ..ops.random_fill import standard_gamma
from ..ops.special import digamma, lgamma
from ..ops.unary import log, square
from .distribution import ExponentialFamily, as_floats


class Gamma(ExponentialFamily):
    """Numbers with density rate^c x^(c-1) exp(-rate x) / Γ(c) for c = concentration. Source: paddle.distribution.Gamma.

    Gradients of `rsample` reach the rate alone.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distribution.Gamma(0.5, 2.0).mean.item()
        0.25
    """

    def __init__(self, concentration: Any, rate: Any) -> None:
        self.concentration, self.rate = broadcast_tensors(list(as_floats(concentration, rate)))
        super().__init__(self.rate.shape)

    def _dtype(self) -> Any:
        return self.rate.dtype

    def _mean(self) -> Any:
        return self.concentration / self.rate

    def _variance(self) -> Any:
        return self.concentration / square(self.rate)

    def _entropy(self) -> Any:
        c = self.concentration
        return c - log(self.rate) + lgamma(c) + (1 - c) * digamma(c)

    def _log_prob(self, value: Any) -> Any:
        c = self.concentration
        return c * log(self.rate) + (c - 1) * log(value) - self.rate * value - lgamma(c)

    def _rsample(self, shape: list[Any]) -> Any:
        return standard_gamma(expand(self.concentration, [*shape, *self.batch_shape])) / self.rate
