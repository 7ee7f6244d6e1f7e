"""Distances between rows, and rows kept within a length."""

from __future__ import annotations

from typing import Any

from ..core.errors import ArgumentError, ShapeError
from ..core.meta import Meta, normalize_axis
from .arguments import need_tensors, rank_of
from .complex_ import abs as abs_
from .creation import triu_indices
from .gather import gather_nd
from .norms import vector_norm
from .select import where_op
from .shape import unsqueeze
from .sizes import size_of
from .transpose import transpose

_MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")


def cdist(x: Any, y: Any, p: float = 2.0, compute_mode: str = _MODES[0], name: str | None = None) -> Any:
    """The p-norm distance of each row of x to each row of y: [*b, n, m], [*b, k, m] -> [*b, n, k].

    compute_mode only chooses how Paddle computes; every one gives the same here, from the differences themselves.
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
    return vector_norm(unsqueeze(x, -2) - unsqueeze(y, -3), float(p), axis=-1)


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
    """`renorm` put into x, which is returned; its norms keep the old content for backward."""
    rank_of("renorm_", x)
    return x._become(renorm(x.clone(), p, axis, max_norm))


METHODS: dict[str, Any] = {"cdist": cdist, "renorm": renorm, "renorm_": _renorm_in_place}
INPLACE = ()
__all__ = ["cdist", "pdist", "renorm"]
