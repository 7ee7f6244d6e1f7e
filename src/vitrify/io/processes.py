"""Worker processes of a DataLoader: batches are made ahead, in order, and errors reach the loop that waits for them.

Each worker has a socket of its own to its loader, so that no lock or queue is left behind by one that dies, and either
end notices at once when the other is gone.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import sys
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.context import BaseContext
from typing import Any

import numpy as np

from ..core.errors import add_note
from ..core.rng import default_generator
from .fetching import Fetcher
from .parcel import receive
from .serving import Answer, Job, Kind, serve
from .workers import WorkerInfo, WorkerTimeoutError, early_exit

_END = object()
_PATIENCE = 1.0
"""Seconds that a worker has for finishing its sample once nobody wants it any more."""


@dataclass(frozen=True)
class Plan:
    """How many workers there are and what each of them does."""

    fetcher: Fetcher
    num_workers: int
    prefetch_factor: int
    timeout: float
    init: Callable[[int], None] | None
    share: bool


class Worker:
    """One process that makes batches one after the other."""

    def __init__(self, context: BaseContext, job: Job, others: Sequence[Worker]) -> None:
        self.id = job.info.id
        self._connection, theirs = context.Pipe()
        forked = context.get_start_method() == "fork"
        copies = [self._connection, *(other._connection for other in others)] if forked else []
        self._process = context.Process(  # type: ignore[attr-defined]  # every concrete context has it
            target=serve, args=(theirs, copies, job), name=f"vitrify-dataloader-{self.id}", daemon=True
        )
        self._theirs = theirs

    def start(self) -> None:
        """Start the process, which hangs up for itself."""
        with warnings.catch_warnings(), _no_interrupt():
            # Python 3.12 warns of threads; those of BLAS and of our pools survive a fork.
            warnings.filterwarnings("ignore", "This process.*is multi-threaded", DeprecationWarning)
            self._process.start()
        self._theirs.close()

    def ask(self, epoch: int, task: Any) -> None:
        """Have the batch of `task` made, after what was asked for before."""
        try:
            self._connection.send((epoch, task))
        except (BrokenPipeError, ConnectionResetError):
            return  # it is gone: `answer` says so, once what it had sent before is used up

    def answer(self, epoch: int, timeout: float) -> Answer:
        """What came of the oldest task of this epoch; WorkerTimeoutError or WorkerExitError when nothing does."""
        while True:
            if timeout and not self._connection.poll(timeout):
                raise WorkerTimeoutError(f"DataLoader: no batch within its timeout of {timeout} seconds")
            try:
                answer: Answer = receive(self._connection)
            except (EOFError, ConnectionResetError):
                self._process.join(_PATIENCE)
                raise early_exit(self.id, self._process.pid, self._process.exitcode) from None
            if answer.epoch == epoch:
                return answer  # the others belong to loops that were left early

    def hang_up(self) -> None:
        """Tell the process that it is not needed any more."""
        self._connection.close()

    def end(self, deadline: float) -> None:
        """Wait until the process is gone; from the deadline on it is made to go."""
        if self._process.pid is None:
            return  # Ctrl-C came before its start
        self._process.join(max(0.0, deadline - time.monotonic()))
        if self._process.is_alive():
            self._process.terminate()
            self._process.join(_PATIENCE)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._process.close()


class WorkerPool:
    """The workers of one DataLoader, for one epoch or for all of them."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._epoch = 0
        self._owner = os.getpid()
        self.busy = False
        self._workers: list[Worker] = []
        context = _context()
        try:
            for job in _jobs(plan):
                self._workers.append(Worker(context, job, self._workers))
                self._workers[-1].start()
        except BaseException:
            self.stop()
            raise

    def batches(self, tasks: Iterator[Any]) -> Iterator[Any]:
        """The batches of `tasks`, dealt to the workers in turn, in order. What a worker raises is raised here."""
        self._epoch += 1
        self.busy = True
        ahead = len(self._workers) * self._plan.prefetch_factor
        open_workers, under_way = deque(self._workers), deque[Worker]()
        try:
            self._fill(tasks, open_workers, under_way, ahead)
            while under_way:
                worker = under_way.popleft()
                answer = worker.answer(self._epoch, self._plan.timeout)
                if answer.kind is Kind.DONE and worker in open_workers:
                    open_workers.remove(worker)
                self._fill(tasks, open_workers, under_way, ahead)
                if answer.kind is Kind.ERROR:
                    raise _noted(answer, worker.id)
                if answer.kind is Kind.BATCH:
                    yield answer.value
        finally:
            self.busy = False

    def _fill(self, tasks: Iterator[Any], free: deque[Worker], under_way: deque[Worker], ahead: int) -> None:
        while free and len(under_way) < ahead:
            task = next(tasks, _END)
            if task is _END:
                return
            worker = free[0]
            free.rotate(-1)
            worker.ask(self._epoch, task)
            under_way.append(worker)

    def stop(self) -> None:
        """End all workers, those first that have nothing to do; none is left when this returns."""
        if self._owner != os.getpid():
            return  # a forked process has a copy of the pool, not the workers
        workers, self._workers = self._workers, []
        for worker in workers:
            worker.hang_up()
        deadline = time.monotonic() + _PATIENCE
        for worker in workers:
            worker.end(deadline)


@contextmanager
def _no_interrupt() -> Iterator[None]:
    """A block that Ctrl-C waits for; processes started in it do not hear it before they have said what it does."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _noted(answer: Answer, worker: int) -> BaseException:
    error: BaseException = answer.value
    add_note(error, f"raised in DataLoader worker {worker}:\n{answer.text}")
    return error


def _context() -> BaseContext:
    """How processes start: as the program chose by `multiprocessing.set_start_method`, else on Linux by a fork."""
    method = multiprocessing.get_start_method(allow_none=True)
    if method is None and sys.platform == "linux":
        method = "fork"
    return multiprocessing.get_context(method)


def _jobs(plan: Plan) -> Sequence[Job]:
    """What each worker gets; seeds come from the caller's generators: who seeds these sees the same samples again."""
    numpy_seed = int(np.random.randint(0, 2**62, dtype=np.int64))
    python_seed = random.getrandbits(62)
    key = default_generator().advance(1)
    return [
        Job(
            WorkerInfo(i, plan.num_workers, plan.fetcher.dataset, numpy_seed + i),
            plan.fetcher,
            plan.init,
            plan.share,
            python_seed + i,
            int(np.random.SeedSequence([key.seed, key.offset, i]).generate_state(1, np.uint64)[0]),
        )
        for i in range(plan.num_workers)
    ]
