"""`paddle.distributed.fleet.meta_optimizers.dygraph_optimizer`: the same classes under another path."""

from .. import (
    DygraphShardingOptimizer,
    DygraphShardingOptimizerV2,
    HybridParallelOptimizer,
    _obtain_optimizer_parameters_list,
    obtain_optimizer_parameters_list,
)

__all__ = [
    "DygraphShardingOptimizer", "DygraphShardingOptimizerV2", "HybridParallelOptimizer",
    "_obtain_optimizer_parameters_list", "obtain_optimizer_parameters_list",
]  # fmt: skip
