"""Paddle's forms of ops that are algorithms of their own: linear algebra, searching, counting, losses, boxes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtype import bool_, float64, int32, int64
from ..core.errors import UnsupportedError
from ..core.meta import UNKNOWN, Meta
from ..ops.registry import get_op
from .emitter import FORMS, Emitter, Value, known
from .scalars import write_expression

# -- linear algebra ----------------------------------------------------------------------------------------------------


def _with_attrs(*names: str) -> None:
    """Let ops be the operators of the same names, inputs and attributes."""

    def form(g: Emitter, *inputs: Value, **attrs: Any) -> list[Value]:
        return g.ops(g.op_name, inputs, g.metas, **{name: known(value) for name, value in attrs.items()})

    FORMS(*names)(form)


_with_attrs(
    "inverse", "det", "cholesky", "svd", "eigh", "solve", "triangular_solve", "kthvalue", "mode", "diagonal",
)  # fmt: skip


@FORMS("qr")
def qr(g: Emitter, x: Value, *, complete: bool) -> list[Value]:
    """qr."""
    return g.ops("qr", [x], g.metas, mode="complete" if complete else "reduced")


@FORMS("diag_embed")
def diag_embed(g: Emitter, x: Value, *, offset: int, dim1: int, dim2: int, padding_value: Any) -> Value:
    """diag_embed, with zeros around."""
    if padding_value:
        return g.op("diag", x, meta=g.metas[0], offset=offset, padding_value=float(padding_value))
    return g.op("diag_embed", x, meta=g.metas[0], offset=offset, dim1=dim1, dim2=dim2)


@FORMS("logcumsumexp")
def logcumsumexp(g: Emitter, x: Value, *, axis: int, reverse: bool) -> Value:
    """logcumsumexp."""
    return g.op("logcumsumexp", x, meta=g.metas[0], axis=axis, flatten=False, exclusive=False, reverse=reverse)


# -- complex numbers ---------------------------------------------------------------------------------------------------

_with_attrs("as_complex", "as_real", "complex")


@FORMS("real", "imag", "conj", "angle")
def part_of_complex(g: Emitter, x: Value) -> Value:
    """The operator of the same name; of real numbers the op's expression."""
    if x.dtype.is_complex:
        return g.op(g.op_name, x, meta=g.metas[0])
    return write_expression(g, get_op(g.op_name), [x], {})


@FORMS("fft_c2c")
def fft_c2c(g: Emitter, x: Value, *, axes: Any, norm: str, forward: bool) -> Value:
    """fft_c2c; of real numbers fft_r2c with the whole spectrum."""
    attrs = {"axes": list(axes), "normalization": norm, "forward": forward}
    if x.dtype.is_complex:
        return g.op("fft_c2c", x, meta=g.metas[0], **attrs)
    return g.op("fft_r2c", x, meta=g.metas[0], **attrs, onesided=False)


@FORMS("fft_r2c")
def fft_r2c(g: Emitter, x: Value, *, axes: Any, norm: str, forward: bool) -> Value:
    """fft_r2c, of half a spectrum."""
    attrs = {"axes": list(axes), "normalization": norm, "forward": forward, "onesided": True}
    return g.op("fft_r2c", x, meta=g.metas[0], **attrs)


@FORMS("fft_c2r")
def fft_c2r(g: Emitter, x: Value, *, axes: Any, norm: str, forward: bool, odd: bool) -> Value:
    """fft_c2r."""
    half = x.shape[axes[-1]]
    if odd and half == UNKNOWN:
        raise UnsupportedError("an odd number of numbers from a spectrum of unknown size has no form")
    size = 0 if half == UNKNOWN else 2 * (half - 1) + odd
    attrs = {"axes": list(axes), "normalization": norm, "forward": forward, "last_dim_size": size}
    return g.op("fft_c2r", x, meta=g.metas[0], **attrs)


# -- searching and counting --------------------------------------------------------------------------------------------


@FORMS("searchsorted")
def searchsorted(g: Emitter, sequence: Value, values: Value, *, right: bool, dtype: Any) -> Value:
    """searchsorted."""
    return g.op("searchsorted", sequence, values, meta=g.metas[0], out_int32=dtype is int32, right=right)


@FORMS("nonzero")
def nonzero(g: Emitter, x: Value) -> Value:
    """nonzero."""
    return g.op("nonzero", x, meta=g.metas[0])


@FORMS("bincount")
def bincount(g: Emitter, x: Value, weights: Value | None, *, minlength: int) -> Value:
    """bincount."""
    return g.op("bincount", x, weights, minlength, meta=g.metas[0])


@FORMS("broadcast_tensors")
def broadcast_tensors(g: Emitter, *xs: Value) -> list[Value]:
    """broadcast_tensors."""
    return g.list_op("broadcast_tensors", [list(xs)], g.metas)


# -- losses ------------------------------------------------------------------------------------------------------------


@FORMS("softmax_cross_entropy")
def softmax_cross_entropy(
    g: Emitter, logits: Value, label: Value, *, axis: int, soft_label: bool, ignore_index: int
) -> list[Value]:
    """cross_entropy_with_softmax."""
    loss, probabilities = g.metas
    label = g.cast(label, logits.dtype) if soft_label else label
    found = g.ops(
        "cross_entropy_with_softmax", [logits, label], [probabilities, loss], soft_label=soft_label, use_softmax=True,
        numeric_stable_mode=True, ignore_index=ignore_index, axis=axis,
    )  # fmt: skip
    return [found[1], found[0]]


# -- boxes -------------------------------------------------------------------------------------------------------------


@FORMS("nms")
def nms(
    g: Emitter, boxes: Value, scores: Value | None = None, groups: Value | None = None, *, threshold: float,
    allowed: Any, top_k: int | None,
) -> Value:  # fmt: skip
    """nms of boxes in the order of their scores; those of a category are moved away from all others."""
    out = g.metas[0]
    places = boxes if groups is None else _apart(g, boxes, groups)
    if scores is None:
        kept = g.op("nms", places, meta=Meta((UNKNOWN,), int64), threshold=float(threshold))
    else:
        metas = [scores.meta, Meta(scores.shape, int64)]
        _, order = g.ops("argsort", [scores], metas, axis=0, descending=True, stable=True)
        ordered = g.op("gather", places, order, 0, meta=places.meta)
        kept = g.op("nms", ordered, meta=Meta((UNKNOWN,), int64), threshold=float(threshold))
        kept = g.op("gather", order, kept, 0, meta=Meta((UNKNOWN,), int64))
    if groups is not None and allowed is not None:
        kept = _allowed(g, kept, groups, allowed)
    if top_k is not None:
        kept = g.op("slice", kept, [0], [top_k], meta=out, axes=[0], infer_flags=[1], decrease_axis=[])
    return g.cast(kept, out.dtype)


def _apart(g: Emitter, boxes: Value, groups: Value) -> Value:
    """Boxes each category of which lies where no other one's do, in float64, which rounds none of float32 away."""
    wide = g.cast(boxes, float64)
    flat = g.reshape(wide, [-1])
    ends = g.op("concat", [flat, g.full(0, float64, (1,))], 0, meta=Meta((UNKNOWN,), float64))  # there may be no boxes
    high, low = (g.op(n, ends, [0], meta=Meta((), float64), keepdim=False, reduce_all=True) for n in ("max", "min"))
    step = g.op("scale", g.op("subtract", high, low), 1.0, bias=1.0, bias_after_scale=True)
    number = g.cast(g.unsqueeze(groups, [1]), float64)
    return g.op("add", wide, g.op("multiply", number, step, meta=number.meta), meta=wide.meta)


def _allowed(g: Emitter, kept: Value, groups: Value, allowed: Any) -> Value:
    """Those of the kept boxes whose category is among these."""
    names = g.stored(np.asarray(allowed, groups.dtype.np).reshape(1, -1))
    found = g.unsqueeze(g.op("gather", groups, kept, 0, meta=Meta((UNKNOWN,), groups.dtype)), [1])
    same = g.op("equal", found, names, meta=Meta((UNKNOWN, len(allowed)), bool_))
    wanted = g.op("any", same, meta=Meta((UNKNOWN,), bool_), axis=[1], keepdim=False, reduce_all=False)
    return g.op("masked_select", kept, wanted, meta=Meta((UNKNOWN,), int64))


@FORMS("yolo_box")
def yolo_box(
    g: Emitter, x: Value, size: Value, *, anchors: Any, classes: int, threshold: float, cell: int, clip: bool,
    scale: float, aware: float | None,
) -> list[Value]:  # fmt: skip
    """yolo_box."""
    flat = [int(v) for pair in anchors for v in pair]
    return g.ops(
        "yolo_box", [x, g.cast(size, int32)], g.metas, anchors=flat, class_num=classes, conf_thresh=threshold,
        downsample_ratio=cell, clip_bbox=clip, scale_x_y=scale, iou_aware=aware is not None,
        iou_aware_factor=0.5 if aware is None else aware,
    )  # fmt: skip
