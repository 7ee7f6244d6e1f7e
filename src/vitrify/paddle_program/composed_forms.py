"""Paddle's forms of ops that its programs have no operator for, compositions of a few that they have; and unfold."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtype import bool_, float32, int64
from ..core.errors import UnsupportedError
from ..core.meta import UNKNOWN, Meta, numel
from .emitter import FORMS, Emitter, Value
from .forms import causal_mask
from .scalars import Operand, PaddleScalars


@FORMS("unfold_windows")
def unfold_windows(g: Emitter, x: Value, *, axis: int, size: int, step: int) -> Value:
    """gather of every place of every window, which become the last dimension."""
    count, places = _places_of_windows(g, x, axis, size, step)
    shape = (*x.shape[:axis], places.shape[0], *x.shape[axis + 1 :])
    found = g.op("gather", x, places, axis, meta=Meta(shape, x.dtype))
    last = g.transpose(found, [*(i for i in range(x.ndim) if i != axis), axis])
    sizes = [g.size(last, i) for i in range(x.ndim - 1)]
    split = g.reshape(
        last, [*sizes, -1 if count == UNKNOWN else count, size], Meta((*last.shape[:-1], count, size), x.dtype)
    )
    front = list(range(x.ndim - 1))
    return g.transpose(split, [*front[:axis], x.ndim - 1, *front[axis:], x.ndim])


def _places_of_windows(g: Emitter, x: Value, axis: int, size: int, step: int) -> tuple[int, Value]:
    """How many windows there are, and the places of their elements, one window after the other."""
    length = x.shape[axis]
    if length != UNKNOWN:
        places = np.arange(0, length - size + 1, step)[:, None] + np.arange(size)
        return len(places), g.stored(places.reshape(-1))
    end = g.op("scale", g.cast(g.size(x, axis), int64), 1.0, bias=float(1 - size), bias_after_scale=True)
    starts = g.op("arange", g.full(0, int64), end, g.full(step, int64), meta=Meta((UNKNOWN,), int64), dtype=int64)
    every = g.op("add", g.unsqueeze(starts, [1]), g.stored(np.arange(size)), meta=Meta((UNKNOWN, size), int64))
    return UNKNOWN, g.reshape(every, [-1], Meta((UNKNOWN,), int64))


@FORMS("unfold_patches")
def unfold_patches(g: Emitter, x: Value, *, kernel: Any, stride: Any, pads: Any, dilation: Any) -> Value:
    """unfold, whose paddings are those of the top, the left, the bottom and the right."""
    (top, bottom), (left, right) = pads
    return g.op(
        "unfold", x, meta=g.metas[0], kernel_sizes=list(kernel), strides=list(stride),
        paddings=[top, left, bottom, right], dilations=list(dilation),
    )  # fmt: skip


@FORMS("long_attention")
def long_attention(g: Emitter, q: Value, k: Value, v: Value, mask: Value | None, *, is_causal: bool) -> list[Value]:
    """matmul, softmax and matmul, with all scores at once."""
    out, log_sum = g.metas
    shape = Meta((*q.shape[:3], k.shape[2]), q.dtype)
    scores = g.op("matmul", q, k, meta=shape, transpose_x=False, transpose_y=True)
    if is_causal:
        scores = causal_mask(g, scores, fill=float("-inf"))
    elif mask is not None and mask.dtype == bool_:
        filled = g.op("full_like", scores, float("-inf"), dtype=q.dtype)
        scores = g.op("where", g.expand(mask, list(shape.shape), shape.shape), scores, filled, meta=shape)
    elif mask is not None:
        scores = g.op("add", scores, mask, meta=shape)
    probs = g.op("softmax", scores, axis=-1)
    found = g.op("matmul", probs, v, meta=out, transpose_x=False, transpose_y=False)
    return [found, g.op("logsumexp", scores, [-1], keepdim=False, meta=log_sum)]


@FORMS("rms_norm")
def rms_norm(
    g: Emitter, x: Value, weight: Value | None, bias: Value | None, *, axes: tuple[int, ...],
    param_axes: tuple[int, ...], groups: int, epsilon: float,
) -> list[Value]:  # fmt: skip
    """x times rsqrt of the mean of its squares, in float32 at least."""
    if groups or tuple(param_axes) != tuple(range(x.ndim - len(param_axes), x.ndim)):
        raise UnsupportedError("a root mean square norm of groups, or with channels first, has no form")
    scalars = PaddleScalars(g)
    wide: Any = Operand(scalars, g.cast(x, float32) if x.dtype.itemsize < 4 else x)
    squares = (wide * wide).value
    stats = Meta(tuple(1 if i in axes else s for i, s in enumerate(x.shape)), squares.dtype)
    mean = g.op("mean", squares, list(axes), meta=stats, keepdim=True)
    mean_square: Any = Operand(scalars, mean)
    rstd = scalars.rsqrt(mean_square + epsilon)
    out = wide * rstd
    if weight is not None:
        out = out * Operand(scalars, weight)
    if bias is not None:
        out = out + Operand(scalars, bias)
    return [g.cast(out.value, x.dtype), rstd.value]


@FORMS("rank")
def rank(g: Emitter, x: Value) -> Value:
    """A constant."""
    return g.full(x.ndim, g.metas[0].dtype)


@FORMS("is_empty")
def is_empty(g: Emitter, x: Value) -> Value:
    """Whether the product of the sizes is 0; a constant where they are known."""
    if UNKNOWN not in x.shape:
        return g.full(numel(x.shape) == 0, bool_)
    count = g.op("numel", x, meta=Meta((), int64))
    return g.op("equal", count, g.full(0, int64), meta=Meta((), bool_))
