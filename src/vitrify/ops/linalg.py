"""Linear systems: inverse, determinant, Cholesky factor, solving."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.alias import aliased
from ..core.errors import ArgumentError, DTypeError, ShapeError
from ..core.meta import UNKNOWN, Meta, broadcast_shapes
from .arguments import finish, rank_of
from .diagonal import tril, triu
from .elementwise import conj
from .join import stack
from .like import sum_to_like
from .limits import LAPACK
from .matmul import matmul
from .registry import OpDef, define_op
from .shape import squeeze, unsqueeze
from .transpose import matrix_transpose

# -- shared ----------------------------------------------------------------------------------------------------------


def need_matrices(op: str, x: Meta, name: str = "x", square: bool = True) -> None:
    """Raise ShapeError or DTypeError unless x holds (square) matrices of floating point numbers."""
    if not x.dtype.is_inexact:
        raise DTypeError(f"{op}: {name} is {x}, expected real or complex floating point")
    if x.ndim < 2:
        raise ShapeError(f"{op}: {name} is {x}, expected at least 2 dimensions")
    if square and UNKNOWN not in x.shape[-2:] and x.shape[-1] != x.shape[-2]:
        raise ShapeError(f"{op}: {name} is {x}, expected square matrices")


def adjoint(x: Any) -> Any:
    """The matrices x transposed, and conjugated where they are complex."""
    return conj(matrix_transpose(x))


def in_lapack_dtype(fn: Callable[..., Any]) -> Callable[..., Any]:
    """`fn(xp, *arrays)`, one array or several, computed in float32 for the 16-bit types, which LAPACK does not know."""

    @functools.wraps(fn)
    def call(xp: Any, *arrays: Any, **attrs: Any) -> Any:
        dtype = arrays[0].dtype
        if dtype.itemsize > 2:
            return fn(xp, *arrays, **attrs)
        found = fn(xp, *[a.astype(xp.float32) for a in arrays], **attrs)
        return tuple(part.astype(dtype) for part in found) if isinstance(found, tuple) else found.astype(dtype)

    return call


def no_solution(op: str, fn: Callable[[], Any]) -> Any:
    """What `fn` gives; LAPACK's complaint about the numbers as an ArgumentError."""
    try:
        return fn()
    except np.linalg.LinAlgError as err:
        raise ArgumentError(f"{op}: {err}") from None


# -- inverse and determinant -----------------------------------------------------------------------------------------


def _square_meta(op: str) -> Callable[[Meta], Meta]:
    def rule(x: Meta) -> Meta:
        need_matrices(op, x)
        return x

    return rule


inv_op: OpDef = define_op(
    "inverse",
    kernel=in_lapack_dtype(lambda xp, x: no_solution("inverse", lambda: xp.linalg.inv(x))),
    limits=LAPACK,
    meta=_square_meta("inverse"),
    vjp={"x": lambda ct, *, out: -matmul(matmul(adjoint(out), ct), adjoint(out))},
    amp="deny",
    maps={"paddle": "inverse"},
)


def inv(x: Any, name: str | None = None) -> Any:
    """The inverses of square matrices: [*b, n, n] -> [*b, n, n]. Raises ArgumentError for a singular one.

    Source: paddle.linalg.inv.

    Example:
        >>> import vitrify as paddle
        >>> paddle.linalg.inv(paddle.to_tensor([[2.0, 0.0], [0.0, 4.0]])).tolist()
        [[0.5, 0.0], [0.0, 0.25]]
    """
    return inv_op(x)


inverse = inv


def _det_meta(x: Meta) -> Meta:
    need_matrices("det", x)
    return x.with_shape(x.shape[:-2])


det_op: OpDef = define_op(
    "det",
    kernel=in_lapack_dtype(lambda xp, x: xp.linalg.det(x)),
    limits=LAPACK,
    meta=_det_meta,
    vjp={"x": lambda ct, *, x, out: unsqueeze(ct * conj(out), [-1, -2]) * adjoint(inv_op(x))},
    amp="deny",
    maps={"onnx": "Det", "paddle": "determinant"},
)


def det(x: Any, name: str | None = None) -> Any:
    """The determinants of square matrices: [*b, n, n] -> [*b]. Raises ShapeError. Source: paddle.linalg.det.

    Example:
        >>> import vitrify as paddle
        >>> paddle.linalg.det(paddle.to_tensor([[2.0, 0.0], [0.0, 4.0]])).item()
        8.0
    """
    return det_op(x)


def slogdet(x: Any, name: str | None = None) -> Any:
    """The sign of the determinants and the logarithm of their absolute values, stacked: [*b, n, n] -> [2, *b].

    Source: paddle.linalg.slogdet.

    Example:
        >>> import vitrify as paddle
        >>> paddle.linalg.slogdet(paddle.to_tensor([[1.0, 0.0], [0.0, -1.0]])).tolist()
        [-1.0, 0.0]
    """
    return stack(list(_slogdet_op(x)), 0)


def _slogdet_meta(x: Meta) -> tuple[Meta, Meta]:
    found = _det_meta(x)
    return found, found


_slogdet_op: OpDef = define_op(
    "slogdet_parts",
    kernel=in_lapack_dtype(lambda xp, x: tuple(xp.asarray(part).astype(x.dtype) for part in xp.linalg.slogdet(x))),
    meta=_slogdet_meta,
    vjp={"x": lambda cts, *, x: unsqueeze(cts[1], [-1, -2]) * adjoint(inv_op(x))},
    outputs=("sign", "logdet"),
    amp="deny",
)

# -- Cholesky --------------------------------------------------------------------------------------------------------


def _cholesky_kernel(xp: Any, x: Any, *, upper: bool) -> Any:
    factor = no_solution("cholesky", lambda: xp.linalg.cholesky(xp.conj(xp.swapaxes(x, -1, -2)) if upper else x))
    return xp.conj(xp.swapaxes(factor, -1, -2)).copy() if upper else factor


def _cholesky_vjp(ct: Any, *, out: Any, upper: bool) -> Any:
    """The symmetric cotangent of x, from Φ(LᴴL̄) between two triangular solves (Murray 2016, equation 10)."""
    factor, flow = (adjoint(out), adjoint(ct)) if upper else (out, ct)
    inner = tril(matmul(adjoint(factor), flow))
    halved = inner - tril(triu(inner)) * 0.5
    left = _triangular(adjoint(factor), halved, upper=True)
    both = adjoint(_triangular(adjoint(factor), adjoint(left), upper=True))
    return (both + adjoint(both)) * 0.5


cholesky_op: OpDef = define_op(
    "cholesky",
    kernel=in_lapack_dtype(_cholesky_kernel),
    limits=LAPACK,
    meta=lambda x, *, upper: _square_meta("cholesky")(x),
    vjp={"x": _cholesky_vjp},
    amp="deny",
    maps={"paddle": "cholesky"},
)


def cholesky(x: Any, upper: bool = False, name: str | None = None) -> Any:
    """The lower triangular L with L Lᴴ = x, or with `upper` the U with Uᴴ U = x: [*b, n, n].

    Raises ArgumentError unless x is positive definite. Source: paddle.linalg.cholesky.

    Example:
        >>> import vitrify as paddle
        >>> paddle.linalg.cholesky(paddle.to_tensor([[4.0, 0.0], [0.0, 9.0]])).tolist()
        [[2.0, 0.0], [0.0, 3.0]]
    """
    return cholesky_op(x, upper=bool(upper))


def cholesky_solve(x: Any, y: Any, upper: bool = False, name: str | None = None) -> Any:
    """The solution A⁻¹ x for A = y yᴴ given by its Cholesky factor y (or yᴴ y with `upper`).

    Source: paddle.linalg.cholesky_solve.

    Example:
        >>> import vitrify as paddle
        >>> paddle.linalg.cholesky_solve(paddle.to_tensor([[4.0]]), paddle.to_tensor([[2.0]])).tolist()
        [[1.0]]
    """
    lower = adjoint(y) if upper else y
    return _triangular(adjoint(lower), _triangular(lower, x, upper=False), upper=True)


def cholesky_inverse(x: Any, upper: bool = False, name: str | None = None) -> Any:
    """The inverse of the matrix whose Cholesky factor is x. Source: paddle.linalg.cholesky_inverse.

    Example:
        >>> import vitrify as paddle
        >>> paddle.linalg.cholesky_inverse(paddle.to_tensor([[2.0]])).tolist()
        [[0.25]]
    """
    return inv_op(matmul(adjoint(x), x) if upper else matmul(x, adjoint(x)))


# -- solving ---------------------------------------------------------------------------------------------------------


def _solve_meta(op: str) -> Callable[..., Meta]:
    def rule(x: Meta, y: Meta, **attrs: Any) -> Meta:
        need_matrices(op, x)
        need_matrices(op, y, "y", square=False)
        if UNKNOWN not in (x.shape[-1], y.shape[-2]) and x.shape[-1] != y.shape[-2]:
            raise ShapeError(f"{op}: sizes differ: x is {x}, y is {y} ({x.shape[-1]} != {y.shape[-2]})")
        batch = broadcast_shapes(op, (x.shape[:-2], y.shape[:-2]), ("the batch of x", "the batch of y"))
        return x.with_shape((*batch, *y.shape[-2:]))

    return rule


def _solve_x_vjp(ct: Any, *, x: Any, out: Any) -> Any:
    return sum_to_like(-matmul(solve_op(adjoint(x), ct), adjoint(out)), x)


solve_op: OpDef = define_op(
    "solve",
    kernel=in_lapack_dtype(lambda xp, x, y: no_solution("solve", lambda: xp.linalg.solve(x, y))),
    limits=LAPACK,
    meta=_solve_meta("solve"),
    vjp={"x": _solve_x_vjp, "y": lambda ct, *, x, y_like: sum_to_like(solve_op(adjoint(x), ct), y_like)},
    promote=("x", "y"),
    amp="deny",
    maps={"paddle": "solve"},
)


@aliased(x="A", y="B")
def solve(x: Any, y: Any, left: bool = True, name: str | None = None, *, out: Any = None) -> Any:
    """The z with x z = y, or with left=False z x = y: [*b, n, n], [*b, n, k] -> [*b, n, k]; y may be [*b, n].

    Raises ArgumentError for singular x. Source: paddle.linalg.solve.

    Example:
        >>> import vitrify as paddle
        >>> paddle.linalg.solve(paddle.to_tensor([[2.0, 0.0], [0.0, 4.0]]), paddle.to_tensor([2.0, 8.0])).tolist()
        [1.0, 2.0]
    """
    ndim = rank_of("solve", x)
    is_vector = rank_of("solve", y, "y") == 1 or (y.ndim == ndim - 1 and list(y.shape) == list(x.shape[:-1]))
    right = unsqueeze(y, -1) if is_vector else y
    if left or is_vector:
        found = solve_op(x if left else matrix_transpose(x), right)
    else:
        found = matrix_transpose(solve_op(matrix_transpose(x), matrix_transpose(y)))
    return finish("solve", squeeze(found, -1) if is_vector else found, out)


def _triangle_of(xp: Any, x: Any, upper: bool, unitriangular: bool) -> Any:
    part = xp.triu(x) if upper else xp.tril(x)
    if not unitriangular:
        return part
    eye = xp.eye(x.shape[-1], dtype=x.dtype)
    return part * (1 - eye) + eye


def _triangular_kernel(xp: Any, x: Any, y: Any, *, upper: bool, transpose: bool, unitriangular: bool) -> Any:
    part = _triangle_of(xp, x, upper, unitriangular)
    return no_solution("triangular_solve", lambda: xp.linalg.solve(xp.swapaxes(part, -1, -2) if transpose else part, y))


def _triangular_vjps(ct: Any, x: Any, upper: bool, transpose: bool, unitriangular: bool) -> Any:
    return triangular_solve_op(conj(x), ct, upper=upper, transpose=not transpose, unitriangular=unitriangular)


def _triangular_x_vjp(ct: Any, *, x: Any, out: Any, upper: bool, transpose: bool, unitriangular: bool) -> Any:
    flow = -matmul(_triangular_vjps(ct, x, upper, transpose, unitriangular), adjoint(out))
    if transpose:
        flow = matrix_transpose(flow)
    edge = int(unitriangular)
    return sum_to_like(triu(flow, edge) if upper else tril(flow, -edge), x)


def _triangular_y_vjp(ct: Any, *, x: Any, y_like: Any, upper: bool, transpose: bool, unitriangular: bool) -> Any:
    return sum_to_like(_triangular_vjps(ct, x, upper, transpose, unitriangular), y_like)


triangular_solve_op: OpDef = define_op(
    "triangular_solve",
    kernel=in_lapack_dtype(_triangular_kernel),
    limits=LAPACK,
    meta=_solve_meta("triangular_solve"),
    vjp={"x": _triangular_x_vjp, "y": _triangular_y_vjp},
    promote=("x", "y"),
    amp="deny",
    maps={"paddle": "triangular_solve"},
)


def _triangular(x: Any, y: Any, upper: bool) -> Any:
    return triangular_solve_op(x, y, upper=upper, transpose=False, unitriangular=False)


def triangular_solve(
    x: Any, y: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False, name: str | None = None
) -> Any:
    """The z with x z = y for triangular x, of which the other triangle is not read: [*b, n, n], [*b, n, k].

    transpose: solve with x transposed. unitriangular: take the diagonal as ones.
    Raises ArgumentError for singular x. Source: paddle.linalg.triangular_solve.

    Example:
        >>> import vitrify as paddle
        >>> paddle.linalg.triangular_solve(paddle.to_tensor([[2.0]]), paddle.to_tensor([[6.0]])).tolist()
        [[3.0]]
    """
    return triangular_solve_op(x, y, upper=bool(upper), transpose=bool(transpose), unitriangular=bool(unitriangular))


METHODS: dict[str, Any] = {
    fn.__name__: fn for fn in (inv, det, slogdet, cholesky, cholesky_solve, cholesky_inverse, solve, triangular_solve)
} | {"inverse": inv}  # fmt: skip
INPLACE = ()
__all__ = ["inverse"]
