"""Operators of PaddlePaddle 2 that its newer programs have no more."""

from __future__ import annotations

from math import prod
from typing import Any

from .. import tensor as T
from ..core.errors import FileFormatError
from ..core.meta import UNKNOWN
from ..ir.known_values import as_tensor
from ..ops.flat_product import mul_op
from .operator_table import reads


@reads("mul")
def mul(x: Any, y: Any, *, x_num_col_dims: int = 1, y_num_col_dims: int = 1) -> Any:
    """The product of matrices that the first dimensions of x and of y make with the others."""
    x, y = as_tensor(x), as_tensor(y)
    if y.ndim == 2 and y_num_col_dims == 1:
        return mul_op(x, y, x_num_col_dims=x_num_col_dims)
    if not 0 < y_num_col_dims < y.ndim or UNKNOWN in y.shape:
        raise FileFormatError(f"y of {y.ndim} dimensions has no {y_num_col_dims} first ones, or open sizes")
    rows, columns = y.shape[:y_num_col_dims], y.shape[y_num_col_dims:]
    out = mul_op(x, T.reshape(y, [prod(rows), prod(columns)]), x_num_col_dims=x_num_col_dims)
    return T.reshape(out, [*[0] * x_num_col_dims, *columns])
