"""Covariance and correlation of variables observed together."""

from __future__ import annotations

from typing import Any

from ..core.errors import ShapeError
from ..core.meta import Meta
from .arguments import rank_of
from .axes import count_over, divided
from .diagonal import diagonal
from .elementwise import conj
from .like import as_float, cast
from .matmul import matmul
from .reduce import mean, sum
from .select import clip, maximum
from .shape import squeeze, unsqueeze
from .transpose import matrix_transpose
from .unary import sqrt


def _observations(op: str, x: Any, rowvar: bool) -> Any:
    """x as [variables, observations]."""
    if rank_of(op, x) > 2 or x.ndim < 1:
        raise ShapeError(f"{op}: x is {Meta(tuple(x.shape), x.dtype)}, expected 1 or 2 dimensions")
    rows = unsqueeze(x, 0) if x.ndim == 1 else x
    return rows if rowvar or x.ndim == 1 else matrix_transpose(rows)


def _weights(x: Any, fweights: Any, aweights: Any) -> Any:
    for name, weights in (("fweights", fweights), ("aweights", aweights)):
        if weights is not None:
            rank_of("cov", weights, name)  # programs cast numbers, too
    given = [cast(w, x.dtype) for w in (fweights, aweights) if w is not None]
    return given[0] * given[1] if len(given) == 2 else given[0]


def _weighted(x: Any, ddof: bool, fweights: Any, aweights: Any) -> Any:
    weights = _weights(x, fweights, aweights)
    total = sum(weights)
    deviation = x - sum(x * weights, axis=-1, keepdim=True) / total
    lost = sum(weights * cast(aweights, x.dtype)) / total if aweights is not None else 1.0
    count = total - lost if ddof else total
    return matmul(deviation * weights, conj(matrix_transpose(deviation))) / maximum(count, 0.0)


def cov(
    x: Any, rowvar: bool = True, ddof: bool = True, fweights: Any = None, aweights: Any = None, name: str | None = None
) -> Any:
    """The covariance matrix of the variables in x's rows (columns unless `rowvar`): [v, n] -> [v, v], one gives 0-D.

    ddof: divide by n - 1 rather than n. fweights, aweights: [n], how often each observation counts, and how much.
    Raises ShapeError for more than 2 dimensions. Source: paddle.linalg.cov.

    Example:
        >>> import vitrify as paddle
        >>> paddle.linalg.cov(paddle.to_tensor([[1.0, 2.0], [2.0, 4.0]])).tolist()
        [[0.5, 1.0], [1.0, 2.0]]
    """
    rows = _observations("cov", as_float(x), rowvar)
    if fweights is None and aweights is None:
        deviation = rows - mean(rows, axis=-1, keepdim=True)
        count = count_over(rows, (1,))
        if ddof:  # of nothing, the covariance is 0 / 0
            count = max(count - 1, 0) if isinstance(count, int) else maximum(count - 1, 0)
        found = divided(matmul(deviation, conj(matrix_transpose(deviation))), count)
    else:
        found = _weighted(rows, ddof, fweights, aweights)
    return squeeze(found, [0, 1]) if rows.shape[0] == 1 else found


def corrcoef(x: Any, rowvar: bool = True, name: str | None = None) -> Any:
    """The correlation coefficients of the variables in x's rows (columns unless `rowvar`), in [-1, 1].

    Source: paddle.linalg.corrcoef.

    Example:
        >>> import vitrify as paddle
        >>> paddle.linalg.corrcoef(paddle.to_tensor([[1.0, 2.0], [2.0, 4.0]])).tolist()
        [[1.0, 1.0], [1.0, 1.0]]
    """
    covariance = cov(x, rowvar)
    if covariance.ndim == 0:
        return covariance / covariance
    deviation = sqrt(diagonal(covariance))
    scaled = covariance / unsqueeze(deviation, 0) / unsqueeze(deviation, 1)
    return clip(scaled, -1.0, 1.0)


METHODS: dict[str, Any] = {"cov": cov, "corrcoef": corrcoef}
INPLACE = ()
__all__ = ()
