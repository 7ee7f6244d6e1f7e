"""LU decomposition with row exchanges, what it is made of, and systems solved by it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtype import int32
from ..core.errors import ArgumentError, IndexRangeError, ShapeError
from ..core.meta import UNKNOWN, Meta
from .creation import zeros
from .diagonal import tril, triu
from .elementwise import conj
from .host_linalg import each_matrix, lapack
from .join import concat
from .linalg import adjoint, need_matrices, triangular_solve_op
from .matmul import matmul
from .registry import NoGradient, OpDef, define_op
from .sizes import size_of
from .transpose import matrix_transpose

# -- the two triangles in one matrix ---------------------------------------------------------------------------------


def _smaller(m: int, n: int) -> int:
    return UNKNOWN if UNKNOWN in (m, n) else min(m, n)


def _triangles_kernel(xp: Any, x: Any) -> tuple[Any, Any]:
    k = min(x.shape[-2:])
    lower = xp.tril(x[..., :k], -1)
    lower[..., xp.arange(k), xp.arange(k)] = 1
    return lower, xp.triu(x[..., :k, :])


def _triangles_meta(x: Meta) -> tuple[Meta, Meta]:
    need_matrices("lu_unpack", x, square=False)
    *batch, m, n = x.shape
    return x.with_shape((*batch, m, _smaller(m, n))), x.with_shape((*batch, _smaller(m, n), n))


def _packed_kernel(xp: Any, lower: Any, upper: Any) -> Any:
    k = lower.shape[-1]
    out = xp.zeros((*lower.shape[:-1], upper.shape[-1]), lower.dtype)
    out[..., :k] = xp.tril(lower, -1)
    out[..., :k, :] += xp.triu(upper)
    return out


triangles_op: OpDef = define_op(
    "lu_triangles",
    kernel=_triangles_kernel,
    meta=_triangles_meta,
    vjp={"x": lambda cts: packed_op(cts[0], cts[1])},
    outputs=("lower", "upper"),
)
packed_op: OpDef = define_op(
    "lu_pack",
    kernel=_packed_kernel,
    meta=lambda lower, upper: lower.with_shape((*lower.shape[:-1], upper.shape[-1])),
    vjp={
        "lower": lambda ct: tril(triangles_op(ct)[0], -1),
        "upper": lambda ct: triangles_op(ct)[1],
    },
)

# -- row exchanges ---------------------------------------------------------------------------------------------------


def _permutation_kernel(xp: Any, x: Any, pivots: Any) -> Any:
    m = x.shape[-2]
    if xp.any((pivots < 1) | (pivots > m)):  # LAPACK does not check: it would write outside of the matrix
        given = pivots.ravel().tolist()
        raise IndexRangeError(f"lu_unpack: a row exchange must lie in [1, {m}], got {given}; pass what lu gave")
    swap = lapack("laswp", np.float64)

    def one(pivots: Any) -> tuple[Any]:
        order = np.arange(m)
        if len(pivots):  # LAPACK does not take none
            order = swap(order[:, None].astype(np.float64), pivots - 1)[:, 0].astype(np.int64)
        return (np.eye(m, dtype=x.dtype)[:, order],)

    return each_matrix(xp, one, [pivots], [1], [((m, m), x.dtype)])[0]


def _permutation_meta(x: Meta, pivots: Meta) -> Meta:
    *batch, m, n = x.shape
    k = _smaller(m, n)
    fits = pivots.ndim == x.ndim - 1 and (UNKNOWN in (k, pivots.shape[-1]) or k == pivots.shape[-1])
    if not (fits and pivots.dtype.is_integer):
        raise ShapeError(f"lu_unpack: y is {pivots}, expected the {k} row exchanges of x {x} as integers")
    return x.with_shape((*batch, m, m))


permutation_op = define_op(
    "lu_permutation",
    kernel=_permutation_kernel,
    meta=_permutation_meta,
    vjp=NoGradient("which rows are exchanged does not change with the values"),
    shape_only=["x"],
    on_host=True,
)

# -- decomposition ---------------------------------------------------------------------------------------------------


def _lu_kernel(xp: Any, x: Any) -> tuple[Any, ...]:
    m, n = x.shape[-2:]
    factor = lapack("getrf", x.dtype)

    def one(matrix: Any) -> tuple[Any, Any, Any]:
        if 0 in matrix.shape:
            return matrix, 0, 0
        packed, pivots, info = factor(matrix)
        return packed, pivots + 1, info

    outs = [((m, n), x.dtype), ((min(m, n),), np.int32), ((), np.int32)]
    return each_matrix(xp, one, [x], [2], outs)


def _lu_meta(x: Meta) -> tuple[Meta, Meta, Meta]:
    need_matrices("lu", x, square=False)
    *batch, m, n = x.shape
    return x, Meta((*batch, _smaller(m, n)), int32), Meta(tuple(batch), int32)


def _solved(factor: Any, y: Any, upper: bool) -> Any:
    return triangular_solve_op(factor, y, upper=upper, transpose=False, unitriangular=not upper)


def _lu_vjp(cts: Any, *, x: Any, lu: Any, pivots: Any) -> Any:
    """P L⁻ᴴ (tril(Lᴴ L̄, -1) + triu(Ū Uᴴ)) U⁻ᴴ for square x; what a rectangle has more is made from that part."""
    m, n = x.shape[-2:]
    lower, upper = triangles_op(lu)
    k = size_of(lower, -1)
    tall, wide = (UNKNOWN in (m, n) or more for more in (m > n, n > m))  # sizes not known yet may be either
    below, above = tril(triangles_op(cts[0])[0], -1), triangles_op(cts[0])[1]
    square = lower[..., :k, :] if tall else lower
    corner = upper[..., :k] if wide else upper
    strict = matmul(adjoint(square), below[..., :k, :] if tall else below)
    other = matmul(above[..., :k] if wide else above, adjoint(corner))
    if wide:
        strict = strict - matmul(above[..., k:], adjoint(upper[..., k:]))
    if tall:
        other = other - matmul(adjoint(lower[..., k:, :]), below[..., k:, :])
    found = triangular_solve_op(conj(square), tril(strict, -1) + triu(other), **_UNIT_TRANSPOSED)
    if tall:
        found = concat([found, below[..., k:, :]], axis=-2)
    found = adjoint(_solved(corner, adjoint(found), upper=True))
    if wide:
        rest = triangular_solve_op(conj(square), above[..., k:], **_UNIT_TRANSPOSED)
        if tall:  # one of the two is empty, and so is what lies in both
            rest = concat([rest, cts[0][..., k:, k:]], axis=-2)
        found = concat([found, rest], axis=-1)
    return matmul(permutation_op(x, pivots), found)


_UNIT_TRANSPOSED = {"upper": False, "transpose": True, "unitriangular": True}

lu_op: OpDef = define_op(
    "lu",
    kernel=_lu_kernel,
    meta=_lu_meta,
    vjp={"x": _lu_vjp},
    outputs=("lu", "pivots", "info"),
    amp="deny",
    maps={"paddle": "lu"},
    on_host=True,
)


def lu(x: Any, pivot: bool = True, get_infos: bool = False, name: str | None = None) -> Any:
    """(LU, pivots): the triangles of P⁻¹ x = L U in one matrix, and the row, from 1, that each row was exchanged with.

    x: [*b, m, n] -> [*b, m, n], [*b, min(m, n)] of int32. get_infos: also an int32 [*b], not 0 where U is singular.
    Raises ArgumentError for pivot=False. Source: paddle.linalg.lu.

    Example:
        >>> import vitrify as paddle
        >>> [t.tolist() for t in paddle.linalg.lu(paddle.to_tensor([[1.0, 2.0], [2.0, 2.0]]))]
        [[[2.0, 2.0], [0.5, 1.0]], [2, 2]]
    """
    if not pivot:
        raise ArgumentError("lu: pivot=False is not supported: without exchanges the factors may not exist")
    packed, pivots, info = lu_op(x)
    return (packed, pivots, info) if get_infos else (packed, pivots)


def lu_unpack(
    x: Any, y: Any, unpack_ludata: bool = True, unpack_pivots: bool = True, name: str | None = None
) -> tuple[Any, Any, Any]:
    """(P, L, U) of a decomposition (x, y) that `lu` gave: [*b, m, m], [*b, m, k], [*b, k, n], k = min(m, n).

    What is not asked for is an empty tensor. Source: paddle.linalg.lu_unpack.

    Example:
        >>> import vitrify as paddle
        >>> p, l, u = paddle.linalg.lu_unpack(*paddle.linalg.lu(paddle.to_tensor([[1.0, 2.0], [2.0, 2.0]])))
        >>> (p @ l @ u).tolist()
        [[1.0, 2.0], [2.0, 2.0]]
    """
    rows = permutation_op(x, y) if unpack_pivots else zeros([0])
    lower, upper = triangles_op(x) if unpack_ludata else (zeros([0]), zeros([0]))
    return rows, lower, upper


def lu_solve(b: Any, lu: Any, pivots: Any, trans: str = "N", name: str | None = None) -> Any:
    """The x with A x = b, Aᵀ x = b (trans "T") or Aᴴ x = b ("C") for the A that `lu` decomposed into (lu, pivots).

    b: [*b, n, k] -> [*b, n, k]. Raises ArgumentError for another trans, ShapeError. Source: paddle.linalg.lu_solve.

    Example:
        >>> import vitrify as paddle
        >>> packed, pivots = paddle.linalg.lu(paddle.to_tensor([[0.0, 2.0], [4.0, 0.0]]))
        >>> paddle.linalg.lu_solve(paddle.to_tensor([[2.0], [4.0]]), packed, pivots).tolist()
        [[1.0], [1.0]]
    """
    if trans not in ("N", "T", "C"):
        raise ArgumentError(f"lu_solve: trans must be 'N', 'T' or 'C', got {trans!r}")
    if b.ndim < 2:
        raise ShapeError(f"lu_solve: b is {Meta(tuple(b.shape), b.dtype)}, expected at least 2 dimensions")
    rows = permutation_op(lu, pivots)
    if trans == "N":
        return _solved(lu, _solved(lu, matmul(matrix_transpose(rows), b), upper=False), upper=True)
    factors = conj(lu) if trans == "C" else lu
    inner = triangular_solve_op(factors, b, upper=True, transpose=True, unitriangular=False)
    return matmul(rows, triangular_solve_op(factors, inner, **_UNIT_TRANSPOSED))


METHODS: dict[str, Any] = {fn.__name__: fn for fn in (lu, lu_unpack, lu_solve)}
INPLACE = ()
__all__ = ()
