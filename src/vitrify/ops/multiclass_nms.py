"""multiclass_nms: the boxes of each class that overlap no better one, and of all classes the best of an image."""

from __future__ import annotations

from typing import Any

from ..core.dtype import int32
from ..core.errors import ShapeError
from ..core.meta import UNKNOWN, Meta
from .meta_rules import need_one_floating
from .nms import CHOICE, overlaps, remaining
from .registry import define_op


def _falling(xp: Any, boxes: Any, threshold: float, eta: float, offset: float) -> Any:
    """As `remaining`, with a threshold that falls to `eta` of itself with each box that stays while it is above 0.5."""
    stays = xp.zeros(len(boxes), bool)
    most = xp.zeros(len(boxes))  # overlap with one that stays
    at = 0
    while True:
        free = xp.flatnonzero(most[at:] <= threshold)
        if not len(free):
            return stays
        at += int(free[0])
        stays[at] = True
        most = xp.maximum(most, overlaps(xp, boxes[at : at + 1], boxes, offset)[0])
        threshold *= eta if threshold > 0.5 else 1
        at += 1


def _of_class(
    xp: Any, boxes: Any, scores: Any, *, low: float, top: int, threshold: float, eta: float, offset: float
) -> Any:
    """The places of the boxes [n, 4] of one class that stay, best first."""
    order = xp.argsort(-scores, kind="stable")
    order = order[scores[order] > low][: top if top > -1 else None]
    if eta < 1:
        return order[_falling(xp, boxes[order], threshold, eta, offset)]
    return order[remaining(xp, boxes[order], threshold, offset=offset)]


def _of_image(xp: Any, boxes: Any, scores: Any, *, keep: int, background: int, by_place: bool, **settings: Any) -> Any:
    """Labels, scores, boxes and places of what an image keeps: boxes [c or 1, n, 4], scores [c, n]; by class."""
    labels = [label for label in range(len(scores)) if label != background]
    found = [_of_class(xp, boxes[label % len(boxes)], scores[label], **settings) for label in labels]
    place = xp.concatenate([xp.zeros(0, int), *found])
    label = xp.repeat(xp.asarray(labels, int), [len(f) for f in found])
    if -1 < keep < len(place):
        best = xp.sort(xp.argsort(-scores[label, place], kind="stable")[:keep])
        label, place = label[best], place[best]
    if by_place:
        order = xp.lexsort(xp.stack([place, label]))
        label, place = label[order], place[order]
    return label, scores[label, place], boxes[label % len(boxes), place], place


def _kernel(
    xp: Any, boxes: Any, scores: Any, counts: Any, *, low: float, top: int, keep: int, threshold: float,
    eta: float, background: int, offset: float,
) -> tuple[Any, Any, Any]:  # fmt: skip
    settings = {"low": low, "top": top, "threshold": threshold, "eta": eta, "offset": offset}
    classes = scores.shape[1]
    if counts is None:
        images = [(b[None], s, n * boxes.shape[1], 1, 0) for n, (b, s) in enumerate(zip(boxes, scores))]
    else:
        ends = [0, *xp.cumsum(counts).tolist()]
        images = [
            (boxes[a:b].transpose(1, 0, 2), scores[a:b].T, a * classes, classes, 1) for a, b in zip(ends, ends[1:])
        ]
    outs, indices = [], []
    for image_boxes, image_scores, start, step, by_class in images:
        label, score, box, place = _of_image(
            xp, image_boxes, image_scores, keep=keep, background=background, by_place=bool(by_class), **settings
        )
        outs.append(xp.concatenate([label[:, None].astype(boxes.dtype), score[:, None], box], axis=1))
        indices.append(start + place * step + label * by_class)
    kept = xp.asarray([len(i) for i in indices], dtype=xp.int32)
    out = xp.concatenate([xp.zeros((0, 6), boxes.dtype), *outs])
    return out, xp.concatenate([xp.zeros(0, int), *indices]).astype(xp.int32)[:, None], kept


def _meta(boxes: Meta, scores: Meta, counts: Any, **_: Any) -> tuple[Meta, Meta, Meta]:
    ranks = (3, 3) if counts is None else (3, 2)
    if (boxes.ndim, scores.ndim) != ranks or boxes.shape[2] not in (4, UNKNOWN):
        wanted = "[n, m, 4] and [n, c, m]" if counts is None else "[m, c, 4] and [m, c]"
        raise ShapeError(f"multiclass_nms: bboxes is {boxes}, scores is {scores}, expected {wanted}")
    need_one_floating("multiclass_nms", bboxes=boxes, scores=scores)
    images = boxes.shape[0] if counts is None else counts.shape[0]
    return boxes.with_shape((UNKNOWN, 6)), Meta((UNKNOWN, 1), int32), Meta((images,), int32)


multiclass_nms_op = define_op(
    "multiclass_nms",
    kernel=_kernel,
    meta=_meta,
    vjp=CHOICE,
    outputs=("out", "index", "counts"),
    maps={"paddle": "multiclass_nms3"},
)


def multiclass_nms(
    bboxes: Any, scores: Any, rois_num: Any = None, score_threshold: float = 0.0, nms_top_k: int = -1,
    keep_top_k: int = -1, nms_threshold: float = 0.3, normalized: bool = True, nms_eta: float = 1.0,
    background_label: int = -1,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """What a detector keeps of its boxes: in each class those that overlap no better one by more than nms_threshold.

    bboxes: [n, m, 4], scores: [n, classes, m]; or with rois_num, int32 [n] of how many each image has, [m, classes, 4]
    and [m, classes] -> (float [k, 6] of label, score and box, by class, int32 [k, 1] of places among the n * m boxes or
    m * classes boxes, int32 [n] of how many each image keeps). Scores above score_threshold take part, the best
    nms_top_k of each class; keep_top_k remain of each image (-1: all). With nms_eta < 1 the threshold falls by it with
    each box that stays while it is above 0.5. `normalized`: sizes are differences of coordinates, else one more.
    Raises ShapeError for other shapes. Source: the operator multiclass_nms3 of PaddlePaddle's programs.

    Example:
        >>> import vitrify as paddle
        >>> from vitrify.ops.multiclass_nms import multiclass_nms
        >>> boxes = paddle.to_tensor([[[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 1.5], [3.0, 3.0, 4.0, 4.0]]])
        >>> out, places, kept = multiclass_nms(boxes, paddle.to_tensor([[[0.5, 0.75, 0.25]]]), nms_threshold=0.5)
        >>> out[:, 1].tolist(), places.tolist(), kept.tolist()
        ([0.75, 0.25], [[1], [2]], [2])
    """
    found: tuple[Any, Any, Any] = multiclass_nms_op(
        bboxes, scores, rois_num, low=float(score_threshold), top=int(nms_top_k), keep=int(keep_top_k),
        threshold=float(nms_threshold), eta=float(nms_eta), background=int(background_label),
        offset=0.0 if normalized else 1.0,
    )  # fmt: skip
    return found


__all__ = ["multiclass_nms"]
