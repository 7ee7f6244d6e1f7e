"""What workers do together besides training: sums of arrays, a share of the files. The one worker has everything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.errors import ArgumentError


class UtilBase:
    """What workers do together besides training. Source: paddle.distributed.fleet.UtilBase.

    Example:
        >>> from vitrify.distributed import fleet
        >>> fleet.util.all_reduce([1.0, 2.0]).tolist(), fleet.util.get_file_shard(["a", "b"])
        ([1.0, 2.0], ['a', 'b'])
    """

    def all_reduce(self, input: Any, mode: str = "sum", comm_world: str = "worker") -> Any:
        """The array itself: it is the sum, minimum or maximum of one."""
        return np.array(input)

    def all_gather(self, input: Any, comm_world: str = "worker") -> Any:
        """The value itself."""
        return input

    def barrier(self, comm_world: str = "worker") -> None:
        """Nothing to wait for."""

    def get_file_shard(self, files: Sequence[str]) -> list[str]:
        """All the files. Raises ArgumentError unless they are a list of paths."""
        if not isinstance(files, list):
            raise ArgumentError(f"get_file_shard: files is {type(files).__name__}, expected a list of paths")
        return files

    def print_on_rank(self, message: str, rank_id: int) -> None:
        """Print the message if rank_id is 0."""
        if rank_id == 0:
            print(message)


__all__ = ["UtilBase"]
