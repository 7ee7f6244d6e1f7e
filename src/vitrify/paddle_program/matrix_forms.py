"""Paddle's forms of solving, and of taking matrices apart."""

from __future__ import annotations

import numpy as np

from ..core.dtype import int32
from ..core.meta import UNKNOWN, Meta
from .emitter import FORMS, Emitter, Value


@FORMS("lstsq")
def lstsq(g: Emitter, x: Value, y: Value, *, rcond: float, driver: str) -> list[Value | None]:
    """lstsq; of driver "gels" without the rank, which is the full one."""
    solution, rank = g.metas
    m, n = x.shape[-2:]
    if rcond < 0 and UNKNOWN not in (m, n):
        rcond = float(max(m, n) * np.finfo(x.dtype.np).eps)
    batch = tuple(solution.shape[:-2])
    metas = [
        solution, Meta((*batch, solution.shape[-1]), x.dtype), Meta(batch, int32), Meta((*batch, UNKNOWN), x.dtype),
    ]  # fmt: skip
    found = g.ops("lstsq", [x, y, rcond], metas, driver=driver)
    return [
        found[0],
        None if driver == "gels" else g.reshape(found[2], [g.size(x, i) for i in range(x.ndim - 2)], rank),
    ]


@FORMS("eig")
def eig(g: Emitter, x: Value) -> list[Value]:
    """eig."""
    return g.ops("eig", [x], g.metas)


@FORMS("lu_triangles")
def lu_triangles(g: Emitter, x: Value) -> list[Value]:
    """lu_unpack, which asks for row exchanges though it is told to leave them alone."""
    lower, upper = g.metas
    diagonal = Meta((*x.shape[:-2], lower.shape[-1]), x.dtype)
    stand_in = g.cast(g.op("diagonal", x, meta=diagonal, offset=0, axis1=x.ndim - 2, axis2=x.ndim - 1), int32)
    square = Meta((*x.shape[:-1], x.shape[-2]), x.dtype)
    found = g.ops("lu_unpack", [x, stand_in], [square, lower, upper], unpack_ludata=True, unpack_pivots=False)
    return found[1:]


@FORMS("lu_permutation")
def lu_permutation(g: Emitter, x: Value, pivots: Value) -> Value:
    """lu_unpack."""
    *batch, m, n = x.shape
    k = UNKNOWN if UNKNOWN in (m, n) else min(m, n)
    metas = [g.metas[0], Meta((*batch, m, k), x.dtype), Meta((*batch, k, n), x.dtype)]
    given = [x, g.cast(pivots, int32)]
    return g.ops("lu_unpack", given, metas, unpack_ludata=True, unpack_pivots=True)[0]


@FORMS("matching_diagonal")
def matching_diagonal(g: Emitter, x: Value, *, axis1: int, axis2: int) -> Value:
    """diagonal."""
    return g.op("diagonal", x, meta=g.metas[0], offset=0, axis1=axis1, axis2=axis2)


@FORMS("fill_diagonal")
def fill_diagonal(g: Emitter, x: Value, *, value: float, offset: int, wrap: bool) -> Value:
    """fill_diagonal."""
    return g.op("fill_diagonal", x, value=float(value), offset=offset, wrap=wrap)
