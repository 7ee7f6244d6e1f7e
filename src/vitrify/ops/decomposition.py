"""Decompositions of matrices: symmetric and general eigenvalues, singular values, QR, and what is made from them."""

from __future__ import annotations

import math
from typing import Any

from ..core.dtype import complex64, complex128, float64
from ..core.errors import ArgumentError
from ..core.meta import UNKNOWN, Meta
from .arguments import is_tensor, rank_of
from .complex_ import abs as abs_
from .complex_ import part_meta, real
from .diagonal import diag_embed, diagonal, tril, triu
from .elementwise import conj
from .join import concat
from .like import cast
from .linalg import adjoint, in_lapack_dtype, need_matrices, no_solution, solve_op, triangular_solve
from .matmul import matmul
from .pad import pad
from .reduce import max as max_
from .reduce import sum as sum_
from .registry import OpDef, define_op
from .select import kept, maximum, where_op
from .shape import unsqueeze
from .sizes import size_of


def _gaps(values: Any) -> Any:
    """1 / (v_j - v_i) for each pair, 0 where they are equal."""
    gap = unsqueeze(values, -2) - unsqueeze(values, -1)
    return kept(gap != 0, 1 / where_op(gap != 0, gap, 1))


def _scaled_columns(x: Any, values: Any) -> Any:
    return x * unsqueeze(cast(values, x.dtype), -2)


# -- symmetric matrices ----------------------------------------------------------------------------------------------


def _eigh_meta(x: Meta, *, UPLO: str) -> tuple[Meta, Meta]:
    need_matrices("eigh", x)
    return part_meta(x.with_shape(x.shape[:-1])), x


def _eigh_vjp(cts: Any, *, values: Any, vectors: Any) -> Any:
    turned = matmul(adjoint(vectors), cts[1]) * cast(_gaps(values), vectors.dtype)
    inner = turned + cast(diag_embed(cts[0]), vectors.dtype)
    found = matmul(matmul(vectors, inner), adjoint(vectors))
    return (found + adjoint(found)) * 0.5  # x is symmetric, and so is its cotangent


_eigh_op: OpDef = define_op(
    "eigh",
    kernel=in_lapack_dtype(lambda xp, x, *, UPLO: tuple(no_solution("eigh", lambda: xp.linalg.eigh(x, UPLO)))),
    meta=_eigh_meta,
    vjp={"x": _eigh_vjp},
    outputs=("values", "vectors"),
    amp="deny",
    maps={"paddle": "eigh"},
)


def _checked_half(op: str, UPLO: str) -> str:
    if UPLO not in ("L", "U"):
        raise ArgumentError(f"{op}: UPLO must be 'L' or 'U', got {UPLO!r}")
    return UPLO


def eigh(x: Any, UPLO: str = "L", name: str | None = None) -> tuple[Any, Any]:
    """The eigenvalues, ascending, and eigenvectors (columns) of symmetric or Hermitian matrices.

    x: [*b, n, n], of which the lower (UPLO "L") or upper triangle is read -> ([*b, n] real, [*b, n, n]).
    Source: paddle.linalg.eigh.

    Example:
        >>> import vitrify as paddle
        >>> paddle.linalg.eigh(paddle.to_tensor([[2.0, 0.0], [0.0, 1.0]]))[0].tolist()
        [1.0, 2.0]
    """
    values, vectors = _eigh_op(x, UPLO=_checked_half("eigh", UPLO))
    return values, vectors


def eigvalsh(x: Any, UPLO: str = "L", name: str | None = None) -> Any:
    """The eigenvalues, ascending, of symmetric or Hermitian matrices. Source: paddle.linalg.eigvalsh.

    Example:
        >>> import vitrify as paddle
        >>> paddle.linalg.eigvalsh(paddle.to_tensor([[2.0, 0.0], [0.0, 1.0]])).tolist()
        [1.0, 2.0]
    """
    return eigh(x, UPLO)[0]


# -- general matrices ------------------------------------------------------------------------------------------------


def _eig_kernel(xp: Any, x: Any) -> tuple[Any, Any]:
    if x.dtype.itemsize == 2:  # LAPACK does not know the 16-bit types
        x = x.astype(xp.float32)
    kind = "complex64" if x.dtype.itemsize == 4 or x.dtype.name == "complex64" else "complex128"
    values, vectors = no_solution("eig", lambda: xp.linalg.eig(x))
    return values.astype(kind), vectors.astype(kind)


def _eig_meta(x: Meta) -> tuple[Meta, Meta]:
    need_matrices("eig", x)
    wide = x.dtype in (float64, complex128)
    vectors = x.with_dtype(complex128 if wide else complex64)
    return vectors.with_shape(x.shape[:-1]), vectors


def _eig_vjp(cts: Any, *, values: Any, vectors: Any, x_like: Any) -> Any:
    """For vectors of length 1, of which only the phase is arbitrary (Boeddeker et al. 2017)."""
    turned = matmul(adjoint(vectors), cts[1])
    along = cast(real(diagonal(turned, 0, -2, -1)), vectors.dtype)
    across = turned - matmul(adjoint(vectors), vectors) * unsqueeze(along, -2)
    inner = across * conj(_gaps(values)) + diag_embed(cts[0])
    found = solve_op(adjoint(vectors), matmul(inner, adjoint(vectors)))
    return cast(found if x_like.dtype.is_complex else real(found), x_like.dtype)


_eig_op: OpDef = define_op(
    "eig",
    kernel=_eig_kernel,
    meta=_eig_meta,
    vjp={"x": _eig_vjp},
    outputs=("values", "vectors"),
    amp="deny",
    maps={"paddle": "eig"},
)


def eig(x: Any, name: str | None = None) -> tuple[Any, Any]:
    """The complex eigenvalues and eigenvectors (columns, of length 1) of square matrices.

    Gradients need distinct eigenvalues, and a result that the phases of the vectors do not change.
    Source: paddle.linalg.eig.

    Example:
        >>> import vitrify as paddle
        >>> paddle.linalg.eig(paddle.to_tensor([[2.0]]))[0].tolist()
        [(2+0j)]
    """
    values, vectors = _eig_op(x)
    return values, vectors


def eigvals(x: Any, name: str | None = None) -> Any:
    """The complex eigenvalues of square matrices. Source: paddle.linalg.eigvals.

    Example:
        >>> import vitrify as paddle
        >>> paddle.linalg.eigvals(paddle.to_tensor([[2.0]])).tolist()
        [(2+0j)]
    """
    return eig(x)[0]


# -- singular values -------------------------------------------------------------------------------------------------


def _svd_meta(x: Meta, *, full_matrices: bool) -> tuple[Meta, Meta, Meta]:
    need_matrices("svd", x, square=False)
    *batch, m, n = x.shape
    k = min(m, n) if UNKNOWN not in (m, n) else UNKNOWN
    left, right = (m, n) if full_matrices else (k, k)
    return x.with_shape((*batch, m, left)), part_meta(x.with_shape((*batch, k))), x.with_shape((*batch, right, n))


def _outside(basis: Any, flow: Any) -> Any:
    """The part of `flow` across the space that the columns of `basis` span."""
    return flow - matmul(basis, matmul(adjoint(basis), flow))


def _svd_vjp(cts: Any, *, u: Any, s: Any, vh: Any, full_matrices: bool) -> Any:
    """Townsend 2016, "Differentiating the singular value decomposition", for the reduced form.

    What the full form has beyond it is any basis of the rest of the space: no gradient flows through that.
    """
    if full_matrices:
        rank = size_of(s, -1)
        u, vh, cts = u[..., :rank], vh[..., :rank, :], (cts[0][..., :rank], cts[1], cts[2][..., :rank, :])
    du, ds, dv = cts[0], cts[1], adjoint(cts[2])
    v = adjoint(vh)
    factor = cast(_gaps(s * s), u.dtype)
    inverse = 1 / where_op(s != 0, s, math.inf)

    def skew(basis: Any, flow: Any) -> Any:
        product = matmul(adjoint(basis), flow)
        return factor * (product - adjoint(product))

    rows = unsqueeze(cast(s, u.dtype), -1)
    inner = _scaled_columns(skew(u, du), s) + rows * skew(v, dv) + cast(diag_embed(ds), u.dtype)
    core = matmul(matmul(u, inner), vh)
    left = matmul(_scaled_columns(_outside(u, du), inverse), vh)
    right = matmul(u, adjoint(_scaled_columns(_outside(v, dv), inverse)))
    return core + left + right


_svd_op: OpDef = define_op(
    "svd",
    kernel=in_lapack_dtype(
        lambda xp, x, *, full_matrices: tuple(no_solution("svd", lambda: xp.linalg.svd(x, full_matrices)))
    ),
    meta=_svd_meta,
    vjp={"x": _svd_vjp},
    outputs=("u", "s", "vh"),
    amp="deny",
    maps={"paddle": "svd"},
)


def svd(x: Any, full_matrices: bool = False, name: str | None = None, *, out: Any = None) -> tuple[Any, Any, Any]:
    """(U, S, Vᴴ) with x = U diag(S) Vᴴ, S descending: [*b, m, n] -> [*b, m, k], [*b, k], [*b, k, n], k = min(m, n).

    full_matrices: U is [*b, m, m] and Vᴴ [*b, n, n]. Gradients need distinct singular values; none flow through
    the columns of U and rows of Vᴴ that full_matrices adds. Source: paddle.linalg.svd.

    Example:
        >>> import vitrify as paddle
        >>> paddle.linalg.svd(paddle.to_tensor([[3.0, 0.0], [0.0, 4.0]]))[1].tolist()
        [4.0, 3.0]
    """
    u, s, vh = _svd_op(x, full_matrices=bool(full_matrices))
    if out is None:
        return u, s, vh
    return tuple(held._become(new) for held, new in zip(out, (u, s, vh)))


def svdvals(x: Any, name: str | None = None) -> Any:
    """The singular values of matrices, descending: [*b, m, n] -> [*b, min(m, n)]. Source: paddle.linalg.svdvals.

    Example:
        >>> import vitrify as paddle
        >>> paddle.linalg.svdvals(paddle.to_tensor([[3.0, 0.0], [0.0, 4.0]])).tolist()
        [4.0, 3.0]
    """
    return svd(x)[1]


# -- QR --------------------------------------------------------------------------------------------------------------


def _qr_meta(x: Meta, *, complete: bool) -> tuple[Meta, Meta]:
    need_matrices("qr", x, square=False)
    *batch, m, n = x.shape
    k = m if complete else min(m, n) if UNKNOWN not in (m, n) else UNKNOWN
    return x.with_shape((*batch, m, k)), x.with_shape((*batch, k, n))


def _tall_qr_vjp(q: Any, r: Any, dq: Any, dr: Any) -> Any:
    """(dQ + Q copyltu(R dRᴴ - dQᴴ Q)) R⁻ᴴ for at least as many rows as columns."""
    inner = matmul(r, adjoint(dr)) - matmul(adjoint(dq), q)
    mirrored = tril(inner) + adjoint(tril(inner, -1))
    return adjoint(triangular_solve(r, adjoint(dq + matmul(q, mirrored)), upper=True))


def _qr_vjp(cts: Any, *, q: Any, r: Any, x: Any) -> Any:
    dq, dr = cts
    m, n = x.shape[-2:]
    dr = triu(dr)
    if m >= n and UNKNOWN not in (m, n):
        return _tall_qr_vjp(q, r, dq, dr)
    # where there are more columns than rows, only the first k = m decide Q; the others are R = Qᴴ x there
    k = size_of(q, -1)
    square = _tall_qr_vjp(q, r[..., :k], dq + matmul(x[..., k:], adjoint(dr[..., k:])), dr[..., :k])
    return concat([square, matmul(q, dr[..., k:])], axis=-1)


_qr_op: OpDef = define_op(
    "qr",
    kernel=in_lapack_dtype(lambda xp, x, *, complete: tuple(xp.linalg.qr(x, "complete" if complete else "reduced"))),
    meta=_qr_meta,
    vjp={"x": _qr_vjp},
    outputs=("q", "r"),
    amp="deny",
    maps={"paddle": "qr"},
)


def qr(x: Any, mode: str = "reduced", name: str | None = None) -> Any:
    """(Q, R) with x = Q R, Q orthonormal and R upper triangular; with mode "r" only R.

    x: [*b, m, n] -> [*b, m, k], [*b, k, n]; k = min(m, n), or m in mode "complete", which has no gradient for m > n.
    Raises ArgumentError for another mode. Source: paddle.linalg.qr.

    Example:
        >>> import vitrify as paddle
        >>> [t.shape for t in paddle.linalg.qr(paddle.ones([3, 2]))]
        [paddle.Size([3, 2]), paddle.Size([2, 2])]
    """
    if mode not in ("reduced", "complete", "r"):
        raise ArgumentError(f"qr: mode must be 'reduced', 'complete' or 'r', got {mode!r}")
    q, r = _qr_op(x, complete=mode == "complete")
    return r if mode == "r" else (q, r)


# -- made from them --------------------------------------------------------------------------------------------------


def _largest(sizes: Any) -> Any:
    """The largest of the magnitudes in each row, kept as a column; 0 where there are none."""
    return max_(pad(sizes, [0] * (2 * sizes.ndim - 1) + [1]), axis=-1, keepdim=True)


def pinv(x: Any, rcond: Any = 1e-15, hermitian: bool = False, name: str | None = None) -> Any:
    """The pseudo-inverses of matrices: [*b, m, n] -> [*b, n, m]; singular values up to rcond times the largest are 0.

    hermitian: take x as Hermitian, which is faster. Source: paddle.linalg.pinv.

    Example:
        >>> import vitrify as paddle
        >>> paddle.linalg.pinv(paddle.to_tensor([[2.0, 0.0], [0.0, 0.0]])).tolist()
        [[0.5, 0.0], [0.0, 0.0]]
    """
    rank_of("pinv", x)
    if hermitian:
        s, u = eigh(x)
        vh, size = adjoint(u), abs_(s)
    else:
        u, s, vh = svd(x)
        size = s
    limit = _largest(size) * (unsqueeze(rcond, -1) if is_tensor(rcond) and rcond.ndim else rcond)
    inverse = kept(size > limit, 1 / where_op(size > limit, s, 1))
    return matmul(_scaled_columns(adjoint(vh), inverse), adjoint(u))


def matrix_rank(
    x: Any, tol: Any = None, hermitian: bool = False, atol: Any = None, rtol: Any = None, name: str | None = None
) -> Any:
    """How many singular values exceed the tolerance: [*b, m, n] -> [*b] of int64.

    tol: the tolerance; or atol and rtol, of which the larger of atol and rtol * largest counts. By default
    largest * max(m, n) * epsilon. Source: paddle.linalg.matrix_rank.

    Example:
        >>> import vitrify as paddle
        >>> paddle.linalg.matrix_rank(paddle.to_tensor([[1.0, 0.0], [0.0, 0.0]])).item()
        1
    """
    values = abs_(eigvalsh(x)) if hermitian else svdvals(x)
    largest = _largest(values)
    if tol is None and atol is None and rtol is None:
        epsilon = 2.0**-52 if values.dtype is float64 else 2.0**-23
        m, n = size_of(x, -2), size_of(x, -1)
        known = isinstance(m, int) and isinstance(n, int)
        rtol = (max(m, n) if known else cast(maximum(m, n), values.dtype)) * epsilon
    limit = _column(tol) if tol is not None else _larger(atol, largest * _column(rtol) if rtol is not None else None)
    return sum_(cast(values > limit, "int64"), axis=-1)


def _column(value: Any) -> Any:
    return unsqueeze(value, -1) if is_tensor(value) and value.ndim else value


def _larger(atol: Any, relative: Any) -> Any:
    if relative is None:
        return _column(atol)
    return relative if atol is None else maximum(relative, _column(atol))


METHODS: dict[str, Any] = {
    fn.__name__: fn for fn in (eigh, eigvalsh, eig, eigvals, svd, svdvals, qr, pinv, matrix_rank)
}
INPLACE = ()
__all__ = ()
