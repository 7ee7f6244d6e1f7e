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
        """Raises DTypeError: a dense tensor is its values. Source: paddle.Tensor.values."""
        self._only_sparse("values")

    def indices(self) -> NoReturn:
        """Raises DTypeError: in a dense tensor every element has its place. Source: paddle.Tensor.indices."""
        self._only_sparse("indices", "COO")

    def crows(self) -> NoReturn:
        """Raises DTypeError: only CSR tensors are stored by rows. Source: paddle.Tensor.crows."""
        self._only_sparse("crows", "CSR")

    def cols(self) -> NoReturn:
        """Raises DTypeError: only CSR tensors are stored by rows. Source: paddle.Tensor.cols."""
        self._only_sparse("cols", "CSR")

    def nnz(self) -> NoReturn:
        """Raises DTypeError: a dense tensor stores zeros, too. Source: paddle.Tensor.nnz."""
        self._only_sparse("nnz")

    def coalesce(self, name: str | None = None) -> NoReturn:
        """Raises DTypeError: a dense tensor has each place once. Source: paddle.Tensor.coalesce."""
        self._only_sparse("coalesce", "COO")

    def is_coalesced(self) -> NoReturn:
        """Raises DTypeError: a dense tensor has each place once. Source: paddle.Tensor.is_coalesced."""
        self._only_sparse("is_coalesced", "COO")

    def to_dense(self: Tensor) -> Tensor:  # type: ignore[misc]
        """The tensor itself. Source: paddle.Tensor.to_dense."""
        return self

    def dense_dim(self) -> int:
        """How many dimensions are stored element by element: all of them. Source: paddle.Tensor.dense_dim."""
        return self._data.ndim  # type: ignore[no-any-return]

    def sparse_dim(self) -> int:
        """How many dimensions are found by indices: none. Source: paddle.Tensor.sparse_dim."""
        return 0

    def is_tensor(self) -> bool:
        """True. Source: paddle.Tensor.is_tensor."""
        return True

    @property
    def type(self) -> str:
        """What kind of value it is: "tensor". Source: paddle.Tensor.type."""
        return "tensor"

    @property
    def num_shard(self) -> None:
        """None: the whole tensor is here. Source: paddle.Tensor.num_shard."""

    @property
    def placements(self) -> None:
        """None: the tensor is of this process alone. Source: paddle.Tensor.placements."""

    @property
    def block(self) -> None:
        """None: the tensor is of no block of a program, as variables are. Source: paddle.Tensor.block."""

    @property
    def process_mesh(self) -> None:
        """None: the tensor is of this process alone. Source: paddle.Tensor.process_mesh."""

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
        """`paddle.create_parameter`, which the class has, too. Source: paddle.Tensor.create_parameter."""
        return _creating.create_parameter(shape, dtype, name, attr, is_bias, default_initializer)
