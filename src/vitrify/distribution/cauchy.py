"""The Cauchy distribution."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ..core.errors import ArgumentError
from ..ops.random import rand
from ..ops.trig import atan, tan
from ..ops.unary import log, log1p, square
from .location_scale import LocationScale


class Cauchy(LocationScale):
    """Numbers about loc with tails so heavy that they have no mean. Source: paddle.distribution.Cauchy.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distribution.Cauchy(0.0, 1.0).cdf(paddle.to_tensor(0.0)).item()
        0.5
    """

    def __init__(self, loc: Any, scale: Any, name: str | None = None) -> None:
        super().__init__(loc, scale)

    def _mean(self) -> Any:
        raise ArgumentError("a Cauchy distribution has no mean")

    def _variance(self) -> Any:
        raise ArgumentError("a Cauchy distribution has no variance")

    def _entropy(self) -> Any:
        return log(4 * math.pi * self.scale)

    def _log_prob(self, value: Any) -> Any:
        distance = (value - self.loc) / self.scale
        return -log1p(square(distance)) - log(self.scale) - math.log(math.pi)

    def _cdf(self, value: Any) -> Any:
        return atan((value - self.loc) / self.scale) / math.pi + 0.5

    def sample(self, shape: Iterable[int] = (), name: str | None = None) -> Any:
        """Draws without gradients; `name` is accepted and has no effect."""
        return super().sample(shape)

    def rsample(self, shape: Iterable[int] = (), name: str | None = None) -> Any:
        """Draws that depend on loc and scale differentiably; `name` is accepted and has no effect."""
        return super().rsample(shape)

    def _rsample(self, shape: list[Any]) -> Any:
        drawn = rand([*shape, *self.batch_shape], self.loc.dtype)
        return self.loc + self.scale * tan(math.pi * (drawn - 0.5))
