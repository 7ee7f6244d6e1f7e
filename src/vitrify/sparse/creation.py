"""Making sparse tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.errors import ArgumentError, ShapeError
from ..eager.tensor import Tensor, to_tensor
from ..ops.like import cast
from ..ops.methods import TensorMethods
from ..ops.sparse_tensor import SparseCooTensor, SparseCsrTensor


def _places(data: Any, name: str) -> Any:
    found = data if isinstance(data, TensorMethods) else to_tensor(data, "int64")
    if not found.dtype.is_integer:
        raise ArgumentError(f"{name} must hold integers, got {found.dtype.name}")
    return cast(found, "int64")


def _values(data: Any, dtype: Any, place: Any, stop_gradient: bool) -> Any:
    if isinstance(data, TensorMethods):
        found = data if dtype is None else cast(data, dtype)
        return found if stop_gradient or not found.stop_gradient else _wanting(found.detach())
    return to_tensor(data, dtype, place, stop_gradient=stop_gradient)


def _wanting(values: Any) -> Any:
    values.stop_gradient = False
    return values


def _least_shape(indices: Any, values: Any) -> list[int]:
    """The smallest shape that has all the places. Raises ArgumentError where a program alone knows them."""
    if not isinstance(indices, Tensor):
        raise ArgumentError("sparse_coo_tensor: shape must be given where indices are not known yet")
    return [*(n + 1 for n in indices.numpy().max(1, initial=-1).tolist()), *values.shape[1:]]


def sparse_coo_tensor(
    indices: Any, values: Any, shape: Sequence[int] | None = None, dtype: Any = None, place: Any = None,
    stop_gradient: bool = True,
) -> SparseCooTensor:  # fmt: skip
    """A sparse tensor of elements placed by indices, [sparse_dim, nnz]; values: [nnz, *dense].

    shape: of the whole, by default the smallest one. Raises ArgumentError and ShapeError for what does not fit.
    Source: paddle.sparse.sparse_coo_tensor.

    Example:
        >>> import vitrify as paddle
        >>> paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [5.0, 6.0], [2, 2]).to_dense().tolist()
        [[0.0, 5.0], [6.0, 0.0]]
    """
    where, stored = _places(indices, "indices"), _values(values, dtype, place, stop_gradient)
    if where.ndim != 2 or where.shape[1] != stored.shape[0]:
        raise ArgumentError(
            f"indices {list(where.shape)} and values {list(stored.shape)} must hold equally many elements"
        )
    if shape is None:
        return SparseCooTensor(where, stored, _least_shape(where, stored))
    if len(shape) != where.shape[0] + stored.ndim - 1:
        found = f"indices {list(where.shape)} and values {list(stored.shape)}"
        raise ShapeError(f"{found} make no tensor of shape {list(shape)}")
    if isinstance(where, Tensor):
        least = _least_shape(where, stored)
        if (where.numpy() < 0).any() or any(a > b for a, b in zip(least, shape)):
            raise ShapeError(f"elements have places up to shape {least}, outside of {list(shape)}")
    return SparseCooTensor(where, stored, shape)


def sparse_csr_tensor(
    crows: Any, cols: Any, values: Any, shape: Sequence[int] | None = None, dtype: Any = None, place: Any = None,
    stop_gradient: bool = True,
) -> SparseCsrTensor:  # fmt: skip
    """A sparse matrix row by row: crows says where each row begins, cols has the column of each of the values.

    Without a shape there are as many columns as the values need. Raises ArgumentError and ShapeError for what does not
    fit. Source: paddle.sparse.sparse_csr_tensor.

    Example:
        >>> import vitrify as paddle
        >>> paddle.sparse.sparse_csr_tensor([0, 1, 2], [1, 0], [5.0, 6.0], [2, 2]).to_dense().tolist()
        [[0.0, 5.0], [6.0, 0.0]]
    """
    starts, columns = _places(crows, "crows"), _places(cols, "cols")
    stored = _values(values, dtype, place, stop_gradient)
    if shape is None:
        shape = [starts.shape[0] - 1, int(columns.max()) + 1 if columns.shape[0] else 0]
    if len(shape) != 2:
        raise ShapeError(f"sparse_csr_tensor: shape must have 2 dimensions, got {list(shape)}")
    if starts.shape != [shape[0] + 1] or columns.shape != stored.shape:
        raise ArgumentError(
            f"crows {list(starts.shape)} must hold {shape[0] + 1} numbers, cols {list(columns.shape)} one for each"
            f" of the values {list(stored.shape)}"
        )
    return SparseCsrTensor(starts, columns, stored, shape)
