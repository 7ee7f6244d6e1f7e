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
        """Number of dimensions."""
        now = self._meaning()
        return int(self._data.ndim) if now is None else now.ndim

    @property
    def size(self) -> Any:
        """Number of elements; in a program that makes it unknown, a 0-D tensor."""
        now = self._meaning()
        return int(self._data.size) if now is None else now.size

    @property
    def place(self) -> Place:
        """The device that holds the data."""
        return place_of(self._data)

    @property
    def strides(self) -> list[int]:
        """For each dimension, how many elements apart its neighbours lie."""
        now = self._meaning()
        return [s // self._data.dtype.itemsize for s in self._data.strides] if now is None else now.strides

    @property
    def offset(self) -> int:
        """Bytes from the start of the memory that this tensor views to its first element."""
        owner = self._data
        while owner.base is not None and hasattr(owner.base, "strides"):
            owner = owner.base
        return address(self._data) - address(owner)

    def is_contiguous(self) -> bool:
        """Whether the elements lie in row-major order without gaps."""
        return bool(self._data.flags.c_contiguous)

    def contiguous(self) -> Tensor:
        """This tensor if it is contiguous, else a contiguous copy that passes gradients on."""
        return self if self.is_contiguous() else self.clone()  # type: ignore[return-value]

    def data_ptr(self) -> int:
        """The address of the first element."""
        return address(self._data)


def address(array: Any) -> int:
    """The address of an array's first element; CuPy keeps it under another name than NumPy."""
    memory = getattr(array, "ctypes", None)
    return int(array.data.ptr) if memory is None else int(memory.data)


__all__ = ["Layout", "address"]
