"""The exponential of matrices."""

from __future__ import annotations

from typing import Any

from ..core.meta import UNKNOWN, Meta
from .host_linalg import on_host, scipy_linalg
from .join import concat
from .like import zeros_like
from .linalg import adjoint, in_lapack_dtype, need_matrices
from .registry import OpDef, define_op
from .sizes import size_of


def _meta(x: Meta) -> Meta:
    need_matrices("matrix_exp", x)
    *batch, m, n = x.shape
    return x.with_shape((*batch, n, n) if m == UNKNOWN else (*batch, m, m))


def _vjp(ct: Any, *, x: Any) -> Any:
    """The upper right block of exp [[xᴴ, ct], [0, xᴴ]] (Mathias 1996)."""
    turned = adjoint(x)
    upper = concat([turned, ct], axis=-1)
    lower = concat([zeros_like(turned), turned], axis=-1)
    n = size_of(x, -1)
    return matrix_exp_op(concat([upper, lower], axis=-2))[..., :n, n:]


matrix_exp_op: OpDef = define_op(
    "matrix_exp",
    kernel=in_lapack_dtype(lambda xp, x: xp.asarray(scipy_linalg().expm(on_host(x)).astype(x.dtype, copy=False))),
    meta=_meta,
    vjp={"x": _vjp},
    amp="deny",
    on_host=True,
)


def matrix_exp(x: Any, name: str | None = None) -> Any:
    """The sum of xⁿ / n! of square matrices: [*b, n, n] -> [*b, n, n]. Raises ShapeError, DTypeError.

    Source: paddle.linalg.matrix_exp.

    Example:
        >>> import vitrify as paddle
        >>> paddle.linalg.matrix_exp(paddle.to_tensor([[0.0, 1.0], [0.0, 0.0]])).tolist()
        [[1.0, 1.0], [0.0, 1.0]]
    """
    return matrix_exp_op(x)


METHODS: dict[str, Any] = {}
INPLACE = ()
__all__ = ()
