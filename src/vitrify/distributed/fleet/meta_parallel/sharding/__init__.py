"""`paddle.distributed.fleet.meta_parallel.sharding`: optimizers whose state would be split over processes."""

from __future__ import annotations

from typing import Any

from ...meta_optimizers import HybridParallelOptimizer


class GroupShardedOptimizerStage2(HybridParallelOptimizer):
    """Source: paddle.distributed.fleet.meta_parallel.sharding.group_sharded_optimizer_stage2.

    Example:
        >>> import vitrify as paddle
        >>> from vitrify.distributed.fleet.meta_parallel.sharding import GroupShardedOptimizerStage2
        >>> inner = paddle.optimizer.SGD(0.5, parameters=paddle.nn.Linear(2, 2).parameters())
        >>> GroupShardedOptimizerStage2([], inner).get_lr()
        0.5
    """

    def __init__(self, params: Any, optim: Any, group: Any = None, **settings: Any) -> None:
        super().__init__(optim)


__all__ = ["GroupShardedOptimizerStage2"]
