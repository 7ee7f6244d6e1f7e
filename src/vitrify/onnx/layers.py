"""ONNX forms of the ops that layers are made of: convolution, normalization, resizing, losses."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtype import bool_, float32, int64
from ..core.errors import UnsupportedError
from ..core.meta import UNKNOWN
from ..core.sequences import as_list
from ..ops.norm_kernel import Layout
from .graph import Value
from .scalars import OnnxScalars
from .table import FORMS, Context
from .tensors import above_diagonal, known_sizes, to_channel_first, to_channel_last

# -- convolution -------------------------------------------------------------------------------------------------------


def window_attrs(padding: Any, dilation: Any, **attrs: Any) -> dict[str, Any]:
    """Padding as ONNX says it; "SAME" takes no dilation, as in Paddle."""
    if padding == "SAME":
        return {"auto_pad": "SAME_UPPER", **attrs}
    pads = [lo for lo, _ in padding] + [hi for _, hi in padding]
    return {"pads": pads, "dilations": None if dilation is None else list(dilation), **attrs}


@FORMS("conv")
def conv(
    g: Context, x: Value, weight: Value, bias: Value | None, *, stride: Any, padding: Any, dilation: Any, groups: int,
    channel_last: bool,
) -> Value:  # fmt: skip
    """Conv, between transpositions where channels come last."""
    first = to_channel_first(g, x) if channel_last else x
    attrs = window_attrs(padding, dilation, strides=list(stride), group=groups)
    out = g.node("Conv", first, weight, bias, **attrs)
    return to_channel_last(g, out, x.ndim) if channel_last else out


@FORMS("conv_transpose")
def conv_transpose(
    g: Context, x: Value, weight: Value, bias: Value | None, *, stride: Any, padding: Any, output_padding: Any,
    output_size: Any, dilation: Any, groups: int, channel_last: bool,
) -> Value:  # fmt: skip
    """ConvTranspose; a wanted output size is reached by output padding."""
    first = to_channel_first(g, x) if channel_last else x
    extra = list(output_padding)
    if output_size is not None:
        extra = _output_padding(x, weight, stride, padding, output_size, dilation, channel_last)
    if any(e >= s for e, s in zip(extra, stride)):
        raise UnsupportedError("ConvTranspose pads its output by less than a stride")
    attrs = window_attrs(padding, dilation, strides=list(stride), group=groups, output_padding=extra)
    out = g.node("ConvTranspose", first, weight, bias, **attrs)
    return to_channel_last(g, out, x.ndim) if channel_last else out


def _output_padding(
    x: Value, weight: Value, stride: Any, padding: Any, output_size: Any, dilation: Any, channel_last: bool
) -> list[int]:
    n = len(stride)
    sizes = known_sizes(x, range(1, n + 1) if channel_last else range(2, n + 2), "output_size")
    wanted = as_list(output_size)
    kernel = known_sizes(weight, range(2, n + 2), "output_size")
    if any(isinstance(w, Value) for w in wanted):
        raise UnsupportedError("an output size known only at run time has no ONNX form")
    smallest = [
        (s - 1) * st - lo - hi + (k - 1) * d + 1
        for s, st, (lo, hi), k, d in zip(sizes, stride, padding, kernel, dilation)
    ]
    return [w - s for w, s in zip(wanted, smallest)]


# -- normalization -----------------------------------------------------------------------------------------------------


@FORMS("batch_norm_infer")
def batch_norm_infer(
    g: Context, x: Value, mean: Value, variance: Value, weight: Value | None, bias: Value | None, *, channel: int,
    epsilon: float,
) -> Value:  # fmt: skip
    """BatchNormalization with the running statistics."""
    perm = [0, channel, *[i for i in range(1, x.ndim) if i != channel]] if channel else [0]
    if not channel:
        raise UnsupportedError("BatchNormalization takes channels in dimension 1")
    stats = mean.dtype
    scale = g.node("Expand", g.constant(1, x.dtype), g.sizes(mean)) if weight is None else weight
    shift = g.node("Expand", g.constant(0, x.dtype), g.sizes(mean)) if bias is None else bias
    if x.dtype.itemsize == 2:  # computed in float32, as we do
        wide = [v.cast(stats) for v in (g.transpose(x, perm), scale, shift)]
        out = g.node("BatchNormalization", *wide, mean, variance, epsilon=epsilon)
    else:
        given = [v.cast(x.dtype) for v in (scale, shift, mean, variance)]
        out = g.node("BatchNormalization", g.transpose(x, perm), *given, epsilon=epsilon)
    return g.transpose(out, [perm.index(i) for i in range(x.ndim)]).cast(x.dtype)


@FORMS("layer_norm", "group_norm", "instance_norm", "rms_norm")
def normalize(
    g: Context, x: Value, weight: Value | None, bias: Value | None, *, axes: Any, param_axes: Any, groups: int,
    epsilon: float,
) -> list[Value | None]:  # fmt: skip
    """LayerNormalization where it says the same; else the mean and the mean of squares."""
    centered = g.op_name != "rms_norm"
    layout = Layout(tuple(axes), tuple(param_axes), groups)
    trailing = list(axes) == list(range(x.ndim - len(axes), x.ndim))
    if centered and not groups and trailing and tuple(axes) == tuple(param_axes) and weight is not None:
        return _layer_normalization(g, x, weight, bias, axes, epsilon)
    wide = x.cast(float32) if x.dtype.itemsize == 2 else x
    if groups:
        at = param_axes[0]
        (channels,) = known_sizes(x, (at,), "group_norm")
        sizes = [g.size(x, i) for i in range(x.ndim)]
        wide = g.node("Reshape", wide, g.ints([*sizes[:at], groups, channels // groups, *sizes[at + 1 :]]))
    scalars = OnnxScalars(g)
    mean = g.reduce("ReduceMean", wide, list(axes), True)
    flat = wide - mean if centered else wide
    rstd = scalars.rsqrt(g.reduce("ReduceMean", flat * flat, list(axes), True) + epsilon)
    out = flat * rstd
    shape = layout.param_shape(x.shape or ())
    for param, op in ((weight, "Mul"), (bias, "Add")):
        if param is not None:
            out = g.node(op, out, g.reshape(param.cast(out.dtype), _param_sizes(g, x, shape)))
    if groups:
        out = g.node("Reshape", out, g.sizes(x), allowzero=1)
    return [out.cast(x.dtype), mean, rstd] if centered else [out.cast(x.dtype), rstd]


def _param_sizes(g: Context, x: Value, shape: Any) -> list[Any]:
    """The shape in which a parameter broadcasts; one unknown size is what remains."""
    if shape.count(UNKNOWN) < 2:
        return list(shape)
    return [g.size(x, i) if s == UNKNOWN else s for i, s in enumerate(shape)]


def _layer_normalization(
    g: Context, x: Value, weight: Value, bias: Value | None, axes: Any, epsilon: float
) -> list[Value | None]:
    shape = [g.size(x, a) for a in axes]
    params = [None if p is None else p.cast(x.dtype) for p in (weight, bias)]
    if len(axes) > 1:
        params = [None if p is None else g.reshape(p, shape) for p in params]
    dtypes = [x.dtype, float32 if 1 in g.wanted else None, float32 if 2 in g.wanted else None]
    wide = [v for v in dtypes if v is not None]
    if x.dtype.itemsize > 4 and len(wide) > 1:
        raise UnsupportedError("LayerNormalization gives its statistics in float32 only")
    outs = g.nodes_of("LayerNormalization", [x, *params], dtypes, axis=axes[0], epsilon=epsilon)
    found = iter(outs)
    return [None if d is None else next(found) for d in dtypes]


@FORMS("softmax")
def softmax(g: Context, x: Value, *, axis: int) -> Value:
    """Softmax."""
    return _by_axis(g, "Softmax", x, axis)


@FORMS("log_softmax")
def log_softmax(g: Context, x: Value, *, axis: int) -> Value:
    """LogSoftmax."""
    return _by_axis(g, "LogSoftmax", x, axis)


@FORMS("long_attention")
def long_attention(g: Context, q: Value, k: Value, v: Value, mask: Value | None, *, is_causal: bool) -> list[Value]:
    """MatMul, Softmax and MatMul, with all scores at once."""
    scores = g.node("MatMul", q, g.transpose(k, [0, 1, 3, 2]))
    if is_causal:
        hidden = above_diagonal(g, g.size(q, 2), g.size(k, 2))
        scores = g.where(hidden, g.constant(float("-inf"), scores.dtype), scores)
    elif mask is not None and mask.dtype == bool_:
        scores = g.where(mask, scores, g.constant(float("-inf"), scores.dtype))
    elif mask is not None:
        scores = scores + mask
    out = g.node("MatMul", g.node("Softmax", scores, axis=-1), v)
    return [out, g.reduce("ReduceLogSumExp", scores, [3], False)]


def _by_axis(g: Context, op: str, x: Value, axis: int) -> Value:
    if x.ndim:
        return g.node(op, x, axis=axis)
    return g.reshape(g.node(op, g.reshape(x, [1]), axis=0), [])


@FORMS("softmax_cross_entropy")
def softmax_cross_entropy(
    g: Context, logits: Value, label: Value, *, axis: int, soft_label: bool, ignore_index: int
) -> list[Value | None]:
    """LogSoftmax, picked at the labels by GatherElements or weighted by soft ones."""
    logs = g.node("LogSoftmax", logits, axis=axis)
    probabilities = g.node("Softmax", logits, axis=axis) if 1 in g.wanted else None
    if soft_label:
        return [-g.reduce("ReduceSum", logs * label, [axis], True), probabilities]
    wide = label.cast(int64)
    given = wide if label.ndim == logits.ndim else g.unsqueeze(wide, [axis])
    kept = given != ignore_index
    picked = g.node("GatherElements", logs, g.where(kept, given, 0), axis=axis)
    return [g.where(kept, -picked, g.constant(0, logits.dtype)), probabilities]


# -- resizing ----------------------------------------------------------------------------------------------------------


@FORMS("resize")
def resize(
    g: Context, x: Value, *, first: int, sizes: Any, scales: Any, kind: str, align_corners: bool, align_mode: int
) -> Value:
    """Resize; the nearest element by Gather, for runtimes differ in how they round."""
    axes = list(range(first, first + len(scales)))
    if not all(isinstance(scale, float) for scale in scales):
        raise UnsupportedError("resizing by a factor that only a run knows has no form in ONNX: give sizes")
    before = [UNKNOWN if x.shape is None else x.shape[axis] for axis in axes]
    if sizes is None and UNKNOWN not in before and all(int(b * s) == b for b, s in zip(before, scales)):
        return x  # no matter what the factors are, as in Paddle
    if kind == "nearest":
        return _nearest(g, x, axes, sizes, scales, align_corners)
    if kind not in ("linear", "cubic"):
        raise UnsupportedError(f"resizing {kind!r} has no form in ONNX's opset 17")
    mode = "align_corners" if align_corners else "asymmetric" if align_mode == 1 and kind == "linear" else ""
    attrs = {
        "mode": kind,
        "coordinate_transformation_mode": mode or ("pytorch_half_pixel" if len(scales) == 2 else "half_pixel"),
        "cubic_coeff_a": -0.75 if kind == "cubic" else None,
    }
    if first != 2:
        return _channels_first(g, x, sizes, scales, kind, align_corners, align_mode)
    given = x
    if kind == "cubic" and not align_corners:
        x, scales = _single_elements(g, x, sizes, scales)
    if sizes is None:
        return g.node("Resize", x, None, _factors(g, scales), **attrs)
    target = g.ints([g.size(given, 0), g.size(given, 1), *as_list(sizes)])
    return g.node("Resize", x, None, None, target, **attrs)


def _factors(g: Context, scales: Any) -> Value:
    """The factors of all dimensions: a constant, unless the run decides some."""
    if not any(isinstance(s, Value) for s in scales):
        return g.constant([1.0, 1.0, *[float(s) for s in scales]], float32)
    parts = [s if isinstance(s, Value) else g.constant(float(s), float32) for s in scales]
    return g.node("Concat", g.constant([1.0, 1.0], float32), *[g.reshape(p, [1]) for p in parts], axis=0)


# A cubic's weights half an element before the first one, which stands for those before it too.
_FIRST, _SECOND = 1.09375, -0.09375


def _single_elements(g: Context, x: Value, sizes: Any, scales: Any) -> tuple[Value, Any]:
    """x with one element along the dimensions that are to have one, and factors that keep it: ONNX takes the first."""
    left, given = list(scales), x
    wanted = [None] * len(left) if sizes is None else as_list(sizes)
    for at, (scale, size) in enumerate(zip(scales, wanted)):
        before = g.size(given, 2 + at)
        after = _scaled(g, before, scale) if size is None else size
        if isinstance(after, Value):
            if size is not None or scale < 1:  # a factor of 1 or more gives one element to what has one alone
                x, left[at] = _where_single(g, x, 2 + at, before, g.scalar(after) == 1, scale)
        elif after == 1:
            x, left[at] = g.slice(x, 2 + at, 0, 1) * _FIRST + _second(g, x, 2 + at, before) * _SECOND, 1.0
    return x, left


def _scaled(g: Context, size: Any, scale: float) -> Any:
    """How many elements a factor makes of a dimension's."""
    if isinstance(size, int):
        return int(size * scale)
    return g.node("Floor", g.scalar(size).cast("float64") * scale).cast(int64)


def _second(g: Context, x: Value, axis: int, size: Any) -> Value:
    """The second element along a dimension, or the first where there is no other."""
    second = g.node("Min", g.scalar(size) - 1, g.constant(1, int64))
    return g.node("Gather", x, g.reshape(second, [1]), axis=axis)


def _where_single(g: Context, x: Value, axis: int, size: Any, single: Value, scale: float) -> tuple[Value, Value]:
    """The same where the run knows whether there is to be one element: x whole, and its own factor, where not."""
    first = g.slice(x, axis, 0, g.where(single, g.constant(1, int64), g.scalar(size)))
    shares = [g.where(single, g.constant(share, x.dtype), g.constant(1 - at, x.dtype))
              for at, share in enumerate((_FIRST, _SECOND))]  # fmt: skip
    second = g.where(single, _second(g, x, axis, size) * shares[1], g.constant(0, x.dtype))
    return first * shares[0] + second, g.where(single, g.constant(1, float32), g.constant(scale, float32))


def _channels_first(g: Context, x: Value, sizes: Any, scales: Any, kind: str, corners: bool, mode: int) -> Value:
    moved = to_channel_first(g, x)
    shape = x.shape or ()
    turned = Value(g, moved.name, x.dtype, (shape[0], shape[-1], *shape[1:-1]))
    if kind == "cubic":  # else ONNX Runtime moves the transposition behind the Resize, and refuses what that becomes
        turned = Value(g, g.node("Reshape", turned, g.ints([1, -1, 0, 0])).name, x.dtype, (1, UNKNOWN, *shape[1:-1]))
    out = resize(g, turned, first=2, sizes=sizes, scales=scales, kind=kind, align_corners=corners, align_mode=mode)
    if kind == "cubic":
        out = g.node("Reshape", out, g.ints([g.size(x, 0), g.size(x, x.ndim - 1), 0, 0]))
    return to_channel_last(g, out, x.ndim)


def _nearest(g: Context, x: Value, axes: list[int], sizes: Any, scales: Any, align_corners: bool) -> Value:
    out = x
    for at, (axis, scale) in enumerate(zip(axes, scales)):
        size = g.size(x, axis)
        wanted = None if sizes is None else sizes[at] if isinstance(sizes, (list, tuple)) else sizes
        if isinstance(size, int) and not isinstance(wanted, Value):
            count = int(size * scale) if wanted is None else wanted
            ratio = _ratio(size, count, scale, align_corners)
            places = np.minimum(np.floor(np.arange(count) * ratio).astype(np.int64), size - 1)
            out = g.gather(out, g.constant(places), axis)
        else:
            out = g.gather(out, _nearest_places(g, g.scalar(size), wanted, scale, align_corners), axis)
    return out


def _ratio(size: int, count: int, scale: float, align_corners: bool) -> float:
    if count <= 1:
        return 0.0
    if align_corners:
        return (size - 1) / (count - 1)
    return 1.0 / scale if scale else size / count


def _nearest_places(g: Context, size: Value, wanted: Any, scale: float, align_corners: bool) -> Value:
    wide = size.cast("float64")
    count = g.node("Floor", wide * scale).cast(int64) if wanted is None else g.scalar(wanted)
    if align_corners:
        ratio = (wide - 1) / g.node("Max", count - 1, g.constant(1)).cast("float64")
    else:
        ratio = g.constant(1.0 / scale, "float64") if scale else wide / count.cast("float64")
    ratio = g.where(count <= 1, 0, ratio)
    places = g.node("Floor", g.arange(count).cast("float64") * ratio).cast(int64)
    return g.node("Min", places, size - 1)
