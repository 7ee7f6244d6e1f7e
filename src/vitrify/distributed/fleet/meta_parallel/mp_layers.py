"""Layers whose weights would be split over processes, whole in the one process there is."""

from __future__ import annotations

from typing import Any

from ....eager.layer import Layer
from ....eager.tensor import Tensor
from ....nn import functional as F
from ...environment import DEFAULT_GROUP, Group


class _Part(Layer):
    """A layer of which each process would hold a part; here it is the whole."""

    is_mp = False
    world_size = 1

    def __init__(self, mp_group: Group | None, name: str | None) -> None:
        super().__init__(name)
        self.model_parallel_group = DEFAULT_GROUP if mp_group is None else mp_group


class ColumnParallelLinear(_Part):
    """`nn.Linear` whose outputs would be split. Source: paddle.distributed.fleet.meta_parallel.ColumnParallelLinear.

    There is a bias where `has_bias` says so. x: [..., in_features] -> [..., out_features].

    Example:
        >>> import vitrify as paddle
        >>> layer = paddle.distributed.fleet.meta_parallel.ColumnParallelLinear(4, 6, has_bias=True)
        >>> list(layer(paddle.ones([2, 4])).shape)
        [2, 6]
    """

    def __init__(
        self, in_features: int, out_features: int, weight_attr: Any = None, has_bias: bool | None = None,
        gather_output: bool = True, fuse_matmul_bias: bool = False, mp_group: Group | None = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(mp_group, name)
        self.gather_output = gather_output
        self.output_size_per_partition = out_features
        self.weight = self.create_parameter([in_features, out_features], attr=weight_attr)
        self.bias = self.create_parameter([out_features], is_bias=True) if has_bias else None

    def forward(self, x: Tensor) -> Any:
        """x @ weight + bias."""
        return F.linear(x, self.weight, self.bias)


class RowParallelLinear(_Part):
    """`nn.Linear` whose inputs would be split. Source: paddle.distributed.fleet.meta_parallel.RowParallelLinear.

    Example:
        >>> import vitrify as paddle
        >>> layer = paddle.distributed.fleet.meta_parallel.RowParallelLinear(4, 6, input_is_parallel=True)
        >>> list(layer(paddle.ones([2, 4])).shape)
        [2, 6]
    """

    rank = 0

    def __init__(
        self, in_features: int, out_features: int, weight_attr: Any = None, has_bias: bool = True,
        input_is_parallel: bool = False, fuse_matmul_bias: bool = False, mp_group: Group | None = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(mp_group, name)
        self.in_features, self.out_features = in_features, out_features
        self.input_is_parallel = input_is_parallel
        self.input_size_per_partition = in_features
        self.weight = self.create_parameter([in_features, out_features], attr=weight_attr)
        self.bias = self.create_parameter([out_features], is_bias=True) if has_bias else None

    def forward(self, x: Tensor) -> Any:
        """x @ weight + bias."""
        return F.linear(x, self.weight, self.bias)


class VocabParallelEmbedding(_Part):
    """`nn.Embedding` whose rows would be split. Source: paddle.distributed.fleet.meta_parallel.VocabParallelEmbedding.

    Example:
        >>> import vitrify as paddle
        >>> layer = paddle.distributed.fleet.meta_parallel.VocabParallelEmbedding(10, 4)
        >>> list(layer(paddle.to_tensor([1, 2, 3])).shape)
        [3, 4]
    """

    rank = vocab_start_index = 0

    def __init__(
        self, num_embeddings: int, embedding_dim: int, weight_attr: Any = None, mp_group: Group | None = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(mp_group, name)
        self.num_embeddings = self.origin_num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.weight = self.create_parameter([num_embeddings, embedding_dim], attr=weight_attr)

    def forward(self, x: Tensor) -> Any:
        """The rows of the weight that x names."""
        return F.embedding(x, self.weight)


class ParallelCrossEntropy(Layer):
    """Cross entropy of logits whose classes would be split, one loss an item.

    logits: [..., classes], labels: [...] or [..., 1] -> [..., 1]; 0 where the label is `ignore_index`.
    Source: paddle.distributed.fleet.meta_parallel.ParallelCrossEntropy.

    Example:
        >>> import vitrify as paddle
        >>> loss = paddle.distributed.fleet.meta_parallel.ParallelCrossEntropy()
        >>> list(loss(paddle.ones([2, 4]), paddle.to_tensor([[1], [-100]])).shape)
        [2, 1]
    """

    def __init__(self, mp_group: Group | None = None, name: str | None = None, ignore_index: int = -100) -> None:
        super().__init__()
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, label: Tensor) -> Any:
        """The loss of each item."""
        return F.softmax_with_cross_entropy(
            input, label if label.ndim == input.ndim else label.unsqueeze(-1), ignore_index=self.ignore_index
        )


__all__ = ["ColumnParallelLinear", "ParallelCrossEntropy", "RowParallelLinear", "VocabParallelEmbedding"]
