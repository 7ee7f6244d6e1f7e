"""Student's t distribution."""

from __future__ import annotations

import math
from typing import Any

from ..core.errors import ArgumentError
from ..ops.expand import broadcast_tensors, expand
from ..ops.like import full_like
from ..ops.random import randn
from ..ops.random_fill import standard_gamma
from ..ops.select import where
from ..ops.special import digamma, lgamma
from ..ops.unary import log, log1p, rsqrt, square
from .distribution import Distribution, any_of, as_floats, common_shape


class StudentT(Distribution):
    """loc + scale * n / sqrt(c / df) for normal n and c of the chi-square distribution with df degrees of freedom.

    Raises ArgumentError for df or scale that are not positive. Source: paddle.distribution.StudentT.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distribution.StudentT(3.0, 0.0, 1.0).variance.item()
        3.0
    """

    _flows = True

    def __init__(self, df: Any, loc: Any, scale: Any, name: str | None = None) -> None:
        self.df, self.loc, self.scale = broadcast_tensors(list(as_floats(df, loc, scale)))
        if any_of(self.df <= 0) or any_of(self.scale <= 0):
            raise ArgumentError("StudentT: df and scale must be positive")
        super().__init__(common_shape(self.loc))

    def _dtype(self) -> Any:
        return self.loc.dtype

    def _mean(self) -> Any:
        return where(self.df > 1, self.loc, full_like(self.loc, math.nan))

    def _variance(self) -> Any:
        finite = square(self.scale) * self.df / (self.df - 2)
        wide = where(self.df > 2, finite, full_like(self.df, math.inf))
        return where(self.df > 1, wide, full_like(self.df, math.nan))

    def _log_beta(self) -> Any:
        return lgamma(self.df / 2) + math.log(math.pi) / 2 - lgamma((self.df + 1) / 2)

    def _entropy(self) -> Any:
        half = (self.df + 1) / 2
        return half * (digamma(half) - digamma(self.df / 2)) + log(self.df) / 2 + self._log_beta() + log(self.scale)

    def _log_prob(self, value: Any) -> Any:
        distance = square((value - self.loc) / self.scale) / self.df
        return -(self.df + 1) / 2 * log1p(distance) - log(self.df) / 2 - self._log_beta() - log(self.scale)

    def _draw(self, shape: list[Any]) -> Any:
        sizes = [*shape, *self.batch_shape]
        gamma = standard_gamma(expand(self.df / 2, sizes))
        return self.loc + self.scale * randn(sizes, self.loc.dtype) * rsqrt(2 * gamma / self.df)
