"""Streams in virtual time: each does what it is given in order; how far each has come is drawn at random."""

from __future__ import annotations

import random
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

from ..core.errors import HangError
from .races import Clock


@dataclass(eq=False)
class Event:
    """Passes when `stream` has done its first `position` items; `clock` is what is known to be done then."""

    stream: Hashable
    position: int
    clock: Clock

    def __str__(self) -> str:
        return f"the first {self.position} items of stream {self.stream}"


@dataclass(eq=False)
class _Item:
    run: Callable[[], None]
    after: list[Event]


class VirtualTime:
    """The queues of all streams. An adversary: it finds the schedules in which a missing event matters."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._haste = self._random.choice((0.0, 0.2, 0.5, 0.9))  # how readily time passes while the host queues
        self._queues: dict[Hashable, deque[_Item]] = defaultdict(deque)
        self._queued: dict[Hashable, int] = defaultdict(int)
        self._done: dict[Hashable, int] = defaultdict(int)

    def push(self, stream: Hashable, run: Callable[[], None], after: Sequence[Event] = ()) -> None:
        """Queue an item, which waits for events; some time may pass."""
        self._queues[stream].append(_Item(run, list(after)))
        self._queued[stream] += 1
        while self._random.random() < self._haste and self._step():
            pass

    def event(self, stream: Hashable, clock: Clock) -> Event:
        """An event behind all that the stream was given."""
        return Event(stream, self._queued[stream], dict(clock))

    def has_passed(self, event: Event) -> bool:
        """Whether an event has passed."""
        return self._done[event.stream] >= event.position

    def pass_some(self) -> None:
        """Let a little time pass."""
        for _ in range(self._random.randrange(3)):
            self._step()

    def run_until(self, event: Event) -> None:
        """Let time pass until an event has; raises HangError when no stream can go on."""
        while not self.has_passed(event):
            if not self._step():
                raise HangError(self._report(f"  the host waits for {event}"))

    def run_all(self) -> None:
        """Let all streams come to their end; raises HangError when they do not."""
        while self._step():
            pass
        if any(self._queues.values()):
            raise HangError(self._report())

    def drop(self) -> Iterator[Hashable]:
        """Drop what is queued; the streams that there are."""
        for stream, queue in self._queues.items():
            queue.clear()
            self._done[stream] = self._queued[stream]
            yield stream

    def _step(self) -> bool:
        """Let one stream that can go on do one item; whether there was one."""
        able = [s for s, queue in self._queues.items() if queue and all(map(self.has_passed, queue[0].after))]
        if able:
            stream = self._random.choice(able)
            self._queues[stream].popleft().run()
            self._done[stream] += 1
        return bool(able)

    def _report(self, *lines: str) -> str:
        heads = [(stream, queue[0].after) for stream, queue in self._queues.items() if queue]
        waits = sorted(f"  stream {stream} waits for {event}" for stream, after in heads for event in after)
        return "\n".join(["no stream can go on", *lines, *waits])
