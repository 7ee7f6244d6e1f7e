"""Products of tensors made from matmul and broadcasting: tensordot, kron, cross, trace, chains and powers."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

from ..core.alias import aliased
from ..core.errors import ArgumentError, DTypeError, ShapeError
from ..core.meta import UNKNOWN, Meta, normalize_axes, normalize_axis
from .arguments import is_tensor, need_tensors, rank_of, static_int
from .arrange import roll
from .creation import clone, eye
from .diagonal import diagonal
from .elementwise import conj
from .like import expand_like
from .linalg import inv
from .matmul import matmul, sizes_of
from .reduce import sum as sum_
from .same_sizes import same_sizes, sized_op
from .shape import reshape, unsqueeze
from .transpose import transpose


def vecdot(x: Any, y: Any, axis: int = -1, name: str | None = None) -> Any:
    """The sum of conj(x) * y along `axis`, with broadcasting. Source: paddle.vecdot.

    Example:
        >>> import vitrify as paddle
        >>> paddle.vecdot(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 4.0])).item()
        11.0
    """
    return sum_(conj(x) * y, axis=axis)


# -- tensordot -------------------------------------------------------------------------------------------------------


def _axis_pair(axes: Any, x: Any) -> tuple[list[int], list[int]]:
    """The axes of x and of y that are summed over together, from any form that Paddle accepts."""
    rank_of("tensordot", x)
    if is_tensor(axes):
        axes = axes.tolist() if axes.ndim else int(axes)
    if isinstance(axes, int):
        if axes < 0:
            raise ArgumentError(f"tensordot: axes must not be negative, got {axes}")
        return list(range(x.ndim - axes, x.ndim)), list(range(axes))
    lists: list[Any] = [list(a) if isinstance(a, (list, tuple)) else a.tolist() if is_tensor(a) else a for a in axes]
    if all(isinstance(a, int) for a in lists):
        return lists, list(lists)
    first, second = lists[0], lists[1] if len(lists) > 1 else lists[0]
    if len(first) < len(second):
        first = first + second[len(first) :]
    return first, second + first[len(second) :]


def tensordot(x: Any, y: Any, axes: Any = 2, name: str | None = None) -> Any:
    """The sum of products over pairs of axes: what is left of x's dimensions, then of y's.

    axes: how many of x's last and y's first axes; a list of axes of both; or a pair of lists.
    Raises ShapeError when sizes differ. Source: paddle.tensordot.

    Example:
        >>> import vitrify as paddle
        >>> paddle.tensordot(paddle.ones([2, 3]), paddle.ones([3, 4]), axes=1).shape
        paddle.Size([2, 4])
    """
    pair = _axis_pair(axes, x)
    summed = [list(normalize_axes("tensordot", a, t.ndim)) if a else [] for a, t in zip(pair, (x, y))]
    for i, j in zip(*summed):
        if x.shape[i] != y.shape[j] and UNKNOWN not in (x.shape[i], y.shape[j]):
            raise ShapeError(f"tensordot: x has size {x.shape[i]} in axis {i}, y has size {y.shape[j]} in axis {j}")
    free = [[i for i in range(t.ndim) if i not in a] for t, a in zip((x, y), summed)]
    inner = math.prod(y.shape[j] for j in summed[1]) if all(y.shape[j] >= 0 for j in summed[1]) else -1
    columns = transpose(y, summed[1] + free[1])
    if any(UNKNOWN in (x.shape[i], y.shape[j]) for i, j in zip(*summed)):
        what = "tensordot: the dimensions summed over differ in size"
        columns = same_sizes(what, transpose(x, summed[0] + free[0]), columns, len(summed[0]))
    rows = reshape(transpose(x, free[0] + summed[0]), [-1, inner] if inner > 0 else _merged(x, *free[:1], summed[0]))
    columns = reshape(columns, [inner, -1] if inner > 0 else _merged(y, summed[1], free[1]))
    return reshape(matmul(rows, columns), [sizes_of(t)[i] for t, left in zip((x, y), free) for i in left])


def _merged(x: Any, *groups: Sequence[int]) -> list[Any]:
    """The size of each group of x's dimensions merged into one."""
    sizes = sizes_of(x)
    return [functools.reduce(lambda a, b: a * b, [sizes[i] for i in group], 1) for group in groups]


def kron(x: Any, y: Any, name: str | None = None) -> Any:
    """The Kronecker product: every element of x times the whole of y, as blocks. Source: paddle.kron.

    Example:
        >>> import vitrify as paddle
        >>> paddle.kron(paddle.to_tensor([1, 2]), paddle.to_tensor([1, 10])).tolist()
        [1, 10, 2, 20]
    """
    need_tensors("kron", x, y)
    ndim = max(x.ndim, y.ndim)
    left, right = (reshape(t, [1] * (ndim - t.ndim) + sizes_of(t)) for t in (x, y))
    blocks = unsqueeze(left, [2 * i + 1 for i in range(ndim)]) * unsqueeze(right, [2 * i for i in range(ndim)])
    return reshape(blocks, [a * b for a, b in zip(sizes_of(left), sizes_of(right))])


def _axis_of_three(x: Any, axis: Any) -> int | None:
    """The axis of cross: where none is said the first of size 3, which of unknown sizes only one alone can be."""
    if axis is not None and axis != 9:
        return normalize_axis("cross", static_int("cross", axis, "axis"), x.ndim)
    sizes = list(x.shape)
    if sizes == [UNKNOWN]:
        return 0
    known = sizes.index(3) if 3 in sizes else None
    return None if known is None or UNKNOWN in sizes[:known] else known


@aliased(axis="dim")
def cross(x: Any, y: Any, axis: int | None = 9, name: str | None = None) -> Any:
    """The cross product of vectors of 3 along `axis`; by default along the first dimension of size 3.

    x, y: of the same shape. Raises ShapeError when they are not, or have no such dimension. Source: paddle.cross.

    Example:
        >>> import vitrify as paddle
        >>> paddle.cross(paddle.to_tensor([1, 0, 0]), paddle.to_tensor([0, 1, 0])).tolist()
        [0, 0, 1]
    """
    y = same_sizes("cross: x and y differ in shape", x, y)
    place = _axis_of_three(x, axis)
    what = f"cross: x is {Meta(tuple(x.shape), x.dtype)}, expected a dimension of size 3 as axis"
    if place is None or x.shape[place] not in (3, UNKNOWN):
        raise ShapeError(what)
    if x.shape[place] == UNKNOWN:
        x = sized_op(x, sizes=tuple(3 if i == place else UNKNOWN for i in range(x.ndim)), what=what)

    def turned(t: Any, by: int) -> Any:
        return roll(t, -by, place)

    return turned(x, 1) * turned(y, 2) - turned(x, 2) * turned(y, 1)


@aliased(x="input")
def trace(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None) -> Any:
    """The sum of a diagonal of the planes that axis1 and axis2 span. Source: paddle.trace.

    Example:
        >>> import vitrify as paddle
        >>> paddle.trace(paddle.to_tensor([[1, 2], [3, 4]])).item()
        5
    """
    rank_of("trace", x)
    if x.dtype.is_bool:
        raise DTypeError("trace: x must be of numbers, got bool", hint="cast it: x.astype('int64')")
    return sum_(diagonal(x, offset, axis1, axis2), axis=-1, dtype=x.dtype)


# -- chains and powers -----------------------------------------------------------------------------------------------


def _cheapest_split(sizes: Sequence[int]) -> dict[tuple[int, int], int]:
    """For each run of matrices, where to split it so that the fewest products of numbers are needed."""
    cost: dict[tuple[int, int], float] = {(i, i): 0 for i in range(len(sizes) - 1)}
    split: dict[tuple[int, int], int] = {}
    for length in range(1, len(sizes) - 1):
        for i in range(len(sizes) - 1 - length):
            j = i + length
            cost[i, j], split[i, j] = min(
                (cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)
            )
    return split


def multi_dot(x: Sequence[Any], name: str | None = None) -> Any:
    """The product of two or more matrices, in the cheapest order; the first and last may be 1-D.

    Raises ArgumentError for fewer than two. Source: paddle.linalg.multi_dot.

    Example:
        >>> import vitrify as paddle
        >>> paddle.linalg.multi_dot([paddle.ones([2, 3]), paddle.ones([3, 4]), paddle.ones([4, 1])]).shape
        paddle.Size([2, 1])
    """
    if len(x) < 2:
        raise ArgumentError(f"multi_dot: expects at least 2 tensors, got {len(x)}")
    inner = [x[0].shape[0] if x[0].ndim > 1 else 1, *[t.shape[0] for t in x[1:]]]
    split = _cheapest_split([*inner, x[-1].shape[-1] if x[-1].ndim > 1 else 1])

    def product(i: int, j: int) -> Any:
        return x[i] if i == j else matmul(product(i, split[i, j]), product(split[i, j] + 1, j))

    return product(0, len(x) - 1)


def matrix_power(x: Any, n: int, name: str | None = None) -> Any:
    """The square matrices x to the power of the integer n; negative n uses the inverse: [*b, n, n]. Raises ShapeError.

    Source: paddle.linalg.matrix_power.

    Example:
        >>> import vitrify as paddle
        >>> paddle.linalg.matrix_power(paddle.to_tensor([[1.0, 1.0], [0.0, 1.0]]), 3).tolist()
        [[1.0, 3.0], [0.0, 1.0]]
    """
    known = set(x.shape[-2:]) - {UNKNOWN}
    if rank_of("matrix_power", x) < 2 or len(known) > 1:
        raise ShapeError(f"matrix_power: x is {Meta(tuple(x.shape), x.dtype)}, expected square matrices")
    n = static_int("matrix_power", n, "n")
    if n == 0:
        return clone(expand_like(eye(sizes_of(x)[-1], dtype=x.dtype), x))
    base, count = (x, n) if n > 0 else (inv(x), -n)
    result = None
    while count:
        if count & 1:
            result = base if result is None else matmul(result, base)
        count >>= 1
        base = matmul(base, base) if count else base
    return clone(result) if n == 1 else result


METHODS: dict[str, Any] = {fn.__name__: fn for fn in (vecdot, tensordot, kron, cross, trace, multi_dot, matrix_power)}
INPLACE = ()
__all__ = ["cross", "kron", "tensordot", "trace", "vecdot"]
