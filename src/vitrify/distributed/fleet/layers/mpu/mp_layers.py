"""`paddle.distributed.fleet.layers.mpu.mp_layers`: see `paddle.distributed.fleet.meta_parallel`."""

from ...meta_parallel.mp_layers import (
    ColumnParallelLinear,
    ParallelCrossEntropy,
    RowParallelLinear,
    VocabParallelEmbedding,
)

__all__ = ["ColumnParallelLinear", "ParallelCrossEntropy", "RowParallelLinear", "VocabParallelEmbedding"]
