"""Sliding patches of images as columns, and their sum back into an image. Each is the other's adjoint."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ..core.alias import aliased
from ..core.errors import ArgumentError, ShapeError
from ..core.meta import UNKNOWN, Meta, Shape
from .registry import define_op
from .sliding_window import check_counts, per_dim, taps_along, taps_over, window_counts
from .window_forms import padded_form

Pads = tuple[tuple[int, int], ...]


def _taps(sizes: Shape, kernel: Shape, stride: Shape, pads: Pads, dilation: Shape) -> tuple[Any, Shape]:
    counts = window_counts(sizes, kernel, stride, pads, dilation)
    along = [
        taps_along(size, k, s, low, d, count)
        for size, k, s, (low, _), d, count in zip(sizes, kernel, stride, pads, dilation, counts)
    ]
    return taps_over(along, 2), counts


def _unfold_kernel(xp: Any, x: Any, *, kernel: Shape, stride: Shape, pads: Pads, dilation: Shape) -> Any:
    places, counts = _taps(x.shape[2:], kernel, stride, pads, dilation)
    n, c = x.shape[:2]
    out = xp.zeros((n, c, kernel[0] * kernel[1], *counts), x.dtype)
    for k, (to, source) in enumerate(places):
        out[:, :, k][to] = x[source]
    return out.reshape(n, c * kernel[0] * kernel[1], counts[0] * counts[1])


def _unfold_meta(x: Meta, *, kernel: Shape, stride: Shape, pads: Pads, dilation: Shape) -> Meta:
    if x.ndim != 4:
        raise ShapeError(f"unfold: x must have 4 dimensions, got {x}")
    counts = window_counts(x.shape[2:], kernel, stride, pads, dilation)
    check_counts("unfold", counts, x, kernel)
    length = UNKNOWN if UNKNOWN in counts else counts[0] * counts[1]
    channels = UNKNOWN if x.shape[1] == UNKNOWN else x.shape[1] * kernel[0] * kernel[1]
    return x.with_shape((x.shape[0], channels, length))


def _fold_kernel(xp: Any, x: Any, *, sizes: Shape, kernel: Shape, stride: Shape, pads: Pads, dilation: Shape) -> Any:
    places, counts = _taps(sizes, kernel, stride, pads, dilation)
    n, area = x.shape[0], kernel[0] * kernel[1]
    columns = x.reshape(n, x.shape[1] // area, area, *counts)
    out = xp.zeros((n, x.shape[1] // area, *sizes), x.dtype)
    for k, (source, to) in enumerate(places):
        out[to] += columns[:, :, k][source]
    return out


def _fold_like_kernel(xp: Any, x: Any, y: Any, *, kernel: Shape, stride: Shape, pads: Pads, dilation: Shape) -> Any:
    return _fold_kernel(xp, x, sizes=y.shape[2:], kernel=kernel, stride=stride, pads=pads, dilation=dilation)


def _fold_meta(x: Meta, *, sizes: Shape, kernel: Shape, stride: Shape, pads: Pads, dilation: Shape) -> Meta:
    area = kernel[0] * kernel[1]
    if x.ndim != 3 or (x.shape[1] != UNKNOWN and x.shape[1] % area):
        raise ShapeError(f"fold: x must be [n, c * {area}, length], got {x}")
    counts = window_counts(sizes, kernel, stride, pads, dilation)
    if x.shape[2] not in (UNKNOWN, counts[0] * counts[1]):
        needed = counts[0] * counts[1]
        raise ShapeError(f"fold: an image of {list(sizes)} is made of {needed} patches, x has {x.shape[2]}: {x}")
    return x.with_shape((x.shape[0], UNKNOWN if x.shape[1] == UNKNOWN else x.shape[1] // area, *sizes))


def _unfold_vjp(ct: Any, *, x_like: Any, kernel: Shape, stride: Shape, pads: Pads, dilation: Shape) -> Any:
    window = {"kernel": kernel, "stride": stride, "pads": pads, "dilation": dilation}
    sizes = tuple(x_like.shape[2:])
    return fold_like_op(ct, x_like, **window) if UNKNOWN in sizes else fold_op(ct, sizes=sizes, **window)


def _fold_vjp(ct: Any, *, kernel: Shape, stride: Shape, pads: Pads, dilation: Shape) -> Any:
    return unfold_op(ct, kernel=kernel, stride=stride, pads=pads, dilation=dilation)


def _unfold_form(n: Any, x: Any, *, kernel: Shape, stride: Shape, pads: Pads, dilation: Shape) -> Any:
    """One copy for each place within a window."""
    images, channels = x.shape[:2]
    counts = window_counts(x.shape[2:], kernel, stride, pads, dilation)
    n.note(*counts)  # whose product alone is a size of the result
    padded = padded_form(n, x, ((0, 0), (0, 0), *pads), 0)
    out = n.new((images, channels, prod(kernel), *counts), x.dtype)
    for k, at in enumerate(np.ndindex(*kernel)):
        seen = tuple(slice(p * d, p * d + (c - 1) * s + 1, s) for p, d, c, s in zip(at, dilation, counts, stride))
        n.copy(n.view(lambda a, seen=seen: a[(..., *seen)], padded), n.view(lambda a, k=k: a[:, :, k], out))
    return n.reshape(out, (images, channels * prod(kernel), prod(counts)))


unfold_op = define_op(
    "unfold_patches",
    kernel=_unfold_kernel,
    meta=_unfold_meta,
    vjp={"x": _unfold_vjp},
    maps={"paddle": "unfold"},
    ahead=_unfold_form,
)
fold_op = define_op("fold_patches", kernel=_fold_kernel, meta=_fold_meta, vjp={"x": _fold_vjp}, maps={"paddle": "fold"})

# The adjoint of unfold while the size of the image is known only when the program runs: that of y.
fold_like_op = define_op(
    "fold_patches_like",
    kernel=_fold_like_kernel,
    meta=lambda x, y, *, kernel, stride, pads, dilation: y,
    vjp={"x": _fold_vjp},
    shape_only=["y"],
)


def _window(op: str, kernel_sizes: Any, strides: Any, paddings: Any, dilations: Any) -> dict[str, Any]:
    return {
        "kernel": per_dim(op, kernel_sizes, 2, "kernel_sizes"),
        "stride": per_dim(op, strides, 2, "strides"),
        "pads": _pads(op, paddings),
        "dilation": per_dim(op, dilations, 2, "dilations"),
    }


def _pads(op: str, paddings: Any) -> Pads:
    """((top, bottom), (left, right)) from one int, [vertical, horizontal] or [top, left, bottom, right]."""
    if isinstance(paddings, Sequence) and len(paddings) == 4:
        top, left, bottom, right = per_dim(op, paddings, 4, "paddings", 0)
        return (top, bottom), (left, right)
    if isinstance(paddings, Sequence) and len(paddings) not in (1, 2):
        raise ArgumentError(f"{op}: paddings must be an int or 2 or 4 of them, got {paddings}")
    high, wide = per_dim(op, paddings, 2, "paddings", 0)
    return (high, high), (wide, wide)


def unfold(
    x: Any, kernel_sizes: Any, strides: Any = 1, paddings: Any = 0, dilations: Any = 1, name: str | None = None
) -> Any:
    """The sliding patches of x as columns (im2col). x: [n, c, h, w] -> [n, c * kh * kw, patches].

    Raises ShapeError when the window does not fit. Source: paddle.nn.functional.unfold.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.unfold(paddle.ones([1, 2, 3, 3]), 2).shape
        paddle.Size([1, 8, 4])
    """
    return unfold_op(x, **_window("unfold", kernel_sizes, strides, paddings, dilations))


@aliased(x="input", output_sizes="output_size", kernel_sizes="kernel_size")
def fold(
    x: Any,
    output_sizes: Any,
    kernel_sizes: Any,
    strides: Any = 1,
    paddings: Any = 0,
    dilations: Any = 1,
    name: str | None = None,
) -> Any:
    """Patches summed into an image (col2im). x: [n, c * kh * kw, patches] -> [n, c, *output_sizes].

    Raises ShapeError when the number of patches does not fit the image. Source: paddle.nn.functional.fold.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.fold(paddle.ones([1, 4, 4]), [3, 3], 2).tolist()[0][0][1]
        [2.0, 4.0, 2.0]
    """
    window = _window("fold", kernel_sizes, strides, paddings, dilations)
    return fold_op(x, sizes=per_dim("fold", output_sizes, 2, "output_sizes"), **window)


__all__ = ["fold", "unfold"]
