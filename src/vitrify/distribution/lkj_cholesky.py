"""The LKJ distribution of correlation matrices, by their Cholesky factors."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ..core.errors import ArgumentError
from ..ops.creation import arange, zeros
from ..ops.diagonal import diag_embed, diagonal, tril
from ..ops.expand import broadcast_to
from ..ops.join import concat
from ..ops.norms import vector_norm
from ..ops.random import randn
from ..ops.reduce import sum as sum_
from ..ops.select import clip
from ..ops.shape import unsqueeze
from ..ops.special import lgamma, multigammaln
from ..ops.unary import log, sqrt, square
from .beta import Beta
from .distribution import Distribution, any_of, as_floats, checked_shape


class LKJCholesky(Distribution):
    """Lower triangular L, [dim, dim], for which the density of L Lᵀ goes with its determinant^(concentration - 1).

    sample_method: "onion" or "cvine", two ways to draw from one and the same distribution; draws come by the first.
    Raises ArgumentError for dim < 2 or a concentration that is not positive. Source: paddle.distribution.LKJCholesky.

    Example:
        >>> import vitrify as paddle
        >>> factor = paddle.distribution.LKJCholesky(3, 1.0).sample()
        >>> bool(paddle.allclose((factor @ factor.T).diagonal(), paddle.ones([3]), atol=1e-5))
        True
    """

    def __init__(self, dim: int = 2, concentration: Any = 1.0, sample_method: str = "onion") -> None:
        if not isinstance(dim, int) or dim < 2:
            raise ArgumentError(f"LKJCholesky: dim must be an int of at least 2, got {dim!r}")
        if sample_method not in ("onion", "cvine"):
            raise ArgumentError(f"LKJCholesky: sample_method must be 'onion' or 'cvine', got {sample_method!r}")
        self.dim, self.sample_method = dim, sample_method
        (self.concentration,) = as_floats(concentration)
        if any_of(self.concentration <= 0):
            raise ArgumentError("LKJCholesky: concentration must be positive")
        super().__init__(self.concentration.shape, (dim, dim))

    def _dtype(self) -> Any:
        return self.concentration.dtype

    def _draw(self, shape: list[Any]) -> Any:
        """Row by row: a length from a beta distribution, and a direction (Lewandowski et al. 2009, section 3.2)."""
        dtype, dim = self.concentration.dtype, self.dim
        row = concat([zeros([1], dtype), arange(dim - 1, dtype=dtype)])
        rest = unsqueeze(self.concentration, -1) + 0.5 * (dim - 2) - 0.5 * row
        reach = Beta(broadcast_to(0.5 * row + 0.5, list(rest.shape)), rest).sample(shape)
        normal = tril(randn([*reach.shape, dim], dtype), -1)
        length = vector_norm(normal, axis=-1, keepdim=True)
        below = unsqueeze(sqrt(reach), -1) * normal / clip(length, min=1e-30)
        return below + diag_embed(sqrt(clip(1 - sum_(square(below), axis=-1), min=1e-12)))

    def sample(self, sample_shape: Iterable[int] = ()) -> Any:
        """Draws without gradients: [*sample_shape, *batch, dim, dim]."""
        return super().sample(checked_shape(sample_shape))

    def _log_prob(self, value: Any) -> Any:
        count = self.dim - 1
        diagonals = diagonal(value, 0, -2, -1)[..., 1:]
        order = arange(self.dim - 2, -1, -1, dtype=value.dtype) + 2 * (unsqueeze(self.concentration, -1) - 1)
        alpha = self.concentration + 0.5 * count
        norm = 0.5 * count * math.log(math.pi) + multigammaln(alpha - 0.5, count) - lgamma(alpha) * count
        return sum_(order * log(diagonals), axis=-1) - norm
