"""Streams in virtual time: each does what it is given in order; how far each has come is drawn at random."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

from ..core.errors import HangError
from .races import Clock


class _Queue:
    """What one stream was given: what it has yet to do, each item with what it waits for, and how many it has done."""

    __slots__ = ("done", "given", "items", "stream")

    def __init__(self, stream: Hashable) -> None:
        self.stream = stream
        self.items: deque[tuple[Callable[[], None], Sequence[Event]]] = deque()
        self.given = 0
        self.done = 0

    def is_able(self) -> bool:
        """Whether it can go on: there is an item, and all that it waits for has passed."""
        if not self.items:
            return False
        _, after = self.items[0]
        return not after or all(event.queue.done >= event.position for event in after)


@dataclass(eq=False)
class Event:
    """Passes when `stream` has done its first `position` items; `clock` is what is known to be done then."""

    queue: _Queue
    position: int
    clock: Clock

    @property
    def stream(self) -> Hashable:
        """The stream behind whose items it lies."""
        return self.queue.stream

    @property
    def has_passed(self) -> bool:
        """Whether the stream has come so far."""
        return self.queue.done >= self.position

    def __str__(self) -> str:
        return f"the first {self.position} items of stream {self.stream}"


class VirtualTime:
    """The queues of all streams. An adversary: it finds the schedules in which a missing event matters."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._haste = self._random.choice((0.0, 0.2, 0.5, 0.9))  # how readily time passes while the host queues
        self._queues: dict[Hashable, _Queue] = {}

    def _queue(self, stream: Hashable) -> _Queue:
        found = self._queues.get(stream)
        if found is None:
            found = self._queues[stream] = _Queue(stream)
        return found

    def push(self, stream: Hashable, run: Callable[[], None], after: Sequence[Event] = ()) -> None:
        """Queue an item, which waits for events; some time may pass."""
        queue = self._queue(stream)
        queue.items.append((run, after))
        queue.given += 1
        while self._random.random() < self._haste and self._step():
            pass

    def event(self, stream: Hashable, clock: Clock) -> Event:
        """An event behind all that the stream was given."""
        queue = self._queue(stream)
        return Event(queue, queue.given, clock.copy())

    def pass_some(self) -> None:
        """Let a little time pass."""
        for _ in range(self._random.randrange(3)):
            self._step()

    def run_until(self, event: Event) -> None:
        """Let time pass until an event has; raises HangError when no stream can go on."""
        while not event.has_passed:
            if not self._step():
                raise HangError(self._report(f"  the host waits for {event}"))

    def run_all(self) -> None:
        """Let all streams come to their end; raises HangError when they do not."""
        while self._step():
            pass
        if any(queue.items for queue in self._queues.values()):
            raise HangError(self._report())

    def drop(self) -> Iterator[Hashable]:
        """Drop what is queued; the streams that there are."""
        for stream, queue in self._queues.items():
            queue.items.clear()
            queue.done = queue.given
            yield stream

    def _step(self) -> bool:
        """Let one stream that can go on do one item; whether there was one."""
        able = [queue for queue in self._queues.values() if queue.items and queue.is_able()]
        if able:
            queue = self._random.choice(able)
            run, _ = queue.items.popleft()
            run()
            queue.done += 1
        return bool(able)

    def _report(self, *lines: str) -> str:
        heads = [(stream, queue.items[0][1]) for stream, queue in self._queues.items() if queue.items]
        waits = sorted(f"  stream {stream} waits for {event}" for stream, after in heads for event in after)
        return "\n".join(["no stream can go on", *lines, *waits])
