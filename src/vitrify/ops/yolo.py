"""The one-stage detector YOLOv3: its boxes (yolo_box) and its loss (yolo_loss)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.dtype import int64
from ..core.errors import ArgumentError, ShapeError
from ..core.meta import UNKNOWN, Meta
from .activation import log_sigmoid
from .complex_ import abs
from .gather import take_along_axis
from .like import cast, zeros_like
from .meta_rules import need_one_floating
from .reduce import sum
from .registry import NoGradient, define_op
from .scalar import scalars_for
from .select import maximum
from .shape import flatten, reshape, unflatten, unsqueeze
from .transpose import transpose
from .yolo_in_ops import Anchors, boxes_in_ops, classes_in_ops, targets_in_ops


def _pairs(op: str, anchors: Sequence[int]) -> Anchors:
    if not anchors or len(anchors) % 2:
        raise ArgumentError(f"{op}: anchors must be pairs of width and height, got {list(anchors)}")
    flat = [int(a) for a in anchors]
    return tuple(zip(flat[0::2], flat[1::2]))


def _check_channels(op: str, x: Meta, each: int, anchors: int) -> None:
    if x.ndim != 4 or x.shape[1] not in (each * anchors, UNKNOWN):
        raise ShapeError(f"{op}: x is {x}, expected [n, {each * anchors}, h, w]: {each} for each of {anchors} anchors")


def _predicted(xp: Any, x: Any, anchors: Any, cell: float, scale: float) -> tuple[Any, Any]:
    """Centres in parts of the image and lengths in parts of the input [n, a, h, w, 2] that x [n, a, 4.., h, w] means.

    cell: how many elements of the input one of x stands for.
    """
    h, w = x.shape[3:]
    grid = xp.stack(xp.meshgrid(xp.arange(w), xp.arange(h)), axis=-1)
    shift = scalars_for(xp).sigmoid(x[:, :, :2].astype(x.dtype)) * scale - 0.5 * (scale - 1)
    centre = (xp.moveaxis(shift, 2, -1) + grid) / xp.asarray([w, h])
    lengths = xp.exp(xp.moveaxis(x[:, :, 2:4], 2, -1)) * xp.asarray(anchors)[:, None, None]
    return centre.astype(x.dtype), (lengths / xp.asarray([cell * w, cell * h])).astype(x.dtype)


# --- boxes -----------------------------------------------------------------------------------------------------------


def _box_kernel(
    xp: Any, x: Any, size: Any, *, anchors: Anchors, classes: int, threshold: float, cell: int, clip: bool,
    scale: float, aware: float | None,
) -> tuple[Any, Any]:  # fmt: skip
    n, a, (h, w) = x.shape[0], len(anchors), x.shape[2:]
    sigmoid = scalars_for(xp).sigmoid
    parts = x[:, 0 if aware is None else a :].reshape(n, a, 5 + classes, h, w)
    centre, length = _predicted(xp, parts, anchors, cell, scale)
    sure = sigmoid(parts[:, :, 4])
    if aware is not None:
        sure = sure ** (1 - aware) * sigmoid(x[:, :a]) ** aware
    image = size[:, ::-1].astype(x.dtype).reshape(n, 1, 1, 1, 2)
    low, high = (centre - length / 2) * image, (centre + length / 2) * image
    if clip:
        low, high = xp.maximum(low, 0), xp.minimum(high, image - 1)
    kept = (sure >= threshold)[..., None]
    boxes = xp.where(kept, xp.concatenate([low, high], axis=-1), 0)
    scores = xp.where(kept, sure[..., None] * sigmoid(xp.moveaxis(parts[:, :, 5:], 2, -1)), 0)
    return boxes.reshape(n, -1, 4).astype(x.dtype), scores.reshape(n, -1, classes).astype(x.dtype)


def _box_meta(x: Meta, size: Meta, *, anchors: Anchors, classes: int, aware: float | None, **_: Any) -> Any:
    need_one_floating("yolo_box", x=x)
    _check_channels("yolo_box", x, 5 + classes + (aware is not None), len(anchors))
    places = UNKNOWN if UNKNOWN in x.shape[2:] else len(anchors) * x.shape[2] * x.shape[3]
    return x.with_shape((x.shape[0], places, 4)), x.with_shape((x.shape[0], places, classes))


yolo_box_op = define_op(
    "yolo_box",
    kernel=_box_kernel,
    meta=_box_meta,
    vjp=NoGradient("boxes are read off a trained network"),
    outputs=("boxes", "scores"),
    maps={"paddle": "yolo_box"},
    decompose=boxes_in_ops,
)


def yolo_box(
    x: Any, img_size: Any, anchors: Sequence[int], class_num: int, conf_thresh: float, downsample_ratio: int,
    clip_bbox: bool = True, name: str | None = None, scale_x_y: float = 1.0, iou_aware: bool = False,
    iou_aware_factor: float = 0.5,
) -> Any:  # fmt: skip
    """The boxes and class scores that the output of a YOLOv3 network means; zeros where it is not sure enough.

    x: [n, anchors * (5 + class_num), h, w], with iou_aware [n, anchors * (6 + class_num), h, w], img_size: integers
    [n, 2] of height and width -> [n, anchors * h * w, 4] as x1, y1, x2, y2 and [n, anchors * h * w, class_num].
    Raises ShapeError for other numbers of channels. Source: Redmon, Farhadi 2018; paddle.vision.ops.yolo_box.

    Example:
        >>> import vitrify as paddle
        >>> x, size = paddle.zeros([1, 6, 1, 1]), paddle.to_tensor([[32, 32]], dtype="int32")
        >>> boxes, scores = paddle.vision.ops.yolo_box(x, size, [16, 8], 1, 0.1, 32)
        >>> boxes.tolist(), scores.tolist()
        ([[[8.0, 12.0, 24.0, 20.0]]], [[[0.25]]])
    """
    return tuple(yolo_box_op(
        x, img_size, anchors=_pairs("yolo_box", anchors), classes=int(class_num), threshold=float(conf_thresh),
        cell=int(downsample_ratio), clip=bool(clip_bbox), scale=float(scale_x_y),
        aware=float(iou_aware_factor) if iou_aware else None,
    ))  # fmt: skip


# --- loss ------------------------------------------------------------------------------------------------------------


def _overlap(xp: Any, centre: Any, length: Any, other_centre: Any, other_length: Any) -> Any:
    """Intersection over union of boxes by centre and lengths, broadcast against each other."""
    low = xp.maximum(centre - length / 2, other_centre - other_length / 2)
    high = xp.minimum(centre + length / 2, other_centre + other_length / 2)
    both = xp.where((high > low).all(axis=-1), (high - low).prod(axis=-1), 0)
    return both / (length.prod(axis=-1) + other_length.prod(axis=-1) - both)


def _targets_kernel(
    xp: Any, x: Any, truth: Any, score: Any, *, anchors: Anchors, mask: tuple[int, ...], classes: int, ignore: float,
    cell: int, scale: float,
) -> tuple[Any, Any, Any, Any]:  # fmt: skip
    n, m, (h, w) = x.shape[0], len(mask), x.shape[2:]
    parts = x.reshape(n, m, 5 + classes, h, w)
    real = (truth[..., 2:] > 1e-6).all(axis=-1)
    # Places without an object are not blamed where they predict a true box well.
    centre, length = _predicted(xp, parts, [anchors[i] for i in mask], cell, scale)
    iou = _overlap(
        xp, centre[..., None, :], length[..., None, :], truth[:, None, None, None, :, :2],
        truth[:, None, None, None, :, 2:],
    )  # fmt: skip
    well = xp.where(real[:, None, None, None], iou, 0).max(axis=-1, initial=0) > ignore
    wanted = xp.ascontiguousarray(xp.where(well, -1, 0).astype(x.dtype))
    # Each true box is the matter of the anchor most like it, at the place of its centre.
    shapes = xp.asarray(anchors, dtype=x.dtype) / xp.asarray(cell * h, dtype=x.dtype)
    best = _overlap(xp, shapes * 0, shapes, truth[:, :, None, 2:] * 0, truth[:, :, None, 2:]).argmax(axis=-1)
    which = xp.full(len(anchors), -1)
    which[xp.asarray(mask)] = xp.arange(m)
    layer = xp.where(real, which[best], -1)
    at = (truth[..., :2] * xp.asarray([w, h], dtype=x.dtype)).astype(int)
    place = (layer * h + at[..., 1]) * w + at[..., 0]
    chosen = layer >= 0
    image, number = xp.nonzero(chosen)
    flat = wanted.reshape(n, -1)
    flat[image, place[image, number]] = score[image, number]
    fine = truth[..., :2] * xp.asarray([w, h], dtype=x.dtype) - at
    sizes = xp.log(xp.maximum(truth[..., 2:], 1e-6) / shapes[best])
    weight = (2 - truth[..., 2:].prod(axis=-1)) * score * chosen
    box = xp.concatenate([fine, sizes, weight[..., None]], axis=-1).astype(x.dtype)
    return wanted, xp.where(chosen, place, 0), box, (score * chosen).astype(x.dtype)


def _targets_meta(
    x: Meta, truth: Meta, score: Meta, *, mask: tuple[int, ...], classes: int, **_: Any
) -> tuple[Meta, Meta, Meta, Meta]:
    need_one_floating("yolo_loss", x=x)
    _check_channels("yolo_loss", x, 5 + classes, len(mask))
    if truth.ndim != 3 or truth.shape[2] not in (4, UNKNOWN):
        raise ShapeError(f"yolo_loss: gt_box is {truth}, expected [n, boxes, 4]")
    each = truth.shape[:2]
    return (
        x.with_shape((x.shape[0], len(mask), *x.shape[2:])),
        Meta(each, int64),
        x.with_shape((*each, 5)),
        x.with_shape(each),
    )


yolo_targets_op = define_op(
    "yolo_targets",
    kernel=_targets_kernel,
    meta=_targets_meta,
    vjp=NoGradient("what the network should say is given"),
    outputs=("wanted", "place", "box", "weight"),
    decompose=targets_in_ops,
)


def _class_targets_kernel(xp: Any, label: Any, *, classes: int, smooth: float, dtype: Any) -> Any:
    hot = label[..., None] == xp.arange(classes)
    return xp.where(hot, 1 - smooth, smooth).astype(dtype.np)


class_targets_op = define_op(
    "class_targets",
    kernel=_class_targets_kernel,
    meta=lambda label, *, classes, smooth, dtype: Meta((*label.shape, classes), dtype),
    vjp=NoGradient("labels are integers"),
    decompose=classes_in_ops,
)


def _surprise(logit: Any, target: Any) -> Any:
    """The cross entropy of a probability given as logit."""
    return (1 - target) * logit - log_sigmoid(logit)


def yolo_loss(
    x: Any, gt_box: Any, gt_label: Any, anchors: Sequence[int], anchor_mask: Sequence[int], class_num: int,
    ignore_thresh: float, downsample_ratio: int, gt_score: Any = None, use_label_smooth: bool = True,
    name: str | None = None, scale_x_y: float = 1.0,
) -> Any:  # fmt: skip
    """The YOLOv3 loss of each image: of places and sizes of true boxes, of where there are objects, of their classes.

    x: [n, len(anchor_mask) * (5 + class_num), h, w] with h = w, gt_box: [n, b, 4] as centre, width and height in parts
    of the image (zeros: none), gt_label: integers [n, b], gt_score: [n, b] weights -> [n]. A place that overlaps a true
    box by more than ignore_thresh is not blamed. Gradients flow to x. Raises ShapeError for other numbers of channels.
    Source: Redmon, Farhadi 2018; paddle.vision.ops.yolo_loss.

    Example:
        >>> import vitrify as paddle
        >>> box, label = paddle.to_tensor([[[0.5, 0.5, 0.5, 0.25]]]), paddle.to_tensor([[0]], dtype="int32")
        >>> loss = paddle.vision.ops.yolo_loss(paddle.zeros([1, 6, 1, 1]), box, label, [16, 8], [0], 1, 0.5, 32)
        >>> round(loss.item(), 3)
        3.986
    """
    pairs, mask, classes = _pairs("yolo_loss", anchors), tuple(int(i) for i in anchor_mask), int(class_num)
    score = zeros_like(gt_box[:, :, 0]) + 1 if gt_score is None else gt_score
    wanted, place, box, weight = yolo_targets_op(
        x, gt_box, score, anchors=pairs, mask=mask, classes=classes, ignore=float(ignore_thresh),
        cell=int(downsample_ratio), scale=float(scale_x_y),
    )  # fmt: skip
    parts = unflatten(x, 1, [len(mask), 5 + classes])
    rows = reshape(transpose(parts, [0, 1, 3, 4, 2]), [0, -1, 5 + classes])
    found = take_along_axis(rows, unsqueeze(place, -1), 1)
    where = _surprise(found[..., :2], box[..., :2]) + abs(found[..., 2:4] - box[..., 2:4])
    smooth = min(1 / classes, 1 / 40) if use_label_smooth else 0.0
    labels = class_targets_op(gt_label, classes=classes, smooth=smooth, dtype=x.dtype)
    kinds = sum(_surprise(found[..., 5:], labels), -1)
    objects = _surprise(parts[:, :, 4], cast(wanted > 1e-5, x.dtype))
    blame = maximum(wanted, cast(wanted > -0.5, x.dtype) * cast(wanted <= 1e-5, x.dtype))
    return sum(sum(where, -1) * box[..., 4] + kinds * weight, 1) + sum(flatten(objects * blame, 1), 1)


__all__ = ["yolo_box", "yolo_loss"]
