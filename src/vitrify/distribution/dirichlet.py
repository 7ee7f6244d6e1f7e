"""The Dirichlet distribution."""

from __future__ import annotations

from typing import Any

from ..core.errors import ShapeError
from ..ops.expand import expand
from ..ops.random_fill import standard_gamma
from ..ops.reduce import sum as sum_
from ..ops.sizes import size_of
from ..ops.special import digamma, lgamma
from ..ops.unary import log
from .distribution import ExponentialFamily, as_floats


class Dirichlet(ExponentialFamily):
    """Numbers that add up to 1, of which more go where the concentration, [*batch, k], is larger.

    Source: paddle.distribution.Dirichlet.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distribution.Dirichlet(paddle.to_tensor([1.0, 3.0])).mean.tolist()
        [0.25, 0.75]
    """

    def __init__(self, concentration: Any) -> None:
        (self.concentration,) = as_floats(concentration)
        if not self.concentration.ndim:
            raise ShapeError("Dirichlet: concentration must have at least 1 dimension, got none")
        super().__init__(self.concentration.shape[:-1], self.concentration.shape[-1:])

    def _dtype(self) -> Any:
        return self.concentration.dtype

    def _total(self, keepdim: bool = True) -> Any:
        return sum_(self.concentration, axis=-1, keepdim=keepdim)

    def _mean(self) -> Any:
        return self.concentration / self._total()

    def _variance(self) -> Any:
        total = self._total()
        return self.concentration * (total - self.concentration) / (total * total * (total + 1))

    def _log_norm(self) -> Any:
        return sum_(lgamma(self.concentration), axis=-1) - lgamma(self._total(keepdim=False))

    def _entropy(self) -> Any:
        c, total, k = self.concentration, self._total(keepdim=False), size_of(self.concentration, -1)
        return self._log_norm() - (k - total) * digamma(total) - sum_((c - 1) * digamma(c), axis=-1)

    def _log_prob(self, value: Any) -> Any:
        return sum_((self.concentration - 1) * log(value), axis=-1) - self._log_norm()

    def _draw(self, shape: list[Any]) -> Any:
        drawn = standard_gamma(expand(self.concentration, [*shape, *self.concentration.shape]))
        return drawn / sum_(drawn, axis=-1, keepdim=True)
