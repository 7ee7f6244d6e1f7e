"""ONNX forms of what reads boxes off a detector's output."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.errors import UnsupportedError
from ..core.meta import UNKNOWN
from .graph import Value
from .table import FORMS, Context

_LAST = np.iinfo(np.int64).max


@FORMS("yolo_box")
def yolo_box(
    g: Context, x: Value, size: Value, *, anchors: Any, classes: int, threshold: float, cell: int, clip: bool,
    scale: float, aware: float | None,
) -> list[Value]:  # fmt: skip
    """Arithmetic on [n, anchors, channels, h, w], whose places are a constant grid."""
    if x.shape is None or UNKNOWN in x.shape[2:]:
        raise UnsupportedError("yolo_box: its grid of places is written for known heights and widths")
    count, (h, w) = len(anchors), x.shape[2:]

    def number(*values: Any) -> Value:
        array = np.asarray(values)
        return g.constant(array.reshape(1, -1 if array.ndim == 2 else 1, array.shape[-1], 1, 1), x.dtype)

    def shaped(value: Value, *sizes: int) -> Value:
        return g.node("Reshape", value, g.constant(np.array([-1, *sizes]), "int64"))

    def sigmoid(value: Value) -> Value:
        return g.node("Sigmoid", value)

    parts = shaped(x if aware is None else g.slice(x, 1, count, _LAST), count, 5 + classes, h, w)
    grid = g.constant(np.stack(np.meshgrid(np.arange(w), np.arange(h)))[None, None], x.dtype)
    shift = sigmoid(g.slice(parts, 2, 0, 2)) * number(scale) - number(0.5 * (scale - 1))
    centre = (shift + grid) / number(w, h)
    length = g.node("Exp", g.slice(parts, 2, 2, 4)) * number(*anchors) / number(2 * cell * w, 2 * cell * h)
    sure = sigmoid(g.slice(parts, 2, 4, 5))
    if aware is not None:
        other = sigmoid(shaped(g.slice(x, 1, 0, count), count, 1, h, w))
        sure = g.node("Pow", sure, number(1 - aware)) * g.node("Pow", other, number(aware))
    image = shaped(g.gather(size, g.constant(np.array([1, 0]), "int64"), 1).cast(x.dtype), 1, 2, 1, 1)
    low, high = (centre - length) * image, (centre + length) * image
    if clip:
        low, high = g.node("Max", low, number(0)), g.node("Min", high, image - number(1))
    kept = g.node("GreaterOrEqual", sure, number(threshold))
    found = (g.node("Concat", low, high, axis=2), sure * sigmoid(g.slice(parts, 2, 5, _LAST)))
    sure_ones = [g.node("Where", kept, v, number(0), dtype=x.dtype) for v in found]
    chosen = [g.node("Transpose", v, perm=[0, 1, 3, 4, 2]) for v in sure_ones]
    return [shaped(v, count * h * w, width) for v, width in zip(chosen, (4, classes))]


@FORMS("nms")
def nms(
    g: Context, boxes: Value, scores: Value | None, groups: Value | None, *, threshold: float, allowed: Any, top_k: Any
) -> Value:
    """NonMaxSuppression of one image and class; without scores the first boxes are the best."""
    if groups is not None:
        raise UnsupportedError("nms: boxes suppressed by category have no ONNX form")
    given = -g.arange(g.size(boxes, 0)).cast("float32") if scores is None else scores.cast("float32")
    most, overlap = g.constant(np.array([_LAST]), "int64"), g.constant(np.array([threshold]), "float32")
    found = g.node(
        "NonMaxSuppression", g.unsqueeze(boxes.cast("float32"), [0]), g.unsqueeze(given, [0, 1]), most, overlap,
        dtype="int64",
    )  # fmt: skip
    return g.gather(found, 2, 1)
