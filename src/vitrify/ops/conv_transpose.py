"""Transposed convolutions: the adjoint of a convolution in its input, as a forward op with a bias."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtype import int64
from ..core.errors import ArgumentError, ShapeError
from ..core.meta import UNKNOWN, Meta, Shape, numel
from .arguments import as_ints, dims, entries
from .batch_last import input_grad_native
from .conv import (
    bias_cotangent,
    check_bias,
    check_operands,
    conv_arguments,
    conv_op,
    conv_weight_grad_op,
    finish,
)
from .conv_kernel import batch_last, geometry, input_adjoint, widened
from .conv_transpose_form import conv_transpose_form
from .creation import full
from .elementwise import add_op
from .registry import define_op
from .select import maximum
from .sizes import size_of
from .slicing import slice
from .sliding_window import (
    Padding,
    known_count,
    per_dim,
    resolve_padding,
    span,
    spatial_of,
    used_dilation,
    with_spatial,
)


def _inferred(sizes: Shape, kernel: Shape, stride: Shape, padding: Padding, dilation: Shape) -> Shape:
    """The smallest output sizes that a convolution takes to `sizes`; -1 for unknown sizes."""
    return tuple(
        UNKNOWN if UNKNOWN in (s, k) else (s - 1) * st - lo - hi + span(k, d)
        for s, k, st, (lo, hi), d in zip(sizes, kernel, stride, padding, dilation)
    )


def _kernel(
    xp: Any, x: Any, weight: Any, bias: Any, *, stride: Shape, padding: Any, output_padding: Shape, output_size: Any,
    dilation: Shape, groups: int, channel_last: bool,
) -> Any:  # fmt: skip
    c, w = widened(xp, batch_last(x, channel_last), weight)
    g = geometry(c.shape[1:-1], w.shape[2:], stride, padding, dilation, groups)
    sizes: Any = entries(output_size) if output_size is not None else ()
    if not sizes:
        sizes = map(sum, zip(_inferred(c.shape[1:-1], g.kernel, stride, padding, dilation), output_padding))
    return finish(xp, input_adjoint(xp, c, w, tuple(sizes), g), bias, x.dtype, channel_last)


def _native(
    n: Any, x: Any, weight: Any, bias: Any, *, stride: Shape, padding: Any, output_padding: Shape, output_size: Any,
    dilation: Shape, groups: int, channel_last: bool,
) -> Any:  # fmt: skip
    """What the gradient of a convolution for its input does, and the bias."""
    if isinstance(padding, str) or not x.size or any(extra >= st for extra, st in zip(output_padding, stride)):
        n.refuse("padding by the sizes of the run, and output padding of whole strides, have no native form")
    smallest = _inferred(spatial_of(x.shape, channel_last), weight.shape[2:], stride, padding, dilation)
    sizes = entries(output_size) if output_size is not None else tuple(map(sum, zip(smallest, output_padding)))
    shape = with_spatial(x.shape[0], weight.shape[1] * groups, tuple(sizes), channel_last)
    like = n.view(lambda a: np.broadcast_to(a[(np.s_[:1],) * a.ndim], shape), x)  # asked for its shape only
    out = input_grad_native(
        n, x, weight, like, stride=stride, padding=padding, dilation=dilation, groups=groups, channel_last=channel_last
    )
    if bias is not None:
        n.apply_into(out, add_op, out, n.reshape(bias, (-1,) if channel_last else (-1, *[1] * len(stride))))
    return out


def _meta(
    x: Meta, weight: Meta, bias: Meta | None, *, stride: Shape, padding: Any, output_padding: Shape, output_size: Any,
    dilation: Shape, groups: int, channel_last: bool,
) -> Meta:  # fmt: skip
    n = len(stride)
    op = f"conv{n}d_transpose"
    check_operands(op, x, weight, n)
    channels, inputs = x.shape[-1 if channel_last else 1], weight.shape[0]
    if UNKNOWN not in (channels, inputs) and (channels != inputs or inputs % groups):
        raise ShapeError(
            f"{op}: x {x} has {channels} channels, weight {weight} expects {inputs}, a multiple of groups={groups}",
            hint="weight is [in_channels, out_channels / groups, *kernel]",
        )
    outputs = UNKNOWN if weight.shape[1] == UNKNOWN else weight.shape[1] * groups
    check_bias(op, bias, outputs)
    smallest = _inferred(spatial_of(x.shape, channel_last), weight.shape[2:], stride, padding, dilation)
    if output_size is None:
        known = (UNKNOWN not in pair for pair in zip(spatial_of(x.shape, channel_last), weight.shape[2:]))
        sizes = tuple(
            known_count(s + extra) if is_known else UNKNOWN
            for s, extra, is_known in zip(smallest, output_padding, known)
        )
    else:
        sizes = dims(output_size)
        _check_output_size(op, sizes, smallest, stride)
    if any(s <= 0 and s != UNKNOWN for s in sizes):
        raise ShapeError(f"{op}: padding leaves no output: sizes {list(sizes)} for x {x}")
    return x.with_shape(with_spatial(x.shape[0], outputs, sizes, channel_last))


def _check_output_size(op: str, sizes: Shape, smallest: Shape, stride: Shape) -> None:
    if len(sizes) != len(smallest):
        raise ArgumentError(f"{op}: output_size must have {len(smallest)} sizes, got {list(sizes)}")
    for size, least, step in zip(sizes, smallest, stride):
        if UNKNOWN not in (size, least) and not least <= size < least + step:
            raise ArgumentError(f"{op}: output_size must lie in [{least}, {least + step}), got {size}")


def _as_conv_padding(padding: Padding, output_padding: Shape, stride: Shape) -> Padding:
    """The padding with which a convolution takes the output back to x's sizes: whole strides of output padding,
    which only a dilation allows, are cut off again.
    """
    return tuple((lo, hi - extra // st * st) for (lo, hi), extra, st in zip(padding, output_padding, stride))


def _x(
    ct: Any, *, weight: Any, stride: Any, padding: Any, output_padding: Any, dilation: Any, groups: Any,
    channel_last: Any,
) -> Any:  # fmt: skip
    back = _as_conv_padding(padding, output_padding, stride)
    return conv_op(
        ct, weight, None, stride=stride, padding=back, dilation=dilation, groups=groups, channel_last=channel_last
    )


def _weight(
    ct: Any, *, x: Any, weight_like: Any, stride: Any, padding: Any, output_padding: Any, dilation: Any, groups: Any,
    channel_last: Any,
) -> Any:  # fmt: skip
    back = _as_conv_padding(padding, output_padding, stride)
    return conv_weight_grad_op(
        x, ct, weight_like, stride=stride, padding=back, dilation=dilation, groups=groups, channel_last=channel_last
    )


conv_transpose_op = define_op(
    "conv_transpose",
    kernel=_kernel,
    meta=_meta,
    vjp={"x": _x, "weight": _weight, "bias": bias_cotangent},
    dynamic=("output_size",),
    work=lambda x, weight, *others, **attrs: 2.0 * numel(x.shape) * numel(weight.shape[1:]),
    amp="allow",
    maps={"onnx": "ConvTranspose", "paddle": "conv2d_transpose"},
    native=_native,
    native_alone=True,
    native_windows=True,
    ahead=conv_transpose_form,
)


def _resolved(padding: Padding, x: Any, weight: Any, stride: Shape, channel_last: bool) -> Padding:
    """Padding as pairs; "SAME" is worked out from x's sizes, and stays "SAME" where those are not known."""
    if padding != "SAME":
        return padding
    sizes, kernel = spatial_of(x.shape, channel_last), tuple(weight.shape[2:])
    if UNKNOWN in kernel or any(s == UNKNOWN and st > 1 for s, st in zip(sizes, stride)):
        return padding
    return resolve_padding(padding, tuple(max(s, 1) for s in sizes), kernel, stride)


def _same(x: Any, weight: Any, bias: Any, extra: Shape, output_size: Any, attrs: dict[str, Any]) -> Any:
    """The result for padding "SAME" and sizes that only the run knows: a part of the one without padding."""
    stride, first = attrs["stride"], 1 if attrs["channel_last"] else 2
    axes = [first + i for i in range(len(stride))]
    starts, ends = [], []
    for i, (axis, step) in enumerate(zip(axes, stride)):
        size, kernel = size_of(x, axis), size_of(weight, 2 + i)
        needed = ((size + step - 1) // step - 1) * step + kernel - size
        total = max(needed, 0) if isinstance(needed, int) else maximum(full([], 0, int64), needed)
        starts.append(total // 2)
        made = (size - 1) * step - total + kernel + extra[i] if output_size is None else output_size[i]
        ends.append(starts[-1] + made)
    room = extra if output_size is None else tuple(step - 1 for step in stride)
    attrs["padding"] = ((0, 0),) * len(stride)
    return slice(conv_transpose_op(x, weight, bias, output_padding=room, output_size=None, **attrs), axes, starts, ends)


def _transpose(
    n: int, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, output_padding: Any, dilation: Any, groups: Any,
    output_size: Any, data_format: str,
) -> Any:  # fmt: skip
    op = f"conv{n}d_transpose"
    attrs = conv_arguments(op, n, stride, padding, dilation, groups, data_format)
    extra = per_dim(op, output_padding, n, "output_padding", least=0)
    if output_size is not None:
        if any(extra):
            raise ArgumentError(f"{op}: output_padding and output_size exclude each other")
        output_size = as_ints(op, output_size, "output_size")
        if isinstance(output_size, tuple) and len(output_size) == 1:
            output_size *= n
    attrs["dilation"] = used_dilation(attrs["padding"], attrs["dilation"])
    if any(e >= max(st, d) for e, st, d in zip(extra, attrs["stride"], attrs["dilation"])):
        raise ArgumentError(f"{op}: output_padding must be less than stride or dilation, got {list(extra)}")
    attrs["padding"] = _resolved(attrs["padding"], x, weight, attrs["stride"], attrs["channel_last"])
    if attrs["padding"] == "SAME":
        return _same(x, weight, bias, extra, output_size, attrs)
    return conv_transpose_op(x, weight, bias, output_padding=extra, output_size=output_size, **attrs)


def conv1d_transpose(
    x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
    groups: int = 1, dilation: Any = 1, output_size: Any = None, data_format: str = "NCL", name: str | None = None,
) -> Any:  # fmt: skip
    """The 1-D transposed convolution of x; see `conv2d_transpose`. Source: paddle.nn.functional.conv1d_transpose.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.conv1d_transpose(paddle.ones([1, 1, 2]), paddle.ones([1, 1, 2])).tolist()
        [[[1.0, 2.0, 1.0]]]
    """
    return _transpose(1, x, weight, bias, stride, padding, output_padding, dilation, groups, output_size, data_format)


def conv2d_transpose(
    x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
    dilation: Any = 1, groups: int = 1, output_size: Any = None, data_format: str = "NCHW", name: str | None = None,
) -> Any:  # fmt: skip
    """The 2-D transposed convolution of x with weight, plus bias: what `conv2d` does to cotangents.

    x: [n, c, h, w] (or [n, h, w, c]), weight: [c, o / groups, kh, kw], bias: [o]. Output size a dimension:
    (size - 1) * stride - padding + dilation * (kernel - 1) + 1 + output_padding, or `output_size`, which may lie up to
    stride - 1 above. Raises ShapeError when channels do not fit, ArgumentError on sizes out of range.
    Source: paddle.nn.functional.conv2d_transpose.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.conv2d_transpose(paddle.ones([1, 1, 1, 2]), paddle.ones([1, 1, 1, 2])).tolist()
        [[[[1.0, 2.0, 1.0]]]]
    """
    return _transpose(2, x, weight, bias, stride, padding, output_padding, dilation, groups, output_size, data_format)


def conv3d_transpose(
    x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
    groups: int = 1, dilation: Any = 1, output_size: Any = None, data_format: str = "NCDHW", name: str | None = None,
) -> Any:  # fmt: skip
    """The 3-D transposed convolution of x; see `conv2d_transpose`. Source: paddle.nn.functional.conv3d_transpose.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.conv3d_transpose(paddle.ones([1, 1, 1, 1, 1]), paddle.ones([1, 1, 2, 2, 2])).shape
        paddle.Size([1, 1, 2, 2, 2])
    """
    return _transpose(3, x, weight, bias, stride, padding, output_padding, dilation, groups, output_size, data_format)


__all__ = ["conv1d_transpose", "conv2d_transpose", "conv3d_transpose"]
