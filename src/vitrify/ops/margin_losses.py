"""Losses of margins and distances between scores or vectors. Compositions of other ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.alias import aliased
from ..core.errors import ArgumentError, ShapeError
from .activation import relu
from .arguments import rank_of
from .creation import arange
from .gather import take_along_axis
from .losses import same_shape
from .norms import vector_norm
from .reduce import mean, sum
from .reduction import check_reduction, reduced
from .select import clip, minimum, where_op
from .shape import unsqueeze
from .sizes import size_of
from .unary import sqrt, square


@aliased(x="x1", y="x2")
def pairwise_distance(
    x: Any, y: Any, p: float = 2.0, epsilon: float = 1e-6, keepdim: bool = False, name: str | None = None
) -> Any:
    """The p-norm of x - y + epsilon along the last dimension. x, y: [*n, d] -> [*n].

    Source: paddle.nn.functional.pairwise_distance.

    Example:
        >>> import vitrify as paddle
        >>> x, y = paddle.to_tensor([[3.0, 0.0]]), paddle.to_tensor([[0.0, 4.0]])
        >>> round(paddle.nn.functional.pairwise_distance(x, y, epsilon=0.0).item(), 3)
        5.0
    """
    return vector_norm(x - y + epsilon, p, axis=-1, keepdim=keepdim)


def margin_ranking_loss(
    input: Any, other: Any, label: Any, margin: float = 0.0, reduction: str = "mean", name: str | None = None
) -> Any:
    """max(0, -label * (input - other) + margin) for labels of -1 and 1.

    Source: paddle.nn.functional.margin_ranking_loss.

    Example:
        >>> import vitrify as paddle
        >>> a, b = paddle.to_tensor([1.0]), paddle.to_tensor([3.0])
        >>> paddle.nn.functional.margin_ranking_loss(a, b, paddle.ones([1])).item()
        2.0
    """
    check_reduction("margin_ranking_loss", reduction)
    return reduced(relu(label * (other - input) + margin), reduction)


def hinge_embedding_loss(
    input: Any, label: Any, margin: float = 1.0, reduction: str = "mean", name: str | None = None
) -> Any:
    """input where the label is 1, max(0, margin - input) where it is -1.

    Source: paddle.nn.functional.hinge_embedding_loss.

    Example:
        >>> import vitrify as paddle
        >>> x, y = paddle.to_tensor([0.5, 0.25]), paddle.to_tensor([1.0, -1.0])
        >>> paddle.nn.functional.hinge_embedding_loss(x, y, reduction="none").tolist()
        [0.5, 0.75]
    """
    check_reduction("hinge_embedding_loss", reduction)
    return reduced(where_op(label == 1.0, input, 0.0) + where_op(label == -1.0, relu(margin - input), 0.0), reduction)


def cosine_embedding_loss(
    input1: Any, input2: Any, label: Any, margin: float = 0, reduction: str = "mean", name: str | None = None
) -> Any:
    """1 - cosine for pairs labelled 1, max(0, cosine - margin) for those labelled -1.

    input1, input2: [n, d] or [d]; label: [n] or []. Source: paddle.nn.functional.cosine_embedding_loss.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([[1.0, 0.0]])
        >>> round(paddle.nn.functional.cosine_embedding_loss(x, x, paddle.to_tensor([1])).item(), 4)
        0.0
    """
    rank_of("cosine_embedding_loss", input1, "input1")
    check_reduction("cosine_embedding_loss", reduction)
    if rank_of("cosine_embedding_loss", label, "label") > 1 or input1.ndim > 2:
        raise ShapeError(
            f"cosine_embedding_loss: label must have at most 1 dimension and inputs 2, got {list(label.shape)}"
        )
    input2 = same_shape("cosine_embedding_loss", input1, input2, "input2")
    tiny = 1e-12
    lengths = sqrt((sum(square(input1), axis=-1) + tiny) * (sum(square(input2), axis=-1) + tiny))
    cosine = sum(input1 * input2, axis=-1) / lengths
    return reduced(
        where_op(label == 1, 1.0 - cosine, 0.0) + where_op(label == -1, relu(cosine - margin), 0.0), reduction
    )


def triplet_margin_with_distance_loss(
    input: Any,
    positive: Any,
    negative: Any,
    distance_function: Callable[[Any, Any], Any] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """max(0, d(input, positive) - d(input, negative) + margin).

    swap: take the nearer of input and positive to the negative.
    Source: paddle.nn.functional.triplet_margin_with_distance_loss.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.zeros([1, 2])
        >>> paddle.nn.functional.triplet_margin_with_distance_loss(x, x, x, margin=0.5).item()
        0.5
    """
    check_reduction("triplet_margin_with_distance_loss", reduction)
    if margin < 0:
        raise ArgumentError(f"triplet_margin_with_distance_loss: margin must not be negative, got {margin}")
    positive = same_shape("triplet_margin_loss", input, positive, "positive")
    negative = same_shape("triplet_margin_loss", input, negative, "negative")
    distance = pairwise_distance if distance_function is None else distance_function
    near, far = distance(input, positive), distance(input, negative)
    if swap:
        far = minimum(far, distance(positive, negative))
    return reduced(clip(near - far + margin, min=0.0), reduction)  # on the edge the gradient flows, as in Paddle


def triplet_margin_loss(
    input: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2,
    epsilon: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """The triplet loss with p-norm distances. input, positive, negative: [n, d] -> [] or [n].

    Source: paddle.nn.functional.triplet_margin_loss.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.zeros([1, 2])
        >>> paddle.nn.functional.triplet_margin_loss(x, x, x).item()
        1.0
    """
    return triplet_margin_with_distance_loss(
        input, positive, negative, lambda a, b: pairwise_distance(a, b, p, epsilon), margin, swap, reduction
    )


def multi_margin_loss(
    input: Any,
    label: Any,
    p: int = 1,
    margin: float = 1.0,
    weight: Any = None,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """The mean over classes of max(0, margin - score of the label + other score)**p.

    input: [n, classes]; label: [n] class numbers; weight: [classes]. Source: paddle.nn.functional.multi_margin_loss.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.multi_margin_loss(paddle.zeros([1, 2]), paddle.to_tensor([0])).item()
        0.5
    """
    check_reduction("multi_margin_loss", reduction)
    classes = size_of(input, 1)
    column = unsqueeze(label, -1)
    right = take_along_axis(input, column, 1)
    violation = relu(margin - right + input)
    violation = violation if p == 1 else violation**p
    if weight is not None:
        violation = violation * unsqueeze(weight[label], -1)
    others = (column != arange(classes, dtype=column.dtype)).astype(input.dtype)
    return reduced(sum(violation * others, axis=1) / classes, reduction)


def multi_label_margin_loss(input: Any, label: Any, reduction: str = "mean", name: str | None = None) -> Any:
    """The hinge between each target class and each other class. Labels are class numbers, ended by -1.

    input, label: [n, classes] or [classes] -> [] or [n]. Source: paddle.nn.functional.multi_label_margin_loss.

    Example:
        >>> import vitrify as paddle
        >>> y = paddle.to_tensor([[0, -1]])
        >>> paddle.nn.functional.multi_label_margin_loss(paddle.zeros([1, 2]), y).item()
        0.5
    """
    check_reduction("multi_label_margin_loss", reduction)
    label = same_shape("multi_label_margin_loss", input, label)
    classes = size_of(input, -1)
    ended = (label < 0).astype("int64").cumsum(-1) > 0
    given = (~ended).astype(input.dtype)
    safe = where_op(ended, 0, label)
    hot = unsqueeze(safe, -1) == arange(classes, dtype="int64")
    is_target = sum(hot.astype(input.dtype) * unsqueeze(given, -1), axis=-2) > 0
    scores = take_along_axis(input, safe, -1)
    hinge = relu(1.0 - unsqueeze(scores, -1) + unsqueeze(input, -2))
    hinge = hinge * unsqueeze(given, -1) * unsqueeze((~is_target).astype(input.dtype), -2)
    return reduced(sum(hinge, axis=[-2, -1]) / classes, reduction)


def npair_loss(anchor: Any, positive: Any, labels: Any, l2_reg: float = 0.002) -> Any:
    """The n-pair loss: cross entropy of anchor-positive products against equal labels, plus a length penalty.

    anchor, positive: [n, d]; labels: [n] -> []. Source: paddle.nn.functional.npair_loss; Sohn, 2016.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.zeros([1, 2])
        >>> abs(paddle.nn.functional.npair_loss(x, x, paddle.zeros([1]))) .item()
        0.0
    """
    rank_of("npair_loss", anchor, "anchor")
    same = (unsqueeze(labels, 1) == unsqueeze(labels, 0)).astype(anchor.dtype)
    target = same / sum(same, axis=1, keepdim=True)
    length = (mean(sum(square(anchor), axis=1)) + mean(sum(square(positive), axis=1))) * (0.25 * l2_reg)
    products = anchor.matmul(positive, transpose_y=True)
    return length - mean(sum(target * (products - products.logsumexp(axis=1, keepdim=True)), axis=1))


__all__ = [
    "cosine_embedding_loss",
    "hinge_embedding_loss",
    "margin_ranking_loss",
    "multi_label_margin_loss",
    "multi_margin_loss",
    "npair_loss",
    "pairwise_distance",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]
