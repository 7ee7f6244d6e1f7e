"""What the operators of Paddle's layers mean here: convolution, pooling, normalization, activations, losses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.errors import UnsupportedError
from ..ir.known_values import as_tensor, known_ints, optional_tensor, sizes_argument
from ..ops import functions as F
from ..ops import patches
from ..ops.normalization import rms_norm
from .operator_table import known_number, known_numbers, number, reads

# -- activations -------------------------------------------------------------------------------------------------------


def _activation(theirs: str, function: Any, **names: str) -> None:
    """Let an operator be a function of ours, whose parameters are called otherwise."""

    def read(x: Any, **attrs: Any) -> Any:
        return function(as_tensor(x), **{names[key]: value for key, value in attrs.items()})

    reads.enter(theirs, read, names)


_activation("elu", F.elu, alpha="alpha")
_activation("celu", F.celu, alpha="alpha")
_activation("selu", F.selu, scale="scale", alpha="alpha")
_activation("gelu", F.gelu, approximate="approximate")
_activation("mish", F.mish)
_activation("leaky_relu", F.leaky_relu, negative_slope="negative_slope")
_activation("hardsigmoid", F.hardsigmoid, slope="slope", offset="offset")
_activation("hardtanh", F.hardtanh, t_min="min", t_max="max")
_activation("hardshrink", F.hardshrink, threshold="threshold")
_activation("softshrink", F.softshrink, threshold="threshold")
_activation("thresholded_relu", F.thresholded_relu, threshold="threshold", value="value")
_activation("softplus", F.softplus, beta="beta", threshold="threshold")
_activation("softmax", F.softmax, axis="axis")
_activation("log_softmax", F.log_softmax, axis="axis")
_activation("logit", F.logit, eps="eps")
_activation("pixel_shuffle", F.pixel_shuffle, upscale_factor="upscale_factor", data_format="data_format")


@reads("hardswish")
def hardswish(x: Any, *, threshold: float = 6.0, scale: float = 6.0, offset: float = 3.0) -> Any:
    """x * clip(x + offset, 0, threshold) / scale."""
    x = as_tensor(x)
    if (threshold, scale, offset) == (6.0, 6.0, 3.0):
        return F.hardswish(x)
    return x * F.clip(x + offset, 0.0, threshold) / scale


@reads("prelu")
def prelu(x: Any, alpha: Any, *, data_format: str = "NCHW", mode: str = "all") -> Any:
    """x, times a slope below zero."""
    if mode == "element":
        x = as_tensor(x)
        return F.where(x > 0, x, x * as_tensor(alpha))
    return F.prelu(as_tensor(x), F.flatten(as_tensor(alpha)), data_format=data_format)


@reads("dropout")
def dropout(
    x: Any, seed: Any, p: Any, *, is_test: bool = False, mode: str = "downgrade_in_infer", fix_seed: bool = False
) -> Any:
    """x in evaluation; in training some elements are zero."""
    if fix_seed:
        raise UnsupportedError("dropout with a seed of its own cannot be read: other random numbers are drawn here")
    mode = "downscale_in_infer" if mode == "downgrade_in_infer" else mode  # what our function calls it
    return F.dropout(as_tensor(x), known_number(p), training=not is_test, mode=mode), None


# -- convolution and pooling -------------------------------------------------------------------------------------------


def _padding(paddings: Sequence[int], algorithm: str, spatial: int) -> Any:
    """Padding as our functions take it: a word, or one number or two for each dimension."""
    if algorithm != "EXPLICIT":
        return algorithm
    if len(paddings) not in (spatial, 2 * spatial):
        raise UnsupportedError(f"{len(paddings)} numbers of padding for {spatial} dimensions cannot be read")
    return list(paddings)


def _convolution(name: str, spatial: int) -> Any:
    def read(
        x: Any, weight: Any, *, strides: Any = 1, paddings: Any = (), padding_algorithm: str = "EXPLICIT",
        dilations: Any = 1, groups: int = 1, data_format: str = "NCHW",
    ) -> Any:  # fmt: skip
        layout = {"AnyLayout": "NCHW" if spatial == 2 else "NCDHW"}.get(data_format, data_format)
        padding = _padding(paddings or [0] * spatial, padding_algorithm, spatial)
        return getattr(F, name)(as_tensor(x), as_tensor(weight), None, strides, padding, dilations, groups, layout)

    return read


reads("conv2d", "depthwise_conv2d")(_convolution("conv2d", 2))
reads("conv3d")(_convolution("conv3d", 3))


@reads("conv3d_transpose")
def conv3d_transpose(
    x: Any, weight: Any, *, strides: Any = 1, paddings: Any = (), output_padding: Any = (), output_size: Any = (),
    padding_algorithm: str = "EXPLICIT", groups: int = 1, dilations: Any = 1, data_format: str = "NCHW",
) -> Any:  # fmt: skip
    """The adjoint of a convolution in three dimensions."""
    more = 0 if output_size else list(output_padding) or 0
    padding = _padding(paddings or [0, 0, 0], padding_algorithm, 3)
    layout = {"NCHW": "NCDHW", "NHWC": "NDHWC"}.get(data_format, data_format)
    return F.conv3d_transpose(
        as_tensor(x), as_tensor(weight), None, strides, padding, more, groups, dilations, list(output_size) or None,
        layout,
    )  # fmt: skip


@reads("conv2d_transpose", "depthwise_conv2d_transpose")
def conv2d_transpose(
    x: Any, weight: Any, output_size: Any, bias: Any = None, *, strides: Any = 1, paddings: Any = (),
    output_padding: Any = (), padding_algorithm: str = "EXPLICIT", groups: int = 1, dilations: Any = 1,
    data_format: str = "NCHW",
) -> Any:  # fmt: skip
    """The adjoint of a convolution."""
    more_by = None if bias is None else as_tensor(bias)
    size = None if output_size is None else known_ints(output_size) or None
    more = 0 if size is not None else list(output_padding) or 0
    padding = _padding(paddings or [0, 0], padding_algorithm, 2)
    return F.conv2d_transpose(
        as_tensor(x), as_tensor(weight), more_by, strides, padding, more, dilations, groups, size, data_format
    )


def _pool(x: Any, kernel: list[int], kind: str, adaptive: bool, all_of_it: bool, options: dict[str, Any]) -> Any:
    spatial = x.ndim - 2
    channel_last = options["data_format"][-1] == "C"
    sizes = x.shape[1:-1] if channel_last else x.shape[2:]
    if all_of_it or (adaptive and kernel == [1] * spatial):
        axes = [1 + i if channel_last else 2 + i for i in range(spatial)]
        return (F.max if kind == "max" else F.mean)(x, axis=axes, keepdim=True)
    if adaptive:
        if kind == "max":
            return getattr(F, f"adaptive_max_pool{spatial}d")(x, kernel)
        return getattr(F, f"adaptive_avg_pool{spatial}d")(x, kernel, data_format=options["data_format"])
    if len(kernel) != spatial or len(sizes) != spatial:
        raise UnsupportedError(f"a window of {len(kernel)} dimensions over {spatial} cannot be read")
    if kind == "max":
        options.pop("exclusive")
    return getattr(F, f"{kind}_pool{spatial}d")(x, kernel, **options)


@reads("pool2d")
def pool2d(
    x: Any, kernel_size: Any, *, strides: Any = 1, paddings: Any = (), ceil_mode: bool = False, exclusive: bool = True,
    data_format: str = "NCHW", pooling_type: str = "max", global_pooling: bool = False, adaptive: bool = False,
    padding_algorithm: str = "EXPLICIT",
) -> Any:  # fmt: skip
    """The largest or the mean of each window."""
    x = as_tensor(x)
    spatial = x.ndim - 2
    options = {
        "stride": list(strides) if isinstance(strides, (list, tuple)) else strides,
        "padding": _padding(paddings or [0] * spatial, padding_algorithm, spatial),
        "ceil_mode": ceil_mode,
        "exclusive": exclusive,
        "data_format": data_format,
    }
    return _pool(x, known_ints(kernel_size), pooling_type, adaptive, global_pooling, options)


def _pool3d(x: Any, *, kernel_size: Any, data_format: str = "NCDHW", **attrs: Any) -> Any:
    """The largest or the mean of each window in three dimensions."""
    return pool2d(x, np.asarray(kernel_size), data_format=data_format, **attrs)


_POOLED = (
    "kernel_size strides paddings ceil_mode exclusive data_format pooling_type global_pooling adaptive "
    "padding_algorithm"
)
reads.enter("pool3d", _pool3d, _POOLED.split())


@reads("fractional_max_pool2d", "fractional_max_pool3d")
def fractional_max_pool(x: Any, *, output_size: list[int], kernel_size: list[int], random_u: float = 0.0) -> Any:
    """The largest of each of some windows of sizes that differ, and where it is."""
    if not random_u:
        raise UnsupportedError("a fractional pooling whose windows are drawn anew cannot be read")
    x = as_tensor(x)
    pool = getattr(F, f"fractional_max_pool{x.ndim - 2}d")
    return pool(x, output_size, kernel_size if all(kernel_size) else None, random_u, True)


@reads("max_pool2d_with_index", "max_pool3d_with_index")
def max_pool_with_index(
    x: Any, *, kernel_size: list[int], strides: Any = 1, paddings: Any = (), global_pooling: bool = False,
    adaptive: bool = False, ceil_mode: bool = False,
) -> Any:  # fmt: skip
    """The largest of each window, and where it is."""
    x = as_tensor(x)
    spatial = x.ndim - 2
    if adaptive:
        return tuple(getattr(F, f"adaptive_max_pool{spatial}d")(x, kernel_size, return_mask=True))
    kernel = list(x.shape[2:]) if global_pooling else kernel_size
    pool = getattr(F, f"max_pool{spatial}d")
    return tuple(pool(x, kernel, strides, list(paddings or [0] * spatial), return_mask=True, ceil_mode=ceil_mode))


@reads("lp_pool2d")
def lp_pool2d(
    x: Any, *, kernel_size: list[int], strides: Any = 1, paddings: Any = (), ceil_mode: bool = False,
    data_format: str = "NCHW", global_pooling: bool = False, adaptive: bool = False,
    padding_algorithm: str = "EXPLICIT", norm_type: float,
) -> Any:  # fmt: skip
    """The norm of each window."""
    if adaptive or global_pooling:
        raise UnsupportedError("an adaptive pooling of norms cannot be read")
    padding = _padding(paddings or [0, 0], padding_algorithm, 2)
    return F.lp_pool2d(as_tensor(x), norm_type, kernel_size, strides, padding, ceil_mode, data_format)


@reads("unfold")
def unfold(x: Any, *, kernel_sizes: Any, strides: Any = 1, paddings: Any = 0, dilations: Any = 1) -> Any:
    """The windows of an image as columns."""
    return patches.unfold(as_tensor(x), kernel_sizes, strides, paddings, dilations)


# -- normalization -----------------------------------------------------------------------------------------------------


@reads("batch_norm", "batch_norm_")
def batch_norm(
    x: Any, mean: Any, variance: Any, scale: Any = None, bias: Any = None, *, is_test: bool = False,
    momentum: float = 0.9, epsilon: float = 1e-5, data_format: str = "NCHW", use_global_stats: bool = False,
    trainable_statistics: bool = False,
) -> Any:  # fmt: skip
    """x normalized by running statistics, or by its own, which then change those."""
    x, mean, variance = (as_tensor(v) for v in (x, mean, variance))
    layout = _layout(x, "NCHW" if data_format == "AnyLayout" else data_format)
    training = trainable_statistics or not (is_test or use_global_stats)
    if training:  # statistics are changed; those that somebody wants gradients of are results, of which this is a copy
        mean, variance = (v if v.stop_gradient else F.assign(v.detach()) for v in (mean, variance))
    found = F.batch_norm(
        x,
        mean,
        variance,
        optional_tensor(scale),
        optional_tensor(bias),
        training,
        momentum,
        epsilon,
        data_format=layout,
    )
    return found, mean, variance, None, None, None


def _layout(x: Any, layout: str) -> str:
    """The name of a layout for a tensor of this rank."""
    if layout[-1] == "C":
        return {2: "NC", 3: "NLC", 4: "NHWC", 5: "NDHWC"}[x.ndim]
    return {2: "NC", 3: "NCL", 4: "NCHW", 5: "NCDHW"}[x.ndim]


@reads("layer_norm")
def layer_norm(x: Any, scale: Any = None, bias: Any = None, *, epsilon: float = 1e-5, begin_norm_axis: int = 1) -> Any:
    """x normalized over its last dimensions."""
    x = as_tensor(x)
    shape = x.shape[begin_norm_axis:]
    weight = next((as_tensor(v) for v in (scale, bias) if v is not None), None)
    if len(shape) == 1 and shape[0] < 0 and weight is not None and weight.shape[0] >= 0:  # the weights say it
        x = F.reshape(x, [*[0] * begin_norm_axis, weight.shape[0]])
        shape = x.shape[begin_norm_axis:]
    if any(s < 0 for s in shape):
        raise UnsupportedError(f"layer_norm over sizes {shape} that the file leaves open cannot be read")
    scale, bias = (None if v is None else F.reshape(as_tensor(v), shape) for v in (scale, bias))
    return F.layer_norm(x, shape, scale, bias, epsilon), None, None


def _total(x: Any, bias: Any, residual: Any, quant_scale: float, by: float = 1.0) -> Any:
    """What a fused norm is the norm of."""
    if quant_scale > 0:
        raise UnsupportedError("a norm that quantizes cannot be read")
    found = as_tensor(x) if bias is None else as_tensor(x) + as_tensor(bias)
    return found if residual is None else found + as_tensor(residual) * by


@reads("fused_bias_residual_layernorm")
def fused_layer_norm(
    x: Any, bias: Any, residual: Any, scale: Any, shift: Any, *, epsilon: float = 1e-5, residual_alpha: float = 1.0,
    begin_norm_axis: int = 1, quant_scale: float = -1.0,
) -> Any:  # fmt: skip
    """The layer norm of a sum, and that sum, which is the first where there are no weights."""
    total = _total(x, bias, residual, quant_scale, residual_alpha)
    if scale is None and shift is None:
        return total, total, None, None
    return layer_norm(total, scale, shift, epsilon=epsilon, begin_norm_axis=begin_norm_axis)[0], total, None, None


@reads("fused_rms_norm_quant")
def fused_rms_norm(
    x: Any, bias: Any, residual: Any, scale: Any, shift: Any, *, epsilon: float = 1e-5, begin_norm_axis: int = 1,
    quant_scale: float = -1.0,
) -> Any:  # fmt: skip
    """The RMS norm of a sum, and that sum."""
    total = _total(x, bias, residual, quant_scale)
    shape = list(total.shape[begin_norm_axis:])
    out = rms_norm(total, shape, F.reshape(as_tensor(scale), shape), epsilon)[0]
    return out if shift is None else out + F.reshape(as_tensor(shift), shape), total, None


@reads("group_norm")
def group_norm(
    x: Any, scale: Any = None, bias: Any = None, *, epsilon: float = 1e-5, groups: int, data_format: str = "NCHW"
) -> Any:
    """x normalized within groups of channels."""
    found = F.group_norm(
        as_tensor(x),
        groups,
        epsilon=epsilon,
        weight=optional_tensor(scale),
        bias=optional_tensor(bias),
        data_format=data_format,
    )
    return found, None, None


@reads("instance_norm")
def instance_norm(x: Any, scale: Any = None, bias: Any = None, *, epsilon: float = 1e-5) -> Any:
    """x normalized within each channel of each sample."""
    found = F.instance_norm(as_tensor(x), weight=optional_tensor(scale), bias=optional_tensor(bias), eps=epsilon)
    return found, None, None


# -- the rest ----------------------------------------------------------------------------------------------------------


@reads("embedding")
def embedding(ids: Any, weight: Any, *, padding_idx: int = -1) -> Any:
    """A row for each id; -1 is no padding."""
    return F.embedding(as_tensor(ids), as_tensor(weight), None if padding_idx < 0 else padding_idx)


@reads("pad")
def pad(x: Any, value: Any, *, paddings: list[int]) -> Any:
    """x with borders: (low, high) for each dimension."""
    return F.pad(as_tensor(x), paddings, value=known_number(value), pad_from_left_axis=True)


@reads("pad3d")
def pad3d(x: Any, paddings: Any, *, mode: str = "constant", pad_value: float = 0.0, data_format: str = "NCDHW") -> Any:
    """x of five dimensions with borders."""
    return F.pad(as_tensor(x), known_ints(paddings), mode, pad_value, data_format)


@reads("nearest_interp", "linear_interp", "bilinear_interp", "trilinear_interp", "bicubic_interp")
def interpolate(
    x: Any, out_size: Any = None, size_tensor: Any = None, scale_tensor: Any = None, *, data_format: str = "NCHW",
    out_d: int = -1, out_h: int = -1, out_w: int = -1, scale: Sequence[float] = (), interp_method: str,
    align_corners: bool = False, align_mode: int = 1,
) -> Any:  # fmt: skip
    """An image in another size."""
    x = as_tensor(x)
    spatial = x.ndim - 2
    sizes = [out_d, out_h, out_w][3 - spatial :]
    size = sizes if all(s > 0 for s in sizes) else None
    if size_tensor:
        size = [number(s) for s in size_tensor]
    elif out_size is not None:
        size = list(sizes_argument(out_size))
    elif scale_tensor is not None:
        scale, size = known_numbers(scale_tensor), None
    factors = list(scale) * (spatial if len(scale) == 1 else 1) if size is None else None
    layout = ("NWC", "NHWC", "NDHWC")[spatial - 1] if data_format.endswith("C") else None
    return F.interpolate(x, size, factors, interp_method, align_corners, align_mode, layout)


@reads("cross_entropy_with_softmax")
def cross_entropy_with_softmax(
    logits: Any, label: Any, *, soft_label: bool = False, use_softmax: bool = True, ignore_index: int = -100,
    axis: int = -1,
) -> Any:  # fmt: skip
    """The softmax, and the loss with the axis of classes kept."""
    if not use_softmax:
        options = {"ignore_index": ignore_index, "soft_label": soft_label, "axis": axis, "use_softmax": False}
        given = as_tensor(logits)
        loss = F.cross_entropy(given, as_tensor(label), reduction="none", **options)
        return given, loss if loss.ndim == given.ndim else loss.unsqueeze(axis)
    loss, probabilities = F.softmax_with_cross_entropy(
        as_tensor(logits), as_tensor(label), soft_label, ignore_index, True, True, axis
    )
    return probabilities, loss
