"""Paddle's forms of what detectors do with boxes and regions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtype import int32
from ..core.errors import UnsupportedError
from ..core.meta import UNKNOWN, Meta
from ..ops.registry import get_op
from .emitter import FORMS, Emitter, Value


def _window(output_size: Any, scale: float) -> dict[str, Any]:
    return {"pooled_height": output_size[0], "pooled_width": output_size[1], "spatial_scale": scale}


@FORMS("roi_align")
def roi_align(
    g: Emitter, x: Value, boxes: Value, counts: Value, *, output_size: Any, scale: float, sampling: int, aligned: bool
) -> Value:
    """roi_align."""
    window = _window(output_size, scale)
    given = (x, boxes, g.cast(counts, int32))
    return g.op("roi_align", *given, meta=g.metas[0], **window, sampling_ratio=sampling, aligned=aligned)


@FORMS("roi_pool")
def roi_pool(
    g: Emitter, x: Value, boxes: Value, counts: Value, *, output_size: Any, scale: float
) -> list[Value | None]:
    """roi_pool; where each maximum is, only gradients ask."""
    out = g.metas[0]
    found = g.ops("roi_pool", [x, boxes, g.cast(counts, int32)], [out, out], **_window(output_size, scale))
    return [found[0], None]


@FORMS("psroi_pool")
def psroi_pool(
    g: Emitter, x: Value, boxes: Value, counts: Value, *, output_size: Any, scale: float, sampling: int, aligned: bool
) -> Value:
    """psroi_pool."""
    if x.shape[1] == UNKNOWN:
        raise UnsupportedError("parts of an unknown number of channels have no form in Paddle's programs")
    channels = x.shape[1] // (output_size[0] * output_size[1])
    if channels == 1:
        raise UnsupportedError("PaddlePaddle 3 refuses parts of one channel")
    given, window = (x, boxes, g.cast(counts, int32)), _window(output_size, scale)
    return g.op("psroi_pool", *given, meta=g.metas[0], **window, output_channels=channels)


@FORMS("prior_box")
def prior_box(g: Emitter, x: Value, image: Value, **settings: Any) -> list[Value]:
    """A constant, made of the sizes alone."""
    if UNKNOWN in (*x.shape[2:], *image.shape[2:]):
        raise UnsupportedError("boxes of an image of unknown size have no form in Paddle's programs")
    likes = [np.broadcast_to(np.zeros((), v.dtype.np), (1, 1, *v.shape[2:])) for v in (x, image)]
    return [g.constant(part) for part in get_op("prior_box").kernel(np, *likes, **settings)]


@FORMS("box_encode", "box_decode")
def box_coder(
    g: Emitter, prior: Value, variance: Value | None, target: Value, *, extra: float, scales: Any, axis: int
) -> Value:
    """box_coder."""
    return g.op(
        "box_coder", prior, variance, target, meta=g.metas[0], code_type=f"{g.op_name[4:]}_center_size",
        box_normalized=not extra, axis=axis, variance=[float(s) for s in scales or ()],
    )  # fmt: skip


@FORMS("matrix_nms")
def matrix_nms(
    g: Emitter, boxes: Value, scores: Value, *, low: float, least: float, top: int, keep: int, sigma: float | None,
    background: int, offset: float,
) -> list[Value]:  # fmt: skip
    """matrix_nms."""
    return g.ops(
        "matrix_nms", [boxes, scores], _counted(g, 1, 2), score_threshold=low, nms_top_k=top, keep_top_k=keep,
        post_threshold=least, use_gaussian=sigma is not None, gaussian_sigma=2.0 if sigma is None else sigma,
        background_label=background, normalized=not offset,
    )  # fmt: skip


@FORMS("multiclass_nms")
def multiclass_nms(
    g: Emitter, boxes: Value, scores: Value, counts: Value | None, *, low: float, top: int, keep: int,
    threshold: float, eta: float, background: int, offset: float,
) -> list[Value]:  # fmt: skip
    """multiclass_nms3."""
    return g.ops(
        "multiclass_nms3", [boxes, scores, counts and g.cast(counts, int32)], _counted(g, 1, 2), score_threshold=low,
        nms_top_k=top, keep_top_k=keep, nms_threshold=threshold, normalized=not offset, nms_eta=eta,
        background_label=background,
    )  # fmt: skip


@FORMS("generate_proposals")
def generate_proposals(
    g: Emitter, scores: Value, deltas: Value, sizes: Value, anchors: Value, variances: Value, *, pre: int, post: int,
    threshold: float, min_size: float, eta: float, offset: float,
) -> list[Value]:  # fmt: skip
    """generate_proposals."""
    return g.ops(
        "generate_proposals", [scores, deltas, sizes, anchors, variances], _counted(g, 2), pre_nms_top_n=pre,
        post_nms_top_n=post, nms_thresh=threshold, min_size=min_size, eta=eta, pixel_offset=bool(offset),
    )  # fmt: skip


def _counted(g: Emitter, *places: int) -> list[Meta]:
    """The types of the outputs, of which Paddle counts these in int32."""
    return [Meta(meta.shape, int32) if i in places else meta for i, meta in enumerate(g.metas)]


@FORMS("distribute_fpn_proposals")
def distribute_fpn_proposals(
    g: Emitter, rois: Value, counts: Value | None, *, low: int, high: int, refer: int, scale: float, offset: float
) -> list[Value]:
    """distribute_fpn_proposals: the regions of each level, where each of them is then, and how many there are."""
    n = high - low + 1
    batch = UNKNOWN if counts is None else counts.shape[0]
    groups = [list(g.metas[:n]), [Meta((batch,), int32)] * n, Meta(g.metas[n].shape, int32)]
    levels, numbers, (place,) = g.grouped_ops(
        "distribute_fpn_proposals", [rois, counts and g.cast(counts, int32)], groups, min_level=low, max_level=high,
        refer_level=refer, refer_scale=int(scale), pixel_offset=bool(offset),
    )  # fmt: skip
    return [*levels, place] if counts is None else [*levels, place, *numbers]
