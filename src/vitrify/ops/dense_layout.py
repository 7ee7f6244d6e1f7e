"""What every dense tensor says about how it lies in memory, eager or of a program."""

from __future__ import annotations

from typing import Any

from .arguments import rank_of
from .sizes import have_one_shape


class DenseLayout:
    """Answers that follow from dtype, shape, place and strides."""

    __slots__ = ()

    def is_dense(self) -> bool:
        """Whether every element is stored, as in every Tensor here. Source: paddle.Tensor.is_dense.

        Example:
            >>> import vitrify as paddle
            >>> paddle.ones([2]).is_dense(), paddle.ones([2]).is_sparse()
            (True, False)
        """
        return True

    def is_dist(self) -> bool:
        """Whether the data is spread over processes, as selected rows or sparse: it is not.

        Source: paddle.Tensor.is_dist.

        Example:
            >>> import vitrify as paddle
            >>> paddle.ones([2]).is_dist(), paddle.ones([2]).is_selected_rows()
            (False, False)
        """
        return False

    is_selected_rows = is_sparse = is_sparse_coo = is_sparse_csr = is_dist

    @property
    def layout(self) -> str:
        """The name of the memory layout, NCHW as everywhere in Paddle. Source: paddle.Tensor.layout.

        Example:
            >>> import vitrify as paddle
            >>> paddle.ones([2]).layout
            'NCHW'
        """
        return "NCHW"

    @property
    def device(self: Any) -> str:
        """The name of the device of the data: "cpu", "gpu:0". Source: paddle.Tensor.device.

        Example:
            >>> import vitrify as paddle
            >>> paddle.ones([2]).device
            'cpu'
        """
        place = self.place
        return f"{place.kind}:{place.index}" if place.is_gpu_place() else str(place.kind)

    @property
    def is_cuda(self: Any) -> bool:
        """Whether a CUDA device holds the data. Source: paddle.Tensor.is_cuda.

        Example:
            >>> import vitrify as paddle
            >>> paddle.ones([2]).cpu().is_cuda
            False
        """
        return bool(self.place.is_gpu_place())

    def get_device(self: Any) -> int:
        """The number of the CUDA device that holds the data, -1 for the CPU. Source: paddle.Tensor.get_device.

        Example:
            >>> import vitrify as paddle
            >>> paddle.ones([2]).cpu().get_device()
            -1
        """
        return self.place.index if self.is_cuda else -1

    @property
    def itemsize(self: Any) -> int:
        """Bytes of one element. Source: paddle.Tensor.itemsize.

        Example:
            >>> import vitrify as paddle
            >>> paddle.ones([2]).itemsize, paddle.ones([2], "bfloat16").itemsize
            (4, 2)
        """
        return int(self.dtype.np.itemsize)

    def element_size(self) -> int:
        """Bytes of one element. Source: paddle.Tensor.element_size.

        Example:
            >>> import vitrify as paddle
            >>> paddle.ones([2], "int64").element_size()
            8
        """
        return self.itemsize

    @property
    def nbytes(self: Any) -> Any:
        """Bytes of all elements; in a program that makes it unknown, what stands for a number.

        Source: paddle.Tensor.nbytes.

        Example:
            >>> import vitrify as paddle
            >>> paddle.ones([2, 3]).nbytes
            24
        """
        return self.size * self.itemsize

    def stride(self: Any, dim: int | None = None) -> Any:
        """The strides in elements, one for each dimension, or the one of dimension `dim`. Source: paddle.Tensor.stride.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.ones([2, 3])
            >>> x.stride(), x.stride(0), x.stride(-1)
            ([3, 1], 3, 1)
        """
        return self.strides if dim is None else self.strides[dim]

    get_strides = stride

    def is_same_shape(self: Any, y: Any) -> Any:
        """Whether `y` has the same shape. Raises DTypeError if y is no tensor. Source: paddle.Tensor.is_same_shape.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.ones([2, 3])
            >>> x.is_same_shape(paddle.zeros([2, 3])), x.is_same_shape(paddle.ones([3, 2]))
            (True, False)
        """
        rank_of("is_same_shape", y, "y")
        return have_one_shape(self, y)

    def value(self) -> Any:
        """This tensor, as old code spells it. Source: paddle.Tensor.value.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.ones([2])
            >>> x.value() is x
            True
        """
        return self

    def get_tensor(self: Any) -> Any:
        """A tensor on the same memory, off the tape. Source: paddle.Tensor.get_tensor.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.to_tensor([1.0], stop_gradient=False)
            >>> x.get_tensor().stop_gradient, x.get_tensor().data_ptr() == x.data_ptr()
            (True, True)
        """
        return self.detach()
