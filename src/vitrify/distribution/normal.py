"""The normal distribution."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ..ops.expand import broadcast_to
from ..ops.like import cast
from ..ops.random import gaussian
from ..ops.special import erf, erfinv
from ..ops.unary import log, square
from .distribution import Distribution, as_alike_floats, common_shape


class Normal(Distribution):
    """Normal numbers with mean loc and standard deviation scale.

    loc, scale: numbers, lists, arrays or tensors that broadcast. Source: paddle.distribution.Normal.

    Example:
        >>> import vitrify as paddle
        >>> normal = paddle.distribution.Normal(0.0, 1.0)
        >>> round(normal.entropy().item(), 4), normal.sample([2, 3]).shape
        (1.4189, paddle.Size([2, 3]))
    """

    probs = Distribution.prob

    _flows = True

    def __init__(self, loc: Any, scale: Any, name: str | None = None) -> None:
        self.loc, self.scale = as_alike_floats(loc, scale)
        super().__init__(common_shape(self.loc, self.scale))

    def _dtype(self) -> Any:
        return self.loc.dtype

    def _mean(self) -> Any:
        return self.loc

    def _variance(self) -> Any:
        return square(self.scale)

    def _entropy(self) -> Any:
        return broadcast_to(log(self.scale) + 0.5 * math.log(2 * math.pi * math.e), list(self.batch_shape))

    def _log_prob(self, value: Any) -> Any:
        distance = (value - self.loc) / self.scale
        return -0.5 * square(distance) - log(self.scale) - 0.5 * math.log(2 * math.pi)

    def _cdf(self, value: Any) -> Any:
        return 0.5 * (1 + erf((value - self.loc) / (self.scale * math.sqrt(2))))

    def _icdf(self, value: Any) -> Any:
        return self.loc + self.scale * math.sqrt(2) * erfinv(2 * value - 1)

    def _rsample(self, shape: list[Any], seed: int = 0) -> Any:
        drawn = gaussian([*shape, *self.batch_shape], dtype=self.loc.dtype, seed=seed)
        return cast(drawn, self.loc.dtype) * self.scale + self.loc

    def sample(self, shape: Iterable[int] = (), seed: int = 0) -> Any:
        """Draws: [*shape, *batch], through which gradients flow as through those of `rsample`.

        A seed other than 0 gives the same ones each time.
        """
        return super().sample(shape) if not seed else self._rsample(list(shape), seed)
