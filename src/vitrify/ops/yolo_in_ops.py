"""The ops of YOLOv3 written in simpler ones, for formats and compilers that have nothing for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.meta import UNKNOWN
from .arrange import flip
from .creation import assign_value_op
from .gather import gather, take_along_axis
from .join import concat
from .like import cast, zeros_like
from .reduce import max
from .select import maximum, minimum, where
from .shape import flatten, reshape, unflatten, unsqueeze
from .special import sigmoid
from .statistics import argmax
from .transpose import transpose
from .unary import exp, log

Anchors = tuple[tuple[int, int], ...]


def _known(array: Any, dtype: Any) -> Any:
    """A constant."""
    array = np.asarray(array, dtype.np)
    return assign_value_op(values=tuple(array.ravel().tolist()), shape=array.shape, dtype=dtype)


def _for_anchors(values: Any, dtype: Any) -> Any:
    """Pairs of numbers, one or one for each anchor, to be met with [n, a, h, w, 2]."""
    array = np.asarray(values)
    return _known(array.reshape(1, -1, 1, 1, 2), dtype)


def _predicted(parts: Any, anchors: Anchors, cell: int, scale: float) -> tuple[Any, Any]:
    """Centres and lengths in parts of the image, [n, a, h, w, 2], that parts [n, a, h, w, 5 + classes] mean."""
    h, w = parts.shape[2:4]
    grid = np.stack(np.meshgrid(np.arange(w), np.arange(h)), axis=-1)[None, None]
    shift = sigmoid(parts[..., :2]) * scale - 0.5 * (scale - 1)
    centre = (shift + _known(grid, parts.dtype)) / _for_anchors((w, h), parts.dtype)
    length = exp(parts[..., 2:4]) * _for_anchors(anchors, parts.dtype)
    return centre, length / _for_anchors((cell * w, cell * h), parts.dtype)


def boxes_in_ops(
    x: Any, size: Any, *, anchors: Anchors, classes: int, threshold: float, cell: int, clip: bool, scale: float,
    aware: float | None,
) -> Any:  # fmt: skip
    """Boxes and scores of known sizes; None of others."""
    if UNKNOWN in x.shape:
        return None
    n, a, (h, w) = x.shape[0], len(anchors), x.shape[2:]

    parts = transpose(reshape(x if aware is None else x[:, a:], [n, a, 5 + classes, h, w]), [0, 1, 3, 4, 2])
    centre, length = _predicted(parts, anchors, cell, scale)
    sure = sigmoid(parts[..., 4:5])
    if aware is not None:
        sure = sure ** (1 - aware) * unsqueeze(sigmoid(x[:, :a]), 4) ** aware
    image = reshape(cast(flip(size, 1), x.dtype), [n, 1, 1, 1, 2])
    low, high = (centre - length / 2) * image, (centre + length / 2) * image
    if clip:
        low, high = maximum(low, zeros_like(low)), minimum(high, image - 1)
    kept = sure >= threshold
    found = concat([low, high], axis=-1), sure * sigmoid(parts[..., 5:])
    return tuple(reshape(where(kept, v, zeros_like(v)), [n, -1, v.shape[-1]]) for v in found)


# --- targets ---------------------------------------------------------------------------------------------------------


def _overlap(centre: Any, length: Any, other_centre: Any, other_length: Any) -> Any:
    """Intersection over union of boxes by centre and lengths, broadcast against each other."""
    low = maximum(centre - length / 2, other_centre - other_length / 2)
    high = minimum(centre + length / 2, other_centre + other_length / 2)
    area = _area(high - low)
    both = where(_both(high > low), area, zeros_like(area))
    return both / (_area(length) + _area(other_length) - both)


def _area(x: Any) -> Any:
    """The product of a pair."""
    return x[..., 0] * x[..., 1]


def _both(x: Any) -> Any:
    """Whether a condition holds for both of a pair."""
    return x[..., 0] & x[..., 1]


def _rows(table: Any, index: Any, shape: list[int]) -> Any:
    """The rows of a constant with these numbers."""
    return reshape(gather(table, reshape(index, [-1])), shape)


def targets_in_ops(
    x: Any, truth: Any, score: Any, *, anchors: Anchors, mask: tuple[int, ...], classes: int, ignore: float,
    cell: int, scale: float,
) -> Any:  # fmt: skip
    """What a network should say of known heights, widths and numbers of boxes; None of others.

    Where several boxes belong to one place, the last one counts: it is found by its number, since what scattering to
    one place twice gives is left open by some formats.
    """
    if UNKNOWN in (*x.shape[1:], *truth.shape[1:]):
        return None
    m, (h, w), boxes = len(mask), x.shape[2:], truth.shape[1]
    parts = transpose(unflatten(x, 1, [m, 5 + classes]), [0, 1, 3, 4, 2])
    middle, size = truth[..., :2], truth[..., 2:]
    real = _both(size > 1e-6)
    centre, length = _predicted(parts, tuple(anchors[i] for i in mask), cell, scale)
    iou = _overlap(unsqueeze(centre, 4), unsqueeze(length, 4), unsqueeze(middle, [1, 2, 3]), unsqueeze(size, [1, 2, 3]))
    well = max(where(unsqueeze(real, [1, 2, 3]), iou, zeros_like(iou)), -1) > ignore
    shapes = _known(np.asarray(anchors, x.dtype.np) / np.asarray(cell * h, x.dtype.np), x.dtype)
    own = unsqueeze(size, 2)
    best = argmax(_overlap(zeros_like(shapes), shapes, zeros_like(own), own), -1)
    which = np.full(len(anchors), -1)
    which[list(mask)] = np.arange(m)
    layer = where(real, _rows(_known(which, best.dtype), best, [-1, boxes]), zeros_like(best) - 1)
    chosen = layer >= 0
    cells = middle * _known([w, h], x.dtype)
    at = cast(cells, best.dtype)
    place = where(chosen, (layer * h + at[..., 1]) * w + at[..., 0], zeros_like(layer))
    weight = score * cast(chosen, score.dtype)
    wanted = _written(x, well, place, chosen, score, boxes)
    fine = cells - cast(at, x.dtype)
    sizes = log(maximum(size, zeros_like(size) + 1e-6) / _rows(shapes, best, [-1, boxes, 2]))
    by = (2 - _area(size)) * weight
    return wanted, place, cast(concat([fine, sizes, unsqueeze(by, -1)], -1), x.dtype), cast(weight, x.dtype)


def _written(x: Any, well: Any, place: Any, chosen: Any, score: Any, boxes: int) -> Any:
    """-1 where a box is predicted well, the score of the last box of each place, and 0 elsewhere: [n, m, h, w]."""
    plain = cast(well, x.dtype) * -1.0
    places = int(np.prod(plain.shape[1:]))
    here = unsqueeze(place, -1) == _known(np.arange(places), place.dtype)
    here = cast(here, place.dtype) * unsqueeze(cast(chosen, place.dtype), -1)
    last = max(here * _known(np.arange(1, boxes + 1)[:, None], place.dtype), 1)
    scores = take_along_axis(cast(score, x.dtype), maximum(last - 1, zeros_like(last)), 1)
    found = where(last > 0, scores, flatten(plain, 1))
    return unflatten(found, 1, plain.shape[1:])


def classes_in_ops(label: Any, *, classes: int, smooth: float, dtype: Any) -> Any:
    """What each class should be, smoothed."""
    hot = unsqueeze(label, -1) == _known(np.arange(classes), label.dtype)
    return cast(hot, dtype) * (1 - 2 * smooth) + smooth
