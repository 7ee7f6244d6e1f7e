"""Differences of neighbours, and integrals by the trapezoidal rule."""

from __future__ import annotations

from typing import Any

from ..core.alias import aliased
from ..core.errors import ArgumentError, ShapeError
from ..core.meta import normalize_axis
from .arguments import finish, rank_of
from .compare import not_equal
from .cumulative import cumsum_op
from .elementwise import add_op, subtract_op
from .join import concat
from .reduce import sum_op
from .shape import reshape
from .slicing import slice as slice_


def _neighbours(x: Any, axis: int) -> tuple[Any, Any]:
    """All elements along an axis but the first, and all but the last."""
    return slice_(x, [axis], [1], [2**31 - 1]), slice_(x, [axis], [0], [-1])


@aliased(x="input", axis="dim")
def diff(
    x: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None, name: str | None = None, *,
    out: Any = None,
) -> Any:  # fmt: skip
    """The n-th differences of neighbours along `axis`, after putting `prepend` before x and `append` behind it.

    Of bool: whether neighbours differ. Raises ArgumentError for n < 1. Source: paddle.diff.

    Example:
        >>> import vitrify as paddle
        >>> paddle.diff(paddle.to_tensor([1, 4, 9])).tolist()
        [3, 5]
    """
    if n < 1:
        raise ArgumentError(f"diff: n must be >= 1, got {n}")
    place = normalize_axis("diff", axis, rank_of("diff", x))
    parts = [part for part in (prepend, x, append) if part is not None]
    result = concat(parts, axis=place) if len(parts) > 1 else x
    for _ in range(n):
        later, earlier = _neighbours(result, place)
        result = not_equal(later, earlier) if x.dtype.is_bool else subtract_op(later, earlier)
    return finish("diff", result, out)


def _areas(op: str, y: Any, x: Any, dx: float | None, axis: int) -> tuple[Any, int]:
    """The area of each trapezoid between neighbours along the axis."""
    if x is not None and dx is not None:
        raise ArgumentError(f"{op}: give x or dx, not both")
    place = normalize_axis(op, axis, rank_of(op, y, "y"))
    later, earlier = _neighbours(y, place)
    return add_op(later, earlier) * _widths(op, y, x, 1.0 if dx is None else dx, place) / 2.0, place


def _widths(op: str, y: Any, x: Any, dx: float, place: int) -> Any:
    if x is None:
        return dx
    if rank_of(op, x) == 1:
        return reshape(diff(x), [-1 if i == place else 1 for i in range(y.ndim)])
    if x.ndim != y.ndim:
        raise ShapeError(f"{op}: x has {x.ndim} dimensions, y has {y.ndim}: expected 1 or as many")
    return diff(x, axis=place)


def trapezoid(y: Any, x: Any = None, dx: float | None = None, axis: int = -1, name: str | None = None) -> Any:
    """The integral of y along `axis` by the trapezoidal rule, at the points x, or `dx` (1) apart.

    Raises ArgumentError when both x and dx are given. Source: paddle.trapezoid.

    Example:
        >>> import vitrify as paddle
        >>> paddle.trapezoid(paddle.to_tensor([1.0, 2.0, 3.0])).item()
        4.0
    """
    areas, place = _areas("trapezoid", y, x, dx, axis)
    return sum_op(areas, axis=(place,), keepdim=False)


def cumulative_trapezoid(
    y: Any, x: Any = None, dx: float | None = None, axis: int = -1, name: str | None = None
) -> Any:
    """The integrals of y up to each point after the first; see `trapezoid`. Source: paddle.cumulative_trapezoid.

    Example:
        >>> import vitrify as paddle
        >>> paddle.cumulative_trapezoid(paddle.to_tensor([1.0, 2.0, 3.0])).tolist()
        [1.5, 4.0]
    """
    areas, place = _areas("cumulative_trapezoid", y, x, dx, axis)
    return cumsum_op(areas, axis=place, reverse=False)


METHODS: dict[str, Any] = {"diff": diff, "trapezoid": trapezoid, "cumulative_trapezoid": cumulative_trapezoid}
INPLACE = ()
__all__ = ["cumulative_trapezoid", "diff", "trapezoid"]
