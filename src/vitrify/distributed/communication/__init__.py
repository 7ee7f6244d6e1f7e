"""`paddle.distributed.communication`: the module path of the collectives."""

from .. import collective
from ..collective import *  # noqa: F403 (the same names, whatever they are)
from ..collective import alltoall as all_to_all
from ..environment import Group, destroy_process_group, get_backend, get_group, is_initialized
from . import group, stream

__all__ = [  # noqa: PLE0604 (what a module exports are strings)
    *collective.__all__, "Group", "all_to_all", "destroy_process_group", "get_backend", "get_group", "group",
    "is_initialized", "stream",
]  # fmt: skip
