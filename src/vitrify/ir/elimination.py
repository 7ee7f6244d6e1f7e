"""Linear systems written as loops of elimination, for files of others that have no solvers.

Where LAPACK complains about the numbers (a singular matrix, one that is not positive definite) the results are no
numbers: those files cannot raise. Everything is computed in double precision and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.dtype import bool_, float64, int64
from ..core.meta import UNKNOWN
from ..core.modes import recorder
from ..ops.control_flow import while_op
from ..ops.creation import constant
from ..ops.registry import get_op
from .regions import align_captures


def loop(start: Sequence[Any], test: Callable[..., Any], step: Callable[..., Any]) -> Any:
    """A `while` over values of unchanging types."""
    builder: Any = recorder.get()
    around, blocks = builder.block, []
    for function in (test, step):
        block = builder.program.create_block(around)
        block.inputs[:] = [block.create_var(v.meta) for v in start]
        builder.block = block
        try:
            found = function(*block.inputs)
        finally:
            builder.block = around
        block.outputs = [*found] if isinstance(found, tuple) else [found]
        blocks.append(block)
    cond, body = blocks
    return while_op(*start, *align_captures(blocks), cond=cond, body=body, n_carried=len(start), n_xs=0, reverse=False)


def _cast(x: Any, dtype: Any) -> Any:
    return x if x.dtype is dtype else get_op("cast")(x, dtype=dtype)


def _number(value: float, dtype: Any = float64) -> Any:
    return constant(np.asarray(value, dtype.np))


def _where(flag: Any, x: Any, y: Any) -> Any:
    return get_op("where")(flag, x, y)


def _size(x: Any, axis: int) -> Any:
    """A size: a constant where it is known."""
    known = x.meta.shape[axis]
    return _number(known, int64) if known != UNKNOWN else get_op("dim_size")(x, axis=axis % x.meta.ndim)


def _places(x: Any, axis: int) -> Any:
    """0, 1, ... along a dimension."""
    known = x.meta.shape[axis]
    if known != UNKNOWN:
        return constant(np.arange(known))
    return get_op("arange")(start=0, end=get_op("dim_size")(x, axis=axis % x.meta.ndim), step=1, dtype=int64)


def _taken(x: Any, place: Any, axis: int) -> Any:
    """The slice of x at one place, its dimension kept."""
    axis %= x.meta.ndim
    return get_op("unsqueeze")(get_op("gather")(x, place, axis=axis), axes=(axis,))


def _swapped(x: Any, at: Any, here: Any, there: Any) -> tuple[Any, Any]:
    """x with two rows exchanged, and the row that stands at `at` now."""
    row = get_op("sum")(_where(there, x, _number(0.0)), axis=(x.meta.ndim - 2,), keepdim=True)
    return _where(here, row, _where(there, _taken(x, at, -2), x)), row


def _pivoted(at: Any, rows: Any, *matrices: Any) -> tuple[Any, Any, list[tuple[Any, Any]]]:
    """The matrices with the row of the largest pivot at `at`, and that row of each; which row is there, and was."""
    column = _taken(matrices[0], at, -1)
    size = _where(get_op("greater_equal")(rows, at), get_op("abs")(column), _number(-1.0))
    best = get_op("argmax")(size, axis=size.meta.ndim - 2, keepdim=True, dtype=int64)
    here, there = get_op("equal")(rows, at), get_op("equal")(rows, best)
    return here, best, [_swapped(m, at, here, there) for m in matrices]


def _steps(x: Any, *start: Any, step: Callable[..., Any]) -> Any:
    """What the carried values are after a step for each row of x."""
    one, count = _number(1, int64), _size(x, -1)
    begin = [_number(0, int64), *start]
    found = loop(begin, lambda i, *_: get_op("less_than")(i, count), lambda i, *held: (i + one, *step(i, *held)))
    return found[1 : len(begin)]


def _rows(x: Any) -> Any:
    return get_op("unsqueeze")(_places(x, -2), axes=(1,))


def _solved(x: Any, y: Any) -> Any:
    """The z with x z = y, by Gauss and Jordan: both in double precision, y with the batch of x."""
    rows = _rows(x)

    def step(at: Any, x: Any, y: Any) -> tuple[Any, Any]:
        here, _, ((x, x_row), (y, y_row)) = _pivoted(at, rows, x, y)
        pivot, factor = _taken(x_row, at, -1), _taken(x, at, -1)
        x_row, y_row = x_row / pivot, y_row / pivot
        return _where(here, x_row, x - factor * x_row), _where(here, y_row, y - factor * y_row)

    return _steps(x, x, y, step=step)[1]


def solve(x: Any, y: Any) -> Any:
    """The z with x z = y."""
    if x.dtype.is_complex or y.dtype.is_complex:
        return None
    a, b = _cast(x, float64), _cast(y, float64)
    if UNKNOWN in a.meta.shape[:-2] or a.meta.shape[:-2] != b.meta.shape[:-2]:
        flag = get_op("any")(get_op("equal")(a, a), axis=(a.meta.ndim - 2, a.meta.ndim - 1), keepdim=True)
        b = _where(flag, b, b)  # of the batch of both
    return _cast(_solved(a, b), x.dtype)


def inverse(x: Any) -> Any:
    """The matrices whose products with x are the identity."""
    if x.dtype.is_complex:
        return None
    wide = _cast(x, float64)
    one, like = get_op("equal")(_rows(x), _places(x, -1)), get_op("full_like")(wide, fill_value=1, dtype=bool_)
    return _cast(_solved(wide, _cast(get_op("logical_and")(one, like), float64)), x.dtype)


def slogdet(x: Any) -> Any:
    """The sign of the determinant, and the logarithm of its size, from the pivots."""
    if x.dtype.is_complex:
        return None
    rows, zero, one = _rows(x), _number(0.0), _number(1.0)
    wide = _cast(x, float64)
    empty = get_op("sum")(wide, axis=(wide.meta.ndim - 2, wide.meta.ndim - 1), keepdim=True)
    nothing = get_op("full_like")(empty, fill_value=0.0, dtype=float64)

    def step(at: Any, x: Any, sign: Any, log: Any) -> tuple[Any, Any, Any]:
        _, best, ((x, row),) = _pivoted(at, rows, x)
        pivot = _taken(row, at, -1)
        is_zero = get_op("equal")(pivot, zero)
        share = row / _where(is_zero, one, pivot)
        below = get_op("greater_than")(rows, at)
        kept = _where(below, x - _taken(x, at, -1) * share, x)
        turned = _where(get_op("equal")(best, at), one, _number(-1.0))
        return kept, sign * (get_op("sign")(pivot) * turned), log + get_op("log")(get_op("abs")(pivot))

    found = _steps(x, wide, nothing + one, nothing, step=step)[1:]
    last = (wide.meta.ndim - 2, wide.meta.ndim - 1)
    return tuple(_cast(get_op("squeeze")(v, axes=last), x.dtype) for v in found)


def triangular_solve(x: Any, y: Any, *, upper: bool, transpose: bool, unitriangular: bool) -> Any:
    """The z with x z = y of the triangle of x, or of its transpose."""
    rows, columns = _rows(x), _places(x, -1)
    zero = constant(np.zeros((), x.dtype.np))
    kept = _where(get_op("less_equal" if upper else "greater_equal")(rows, columns), x, zero)
    if unitriangular:
        kept = _where(get_op("equal")(rows, columns), constant(np.ones((), x.dtype.np)), kept)
    if transpose:
        n = kept.meta.ndim
        kept = get_op("transpose")(kept, perm=(*range(n - 2), n - 1, n - 2))
    return solve(kept, y)


def cholesky(x: Any, *, upper: bool) -> Any:
    """The triangle whose product with its transpose is x, one column after the other."""
    if x.dtype.is_complex:
        return None
    rows, columns, zero = _rows(x), _places(x, -1), _number(0.0)
    wide = _cast(x, float64)
    n = wide.meta.ndim
    turn = (*range(n - 2), n - 1, n - 2)
    given = get_op("transpose")(wide, perm=turn) if upper else wide

    def step(at: Any, rest: Any, factor: Any) -> tuple[Any, Any]:
        column = _taken(rest, at, -1)
        column = column / get_op("sqrt")(_taken(column, at, -2))
        column = _where(get_op("greater_equal")(rows, at), column, zero)
        rest = rest - column * get_op("transpose")(column, perm=turn)
        return rest, _where(get_op("equal")(columns, at), column, factor)

    start = get_op("full_like")(given, fill_value=0.0, dtype=float64)
    factor = _steps(x, given, start, step=step)[1]
    return _cast(get_op("transpose")(factor, perm=turn) if upper else factor, x.dtype)


SOLVERS: dict[str, Callable[..., Any]] = {
    "cholesky": cholesky, "inverse": inverse, "slogdet_parts": slogdet, "solve": solve,
    "triangular_solve": triangular_solve,
}  # fmt: skip
