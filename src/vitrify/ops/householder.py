"""Products of Householder reflections, all at once: H₁ H₂ ... Hₖ = I - V T Vᴴ with triangular T."""

from __future__ import annotations

from typing import Any

from ..core.errors import DTypeError, ShapeError
from ..core.meta import UNKNOWN, Meta
from .arguments import rank_of
from .creation import eye
from .diagonal import tril, triu
from .linalg import adjoint, need_matrices, triangular_solve_op
from .matmul import matmul
from .same_sizes import same_sizes
from .shape import unsqueeze
from .sizes import size_of


def _check(op: str, x: Any, tau: Any) -> None:
    for name, value in (("x", x), ("tau", tau)):
        rank_of(op, value, name)
    shapes = Meta(tuple(x.shape), x.dtype), Meta(tuple(tau.shape), tau.dtype)
    need_matrices(op, shapes[0], square=False)
    if x.dtype is not tau.dtype:
        raise DTypeError(f"{op}: x is {shapes[0]}, tau is {shapes[1]}, expected one dtype")
    rows, columns = x.shape[-2:]
    known = UNKNOWN not in (rows, columns)
    if known and rows < columns:
        raise ShapeError(f"{op}: x is {shapes[0]}, expected at least as many rows as columns")
    if tau.ndim != x.ndim - 1 or (known and tau.shape[-1] > columns):
        raise ShapeError(f"{op}: tau is {shapes[1]}, expected one number for each column of x {shapes[0]}, or fewer")
    if not known:
        _check_sizes(op, x, tau)


def _check_sizes(op: str, x: Any, tau: Any) -> None:
    """The same of sizes that only a run knows."""
    columns = size_of(x, -1)
    head = x[..., :columns, :]
    same_sizes(f"{op}: x has fewer rows than columns; its first rows, and those as columns", head, adjoint(head))
    same_sizes(f"{op}: tau has more numbers than x columns; as many, and tau", tau[..., :columns], tau)


def _reflectors(x: Any, tau: Any) -> tuple[Any, Any]:
    """V, with ones on its diagonal and what is below it in x, and T = (I + D S)⁻¹ D, where D holds tau and S is the
    strict upper triangle of Vᴴ V.
    """
    count = size_of(tau, -1)
    vectors = tril(x[..., :count], -1) + eye(size_of(x, -2), count, dtype=x.dtype)
    column = unsqueeze(tau, -1)
    inner = column * triu(matmul(adjoint(vectors), vectors), 1)
    scaled = column * eye(count, dtype=x.dtype)
    return vectors, triangular_solve_op(inner, scaled, upper=True, transpose=False, unitriangular=True)


def householder_product(x: Any, tau: Any, name: str | None = None) -> Any:
    """The first n columns of the product of the reflections that x's columns and tau describe, as `geqrf` stores them.

    x: [*b, m, n] with m >= n, tau: [*b, k] with k <= n -> [*b, m, n]. Raises ShapeError, DTypeError.
    Source: paddle.linalg.householder_product.

    Example:
        >>> import vitrify as paddle
        >>> paddle.linalg.householder_product(paddle.to_tensor([[1.0], [1.0]]), paddle.to_tensor([1.0])).tolist()
        [[0.0], [-1.0]]
    """
    _check("householder_product", x, tau)
    vectors, inner = _reflectors(x, tau)
    head = adjoint(vectors[..., : size_of(x, -1), :])
    return eye(size_of(x, -2), size_of(x, -1), dtype=x.dtype) - matmul(matmul(vectors, inner), head)


def ormqr(x: Any, tau: Any, y: Any, left: bool = True, transpose: bool = False, name: str | None = None) -> Any:
    """Q y, or with left=False y Q, for the product Q of the reflections in x and tau; with `transpose` Qᴴ in its place.

    x: [*b, m, k], of which all m rows of Q are meant, tau: [*b, k], y: [*b, m, n] (or [*b, n, m]) -> y's shape.
    Raises ShapeError. Source: paddle.linalg.ormqr.

    Example:
        >>> import vitrify as paddle
        >>> x, tau = paddle.to_tensor([[1.0], [1.0]]), paddle.to_tensor([1.0])
        >>> paddle.linalg.ormqr(x, tau, paddle.to_tensor([[1.0], [2.0]])).tolist()
        [[-2.0], [-1.0]]
    """
    rank_of("ormqr", y, "y")
    _check("ormqr", x, tau)
    side, size = (y.shape[-2 if left else -1] if y.ndim > 1 else 0), x.shape[-2]
    if y.ndim != x.ndim or (UNKNOWN not in (side, size) and side != size):
        raise ShapeError(f"ormqr: y has shape {list(y.shape)}, expected {size} {'rows' if left else 'columns'}")
    vectors, inner = _reflectors(x, tau)
    inner = adjoint(inner) if transpose else inner
    if left:
        return y - matmul(vectors, matmul(inner, matmul(adjoint(vectors), y)))
    return y - matmul(matmul(matmul(y, vectors), inner), adjoint(vectors))


METHODS: dict[str, Any] = {"householder_product": householder_product, "ormqr": ormqr}
INPLACE = ()
__all__ = ()
