"""What every dense tensor says about how it lies in memory, eager or of a program."""

from __future__ import annotations

from typing import Any

from .arguments import rank_of
from .sizes import have_one_shape


class DenseLayout:
    """Answers that follow from dtype, shape, place and strides."""

    __slots__ = ()

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
    def device(self: Any) -> str:
        """The name of the device of the data: "cpu", "gpu:0"."""
        place = self.place
        return f"{place.kind}:{place.index}" if place.is_gpu_place() else str(place.kind)

    @property
    def is_cuda(self: Any) -> bool:
        """Whether a CUDA device holds the data."""
        return bool(self.place.is_gpu_place())

    def get_device(self: Any) -> int:
        """The number of the CUDA device that holds the data, -1 for the CPU."""
        return self.place.index if self.is_cuda else -1

    @property
    def itemsize(self: Any) -> int:
        """Bytes of one element."""
        return int(self.dtype.np.itemsize)

    def element_size(self) -> int:
        """Bytes of one element."""
        return self.itemsize

    @property
    def nbytes(self: Any) -> Any:
        """Bytes of all elements; in a program that makes it unknown, what stands for a number."""
        return self.size * self.itemsize

    def stride(self: Any, dim: int | None = None) -> Any:
        """The strides, or the one of dimension `dim`."""
        return self.strides if dim is None else self.strides[dim]

    get_strides = stride

    def is_same_shape(self: Any, y: Any) -> Any:
        """Whether `y` has the same shape: a 0-D tensor in a program where only a run knows."""
        rank_of("is_same_shape", y, "y")
        return have_one_shape(self, y)

    def value(self) -> Any:
        """This tensor, as old code spells it."""
        return self

    def get_tensor(self: Any) -> Any:
        """A tensor on the same memory, off the tape."""
        return self.detach()
