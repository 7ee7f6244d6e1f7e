"""Paddle's forms of windows: maxima and where they are, putting them back, and frames that overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.dtype import int32, int64
from ..core.errors import UnsupportedError
from ..core.meta import UNKNOWN, Meta
from .emitter import FORMS, Emitter, Value, known


def _as_plane(g: Emitter, x: Value) -> Value:
    """x of two dimensions for windows where it has one."""
    return g.unsqueeze(x, [2]) if x.ndim == 3 else x


def _as_line(g: Emitter, x: Value, meta: Meta) -> Value:
    return g.op("squeeze", x, [2], meta=Meta(meta.shape, x.dtype)) if len(meta.shape) == 3 else x


def _lifted(meta: Meta, kind: Any = None) -> Meta:
    shape = (*meta.shape[:2], 1, meta.shape[2]) if len(meta.shape) == 3 else meta.shape
    return Meta(shape, kind or meta.dtype)


def _per_dim(values: Any, fill: int) -> list[int]:
    return [fill, *values] if len(values) == 1 else list(values)


def _even(padding: Any) -> list[int]:
    if isinstance(padding, str) or any(low != high for low, high in padding):
        raise UnsupportedError("maxima and their places with another border below than above have no form")
    return [low for low, _ in padding]


@FORMS("max_pool_with_index")
def max_pool_with_index(
    g: Emitter, x: Value, *, kernel: Any, stride: Any, padding: Any, ceil_mode: bool, channel_last: bool
) -> list[Value]:
    """max_pool2d_with_index or max_pool3d_with_index."""
    out, mask = g.metas
    name = f"max_pool{max(len(kernel), 2)}d_with_index"
    found = g.ops(
        name, [_as_plane(g, x)], [_lifted(out), _lifted(mask, int32)], kernel_size=_per_dim(kernel, 1),
        strides=_per_dim(stride, 1), paddings=_per_dim(_even(padding), 0), global_pooling=False, adaptive=False,
        ceil_mode=ceil_mode,
    )  # fmt: skip
    return [_as_line(g, v, out) for v in found]


@FORMS("max_unpool")
def max_unpool(
    g: Emitter, x: Value, indices: Value, *, kernel: Any, stride: Any, padding: Any, output_size: Any
) -> Value:
    """unpool or unpool3d; of unknown sizes put_along_axis into the zeros of planes."""
    out, pads = g.metas[0], _even(padding)
    if output_size is None:
        output_size = [
            _scaled(g, g.size(x, axis), by, k - by - 2 * p)
            for axis, (by, p, k) in enumerate(zip(stride, pads, kernel), 2)
        ]
    if any(isinstance(s, Value) for s in output_size):
        return _put_back(g, x, indices, output_size)
    sizes = _per_dim([known(s) for s in output_size], 1)
    given = [_as_plane(g, x), g.cast(_as_plane(g, indices), int32)]
    attrs = {"ksize": _per_dim(kernel, 1), "strides": _per_dim(stride, 1)}
    if len(kernel) == 3:
        return g.op("unpool3d", *given, meta=out, **attrs, paddings=pads, output_size=sizes, data_format="NCDHW")
    found = g.op("unpool", *given, sizes, meta=_lifted(out), **attrs, padding=_per_dim(pads, 0), data_format="NCHW")
    return _as_line(g, found, out)


def _scaled(g: Emitter, size: Any, by: int, more: int) -> Any:
    """by * size + more."""
    if not isinstance(size, Value):
        return by * size + more
    return g.op("scale", g.cast(size, int64), float(by), bias=float(more), bias_after_scale=True)


def _put_back(g: Emitter, x: Value, indices: Value, sizes: Sequence[Any]) -> Value:
    """x at its places in planes of these sizes, zero elsewhere."""
    out, planes = g.metas[0], [g.size(x, 0), g.size(x, 1)]
    area = g.full(1, int64)
    for size in sizes:
        own = g.cast(size, int64) if isinstance(size, Value) else g.full(size, int64)
        area = g.op("multiply", area, own, meta=Meta((), int64))
    flat = (*x.shape[:2], UNKNOWN)
    empty = g.expand(g.full(0, x.dtype), g.sizes([*planes, area]), flat)
    places, values = (g.reshape(v, [*planes, -1], Meta(flat, v.dtype)) for v in (g.cast(indices, int64), x))
    put = g.op("put_along_axis", empty, places, values, meta=Meta(flat, x.dtype), axis=2, reduce="assign",
               include_self=True)  # fmt: skip
    return g.reshape(put, [*planes, *sizes], out)


@FORMS("fractional_max_pool")
def fractional_max_pool(g: Emitter, x: Value, *, output_size: Any, kernel: Any, random_u: float | None) -> list[Value]:
    """fractional_max_pool2d or fractional_max_pool3d; what is drawn anew is, there as here."""
    out, mask = g.metas
    return g.ops(
        f"fractional_max_pool{len(kernel)}d", [x], [out, Meta(mask.shape, int32)],
        output_size=[known(s) for s in output_size], kernel_size=list(kernel), random_u=float(random_u or 0.0),
        return_mask=True,
    )  # fmt: skip


@FORMS("fold_patches")
def fold_patches(g: Emitter, x: Value, *, sizes: Any, kernel: Any, stride: Any, pads: Any, dilation: Any) -> Value:
    """fold."""
    (top, bottom), (left, right) = pads
    return g.op(
        "fold", x, meta=g.metas[0], output_sizes=list(sizes), kernel_sizes=list(kernel), strides=list(stride),
        paddings=[top, left, bottom, right], dilations=list(dilation),
    )  # fmt: skip


@FORMS("overlap_add")
def overlap_add(g: Emitter, x: Value, *, axis: int, step: int) -> Value:
    """overlap_add, whose frames stand behind their elements."""
    if axis != x.ndim - 2:
        raise UnsupportedError("frames along other than the last dimension have no form in Paddle's programs")
    frames = g.transpose(x, [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2])
    return g.op("overlap_add", frames, meta=g.metas[0], hop_length=step, axis=-1)


@FORMS("nonzero_envelope")
def nonzero_envelope(g: Emitter, x: Value) -> Value:
    """x: that it is zero nowhere, only our run checks."""
    return x
