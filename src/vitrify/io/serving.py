"""What runs in a worker process of a DataLoader."""

from __future__ import annotations

import os
import pickle
import random
import signal
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Thread
from types import TracebackType
from typing import Any

import numpy as np

from ..core.place import set_device
from ..core.rng import seed
from .fetching import DONE, Fetcher
from .parcel import Parcel
from .workers import WorkerInfo, set_worker_info

_GRACE = 5.0
"""Seconds that user code may go on after the loader's process is gone."""


class Kind(Enum):
    """What an answer holds."""

    BATCH = "batch"
    DONE = "done"
    ERROR = "error"


@dataclass(frozen=True)
class Answer:
    """What came of a task: a batch, the end of an iterable dataset, or an exception with its traceback as text."""

    epoch: int
    kind: Kind
    value: Any = None
    text: str = ""


@dataclass(frozen=True)
class Job:
    """What a worker is and does."""

    info: WorkerInfo
    fetcher: Fetcher
    init: Callable[[int], None] | None
    share: bool
    python_seed: int
    tensor_seed: int


class _Outcome:
    """A block whose exception is kept instead of raised."""

    error: Exception | None = None

    def __enter__(self) -> _Outcome:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> bool:
        if isinstance(error, Exception):
            self.error = error
        return isinstance(error, Exception)


def serve(connection: Connection, copies: Sequence[Connection], job: Job) -> None:
    """Answer one task after the other until the loader hangs up.

    copies: the loader's ends of sockets, which a forked process has as well; while they are open nobody hangs up.
    """
    for copy in copies:
        copy.close()
    tasks: SimpleQueue[Any] = SimpleQueue()
    _prepare(job)
    Thread(target=_listen, args=(connection, tasks), daemon=True).start()
    with _Outcome() as started:
        if job.init is not None:
            job.init(job.info.id)
    epoch, make = 0, job.fetcher.start()
    for wanted, task in iter(tasks.get, None):
        if wanted != epoch:
            epoch, make = wanted, job.fetcher.start()
        try:
            if not _reply(connection, epoch, started.error, make, task, job.share):
                return
        except (BrokenPipeError, ConnectionResetError):
            return  # nobody waits any more


def _reply(
    connection: Connection, epoch: int, error: Exception | None, make: Callable[[Any], Any], task: Any, share: bool
) -> bool:
    """Send what comes of a task; False if the worker could not start."""
    with _Outcome() as outcome:
        if error is not None:
            raise error
        value = make(task)
        done = value is DONE
        parcel = Parcel(Answer(epoch, Kind.DONE if done else Kind.BATCH, None if done else value))
    if outcome.error is not None:
        parcel = Parcel(_failure(epoch, outcome.error))
    parcel.send(connection, share)
    return error is None


def _prepare(job: Job) -> None:
    """Leave Ctrl-C to the loader's process, and be the worker that the job describes, with generators of its own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # the loader blocked it while this process started
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    set_worker_info(job.info)
    set_device("cpu")  # a forked process cannot use its parent's GPU; the loader moves batches to their place
    random.seed(job.python_seed)
    np.random.seed(np.random.SeedSequence(job.info.seed).generate_state(4))
    seed(job.tensor_seed)


def _listen(connection: Connection, tasks: SimpleQueue[Any]) -> None:
    """Take tasks off the socket at once, so that the loader never waits for room in it."""
    try:
        while True:
            tasks.put(connection.recv())
    except (EOFError, OSError):
        tasks.put(None)
    time.sleep(_GRACE)
    os._exit(1)  # user code that does not return must not outlive the program


def _failure(epoch: int, error: Exception) -> Answer:
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__)).rstrip()
    return Answer(epoch, Kind.ERROR, _sendable(error), text)


class _Stripped:
    """Pickles as an exception of that class with those arguments, made without calling its `__init__`."""

    def __init__(self, cls: type[Exception], args: Sequence[Any], state: dict[str, Any]) -> None:
        self._parts = cls, tuple(args), state

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, self._parts


def _rebuilt(cls: type[Exception], args: tuple[Any, ...], state: dict[str, Any]) -> Exception:
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(state)
    return error


def _sendable(error: Exception) -> Any:
    """What unpickles as the exception, or as one of its class, or of its nearest builtin class: the first that can."""
    texts = [str(arg) for arg in error.args]
    bases = [base for base in type(error).__mro__ if base.__module__ == "builtins" and issubclass(base, Exception)]
    candidates = [error, _Stripped(type(error), error.args, error.__dict__), _Stripped(type(error), texts, {})]
    for candidate in candidates:
        with _Outcome() as outcome:
            pickle.loads(pickle.dumps(candidate))
        if outcome.error is None:
            return candidate
    return _Stripped(bases[0], texts, {})
