"""`paddle.distributed.fleet.meta_optimizers`: optimizers that would share their work among processes."""

from __future__ import annotations

from typing import Any


class _Whole:
    """An optimizer as it is, under the name of one that would share its work: all it is asked for, that one does."""

    def __init__(self, optimizer: Any, hcg: Any = None, strategy: Any = None) -> None:
        self._inner_opt = optimizer
        self._hcg = hcg

    def __getattr__(self, name: str) -> Any:
        if name == "_inner_opt":  # asked for while a copy is being made
            raise AttributeError(name)
        return getattr(self._inner_opt, name)


class HybridParallelOptimizer(_Whole):
    """Source: paddle.distributed.fleet.meta_optimizers.HybridParallelOptimizer.

    Example:
        >>> import vitrify as paddle
        >>> from vitrify.distributed.fleet.meta_optimizers import HybridParallelOptimizer
        >>> inner = paddle.optimizer.SGD(0.5, parameters=paddle.nn.Linear(2, 2).parameters())
        >>> HybridParallelOptimizer(inner, None, None).get_lr()
        0.5
    """


class DygraphShardingOptimizer(_Whole):
    """Source: paddle.distributed.fleet.meta_optimizers.DygraphShardingOptimizer.

    Example:
        >>> import vitrify as paddle
        >>> from vitrify.distributed.fleet.meta_optimizers import DygraphShardingOptimizer
        >>> inner = paddle.optimizer.SGD(0.5, parameters=paddle.nn.Linear(2, 2).parameters())
        >>> DygraphShardingOptimizer(inner, None).get_lr()
        0.5
    """


DygraphShardingOptimizerV2 = DygraphShardingOptimizer


def _obtain_optimizer_parameters_list(optimizer: Any) -> list[Any]:
    """All parameters of an optimizer, those of its groups one after the other."""
    given = optimizer._parameter_list
    if given and isinstance(given[0], dict):
        return [param for group in given for param in group["params"]]
    return list(given)


obtain_optimizer_parameters_list = _obtain_optimizer_parameters_list

__all__ = ["DygraphShardingOptimizer", "DygraphShardingOptimizerV2", "HybridParallelOptimizer"]
