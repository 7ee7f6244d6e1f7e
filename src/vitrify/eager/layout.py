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
    def device(self) -> str:
        """The name of that device: "cpu", "gpu:0"."""
        place = self.place
        return f"{place.kind}:{place.index}" if place.is_gpu_place() else place.kind

    @property
    def is_cuda(self) -> bool:
        """Whether a CUDA device holds the data."""
        return self.place.is_gpu_place()

    def get_device(self) -> int:
        """The number of the CUDA device that holds the data, -1 for the CPU."""
        return self.place.index if self.is_cuda else -1

    def is_dense(self) -> bool:
        """Whether every element is stored, as in every Tensor here."""
        return True

    def is_dist(self) -> bool:
        """Whether the data is spread over processes."""
        return False

    is_selected_rows = is_sparse = is_sparse_coo = is_sparse_csr = is_dist

    @property
    def layout(self) -> str:
        """The name of the memory layout, NCHW as everywhere in Paddle."""
        return "NCHW"

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return int(self.dtype.np.itemsize)

    @property
    def nbytes(self) -> Any:
        """Bytes of all elements; in a program that makes it unknown, a 0-D tensor."""
        return self.size * self.itemsize

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

    def element_size(self) -> int:
        """Bytes of one element."""
        return self.itemsize

    def stride(self, dim: int | None = None) -> Any:
        """The strides, or the one of dimension `dim`."""
        return self.strides if dim is None else self.strides[dim]

    get_strides = stride

    def is_contiguous(self) -> bool:
        """Whether the elements lie in row-major order without gaps."""
        return bool(self._data.flags.c_contiguous)

    def contiguous(self) -> Tensor:
        """This tensor if it is contiguous, else a contiguous copy that passes gradients on."""
        return self if self.is_contiguous() else self.clone()  # type: ignore[return-value]

    def data_ptr(self) -> int:
        """The address of the first element."""
        return address(self._data)

    def is_same_shape(self, y: Tensor) -> bool:
        """Whether `y` has the same shape."""
        return bool(self.shape == y.shape)

    def value(self) -> Tensor:
        """This tensor, as old code spells it."""
        return self  # type: ignore[return-value]

    def get_tensor(self) -> Tensor:
        """A tensor on the same memory, off the tape."""
        return self.detach()  # type: ignore[no-any-return]


def address(array: Any) -> int:
    """The address of an array's first element; CuPy keeps it under another name than NumPy."""
    memory = getattr(array, "ctypes", None)
    return int(array.data.ptr) if memory is None else int(memory.data)


__all__ = ["Layout", "address"]
