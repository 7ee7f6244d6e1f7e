"""The distribution of a function of draws from another distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.errors import DTypeError
from .distribution import Distribution, sum_last
from .transform import MADE_OF_DISTRIBUTIONS, ChainTransform, Transform


class TransformedDistribution(Distribution):
    """What `transforms`, the first one first, make of draws of `base`. Raises DTypeError for other arguments.

    Source: paddle.distribution.TransformedDistribution.

    Example:
        >>> import vitrify as paddle
        >>> base = paddle.distribution.Uniform(0.0, 1.0)
        >>> double = paddle.distribution.AffineTransform(paddle.to_tensor(0.0), paddle.to_tensor(2.0))
        >>> made = paddle.distribution.TransformedDistribution(base, [double])
        >>> made.prob(paddle.to_tensor([1.5, 3.0])).tolist()
        [0.5, 0.0]
    """

    _flows = True

    def __init__(self, base: Distribution, transforms: Sequence[Transform]) -> None:
        if not isinstance(base, Distribution) or not all(isinstance(t, Transform) for t in transforms):
            raise DTypeError("TransformedDistribution: expects a Distribution and a sequence of Transforms")
        self._base, self._transforms = base, list(transforms)
        chain = ChainTransform(self._transforms) if self._transforms else Transform()
        shape = chain.forward_shape(base.batch_shape + base.event_shape)
        taken = max(chain.domain_rank, len(base.event_shape))
        rank = taken + chain.codomain_rank - chain.domain_rank
        super().__init__(shape[: len(shape) - rank], shape[len(shape) - rank :])

    def _rsample(self, shape: list[Any]) -> Any:
        drawn = self._base.rsample(shape)
        for transform in self._transforms:
            drawn = transform.forward(drawn)
        return drawn

    def _draw(self, shape: list[Any]) -> Any:
        drawn = self._base.sample(shape)
        for transform in self._transforms:
            drawn = transform.forward(drawn)
        return drawn

    def _dtype(self) -> Any:
        return self._base._dtype()

    def _log_prob(self, value: Any) -> Any:
        total: Any = 0.0
        rank = len(self.event_shape)
        for transform in reversed(self._transforms):
            source = transform.inverse(value)
            rank += transform.domain_rank - transform.codomain_rank
            total = total - sum_last(transform.forward_log_det_jacobian(source), rank - transform.domain_rank)
            value = source
        return total + sum_last(self._base.log_prob(value), rank - len(self._base.event_shape))


MADE_OF_DISTRIBUTIONS.append(TransformedDistribution)
