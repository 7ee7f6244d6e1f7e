"""Convolutions: one op for 1, 2 and 3 spatial dimensions, and its adjoints as ops, so that gradients nest."""

from __future__ import annotations

from typing import Any

from ..core.alias import aliased
from ..core.errors import ArgumentError, DTypeError, ShapeError
from ..core.meta import UNKNOWN, Meta, Shape, numel
from .arguments import static_int
from .batch_last import conv_native, input_grad_native, weight_grad_native
from .conv_kernel import (
    batch_first,
    batch_last,
    convolve,
    geometry,
    input_adjoint,
    weight_adjoint,
    widened,
)
from .limits import channel_first
from .registry import OpDef, define_op
from .sliding_window import (
    check_counts,
    is_channel_last,
    need_rank,
    per_dim,
    spatial_of,
    window_counts,
    window_padding,
    with_spatial,
)
from .window_forms import conv_form
from .window_grads import channel_sum_form

# --- kernels ---------------------------------------------------------------------------------------------------------


def finish(xp: Any, y: Any, bias: Any, dtype: Any, channel_last: bool) -> Any:
    """y [channels, *spatial, batch] plus the bias, in the caller's dtype and dimension order."""
    if bias is not None:
        y += bias.astype(y.dtype, copy=False).reshape(-1, *(1,) * (y.ndim - 1))
    return batch_first(y.astype(dtype, copy=False), channel_last)


def _conv_kernel(
    xp: Any, x: Any, weight: Any, bias: Any, *, stride: Shape, padding: Any, dilation: Shape, groups: int,
    channel_last: bool,
) -> Any:  # fmt: skip
    a, w = widened(xp, batch_last(x, channel_last), weight)
    g = geometry(a.shape[1:-1], w.shape[2:], stride, padding, dilation, groups)
    return finish(xp, convolve(xp, a, w, g), bias, x.dtype, channel_last)


def _input_grad_kernel(
    xp: Any, ct: Any, weight: Any, x: Any, *, stride: Shape, padding: Any, dilation: Shape, groups: int,
    channel_last: bool,
) -> Any:  # fmt: skip
    sizes = spatial_of(x.shape, channel_last)
    c, w = widened(xp, batch_last(ct, channel_last), weight)
    g = geometry(sizes, w.shape[2:], stride, padding, dilation, groups)
    return finish(xp, input_adjoint(xp, c, w, sizes, g), None, ct.dtype, channel_last)


def _weight_grad_kernel(
    xp: Any, ct: Any, x: Any, weight: Any, *, stride: Shape, padding: Any, dilation: Shape, groups: int,
    channel_last: bool,
) -> Any:  # fmt: skip
    c, a = widened(xp, batch_last(ct, channel_last), batch_last(x, channel_last))
    g = geometry(a.shape[1:-1], weight.shape[2:], stride, padding, dilation, groups)
    return weight_adjoint(xp, c, a, weight.shape, g).astype(ct.dtype, copy=False)


# --- meta ------------------------------------------------------------------------------------------------------------


def check_operands(op: str, x: Meta, weight: Meta, n: int) -> None:
    """Raise unless x and weight are floating tensors of one dtype with n spatial dimensions."""
    need_rank(op, x, n)
    need_rank(op, weight, n, "weight")
    if x.dtype is not weight.dtype:
        raise DTypeError(f"{op}: x is {x}, weight is {weight}: dtypes differ", hint="cast one of them with .astype()")


def check_bias(op: str, bias: Meta | None, channels: int) -> None:
    """Raise unless the bias has one value for each output channel."""
    if bias is not None and (
        bias.ndim != 1 or (UNKNOWN not in (bias.shape[0], channels) and bias.shape[0] != channels)
    ):
        raise ShapeError(f"{op}: bias is {bias}, expected [{channels}], one value an output channel")


def _conv_meta(
    x: Meta, weight: Meta, bias: Meta | None, *, stride: Shape, padding: Any, dilation: Shape, groups: int,
    channel_last: bool,
) -> Meta:  # fmt: skip
    op = f"conv{len(stride)}d"
    check_operands(op, x, weight, len(stride))
    channels, per_group, outputs = x.shape[-1 if channel_last else 1], weight.shape[1], weight.shape[0]
    if UNKNOWN not in (channels, per_group) and channels != per_group * groups:
        raise ShapeError(
            f"{op}: x {x} has {channels} channels, weight {weight} with groups={groups} expects {per_group * groups}",
            hint="check data_format, groups and the in_channels of the layer",
        )
    if 0 in (per_group, outputs):
        raise ShapeError(f"{op}: weight {weight} has no channels", hint="each side needs one at least")
    if outputs != UNKNOWN and outputs % groups:
        raise ShapeError(f"{op}: weight {weight} has {outputs} output channels, no multiple of groups={groups}")
    check_bias(op, bias, weight.shape[0])
    counts = window_counts(spatial_of(x.shape, channel_last), weight.shape[2:], stride, padding, dilation)
    check_counts(op, counts, x, weight.shape[2:])
    return x.with_shape(with_spatial(x.shape[0], weight.shape[0], counts, channel_last))


# --- ops -------------------------------------------------------------------------------------------------------------


def _conv_x(
    ct: Any, *, x_like: Any, weight: Any, stride: Any, padding: Any, dilation: Any, groups: Any, channel_last: Any
) -> Any:
    return conv_input_grad_op(
        ct, weight, x_like, stride=stride, padding=padding, dilation=dilation, groups=groups, channel_last=channel_last
    )


def _conv_weight(
    ct: Any, *, x: Any, weight_like: Any, stride: Any, padding: Any, dilation: Any, groups: Any, channel_last: Any
) -> Any:
    return conv_weight_grad_op(
        ct, x, weight_like, stride=stride, padding=padding, dilation=dilation, groups=groups, channel_last=channel_last
    )


def bias_cotangent(ct: Any, *, channel_last: Any) -> Any:
    """The sum of ct over all dimensions but the channels."""
    return channel_sum_op(ct, channel_last=channel_last)


def _window_work(results: Meta, weight: Meta) -> float:
    """Each result of a convolution, or each cotangent of one, meets every weight of its channel."""
    return 2.0 * numel(results.shape) * numel(weight.shape[1:])


conv_op = define_op(
    "conv",
    kernel=_conv_kernel,
    limits=channel_first("x", "out"),
    meta=_conv_meta,
    vjp={"x": _conv_x, "weight": _conv_weight, "bias": bias_cotangent},
    work=lambda x, weight, bias, **attrs: _window_work(_conv_meta(x, weight, bias, **attrs), weight),
    amp="allow",
    maps={"onnx": "Conv", "paddle": "conv2d"},
    native=conv_native,
    native_alone=True,
    native_windows=True,
    ahead=conv_form,
)


def _input_grad_ct(
    g: Any, *, weight: Any, stride: Any, padding: Any, dilation: Any, groups: Any, channel_last: Any
) -> Any:
    return conv_op(
        g, weight, None, stride=stride, padding=padding, dilation=dilation, groups=groups, channel_last=channel_last
    )


def _input_grad_weight(
    g: Any, *, ct: Any, weight_like: Any, stride: Any, padding: Any, dilation: Any, groups: Any, channel_last: Any
) -> Any:
    return conv_weight_grad_op(
        ct, g, weight_like, stride=stride, padding=padding, dilation=dilation, groups=groups, channel_last=channel_last
    )


conv_input_grad_op = define_op(
    "conv_input_grad",
    kernel=_input_grad_kernel,
    limits=channel_first("ct", "x", "out"),
    meta=lambda ct, weight, x, **geometry: x.with_dtype(ct.dtype),
    vjp={"ct": _input_grad_ct, "weight": _input_grad_weight},
    shape_only=["x"],
    native=input_grad_native,
    native_alone=True,
    native_windows=True,
    work=lambda ct, weight, x, **geometry: _window_work(ct, weight),
    amp="allow",
)


def _weight_grad_ct(g: Any, *, x: Any, stride: Any, padding: Any, dilation: Any, groups: Any, channel_last: Any) -> Any:
    return conv_op(
        x, g, None, stride=stride, padding=padding, dilation=dilation, groups=groups, channel_last=channel_last
    )


def _weight_grad_x(
    g: Any, *, ct: Any, x_like: Any, stride: Any, padding: Any, dilation: Any, groups: Any, channel_last: Any
) -> Any:
    return conv_input_grad_op(
        ct, g, x_like, stride=stride, padding=padding, dilation=dilation, groups=groups, channel_last=channel_last
    )


conv_weight_grad_op = define_op(
    "conv_weight_grad",
    kernel=_weight_grad_kernel,
    limits=channel_first("ct", "x"),
    meta=lambda ct, x, weight, **geometry: weight.with_dtype(ct.dtype),
    vjp={"ct": _weight_grad_ct, "x": _weight_grad_x},
    shape_only=["weight"],
    native=weight_grad_native,
    native_alone=True,
    native_windows=True,
    work=lambda ct, x, weight, **geometry: _window_work(ct, weight),
    amp="allow",
)


def _channel_sum_kernel(xp: Any, x: Any, *, channel_last: bool) -> Any:
    (a,) = widened(xp, batch_last(x, channel_last))
    return a.sum(axis=tuple(range(1, a.ndim)), dtype=a.dtype).astype(x.dtype, copy=False)


def _channel_spread_kernel(xp: Any, y: Any, x: Any, *, channel_last: bool) -> Any:
    shape = (1, *(1,) * (x.ndim - 2), -1) if channel_last else (1, -1, *(1,) * (x.ndim - 2))
    return xp.broadcast_to(y.reshape(shape), x.shape).copy()


channel_sum_op = define_op(
    "channel_sum",
    kernel=_channel_sum_kernel,
    meta=lambda x, *, channel_last: x.with_shape((x.shape[-1 if channel_last else 1],)),
    vjp={"x": lambda ct, *, x_like, channel_last: channel_spread_op(ct, x_like, channel_last=channel_last)},
    native=channel_sum_form,
)
channel_spread_op: OpDef = define_op(
    "channel_spread",
    kernel=_channel_spread_kernel,
    meta=lambda y, x, *, channel_last: x.with_dtype(y.dtype),
    vjp={"y": lambda ct, *, channel_last: channel_sum_op(ct, channel_last=channel_last)},
    shape_only=["x"],
)


# --- public ----------------------------------------------------------------------------------------------------------


def conv_arguments(
    op: str, n: int, stride: Any, padding: Any, dilation: Any, groups: Any, data_format: str
) -> dict[str, Any]:
    """The attributes of a convolution from the user's arguments; raises ArgumentError on values out of range."""
    channel_last = is_channel_last(op, data_format, n)
    groups = static_int(op, groups, "groups")
    if groups < 1:
        raise ArgumentError(f"{op}: groups must be at least 1, got {groups}")
    return {
        "stride": per_dim(op, stride, n, "stride"),
        "padding": window_padding(op, padding, n, channel_last),
        "dilation": per_dim(op, dilation, n, "dilation"),
        "groups": groups,
        "channel_last": channel_last,
    }


@aliased(x="input")
def conv1d(
    x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
    data_format: str = "NCL", name: str | None = None,
) -> Any:  # fmt: skip
    """The 1-D convolution of x with weight, plus bias; see `conv2d`. Source: paddle.nn.functional.conv1d.

    x: [n, c, l] (or [n, l, c] for "NLC"), weight: [o, c / groups, k], bias: [o].

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.conv1d(paddle.ones([1, 1, 4]), paddle.ones([1, 1, 2])).tolist()
        [[[2.0, 2.0, 2.0]]]
    """
    return conv_op(x, weight, bias, **conv_arguments("conv1d", 1, stride, padding, dilation, groups, data_format))


@aliased(x="input")
def conv2d(
    x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
    data_format: str = "NCHW", name: str | None = None,
) -> Any:  # fmt: skip
    """The 2-D convolution (cross-correlation) of x with weight, plus bias.

    x: [n, c, h, w] (or [n, h, w, c] for "NHWC"), weight: [o, c / groups, kh, kw], bias: [o]; one floating dtype.
    padding: an int, a list, pairs, "SAME" or "VALID". Output size a dimension:
    (size + padding - dilation * (kernel - 1) - 1) // stride + 1. Raises ShapeError when channels do not fit or the
    window is larger than the padded input, ArgumentError on bad strides, paddings, groups or formats.
    Source: paddle.nn.functional.conv2d.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.conv2d(paddle.ones([1, 1, 3, 3]), paddle.ones([1, 1, 2, 2])).tolist()
        [[[[4.0, 4.0], [4.0, 4.0]]]]
    """
    return conv_op(x, weight, bias, **conv_arguments("conv2d", 2, stride, padding, dilation, groups, data_format))


@aliased(x="input")
def conv3d(
    x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
    data_format: str = "NCDHW", name: str | None = None,
) -> Any:  # fmt: skip
    """The 3-D convolution of x with weight, plus bias; see `conv2d`. Source: paddle.nn.functional.conv3d.

    x: [n, c, d, h, w] (or [n, d, h, w, c] for "NDHWC"), weight: [o, c / groups, kd, kh, kw], bias: [o].

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.conv3d(paddle.ones([1, 1, 2, 2, 2]), paddle.ones([1, 1, 2, 2, 2])).item()
        8.0
    """
    return conv_op(x, weight, bias, **conv_arguments("conv3d", 3, stride, padding, dilation, groups, data_format))


__all__ = ["conv1d", "conv2d", "conv3d"]
