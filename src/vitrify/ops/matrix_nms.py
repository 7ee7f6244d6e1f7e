"""matrix_nms: boxes keep a score that falls with their overlap with better ones, all at once."""

from __future__ import annotations

from typing import Any

from ..core.dtype import int32
from ..core.errors import ShapeError
from ..core.meta import UNKNOWN, Meta
from .meta_rules import need_one_floating
from .nms import CHOICE, overlaps
from .registry import define_op


def _decay(xp: Any, iou: Any, sigma: float | None) -> Any:
    """What is left of the score of each box, best first, given overlaps [n, n]: the least that a better one leaves."""
    iou = xp.triu(iou, 1)
    hidden = iou.max(axis=0)[:, None]  # how far the better one is itself covered
    left = (1 - iou) / (1 - hidden) if sigma is None else xp.exp((hidden**2 - iou**2) * sigma)
    before = xp.triu(xp.ones(iou.shape, bool), 1)
    return xp.where(before, left, 1).min(axis=0)


def _of_class(
    xp: Any, boxes: Any, scores: Any, *, low: float, least: float, top: int, sigma: float | None, offset: float
) -> tuple[Any, Any]:
    """Indices and new scores of the boxes [n, 4] of one class."""
    order = xp.argsort(-scores, kind="stable")
    order = order[scores[order] > low][: top if top > -1 else None]
    if not len(order):
        return order, scores[order]
    iou = overlaps(xp, boxes[order], boxes[order], offset)
    found = scores[order] * _decay(xp, iou, sigma)
    stays = found > least
    return order[stays], found[stays]


def _of_image(xp: Any, boxes: Any, scores: Any, *, keep: int, background: int, **settings: Any) -> tuple[Any, Any]:
    """[k, 6] of label, score and box, best first, and the indices of the boxes."""
    labels = [label for label in range(len(scores)) if label != background]
    found = [_of_class(xp, boxes, scores[label], **settings) for label in labels]
    index = xp.concatenate([i for i, _ in found])
    score = xp.concatenate([s for _, s in found])
    label = xp.repeat(xp.asarray(labels), [len(i) for i, _ in found])
    order = xp.argsort(-score, kind="stable")[: keep if keep > -1 else None]
    head = xp.stack([label[order].astype(boxes.dtype), score[order]], axis=1)
    return xp.concatenate([head, boxes[index[order]]], axis=1), index[order]


def _kernel(
    xp: Any, boxes: Any, scores: Any, *, low: float, least: float, top: int, keep: int, sigma: float | None,
    background: int, offset: float,
) -> tuple[Any, Any, Any]:  # fmt: skip
    settings = {"low": low, "least": least, "top": top, "sigma": sigma, "offset": offset}
    images = [_of_image(xp, b, s, keep=keep, background=background, **settings) for b, s in zip(boxes, scores)]
    counts = xp.asarray([len(i) for _, i in images], dtype=xp.int32)
    index = xp.concatenate([i + n * boxes.shape[1] for n, (_, i) in enumerate(images)])
    out = xp.concatenate([found for found, _ in images]).astype(boxes.dtype, copy=False)
    return out, index.astype(xp.int32)[:, None], counts


def _meta(boxes: Meta, scores: Meta, **_: Any) -> tuple[Meta, Meta, Meta]:
    if boxes.ndim != 3 or boxes.shape[2] not in (4, UNKNOWN) or scores.ndim != 3:
        raise ShapeError(f"matrix_nms: bboxes is {boxes}, scores is {scores}, expected [n, m, 4] and [n, c, m]")
    need_one_floating("matrix_nms", bboxes=boxes, scores=scores)
    return boxes.with_shape((UNKNOWN, 6)), Meta((UNKNOWN, 1), int32), Meta((boxes.shape[0],), int32)


matrix_nms_op = define_op(
    "matrix_nms",
    kernel=_kernel,
    meta=_meta,
    vjp=CHOICE,
    outputs=("out", "index", "counts"),
    maps={"paddle": "matrix_nms"},
)


def matrix_nms(
    bboxes: Any, scores: Any, score_threshold: float, post_threshold: float, nms_top_k: int, keep_top_k: int,
    use_gaussian: bool = False, gaussian_sigma: float = 2.0, background_label: int = 0, normalized: bool = True,
    return_index: bool = False, return_rois_num: bool = True, name: str | None = None,
) -> Any:  # fmt: skip
    """The boxes of all classes whose scores stay above post_threshold after they fell with overlap.

    bboxes: [n, m, 4], scores: [n, classes, m] -> (float [k, 6] of label, score and box, int32 [n] of how many each
    image has or None, int32 [k, 1] of places among the n * m boxes or None). Scores above score_threshold take part,
    the best nms_top_k of each class; keep_top_k remain of each image (-1: all). Raises ShapeError for other ranks.
    Source: Wang et al., "SOLOv2" (2020); paddle.vision.ops.matrix_nms.

    Example:
        >>> import vitrify as paddle
        >>> boxes = paddle.to_tensor([[[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 1.0]]])
        >>> out, count, _ = paddle.vision.ops.matrix_nms(
        ...     boxes, paddle.to_tensor([[[0.5, 0.75]]]), 0.1, 0.0, -1, -1, background_label=-1)
        >>> out[:, 1].tolist(), count.tolist()
        ([0.75, 0.25], [2])
    """
    out, index, counts = matrix_nms_op(
        bboxes, scores, low=float(score_threshold), least=float(post_threshold), top=int(nms_top_k),
        keep=int(keep_top_k), sigma=float(gaussian_sigma) if use_gaussian else None,
        background=int(background_label), offset=0.0 if normalized else 1.0,
    )  # fmt: skip
    return out, counts if return_rois_num else None, index if return_index else None


__all__ = ["matrix_nms"]
