"""`paddle.distributed.fleet` for one process: models and optimizers are already what it would make of them."""

from __future__ import annotations

import sys
from typing import Any

from ..environment import DEFAULT_GROUP, Group, init_parallel_env, only_one
from . import auto, layers, meta_parallel, utils

_DEGREES = ("dp_degree", "mp_degree", "pp_degree", "sharding_degree", "sep_degree")


class DistributedStrategy:
    """Settings of distributed training; hybrid_configs may ask for degree 1 only. Source: paddle.distributed.fleet."""

    def __init__(self) -> None:
        self.hybrid_configs: dict[str, Any] = {}
        self.find_unused_parameters = False


class HybridCommunicateGroup:
    """The groups of a model split in several ways, each of the one process."""

    def _one(self) -> int:
        return 1

    def _first(self) -> int:
        return 0

    def _group(self) -> Group:
        return DEFAULT_GROUP

    get_data_parallel_world_size = get_model_parallel_world_size = get_pipe_parallel_world_size = _one
    get_sharding_parallel_world_size = get_sep_parallel_world_size = _one
    get_data_parallel_rank = get_model_parallel_rank = get_stage_id = get_sharding_parallel_rank = _first
    get_data_parallel_group = get_model_parallel_group = get_pipe_parallel_group = _group
    get_sharding_parallel_group = get_check_parallel_group = _group


def init(
    role_maker: Any = None, is_collective: bool = False, strategy: DistributedStrategy | None = None,
    log_level: Any = "INFO",
) -> None:  # fmt: skip
    """None; raises UnsupportedError when a launcher or the strategy asks for more than one process.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distributed.fleet.init(is_collective=True)
        >>> paddle.distributed.fleet.worker_num()
        1
    """
    init_parallel_env()
    for name in _DEGREES:
        if strategy is not None:
            only_one(f"fleet.init: {name}", int(strategy.hybrid_configs.get(name, 1)))


def distributed_model(model: Any) -> Any:
    """The model as it is. Source: paddle.distributed.fleet.distributed_model."""
    return model


def distributed_optimizer(optimizer: Any, strategy: DistributedStrategy | None = None) -> Any:
    """The optimizer as it is. Source: paddle.distributed.fleet.distributed_optimizer."""
    return optimizer


def distributed_scaler(scaler: Any) -> Any:
    """The scaler as it is. Source: paddle.distributed.fleet.distributed_scaler."""
    return scaler


def worker_index() -> int:
    """0, the rank of the one process."""
    return 0


def worker_num() -> int:
    """1, the number of processes."""
    return 1


def is_first_worker() -> bool:
    """True."""
    return True


def barrier_worker() -> None:
    """Nothing to wait for."""


def get_hybrid_communicate_group() -> HybridCommunicateGroup:
    """The groups of a model split in several ways, each of the one process."""
    return HybridCommunicateGroup()


fleet = sys.modules[__name__]
"""What `from paddle.distributed.fleet import fleet` takes: these functions as methods of one object."""

__all__ = [
    "DistributedStrategy", "HybridCommunicateGroup", "auto", "barrier_worker", "distributed_model",
    "distributed_optimizer", "distributed_scaler", "fleet", "get_hybrid_communicate_group", "init", "is_first_worker",
    "layers", "meta_parallel", "utils", "worker_index", "worker_num",
]  # fmt: skip
