"""Functions of each stored element that leave 0 as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.errors import DTypeError
from ..ops import compare, complex_, elementwise, power, trig, unary
from ..ops.like import cast as cast_dense
from ..ops.sparse_tensor import SparseCooTensor, SparseCsrTensor, SparseTensor


def need_sparse(op: str, x: Any, name: str = "x") -> Any:
    """x; raises DTypeError unless it is a sparse tensor."""
    if not isinstance(x, SparseTensor):
        raise DTypeError(f"sparse.{op}: {name} must be a sparse tensor, got {type(x).__name__}")
    return x


def _elementwise(name: str, fn: Callable[..., Any], given: str, result: str) -> Callable[..., Any]:
    def call(x: Any, name: str | None = None) -> Any:
        return need_sparse(call.__name__, x).with_values(fn(x.values()))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = (
        f"`{name}` of each stored element of the sparse tensor x; raises DTypeError for others.\n\n"
        f"    Source: paddle.sparse.{name}.\n\n    Example:\n        >>> import vitrify as paddle\n"
        f"        >>> x = paddle.sparse.sparse_coo_tensor([[1]], [{given}], [3])\n"
        f"        >>> paddle.sparse.{name}(x).values().tolist()\n        [{result}]\n    "
    )
    return call


abs = _elementwise("abs", complex_.abs, "-2.0", "2.0")
asin = _elementwise("asin", trig.asin, "0.0", "0.0")
asinh = _elementwise("asinh", trig.asinh, "0.0", "0.0")
atan = _elementwise("atan", trig.atan, "0.0", "0.0")
atanh = _elementwise("atanh", trig.atanh, "0.0", "0.0")
deg2rad = _elementwise("deg2rad", trig.deg2rad, "0.0", "0.0")
expm1 = _elementwise("expm1", unary.expm1, "0.0", "0.0")
isnan = _elementwise("isnan", compare.isnan, "2.0", "False")
log1p = _elementwise("log1p", unary.log1p, "0.0", "0.0")
neg = _elementwise("neg", elementwise.neg, "2.0", "-2.0")
rad2deg = _elementwise("rad2deg", trig.rad2deg, "0.0", "0.0")
sin = _elementwise("sin", trig.sin, "0.0", "0.0")
sinh = _elementwise("sinh", trig.sinh, "0.0", "0.0")
sqrt = _elementwise("sqrt", unary.sqrt, "4.0", "2.0")
square = _elementwise("square", unary.square, "3.0", "9.0")
tan = _elementwise("tan", trig.tan, "0.0", "0.0")
tanh = _elementwise("tanh", trig.tanh, "0.0", "0.0")


def pow(x: Any, factor: float, name: str | None = None) -> Any:
    """Each stored element to the power `factor`. Source: paddle.sparse.pow.

    Example:
        >>> import vitrify as paddle
        >>> paddle.sparse.pow(paddle.sparse.sparse_coo_tensor([[1]], [3.0], [3]), 2).values().tolist()
        [9.0]
    """
    return need_sparse("pow", x).with_values(power.pow(x.values(), factor))


def cast(x: Any, index_dtype: Any = None, value_dtype: Any = None, name: str | None = None) -> Any:
    """x with its places and values in other dtypes. Source: paddle.sparse.cast.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[1]], [3.0], [3])
        >>> paddle.sparse.cast(x, value_dtype="float64").dtype
        paddle.float64
    """
    need_sparse("cast", x)
    values = x.values() if value_dtype is None else cast_dense(x.values(), value_dtype)
    if index_dtype is None:
        return x.with_values(values)
    if isinstance(x, SparseCsrTensor):
        places = (cast_dense(x.crows(), index_dtype), cast_dense(x.cols(), index_dtype))
        return SparseCsrTensor(*places, values, x.shape)
    return SparseCooTensor(cast_dense(x.indices(), index_dtype), values, x.shape)
