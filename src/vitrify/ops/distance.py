"""Distances between rows, and rows kept within a length."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtype import float32
from ..core.errors import ArgumentError, ShapeError
from ..core.meta import Meta, normalize_axis
from .arguments import need_tensors, rank_of
from .complex_ import abs as abs_
from .creation import triu_indices
from .gather import gather_nd
from .like import cast
from .matmul import matmul
from .norms import vector_norm
from .reduce import sum as sum_
from .select import where_op
from .shape import unsqueeze
from .sizes import size_of
from .transpose import transpose
from .unary import sqrt

_IF_MANY, _ALWAYS, _NEVER = _MODES = (
    "use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist"
)  # fmt: skip
# Rows up to which differences take less time than a product.
_FEW_ROWS = 25
# Squares of distances that are nothing beside those of the rows' lengths: what rounding in float64 leaves of zero.
_NOTHING = 8 * np.finfo(np.float64).eps


def cdist(x: Any, y: Any, p: float = 2.0, compute_mode: str = _MODES[0], name: str | None = None) -> Any:
    """The p-norm distance of each row of x to each row of y: [*b, n, m], [*b, k, m] -> [*b, n, k].

    compute_mode: whether distances of p = 2 come from a product of the matrices, which takes a fraction of the time of
    the differences: always, never, or where a matrix has more than 25 rows. It is one of float64, for float32 alone,
    so results are as exact, but NaN for rows that are not finite; other dtypes are computed from the differences.
    Raises ShapeError when the rows differ in size, ArgumentError for an unknown mode. Source: paddle.cdist.

    Example:
        >>> import vitrify as paddle
        >>> paddle.cdist(paddle.to_tensor([[3.0, 4.0]]), paddle.zeros([1, 2])).tolist()
        [[5.0]]
    """
    if compute_mode not in _MODES:
        raise ArgumentError(f"cdist: compute_mode must be one of {', '.join(_MODES)}, got {compute_mode!r}")
    need_tensors("cdist", x, y)
    if x.ndim < 2 or y.ndim < 2 or (x.shape[-1] != y.shape[-1] and -1 not in (x.shape[-1], y.shape[-1])):
        raise ShapeError(
            f"cdist: x has shape {list(x.shape)}, y has shape {list(y.shape)}: expected matrices, rows of equal size"
        )
    is_large = any(size == -1 or size > _FEW_ROWS for size in (x.shape[-2], y.shape[-2]))
    by_product = compute_mode == _ALWAYS or (compute_mode == _IF_MANY and is_large)
    if by_product and p == 2 and x.dtype is y.dtype is float32:
        return _by_product(x, y)
    return vector_norm(unsqueeze(x, -2) - unsqueeze(y, -3), float(p), axis=-1)


def _by_product(x: Any, y: Any) -> Any:
    """The Euclidean distances of rows of float32: |x - y|**2 is |x|**2 + |y|**2 - 2 x y, in float64.

    Where nothing but rounding is left of that, the distance and its gradients are zero.
    """
    a, b = cast(x, "float64"), cast(y, "float64")
    lengths = sum_(a * a, -1, keepdim=True) + unsqueeze(sum_(b * b, -1), -2)
    squares = lengths - matmul(a, b, transpose_y=True) * 2.0
    is_nothing = squares <= lengths * _NOTHING  # not so of NaN
    return cast(where_op(is_nothing, 0.0, sqrt(where_op(is_nothing, 1.0, squares))), x.dtype)


def pdist(x: Any, p: float = 2.0, name: str | None = None) -> Any:
    """The p-norm distance of each pair of rows of x: [n, m] -> [n * (n - 1) / 2]. Source: paddle.pdist.

    Raises ShapeError unless x is a matrix.

    Example:
        >>> import vitrify as paddle
        >>> paddle.pdist(paddle.to_tensor([[0.0, 0.0], [3.0, 4.0]])).tolist()
        [5.0]
    """
    if rank_of("pdist", x) != 2:
        raise ShapeError(f"pdist: x is {Meta(tuple(x.shape), x.dtype)}, expected a matrix")
    count = size_of(x, 0)
    pairs = transpose(triu_indices(count, count, 1), [1, 0])
    return gather_nd(cdist(x, x, p), pairs)


def renorm(x: Any, p: float, axis: int, max_norm: float) -> Any:
    """x with each slice along `axis` whose p-norm is greater than `max_norm` scaled down to it.

    Raises ArgumentError unless p and max_norm are positive. Source: paddle.renorm.

    Example:
        >>> import vitrify as paddle
        >>> paddle.renorm(paddle.to_tensor([[3.0, 4.0], [0.3, 0.4]]), 2.0, 0, 5.0).tolist()[0]
        [3.0, 4.0]
    """
    rank_of("renorm", x)
    if p <= 0 or max_norm <= 0:
        raise ArgumentError(f"renorm: p and max_norm must be positive, got {p} and {max_norm}")
    place = normalize_axis("renorm", axis, x.ndim)
    others = [i for i in range(x.ndim) if i != place]
    length = vector_norm(x, float(p), axis=others, keepdim=True) if others else abs_(x)  # no axes would mean all
    too_long = length > max_norm
    return x * where_op(too_long, max_norm / where_op(too_long, length, 1.0), 1.0)


def _renorm_in_place(x: Any, p: float, axis: int, max_norm: float) -> Any:
    """`renorm` put into x, which is returned; its norms keep the old content for backward. Source: paddle.renorm_.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([[3.0, 4.0], [0.3, 0.4]])
        >>> _ = x.renorm_(2.0, 0, 10.0)
        >>> x[0].tolist(), round(x[1].norm().item(), 4)
        ([3.0, 4.0], 0.5)
    """
    rank_of("renorm_", x)
    return x._become(renorm(x.clone(), p, axis, max_norm))


METHODS: dict[str, Any] = {"cdist": cdist, "renorm": renorm, "renorm_": _renorm_in_place}
INPLACE = ()
__all__ = ["cdist", "pdist", "renorm"]
