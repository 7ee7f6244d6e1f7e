"""The chi-square distribution."""

from __future__ import annotations

from typing import Any

from ..core.errors import ArgumentError
from ..ops.like import full_like
from .distribution import any_of, as_floats
from .gamma import Gamma


class Chi2(Gamma):
    """Sums of df squared normal numbers. Raises ArgumentError unless df is positive. Source: paddle.distribution.Chi2.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distribution.Chi2(3.0).variance.item()
        6.0
    """

    def __init__(self, df: Any) -> None:
        (self.df,) = as_floats(df)
        if any_of(self.df <= 0):
            raise ArgumentError("Chi2: df must be positive")
        super().__init__(self.df * 0.5, full_like(self.df, 0.5))
