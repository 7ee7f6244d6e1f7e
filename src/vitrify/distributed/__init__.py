"""`paddle.distributed`, true for one process: collectives are the identity, what needs more is refused."""

from . import fleet
from .collective import (
    ReduceOp,
    all_gather,
    all_gather_object,
    all_reduce,
    alltoall,
    alltoall_single,
    barrier,
    broadcast,
    broadcast_object_list,
    gather,
    irecv,
    isend,
    recv,
    reduce,
    reduce_scatter,
    scatter,
    scatter_object_list,
    send,
    wait,
)
from .environment import (
    Group,
    ParallelEnv,
    destroy_process_group,
    get_backend,
    get_group,
    get_rank,
    get_world_size,
    init_parallel_env,
    is_available,
    is_initialized,
    new_group,
    spawn,
)
from .parallel import DataParallel

__all__ = [
    "DataParallel", "Group", "ParallelEnv", "ReduceOp", "all_gather", "all_gather_object", "all_reduce", "alltoall",
    "alltoall_single", "barrier", "broadcast", "broadcast_object_list", "destroy_process_group", "fleet", "gather",
    "get_backend", "get_group", "get_rank", "get_world_size", "init_parallel_env", "irecv", "is_available",
    "is_initialized", "isend", "new_group", "recv", "reduce", "reduce_scatter", "scatter", "scatter_object_list",
    "send", "spawn", "wait",
]  # fmt: skip
