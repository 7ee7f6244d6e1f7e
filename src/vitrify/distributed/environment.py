"""Who takes part: one process, rank 0 of 1. Whatever asks for more is refused here, in one place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..core.config import launched_processes
from ..core.errors import ArgumentError, UnsupportedError
from ..core.place import get_device
from ..core.setting import Setting

_initialized = Setting("parallel environment initialized", False)
_HINT = "run one process; larger batches can be accumulated over several steps"


def only_one(what: str, processes: int) -> None:
    """Raise UnsupportedError unless `processes` is one."""
    if processes > 1:
        raise UnsupportedError(f"{what} asks for {processes} processes, vitrify runs in one", hint=_HINT)


def own_rank(what: str, rank: Any) -> None:
    """Raise ArgumentError unless `rank` is 0, the only one there is."""
    if rank not in (0, None):
        raise ArgumentError(f"{what}: there is no process {rank}, only process 0", hint=_HINT)


class Group:
    """Processes that communicate: here always this one. Source: paddle.distributed.communication.group.Group."""

    def __init__(self, ranks: Sequence[int] = (0,), id: int = 0, name: str = "_default_pg") -> None:
        self.ranks = list(ranks)
        self.id = id
        self.name = name

    rank = 0
    nranks = world_size = 1
    backend = "local"

    def is_member(self) -> bool:
        """True: the one process is in every group."""
        return True

    def get_group_rank(self, rank: int) -> int:
        """Where the process `rank` stands in this group, -1 if it is not in it."""
        return self.ranks.index(rank) if rank in self.ranks else -1

    def __repr__(self) -> str:
        return f"rank: {self.rank}, nranks: {self.nranks}, id: {self.id}, ranks: 0; name: {self.name}"


DEFAULT_GROUP = Group()


def _get_global_group() -> Group:
    """The group of all processes."""
    return DEFAULT_GROUP


class ParallelEnv:
    """What a launcher tells a process; here rank 0 of 1. Source: paddle.distributed.ParallelEnv.

    Example:
        >>> import vitrify as paddle
        >>> env = paddle.distributed.ParallelEnv()
        >>> env.rank, env.world_size
        (0, 1)
    """

    rank = local_rank = 0
    world_size = nranks = nrings = 1
    device_id = dev_id = 0
    current_endpoint = ""
    trainer_endpoints: Sequence[str] = ()
    pg_timeout = 1800000

    @property
    def device_type(self) -> str:
        """The kind of device that is in use, such as "cpu"."""
        return str(get_device()).partition(":")[0]


def get_rank(group: Group | None = None) -> int:
    """0, the rank of the one process. Source: paddle.distributed.get_rank.

    Example:
        >>> import vitrify as paddle
        >>> if paddle.distributed.get_rank() == 0:
        ...     print("the one that saves")
        the one that saves
    """
    return 0


def get_world_size(group: Group | None = None) -> int:
    """1, the number of processes. Source: paddle.distributed.get_world_size.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distributed.get_world_size()
        1
    """
    return 1


def is_available() -> bool:
    """True: the functions of this package are there. Source: paddle.distributed.is_available.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distributed.is_available()
        True
    """
    return True


def is_initialized() -> bool:
    """Whether `init_parallel_env` was called. Source: paddle.distributed.is_initialized.

    Example:
        >>> import vitrify as paddle
        >>> group = paddle.distributed.init_parallel_env()
        >>> paddle.distributed.is_initialized()
        True
        >>> paddle.distributed.destroy_process_group()
        >>> paddle.distributed.is_initialized()
        False
    """
    return _initialized.get()


def init_parallel_env(nccl_config: Any = None) -> Group:
    """The group of the one process. Source: paddle.distributed.init_parallel_env.

    Raises UnsupportedError when a launcher started several processes.

    Example:
        >>> import vitrify as paddle
        >>> group = paddle.distributed.init_parallel_env()
        >>> group.nranks, group.rank
        (1, 0)
    """
    only_one("the launcher", launched_processes())
    _initialized.set(True)
    return DEFAULT_GROUP


def destroy_process_group(group: Group | None = None) -> None:
    """None; `is_initialized` is false again. Source: paddle.distributed.destroy_process_group.

    Example:
        >>> import vitrify as paddle
        >>> group = paddle.distributed.init_parallel_env()
        >>> paddle.distributed.destroy_process_group(group)
        >>> paddle.distributed.is_initialized()
        False
    """
    _initialized.set(False)


def shutdown_process_group(group: Group | None = None) -> None:
    """None: one process has no connections to give back. Source: paddle.distributed.shutdown_process_group.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distributed.shutdown_process_group() is None
        True
    """


def restart_process_group(group: Group | None = None) -> None:
    """None: one process has no connections to make anew. Source: paddle.distributed.restart_process_group.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distributed.restart_process_group() is None
        True
    """


def gloo_init_parallel_env(rank_id: int, rank_num: int, server_endpoint: str) -> None:
    """None. Raises ArgumentError for more than one process. Source: paddle.distributed.gloo_init_parallel_env.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distributed.gloo_init_parallel_env(0, 1, "127.0.0.1:8080") is None
        True
    """
    own_rank("gloo_init_parallel_env", rank_id)
    own_rank("gloo_init_parallel_env", rank_num - 1)


def gloo_barrier() -> None:
    """Nothing to wait for. Source: paddle.distributed.gloo_barrier.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distributed.gloo_barrier() is None
        True
    """


def gloo_release() -> None:
    """Nothing to give back. Source: paddle.distributed.gloo_release.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distributed.gloo_release() is None
        True
    """


class ParallelMode:
    """What training in parallel splits, as numbers. Source: paddle.distributed.ParallelMode.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distributed.ParallelMode.DATA_PARALLEL, paddle.distributed.ParallelMode.SHARDING_PARALLEL
        (0, 3)
    """

    DATA_PARALLEL = 0
    TENSOR_PARALLEL = 1
    PIPELINE_PARALLEL = 2
    SHARDING_PARALLEL = 3
    SEGMENT_PARALLEL = 4


def new_group(ranks: Iterable[int] | None = None, backend: str | None = None, timeout: Any = None, **_: Any) -> Group:
    """A group of some processes, of which there is but 0. Source: paddle.distributed.new_group.

    Raises ArgumentError for ranks that are not there.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distributed.new_group([0]).ranks
        [0]
        >>> try:
        ...     paddle.distributed.new_group([0, 1])
        ... except ValueError as err:
        ...     print(str(err).splitlines()[0])
        new_group: there is no process 1, only process 0
    """
    members = [0] if ranks is None else list(ranks)
    for rank in members:
        own_rank("new_group", rank)
    return Group(members, id=1, name="_default_pg1")


def get_group(id: int = 0) -> Group:
    """The group of the one process. Source: paddle.distributed.get_group.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distributed.get_group().nranks
        1
    """
    return DEFAULT_GROUP


def get_backend(group: Group | None = None) -> str:
    """The name of what carries messages: nothing, within one process. Source: paddle.distributed.get_backend.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distributed.get_backend()
        'local'
    """
    return Group.backend


def spawn(
    func: Callable[..., Any], args: Iterable[Any] = (), nprocs: int = -1, join: bool = True, daemon: bool = False,
    **options: Any,
) -> None:  # fmt: skip
    """None, after `func(*args)` was called in this process. Source: paddle.distributed.spawn.

    Raises UnsupportedError for more than one process.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distributed.spawn(print, ["trains", "here"], nprocs=1)
        trains here
    """
    only_one("spawn", nprocs)
    func(*args)


def launch() -> None:
    """Refused: raises UnsupportedError. Source: paddle.distributed.launch.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distributed.launch()
        Traceback (most recent call last):
        vitrify.core.errors.UnsupportedError: distributed.launch starts several processes, ...
    """
    raise UnsupportedError(
        "distributed.launch starts several processes, vitrify runs in one", hint="run the script itself"
    )


__all__ = [
    "DEFAULT_GROUP", "Group", "ParallelEnv", "destroy_process_group", "get_backend", "get_group", "get_rank",
    "get_world_size", "init_parallel_env", "is_available", "is_initialized", "launch", "new_group",
    "only_one", "own_rank", "spawn",
]  # fmt: skip
