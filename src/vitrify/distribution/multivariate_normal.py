"""The normal distribution of vectors."""

from __future__ import annotations

import math
from typing import Any

from ..core.errors import ArgumentError, ShapeError
from ..ops.diagonal import diagonal
from ..ops.expand import broadcast_to
from ..ops.linalg import cholesky, inv, triangular_solve
from ..ops.matmul import matmul
from ..ops.random import randn
from ..ops.reduce import sum as sum_
from ..ops.shape import reshape, squeeze, unsqueeze
from ..ops.unary import log, square
from .distribution import Distribution, as_floats, common_shape


class MultivariateNormal(Distribution):
    """Vectors loc + L n for normal n, where L Lᵀ is the covariance.

    loc: [*batch, k]; one of covariance_matrix, precision_matrix (its inverse) and scale_tril (L): [*batch, k, k].
    Raises ArgumentError unless exactly one of them is given. Source: paddle.distribution.MultivariateNormal.

    Example:
        >>> import vitrify as paddle
        >>> vectors = paddle.distribution.MultivariateNormal(paddle.zeros([2]), paddle.eye(2))
        >>> round(vectors.entropy().item(), 4), vectors.sample([3]).shape
        (2.8379, paddle.Size([3, 2]))
    """

    def __init__(
        self, loc: Any, covariance_matrix: Any = None, precision_matrix: Any = None, scale_tril: Any = None
    ) -> None:
        matrices = [covariance_matrix, precision_matrix, scale_tril]
        if sum(m is not None for m in matrices) != 1:
            raise ArgumentError("MultivariateNormal: give one of covariance_matrix, precision_matrix and scale_tril")
        center, matrix = as_floats(loc, next(m for m in matrices if m is not None))
        if matrix.ndim < 2:
            raise ShapeError(
                f"MultivariateNormal: matrices must have at least 2 dimensions, got shape {list(matrix.shape)}"
            )
        center = reshape(center, [1]) if center.ndim == 0 else center
        batch, size = common_shape(center[..., 0], matrix[..., 0, 0]), matrix.shape[-1]
        super().__init__(batch, (size,))
        self.loc = broadcast_to(center, [*batch, size])
        matrix = broadcast_to(matrix, [*batch, size, size])
        if scale_tril is not None:
            self.scale_tril = self._factor = matrix
        elif covariance_matrix is not None:
            self.covariance_matrix, self._factor = matrix, cholesky(matrix)
        else:
            self.precision_matrix, self._factor = matrix, cholesky(inv(matrix))

    def _dtype(self) -> Any:
        return self.loc.dtype

    def _mean(self) -> Any:
        return self.loc

    def _variance(self) -> Any:
        return sum_(square(self._factor), axis=-1)

    def _log_volume(self) -> Any:
        """The logarithm of the determinant of L."""
        return sum_(log(diagonal(self._factor, 0, -2, -1)), axis=-1)

    def _entropy(self) -> Any:
        return 0.5 * self.event_shape[0] * (1 + math.log(2 * math.pi)) + self._log_volume()

    def distance(self, difference: Any) -> Any:
        """The squared length of L⁻¹ difference: [*sample, *batch, k] -> [*sample, *batch]."""
        solved = triangular_solve(self._factor, unsqueeze(difference, -1), upper=False)
        return sum_(square(squeeze(solved, -1)), axis=-1)

    def _log_prob(self, value: Any) -> Any:
        size = self.event_shape[0]
        return -0.5 * (size * math.log(2 * math.pi) + self.distance(value - self.loc)) - self._log_volume()

    def _rsample(self, shape: list[Any]) -> Any:
        drawn = randn([*shape, *self.loc.shape, 1], self.loc.dtype)
        return self.loc + squeeze(matmul(self._factor, drawn), -1)

    def divergence(self, other: MultivariateNormal) -> Any:
        """The KL divergence from another distribution of vectors of the same size."""
        size = self.event_shape[0]
        ratio = triangular_solve(other._factor, self._factor, upper=False)
        trace = sum_(square(ratio), axis=[-2, -1])
        return other._log_volume() - self._log_volume() + 0.5 * (trace + other.distance(self.loc - other.loc) - size)
