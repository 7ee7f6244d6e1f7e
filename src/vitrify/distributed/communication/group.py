"""`paddle.distributed.communication.group`: the module path of groups of processes."""

from ..collective import barrier, wait
from ..environment import Group, _get_global_group, destroy_process_group, get_backend, get_group, is_initialized

__all__ = [
    "Group",
    "_get_global_group",
    "barrier",
    "destroy_process_group",
    "get_backend",
    "get_group",
    "is_initialized",
    "wait",
]
