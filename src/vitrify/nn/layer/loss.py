"""Loss Layers: one line each, a function with settings."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...core.errors import ArgumentError
from .. import functional as F
from .class_loss import *  # noqa: F403 - Paddle's paths lead here
from .functional_layer import layer_of


def _reduction(value: Any) -> Any:
    if value not in ("none", "mean", "sum"):
        raise ArgumentError(f"a loss: reduction must be 'none', 'mean' or 'sum', got {value!r}")
    return value


_loss = partial(
    layer_of,
    module=__name__,
    inputs=("input", "label"),
    private=False,
    shows_name=False,
    kinds={"reduction": _reduction},
)

BCELoss = _loss("BCELoss", F.binary_cross_entropy, weight=None, reduction="mean")
BCEWithLogitsLoss = _loss(
    "BCEWithLogitsLoss",
    F.binary_cross_entropy_with_logits,
    inputs=("logit", "label"),
    weight=None,
    reduction="mean",
    pos_weight=None,
)
CosineEmbeddingLoss = _loss(
    "CosineEmbeddingLoss", F.cosine_embedding_loss, inputs=("input1", "input2", "label"), margin=0, reduction="mean"
)
CrossEntropyLoss = _loss(
    "CrossEntropyLoss",
    F.cross_entropy,
    weight=None,
    ignore_index=-100,
    reduction="mean",
    soft_label=False,
    axis=-1,
    use_softmax=True,
    label_smoothing=0.0,
)
GaussianNLLLoss = _loss(
    "GaussianNLLLoss",
    F.gaussian_nll_loss,
    inputs=("input", "label", "variance"),
    full=False,
    epsilon=1e-6,
    reduction="mean",
)
HingeEmbeddingLoss = _loss("HingeEmbeddingLoss", F.hinge_embedding_loss, margin=1.0, reduction="mean")
KLDivLoss = _loss("KLDivLoss", F.kl_div, named=False, kinds={}, reduction="mean", log_target=False)
L1Loss = _loss("L1Loss", F.l1_loss, reduction="mean")
MarginRankingLoss = _loss(
    "MarginRankingLoss", F.margin_ranking_loss, inputs=("input", "other", "label"), margin=0.0, reduction="mean"
)
MSELoss = _loss("MSELoss", F.mse_loss, named=False, reduction="mean")
MultiLabelMarginLoss = _loss("MultiLabelMarginLoss", F.multi_label_margin_loss, reduction="mean")
MultiLabelSoftMarginLoss = _loss(
    "MultiLabelSoftMarginLoss", F.multi_label_soft_margin_loss, weight=None, reduction="mean"
)
MultiMarginLoss = _loss("MultiMarginLoss", F.multi_margin_loss, p=1, margin=1.0, weight=None, reduction="mean")
NLLLoss = _loss("NLLLoss", F.nll_loss, private=True, weight=None, ignore_index=-100, reduction="mean")
PoissonNLLLoss = _loss(
    "PoissonNLLLoss", F.poisson_nll_loss, private=True, log_input=True, full=False, epsilon=1e-8, reduction="mean"
)
SmoothL1Loss = _loss("SmoothL1Loss", F.smooth_l1_loss, reduction="mean", delta=1.0, is_huber=True)
SoftMarginLoss = _loss("SoftMarginLoss", F.soft_margin_loss, reduction="mean")
TripletMarginLoss = _loss(
    "TripletMarginLoss",
    F.triplet_margin_loss,
    inputs=("input", "positive", "negative"),
    margin=1.0,
    p=2.0,
    epsilon=1e-6,
    swap=False,
    reduction="mean",
)
TripletMarginWithDistanceLoss = _loss(
    "TripletMarginWithDistanceLoss",
    F.triplet_margin_with_distance_loss,
    inputs=("input", "positive", "negative"),
    distance_function=None,
    margin=1.0,
    swap=False,
    reduction="mean",
)
HuberLoss = SmoothL1Loss

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "GaussianNLLLoss",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "PoissonNLLLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]
