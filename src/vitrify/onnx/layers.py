"""ONNX forms of the ops that layers are made of: convolution, pooling, normalization, resizing, losses."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtype import bool_, float32, int64
from ..core.errors import UnsupportedError
from ..core.meta import UNKNOWN
from ..core.sequences import as_list
from ..ops.bins import even_bins
from ..ops.norm_kernel import Layout
from ..ops.sliding_window import window_counts
from .graph import Value
from .scalars import OnnxScalars
from .table import FORMS, Context
from .tensors import above_diagonal, known_sizes, to_channel_first, to_channel_last

# -- convolution -------------------------------------------------------------------------------------------------------


def _window(padding: Any, dilation: Any, **attrs: Any) -> dict[str, Any]:
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
    attrs = _window(padding, dilation, strides=list(stride), group=groups)
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
    attrs = _window(padding, dilation, strides=list(stride), group=groups, output_padding=extra)
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


# -- pooling -----------------------------------------------------------------------------------------------------------


def _pooled(g: Context, op: str, x: Value, channel_last: bool, dtypes: list[Any], attrs: dict[str, Any]) -> list[Value]:
    first = to_channel_first(g, x) if channel_last else x
    outs = g.nodes_of(op, [first], dtypes, **attrs)
    return [to_channel_last(g, out, x.ndim) if channel_last else out for out in outs]


def _ceil(x: Value, kernel: Any, stride: Any, padding: Any, ceil_mode: bool, channel_last: bool) -> int | None:
    """ONNX's ceil_mode; it leaves out a last window that lies in the padding alone, which we keep, and has no other."""
    if padding != "SAME" and any(max(pads) >= k for pads, k in zip(padding, kernel)):
        raise UnsupportedError("ONNX pools no window that lies in the padding alone", hint="pad less than the window")
    if not ceil_mode:
        return None
    if padding != "SAME":
        n = len(kernel)
        sizes = known_sizes(x, range(1, n + 1) if channel_last else range(2, n + 2), "pooling with ceil_mode")
        counts = window_counts(tuple(sizes), kernel, stride, padding, (1,) * n, True)
        if any((c - 1) * st >= s + lo for c, st, s, (lo, _) in zip(counts, stride, sizes, padding)):
            raise UnsupportedError("ONNX pools no window that lies in the padding alone", hint="use ceil_mode=False")
    return 1


@FORMS("max_pool")
def max_pool(
    g: Context, x: Value, *, kernel: Any, stride: Any, padding: Any, ceil_mode: bool, channel_last: bool
) -> Value:
    """MaxPool."""
    ceil = _ceil(x, kernel, stride, padding, ceil_mode, channel_last)
    attrs = _window(padding, None, kernel_shape=list(kernel), strides=list(stride), ceil_mode=ceil)
    return _pooled(g, "MaxPool", x, channel_last, [x.dtype], attrs)[0]


@FORMS("max_pool_with_index")
def max_pool_with_index(
    g: Context, x: Value, *, kernel: Any, stride: Any, padding: Any, ceil_mode: bool, channel_last: bool
) -> list[Value]:
    """MaxPool; the places of ONNX count through the whole tensor, ours through a plane."""
    sizes = [g.size(x, axis) for axis in (range(1, x.ndim - 1) if channel_last else range(2, x.ndim))]
    ceil = _ceil(x, kernel, stride, padding, ceil_mode, channel_last)
    attrs = _window(padding, None, kernel_shape=list(kernel), strides=list(stride), ceil_mode=ceil)
    out, places = _pooled(g, "MaxPool", x, channel_last, [x.dtype, int64], attrs)
    plane = sizes[0]
    for size in sizes[1:]:
        plane = plane * size if isinstance(plane, Value) or not isinstance(size, Value) else size * plane
    return [out, g.both("Mod", places, plane)]


@FORMS("avg_pool")
def avg_pool(
    g: Context, x: Value, *, kernel: Any, stride: Any, padding: Any, ceil_mode: bool, channel_last: bool,
    exclusive: bool, divisor: float | None,
) -> Value:  # fmt: skip
    """AveragePool; another divisor than the window's size scales the result."""
    if ceil_mode and not exclusive:
        raise UnsupportedError("runtimes differ in how AveragePool with ceil_mode counts the padding")
    ceil = _ceil(x, kernel, stride, padding, ceil_mode, channel_last)
    whole = int(not exclusive)
    attrs = _window(
        padding, None, kernel_shape=list(kernel), strides=list(stride), ceil_mode=ceil, count_include_pad=whole
    )
    out = _pooled(g, "AveragePool", x, channel_last, [x.dtype], attrs)[0]
    return out if divisor is None else out * (float(np.prod(kernel)) / divisor)


def _pooled_nothing(g: Context, x: Value, axes: range, output_size: Any) -> Value | None:
    """NaN, as means and maxima of nothing are, where a pooled dimension is known to have no elements; else None."""
    assert x.shape is not None
    if not any(x.shape[axis] == 0 for axis in axes):
        return None
    wanted = {axis: size for axis, size in zip(axes, output_size) if size is not None}
    sizes = [wanted.get(axis, g.size(x, axis)) for axis in range(x.ndim)]
    return g.node("Expand", g.constant(float("nan"), x.dtype), g.ints(sizes))


@FORMS("adaptive_avg_pool")
def adaptive_avg_pool(g: Context, x: Value, *, output_size: Any, channel_last: bool) -> Value:
    """ReduceMean to one element; else each dimension times a matrix of means."""
    lead = 1 if channel_last else 2
    axes = range(lead, lead + len(output_size))
    nothing = _pooled_nothing(g, x, axes, output_size)
    if nothing is not None:
        return nothing
    if all(isinstance(o, int) and o == 1 for o in output_size):
        return g.reduce("ReduceMean", x, list(axes), True)
    out = x
    for axis, wanted in zip(axes, output_size):
        (size,) = known_sizes(x, (axis,), "adaptive pooling")
        if isinstance(wanted, Value):
            raise UnsupportedError("an output size known only at run time has no ONNX form")
        bins = even_bins(size, size if wanted is None else wanted)
        if len(bins) == size:
            continue
        means = np.zeros((size, len(bins)), np.float32)
        for column, (start, stop) in enumerate(bins):
            means[start:stop, column] = 1 / (stop - start)
        perm = [*[i for i in range(x.ndim) if i != axis], axis]
        product = g.node("MatMul", g.transpose(out, perm), g.constant(means.astype(x.dtype.np)))
        out = g.transpose(product, [perm.index(i) for i in range(x.ndim)])
    return out if out is not x else g.node("Identity", x)


@FORMS("adaptive_max_pool")
def adaptive_max_pool(g: Context, x: Value, *, output_size: Any) -> list[Value | None]:
    """ReduceMax of each bin."""
    if 1 in g.wanted:
        raise UnsupportedError("the places of adaptive_max_pool have no ONNX form", hint="use return_mask=False")
    axes = range(2, 2 + len(output_size))
    nothing = _pooled_nothing(g, x, axes, output_size)
    if nothing is not None:
        return [nothing, None]
    out = x
    for axis, wanted in zip(axes, output_size):
        if isinstance(wanted, Value):
            raise UnsupportedError("an output size known only at run time has no ONNX form")
        if wanted == 1:
            out = g.reduce("ReduceMax", out, [axis], True)
            continue
        (size,) = known_sizes(x, (axis,), "adaptive pooling")
        bins = even_bins(size, size if wanted is None else wanted)
        parts = [g.reduce("ReduceMax", g.slice(out, axis, a, b), [axis], True) for a, b in bins]
        out = g.node("Concat", *parts, axis=axis) if parts else g.slice(out, axis, 0, 0)
    return [out, None]


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
        factors = g.constant([1.0, 1.0, *[float(s) for s in scales]], float32)
        return g.node("Resize", x, None, factors, **attrs)
    target = g.ints([g.size(given, 0), g.size(given, 1), *as_list(sizes)])
    return g.node("Resize", x, None, None, target, **attrs)


# A cubic's weights half an element before the first one, which stands for those before it too.
_FIRST, _SECOND = 1.09375, -0.09375


def _single_elements(g: Context, x: Value, sizes: Any, scales: Any) -> tuple[Value, Any]:
    """x with one element along the dimensions that are to have one, and factors that keep it: ONNX takes the first."""
    left, given = list(scales), x
    wanted = [None] * len(left) if sizes is None else as_list(sizes)
    for at, (scale, size) in enumerate(zip(scales, wanted)):
        before = g.size(given, 2 + at)
        after = int(before * scale) if size is None and isinstance(before, int) else size
        if isinstance(after, Value) or after != 1:
            continue
        second = g.node("Min", g.scalar(before) - 1, g.constant(1, int64))
        x = g.slice(x, 2 + at, 0, 1) * _FIRST + g.node("Gather", x, g.reshape(second, [1]), axis=2 + at) * _SECOND
        left[at] = 1.0
    return x, left


def _channels_first(g: Context, x: Value, sizes: Any, scales: Any, kind: str, corners: bool, mode: int) -> Value:
    moved = to_channel_first(g, x)
    shape = x.shape or ()
    turned = Value(g, moved.name, x.dtype, (shape[0], shape[-1], *shape[1:-1]))
    out = resize(g, turned, first=2, sizes=sizes, scales=scales, kind=kind, align_corners=corners, align_mode=mode)
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
