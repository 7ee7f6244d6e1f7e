"""The ONNX form of unfold: patches of images as columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from .graph import Value
from .table import FORMS, Context

_LAST = np.iinfo(np.int64).max


@FORMS("unfold_patches")
def unfold_patches(g: Context, x: Value, *, kernel: Any, stride: Any, pads: Any, dilation: Any) -> Value:
    """Pad, and a Slice for each place of the kernel: exact for every dtype, which a Conv with ones would not be."""
    images, channels = g.size(x, 0), g.size(x, 1)
    (top, bottom), (left, right) = pads
    padded = g.node("Pad", x, g.ints([0, 0, top, left, 0, 0, bottom, right])) if any(map(any, pads)) else x
    places = [padded]
    for axis, size, step, gap in zip((2, 3), kernel, stride, dilation):
        starts = [k * gap for k in range(size)]
        stops = [(k - size + 1) * gap or _LAST for k in range(size)]
        places = [g.slice(place, axis, a, b, step) for place in places for a, b in zip(starts, stops)]
    area = len(places)
    found = g.node("Concat", *places, axis=1) if area > 1 else places[0]
    split = g.reshape(found, [images, area, channels, -1])
    return g.reshape(g.transpose(split, [0, 2, 1, 3]), [images, channels * area, -1])
