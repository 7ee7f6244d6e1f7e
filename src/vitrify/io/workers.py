"""What a DataLoader worker knows of itself, and what goes wrong with workers."""

from __future__ import annotations

import signal
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from ..core.errors import UserCodeError


class WorkerTimeoutError(UserCodeError, RuntimeError):
    """A worker took longer for a batch than the DataLoader's timeout."""


class WorkerExitError(UserCodeError, RuntimeError):
    """A worker process ended before its work was done."""


@dataclass(frozen=True)
class WorkerInfo:
    """Which worker this is: `id` of 0 to `num_workers` - 1, the dataset, and the seed of its NumPy generator."""

    id: int
    num_workers: int
    dataset: Any
    seed: int = 0


_NAMES = {number.value: number.name for number in signal.Signals}
_worker_info: ContextVar[WorkerInfo | None] = ContextVar("worker_info", default=None)


def get_worker_info() -> WorkerInfo | None:
    """The DataLoader worker that runs this code, or None outside of workers. Source: paddle.io.get_worker_info.

    Example:
        >>> from vitrify.io import get_worker_info
        >>> get_worker_info() is None
        True
    """
    return _worker_info.get()


def set_worker_info(info: WorkerInfo) -> None:
    """From now on this process is the worker that `info` describes."""
    _worker_info.set(info)


def early_exit(worker: int, pid: int | None, exitcode: int | None) -> WorkerExitError:
    """The error for a worker that ended by itself, with what the operating system tells."""
    if exitcode is not None and exitcode < 0:
        how = f"was killed by signal {_NAMES.get(-exitcode, -exitcode)}"
    else:
        how = f"ended with exit code {exitcode}"
    hint = "num_workers=0 runs the dataset in this process, where a debugger finds the place"
    if exitcode == -9:  # what Linux sends when memory runs out; Windows has no name for it
        hint = "the system may be out of memory: fewer workers, a smaller prefetch_factor or batch need less"
    return WorkerExitError(f"DataLoader: worker {worker} (process {pid}) {how}", hint=hint)
