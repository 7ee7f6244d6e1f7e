"""Tensors of which only some elements are stored, made of dense tensors: where these elements are, and their values.

Gradients flow through the values, in eager code and in programs alike, since everything is made of ordinary ops.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from ..core.errors import ArgumentError, ShapeError, UnknownValueError
from ..core.meta import UNKNOWN
from ..core.size import Size, size_of_items
from .arguments import is_tensor
from .creation import arange
from .expand import repeat_interleave
from .gather import gather_nd
from .join import stack
from .like import cast
from .reduce import any as any_
from .scatter import scatter_nd
from .search import nonzero, searchsorted
from .select import maximum
from .shape import unsqueeze
from .sizes import size_of
from .transpose import transpose
from .unique import unique


class SparseTensor(ABC):
    """What sparse tensors of both kinds share; what is not stored is 0."""

    def __init__(self, values: Any, shape: Sequence[int]) -> None:
        self._values = values
        self._shape = tuple(int(n) for n in shape)

    # -- what it is ---------------------------------------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        """The sizes of the whole tensor. Raises UnknownValueError where only a run knows one of them."""
        if UNKNOWN in self._shape:
            raise UnknownValueError("a sparse tensor's shape is needed while the program is built, and not known then")
        return size_of_items(self._shape)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self._shape)

    @property
    def size(self) -> int:
        """Number of elements, stored or not. Raises UnknownValueError as `shape` does."""
        return math.prod(self.shape)

    @property
    def dtype(self) -> Any:
        """The dtype of the values."""
        return self._values.dtype

    @property
    def place(self) -> Any:
        """Where the values are stored."""
        return self._values.place

    @property
    def stop_gradient(self) -> bool:
        """Whether no gradient flows to the values."""
        return bool(self._values.stop_gradient)

    @stop_gradient.setter
    def stop_gradient(self, value: bool) -> None:
        self._values.stop_gradient = value

    @property
    def grad(self) -> Any:
        """The gradient of the values in the places of this tensor; None where there is none."""
        found = self._values.grad
        return None if found is None else self.with_values(found)

    def dim(self) -> int:
        """Number of dimensions."""
        return self.ndim

    def nnz(self) -> int:
        """Number of stored elements."""
        return int(self._values.shape[0])

    def values(self) -> Any:
        """The stored elements: [nnz, *dense]."""
        return self._values

    def is_sparse(self) -> bool:
        """True."""
        return True

    def is_dense(self) -> bool:
        """False."""
        return False

    def is_sparse_coo(self) -> bool:
        """Whether places are stored as indices."""
        return isinstance(self, SparseCooTensor)

    def is_sparse_csr(self) -> bool:
        """Whether places are stored row by row."""
        return isinstance(self, SparseCsrTensor)

    # -- conversions --------------------------------------------------------------------------------------------------

    @abstractmethod
    def with_values(self, values: Any) -> Any:
        """Other values in the same places."""

    @abstractmethod
    def coo(self) -> SparseCooTensor:
        """The same elements, placed by indices."""

    def like(self, found: SparseCooTensor) -> Any:
        """`found` as a tensor of this kind."""
        return found.to_sparse_csr() if self.is_sparse_csr() else found

    def to_dense(self) -> Any:
        """All elements as an ordinary Tensor; those stored several times are summed."""
        return self.coo().to_dense()

    def to_sparse_coo(self, sparse_dim: int | None = None) -> SparseCooTensor:
        """The same elements, placed by indices."""
        return self.coo()

    def to_sparse_csr(self) -> SparseCsrTensor:
        """The same elements, row by row. Raises ShapeError unless there are two dimensions."""
        return self.coo().to_sparse_csr()

    def numpy(self) -> Any:
        """All elements as a NumPy array."""
        return self.to_dense().numpy()

    def detach(self) -> Any:
        """The same tensor without gradients."""
        return self.with_values(self._values.detach())

    def astype(self, dtype: Any) -> Any:
        """The values cast to `dtype`."""
        return self.with_values(cast(self._values, dtype))

    cast = astype

    def backward(self, grad_tensor: SparseTensor | None = None, retain_graph: bool = False) -> None:
        """Backward from the values; grad_tensor: their cotangents, in the same places."""
        self._values.backward(None if grad_tensor is None else grad_tensor.values(), retain_graph)

    def _text(self, parts: Sequence[tuple[str, Any]]) -> str:
        kind = f"dtype={self.dtype}, place={self.place}, stop_gradient={self.stop_gradient}"
        head = f"Tensor(shape={list(self.shape)}, {kind}"
        lines = [f"{name}={_elements_text(value, f'       {name}=')}" for name, value in parts]
        return ", \n       ".join([head, *lines]) + ")"


def _elements_text(value: Any, before: str) -> str:
    """The elements as a dense tensor shows them; a program's know no more than that they are a list."""
    shown = getattr(value, "_elements_text", None)
    return str(value.numpy().tolist()) if shown is None else str(shown(len(before)))


class SparseCooTensor(SparseTensor):
    """Elements placed by indices: [sparse_dim, nnz] of int64, values [nnz, *dense]."""

    def __init__(self, indices: Any, values: Any, shape: Sequence[int]) -> None:
        super().__init__(values, shape)
        self._indices = indices

    def __repr__(self) -> str:
        return self._text([("indices", self._indices), ("values", self._values)])

    def indices(self) -> Any:
        """Where the stored elements are: [sparse_dim, nnz] of int64."""
        return self._indices

    def sparse_dim(self) -> int:
        """Number of dimensions that have indices."""
        return int(self._indices.shape[0])

    def dense_dim(self) -> int:
        """Number of dimensions that are stored whole."""
        return self.ndim - self.sparse_dim()

    def is_coalesced(self) -> bool:
        """Whether each place is stored once, in order."""
        flat = self.flat_places()
        return bool((flat[1:] > flat[:-1]).all())

    def with_values(self, values: Any) -> SparseCooTensor:
        """Other values in the same places."""
        return SparseCooTensor(self._indices, values, self._shape)

    def coo(self) -> SparseCooTensor:
        """This tensor."""
        return self

    def to_dense(self) -> Any:
        """All elements as an ordinary Tensor; those stored several times are summed."""
        return scatter_nd(transpose(self._indices, [1, 0]), self._values, list(self.shape))

    def flat_places(self) -> Any:
        """The place of each stored element among all, row by row: [nnz]."""
        flat = self._indices[0]
        for axis in range(1, self.sparse_dim()):
            flat = flat * self.shape[axis] + self._indices[axis]
        return flat

    def coalesce(self, name: str | None = None) -> SparseCooTensor:
        """The same tensor with each place stored once, in order; values of one place are summed."""
        places, order = unique(self.flat_places(), return_inverse=True)
        sizes = [size_of(places, 0), *self.shape[self.sparse_dim() :]]
        values = scatter_nd(unsqueeze(order, 1), self._values, sizes)
        return SparseCooTensor(unraveled(places, self.shape[: self.sparse_dim()]), values, self._shape)

    def to_sparse_csr(self) -> SparseCsrTensor:
        """The same elements, row by row. Raises ShapeError unless there are two dimensions, both with indices."""
        if self.ndim != 2 or self.sparse_dim() != 2:
            raise ShapeError(f"to_sparse_csr: expects 2 sparse dimensions, got shape {list(self.shape)}")
        ordered = self.coalesce()
        crows = searchsorted(ordered._indices[0], arange(self.shape[0] + 1))
        return SparseCsrTensor(crows, ordered._indices[1], ordered._values, self._shape)


class SparseCsrTensor(SparseTensor):
    """Elements of a matrix row by row: where each row begins, [rows + 1], the column of each element and its value."""

    def __init__(self, crows: Any, cols: Any, values: Any, shape: Sequence[int]) -> None:
        super().__init__(values, shape)
        self._crows, self._cols = crows, cols

    def __repr__(self) -> str:
        return self._text([("crows", self._crows), ("cols", self._cols), ("values", self._values)])

    def crows(self) -> Any:
        """The number of the first element of each row, and of all: [rows + 1]."""
        return self._crows

    def cols(self) -> Any:
        """The column of each stored element: [nnz]."""
        return self._cols

    def sparse_dim(self) -> int:
        """2."""
        return 2

    def dense_dim(self) -> int:
        """0."""
        return 0

    def with_values(self, values: Any) -> SparseCsrTensor:
        """Other values in the same places."""
        return SparseCsrTensor(self._crows, self._cols, values, self._shape)

    def coo(self) -> SparseCooTensor:
        """The same elements, placed by indices."""
        rows = repeat_interleave(arange(self.shape[0]), self._crows[1:] - self._crows[:-1])
        return SparseCooTensor(stack([cast(rows, "int64"), cast(self._cols, "int64")]), self._values, self._shape)

    def to_sparse_csr(self) -> SparseCsrTensor:
        """This tensor."""
        return self


def unraveled(places: Any, shape: Sequence[int]) -> Any:
    """Indices, [len(shape), n], of places counted row by row: there are none where a size is 0."""
    columns = []
    for size in reversed(shape):
        divisor = maximum(size, 1) if is_tensor(size) else max(size, 1)
        columns.append(places % divisor)
        places = places // divisor
    return stack(columns[::-1])


def to_sparse_coo(x: Any, sparse_dim: int) -> SparseCooTensor:
    """The elements of x that are not 0, with indices for the first sparse_dim dimensions.

    Source: paddle.Tensor.to_sparse_coo.

    Example:
        >>> import vitrify as paddle
        >>> paddle.to_tensor([[0.0, 5.0], [0.0, 0.0]]).to_sparse_coo(2).indices().tolist()
        [[0], [1]]
    """
    if not 0 < sparse_dim <= x.ndim:
        raise ArgumentError(f"to_sparse_coo: sparse_dim must be in [1, {x.ndim}], got {sparse_dim}")
    used = x != 0
    places = nonzero(any_(used, axis=list(range(sparse_dim, x.ndim))) if sparse_dim < x.ndim else used)
    return SparseCooTensor(transpose(places, [1, 0]), gather_nd(x, places), x.shape)


def to_sparse_csr(x: Any) -> SparseCsrTensor:
    """The elements of the matrix x that are not 0, row by row. Source: paddle.Tensor.to_sparse_csr.

    Example:
        >>> import vitrify as paddle
        >>> paddle.to_tensor([[0.0, 5.0], [0.0, 0.0]]).to_sparse_csr().crows().tolist()
        [0, 1, 1]
    """
    return to_sparse_coo(x, x.ndim).to_sparse_csr()


METHODS = {"to_sparse_coo": to_sparse_coo, "to_sparse_csr": to_sparse_csr}
INPLACE = ()
__all__ = ()
