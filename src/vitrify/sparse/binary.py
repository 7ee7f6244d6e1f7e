"""Arithmetic of two sparse tensors, and of one with a number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.errors import DTypeError, ShapeError
from ..ops import elementwise
from ..ops.arguments import rank_of
from ..ops.creation import arange
from ..ops.join import concat
from ..ops.methods import TensorMethods
from ..ops.scatter import scatter_nd
from ..ops.search import searchsorted
from ..ops.shape import unsqueeze
from ..ops.sizes import have_one_shape, size_of
from ..ops.sparse_tensor import SparseCooTensor, SparseTensor, unraveled
from ..ops.unique import unique
from .unary import need_sparse


def _checked(op: str, x: Any, y: Any) -> None:
    need_sparse(op, y, "y")
    if x.shape != y.shape or x.sparse_dim() != y.sparse_dim():
        raise ShapeError(f"sparse.{op}: shapes differ: x has {list(x.shape)}, y has {list(y.shape)}")


def _spread(x: SparseCooTensor, places: Any) -> Any:
    """x's values at sorted places that hold all of its own; 0 at the others."""
    at = searchsorted(places, x.flat_places())
    return scatter_nd(unsqueeze(at, 1), x.values(), [size_of(places, 0), *x.values().shape[1:]])


def _combined(x: Any, y: Any, fn: Callable[[Any, Any], Any], everywhere: bool) -> Any:
    """fn of the elements of x and y where one of them is stored, or everywhere."""
    a, b = x.coo(), y.coo()
    sizes = a.shape[: a.sparse_dim()]
    if everywhere:
        count = 1
        for size in sizes:
            count *= size
        places = arange(count)
    else:
        places = unique(concat([a.flat_places(), b.flat_places()]))
    found = SparseCooTensor(unraveled(places, sizes), fn(_spread(a, places), _spread(b, places)), a.shape)
    return x.like(found)


def _dense_or_sparse(op: str, x: Any, y: Any, fn: Callable[[Any, Any], Any], everywhere: bool = False) -> Any:
    if isinstance(y, TensorMethods) or isinstance(x, TensorMethods):
        return fn(*(v.to_dense() if isinstance(v, SparseTensor) else v for v in (x, y)))
    need_sparse(op, x)
    _checked(op, x, y)
    return _combined(x, y, fn, everywhere)


def add(x: Any, y: Any, name: str | None = None) -> Any:
    """x + y for sparse tensors of one shape; with a dense tensor a dense one. Raises ShapeError, DTypeError.

    Source: paddle.sparse.add.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[1]], [3.0], [3])
        >>> paddle.sparse.add(x, x).values().tolist()
        [6.0]
    """
    return _dense_or_sparse("add", x, y, elementwise.add)


def subtract(x: Any, y: Any, name: str | None = None) -> Any:
    """x - y for sparse tensors of one shape; with a dense tensor a dense one. Raises ShapeError, DTypeError.

    Source: paddle.sparse.subtract.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[1]], [3.0], [3])
        >>> paddle.sparse.subtract(x, x).values().tolist()
        [0.0]
    """
    return _dense_or_sparse("subtract", x, y, elementwise.subtract)


def _with_number(op: str, x: Any, y: Any, fn: Callable[[Any, Any], Any]) -> Any:
    if isinstance(y, bool) or not isinstance(y, (int, float)):
        raise DTypeError(f"sparse.{op}: y must be a sparse tensor or a number, got {type(y).__name__}")
    return need_sparse(op, x).with_values(fn(x.values(), y))


def multiply(x: Any, y: Any, name: str | None = None) -> Any:
    """x * y for sparse tensors of one shape, elements of either stored, or a number y. Raises ShapeError, DTypeError.

    Source: paddle.sparse.multiply.

    Example:
        >>> import vitrify as paddle
        >>> paddle.sparse.multiply(paddle.sparse.sparse_coo_tensor([[1]], [3.0], [3]), 2.0).values().tolist()
        [6.0]
    """
    if isinstance(y, (SparseTensor, TensorMethods)):
        return _dense_or_sparse("multiply", x, y, elementwise.multiply)
    return _with_number("multiply", x, y, elementwise.multiply)


def divide(x: Any, y: Any, name: str | None = None) -> Any:
    """x / y for sparse tensors of one shape, all elements stored, 0 / 0 among them; or for a number y.

    Raises ShapeError, DTypeError. Source: paddle.sparse.divide.

    Example:
        >>> import vitrify as paddle
        >>> paddle.sparse.divide(paddle.sparse.sparse_coo_tensor([[1]], [3.0], [3]), 2.0).values().tolist()
        [1.5]
    """
    if isinstance(y, (SparseTensor, TensorMethods)):
        return _dense_or_sparse("divide", x, y, elementwise.divide, everywhere=True)
    return _with_number("divide", x, y, elementwise.divide)


def is_same_shape(x: Any, y: Any) -> Any:
    """Whether two tensors, sparse or dense, have the same shape. Source: paddle.sparse.is_same_shape.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[1]], [3.0], [3])
        >>> paddle.sparse.is_same_shape(x, paddle.ones([3]))
        True
    """
    rank_of("is_same_shape", x)
    rank_of("is_same_shape", y, "y")
    return have_one_shape(x, y)
