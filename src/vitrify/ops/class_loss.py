"""Losses for many classes: hierarchical sigmoid, adaptive softmax, angular margins, sampled class centers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core import philox
from ..core.dtype import int64
from ..core.errors import ArgumentError, DTypeError, IndexRangeError, ShapeError
from ..core.meta import UNKNOWN, Meta
from ..core.rng import Generator
from .activation import softplus
from .arguments import rank_of
from .compare import equal, logical_and
from .creation import arange
from .cross_entropy import softmax_with_cross_entropy
from .gather import gather, take_along_axis
from .like import cast, zeros_like
from .linear import linear
from .matmul import matmul
from .reduce import mean, sum
from .reduction import check_reduction, reduced
from .registry import NoGradient, define_op
from .select import clip, where
from .shape import reshape, squeeze, unsqueeze
from .sizes import size_of
from .softmax import log_softmax
from .trig import acos, cos
from .within import classes

# --- hierarchical sigmoid --------------------------------------------------------------------------------------------


def _path_kernel(xp: Any, label: Any, *, num_classes: int) -> tuple[Any, Any]:
    """The inner nodes on the way to each leaf of the complete binary tree, nearest first, and the turns taken there;
    -1 beyond the root.
    """
    leaf = label.reshape(-1, 1).astype("int64") + num_classes
    if leaf.size and not (num_classes <= int(leaf.min()) and int(leaf.max()) < 2 * num_classes):
        raise IndexRangeError(f"hsigmoid_loss: label lies outside [0, {num_classes})")
    level = xp.arange((2 * num_classes - 1).bit_length() - 1)
    node = (leaf >> (level + 1)) - 1
    return node, xp.where(node >= 0, (leaf >> level) & 1, -1)


def _path_meta(label: Meta, *, num_classes: int) -> tuple[Meta, Meta]:
    if not label.dtype.is_integer:
        raise DTypeError(f"hsigmoid_loss: label is {label}, expected integers")
    rows = UNKNOWN if UNKNOWN in label.shape else label.shape[0]
    path = Meta((rows, (2 * num_classes - 1).bit_length() - 1), int64)
    return path, path


tree_path_op = define_op(
    "tree_path",
    kernel=_path_kernel,
    meta=_path_meta,
    vjp=NoGradient("paths are integers"),
    outputs=("node", "turn"),
)


def hsigmoid_loss(
    input: Any, label: Any, num_classes: int, weight: Any, bias: Any = None, path_table: Any = None,
    path_code: Any = None, is_sparse: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """The cost of the binary decisions on the way to each label's leaf in a tree of classes.

    input: [n, d]; label: [n, 1] integers; weight: [num_classes - 1, d] and bias: [num_classes - 1, 1], one classifier
    an inner node. The tree is the complete binary one, or given by each row's nodes (path_table) and turns (path_code),
    [n, l] integers, negative where a path has ended -> [n, 1]. is_sparse has no effect. Raises ArgumentError below 2
    classes. Source: Morin, Bengio, "Hierarchical Probabilistic Neural Network Language Model" (2005);
    paddle.nn.functional.hsigmoid_loss.

    Example:
        >>> import vitrify as paddle
        >>> label = paddle.to_tensor([[1]])
        >>> round(paddle.nn.functional.hsigmoid_loss(paddle.ones([1, 3]), label, 2, paddle.zeros([1, 3])).item(), 4)
        0.6931
    """
    if num_classes < 2:
        raise ArgumentError(f"hsigmoid_loss: num_classes must be at least 2, got {num_classes}")
    if (path_table is None) != (path_code is None):
        raise ArgumentError("hsigmoid_loss: path_table and path_code must be given together")
    node, turn = tree_path_op(label, num_classes=int(num_classes)) if path_table is None else (path_table, path_code)
    valid = node >= 0
    safe = where(valid, node, zeros_like(node))
    turns = size_of(safe, 1)
    rows = gather(weight, reshape(safe, [-1]), 0)
    rows = reshape(rows, [-1, turns, size_of(weight, 1)])
    score = squeeze(matmul(rows, unsqueeze(input, 2)), 2)
    if bias is not None:
        score = score + reshape(gather(reshape(bias, [-1]), reshape(safe, [-1]), 0), [-1, turns])
    # A score of 0 beyond the root adds log(2), a constant, to the cost of shorter paths, as it does in Paddle.
    score = where(valid, clip(score, -40.0, 40.0), zeros_like(score))
    return sum(softplus(score) - score * cast(turn, score.dtype), 1, keepdim=True)


# --- adaptive softmax ------------------------------------------------------------------------------------------------


def adaptive_log_softmax_with_loss(
    input: Any, label: Any, head_weight: Any, tail_weights: Sequence[Sequence[Any]], cutoffs: Sequence[Any],
    head_bias: Any = None, name: str | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """Each label's log probability under the adaptive softmax, and minus their mean.

    input: [n, d] (or [d]); label: [n] (or []) integers; head_weight: [d, cutoffs[0] + clusters]; tail_weights: for
    each cluster two matrices, [d, h] and [h, size]; cutoffs: where each cluster begins, and the number of classes.
    Raises ShapeError when dimensions do not fit, IndexRangeError for other labels. Source: Grave et al., "Efficient
    softmax approximation for GPUs" (2017); paddle.nn.functional.adaptive_log_softmax_with_loss.

    Example:
        >>> import vitrify as paddle
        >>> weights = paddle.zeros([3, 2]), [[paddle.zeros([3, 2]), paddle.zeros([2, 4])]]
        >>> args = paddle.ones([1, 3]), paddle.to_tensor([2]), *weights, [1, 5]
        >>> round(paddle.nn.functional.adaptive_log_softmax_with_loss(*args)[1].item(), 4)
        2.0794
    """
    if label.ndim != input.ndim - 1 or label.ndim > 1:
        raise ShapeError(
            f"adaptive_log_softmax_with_loss: input has shape {list(input.shape)}, label {list(label.shape)}, expected "
            "[n, d] and [n], or [d] and []"
        )
    rows, wanted = (unsqueeze(input, 0), unsqueeze(label, 0)) if label.ndim == 0 else (input, label)
    starts = [int(c) for c in cutoffs]
    wanted = classes("adaptive_log_softmax_with_loss: a label", wanted, starts[-1])
    head = log_softmax(linear(rows, head_weight, head_bias), 1)
    found = _picked(head, wanted, 0, starts[0])
    for i, (start, stop) in enumerate(zip(starts, starts[1:])):
        inside = logical_and(wanted >= start, wanted < stop)
        tail = log_softmax(matmul(matmul(rows, tail_weights[i][0]), tail_weights[i][1]), 1)
        found = where(inside, head[:, starts[0] + i] + _picked(tail, wanted, start, stop), found)
    found = squeeze(found, 0) if label.ndim == 0 else found
    return found, -mean(found)


def _picked(log_probs: Any, label: Any, start: int, stop: int) -> Any:
    """The log probability of each label in [start, stop), and of some other class for other labels."""
    place = clip(label - start, 0, stop - start - 1)
    return squeeze(take_along_axis(log_probs, unsqueeze(place, 1), 1, broadcast=False), 1)


# --- angular margins -------------------------------------------------------------------------------------------------


def margin_cross_entropy(
    logits: Any, label: Any, margin1: float = 1.0, margin2: float = 0.5, margin3: float = 0.0, scale: float = 64.0,
    group: Any = None, return_softmax: bool = False, reduction: str | None = "mean",
) -> Any:  # fmt: skip
    """The cross entropy of scale * logits with cos(t) at the label replaced by cos(margin1 * t + margin2) - margin3.

    logits: [n, c] cosines; label: [n] or [n, 1] integers -> [n, 1], or its mean or sum; with return_softmax the softmax
    too. `group` has no effect in one process. Source: Deng et al., "ArcFace" (2019);
    paddle.nn.functional.margin_cross_entropy.

    Example:
        >>> import vitrify as paddle
        >>> logits = paddle.zeros([1, 2])
        >>> loss = paddle.nn.functional.margin_cross_entropy(logits, paddle.to_tensor([1]), margin2=0.0)
        >>> round(loss.item(), 4)
        0.6931
    """
    wanted = "none" if reduction is None else reduction
    check_reduction("margin_cross_entropy", wanted)
    column = label if rank_of("margin_cross_entropy", label, "label") == 2 else unsqueeze(label, 1)
    chosen = equal(arange(size_of(logits, 1), dtype=column.dtype), column)
    # Off the label acos would have infinite slopes at 1, which no cotangent of 0 undoes.
    angle = acos(where(chosen, logits, zeros_like(logits)))
    bent = cos(angle * margin1 + margin2) - margin3
    loss, probs = softmax_with_cross_entropy(where(chosen, bent, logits) * scale, column, return_softmax=True)
    loss = reduced(loss, wanted)
    return (loss, probs) if return_softmax else loss


# --- sampled class centers -------------------------------------------------------------------------------------------


def _centers_kernel(xp: Any, label: Any, *, key: Generator, num_classes: int, num_samples: int) -> tuple[Any, Any]:
    positive = xp.unique(label)
    absent = xp.ones(num_classes, bool)
    absent[positive] = False
    others = xp.flatnonzero(absent)
    order = philox.permutation(xp, key.advance(2 * num_classes), num_classes)
    drawn = order[absent[order]][: max(num_samples - positive.size, 0)] if others.size else others
    centers = xp.concatenate([positive, xp.sort(drawn).astype(positive.dtype)])
    return xp.searchsorted(positive, label).astype(label.dtype), centers


def _centers_meta(label: Meta, *, num_classes: int, num_samples: int) -> tuple[Meta, Meta]:
    if label.ndim != 1 or not label.dtype.is_integer:
        raise ShapeError(f"class_center_sample: label is {label}, expected 1 dimension of integers")
    return label, label.with_shape((UNKNOWN,))


class_centers_op = define_op(
    "class_center_sample",
    kernel=_centers_kernel,
    meta=_centers_meta,
    vjp=NoGradient("class numbers are integers"),
    outputs=("remapped", "centers"),
    random=True,
    maps={"paddle": "class_center_sample"},
)


def class_center_sample(label: Any, num_classes: int, num_samples: int, group: Any = None) -> tuple[Any, Any]:
    """label renumbered among sampled classes, and those: all that occur in label, filled up at random to num_samples.

    label: [n] integers in [0, num_classes). `group` has no effect in one process. Raises ArgumentError when more
    samples than classes are asked for. Source: An et al., "Partial FC" (2020);
    paddle.nn.functional.class_center_sample.

    Example:
        >>> import vitrify as paddle
        >>> label, centers = paddle.nn.functional.class_center_sample(paddle.to_tensor([7, 3, 7]), 10, 2)
        >>> label.tolist(), centers.tolist()
        ([1, 0, 1], [3, 7])
    """
    if not 0 < num_samples <= num_classes:
        raise ArgumentError(f"class_center_sample: num_samples must lie in [1, {num_classes}], got {num_samples}")
    remapped, centers = class_centers_op(label, num_classes=int(num_classes), num_samples=int(num_samples))
    return remapped, centers


__all__ = ["adaptive_log_softmax_with_loss", "class_center_sample", "hsigmoid_loss", "margin_cross_entropy"]
