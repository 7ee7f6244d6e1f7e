"""The product of Paddle's `mul`: a tensor whose last dimensions count as one, times a matrix."""

from __future__ import annotations

from math import prod
from typing import Any

from ..core.errors import ArgumentError, DTypeError, ShapeError
from ..core.meta import UNKNOWN, Meta, numel
from .accumulate import wide
from .like import reshape_like
from .matmul import matmul, matmul_op
from .registry import OpDef, define_op
from .shape import flatten


def _kernel(xp: Any, x: Any, y: Any, *, x_num_col_dims: int) -> Any:
    lead = x.shape[:x_num_col_dims]
    rows = wide(xp, x).reshape(prod(lead), y.shape[0])
    return xp.matmul(rows, wide(xp, y)).reshape(*lead, y.shape[1]).astype(x.dtype, copy=False)


def _meta(x: Meta, y: Meta, *, x_num_col_dims: int) -> Meta:
    if y.ndim != 2:
        raise ShapeError(f"mul: y is {y}, expected a matrix")
    if not 0 < x_num_col_dims < x.ndim:
        raise ArgumentError(f"mul: x_num_col_dims must lie in [1, {x.ndim - 1}] for x {x}, got {x_num_col_dims}")
    if x.dtype.is_bool or y.dtype is not x.dtype:
        raise DTypeError(f"mul: x is {x}, y is {y}, expected numbers of one dtype")
    lead, inner = x.shape[:x_num_col_dims], x.shape[x_num_col_dims:]
    if UNKNOWN not in (*inner, y.shape[0]) and numel(inner) != y.shape[0]:
        raise ShapeError(f"mul: inner sizes differ: x is {x}, y is {y} ({numel(inner)} != {y.shape[0]})")
    return x.with_shape((*lead, y.shape[1]))


def _as_matrix(x: Any, lead: int) -> Any:
    """x with its first `lead` dimensions as one, and the others."""
    rows = flatten(x, 0, lead - 1) if lead > 1 else x
    return flatten(rows, 1, -1) if rows.ndim > 2 else rows


def _vjp_y(ct: Any, *, x: Any, x_num_col_dims: int) -> Any:
    rows, along = _as_matrix(x, x_num_col_dims), _as_matrix(ct, x_num_col_dims)
    return matmul_op(rows, along, transpose_x=True, transpose_y=False)


def _native(n: Any, x: Any, y: Any, *, x_num_col_dims: int) -> Any:
    lead = x.shape[:x_num_col_dims]
    whole = x if x_num_col_dims == x.ndim - 1 else n.reshape(n.contiguous(x), (*lead, y.shape[0]))
    return n.matmul(whole, y)


def _work(x: Meta, y: Meta, *, x_num_col_dims: int) -> float:
    return float(2 * numel(x.shape) * y.shape[1])


mul_op: OpDef = define_op(
    "mul",
    kernel=_kernel,
    meta=_meta,
    vjp={
        "x": lambda ct, *, x_like, y: reshape_like(matmul(ct, y, transpose_y=True), x_like),
        "y": _vjp_y,
    },
    work=_work,
    amp="allow",
    native=_native,
    native_alone=True,
    maps={"paddle": "mul"},
)
