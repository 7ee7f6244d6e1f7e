"""Losses over alignments of sequences, and over many classes with parameters of their own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ...core.errors import ArgumentError, DTypeError, ShapeError
from ...eager.layer import Layer
from ...eager.param_attr import ParamAttrLike
from ...ops.join import concat
from .. import functional as F
from .functional_layer import layer_of

_loss = partial(layer_of, module=__name__, inputs=("input", "label"), private=False)

CTCLoss = _loss(
    "CTCLoss",
    F.ctc_loss,
    inputs=("log_probs", "labels", "input_lengths", "label_lengths"),
    options={"norm_by_times": False},
    named=False,
    blank=0,
    reduction="mean",
    zero_infinity=False,
)
RNNTLoss = _loss(
    "RNNTLoss",
    F.rnnt_loss,
    inputs=("input", "label", "input_lengths", "label_lengths"),
    blank=0,
    fastemit_lambda=0.001,
    reduction="mean",
)


class HSigmoidLoss(Layer):
    """Hierarchical sigmoid: a class as a path of yes-or-no decisions in a binary tree.

    feature_size: D. num_classes: leaves of the default tree, or size of the custom one (`is_custom`).
    Source: paddle.nn.HSigmoidLoss; Morin, Bengio 2005.

    Example:
        >>> import vitrify as paddle
        >>> loss = paddle.nn.HSigmoidLoss(feature_size=3, num_classes=5)
        >>> loss(paddle.ones([2, 3]), paddle.to_tensor([0, 4])).shape
        paddle.Size([2, 1])
    """

    def __init__(
        self,
        feature_size: int,
        num_classes: int,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        is_custom: bool = False,
        is_sparse: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__()
        if num_classes < 2 and not is_custom:
            raise ArgumentError(f"HSigmoidLoss: num_classes must be at least 2, got {num_classes}")
        self._feature_size = feature_size
        self._num_classes = num_classes
        self._is_custom = is_custom
        self._is_sparse = is_sparse
        self._name = name
        nodes = num_classes if is_custom else num_classes - 1
        self.weight = self.create_parameter([nodes, feature_size], weight_attr)
        self.bias = self.create_parameter([nodes, 1], bias_attr, is_bias=True)

    def forward(self, input: Any, label: Any, path_table: Any = None, path_code: Any = None) -> Any:
        """input: [N, D] floating; label: [N, 1] int64 -> [N, 1]."""
        return F.hsigmoid_loss(
            input, label, self._num_classes, self.weight, self.bias, path_table, path_code, self._is_sparse
        )


class AdaptiveLogSoftmaxWithLoss(Layer):
    """Softmax over many classes, the rare ones in clusters of smaller projections.

    cutoffs: where the clusters begin. div_value: each cluster's projection is this much smaller than the one before.
    Raises ArgumentError for cutoffs that are no rising sequence below n_classes.
    Source: paddle.nn.AdaptiveLogSoftmaxWithLoss; Grave 2017.

    Example:
        >>> import vitrify as paddle
        >>> loss = paddle.nn.AdaptiveLogSoftmaxWithLoss(8, n_classes=10, cutoffs=[4])
        >>> output, mean = loss(paddle.ones([3, 8]), paddle.to_tensor([0, 5, 9]))
        >>> output.shape, mean.shape
        (paddle.Size([3]), paddle.Size([]))
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        div_value: float = 4.0,
        head_bias: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__()
        _check_cutoffs(cutoffs, n_classes)
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.is_head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head_weight = self.create_parameter([in_features, self.head_size], weight_attr)
        self.head_bias = self.create_parameter([self.head_size], bias_attr, is_bias=True) if head_bias else None
        self.tail_weights = [self._new_tail(i, weight_attr) for i in range(self.n_clusters)]

    def _new_tail(self, i: int, weight_attr: ParamAttrLike) -> list[Any]:
        hidden = int(self.in_features // self.div_value ** (i + 1))
        size = self.cutoffs[i + 1] - self.cutoffs[i]
        pair = [
            self.create_parameter([self.in_features, hidden], weight_attr),
            self.create_parameter([hidden, size], weight_attr),
        ]
        for part, param in enumerate(pair):
            self.add_parameter(f"_tail_{i}_{part}", param)
        return pair

    def forward(self, input: Any, label: Any) -> Any:
        """input: [N, D] or [D]; label: [N] or [] -> (log-probability of each label, their mean loss)."""
        return F.adaptive_log_softmax_with_loss(
            input, label, self.head_weight, self.tail_weights, self.cutoffs, self.head_bias
        )

    def log_prob(self, input: Any) -> Any:
        """Log-probabilities of all classes. input: [N, D] -> [N, n_classes]."""
        head = F.log_softmax(F.linear(input, self.head_weight, self.head_bias), axis=1)
        parts = [head[:, : self.shortlist_size]]
        for i, (down, up) in enumerate(self.tail_weights):
            cluster = F.log_softmax(F.linear(F.linear(input, down), up), axis=1)
            at = self.shortlist_size + i
            parts.append(cluster + head[:, at : at + 1])
        return concat(parts, axis=1)

    def predict(self, input: Any) -> Any:
        """The most probable class of each row. input: [N, D] -> [N] int64."""
        return self.log_prob(input).argmax(axis=1)


def _check_cutoffs(cutoffs: Sequence[int], n_classes: int) -> None:
    if not all(isinstance(c, int) for c in cutoffs):
        raise DTypeError(f"AdaptiveLogSoftmaxWithLoss: cutoffs must be ints, got {list(cutoffs)}")
    rising = all(a < b for a, b in zip([0, *cutoffs], [*cutoffs, n_classes]))
    if not cutoffs or not rising:
        raise ShapeError(
            f"AdaptiveLogSoftmaxWithLoss: cutoffs must rise between 1 and {n_classes - 1}, got {list(cutoffs)}"
        )


__all__ = ["AdaptiveLogSoftmaxWithLoss", "CTCLoss", "HSigmoidLoss", "RNNTLoss"]
