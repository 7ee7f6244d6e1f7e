"""Paddle's forms of the ops that layers are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.dtype import as_dtype, float32, float64, int64
from ..core.errors import UnsupportedError
from ..core.meta import UNKNOWN, Meta
from .emitter import FORMS, Emitter, Value

# -- convolution and pooling -------------------------------------------------------------------------------------------


def _padding(padding: Any, spatial: int) -> dict[str, Any]:
    if padding == "SAME":
        return {"padding_algorithm": "SAME", "paddings": [0] * spatial}
    flat = [int(p) for pair in padding for p in pair]
    even = all(low == high for low, high in padding)
    return {"padding_algorithm": "EXPLICIT", "paddings": [low for low, _ in padding] if even else flat}


def _add_bias(g: Emitter, out: Value, bias: Value | None) -> Value:
    if bias is None:
        return out
    return g.op("add", out, g.reshape(bias, [1, bias.shape[0], *[1] * (out.ndim - 2)]))


def _channels_first(g: Emitter, form: Callable[..., Value], x: Value, *given: Any, **attrs: Any) -> Value:
    """A form of channels last by way of channels first: oneDNN gave other numbers behind the former."""
    last, metas, out = x.ndim - 1, g.metas, g.metas[0]
    g.metas = (Meta((out.shape[0], out.shape[last], *out.shape[1:last]), out.dtype),)
    found = form(g, g.transpose(x, [0, last, *range(1, last)]), *given, channel_last=False, **attrs)
    g.metas = metas
    return g.transpose(found, [0, *range(2, x.ndim), 1])


@FORMS("conv")
def conv(
    g: Emitter, x: Value, weight: Value, bias: Value | None, *, stride: Any, padding: Any, dilation: Any, groups: int,
    channel_last: bool,
) -> Value:  # fmt: skip
    """conv2d or conv3d, then add; of one dimension by way of two."""
    if channel_last:
        attrs = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
        return _channels_first(g, conv, x, weight, bias, **attrs)
    spatial = x.ndim - 2
    out = g.metas[0]
    attrs = {**_padding(padding, spatial), "strides": list(stride), "dilations": list(dilation), "groups": groups}
    if spatial == 1:
        return _add_bias(g, _in_two(g, "conv2d", x, weight, attrs), bias)
    layout = "NCHW" if spatial == 2 else "NCDHW"
    return _add_bias(g, g.op(f"conv{spatial}d", x, weight, meta=out, data_format=layout, **attrs), bias)


def _in_two(g: Emitter, name: str, x: Value, weight: Value, attrs: dict[str, Any], *more: Any) -> Value:
    """A convolution of one dimension as one over rows of one pixel."""
    pads = attrs["paddings"]
    attrs = {
        **attrs,
        "paddings": [0, 0, *pads] if len(pads) == 2 else [0, *pads] if pads else [],
        "strides": [1, *attrs["strides"]],
        "dilations": [1, *attrs["dilations"]],
        "data_format": "NCHW",
    }
    if attrs.get("output_padding"):
        attrs["output_padding"] = [0, *attrs["output_padding"]]
    out = g.metas[0]
    wide = Meta((*out.shape[:2], 1, *out.shape[2:]), out.dtype)
    found = g.op(name, g.unsqueeze(x, [2]), g.unsqueeze(weight, [2]), *more, meta=wide, **attrs)
    return g.op("squeeze", found, [2], meta=out)


@FORMS("conv_transpose")
def conv_transpose(
    g: Emitter, x: Value, weight: Value, bias: Value | None, *, stride: Any, padding: Any, output_padding: Any,
    output_size: Any, dilation: Any, groups: int, channel_last: bool,
) -> Value:  # fmt: skip
    """conv2d_transpose or conv3d_transpose, then add; of one dimension by way of two."""
    if output_size is not None and any(isinstance(s, Value) for s in output_size):
        raise UnsupportedError("an output size that only the run knows has no form in Paddle's programs")
    if channel_last:
        attrs = {"stride": stride, "padding": padding, "output_padding": output_padding, "output_size": output_size}
        return _channels_first(g, conv_transpose, x, weight, bias, dilation=dilation, groups=groups, **attrs)
    out, size = g.metas[0], list(output_size or [])
    attrs = {
        **_padding(padding, x.ndim - 2), "strides": list(stride), "dilations": list(dilation), "groups": groups,
        "output_padding": list(output_padding or []),
    }  # fmt: skip
    if x.ndim == 3:
        found = _in_two(g, "conv2d_transpose", x, weight, attrs, [1, *size] if size else [])
    elif x.ndim == 4:
        found = g.op("conv2d_transpose", x, weight, size, meta=out, data_format="NCHW", **attrs)
    else:  # which calls its layout so, too
        found = g.op("conv3d_transpose", x, weight, meta=out, data_format="NCHW", output_size=size, **attrs)
    return _add_bias(g, found, bias)


def _pool(g: Emitter, x: Value, kind: str, kernel: Any, channel_last: bool, **attrs: Any) -> Value:
    """pool2d; of one dimension by way of two."""
    if channel_last:
        return _channels_first(g, _pool, x, kind, kernel, **attrs)
    given = {
        "strides": [1] * (x.ndim - 2), "padding_algorithm": "EXPLICIT", "paddings": [0] * (x.ndim - 2),
        "ceil_mode": False, "exclusive": True, "pooling_type": kind, "global_pooling": False, "adaptive": False,
        "data_format": "NCHW", **attrs,
    }  # fmt: skip
    kernel = list(kernel)
    if x.ndim == 4:
        return g.op("pool2d", x, kernel, meta=g.metas[0], **given)
    if x.ndim != 3:
        raise UnsupportedError("pooling over three dimensions has no form here")
    out = g.metas[0]
    pads = given["paddings"]
    given["strides"] = [1, *given["strides"]]
    given["paddings"] = [0, 0, *pads] if len(pads) == 2 else [0, *pads] if pads else []
    wide = Meta((*out.shape[:2], 1, *out.shape[2:]), out.dtype)
    return g.op("squeeze", g.op("pool2d", g.unsqueeze(x, [2]), [1, *kernel], meta=wide, **given), [2], meta=out)


@FORMS("max_pool")
def max_pool(
    g: Emitter, x: Value, *, kernel: Any, stride: Any, padding: Any, ceil_mode: bool, channel_last: bool
) -> Value:
    """pool2d."""
    pads = _padding(padding, x.ndim - 2)
    return _pool(g, x, "max", kernel, channel_last, strides=list(stride), ceil_mode=ceil_mode, **pads)


@FORMS("avg_pool")
def avg_pool(
    g: Emitter, x: Value, *, kernel: Any, stride: Any, padding: Any, ceil_mode: bool, channel_last: bool,
    exclusive: bool, divisor: float | None,
) -> Value:  # fmt: skip
    """pool2d."""
    if divisor is not None:
        raise UnsupportedError("a mean by another divisor than the window's size has no form in Paddle's programs")
    return _pool(
        g, x, "avg", kernel, channel_last, strides=list(stride), ceil_mode=ceil_mode, exclusive=exclusive,
        **_padding(padding, x.ndim - 2),
    )  # fmt: skip


@FORMS("adaptive_avg_pool")
def adaptive_avg_pool(g: Emitter, x: Value, *, output_size: Any, channel_last: bool) -> Value:
    """pool2d that is adaptive."""
    return _pool(g, x, "avg", _wanted(x, output_size, 1 if channel_last else 2), channel_last, adaptive=True)


@FORMS("adaptive_max_pool")
def adaptive_max_pool(g: Emitter, x: Value, *, output_size: Any) -> list[Any]:
    """max_pool2d_with_index that is adaptive."""
    if x.ndim != 4:
        raise UnsupportedError("adaptive pooling over other than two dimensions has no form here")
    out = g.metas[0]
    return g.ops(
        "max_pool2d_with_index", [x], [out, Meta(out.shape, as_dtype("int32"))], kernel_size=_wanted(x, output_size, 2),
        strides=[1, 1], paddings=[0, 0], global_pooling=False, adaptive=True, ceil_mode=False,
    )  # fmt: skip


def _wanted(x: Value, sizes: Any, lead: int) -> list[int]:
    found = [x.shape[lead + i] if s is None else s for i, s in enumerate(sizes)]
    if any(isinstance(s, Value) or s == UNKNOWN for s in found):
        raise UnsupportedError("an output size that only the run knows has no form in Paddle's programs")
    return found


# -- normalization -----------------------------------------------------------------------------------------------------


def _param(g: Emitter, value: Value | None, size: int, fill: float) -> Value:
    """A scale or shift, made of one number where the layer has none."""
    return g.full(fill, float32, [size]) if value is None else value


def _batch_norm(
    g: Emitter, given: Sequence[Any], *, channel: int, epsilon: float, momentum: float, training: bool
) -> list[Value]:
    """The outputs of batch_norm: y, the running statistics, those of the batch, and what gradients keep.

    Channels stand in the second dimension: after an operator that has them last, oneDNN takes other tensors of three
    dimensions for turned, too.
    """
    x, mean, variance, weight, bias = given
    size = mean.shape[0]
    stats = [Meta((size,), float32)] * 4
    if channel not in (1, x.ndim - 1):
        raise UnsupportedError("a batch norm over another dimension than the second or last has no form")
    if channel != 1:
        x = g.transpose(x, [0, channel, *range(1, channel)])
    held = [x, mean, variance, _param(g, weight, size, 1.0), _param(g, bias, size, 0.0)]
    found = g.ops(
        "batch_norm_", held, [x.meta, *stats, Meta((UNKNOWN,), as_dtype("uint8"))], is_test=not training,
        momentum=momentum, epsilon=epsilon, data_format="NCHW", use_global_stats=not training,
        trainable_statistics=training,  # paddle.inference sets is_test, whatever is written
    )  # fmt: skip
    if channel != 1:
        found[0] = g.transpose(found[0], [0, *range(2, x.ndim), 1])
    return found


@FORMS("batch_norm_infer")
def batch_norm_infer(
    g: Emitter, x: Value, mean: Value, variance: Value, weight: Value | None, bias: Value | None, *, channel: int,
    epsilon: float,
) -> Value:  # fmt: skip
    """batch_norm with the running statistics."""
    given = (x, mean, variance, weight, bias)
    return _batch_norm(g, given, channel=channel, epsilon=epsilon, momentum=0.9, training=False)[0]


@FORMS("batch_norm")
def batch_norm(
    g: Emitter, x: Value, running_mean: Value, running_var: Value, weight: Value | None, bias: Value | None, *,
    axes: Any, param_axes: Any, groups: int, epsilon: float, momentum: float,
) -> list[Any]:  # fmt: skip
    """batch_norm with the batch's statistics; it changes the running ones, or copies of what is no parameter."""
    running = [v if g.is_param(v) else g.op("assign", v) for v in (running_mean, running_var)]
    # paddle.inference makes one operator of a convolution and the batch norm behind it, by the running statistics.
    given = (x if g.old else g.op("assign", x), *running, weight, bias)
    found = _batch_norm(g, given, channel=param_axes[0], epsilon=epsilon, momentum=momentum, training=True)
    return [found[0], None, None, found[1], found[2]]


@FORMS("unless_single")
def unless_single(
    g: Emitter, x: Value, normalized: Value, mean: Value, new_mean: Value, variance: Value, new_variance: Value, *,
    axes: Any,
) -> list[Value]:  # fmt: skip
    """What batch_norm gave: Paddle's leaves single elements as they are, too."""
    return [normalized, new_mean, new_variance]


@FORMS("layer_norm")
def layer_norm(
    g: Emitter, x: Value, weight: Value | None, bias: Value | None, *, axes: Any, param_axes: Any, groups: int,
    epsilon: float,
) -> list[Any]:  # fmt: skip
    """layer_norm over the last dimensions."""
    begin = x.ndim - len(axes)
    if groups or list(axes) != list(range(begin, x.ndim)):
        raise UnsupportedError("a layer norm over other than the last dimensions has no form in Paddle's programs")
    flat = [None if p is None else p if p.ndim == 1 else g.reshape(p, [-1]) for p in (weight, bias)]
    stats = Meta(x.shape[:begin], float32)
    out = g.ops("layer_norm", [x, *flat], [x.meta, stats, stats], epsilon=epsilon, begin_norm_axis=begin)[0]
    return [out, None, None]


@FORMS("group_norm")
def group_norm(
    g: Emitter, x: Value, weight: Value | None, bias: Value | None, *, axes: Any, param_axes: Any, groups: int,
    epsilon: float,
) -> list[Any]:  # fmt: skip
    """group_norm."""
    if param_axes[0] not in (1, x.ndim - 1):
        raise UnsupportedError("a group norm over another dimension than the second or last has no form")
    stats = Meta((x.shape[0], groups), float32)
    last = param_axes[0] != 1
    if last:
        x = g.transpose(x, [0, x.ndim - 1, *range(1, x.ndim - 1)])
    out = g.ops(
        "group_norm", [x, weight, bias], [x.meta, stats, stats], epsilon=epsilon, groups=groups, data_format="NCHW"
    )[0]  # fmt: skip
    return [g.transpose(out, [0, *range(2, x.ndim), 1]) if last else out, None, None]


@FORMS("instance_norm")
def instance_norm(
    g: Emitter, x: Value, weight: Value | None, bias: Value | None, *, axes: Any, param_axes: Any, groups: int,
    epsilon: float,
) -> list[Any]:  # fmt: skip
    """instance_norm with channels in dimension 1."""
    if list(axes) != list(range(2, x.ndim)) or x.ndim not in (4, 5):
        raise UnsupportedError("an instance norm with channels in another dimension has no form in Paddle's programs")
    size = x.shape[1]
    stats = Meta((UNKNOWN,), float32)
    given = [x, _param(g, weight, size, 1.0), _param(g, bias, size, 0.0)]
    return [g.ops("instance_norm", given, [x.meta, stats, stats], epsilon=epsilon)[0], None, None]


# -- the rest ----------------------------------------------------------------------------------------------------------


@FORMS("prelu")
def prelu(g: Emitter, x: Value, weight: Value) -> Value:
    """where x is positive x, else x times the slope."""
    zero = g.full(0, x.dtype)
    slope = g.op("multiply", g.op("minimum", x, zero, meta=x.meta), weight, meta=x.meta)
    return g.op("add", g.op("maximum", x, zero, meta=x.meta), slope)


@FORMS("pad")
def pad(g: Emitter, x: Value, *, pads: Any, mode: str, value: Any) -> Value:
    """pad by a constant; the others as pad3d of five dimensions."""
    if not isinstance(pads, (list, tuple)):
        raise UnsupportedError("padding by a tensor has no form in Paddle's programs")
    if any(isinstance(p, Value) for p in pads):
        return _padded_at_run(g, x, pads, mode, value)
    if mode == "constant":
        # In float64, for oneDNN, which has only float32, writes outside of what it pads.
        wide = g.cast(x, float64) if x.dtype is float32 else x
        out = Meta(g.metas[0].shape, wide.dtype)
        return g.cast(g.op("pad", wide, float(value), meta=out, paddings=[int(p) for p in pads]), x.dtype)
    spatial = max(x.ndim - next((i for i, p in enumerate(pads) if p), 0) // 2, 0)
    if spatial > 3 or x.ndim > 5:
        raise UnsupportedError(f"padding by {mode!r} of other than the last three of five dimensions has no form")
    # New dimensions of size 1 stand before those that are padded, then in front.
    at = min(2, x.ndim - spatial)
    new = list(range(at, at + 5 - x.ndim))
    wide, out = g.unsqueeze(x, new), g.metas[0]
    sizes = [*out.shape[:at], *[1] * len(new), *out.shape[at:]]
    border = [int(p) for pair in zip(pads[-2::-2], pads[-1::-2]) for p in pair][: 2 * min(3, x.ndim)]
    border += [0] * (6 - len(border))
    found = g.op("pad3d", wide, border, meta=Meta(tuple(sizes), x.dtype), mode=mode, pad_value=0.0, data_format="NCDHW")
    return g.op("squeeze", found, new, meta=out) if new else found


def _padded_at_run(g: Emitter, x: Value, pads: Any, mode: str, value: Any) -> Value:
    """slice and concat with constants, one dimension after the other: pad takes no widths that only the run knows."""
    if mode != "constant":
        raise UnsupportedError(f"padding by {mode!r} that only the run knows has no form in Paddle's programs")
    out = x
    for axis, widths in enumerate(zip(pads[::2], pads[1::2])):
        out = _cropped(g, out, axis, [_above_zero(g, width, -1) for width in widths])
        before, after = (_border(g, out, axis, _above_zero(g, width, 1), value) for width in widths)
        parts = [*before, out, *after]
        shape = (*out.shape[:axis], g.metas[0].shape[axis], *out.shape[axis + 1 :])
        out = g.op("concat", parts, axis, meta=Meta(shape, x.dtype)) if len(parts) > 1 else out
    return out


def _above_zero(g: Emitter, width: Any, sign: int) -> Any:
    """A width, or with sign -1 what it takes away; 0 where it does the other."""
    if not isinstance(width, Value):
        return max(sign * int(width), 0)
    turned = width if sign > 0 else g.op("scale", width, -1.0, bias=0.0, bias_after_scale=True)
    return g.op("maximum", turned, g.full(0, width.dtype), meta=width.meta)


def _cropped(g: Emitter, x: Value, axis: int, widths: Sequence[Any]) -> Value:
    """x without so many elements at the beginning and the end of a dimension."""
    start, less = widths
    if not any(isinstance(w, Value) or w for w in widths):
        return x
    end = g.size(x, axis)
    if isinstance(less, Value) or isinstance(end, Value):
        whole, less = (v if isinstance(v, Value) else g.full(v, int64) for v in (end, less))
        end = g.op("subtract", whole, g.cast(less, int64), meta=Meta((), int64))
    else:
        end = end - less
    meta = Meta((*x.shape[:axis], UNKNOWN, *x.shape[axis + 1 :]), x.dtype)
    bounds = [g.sizes([v]) for v in (start, end)]
    return g.op("slice", x, *bounds, meta=meta, axes=[axis], infer_flags=[-1], decrease_axis=[])


def _border(g: Emitter, x: Value, axis: int, width: Any, value: Any) -> list[Value]:
    """A constant as long as x but along one dimension; none of no width."""
    if not isinstance(width, Value) and width == 0:
        return []
    sizes = [width if i == axis else g.size(x, i) for i in range(x.ndim)]
    shape = [UNKNOWN if isinstance(s, Value) else s for s in sizes]
    return [g.expand(g.full(value, x.dtype), g.sizes(sizes), shape)]


@FORMS("resize")
def resize(
    g: Emitter, x: Value, *, first: int, sizes: Any, scales: Any, kind: str, align_corners: bool, align_mode: int
) -> Value:
    """One of the interp operators, with dimensions of size 1 for those that it wants and x has not."""
    if kind not in _RESIZERS:
        raise UnsupportedError(f"resizing {kind!r} has no form in Paddle's programs")
    if not all(isinstance(scale, float) for scale in scales):
        raise UnsupportedError("resizing by a factor that only a run knows has no form in Paddle's programs")
    way = _RESIZERS[kind] if not g.old or kind != "linear" or x.ndim != 4 else _PLANE
    last = g.metas[0]
    if first == 1:
        x = g.transpose(x, [0, x.ndim - 1, *range(1, x.ndim - 1)])
        last = Meta((last.shape[0], last.shape[-1], *last.shape[1:-1]), last.dtype)
    more = max(way.spatial - (x.ndim - 2), 0)
    wide = Meta((*last.shape[:2], *[1] * more, *last.shape[2:]), last.dtype)
    given, wanted = None, [1] * more + [-1] * (x.ndim - 2)
    if sizes is not None:
        wanted = [1] * more + list(sizes)
    if any(isinstance(s, Value) for s in wanted):
        given, wanted = g.cast(g.sizes(wanted), as_dtype("int32")), [-1] * len(wanted)
    depth, height, width = (-1, *wanted) if len(wanted) == 2 else wanted
    # On CPUs programs are given to oneDNN, whose bilinear_interp and nearest_interp Paddle 3.3 fails to start in
    # `.json`, and whose nearest_interp rounds otherwise. It has neither one of three dimensions nor one of float64.
    computed = as_dtype("float64") if kind == "nearest" else x.dtype
    found = g.op(
        way.op, g.cast(g.unsqueeze(x, range(2, 2 + more)), computed), given, None, None,
        meta=Meta(wide.shape, computed), data_format="NCHW", out_d=depth,
        out_h=height, out_w=width, scale=[1.0] * more + [float(s) for s in scales] if sizes is None else [],
        interp_method=way.method, align_corners=align_corners, align_mode=align_mode,
    )  # fmt: skip
    found = g.cast(found, last.dtype)
    if more:
        found = g.op("squeeze", found, [*range(2, 2 + more)], meta=last)
    return g.transpose(found, [0, *range(2, last.ndim), 1]) if first == 1 else found


@dataclass(frozen=True)
class _Resizer:
    """An operator that resizes, what it is told to do, and the fewest dimensions it takes beside batch and channels."""

    op: str
    method: str
    spatial: int


_PLANE = _Resizer("bilinear_interp", "bilinear", 2)
_RESIZERS = {
    "nearest": _Resizer("nearest_interp", "nearest", 2),
    "linear": _Resizer("trilinear_interp", "trilinear", 3),
    "cubic": _Resizer("bicubic_interp", "bicubic", 2),
}
