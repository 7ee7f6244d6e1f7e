"""Convolution Layers and their transposes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from ...core.dtype import DTypeLike
from ...core.errors import ArgumentError
from ...core.place import PlaceLike
from ...eager.initializer import Initializer
from ...eager.layer import Layer
from ...eager.param_attr import ParamAttrLike
from .. import functional as F
from ..initializer import Normal
from .examples import example_of

Size: TypeAlias = int | Sequence[int]
Padding: TypeAlias = int | str | Sequence[Any]

_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


def as_sizes(value: Size, dims: int, name: str, owner: str) -> list[int]:
    """`value` for each of `dims` dimensions; raises ArgumentError for a list of another length."""
    if isinstance(value, (int, np.integer)):
        return [int(value)] * dims
    sizes = [int(v) for v in value]
    if len(sizes) != dims:
        raise ArgumentError(f"{owner}: {name} needs 1 or {dims} values, got {sizes}")
    return sizes


class _ConvNd(Layer):
    """What all convolutions share: settings, weight [out, in / groups, *kernel] and bias [out].

    Model code derives convolutions of its own from it, with a `forward` that reads these.

    transposed: the weight is [in, out / groups, *kernel]. dims: how many dimensions the kernel has.
    """

    _dims: int = 0
    _transposed: bool = False
    _function: ClassVar[Callable[..., Any]]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        transposed: bool,
        dims: int,
        stride: Size = 1,
        padding: Padding = 0,
        padding_mode: str = "zeros",
        output_padding: Size = 0,
        dilation: Size = 1,
        groups: int = 1,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        data_format: str = "NCHW",
        device: PlaceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self._transposed, self._dims = transposed, dims
        self._set(
            in_channels, out_channels, kernel_size, stride=stride, padding=padding, dilation=dilation, groups=groups,
            data_format=data_format, weight_attr=weight_attr, bias_attr=bias_attr, padding_mode=padding_mode,
            output_padding=output_padding, device=device, dtype=dtype,
        )  # fmt: skip

    def _set(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        *,
        stride: Size,
        padding: Padding,
        dilation: Size,
        groups: int,
        data_format: str,
        weight_attr: ParamAttrLike,
        bias_attr: ParamAttrLike,
        padding_mode: str = "zeros",
        output_padding: Size = 0,
        device: PlaceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        owner = type(self).__name__
        if padding_mode not in _PADDING_MODES:
            raise ArgumentError(
                f"{owner}: padding_mode must be one of {', '.join(_PADDING_MODES)}, got {padding_mode!r}"
            )
        if weight_attr is False:
            raise ArgumentError(f"{owner}: weight_attr must not be False: no convolution is without a weight")
        if in_channels % groups:
            raise ArgumentError(f"{owner}: in_channels {in_channels} must be divisible by groups {groups}")
        if out_channels % groups:
            raise ArgumentError(f"{owner}: out_channels {out_channels} must be divisible by groups {groups}")
        self._in_channels = in_channels
        self._out_channels = out_channels
        self._kernel_size = as_sizes(kernel_size, self._dims, "kernel_size", owner)
        self._stride = as_sizes(stride, self._dims, "stride", owner)
        self._dilation = as_sizes(dilation, self._dims, "dilation", owner)
        self._groups = groups
        self._padding = padding
        self._padding_mode = padding_mode
        self.output_padding = output_padding
        self._data_format = data_format
        # Model code hands these to `F.conv._conv_nd`, as Paddle's Layers have them.
        named = isinstance(padding, str)
        self._padding_algorithm = str(padding).upper() if named else "EXPLICIT"
        self._updated_padding = [0 if named else padding] * self._dims if isinstance(padding, (int, str)) else padding
        self._channel_dim = self._dims + 1 if data_format.endswith("C") else 1
        is_depthwise = self._dims == 2 and groups == in_channels > 1
        self._op_type = "depthwise_conv2d" if is_depthwise else f"conv{self._dims}d"
        self._param_attr, self._bias_attr = weight_attr, bias_attr
        outer, inner = (in_channels, out_channels) if self._transposed else (out_channels, in_channels)
        shape = [outer, inner // groups, *self._kernel_size]
        self.weight = self.create_parameter(shape, weight_attr, dtype, False, self._default_weight(), device)
        self.bias = self.create_parameter([out_channels], bias_attr, dtype, True, device=device)

    def _default_weight(self) -> Initializer | None:
        """He's initialization for convolutions, Xavier's (None) for their transposes."""
        fan_in = self._in_channels * math.prod(self._kernel_size)
        return None if self._transposed else Normal(0.0, math.sqrt(2.0 / fan_in))

    def extra_repr(self) -> str:
        """The sizes, and the settings that differ from the defaults."""
        ones = [1] * self._dims
        shown = [f"{self._in_channels}, {self._out_channels}, kernel_size={self._kernel_size}"]
        settings = (
            ("stride", self._stride, ones),
            ("padding", self._padding, 0),
            ("padding_mode", self._padding_mode, "zeros"),
            ("output_padding", self.output_padding, 0),
            ("dilation", self._dilation, ones),
            ("groups", self._groups, 1),
        )
        shown += [f"{name}={value}" for name, value, default in settings if value != default]
        return ", ".join([*shown, f"data_format={self._data_format}"])


class _Conv(_ConvNd):
    if TYPE_CHECKING:  # each class has an `__init__` of its own, made from a table

        def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def forward(self, x: Any) -> Any:
        """x: [N, C, *sizes] or [N, *sizes, C], as data_format says -> the same with out_channels channels."""
        padding = self._padding
        if self._padding_mode != "zeros":
            x = F.pad(x, self._pad_widths(), mode=self._padding_mode, data_format=self._data_format)
            padding = 0
        return type(self)._function(
            x,
            self.weight,
            bias=self.bias,
            stride=self._stride,
            padding=padding,
            dilation=self._dilation,
            groups=self._groups,
            data_format=self._data_format,
        )

    def _pad_widths(self) -> list[int]:
        """How wide to pad each side, the last dimension first, as `F.pad` wants it."""
        if isinstance(self._padding, str):
            raise ArgumentError(f"{type(self).__name__}: padding_mode {self._padding_mode!r} needs padding in numbers")
        flat = [self._padding] if isinstance(self._padding, int) else list(self._padding)
        if len(flat) == 1:
            flat *= self._dims
        if len(flat) == self._dims:
            flat = [side for width in flat for side in (width, width)]
        return [side for d in reversed(range(self._dims)) for side in flat[2 * d : 2 * d + 2]]


class _ConvTranspose(_ConvNd):
    _transposed = True

    if TYPE_CHECKING:

        def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def forward(self, x: Any, output_size: Size | None = None) -> Any:
        """x: [N, C, *sizes] -> [N, out_channels, *larger sizes]; output_size settles what stride leaves open."""
        return type(self)._function(
            x,
            self.weight,
            bias=self.bias,
            stride=self._stride,
            padding=self._padding,
            output_padding=self.output_padding if output_size is None else 0,
            dilation=self._dilation,
            groups=self._groups,
            output_size=output_size,
            data_format=self._data_format,
        )


def _conv_class(name: str, dims: int, data_format: str, function: Any) -> type[_Conv]:
    layout = data_format

    def __init__(
        self: Any,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Padding = 0,
        dilation: Size = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        data_format: str = layout,
        *,
        bias: bool = True,
        device: PlaceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        Layer.__init__(self)
        self._set(
            in_channels, out_channels, kernel_size, stride=stride, padding=padding, dilation=dilation, groups=groups,
            data_format=data_format, weight_attr=weight_attr, bias_attr=False if bias is False else bias_attr,
            padding_mode=padding_mode, device=device, dtype=dtype,
        )  # fmt: skip

    doc = f"""Convolution over {dims} dimension{"s" * (dims > 1)}, weight [out, in / groups, *kernel], bias [out].

    padding: a number, one for each dimension or side, "same" or "valid". padding_mode: what the border holds, "zeros",
    "reflect", "replicate" or "circular". x: [N, in, *sizes], or with the channels last as data_format says, of the
    weight's dtype -> [N, out, *sizes], likewise. Raises ArgumentError for channels that `groups` does not divide; calls
    raise ShapeError for other channels and ranks, and for windows larger than x. Source: paddle.nn.{name}.
    """
    __init__.__qualname__ = f"{name}.__init__"  # which errors of missing arguments name
    members = {"__init__": __init__, "_dims": dims, "_function": staticmethod(function)}
    return type(name, (_Conv,), {**members, "__doc__": cleandoc(doc) + example_of(name), "__module__": __name__})


def _transpose_doc(name: str, dims: int) -> str:
    doc = f"""Transposed convolution over {dims} dimension{"s" * (dims > 1)}, weight [in, out / groups, *kernel].

    output_padding: how much longer the output is at one end. Source: paddle.nn.{name}.
    """
    return cleandoc(doc) + example_of(name)


def _transpose_class(name: str, dims: int, data_format: str, function: Any) -> type[_ConvTranspose]:
    layout = data_format

    def __init__(
        self: Any,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Padding = 0,
        output_padding: Size = 0,
        dilation: Size = 1,
        groups: int = 1,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        data_format: str = layout,
    ) -> None:
        Layer.__init__(self)
        self._set(
            in_channels, out_channels, kernel_size, stride=stride, padding=padding, output_padding=output_padding,
            dilation=dilation, groups=groups, data_format=data_format, weight_attr=weight_attr, bias_attr=bias_attr,
        )  # fmt: skip

    __init__.__qualname__ = f"{name}.__init__"  # which errors of missing arguments name
    members = {"__init__": __init__, "_dims": dims, "_function": staticmethod(function)}
    return type(name, (_ConvTranspose,), {**members, "__doc__": _transpose_doc(name, dims), "__module__": __name__})


Conv1D = _conv_class("Conv1D", 1, "NCL", F.conv1d)
Conv2D = _conv_class("Conv2D", 2, "NCHW", F.conv2d)
Conv3D = _conv_class("Conv3D", 3, "NCDHW", F.conv3d)
Conv2DTranspose = _transpose_class("Conv2DTranspose", 2, "NCHW", F.conv2d_transpose)
Conv3DTranspose = _transpose_class("Conv3DTranspose", 3, "NCDHW", F.conv3d_transpose)


class Conv1DTranspose(_ConvTranspose):
    """Transposed convolution over 1 dimension, weight [in, out / groups, kernel], bias [out].

    output_padding: how much longer the output is at one end. Source: paddle.nn.Conv1DTranspose.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.Conv1DTranspose(3, 8, 2, stride=2)(paddle.ones([1, 3, 4])).shape
        paddle.Size([1, 8, 8])
    """

    _dims = 1
    _function = staticmethod(F.conv1d_transpose)

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Padding = 0,
        output_padding: Size = 0,
        groups: int = 1,  # here alone Paddle has groups before dilation
        dilation: Size = 1,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        data_format: str = "NCL",
    ) -> None:
        Layer.__init__(self)
        self._set(
            in_channels, out_channels, kernel_size, stride=stride, padding=padding, output_padding=output_padding,
            dilation=dilation, groups=groups, data_format=data_format, weight_attr=weight_attr, bias_attr=bias_attr,
        )  # fmt: skip


Conv1d, Conv2d, Conv3d = Conv1D, Conv2D, Conv3D

__all__ = [
    "Conv1D", "Conv1DTranspose", "Conv1d", "Conv2D", "Conv2DTranspose", "Conv2d", "Conv3D", "Conv3DTranspose", "Conv3d",
]  # fmt: skip
