"""Singular values and principal components of matrices of low rank, by random projections."""

from __future__ import annotations

from typing import Any

from ..core.errors import ArgumentError, ShapeError
from ..core.meta import UNKNOWN, Meta
from .arguments import rank_of
from .decomposition import qr, svd
from .linalg import adjoint, need_matrices
from .matmul import matmul
from .random import randn
from .reduce import mean


def _checked_rank(op: str, x: Any, q: int | None) -> int:
    rank_of(op, x)
    need_matrices(op, Meta(tuple(x.shape), x.dtype), square=False)
    sizes = x.shape[-2:]
    if UNKNOWN in sizes:
        raise ShapeError(f"{op}: x must have a known number of rows and columns, got {list(x.shape)}")
    rank = min(6, *sizes) if q is None else q
    if not 0 <= rank <= min(sizes):
        raise ArgumentError(f"{op}: q must be between 0 and the smaller of {list(sizes)}, got {q}")
    return rank


def _range(x: Any, q: int, niter: int) -> Any:
    """q orthonormal columns that nearly span x's (Halko, Martinsson, Tropp 2009, algorithm 4.4)."""
    basis = qr(matmul(x, randn([x.shape[-1], q], x.dtype)))[0]
    for _ in range(niter):
        basis = qr(matmul(adjoint(x), basis))[0]
        basis = qr(matmul(x, basis))[0]
    return basis


def _tall(x: Any, q: int, niter: int) -> tuple[Any, Any, Any]:
    basis = _range(x, q, niter)
    u, s, vh = svd(matmul(adjoint(basis), x))
    return matmul(basis, u), s, adjoint(vh)


def _low_rank(x: Any, q: int, niter: int) -> tuple[Any, Any, Any]:
    if x.shape[-2] >= x.shape[-1]:
        return _tall(x, q, niter)
    v, s, u = _tall(adjoint(x), q, niter)
    return u, s, v


def svd_lowrank(
    x: Any, q: int | None = None, niter: int = 2, M: Any = None, name: str | None = None
) -> tuple[Any, Any, Any]:
    """(U, S, V) with x - M ≈ U diag(S) Vᴴ of rank q (6 by default): [*b, m, n] -> [*b, m, q], [*b, q], [*b, n, q].

    niter: how often the random projection is refined. M: what is taken off x. Raises ArgumentError for q > min(m, n).
    Source: paddle.linalg.svd_lowrank.

    Example:
        >>> import vitrify as paddle
        >>> [t.shape for t in paddle.linalg.svd_lowrank(paddle.ones([4, 3]), 2)]
        [paddle.Size([4, 2]), paddle.Size([2]), paddle.Size([3, 2])]
    """
    rank = _checked_rank("svd_lowrank", x, q)
    return _low_rank(x if M is None else x - M, rank, niter)


def pca_lowrank(
    x: Any, q: int | None = None, center: bool = True, niter: int = 2, name: str | None = None
) -> tuple[Any, Any, Any]:
    """(U, S, V) of the q (6 by default) principal components of the rows of x: [*b, m, n]; V's columns are directions.

    center: take the mean of each column off first. Raises ArgumentError for q > min(m, n).
    Source: paddle.linalg.pca_lowrank.

    Example:
        >>> import vitrify as paddle
        >>> [t.shape for t in paddle.linalg.pca_lowrank(paddle.ones([4, 3]), 2)]
        [paddle.Size([4, 2]), paddle.Size([2]), paddle.Size([3, 2])]
    """
    rank = _checked_rank("pca_lowrank", x, q)
    return _low_rank(x - mean(x, axis=-2, keepdim=True) if center else x, rank, niter)


METHODS: dict[str, Any] = {"svd_lowrank": svd_lowrank, "pca_lowrank": pca_lowrank}
INPLACE = ()
__all__ = ()
