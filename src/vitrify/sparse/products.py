"""Matrix products with sparse matrices."""

from __future__ import annotations

from typing import Any

from ..core.errors import ShapeError
from ..ops import low_rank
from ..ops.gather import gather, gather_nd
from ..ops.reduce import sum as sum_
from ..ops.scatter import scatter_nd
from ..ops.shape import squeeze, unsqueeze
from ..ops.sparse_tensor import SparseTensor, to_sparse_coo
from ..ops.transpose import transpose
from .unary import need_sparse


def _need_matrices(op: str, x: Any, y: Any) -> None:
    if x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[0]:
        raise ShapeError(f"sparse.{op}: expects matrices that fit, got shapes {list(x.shape)} and {list(y.shape)}")


def _by_dense(x: Any, y: Any) -> Any:
    """The rows of y that x's elements ask for, times these elements, summed into the rows of the result."""
    places = x.coo().indices()
    parts = unsqueeze(x.values(), 1) * gather(y, places[1])
    return scatter_nd(unsqueeze(places[0], 1), parts, [x.shape[0], y.shape[1]])


def matmul(x: Any, y: Any, name: str | None = None) -> Any:
    """The product of matrices: sparse by dense gives a dense one, sparse by sparse one of x's kind.

    Raises ShapeError, DTypeError. Source: paddle.sparse.matmul.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [5.0, 6.0], [2, 2])
        >>> paddle.sparse.matmul(x, paddle.to_tensor([[1.0], [2.0]])).tolist()
        [[10.0], [6.0]]
    """
    need_sparse("matmul", x)
    _need_matrices("matmul", x, y)
    if isinstance(y, SparseTensor):
        return x.like(to_sparse_coo(_by_dense(x, y.to_dense()), 2))
    return _by_dense(x, y)


def mv(x: Any, vec: Any, name: str | None = None) -> Any:
    """The product of a sparse matrix and a dense vector, dense: [n, k], [k] -> [n]. Source: paddle.sparse.mv.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [5.0, 6.0], [2, 2])
        >>> paddle.sparse.mv(x, paddle.to_tensor([1.0, 2.0])).tolist()
        [10.0, 6.0]
    """
    if vec.ndim != 1:
        raise ShapeError(f"sparse.mv: vec must have 1 dimension, got shape {list(vec.shape)}")
    return squeeze(matmul(x, unsqueeze(vec, 1)), 1)


def addmm(input: Any, x: Any, y: Any, beta: float = 1.0, alpha: float = 1.0, name: str | None = None) -> Any:
    """beta * input + alpha * (x @ y) for sparse x; sparse too where input and y are. Source: paddle.sparse.addmm.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [5.0, 6.0], [2, 2])
        >>> paddle.sparse.addmm(paddle.ones([2, 1]), x, paddle.to_tensor([[1.0], [2.0]])).tolist()
        [[11.0], [7.0]]
    """
    product = matmul(x, y)
    if not isinstance(input, SparseTensor):
        dense = product.to_dense() if isinstance(product, SparseTensor) else product
        return input * beta + dense * alpha
    both = input.to_dense() * beta + (product.to_dense() if isinstance(product, SparseTensor) else product) * alpha
    return x.like(to_sparse_coo(both, 2)) if isinstance(y, SparseTensor) else both


def mask_as(x: Any, mask: Any, name: str | None = None) -> Any:
    """The elements of the dense x that the sparse `mask` stores, as a sparse tensor of its kind.

    Source: paddle.sparse.mask_as.

    Example:
        >>> import vitrify as paddle
        >>> mask = paddle.sparse.sparse_coo_tensor([[0], [1]], [1.0], [2, 2])
        >>> paddle.sparse.mask_as(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), mask).values().tolist()
        [2.0]
    """
    need_sparse("mask_as", mask, "mask")
    if list(x.shape) != mask.shape:
        raise ShapeError(f"sparse.mask_as: shapes differ: x has {list(x.shape)}, mask has {list(mask.shape)}")
    return mask.with_values(gather_nd(x, transpose(mask.coo().indices(), [1, 0])))


def masked_matmul(x: Any, y: Any, mask: Any, name: str | None = None) -> Any:
    """The elements of the product of dense matrices that the sparse `mask` stores; no others are computed.

    Raises ShapeError. Source: paddle.sparse.masked_matmul.

    Example:
        >>> import vitrify as paddle
        >>> mask = paddle.sparse.sparse_csr_tensor([0, 1, 1], [1], [1.0], [2, 2])
        >>> paddle.sparse.masked_matmul(paddle.ones([2, 3]), paddle.ones([3, 2]), mask).values().tolist()
        [3.0]
    """
    need_sparse("masked_matmul", mask, "mask")
    _need_matrices("masked_matmul", x, y)
    if mask.shape != [x.shape[0], y.shape[1]]:
        raise ShapeError(
            f"sparse.masked_matmul: mask has shape {list(mask.shape)}, expected {[x.shape[0], y.shape[1]]}"
        )
    places = mask.coo().indices()
    rows, columns = gather(x, places[0]), gather(transpose(y, [1, 0]), places[1])
    return mask.with_values(sum_(rows * columns, axis=-1))


def pca_lowrank(
    x: Any, q: int | None = None, center: bool = True, niter: int = 2, name: str | None = None
) -> tuple[Any, Any, Any]:
    """`linalg.pca_lowrank` of the sparse matrix x, dense (U, S, V). Source: paddle.sparse.pca_lowrank.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], [5.0, 6.0], [2, 2])
        >>> [t.shape for t in paddle.sparse.pca_lowrank(x, 1)]
        [paddle.Size([2, 1]), paddle.Size([1]), paddle.Size([2, 1])]
    """
    return low_rank.pca_lowrank(need_sparse("pca_lowrank", x).to_dense(), q, center, niter)


__all__ = ["addmm", "mask_as", "masked_matmul", "matmul", "mv", "pca_lowrank"]
