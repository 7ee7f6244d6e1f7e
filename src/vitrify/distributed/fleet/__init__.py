"""`paddle.distributed.fleet` for one process: models and optimizers are already what it would make of them."""

from __future__ import annotations

import sys
from typing import Any

from ..environment import init_parallel_env, only_one
from . import auto, layers, meta_parallel, utils
from .data_generator import MultiSlotDataGenerator, MultiSlotStringDataGenerator
from .roles import ENDPOINT, PaddleCloudRoleMaker, Role, UserDefinedRoleMaker
from .strategy import DistributedStrategy
from .topology import CommunicateTopology, HybridCommunicateGroup
from .util import UtilBase

util = UtilBase()


def init(
    role_maker: Any = None, is_collective: bool = False, strategy: DistributedStrategy | None = None,
    log_level: Any = "INFO",
) -> Any:  # fmt: skip
    """This module; raises UnsupportedError when a launcher or the strategy asks for more than one process.

    Example:
        >>> import vitrify as paddle
        >>> fleet = paddle.distributed.fleet.init(is_collective=True)
        >>> fleet.worker_num()
        1
    """
    init_parallel_env()
    for name, degree in (strategy.hybrid_configs if strategy else {}).items():
        if name.endswith("_degree"):
            only_one(f"fleet.init: {name}", int(degree))
    return fleet


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


def is_worker() -> bool:
    """True: the one process works."""
    return True


def is_server() -> bool:
    """False: there is no server."""
    return False


def is_coordinator() -> bool:
    """False: there is nothing to coordinate."""
    return False


def server_num() -> int:
    """0, the number of servers."""
    return 0


def server_index() -> int:
    """0, as on any worker."""
    return 0


def local_rank() -> int:
    """0, the rank on this machine."""
    return 0


def node_num() -> int:
    """1, the number of machines."""
    return 1


def worker_endpoints(to_string: bool = False) -> Any:
    """The address that the one worker would have: a list, or text."""
    return ENDPOINT if to_string else [ENDPOINT]


def server_endpoints(to_string: bool = False) -> Any:
    """No addresses: a list, or text."""
    return "" if to_string else []


def barrier_worker() -> None:
    """Nothing to wait for."""


def init_worker(scopes: Any = None) -> None:
    """Nothing to connect to."""


def stop_worker() -> None:
    """Nothing to disconnect from."""


rank = worker_index
nranks = world_size = worker_num


def get_hybrid_communicate_group() -> HybridCommunicateGroup:
    """The groups of a model split in several ways, each of the one process."""
    return HybridCommunicateGroup()


fleet = sys.modules[__name__]
"""What `from paddle.distributed.fleet import fleet` takes: these functions as methods of one object."""

__all__ = [
    "CommunicateTopology", "DistributedStrategy", "HybridCommunicateGroup", "MultiSlotDataGenerator",
    "MultiSlotStringDataGenerator", "PaddleCloudRoleMaker", "Role", "UserDefinedRoleMaker", "UtilBase", "auto",
    "barrier_worker", "distributed_model", "distributed_optimizer", "distributed_scaler", "fleet",
    "get_hybrid_communicate_group", "init", "init_worker", "is_coordinator", "is_first_worker", "is_server",
    "is_worker", "layers", "local_rank", "meta_parallel", "node_num", "nranks", "rank", "server_endpoints",
    "server_index", "server_num", "stop_worker", "util", "utils", "worker_endpoints", "worker_index", "worker_num",
    "world_size",
]  # fmt: skip
