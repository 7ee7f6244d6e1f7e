"""Losses between predictions and targets of one shape: elementwise, then reduced. Compositions of other ops."""

from __future__ import annotations

import math
from typing import Any

from .activation import log_sigmoid
from .arguments import rank_of
from .creation import arange
from .like import constant, zeros_like
from .meta_rules import elementwise, real_floating
from .reduce import mean, sum
from .reduction import check_reduction, given, reduced
from .registry import define_elementwise
from .same_sizes import same_sizes
from .select import clip, maximum, where_op
from .shape import unsqueeze
from .sizes import size_of
from .special import sigmoid
from .unary import exp, log, square
from .within import probabilities

LOWEST_LOG = -100.0  # what Paddle and others take for log(0)
LEAST_SPREAD = 1e-12  # likewise for p (1 - p) where it divides


def softplus(x: Any) -> Any:
    """log(1 + exp(x)), exact for large x too (`activation.softplus` turns linear beyond a threshold)."""
    return -log_sigmoid(-x)


def same_shape(op: str, input: Any, label: Any, name: str = "label") -> Any:
    """The label, of which it is sure that it has input's shape; else ShapeError, now or when the program runs."""
    return same_sizes(f"{op}: input and {name} differ in shape", input, label)


def square_error_cost(input: Any, label: Any) -> Any:
    """(input - label) squared, elementwise. Source: paddle.nn.functional.square_error_cost.

    Example:
        >>> import vitrify as paddle
        >>> x, y = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 4.0])
        >>> paddle.nn.functional.square_error_cost(x, y).tolist()
        [0.0, 4.0]
    """
    return square(input - label)


def mse_loss(input: Any, label: Any, reduction: str = "mean", name: str | None = None) -> Any:
    """The mean squared error. input, label: [*s] -> [] or, with "none", [*s]. Source: paddle.nn.functional.mse_loss.

    Example:
        >>> import vitrify as paddle
        >>> x, y = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 4.0])
        >>> paddle.nn.functional.mse_loss(x, y).item()
        2.0
    """
    check_reduction("mse_loss", reduction)
    return reduced(square(input - label), reduction)


def l1_loss(input: Any, label: Any, reduction: str = "mean", name: str | None = None) -> Any:
    """The mean absolute error. input, label: [*s] -> [] or [*s]. Source: paddle.nn.functional.l1_loss.

    Example:
        >>> import vitrify as paddle
        >>> x, y = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 4.0])
        >>> paddle.nn.functional.l1_loss(x, y).item()
        1.0
    """
    check_reduction("l1_loss", reduction)
    return reduced((input - label).abs(), reduction)


def smooth_l1_loss(
    input: Any, label: Any, reduction: str = "mean", delta: float = 1.0, is_huber: bool = True, name: str | None = None
) -> Any:
    """The Huber loss: quadratic up to an error of `delta`, linear beyond; divided by delta with is_huber=False.

    input, label: [*s] -> [] or [*s]. Source: paddle.nn.functional.smooth_l1_loss.

    Example:
        >>> import vitrify as paddle
        >>> x, y = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 4.0])
        >>> paddle.nn.functional.smooth_l1_loss(x, y).item()
        0.75
    """
    check_reduction("smooth_l1_loss", reduction)
    label = same_shape("smooth_l1_loss", input, label)
    error = (input - label).abs()
    loss = where_op(error < delta, 0.5 * square(error), delta * error - 0.5 * delta * delta)
    return reduced(loss if is_huber else loss / delta, reduction)


def log_loss(input: Any, label: Any, epsilon: float = 1e-4, name: str | None = None) -> Any:
    """-label*log(input + epsilon) - (1 - label)*log(1 - input + epsilon), elementwise.

    Source: paddle.nn.functional.log_loss.

    Example:
        >>> import vitrify as paddle
        >>> p = paddle.to_tensor([[0.5]])
        >>> round(paddle.nn.functional.log_loss(p, paddle.ones([1, 1])).item(), 3)
        0.693
    """
    label = given(same_shape("log_loss", input, label))
    return -label * log(input + epsilon) - (1.0 - label) * log(1.0 - input + epsilon)


def _weighted(loss: Any, weight: Any) -> Any:
    return loss if weight is None else loss * weight


# Where both logarithms are composed, the slope of a certain prediction is 0 / 0.
_bce_op = define_elementwise(
    "bce_loss",
    scalar=lambda s, x, label: (
        -(label * s.maximum(s.log(x), LOWEST_LOG) + (1 - label) * s.maximum(s.log(1 - x), LOWEST_LOG))
    ),
    meta=elementwise("bce_loss", ("x", "label"), real_floating),
    vjp={"x": lambda ct, *, x, label: ct * (x - label) / maximum(x * (1.0 - x), LEAST_SPREAD)},
    maps={"paddle": "bce_loss"},
)


def binary_cross_entropy(
    input: Any, label: Any, weight: Any = None, reduction: str = "mean", name: str | None = None
) -> Any:
    """The cross entropy of probabilities `input` in [0, 1] against labels in [0, 1]; log(0) counts as -100.

    The slope of a certain prediction is finite: 0 where it is right.
    input, label: [*s] -> [] or [*s]. Raises ShapeError when they differ, ArgumentError for an input outside of [0, 1].
    Source: paddle.nn.functional.binary_cross_entropy.

    Example:
        >>> import vitrify as paddle
        >>> p = paddle.to_tensor([0.5, 0.5])
        >>> round(paddle.nn.functional.binary_cross_entropy(p, paddle.to_tensor([1.0, 0.0])).item(), 3)
        0.693
    """
    check_reduction("binary_cross_entropy", reduction)
    label = given(same_shape("binary_cross_entropy", input, label))
    input = probabilities("binary_cross_entropy: input", input)
    return reduced(_weighted(_bce_op(input, label), weight), reduction)


def binary_cross_entropy_with_logits(
    logit: Any,
    label: Any,
    weight: Any = None,
    reduction: str = "mean",
    pos_weight: Any = None,
    name: str | None = None,
) -> Any:
    """The cross entropy of sigmoid(logit) against labels in [0, 1], without overflow.

    pos_weight: factor of the positive part, broadcast. logit, label: [*s] -> [] or [*s].
    Source: paddle.nn.functional.binary_cross_entropy_with_logits.

    Example:
        >>> import vitrify as paddle
        >>> z = paddle.to_tensor([0.0, 0.0])
        >>> round(paddle.nn.functional.binary_cross_entropy_with_logits(z, paddle.to_tensor([1.0, 0.0])).item(), 3)
        0.693
    """
    check_reduction("binary_cross_entropy_with_logits", reduction)
    label = given(same_shape("binary_cross_entropy_with_logits", logit, label))
    if pos_weight is None:
        loss = softplus(logit) - logit * label
    else:
        loss = (1.0 - label) * logit + ((constant(pos_weight) - 1.0) * label + 1.0) * softplus(-logit)
    return reduced(_weighted(loss, weight), reduction)


def sigmoid_focal_loss(
    logit: Any,
    label: Any,
    normalizer: Any = None,
    alpha: float = 0.25,
    gamma: float = 2.0,
    reduction: str = "sum",
    name: str | None = None,
) -> Any:
    """The focal loss: cross entropy of sigmoid(logit), easy examples weighed down by (1 - p)**gamma.

    logit, label: [*s]; normalizer: [1], what the loss is divided by. Source: paddle.nn.functional.sigmoid_focal_loss;
    Lin et al., Focal Loss for Dense Object Detection, 2017.

    Example:
        >>> import vitrify as paddle
        >>> z = paddle.to_tensor([[0.0]])
        >>> round(paddle.nn.functional.sigmoid_focal_loss(z, paddle.ones([1, 1])).item(), 4)
        0.0433
    """
    check_reduction("sigmoid_focal_loss", reduction)
    label = same_shape("sigmoid_focal_loss", logit, label)
    p = sigmoid(logit)
    loss = softplus(logit) - logit * constant(label)
    missed = 1.0 - (p * label + (1.0 - p) * (1.0 - label))
    loss = loss * (alpha * label + (1.0 - alpha) * (1.0 - label)) * missed**gamma
    return reduced(loss if normalizer is None else loss / normalizer, reduction)


def kl_div(input: Any, label: Any, reduction: str = "mean", log_target: bool = False, name: str | None = None) -> Any:
    """The Kullback-Leibler divergence from log-probabilities `input` to probabilities `label` (or their logs).

    input, label: [*s] -> [], or [*s] with "none"; "batchmean" divides the sum by the first size.
    Source: paddle.nn.functional.kl_div.

    Example:
        >>> import vitrify as paddle
        >>> q = paddle.log(paddle.to_tensor([[0.5, 0.5]]))
        >>> round(paddle.nn.functional.kl_div(q, paddle.to_tensor([[1.0, 0.0]]), "sum").item(), 3)
        0.693
    """
    check_reduction("kl_div", reduction, ("none", "mean", "sum", "batchmean"))
    label = given(same_shape("kl_div", input, label))
    if log_target:
        loss = exp(label) * (label - input)
    else:
        positive = label > 0
        safe = where_op(positive, label, 1.0)
        loss = where_op(positive, label * (log(safe) - input), zeros_like(input))
    if reduction == "batchmean":
        return sum(mean(loss, axis=0)) if loss.ndim else loss
    return reduced(loss, reduction)


def soft_margin_loss(input: Any, label: Any, reduction: str = "mean", name: str | None = None) -> Any:
    """log(1 + exp(-label * input)) for labels of -1 and 1. Source: paddle.nn.functional.soft_margin_loss.

    Example:
        >>> import vitrify as paddle
        >>> z = paddle.to_tensor([0.0])
        >>> round(paddle.nn.functional.soft_margin_loss(z, paddle.ones([1])).item(), 3)
        0.693
    """
    check_reduction("soft_margin_loss", reduction)
    label = same_shape("soft_margin_loss", input, label)
    return reduced(softplus(-label.astype(input.dtype) * input), reduction)


def multi_label_soft_margin_loss(
    input: Any, label: Any, weight: Any = None, reduction: str = "mean", name: str | None = None
) -> Any:
    """The mean over classes of binary cross entropies of sigmoid(input).

    input, label: [n, classes] -> [] or [n]. Source: paddle.nn.functional.multi_label_soft_margin_loss.

    Example:
        >>> import vitrify as paddle
        >>> z = paddle.zeros([1, 2])
        >>> round(paddle.nn.functional.multi_label_soft_margin_loss(z, paddle.ones([1, 2])).item(), 3)
        0.693
    """
    check_reduction("multi_label_soft_margin_loss", reduction)
    label = same_shape("multi_label_soft_margin_loss", input, label)
    loss = -(label * log_sigmoid(input) + (1.0 - label) * log_sigmoid(-input))
    return reduced(mean(_weighted(loss, weight), axis=-1), reduction)


def poisson_nll_loss(
    input: Any,
    label: Any,
    log_input: bool = True,
    full: bool = False,
    epsilon: float = 1e-8,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """The negative log-likelihood of counts `label` under a Poisson distribution with (log-)rate `input`.

    full: add Stirling's approximation of log(label!). Source: paddle.nn.functional.poisson_nll_loss.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.poisson_nll_loss(paddle.zeros([2]), paddle.ones([2])).item()
        1.0
    """
    check_reduction("poisson_nll_loss", reduction)
    label = same_shape("poisson_nll_loss", input, label)
    loss = exp(input) - label * input if log_input else input - label * log(input + epsilon)
    if full:
        counts = maximum(label, 1.0)
        stirling = counts * log(counts) - counts + 0.5 * log(2.0 * math.pi * counts)
        loss = loss + where_op(label > 1, stirling, zeros_like(stirling))
    return reduced(loss, reduction)


def gaussian_nll_loss(
    input: Any,
    label: Any,
    variance: Any,
    full: bool = False,
    epsilon: float = 1e-6,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """The negative log-likelihood of `label` under normal distributions with mean `input` and `variance`.

    variance: of input's shape, or with a last dimension of 1, or without the last. full: with the constant term.
    Source: paddle.nn.functional.gaussian_nll_loss.

    Example:
        >>> import vitrify as paddle
        >>> one = paddle.ones([2])
        >>> paddle.nn.functional.gaussian_nll_loss(one, one, one).item()
        0.0
    """
    rank_of("gaussian_nll_loss", input, "input")
    check_reduction("gaussian_nll_loss", reduction)
    if rank_of("gaussian_nll_loss", variance, "variance") + 1 == input.ndim:
        variance = unsqueeze(variance, -1)
    spread = clip(constant(variance), min=epsilon)
    loss = 0.5 * (log(spread) + square(input - label) / spread)
    return reduced(loss + 0.5 * math.log(2.0 * math.pi) if full else loss, reduction)


def dice_loss(input: Any, label: Any, epsilon: float = 1e-5, name: str | None = None) -> Any:
    """One minus the dice overlap of class probabilities with labels, averaged over the batch.

    input: [n, *s, classes]; label: [n, *s, 1] of class numbers. Source: paddle.nn.functional.dice_loss.

    Example:
        >>> import vitrify as paddle
        >>> p = paddle.to_tensor([[[1.0, 0.0]]])
        >>> round(paddle.nn.functional.dice_loss(p, paddle.zeros([1, 1, 1], "int64")).item(), 3)
        0.0
    """
    hot = (label == _class_numbers(input)).astype(input.dtype)
    axes = list(range(1, input.ndim))
    overlap = 2.0 * sum(input * hot, axis=axes)
    total = sum(input, axis=axes) + sum(hot, axis=axes)
    return mean(1.0 - overlap / (total + epsilon))


def _class_numbers(input: Any) -> Any:
    return arange(size_of(input, -1), dtype="int64")


__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "dice_loss",
    "gaussian_nll_loss",
    "kl_div",
    "l1_loss",
    "log_loss",
    "mse_loss",
    "multi_label_soft_margin_loss",
    "poisson_nll_loss",
    "sigmoid_focal_loss",
    "smooth_l1_loss",
    "soft_margin_loss",
    "square_error_cost",
]
