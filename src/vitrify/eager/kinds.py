"""What is asked of tensors of every kind, answered for dense ones: they keep each element, on one process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from ..core.errors import DTypeError
from ..core.lazy import lazy_module
from .holder import Holder

if TYPE_CHECKING:
    from ..core.dtype import DTypeLike
    from .tensor import Tensor

_creating = lazy_module("vitrify.eager.create_parameter")


class Kinds(Holder):
    """Methods that sparse and distributed tensors have, too."""

    __slots__ = ()

    def _only_sparse(self, method: str, kind: str = "sparse") -> NoReturn:
        raise DTypeError(
            f"{method}() is a method of {kind} tensors, this one is dense",
            hint=f"make it sparse first: x.to_sparse_{'csr()' if kind == 'CSR' else 'coo(x.ndim)'}.{method}()",
        )

    def values(self) -> NoReturn:
        """Raises DTypeError: a dense tensor is its values. Source: paddle.Tensor.values.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.to_tensor([0.0, 5.0])
            >>> x.to_sparse_coo(1).values().tolist()
            [5.0]
            >>> try:
            ...     x.values()
            ... except TypeError as err:
            ...     print(str(err).splitlines()[0])
            values() is a method of sparse tensors, this one is dense
        """
        self._only_sparse("values")

    def indices(self) -> NoReturn:
        """Raises DTypeError: in a dense tensor every element has its place. Source: paddle.Tensor.indices.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.to_tensor([0.0, 5.0])
            >>> x.to_sparse_coo(1).indices().tolist()
            [[1]]
            >>> try:
            ...     x.indices()
            ... except TypeError as err:
            ...     print(str(err).splitlines()[0])
            indices() is a method of COO tensors, this one is dense
        """
        self._only_sparse("indices", "COO")

    def crows(self) -> NoReturn:
        """Raises DTypeError: only CSR tensors are stored by rows. Source: paddle.Tensor.crows.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.to_tensor([[0.0, 5.0], [0.0, 0.0]])
            >>> x.to_sparse_csr().crows().tolist()
            [0, 1, 1]
            >>> try:
            ...     x.crows()
            ... except TypeError as err:
            ...     print(str(err).splitlines()[0])
            crows() is a method of CSR tensors, this one is dense
        """
        self._only_sparse("crows", "CSR")

    def cols(self) -> NoReturn:
        """Raises DTypeError: only CSR tensors are stored by rows. Source: paddle.Tensor.cols.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.to_tensor([[0.0, 5.0], [6.0, 0.0]])
            >>> x.to_sparse_csr().cols().tolist()
            [1, 0]
            >>> try:
            ...     x.cols()
            ... except TypeError as err:
            ...     print(str(err).splitlines()[0])
            cols() is a method of CSR tensors, this one is dense
        """
        self._only_sparse("cols", "CSR")

    def nnz(self) -> NoReturn:
        """Raises DTypeError: a dense tensor stores zeros, too. Source: paddle.Tensor.nnz.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.to_tensor([0.0, 5.0])
            >>> x.to_sparse_coo(1).nnz()
            1
            >>> try:
            ...     x.nnz()
            ... except TypeError as err:
            ...     print(str(err).splitlines()[0])
            nnz() is a method of sparse tensors, this one is dense
        """
        self._only_sparse("nnz")

    def coalesce(self, name: str | None = None) -> NoReturn:
        """Raises DTypeError: a dense tensor has each place once. Source: paddle.Tensor.coalesce.

        Example:
            >>> import vitrify as paddle
            >>> twice = paddle.sparse.sparse_coo_tensor([[1, 1]], [2.0, 3.0], [2])
            >>> twice.coalesce().values().tolist()
            [5.0]
            >>> try:
            ...     paddle.ones([2]).coalesce()
            ... except TypeError as err:
            ...     print(str(err).splitlines()[0])
            coalesce() is a method of COO tensors, this one is dense
        """
        self._only_sparse("coalesce", "COO")

    def is_coalesced(self) -> NoReturn:
        """Raises DTypeError: a dense tensor has each place once. Source: paddle.Tensor.is_coalesced.

        Example:
            >>> import vitrify as paddle
            >>> paddle.sparse.sparse_coo_tensor([[1, 1]], [2.0, 3.0], [2]).is_coalesced()
            False
            >>> try:
            ...     paddle.ones([2]).is_coalesced()
            ... except TypeError as err:
            ...     print(str(err).splitlines()[0])
            is_coalesced() is a method of COO tensors, this one is dense
        """
        self._only_sparse("is_coalesced", "COO")

    def to_dense(self: Tensor) -> Tensor:  # type: ignore[misc]
        """The tensor itself. Source: paddle.Tensor.to_dense.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.ones([2])
            >>> x.to_dense() is x, x.to_sparse_coo(1).to_dense().tolist()
            (True, [1.0, 1.0])
        """
        return self

    def dense_dim(self) -> int:
        """How many dimensions are stored element by element: all of them. Source: paddle.Tensor.dense_dim.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.ones([2, 3])
            >>> x.dense_dim(), x.to_sparse_coo(1).dense_dim()
            (2, 1)
        """
        return int(self._data.ndim)

    def sparse_dim(self) -> int:
        """How many dimensions are found by indices: none. Source: paddle.Tensor.sparse_dim.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.ones([2, 3])
            >>> x.sparse_dim(), x.to_sparse_coo(1).sparse_dim()
            (0, 1)
        """
        return 0

    def is_tensor(self) -> bool:
        """True. Source: paddle.Tensor.is_tensor.

        Example:
            >>> import vitrify as paddle
            >>> paddle.ones([2]).is_tensor()
            True
        """
        return True

    @property
    def type(self) -> str:
        """What kind of value it is: "tensor". Source: paddle.Tensor.type.

        Example:
            >>> import vitrify as paddle
            >>> paddle.ones([2]).type
            'tensor'
        """
        return "tensor"

    @property
    def num_shard(self) -> None:
        """None: the whole tensor is here. Source: paddle.Tensor.num_shard.

        Example:
            >>> import vitrify as paddle
            >>> paddle.ones([2]).num_shard is None
            True
        """

    @property
    def placements(self) -> None:
        """None: the tensor is of this process alone. Source: paddle.Tensor.placements.

        Example:
            >>> import vitrify as paddle
            >>> paddle.ones([2]).placements is None
            True
        """

    @property
    def block(self) -> None:
        """None: the tensor is of no block of a program, as variables are. Source: paddle.Tensor.block.

        Example:
            >>> import vitrify as paddle
            >>> paddle.ones([2]).block is None
            True
        """

    @property
    def process_mesh(self) -> None:
        """None: the tensor is of this process alone. Source: paddle.Tensor.process_mesh.

        Example:
            >>> import vitrify as paddle
            >>> paddle.ones([2]).process_mesh is None
            True
        """

    def __nonzero__(self) -> bool:
        return bool(self)

    def __long__(self) -> int:
        return int(self)

    @staticmethod
    def create_parameter(
        shape: Sequence[Any],
        dtype: DTypeLike,
        name: str | None = None,
        attr: Any = None,
        is_bias: bool = False,
        default_initializer: Any = None,
    ) -> Any:
        """`paddle.create_parameter`, which the class has, too. Source: paddle.Tensor.create_parameter.

        Example:
            >>> import vitrify as paddle
            >>> weight = paddle.Tensor.create_parameter([2, 3], "float32")
            >>> weight.shape, weight.stop_gradient
            (paddle.Size([2, 3]), False)
        """
        return _creating.create_parameter(shape, dtype, name, attr, is_bias, default_initializer)
