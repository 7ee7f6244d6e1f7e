"""How a Tensor lies in memory, and what it says about itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.place import Place
from ..device.api import place_of
from .holder import Holder

if TYPE_CHECKING:
    from .tensor import Tensor


class Layout(Holder):
    """Sizes, strides, addresses."""

    __slots__ = ()

    @property
    def ndim(self) -> int:
        """The number of dimensions, an int. Source: paddle.Tensor.ndim.

        Example:
            >>> import vitrify as paddle
            >>> paddle.ones([2, 3]).ndim, paddle.to_tensor(1.0).ndim
            (2, 0)
        """
        now = self._meaning()
        return int(self._data.ndim) if now is None else now.ndim

    @property
    def size(self) -> Any:
        """Number of elements; in a program that makes it unknown, a 0-D tensor. Source: paddle.Tensor.size.

        Example:
            >>> import vitrify as paddle
            >>> paddle.ones([2, 3]).size, paddle.to_tensor(1.0).size, paddle.ones([0, 3]).size
            (6, 1, 0)
        """
        now = self._meaning()
        return int(self._data.size) if now is None else now.size

    @property
    def place(self) -> Place:
        """The device that holds the data. Source: paddle.Tensor.place.

        Example:
            >>> import vitrify as paddle
            >>> paddle.ones([1]).place, paddle.ones([1]).place.is_cpu_place()
            (Place(cpu), True)
        """
        return place_of(self._data)

    @property
    def strides(self) -> list[int]:
        """For each dimension, how many elements apart its neighbours lie. Source: paddle.Tensor.strides.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.ones([2, 3])
            >>> x.strides, x.T.strides
            ([3, 1], [1, 3])
        """
        now = self._meaning()
        return [s // self._data.dtype.itemsize for s in self._data.strides] if now is None else now.strides

    @property
    def offset(self) -> int:
        """Bytes from the start of the memory that this tensor views to its first element.

        Source: paddle.Tensor.offset.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.arange(6, dtype="float32")
            >>> x.offset, x[2:].offset
            (0, 8)
        """
        owner = self._data
        while owner.base is not None and hasattr(owner.base, "strides"):
            owner = owner.base
        return address(self._data) - address(owner)

    def is_contiguous(self) -> bool:
        """Whether the elements lie in row-major order without gaps. Source: paddle.Tensor.is_contiguous.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.ones([2, 3])
            >>> x.is_contiguous(), x.T.is_contiguous()
            (True, False)
        """
        return bool(self._data.flags.c_contiguous)

    def contiguous(self) -> Tensor:
        """This tensor if it is contiguous, else a contiguous copy that passes gradients on.

        Source: paddle.Tensor.contiguous.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.ones([2, 3])
            >>> x.contiguous() is x, x.T.contiguous().strides
            (True, [2, 1])
        """
        return self if self.is_contiguous() else self.clone()  # type: ignore[return-value]

    def data_ptr(self) -> int:
        """The address of the first element, in bytes. Source: paddle.Tensor.data_ptr.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.arange(6, dtype="float32")
            >>> x[2:].data_ptr() - x.data_ptr()
            8
        """
        return address(self._data)


def address(array: Any) -> int:
    """The address of an array's first element; CuPy keeps it under another name than NumPy."""
    memory = getattr(array, "ctypes", None)
    return int(array.data.ptr) if memory is None else int(memory.data)


__all__ = ["Layout", "address"]
