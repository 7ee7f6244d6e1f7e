"""The Bernoulli distribution."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..ops.expand import expand
from ..ops.like import full_like
from ..ops.losses import binary_cross_entropy_with_logits
from ..ops.random import bernoulli, uniform
from ..ops.select import clip, where
from ..ops.unary import log, log1p
from .distribution import ExponentialFamily, as_floats, checked_shape

# How near to 0 and 1 logarithms see probabilities.
EPSILON = {4: 2.0**-23, 8: 2.0**-52}


def inside_unit(probs: Any) -> Any:
    """Probabilities moved off 0 and 1, whose logarithms are finite."""
    eps = EPSILON.get(probs.dtype.np.itemsize, 2.0**-10)
    return clip(probs, eps, 1 - eps)


class Bernoulli(ExponentialFamily):
    """1 with probability probs, else 0. Source: paddle.distribution.Bernoulli.

    Example:
        >>> import vitrify as paddle
        >>> round(paddle.distribution.Bernoulli(0.25).prob(paddle.to_tensor(1.0)).item(), 4)
        0.25
    """

    def __init__(self, probs: Any, name: str | None = None) -> None:
        (given,) = as_floats(probs)
        self.probs = clip(given, 0, 1)
        safe = inside_unit(given)
        self.logits = log(safe) - log1p(-safe)
        super().__init__(given.shape)

    def _dtype(self) -> Any:
        return self.probs.dtype

    def _mean(self) -> Any:
        return self.probs

    def _variance(self) -> Any:
        return self.probs * (1 - self.probs)

    def _loss(self, value: Any) -> Any:
        shape = list(value.shape) if value.ndim >= self.logits.ndim else list(self.logits.shape)
        return binary_cross_entropy_with_logits(expand(self.logits, shape), expand(value, shape), reduction="none")

    def _entropy(self) -> Any:
        return self._loss(self.probs)

    def _log_prob(self, value: Any) -> Any:
        return -self._loss(value)

    def _cdf(self, value: Any) -> Any:
        below = where(value < 0, full_like(value, 0.0), 1 - self.probs)
        return where(value < 1, below, full_like(value, 1.0))

    def _draw(self, shape: list[Any]) -> Any:
        return bernoulli(expand(self.probs, [*shape, *self.batch_shape]))

    def rsample(self, shape: Iterable[int] = (), temperature: float = 1.0) -> Any:
        """Draws whose sigmoid is nearly 0 or 1, and depends on probs differentiably: [*shape, *batch].

        The lower the temperature, the nearer. Source: Maddison et al. 2016, the concrete distribution.
        """
        dtype = self.probs.dtype
        tiny = EPSILON.get(dtype.np.itemsize, 2.0**-10)
        drawn = uniform([*checked_shape(shape), *self.batch_shape], dtype, tiny, 1 - tiny)
        return (self.logits + log(drawn) - log1p(-drawn)) / temperature
