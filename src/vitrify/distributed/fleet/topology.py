"""How processes form groups along several axes: one process is alone in each."""

from __future__ import annotations

import itertools
from collections import namedtuple
from collections.abc import Sequence
from typing import Any

from ...core.errors import ArgumentError
from ..environment import DEFAULT_GROUP, Group

_AXES = ("data", "pipe", "sharding", "sep", "context", "model")


class CommunicateTopology:
    """Ranks as the places of a grid with named axes. Source: paddle.distributed.fleet.CommunicateTopology.

    Example:
        >>> from vitrify.distributed.fleet import CommunicateTopology
        >>> grid = CommunicateTopology(["data", "model"], [2, 2])
        >>> grid.get_rank(data=1, model=0), grid.get_comm_list("data")
        (2, [[0, 2], [1, 3]])
    """

    def __init__(self, hybrid_group_names: Sequence[str] = _AXES, dims: Sequence[int] = (1,) * len(_AXES)) -> None:
        self._parallel_names = list(hybrid_group_names)
        self._dims = list(dims)
        of_axes: Any = namedtuple  # its fields are not known to a type checker
        self.coordinate = of_axes("Coordinate", self._parallel_names)
        places = itertools.product(*map(range, self._dims))
        self._rank_of = {self.coordinate(*place): rank for rank, place in enumerate(places)}

    def get_hybrid_group_names(self) -> list[str]:
        """The names of the axes."""
        return self._parallel_names

    def get_dim(self, axis_name: str) -> int:
        """How many places an axis has."""
        if axis_name not in self._parallel_names:
            raise ArgumentError(f"topology: there is no axis {axis_name!r}, there are {self._parallel_names}")
        return self._dims[self._parallel_names.index(axis_name)]

    get_dim_size = get_dim

    def world_size(self) -> int:
        """How many ranks there are."""
        return len(self._rank_of)

    def get_rank(self, **args: int) -> int:
        """The rank at a place, of which each axis is given."""
        return self._rank_of[self.coordinate(**args)]

    def get_coord(self, rank: int) -> Any:
        """The place of a rank, a named tuple."""
        return list(self._rank_of)[rank]

    def get_rank_from_stage(self, global_rank: int, **kwargs: int) -> int:
        """The rank at the place of another one with some axes replaced."""
        return self._rank_of[self.get_coord(global_rank)._replace(**kwargs)]

    def get_axis_list(self, axis_name: str, index: int) -> list[int]:
        """The ranks at one place of an axis."""
        return [rank for place, rank in self._rank_of.items() if getattr(place, axis_name) == index]

    def get_comm_list(self, axis_name: str) -> list[list[int]]:
        """The groups of ranks whose places differ in one axis only."""
        at = self._parallel_names.index(axis_name)
        groups: dict[Any, list[int]] = {}
        for place, rank in self._rank_of.items():
            groups.setdefault(place[:at] + place[at + 1 :], []).append(rank)
        return list(groups.values())


class HybridCommunicateGroup:
    """The groups of a model split in several ways, each of the one process."""

    nranks = 1
    global_rank = 0
    is_first_stage = is_last_stage = True

    def __init__(self, topology: CommunicateTopology | None = None, hybrid_configs: Any = None) -> None:
        self._topo = topology or CommunicateTopology()

    def topology(self) -> CommunicateTopology:
        """The grid of the ranks."""
        return self._topo

    def get_rank_from_stage(self, stage_id: int, **kwargs: int) -> int:
        """0, the rank of the only stage."""
        return 0

    def get_parallel_mode(self) -> None:
        """None: one process is not parallel."""

    def _one(self) -> int:
        return 1

    def _first(self) -> int:
        return 0

    def _group(self, *_: Any) -> Group:
        return DEFAULT_GROUP

    get_data_parallel_world_size = get_model_parallel_world_size = get_pipe_parallel_world_size = _one
    get_sharding_parallel_world_size = get_sep_parallel_world_size = get_moe_sharding_parallel_world_size = _one
    get_data_parallel_rank = get_model_parallel_rank = get_stage_id = get_sharding_parallel_rank = _first
    get_sep_parallel_rank = get_global_rank = get_data_parallel_group_src_rank = _first
    get_model_parallel_group_src_rank = get_sharding_parallel_group_src_rank = get_sep_parallel_group_src_rank = _first
    get_data_parallel_group = get_model_parallel_group = get_pipe_parallel_group = _group
    get_sharding_parallel_group = get_check_parallel_group = get_sep_parallel_group = _group
    get_dp_sep_parallel_group = get_pp_mp_parallel_group = _group


__all__ = ["CommunicateTopology", "HybridCommunicateGroup"]
