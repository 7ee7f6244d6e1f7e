"""Layers of PaddlePaddle 2 that its newer programs have no more: images, norms, boxes, one step of a GRU."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import ceil, sqrt
from typing import Any

import numpy as np

from .. import tensor as T
from ..core.errors import UnsupportedError
from ..core.meta import UNKNOWN
from ..ir.known_values import as_tensor
from ..nn import functional as F
from .operator_table import reads

_KINDS = ("nearest", "linear", "bilinear", "trilinear", "bicubic")


@reads(*(f"old_{kind}_interp" for kind in _KINDS))
def interpolate(
    x: Any, out_size: Any = None, *, data_layout: str = "NCHW", out_d: int = -1, out_h: int = -1, out_w: int = -1,
    scale: float = 0.0, interp_method: str = "bilinear", align_corners: bool = True, align_mode: int = 1,
) -> Any:  # fmt: skip
    """An image in another size; one scale stands for all dimensions, and goes before sizes."""
    given = {"out_d": out_d, "out_h": out_h, "out_w": out_w} if scale <= 0 else {"scale": [scale]}
    attrs = {"data_format": data_layout, "interp_method": interp_method, "align_corners": align_corners}
    return reads.call(
        f"{interp_method}_interp", [x, out_size, None, None], {**attrs, **given, "align_mode": align_mode}
    )


@reads("row_conv")
def row_conv(x: Any, filter: Any) -> Any:
    """Each step and those after it, weighted."""
    x, weight = as_tensor(x), as_tensor(filter)
    taps = weight.shape[0]
    if taps == UNKNOWN or x.ndim != 3:
        raise UnsupportedError(f"row_conv of {x.ndim}-D sequences and weights {list(weight.shape)} cannot be read")
    longer = F.pad(x, [0, taps - 1], data_format="NLC")
    return T.add_n([longer[:, i : (i + 1 - taps) or None] * weight[i] for i in range(taps)])


@reads("spp")
def spp(x: Any, *, pyramid_height: int = 1, pooling_type: str = "max") -> Any:
    """Pools of an image by 1, 2, 4, ... in each direction, side by side."""
    x = as_tensor(x)
    if UNKNOWN in x.shape[2:] or pyramid_height > 16:
        raise UnsupportedError("pyramids of open sizes cannot be read")
    found = []
    for bins in (1 << level for level in range(pyramid_height)):
        kernel = [ceil(size / bins) for size in x.shape[2:]]
        pads = [(k * bins - size + 1) // 2 for k, size in zip(kernel, x.shape[2:])]
        pool = F.max_pool2d if pooling_type == "max" else F.avg_pool2d
        found.append(T.flatten(pool(x, kernel, kernel, pads), 1))
    return T.concat(found, 1)


@reads("data_norm")
def data_norm(
    x: Any, size: Any, sum: Any, squares: Any, scale_w: Any = None, bias: Any = None, *,
    enable_scale_and_shift: bool = False, slot_dim: int = -1,
) -> Any:  # fmt: skip
    """x by the mean and the deviation of all that came before; and these."""
    if enable_scale_and_shift or slot_dim > 0:
        raise UnsupportedError("data_norm with a scale and shift, or by slots, cannot be read")
    means = as_tensor(sum) / as_tensor(size)
    scales = T.sqrt(as_tensor(size) / as_tensor(squares))
    return (as_tensor(x) - means) * scales, means, scales


@reads("lrn")
def lrn(
    x: Any, *, n: int = 5, k: float = 2.0, alpha: float = 1e-4, beta: float = 0.75, data_format: str = "NCHW"
) -> Any:
    """x by the sum of squares of the channels beside it; and what it was divided by, before the power."""
    x = as_tensor(x)
    axis = 1 if data_format.endswith("W") else x.ndim - 1
    channels = x.shape[axis]
    if channels == UNKNOWN or not 0 < n <= 1 << 10:
        raise UnsupportedError("lrn of an open number of channels cannot be read")
    before = (n - 1) // 2
    square = T.square(x)
    parts = []
    for shift in range(-before, n - before):
        first, last = max(shift, 0), min(channels + shift, channels)
        if first < last:
            part = T.slice(square, [axis], [first], [last])
            edges = [0] * (2 * x.ndim)
            edges[2 * axis : 2 * axis + 2] = [max(-shift, 0), max(shift, 0)]
            parts.append(F.pad(part, edges, pad_from_left_axis=True))
    middle = T.add_n(parts) * alpha + k
    return x / T.pow(middle, beta), middle


@reads("affine_channel")
def affine_channel(x: Any, scale: Any, bias: Any, *, data_layout: str = "NCHW") -> Any:
    """Each channel times a number, plus a number."""
    x = as_tensor(x)
    along = [1, -1] + [1] * (x.ndim - 2) if data_layout == "NCHW" else [-1]
    return x * T.reshape(as_tensor(scale), along) + T.reshape(as_tensor(bias), along)


@reads("dropout_nd")
def dropout_nd(
    x: Any, seed: Any = None, *, dropout_prob: float = 0.5, is_test: bool = False, fix_seed: bool = False,
    dropout_implementation: str = "downgrade_in_infer", axis: Sequence[int] = (),
) -> Any:  # fmt: skip
    """Dropout with one mask along the other dimensions."""
    if fix_seed:
        raise UnsupportedError("dropout with a seed of its own cannot be read: other random numbers are drawn here")
    mode = "upscale_in_train" if dropout_implementation == "upscale_in_train" else "downscale_in_infer"
    return F.dropout(as_tensor(x), dropout_prob, list(axis) or None, training=not is_test, mode=mode), None


@reads("fsp")
def fsp(x: Any, y: Any) -> Any:
    """The mean over places of each channel of x times each of y."""
    x, y = as_tensor(x), as_tensor(y)
    if UNKNOWN in x.shape[2:]:
        raise UnsupportedError("fsp of open sizes cannot be read")
    return T.matmul(T.flatten(x, 2), T.flatten(y, 2), transpose_y=True) / float(x.shape[2] * x.shape[3])


@reads("add_position_encoding")
def add_position_encoding(x: Any, *, alpha: float = 1.0, beta: float = 1.0) -> Any:
    """alpha x plus beta times sines and cosines of the places."""
    x = as_tensor(x)
    _, steps, width = x.shape
    if UNKNOWN in (steps, width) or width % 2:
        raise UnsupportedError("positions of an open number of steps cannot be read")
    half = width // 2
    at = np.arange(steps, dtype=np.float32)[:, None]
    waves = at / np.power(10000.0, np.arange(half, dtype=np.float32) / max(half - 1, 1))
    return x * alpha + as_tensor(np.concatenate([np.sin(waves), np.cos(waves)], 1).astype(x.dtype.np)) * beta


@reads("cvm")
def cvm(x: Any, cvm: Any, *, use_cvm: bool = True) -> Any:
    """Shows and clicks in the first two columns as logarithms, or left out."""
    x = as_tensor(x)
    if not use_cvm:
        return x[:, 2:]
    shows = T.log(x[:, :1] + 1.0)
    return T.concat([shows, T.log(x[:, 1:2] + 1.0) - shows, x[:, 2:]], 1)


_GATES: Mapping[int, Callable[[Any], Any]] = {0: lambda v: v, 1: F.sigmoid, 2: T.tanh, 3: F.relu}


@reads("gru_unit")
def gru_unit(
    x: Any, before: Any, weight: Any, bias: Any = None, *, activation: int = 2, gate_activation: int = 1,
    origin_mode: bool = False,
) -> Any:  # fmt: skip
    """One step of a GRU: its gates, what was reset, and the hidden state."""
    x, before, weight = as_tensor(x), as_tensor(before), as_tensor(weight)
    if activation not in _GATES or gate_activation not in _GATES:
        raise UnsupportedError(f"the activations {activation} and {gate_activation} cannot be read")
    width = before.shape[1]
    x = x if bias is None else x + as_tensor(bias)
    # The file holds the weights of both gates as one matrix, then those of the candidate.
    flat = T.reshape(weight, [-1])
    both = T.reshape(flat[: 2 * width * width], [width, 2 * width])
    own = T.reshape(flat[2 * width * width :], [width, width])
    gates = _GATES[gate_activation](x[:, : 2 * width] + T.matmul(before, both))
    update, reset = gates[:, :width], gates[:, width:]
    kept = reset * before
    candidate = _GATES[activation](x[:, 2 * width :] + T.matmul(kept, own))
    one, other = (before, candidate) if origin_mode else (candidate, before)
    return T.concat([gates, candidate], 1), kept, update * one + (1.0 - update) * other


# -- boxes -------------------------------------------------------------------------------------------------------------


@reads("anchor_generator")
def anchor_generator(
    x: Any, *, anchor_sizes: Sequence[float], aspect_ratios: Sequence[float], variances: Sequence[float],
    stride: Sequence[float], offset: float = 0.5,
) -> Any:  # fmt: skip
    """Boxes of these sizes around each place of a map, and their variances."""
    height, width = as_tensor(x).shape[2:]
    kinds = len(anchor_sizes) * len(aspect_ratios)
    if UNKNOWN in (height, width) or height * width * kinds > 1 << 22 or len(variances) != 4 or len(stride) != 2:
        raise UnsupportedError("anchors of a map of an open size, or so many, cannot be read")
    halves = []
    for ratio in aspect_ratios:
        base = np.round(sqrt(stride[0] * stride[1] / ratio))
        for size in anchor_sizes:
            halves.append([0.5 * (size / stride[0] * base - 1), 0.5 * (size / stride[1] * np.round(base * ratio) - 1)])
    middle_x = np.arange(width) * stride[0] + offset * (stride[0] - 1)
    middle_y = np.arange(height) * stride[1] + offset * (stride[1] - 1)
    middle = np.stack(np.broadcast_arrays(middle_x[None, :, None], middle_y[:, None, None]), -1)
    apart = np.asarray(halves)[None, None]
    anchors = np.concatenate([middle - apart, middle + apart], -1).astype(np.float32)
    spread = np.broadcast_to(np.asarray(variances, np.float32), anchors.shape)
    return as_tensor(anchors), as_tensor(np.ascontiguousarray(spread))


@reads("iou_similarity")
def iou_similarity(x: Any, y: Any, *, box_normalized: bool = True) -> Any:
    """How much of each two boxes is common."""
    x, y = T.unsqueeze(as_tensor(x), 1), T.unsqueeze(as_tensor(y), 0)
    more = 0.0 if box_normalized else 1.0
    area_x, area_y = ((b[..., 2] - b[..., 0] + more) * (b[..., 3] - b[..., 1] + more) for b in (x, y))
    sides = T.minimum(x[..., 2:], y[..., 2:]) - T.maximum(x[..., :2], y[..., :2]) + more
    common = T.prod(F.relu(sides), axis=-1)
    return common / (area_x + area_y - common)


@reads("polygon_box_transform")
def polygon_box_transform(x: Any) -> Any:
    """Places of corners from how far they are from each fourth pixel."""
    x = as_tensor(x)
    _, channels, height, width = x.shape
    if UNKNOWN in (channels, height, width):
        raise UnsupportedError("polygons of open sizes cannot be read")
    across, down = np.meshgrid(np.arange(width) * 4, np.arange(height) * 4)
    places = np.stack([down if i % 2 else across for i in range(channels)])
    return as_tensor(places.astype(x.dtype.np)) - x
