"""Non-maximum suppression: of boxes that overlap, the ones with the best scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.dtype import int64
from ..core.errors import ArgumentError, ShapeError
from ..core.meta import UNKNOWN, Meta
from .arguments import static_int
from .meta_rules import need_one_floating
from .registry import NoGradient, define_op

CHOICE = NoGradient("which boxes remain depends on their places")
# Boxes settled at a time: what they suppress among themselves, then what they suppress further on.
_BLOCK = 512


def overlaps(xp: Any, a: Any, b: Any, offset: float = 0) -> Any:
    """Intersection over union of boxes [..., n, 4] and [..., m, 4]: [..., n, m], 0 for two boxes of no area.

    `offset` is added to lengths.
    """
    low = xp.maximum(a[..., :, None, :2], b[..., None, :, :2])
    high = xp.minimum(a[..., :, None, 2:], b[..., None, :, 2:])
    both = xp.where((high >= low).all(axis=-1), (high - low + offset).prod(axis=-1), 0)
    union = areas(a, offset)[..., :, None] + areas(b, offset)[..., None, :] - both
    return both / xp.where(union == 0, 1, union)


def areas(boxes: Any, offset: float = 0) -> Any:
    """The areas of boxes [..., 4]."""
    return (boxes[..., 2:] - boxes[..., :2] + offset).prod(axis=-1)


def _settled(xp: Any, over: Any) -> Any:
    """Which items stay when each one that stays takes away those later ones that it is over: over [n, n] of bool.

    Of the items before the first wrong one all are right, so each round settles at least one more; a few do.
    """
    over = xp.triu(over, 1)
    stays = xp.ones(len(over), bool)
    while True:
        now = ~(over & stays[:, None]).any(axis=0)
        if bool((now == stays).all()):
            return now
        stays = now


def remaining(xp: Any, boxes: Any, threshold: float, groups: Any = None, offset: float = 0) -> Any:
    """Which of the boxes [n, 4], best first, stay when each takes away those later ones of its group that overlap it by
    more than the threshold. -> [n] bool.
    """
    alive = xp.ones(len(boxes), bool)
    for start in range(0, len(boxes), _BLOCK):
        block = start + xp.flatnonzero(alive[start : start + _BLOCK])
        rest = xp.concatenate([block, start + _BLOCK + xp.flatnonzero(alive[start + _BLOCK :])])
        over = overlaps(xp, boxes[block], boxes[rest], offset) > threshold
        if groups is not None:
            over &= groups[block][:, None] == groups[rest]
        stays = _settled(xp, over[:, : len(block)])
        alive[block] = stays
        alive[rest[len(block) :]] &= ~over[stays, len(block) :].any(axis=0)
    return alive


def _nms_kernel(
    xp: Any, boxes: Any, scores: Any, groups: Any, *, threshold: float, allowed: tuple[int, ...] | None,
    top_k: int | None,
) -> Any:  # fmt: skip
    order = xp.arange(len(boxes)) if scores is None else xp.argsort(-scores, kind="stable")
    if allowed is not None:
        order = order[xp.isin(groups[order], xp.asarray(allowed, dtype=groups.dtype))]
    stays = remaining(xp, boxes[order], threshold, None if groups is None else groups[order])
    return order[stays][:top_k].astype(xp.int64, copy=False)


def _nms_meta(boxes: Meta, scores: Any, groups: Any, **_: Any) -> Meta:
    if boxes.ndim != 2 or boxes.shape[1] not in (4, UNKNOWN):
        raise ShapeError(f"nms: boxes is {boxes}, expected [n, 4]")
    need_one_floating("nms", boxes=boxes)
    need_one_floating("nms", scores=scores)
    for name, values in (("scores", scores), ("category_idxs", groups)):
        sizes = (boxes.shape[0], UNKNOWN)
        if values is not None and (values.ndim != 1 or (sizes[0] != UNKNOWN and values.shape[0] not in sizes)):
            raise ShapeError(f"nms: {name} is {values}, expected one for each of the boxes {boxes}")
    return Meta((UNKNOWN,), int64)


nms_op = define_op("nms", kernel=_nms_kernel, meta=_nms_meta, vjp=CHOICE, maps={"paddle": "nms"})


def nms(
    boxes: Any, iou_threshold: float = 0.3, scores: Any = None, category_idxs: Any = None,
    categories: Sequence[int] | None = None, top_k: int | None = None,
) -> Any:  # fmt: skip
    """The places of the boxes that remain when each takes away worse ones that overlap it by more than iou_threshold.

    boxes: [n, 4] floating as x1, y1, x2, y2, best first unless there are scores [n] -> int64 [kept], best first.
    With scores, category_idxs [n] lets boxes of one category alone meet, `categories` says which of them count, and
    top_k how many boxes remain at most (without categories it has no effect, as in Paddle). Raises ArgumentError when
    category_idxs come without categories.
    Source: paddle.vision.ops.nms.

    Example:
        >>> import vitrify as paddle
        >>> boxes = paddle.to_tensor([[0.0, 0.0, 10.0, 10.0], [1.0, 1.0, 10.0, 10.0], [20.0, 20.0, 30.0, 30.0]])
        >>> paddle.vision.ops.nms(boxes, 0.5, paddle.to_tensor([0.3, 0.9, 0.5])).tolist()
        [1, 2]
    """
    if scores is None or category_idxs is None:
        return nms_op(boxes, scores, None, threshold=float(iou_threshold), allowed=None, top_k=None)
    if categories is None:
        raise ArgumentError("nms: category_idxs need categories, the list of all of them")
    top = None if top_k is None else static_int("nms", top_k, "top_k")
    if top is not None and top > boxes.shape[0] != UNKNOWN:
        raise ArgumentError(f"nms: top_k {top} is more than the {boxes.shape[0]} boxes")
    top = None if top_k is None else static_int("nms", top_k, "top_k")
    allowed = tuple(static_int("nms", c, "categories") for c in categories)
    return nms_op(boxes, scores, category_idxs, threshold=float(iou_threshold), allowed=allowed, top_k=top)


__all__ = ["nms"]
