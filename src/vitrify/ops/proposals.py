"""Boxes that a detector proposes: generate_proposals, and distribute_fpn_proposals over the levels of a pyramid."""

from __future__ import annotations

import math
from typing import Any

from ..core.dtype import int32
from ..core.errors import ArgumentError, DTypeError, ShapeError
from ..core.meta import UNKNOWN, Meta
from .meta_rules import need_one_floating
from .nms import CHOICE, areas, overlaps, remaining
from .registry import VARIADIC_OUTPUTS, define_op

# --- levels of a pyramid ---------------------------------------------------------------------------------------------


def _levels(xp: Any, boxes: Any, *, low: int, high: int, refer: int, scale: float, offset: float) -> Any:
    """The level of each box: `refer` for one of size `scale`, one more for each doubling."""
    empty = (boxes[:, 2:] < boxes[:, :2]).any(axis=1)
    size = xp.sqrt(xp.where(empty, 0, areas(boxes, offset)))
    level = xp.floor(xp.log2(size / scale + size.dtype.type(1e-8)) + refer)
    return xp.clip(level, low, high).astype(int)


def _distribute_kernel(xp: Any, rois: Any, counts: Any, *, low: int, high: int, **settings: Any) -> tuple[Any, ...]:
    level = _levels(xp, rois, low=low, high=high, **settings)
    order = xp.argsort(level, kind="stable")
    places = xp.empty(len(rois), xp.int32)
    places[order] = xp.arange(len(rois), dtype=xp.int32)
    image = xp.zeros(len(rois), int) if counts is None else xp.repeat(xp.arange(len(counts)), counts.tolist())
    images = 1 if counts is None else len(counts)
    chosen = [level == n for n in range(low, high + 1)]
    numbers = [xp.bincount(image[c], minlength=images).astype(xp.int32) for c in chosen]
    return (*[rois[c] for c in chosen], places[:, None], *numbers)


def _distribute_meta(rois: Meta, counts: Any, *, low: int, high: int, **_: Any) -> tuple[Meta, ...]:
    if rois.ndim != 2 or rois.shape[1] not in (4, UNKNOWN):
        raise ShapeError(f"distribute_fpn_proposals: fpn_rois is {rois}, expected [n, 4]")
    need_one_floating("distribute_fpn_proposals", fpn_rois=rois)
    if counts is not None and not counts.dtype.is_integer:
        raise DTypeError(f"distribute_fpn_proposals: rois_num is {counts}, expected integers")
    n = high - low + 1
    images = 1 if counts is None else counts.shape[0]
    some = rois.with_shape((UNKNOWN, 4))
    return (*[some] * n, Meta((rois.shape[0], 1), int32), *[Meta((images,), int32)] * n)


distribute_op = define_op(
    "distribute_fpn_proposals",
    kernel=lambda xp, rois, counts, *, low, high, refer, scale, offset: _distribute_kernel(
        xp, rois, counts, low=low, high=high, refer=refer, scale=scale, offset=offset
    ),
    meta=_distribute_meta,
    vjp=CHOICE,
    outputs=VARIADIC_OUTPUTS,
    maps={"paddle": "distribute_fpn_proposals"},
)


def distribute_fpn_proposals(
    fpn_rois: Any, min_level: int, max_level: int, refer_level: int, refer_scale: float, pixel_offset: bool = False,
    rois_num: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """The boxes of each level of a feature pyramid, the places that restore their order, and their numbers.

    fpn_rois: [n, 4]; a box of size refer_scale (the root of its area) belongs to refer_level, twice as large ones to
    the next. -> (a list of [k, 4], one for each level; int32 [n, 1], where each box stands in their concatenation; a
    list of int32 [images] of how many each image has, None without rois_num [images]). pixel_offset: boxes
    include their last pixels.
    Source: Lin et al., "Feature Pyramid Networks" (2017); paddle.vision.ops.distribute_fpn_proposals.

    Example:
        >>> import vitrify as paddle
        >>> rois = paddle.to_tensor([[0.0, 0.0, 224.0, 224.0], [0.0, 0.0, 60.0, 60.0]])
        >>> levels, restore, _ = paddle.vision.ops.distribute_fpn_proposals(rois, 2, 4, 4, 224)
        >>> [level.shape[0] for level in levels], restore.tolist()
        ([1, 0, 1], [[1], [0]])
    """
    if min_level > max_level:
        raise ArgumentError(f"distribute_fpn_proposals: min_level {min_level} is above max_level {max_level}")
    n = max_level - min_level + 1
    found = distribute_op(
        fpn_rois, rois_num, low=int(min_level), high=int(max_level), refer=int(refer_level), scale=float(refer_scale),
        offset=float(pixel_offset),
    )  # fmt: skip
    return list(found[:n]), found[n], None if rois_num is None else list(found[n + 1 :])


# --- proposals -------------------------------------------------------------------------------------------------------

# exp of a larger number makes a box of an anchor that no image holds.
_LARGEST_LOG = math.log(1000 / 16)


def _decoded(xp: Any, anchors: Any, deltas: Any, variances: Any, offset: float) -> Any:
    """The boxes that deltas (of centres by lengths, of the logarithms of lengths) make of anchors, each [n, 4]."""
    length = anchors[:, 2:] - anchors[:, :2] + offset
    moved = deltas * variances
    centre = anchors[:, :2] + length / 2 + moved[:, :2] * length
    half = xp.exp(xp.minimum(moved[:, 2:], _LARGEST_LOG)) * length / 2
    return xp.concatenate([centre - half, centre + half - offset], axis=1)


def _fading(xp: Any, boxes: Any, threshold: float, eta: float, offset: float) -> Any:
    """`remaining` where every box that stays multiplies a threshold above 0.5 by eta, so one after the other."""
    over = overlaps(xp, boxes, boxes, offset)
    kept: list[int] = []
    for i in range(len(boxes)):
        if not kept or float(over[i, xp.asarray(kept)].max()) <= threshold:
            kept.append(i)
            threshold = threshold * eta if threshold > 0.5 else threshold
    stays = xp.zeros(len(boxes), bool)
    stays[xp.asarray(kept, dtype=int)] = True
    return stays


def _of_image(
    xp: Any, scores: Any, deltas: Any, size: Any, anchors: Any, variances: Any, *, pre: int, post: int,
    threshold: float, min_size: float, eta: float, offset: float,
) -> Any:  # fmt: skip
    order = xp.argsort(-scores, kind="stable")[: pre if pre > 0 else None]
    boxes = _decoded(xp, anchors[order], deltas[order], variances[order], offset)
    edge = size[::-1].astype(boxes.dtype)
    boxes = xp.clip(boxes, 0, xp.concatenate([edge, edge]) - boxes.dtype.type(offset))
    length = boxes[:, 2:] - boxes[:, :2] + offset
    large = (length >= max(min_size, 1.0)).all(axis=1)
    if offset:
        large &= (boxes[:, :2] + length / 2 <= edge).all(axis=1)
    boxes, kept = boxes[large], scores[order][large]
    if not len(boxes):
        return xp.zeros((1, 4), boxes.dtype), xp.zeros(1, boxes.dtype)
    if threshold > 0:
        stays = (
            remaining(xp, boxes, threshold, None, offset) if eta >= 1 else _fading(xp, boxes, threshold, eta, offset)
        )
        boxes, kept = boxes[stays], kept[stays]
    last = post if post > 0 else None
    return boxes[:last], kept[:last]


def _generate_kernel(
    xp: Any, scores: Any, deltas: Any, sizes: Any, anchors: Any, variances: Any, *, pre: int, post: int,
    threshold: float, min_size: float, eta: float, offset: float,
) -> tuple[Any, Any, Any]:  # fmt: skip
    n, a, h, w = scores.shape
    flat = scores.transpose(0, 2, 3, 1).reshape(n, -1)
    moves = deltas.reshape(n, a, 4, h, w).transpose(0, 3, 4, 1, 2).reshape(n, -1, 4)
    boxes, probs = zip(
        *[
            _of_image(
                xp, flat[i], moves[i], sizes[i], anchors.reshape(-1, 4), variances.reshape(-1, 4), pre=pre, post=post,
                threshold=threshold, min_size=min_size, eta=eta, offset=offset,
            )
            for i in range(n)
        ]
    )  # fmt: skip
    counts = xp.asarray([len(b) for b in boxes], dtype=xp.int32)
    return xp.concatenate(boxes).astype(scores.dtype, copy=False), xp.concatenate(probs)[:, None], counts


def _generate_meta(scores: Meta, deltas: Meta, sizes: Meta, anchors: Meta, variances: Meta, **_: Any) -> Any:
    if scores.ndim != 4 or deltas.ndim != 4 or sizes.ndim != 2:
        raise ShapeError(
            f"generate_proposals: scores is {scores}, bbox_deltas is {deltas}, img_size is {sizes}, expected "
            "[n, a, h, w], [n, 4 * a, h, w] and [n, 2]"
        )
    need_one_floating("generate_proposals", scores=scores, bbox_deltas=deltas, anchors=anchors, variances=variances)
    return scores.with_shape((UNKNOWN, 4)), scores.with_shape((UNKNOWN, 1)), Meta((scores.shape[0],), int32)


generate_op = define_op(
    "generate_proposals",
    kernel=_generate_kernel,
    meta=_generate_meta,
    vjp=CHOICE,
    outputs=("rois", "probs", "counts"),
    maps={"paddle": "generate_proposals_v2"},
)


def generate_proposals(
    scores: Any, bbox_deltas: Any, img_size: Any, anchors: Any, variances: Any, pre_nms_top_n: int = 6000,
    post_nms_top_n: int = 1000, nms_thresh: float = 0.5, min_size: float = 0.1, eta: float = 1.0,
    pixel_offset: bool = False, return_rois_num: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """The boxes that a region proposal network finds: the best of the moved anchors that do not overlap.

    scores: [n, a, h, w], bbox_deltas: [n, 4 * a, h, w], img_size: [n, 2] as height, width, anchors and variances:
    [h, w, a, 4] -> (boxes [k, 4], scores [k, 1], int32 [n] of boxes for each image or None). An image without any box
    of min_size gets one box of zeros. eta below 1 lowers the threshold with every box kept.
    Source: Ren et al., "Faster R-CNN" (2015); paddle.vision.ops.generate_proposals.

    Example:
        >>> import vitrify as paddle
        >>> anchors = paddle.to_tensor([0.0, 0.0, 8.0, 8.0]).reshape([1, 1, 1, 4])
        >>> boxes, scores, _ = paddle.vision.ops.generate_proposals(
        ...     paddle.ones([1, 1, 1, 1]), paddle.zeros([1, 4, 1, 1]), paddle.to_tensor([[6.0, 6.0]]), anchors,
        ...     paddle.ones_like(anchors))
        >>> boxes.tolist(), scores.tolist()
        ([[0.0, 0.0, 6.0, 6.0]], [[1.0]])
    """
    rois, probs, counts = generate_op(
        scores, bbox_deltas, img_size, anchors, variances, pre=int(pre_nms_top_n), post=int(post_nms_top_n),
        threshold=float(nms_thresh), min_size=float(min_size), eta=float(eta), offset=float(pixel_offset),
    )  # fmt: skip
    return rois, probs, counts if return_rois_num else None


__all__ = ["distribute_fpn_proposals", "generate_proposals"]
