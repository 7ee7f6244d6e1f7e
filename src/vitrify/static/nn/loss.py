"""Losses of `static.nn` with parameters of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import ArgumentError, ShapeError
from ...eager.param_attr import ParamAttrLike
from ...ops.creation import constant
from ...ops.gather import gather
from ...ops.join import concat
from ...ops.like import cast
from ...ops.random import uniform
from ...ops.reduce import sum as sum_
from ...ops.search import searchsorted
from ...ops.select import minimum
from ...ops.shape import reshape
from ...ops.sizes import size_of
from ...ops.special import sigmoid
from ...ops.unary import exp, floor, log
from .parts import Owner


def nce(
    input: Any,
    label: Any,
    num_total_classes: int,
    sample_weight: Any = None,
    param_attr: ParamAttrLike = None,
    bias_attr: ParamAttrLike = None,
    num_neg_samples: int | None = None,
    name: str | None = None,
    sampler: str = "uniform",
    custom_dist: Any = None,
    seed: int = 0,
    is_sparse: bool = False,
) -> Any:
    """The loss of telling each row's own classes from classes that are drawn: noise-contrastive estimation.

    input: [n, d] floating; label: [n, true classes] integer; weight: [num_total_classes, d], bias:
    [num_total_classes, 1]; sample_weight: [n, 1] -> [n, 1]. With o the sigmoid of a class's score and b how often it is
    expected among the num_neg_samples (10) drawn: log((o + b) / o) of the true classes and log((o + b) / b) of those
    drawn, summed and divided by num_neg_samples + 1. sampler: "uniform"; "log_uniform", which draws frequent classes,
    those of low numbers, more often; "custom_dist" with a probability for each class. A seed other than 0: the same
    classes in each run; is_sparse changes nothing, gradients are dense. Raises ArgumentError for other samplers,
    ShapeError for other shapes. Source: paddle.static.nn.nce; Gutmann and Hyvärinen 2010.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        ...     words = paddle.static.data("words", [None, 8])
        ...     label = paddle.static.data("label", [None, 1], "int64")
        ...     paddle.static.nn.nce(words, label, num_total_classes=100, num_neg_samples=5).shape
        paddle.Size([-1, 1])
    """
    if len(input.shape) != 2 or len(label.shape) != 2:
        raise ShapeError(f"nce: input and label must have 2 dimensions, got {list(input.shape)}, {list(label.shape)}")
    chances = _chances(sampler, num_total_classes, custom_dist)
    count = 10 if num_neg_samples is None else int(num_neg_samples)
    owner = Owner("nce", name, input.dtype)
    width = owner.known(input.shape[1], "the last dimension of input")
    weight = owner.weight([num_total_classes, width], param_attr)
    bias = owner.bias([num_total_classes, 1], bias_attr)
    true = owner.known(label.shape[1], "the number of true classes")
    classes = concat([cast(label, "int64"), _drawn(sampler, chances, [size_of(input, 0), count], seed)], axis=1)
    flat = reshape(classes, [-1])
    scores = sum_(reshape(gather(weight, flat), [-1, true + count, width]) * input.unsqueeze(1), axis=2)
    if bias is not None:
        scores = scores + reshape(gather(bias, flat), [-1, true + count])
    seen = sigmoid(scores)
    noise = cast(reshape(gather(constant(chances * count), flat), [-1, true + count]), input.dtype)
    both = log(seen + noise)
    cost = sum_(both, axis=1, keepdim=True) - sum_(log(seen[:, :true]), axis=1, keepdim=True)
    cost = cost - sum_(log(noise[:, true:]), axis=1, keepdim=True)
    return (cost if sample_weight is None else cost * sample_weight) / (count + 1)


def _chances(sampler: str, classes: int, custom: Any) -> np.ndarray[Any, Any]:
    """How likely each class is drawn, as float64."""
    if sampler == "uniform":
        return np.full(classes, 1 / classes)
    if sampler == "log_uniform":
        numbers = np.arange(classes)
        found: np.ndarray[Any, Any] = np.log((numbers + 2) / (numbers + 1)) / np.log(classes)
        return found
    if sampler != "custom_dist":
        raise ArgumentError(f"nce: sampler must be 'uniform', 'log_uniform' or 'custom_dist', got {sampler!r}")
    if custom is None or np.shape(custom) != (classes,):
        raise ArgumentError(f"nce: custom_dist must have a probability for each of the {classes} classes")
    return np.asarray(custom, "float64")


def _drawn(sampler: str, chances: np.ndarray[Any, Any], shape: list[Any], seed: int) -> Any:
    """Classes that are drawn, int64 of this shape."""
    at = uniform(shape, "float64", 0.0, 1.0, seed=seed)
    last = len(chances) - 1
    if sampler == "uniform":
        found = floor(at * len(chances))
    elif sampler == "log_uniform":
        found = floor(exp(at * float(np.log(len(chances))))) - 1
    else:
        found = searchsorted(constant(np.cumsum(chances) / chances.sum()), at, right=True)
    return minimum(cast(found, "int64"), constant(np.asarray(last)))


__all__ = ["nce"]
