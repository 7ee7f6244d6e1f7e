"""Least squares solutions of linear systems."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtype import int32, int64
from ..core.errors import ArgumentError, DTypeError, ShapeError
from ..core.meta import UNKNOWN, Meta
from .arguments import rank_of
from .creation import zeros
from .decomposition import pinv, svdvals
from .elementwise import conj
from .host_linalg import each_matrix, scipy_linalg
from .linalg import adjoint, need_matrices, no_solution
from .matmul import matmul
from .reduce import sum_op
from .registry import OpDef, define_op

DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def _lstsq_kernel(xp: Any, x: Any, y: Any, *, rcond: float, driver: str) -> tuple[Any, ...]:
    n, k = x.shape[-1], y.shape[-1]
    full, solver = driver == "gels", scipy_linalg().lstsq
    limit = rcond if rcond >= 0 else max(x.shape[-2:]) * np.finfo(x.dtype).eps

    def one(a: Any, b: Any) -> tuple[Any, Any]:
        if not b.size:  # LAPACK refuses
            return np.zeros((n, k), a.dtype), np.linalg.matrix_rank(a, limit)
        routine: Any = "gelsy" if full else driver
        found = no_solution("lstsq", lambda: solver(a, b, limit, lapack_driver=routine, check_finite=False))
        if full and found[2] < min(a.shape):
            raise ArgumentError(f"lstsq: driver 'gels' needs full rank {min(a.shape)}, x has rank {found[2]}")
        return found[0], found[2]

    outs = [((n, k), x.dtype), ((), np.int32)]
    return each_matrix(xp, one, [x, y], [2, 2], outs)


def _lstsq_meta(x: Meta, y: Meta, *, rcond: float, driver: str) -> tuple[Meta, Meta]:
    need_matrices("lstsq", x, square=False)
    need_matrices("lstsq", y, "y", square=False)
    agree = x.ndim == y.ndim and all(a == b or UNKNOWN in (a, b) for a, b in zip(x.shape[:-1], y.shape[:-1]))
    if not agree:
        raise ShapeError(f"lstsq: x is {x}, y is {y}, expected [*b, m, n] and [*b, m, k]")
    batch = [b if a == UNKNOWN else a for a, b in zip(x.shape[:-2], y.shape[:-2])]
    return x.with_shape((*batch, x.shape[-1], y.shape[-1])), Meta(tuple(batch), int32)


def _x_vjp(cts: Any, *, x: Any, y: Any, solution: Any) -> Any:
    """From the derivative of the pseudo-inverse for matrices of constant rank (Golub and Pereyra 1973)."""
    inverse = pinv(x)
    back = matmul(adjoint(inverse), cts[0])
    within = matmul(inverse, back)
    outside = cts[0] - matmul(inverse, matmul(x, cts[0]))
    left = y - matmul(x, solution)
    turned = matmul(matmul(adjoint(inverse), solution), adjoint(outside))
    return matmul(left, adjoint(within)) + turned - matmul(back, adjoint(solution))


lstsq_op: OpDef = define_op(
    "lstsq",
    kernel=_lstsq_kernel,
    meta=_lstsq_meta,
    vjp={"x": _x_vjp, "y": lambda cts, *, x: matmul(adjoint(pinv(x)), cts[0])},
    outputs=("solution", "rank"),
    amp="deny",
    maps={"paddle": "lstsq"},
    on_host=True,
)


def lstsq(
    x: Any, y: Any, rcond: float | None = None, driver: str | None = None, name: str | None = None
) -> tuple[Any, Any, Any, Any]:
    """(solution, residuals, rank, singular values) of the z that makes x z - y smallest: [*b, m, n], [*b, m, k].

    solution: [*b, n, k]. residuals: the sums of squares [*b, k] where m > n, empty for driver "gelsy", the default.
    rank: [*b] of int32, empty for "gels", which needs full rank. singular values: [*b, min(m, n)] for "gelsd" and
    "gelss", else empty. rcond: singular values below rcond times the largest count as 0.
    Raises ArgumentError for another driver, DTypeError unless both are float32 or float64. Source: paddle.linalg.lstsq.

    Example:
        >>> import vitrify as paddle
        >>> line = paddle.to_tensor([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
        >>> z = paddle.linalg.lstsq(line, paddle.to_tensor([[1.0], [3.0], [5.0]]))[0]
        >>> [round(v, 4) for v in z.flatten().tolist()]
        [2.0, 1.0]
    """
    if driver not in (None, *DRIVERS):
        raise ArgumentError(f"lstsq: driver must be one of {', '.join(DRIVERS)} or None, got {driver!r}")
    rank_of("lstsq", x)
    rank_of("lstsq", y, "y")
    if x.dtype is not y.dtype or not x.dtype.is_floating or x.dtype.np.itemsize < 4:
        raise DTypeError(f"lstsq: x is {x.dtype.name}, y is {y.dtype.name}, expected float32 or float64 for both")
    kind = driver or "gelsy"
    solution, rank = lstsq_op(x, y, rcond=-1.0 if rcond is None else float(rcond), driver=kind)
    residuals = values = zeros([0], x.dtype)
    if kind != "gelsy" and UNKNOWN in x.shape[-2:]:
        raise ShapeError(
            f"lstsq: with driver {kind!r} x must have a known number of rows and columns, got {list(x.shape)}"
        )
    if kind != "gelsy" and x.shape[-2] > x.shape[-1]:
        left = y - matmul(x, solution)
        residuals = sum_op(left * conj(left), axis=(x.ndim - 2,), keepdim=False)
    if kind in ("gelsd", "gelss"):
        values = svdvals(x)
    return solution, residuals, zeros([0], int64) if kind == "gels" else rank, values


METHODS: dict[str, Any] = {"lstsq": lstsq}
INPLACE = ()
__all__ = ()
