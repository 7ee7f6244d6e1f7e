"""Worker threads of a DataLoader: batches are made ahead, in order, and errors reach the loop that waits for them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from itertools import cycle
from typing import Any

from ..core.errors import UserCodeError, add_note

DONE = object()


class WorkerTimeoutError(UserCodeError, RuntimeError):
    """A worker took longer for a batch than the DataLoader's timeout."""


@dataclass(frozen=True)
class WorkerInfo:
    """Which worker this is: `id` of 0 to `num_workers` - 1, and the dataset."""

    id: int
    num_workers: int
    dataset: Any


_worker_info: ContextVar[WorkerInfo | None] = ContextVar("worker_info", default=None)


def get_worker_info() -> WorkerInfo | None:
    """The DataLoader worker that runs this code, or None outside of workers. Source: paddle.io.get_worker_info.

    Example:
        >>> from vitrify.io import get_worker_info
        >>> get_worker_info() is None
        True
    """
    return _worker_info.get()


class Worker:
    """One thread that makes batches one after the other, in a copy of the context it was started from."""

    def __init__(self, info: WorkerInfo, init: Callable[[int], None] | None) -> None:
        self.info = info
        self._context = copy_context()
        self._context.run(_worker_info.set, info)
        self._init = init
        self._pool = ThreadPoolExecutor(1, f"vitrify-dataloader-{info.id}")

    def submit(self, task: Callable[..., Any], *args: Any) -> Future[Any]:
        """The result to come of task(*args), run after what was submitted before."""
        return self._pool.submit(self._context.run, self._run, task, *args)

    def _run(self, task: Callable[..., Any], *args: Any) -> Any:
        try:
            if self._init is not None:
                init, self._init = self._init, None
                init(self.info.id)
            return task(*args)
        except Exception as err:
            add_note(err, f"raised in DataLoader worker {self.info.id}")
            raise

    def stop(self) -> None:
        """Drop what has not begun, and wait for what has."""
        self._pool.shutdown(wait=True, cancel_futures=True)


def in_turn(
    workers: list[Worker], tasks: Iterator[Callable[[], Any]], ahead: int, timeout: float | None
) -> Iterator[Any]:
    """The results of `tasks`, dealt to the workers in turn, in order, with at most `ahead` under way.

    A task that gives DONE takes its worker out of the round. What a task raises is raised here.
    """
    under_way: deque[Future[Any]] = deque()
    turns = cycle(workers)

    def fill() -> None:
        while len(under_way) < ahead:
            task = next(tasks, None)
            if task is None:
                return
            under_way.append(next(turns).submit(task))

    try:
        fill()
        while under_way:
            batch = _wait(under_way.popleft(), timeout)
            fill()
            if batch is not DONE:
                yield batch
    finally:
        for future in under_way:
            future.cancel()


def _wait(future: Future[Any], timeout: float | None) -> Any:
    try:
        return future.result(timeout)
    except FutureTimeout:
        if future.done():  # the task itself raised it
            raise
        raise WorkerTimeoutError(f"DataLoader: no batch within its timeout of {timeout} seconds") from None
