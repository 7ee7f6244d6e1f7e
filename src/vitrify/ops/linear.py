"""Layers that multiply by a weight matrix: linear and bilinear."""

from __future__ import annotations

from typing import Any

from ..core.errors import DTypeError, ShapeError
from ..core.meta import UNKNOWN, Meta, numel
from .accumulate import wide
from .arguments import rank_of
from .matmul import matmul, matmul_op
from .reduce import sum_op
from .registry import OpDef, define_op
from .shape import flatten, reshape, unsqueeze
from .transpose import transpose

# --- linear ----------------------------------------------------------------------------------------------------------


def _linear_kernel(xp: Any, x: Any, weight: Any, bias: Any) -> Any:
    rows = wide(xp, x)
    flat = rows.ndim != 2 and rows.flags.c_contiguous
    out = xp.matmul(rows.reshape(-1, rows.shape[-1]) if flat else rows, wide(xp, weight))
    if bias is not None:
        out += bias
    return (out.reshape(*x.shape[:-1], weight.shape[1]) if flat else out).astype(x.dtype, copy=False)


def _linear_meta(x: Meta, weight: Meta, bias: Meta | None) -> Meta:
    if weight.ndim != 2 or x.ndim < 1:
        raise ShapeError(f"linear: x is {x}, weight is {weight}, expected [*, in] and [in, out]")
    if x.shape[-1] != weight.shape[0] and UNKNOWN not in (x.shape[-1], weight.shape[0]):
        raise ShapeError(
            f"linear: inner sizes differ: x is {x}, weight is {weight} ({x.shape[-1]} != {weight.shape[0]})",
            hint="weight is [in_features, out_features]",
        )
    if x.dtype.is_bool:
        raise DTypeError(f"linear: x is {x}, expected a numeric dtype")
    for name, other in (("weight", weight), ("bias", bias)):
        if other is not None and other.dtype is not x.dtype:
            raise DTypeError(f"linear: x is {x}, {name} is {other}: dtypes differ", hint="cast one with .astype()")
    if bias is not None and bias.shape not in ((weight.shape[1],), (1,), (UNKNOWN,), ()):
        raise ShapeError(f"linear: bias is {bias}, expected [{weight.shape[1]}]")
    return x.with_shape((*x.shape[:-1], weight.shape[1]))


def _as_rows(x: Any) -> Any:
    return flatten(x, 0, -2) if x.ndim > 2 else x if x.ndim == 2 else unsqueeze(x, 0)


def _linear_weight(ct: Any, *, x: Any) -> Any:
    return matmul_op(_as_rows(x), _as_rows(ct), transpose_x=True, transpose_y=False)


def _linear_bias(ct: Any, *, bias_like: Any) -> Any:
    whole = bias_like.ndim == 0 or bias_like.shape[0] == 1 != ct.shape[-1]
    total = sum_op(ct, axis=tuple(range(ct.ndim if whole else ct.ndim - 1)), keepdim=False)
    return reshape(total, list(bias_like.shape)) if whole else total


def _linear_native(n: Any, x: Any, weight: Any, bias: Any) -> Any:
    rows = n.matmul(n.reshape(x, (1, *x.shape)) if x.ndim == 1 else x, weight, bias)
    return n.reshape(rows, rows.shape[1:]) if x.ndim == 1 else rows


def _linear_work(x: Meta, weight: Meta, bias: Meta | None) -> float:
    results = numel(x.shape[:-1]) * weight.shape[1]
    return float(results * (2 * weight.shape[0] + (bias is not None)))


linear_op: OpDef = define_op(
    "linear",
    kernel=_linear_kernel,
    meta=_linear_meta,
    vjp={
        "x": lambda ct, *, weight: matmul(ct, weight, transpose_y=True),
        "weight": _linear_weight,
        "bias": _linear_bias,
    },
    work=_linear_work,
    amp="allow",
    maps={"paddle": "linear_v2"},
    native=_linear_native,
    native_alone=True,
)


def linear(x: Any, weight: Any, bias: Any = None, name: str | None = None) -> Any:
    """x @ weight + bias.

    x: [*, in] floating, weight: [in, out], bias: [out] -> [*, out]. Raises ShapeError when the inner sizes differ and
    DTypeError when the dtypes do. Source: paddle.nn.functional.linear.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.linear(paddle.ones([1, 2]), paddle.ones([2, 1]), paddle.ones([1])).tolist()
        [[3.0]]
    """
    if rank_of("linear", weight, "weight") == 2:
        return linear_op(x, weight, bias)
    return matmul(x, weight) if bias is None else matmul(x, weight) + bias


# --- bilinear --------------------------------------------------------------------------------------------------------


def bilinear(x1: Any, x2: Any, weight: Any, bias: Any = None, name: str | None = None) -> Any:
    """x1 @ weight[o] @ x2 for each output o, plus bias.

    x1: [n, i], x2: [n, j], weight: [o, i, j], bias: [1, o] -> [n, o]. Raises ShapeError when sizes do not fit.
    Source: paddle.nn.functional.bilinear.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.bilinear(paddle.ones([1, 2]), paddle.ones([1, 3]), paddle.ones([1, 2, 3])).tolist()
        [[6.0]]
    """
    rank_of("bilinear", x1, "x1")
    if x1.ndim != 2 or rank_of("bilinear", x2, "x2") != 2 or rank_of("bilinear", weight, "weight") != 3:
        raise ShapeError(
            f"bilinear: x1, x2 and weight have shapes {list(x1.shape)}, {list(x2.shape)}, {list(weight.shape)}, "
            "expected [n, i], [n, j] and [o, i, j]"
        )
    outputs, rows, columns = weight.shape
    matrix = reshape(transpose(weight, [1, 0, 2]), [rows, outputs * columns])
    by_output = reshape(matmul(x1, matrix), [-1, outputs, columns])
    out = reshape(matmul(by_output, unsqueeze(x2, 2)), [-1, outputs])
    return out if bias is None else out + bias


__all__ = ["bilinear", "linear"]
