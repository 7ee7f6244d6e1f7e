"""Convolutions of `static.nn`."""

from __future__ import annotations

from math import prod, sqrt
from typing import Any

from ...core.errors import ArgumentError
from ...eager.initializer import Normal
from ...eager.param_attr import ParamAttrLike
from ...ops import conv, conv_transpose
from ...ops import deform_conv as deform
from .parts import Owner


def _sizes(kind: str, n: int, what: str, value: Any) -> list[int]:
    """One size for each of n dimensions."""
    sizes = list(value) if isinstance(value, (list, tuple)) else [value] * n
    if len(sizes) == 1:
        sizes = sizes * n
    if len(sizes) != n or not all(isinstance(s, int) for s in sizes):
        raise ArgumentError(f"{kind}: {what} takes an int or {n} of them, got {value!r}")
    return sizes


def _channels(owner: Owner, input: Any, data_format: str) -> int:
    return owner.known(input.shape[-1 if data_format.endswith("C") else 1], "the number of channels")


def _he(channels: int, kernel: list[int]) -> Normal:
    return Normal(0.0, sqrt(2.0 / (prod(kernel) * channels)))


def _conv(
    n: int, input: Any, num_filters: int, filter_size: Any, stride: Any, padding: Any, dilation: Any,
    groups: int | None, param_attr: ParamAttrLike, bias_attr: ParamAttrLike, act: str | None, name: str | None,
    data_format: str,
) -> Any:  # fmt: skip
    owner = Owner(f"conv{n}d", name, input.dtype)
    groups = groups or 1
    channels, kernel = _channels(owner, input, data_format), _sizes(owner.kind, n, "filter_size", filter_size)
    if channels % groups:
        raise ArgumentError(f"{owner.kind}: groups={groups} must divide the {channels} channels of input")
    weight = owner.weight([num_filters, channels // groups, *kernel], param_attr, _he(channels, kernel))
    bias = owner.bias([num_filters], bias_attr)
    function = conv.conv2d if n == 2 else conv.conv3d
    out = function(input, weight, bias, stride, padding, dilation, groups, data_format)
    return owner.activated(owner.named(out, skip=bias is not None), act)


def conv2d(
    input: Any, num_filters: int, filter_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    groups: int | None = None, param_attr: ParamAttrLike = None, bias_attr: ParamAttrLike = None,
    use_cudnn: bool = True, act: str | None = None, name: str | None = None, data_format: str = "NCHW",
) -> Any:  # fmt: skip
    """act of the 2-D convolution with num_filters learned kernels, plus a bias; see `nn.functional.conv2d`.

    input: [n, c, h, w] (or [n, h, w, c] for "NHWC"). Weights start as normal numbers with deviation
    sqrt(2 / (kernel elements * c)). use_cudnn changes nothing here. Source: paddle.static.nn.conv2d.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        ...     x = paddle.static.data("x", [None, 1, 28, 28])
        ...     paddle.static.nn.conv2d(x, 6, 3, stride=2, act="relu").shape
        paddle.Size([-1, 6, 13, 13])
    """
    return _conv(
        2, input, num_filters, filter_size, stride, padding, dilation, groups, param_attr, bias_attr, act, name,
        data_format,
    )  # fmt: skip


def conv3d(
    input: Any, num_filters: int, filter_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    groups: int | None = None, param_attr: ParamAttrLike = None, bias_attr: ParamAttrLike = None,
    use_cudnn: bool = True, act: str | None = None, name: str | None = None, data_format: str = "NCDHW",
) -> Any:  # fmt: skip
    """`conv2d` in three dimensions. input: [n, c, d, h, w] (or [n, d, h, w, c]). Source: paddle.static.nn.conv3d.

    Example:
        >>> import vitrify as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [None, 1, 4, 4, 4])
        ...     print(paddle.static.nn.conv3d(x, 2, 3).shape)
        paddle.Size([-1, 2, 2, 2, 2])
    """
    return _conv(
        3, input, num_filters, filter_size, stride, padding, dilation, groups, param_attr, bias_attr, act, name,
        data_format,
    )  # fmt: skip


def _conv_transpose(
    n: int, input: Any, num_filters: int, output_size: Any, filter_size: Any, padding: Any, stride: Any,
    dilation: Any, groups: int | None, param_attr: ParamAttrLike, bias_attr: ParamAttrLike, act: str | None,
    name: str | None, data_format: str,
) -> Any:  # fmt: skip
    owner = Owner(f"conv{n}d_transpose", name, input.dtype)
    groups = groups or 1
    channels = _channels(owner, input, data_format)
    if filter_size is None:
        filter_size = _filter_size(owner, n, input, output_size, padding, stride, dilation, data_format)
    kernel = _sizes(owner.kind, n, "filter_size", filter_size)
    weight = owner.weight([channels, num_filters // groups, *kernel], param_attr)
    bias = owner.bias([num_filters], bias_attr)
    options = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups, "output_size": output_size}
    function = conv_transpose.conv2d_transpose if n == 2 else conv_transpose.conv3d_transpose
    out = function(input, weight, bias, **options, data_format=data_format)
    return owner.activated(owner.named(out, skip=bias is not None), act)


def _filter_size(
    owner: Owner, n: int, input: Any, output_size: Any, padding: Any, stride: Any, dilation: Any, data_format: str
) -> list[int]:
    """The size that gives the output its size."""
    if output_size is None:
        raise ArgumentError(f"{owner.kind}: one of filter_size and output_size must be given")
    first = 1 if data_format.endswith("C") else 2
    sizes = [owner.known(d, "every spatial size, where filter_size is left out,") for d in input.shape[first:][:n]]
    wanted, pads, steps, gaps = (
        _sizes(owner.kind, n, what, value)
        for what, value in (
            ("output_size", output_size), ("padding", padding), ("stride", stride), ("dilation", dilation),
        )
    )  # fmt: skip
    return [
        (out - (size - 1) * step + 2 * pad - 1) // gap + 1
        for out, size, step, pad, gap in zip(wanted, sizes, steps, pads, gaps)
    ]


def conv2d_transpose(
    input: Any, num_filters: int, output_size: Any = None, filter_size: Any = None, padding: Any = 0,
    stride: Any = 1, dilation: Any = 1, groups: int | None = None, param_attr: ParamAttrLike = None,
    bias_attr: ParamAttrLike = None, use_cudnn: bool = True, act: str | None = None, name: str | None = None,
    data_format: str = "NCHW",
) -> Any:  # fmt: skip
    """act of the 2-D transposed convolution with learned kernels, plus a bias; see `nn.functional.conv2d_transpose`.

    Of output_size and filter_size one may be left out: it follows from the other. Raises ArgumentError without both.
    Source: paddle.static.nn.conv2d_transpose.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        ...     x = paddle.static.data("x", [None, 3, 8, 8])
        ...     paddle.static.nn.conv2d_transpose(x, 4, filter_size=3, stride=2).shape
        paddle.Size([-1, 4, 17, 17])
    """
    return _conv_transpose(
        2, input, num_filters, output_size, filter_size, padding, stride, dilation, groups, param_attr, bias_attr,
        act, name, data_format,
    )  # fmt: skip


def conv3d_transpose(
    input: Any, num_filters: int, output_size: Any = None, filter_size: Any = None, padding: Any = 0,
    stride: Any = 1, dilation: Any = 1, groups: int | None = None, param_attr: ParamAttrLike = None,
    bias_attr: ParamAttrLike = None, use_cudnn: bool = True, act: str | None = None, name: str | None = None,
    data_format: str = "NCDHW",
) -> Any:  # fmt: skip
    """`conv2d_transpose` in three dimensions. Source: paddle.static.nn.conv3d_transpose.

    Example:
        >>> import vitrify as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [None, 1, 4, 4, 4])
        ...     print(paddle.static.nn.conv3d_transpose(x, 2, filter_size=2, stride=2).shape)
        paddle.Size([-1, 2, 8, 8, 8])
    """
    return _conv_transpose(
        3, input, num_filters, output_size, filter_size, padding, stride, dilation, groups, param_attr, bias_attr,
        act, name, data_format,
    )  # fmt: skip


def deform_conv2d(
    x: Any, offset: Any, mask: Any, num_filters: int, filter_size: Any, stride: Any = 1, padding: Any = 0,
    dilation: Any = 1, groups: int = 1, deformable_groups: int = 1, im2col_step: int = 1,
    weight_attr: ParamAttrLike = None, bias_attr: ParamAttrLike = None, name: str | None = None,
) -> Any:  # fmt: skip
    """The convolution with learned kernels whose windows read at shifted places; see `vision.ops.deform_conv2d`.

    im2col_step changes nothing here. Source: paddle.static.nn.deform_conv2d.

    Example:
        >>> import vitrify as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [1, 1, 4, 4])
        ...     offset = paddle.static.data("offset", [1, 18, 2, 2])
        ...     print(paddle.static.nn.deform_conv2d(x, offset, None, 2, 3).shape)
        paddle.Size([1, 2, 2, 2])
    """
    owner = Owner("deformable_conv", name, x.dtype)
    channels, kernel = _channels(owner, x, "NCHW"), _sizes(owner.kind, 2, "filter_size", filter_size)
    weight = owner.weight([num_filters, channels // groups, *kernel], weight_attr, _he(channels, kernel))
    bias = owner.bias([num_filters], bias_attr)
    out = deform.deform_conv2d(x, offset, weight, bias, stride, padding, dilation, deformable_groups, groups, mask)
    return owner.named(out, skip=bias is not None)


__all__ = ["conv2d", "conv2d_transpose", "conv3d", "conv3d_transpose", "deform_conv2d"]
