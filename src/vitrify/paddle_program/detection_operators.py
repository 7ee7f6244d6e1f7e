"""Paddle's operators of detectors, in our own: suppression, anchors, proposals, and what is read of regions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir.known_values import as_tensor
from ..ops import boxes, matrix_nms, multiclass_nms, proposals, roi
from .operator_table import reads


@reads("multiclass_nms3")
def _multiclass_nms(
    found: Any, scores: Any, rois_num: Any = None, *, score_threshold: float, nms_top_k: int, keep_top_k: int,
    nms_threshold: float = 0.3, normalized: bool = True, nms_eta: float = 1.0, background_label: int = 0,
) -> Any:  # fmt: skip
    return multiclass_nms.multiclass_nms(
        as_tensor(found), as_tensor(scores), None if rois_num is None else as_tensor(rois_num), score_threshold,
        nms_top_k, keep_top_k, nms_threshold, normalized, nms_eta, background_label,
    )  # fmt: skip


@reads("matrix_nms")
def _matrix_nms(
    found: Any, scores: Any, *, score_threshold: float, nms_top_k: int, keep_top_k: int, post_threshold: float = 0.0,
    use_gaussian: bool = False, gaussian_sigma: float = 2.0, background_label: int = 0, normalized: bool = True,
) -> Any:  # fmt: skip
    out, counts, index = matrix_nms.matrix_nms(
        as_tensor(found), as_tensor(scores), score_threshold, post_threshold, nms_top_k, keep_top_k, use_gaussian,
        gaussian_sigma, background_label, normalized, return_index=True,
    )  # fmt: skip
    return out, index, counts


@reads("prior_box")
def _prior_box(
    x: Any, image: Any, *, min_sizes: Sequence[float], max_sizes: Sequence[float] = (),
    aspect_ratios: Sequence[float] = (1.0,), variances: Sequence[float] = (0.1, 0.1, 0.2, 0.2), flip: bool = False,
    clip: bool = False, step_w: float = 0.0, step_h: float = 0.0, offset: float = 0.5,
    min_max_aspect_ratios_order: bool = False,
) -> Any:  # fmt: skip
    return boxes.prior_box(
        as_tensor(x), as_tensor(image), list(min_sizes), list(max_sizes) or None, list(aspect_ratios),
        list(variances), flip, clip, [step_w, step_h], offset, min_max_aspect_ratios_order,
    )  # fmt: skip


@reads("box_coder")
def _box_coder(
    prior: Any, prior_variances: Any, target: Any, *, code_type: str = "encode_center_size",
    box_normalized: bool = True, axis: int = 0, variance: Sequence[float] = (),
) -> Any:  # fmt: skip
    by = as_tensor(prior_variances) if prior_variances is not None else list(variance) or [1.0] * 4
    return boxes.box_coder(as_tensor(prior), by, as_tensor(target), code_type, box_normalized, axis)


@reads("distribute_fpn_proposals")
def _distribute_fpn_proposals(
    rois: Any, rois_num: Any = None, *, min_level: int, max_level: int, refer_level: int, refer_scale: int,
    pixel_offset: bool = True,
) -> Any:  # fmt: skip
    of_images = None if rois_num is None else as_tensor(rois_num)
    levels, places, counts = proposals.distribute_fpn_proposals(
        as_tensor(rois), min_level, max_level, refer_level, refer_scale, pixel_offset, of_images
    )
    return levels, counts or [None] * len(levels), places


@reads("generate_proposals")
def _generate_proposals(
    scores: Any, deltas: Any, image: Any, anchors: Any, variances: Any, *, pre_nms_top_n: int, post_nms_top_n: int,
    nms_thresh: float, min_size: float, eta: float = 1.0, pixel_offset: bool = True,
) -> Any:  # fmt: skip
    return proposals.generate_proposals(
        as_tensor(scores), as_tensor(deltas), as_tensor(image), as_tensor(anchors), as_tensor(variances),
        pre_nms_top_n, post_nms_top_n, nms_thresh, min_size, eta, pixel_offset, return_rois_num=True,
    )  # fmt: skip


@reads("roi_align")
def _roi_align(
    x: Any, rois: Any, rois_num: Any, *, pooled_height: int, pooled_width: int, spatial_scale: float = 1.0,
    sampling_ratio: int = -1, aligned: bool = False,
) -> Any:  # fmt: skip
    size = (pooled_height, pooled_width)
    return roi.roi_align(
        as_tensor(x), as_tensor(rois), as_tensor(rois_num), size, spatial_scale, sampling_ratio, aligned
    )


@reads("psroi_pool")
def _psroi_pool(
    x: Any, rois: Any, rois_num: Any, *, pooled_height: int = 1, pooled_width: int = 1, spatial_scale: float = 1.0
) -> Any:
    size = (pooled_height, pooled_width)
    return roi.psroi_pool(as_tensor(x), as_tensor(rois), as_tensor(rois_num), size, spatial_scale)


@reads("roi_pool")
def _roi_pool(
    x: Any, rois: Any, rois_num: Any, *, pooled_height: int, pooled_width: int, spatial_scale: float = 1.0
) -> Any:
    size = (pooled_height, pooled_width)
    return roi.roi_pool(as_tensor(x), as_tensor(rois), as_tensor(rois_num), size, spatial_scale), None
