"""What a process is among others: here always the one worker, there are no servers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..environment import only_one, own_rank

ENDPOINT = "127.0.0.1:6170"


class Role:
    """What a process may be. Source: paddle.distributed.fleet.Role."""

    WORKER = 1
    SERVER = 2
    HETER_WORKER = 3
    ALL = 4
    COORDINATOR = 5


class PaddleCloudRoleMaker:
    """Tells of one worker. Source: paddle.distributed.fleet.PaddleCloudRoleMaker.

    Example:
        >>> from vitrify.distributed import fleet
        >>> fleet.init(fleet.PaddleCloudRoleMaker(is_collective=True)).worker_num()
        1
    """

    def __init__(self, is_collective: bool = False, **kwargs: Any) -> None:
        self._is_collective = is_collective
        self._kwargs = kwargs

    def _is_worker(self) -> bool:
        return True

    _is_first_worker = _is_worker

    def _is_server(self) -> bool:
        return False

    def _worker_num(self) -> int:
        return 1

    def _server_num(self) -> int:
        return 0

    _worker_index = _server_index = _role_id = _server_num

    def _get_trainer_endpoints(self) -> list[str]:
        return [ENDPOINT]

    def _get_pserver_endpoints(self) -> list[str]:
        return []

    def to_string(self) -> str:
        """What it tells, as text."""
        return f"role: {Role.WORKER}, current_id: 0, worker_endpoints: {self._get_trainer_endpoints()}"


class UserDefinedRoleMaker(PaddleCloudRoleMaker):
    """Tells of the worker that the user describes. Source: paddle.distributed.fleet.UserDefinedRoleMaker.

    current_id: 0; worker_endpoints: one address. Raises ArgumentError or UnsupportedError for others.
    """

    def __init__(
        self, is_collective: bool = False, init_gloo: bool = False, current_id: int = 0, role: int = Role.WORKER,
        worker_num: int = 1, worker_endpoints: Sequence[str] = (ENDPOINT,), server_endpoints: Sequence[str] = (),
        **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(is_collective, **kwargs)
        own_rank("UserDefinedRoleMaker", current_id)
        only_one("UserDefinedRoleMaker", max(worker_num, len(worker_endpoints)) + len(server_endpoints))
        self._worker_endpoints = list(worker_endpoints)

    def _get_trainer_endpoints(self) -> list[str]:
        return self._worker_endpoints


__all__ = ["PaddleCloudRoleMaker", "Role", "UserDefinedRoleMaker"]
