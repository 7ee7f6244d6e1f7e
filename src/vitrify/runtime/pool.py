"""The threads that help a run: daemons, so that one which never ends does not keep the process alive."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from functools import cache
from queue import SimpleQueue
from threading import Lock, Thread

_Queue = SimpleQueue[Callable[[], object] | None]


class Pool:
    """At most `size` threads, started when they are needed, that run what they are given."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = Lock()
        self._renewed()

    def _renewed(self) -> None:
        self._started = 0
        self._idle: deque[None] = deque()  # an entry for each thread that waits
        self._queue: _Queue = SimpleQueue()

    def submit(self, work: Callable[[], object]) -> None:
        """Have a thread run `work`, which must not raise."""
        self._queue.put(work)
        try:
            self._idle.pop()
        except IndexError:
            self._start_one()

    def _start_one(self) -> None:
        with self._lock:
            if self._started < self._size:
                self._started += 1
                name = f"vitrify-{self._started}"
                Thread(target=_serve, args=(self._queue, self._idle), name=name, daemon=True).start()

    def renew(self) -> None:
        """Start anew, for some of the threads do not end; each does once it has nothing to do."""
        with self._lock:
            queue, started = self._queue, self._started
            self._renewed()
        for _ in range(started):
            queue.put(None)


def _serve(queue: _Queue, idle: deque[None]) -> None:
    while (work := queue.get()) is not None:
        work()
        work = None  # hold on to nothing while waiting
        idle.append(None)


@cache
def pool(size: int) -> Pool:
    """The threads of this process that help runs of so many threads beside the caller's."""
    return Pool(size)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=pool.cache_clear)  # a forked process has no threads but its own
