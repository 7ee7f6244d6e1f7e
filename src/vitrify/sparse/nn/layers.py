"""Layers for sparse tensors. Source: paddle.sparse.nn."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ...core.errors import ArgumentError
from ...eager.layer import Layer
from ...eager.param_attr import ParamAttrLike
from ...nn.initializer import Normal
from ...nn.layer.norm import BatchNorm1D
from ...ops.sliding_window import per_dim
from ..unary import need_sparse
from . import functional as F

Size = int | Sequence[int]


class ReLU(Layer):
    """relu of the stored elements. Source: paddle.sparse.nn.ReLU.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 2]], [-1.0, 2.0], [3])
        >>> paddle.sparse.nn.ReLU()(x).values().tolist()
        [0.0, 2.0]
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__()

    def forward(self, x: Any) -> Any:
        """x: sparse -> the same places."""
        return F.relu(x)


class ReLU6(Layer):
    """relu6 of the stored elements. Source: paddle.sparse.nn.ReLU6.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 2]], [-1.0, 8.0], [3])
        >>> paddle.sparse.nn.ReLU6()(x).values().tolist()
        [0.0, 6.0]
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__()

    def forward(self, x: Any) -> Any:
        """x: sparse -> the same places."""
        return F.relu6(x)


class LeakyReLU(Layer):
    """leaky_relu of the stored elements. Source: paddle.sparse.nn.LeakyReLU.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 2]], [-1.0, 2.0], [3])
        >>> paddle.sparse.nn.LeakyReLU(0.5)(x).values().tolist()
        [-0.5, 2.0]
    """

    def __init__(self, negative_slope: float = 0.01, name: str | None = None) -> None:
        super().__init__()
        self._negative_slope = negative_slope

    def forward(self, x: Any) -> Any:
        """x: sparse -> the same places."""
        return F.leaky_relu(x, self._negative_slope)


class Softmax(Layer):
    """softmax over the stored elements of each row. Source: paddle.sparse.nn.Softmax.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([[0.0, 3.0, 3.0], [5.0, 0.0, 0.0]]).to_sparse_csr()
        >>> paddle.sparse.nn.Softmax()(x).values().tolist()
        [0.5, 0.5, 1.0]
    """

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__()
        self._axis = axis

    def forward(self, x: Any) -> Any:
        """x: sparse -> the same places."""
        return F.softmax(x, self._axis)


class BatchNorm(BatchNorm1D):
    """Batch normalization of the stored elements [nnz, C]: what is not stored does not count.

    Source: paddle.sparse.nn.BatchNorm.

    Example:
        >>> import vitrify as paddle
        >>> places = [[0, 0], [0, 0], [0, 0], [0, 1]]
        >>> x = paddle.sparse.sparse_coo_tensor(places, [[1.0], [3.0]], [1, 1, 1, 2, 1])
        >>> [round(v, 2) for v in paddle.sparse.nn.BatchNorm(1)(x).values().flatten().tolist()]
        [-1.0, 1.0]
    """

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-05,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        data_format: str = "NDHWC",
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, momentum, epsilon, weight_attr, bias_attr, use_global_stats=use_global_stats)

    def forward(self, x: Any) -> Any:
        """x: sparse [N, *sizes, C] -> the same places."""
        return need_sparse("nn.BatchNorm", x).with_values(super().forward(x.values()))


class SyncBatchNorm(BatchNorm):
    """BatchNorm over all processes, of which there is one. Source: paddle.sparse.nn.SyncBatchNorm.

    Example:
        >>> import vitrify as paddle
        >>> layer = paddle.sparse.nn.BatchNorm(1)
        >>> paddle.sparse.nn.SyncBatchNorm.convert_sync_batchnorm(layer) is layer
        True
    """

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-05,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, momentum, epsilon, weight_attr, bias_attr)

    @classmethod
    def convert_sync_batchnorm(cls, layer: Layer) -> Layer:
        """`layer` as it is: the one process has the whole batch."""
        return layer


class _Conv(Layer):
    """What the convolutions share: settings, weight [*kernel, in, out] and bias [out]."""

    _dims: ClassVar[int]
    _function: ClassVar[Callable[..., Any]]

    if TYPE_CHECKING:  # each class has an `__init__` of its own, made below

        def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def _set(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size,
        padding: Any,
        dilation: Size,
        groups: int,
        padding_mode: str,
        weight_attr: ParamAttrLike,
        bias_attr: ParamAttrLike,
        data_format: str,
    ) -> None:
        owner = type(self).__name__
        if padding_mode != "zeros" or groups != 1:
            raise ArgumentError(
                f"sparse.nn.{owner}: padding_mode must be 'zeros' and groups 1, got {padding_mode!r} and {groups}"
            )
        kernel = per_dim(owner, kernel_size, self._dims, "kernel_size")
        self._in_channels, self._out_channels, self._kernel_size = in_channels, out_channels, list(kernel)
        self._stride, self._padding, self._dilation, self._groups = stride, padding, dilation, groups
        self._padding_mode, self._data_format = padding_mode, data_format
        start = Normal(0.0, math.sqrt(2.0 / (in_channels * math.prod(kernel))))
        shape = [*kernel, in_channels, out_channels]
        self.weight = self.create_parameter(shape, weight_attr, default_initializer=start)
        self.bias = self.create_parameter([out_channels], bias_attr, is_bias=True)

    def forward(self, x: Any) -> Any:
        """x: sparse [N, *sizes, C] -> sparse with out_channels channels."""
        return type(self)._function(
            x, self.weight, self.bias, self._stride, self._padding, self._dilation, self._groups, self._data_format
        )

    def extra_repr(self) -> str:
        """The sizes and settings."""
        return (
            f"{self._in_channels}, {self._out_channels}, kernel_size={self._kernel_size}, stride={self._stride}, "
            f"padding={self._padding}, dilation={self._dilation}, data_format={self._data_format}"
        )


def _class(name: str, dims: int, function: Callable[..., Any], init: Any, what: str) -> type[_Conv]:
    doc = f"""{what} over {dims} dimensions, weight [*kernel, in, out], bias [out]. Source: paddle.sparse.nn.{name}.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.sparse.sparse_coo_tensor({[[0]] * (dims + 1)}, [[1.0]], {[1, *[4] * dims, 1]})
        >>> paddle.sparse.nn.{name}(1, 2, 3, padding=1)(x).values().shape
        paddle.Size([{1 if name.startswith("Subm") else 2**dims}, 2])
    """
    members = {"__init__": init, "_dims": dims, "_function": staticmethod(function), "__doc__": doc}
    return type(name, (_Conv,), {**members, "__module__": __name__})


def _conv_class(name: str, dims: int, layout: str, function: Callable[..., Any]) -> type[_Conv]:
    def __init__(
        self: Any,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Any = 0,
        dilation: Size = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        data_format: str = layout,
    ) -> None:
        Layer.__init__(self)
        self._set(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, padding_mode, weight_attr,
            bias_attr, data_format,
        )  # fmt: skip

    return _class(name, dims, function, __init__, "Sparse convolution, stored where a window holds something,")


def _subm_class(name: str, dims: int, layout: str, function: Callable[..., Any]) -> type[_Conv]:
    def __init__(
        self: Any,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Any = 0,
        dilation: Size = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        key: str | None = None,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        data_format: str = layout,
        backend: str | None = None,
    ) -> None:
        Layer.__init__(self)
        self._set(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, padding_mode, weight_attr,
            bias_attr, data_format,
        )  # fmt: skip
        self._key = key

    return _class(name, dims, function, __init__, "Submanifold convolution, stored where its input is,")


Conv2D = _conv_class("Conv2D", 2, "NHWC", F.conv2d)
Conv3D = _conv_class("Conv3D", 3, "NDHWC", F.conv3d)
SubmConv2D = _subm_class("SubmConv2D", 2, "NHWC", F.subm_conv2d)
SubmConv3D = _subm_class("SubmConv3D", 3, "NDHWC", F.subm_conv3d)


class MaxPool3D(Layer):
    """The largest stored element of each window. Raises ArgumentError for return_mask.

    Source: paddle.sparse.nn.MaxPool3D.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 0], [0, 1], [0, 1], [0, 1]], [[1.0], [3.0]], [1, 2, 2, 2, 1])
        >>> paddle.sparse.nn.MaxPool3D(2)(x).values().tolist()
        [[3.0]]
    """

    def __init__(
        self,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Any = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        data_format: str = "NDHWC",
        name: str | None = None,
    ) -> None:
        super().__init__()
        if return_mask:
            raise ArgumentError("sparse.nn.MaxPool3D: return_mask must be False: sparse windows have no places to tell")
        self._settings = kernel_size, stride, padding, ceil_mode, data_format

    def forward(self, x: Any) -> Any:
        """x: sparse [N, D, H, W, C] -> sparse [N, *smaller sizes, C]."""
        return F.max_pool3d(x, *self._settings)


__all__ = [
    "BatchNorm", "Conv2D", "Conv3D", "LeakyReLU", "MaxPool3D", "ReLU", "ReLU6", "Softmax", "SubmConv2D", "SubmConv3D",
    "SyncBatchNorm",
]  # fmt: skip
