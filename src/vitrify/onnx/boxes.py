"""ONNX forms of what reads boxes off a detector's output."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtype import int64
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
    """NonMaxSuppression of one image, a class for each category; without scores the first boxes are the best."""
    given = -g.arange(g.size(boxes, 0)).cast("float32") if scores is None else scores.cast("float32")
    most, overlap = g.constant(np.array([_LAST]), "int64"), g.constant(np.array([threshold]), "float32")
    images, classes = g.unsqueeze(boxes.cast("float32"), [0]), g.unsqueeze(given, [0, 1])
    if groups is None:
        return g.gather(g.node("NonMaxSuppression", images, classes, most, overlap, dtype="int64"), 2, 1)
    names = g.constant(np.asarray(allowed).reshape(1, -1, 1), groups.dtype)
    lowest = g.constant(np.array([np.finfo(np.float32).min]), "float32")  # scores below take no part
    is_there = g.node("Equal", g.unsqueeze(groups, [0, 1]), names)
    classes = g.node("Where", is_there, classes, g.constant(-np.inf, "float32"), dtype="float32")
    found = g.node("NonMaxSuppression", images, classes, most, overlap, lowest, dtype="int64")
    return _best_first(g, given, g.gather(found, 2, 1), top_k)


def _best_first(g: Context, scores: Value, kept: Value, top_k: int | None) -> Value:
    """The boxes that are kept, by their scores: NonMaxSuppression gives one class behind the other."""
    size = g.node("Shape", scores)
    _, order = g.nodes_of("TopK", [scores, size], [scores.dtype, int64], axis=0)
    ones = g.node("Expand", g.ints(1), g.node("Shape", kept))
    marks = g.node("ScatterElements", g.node("Expand", g.ints(0), size), kept, ones)
    best = g.node("Compress", order, g.gather(marks, order, 0).cast("bool"), axis=0)
    return best if top_k is None else g.slice(best, 0, 0, top_k)
