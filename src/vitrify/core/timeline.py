"""What happened when: the events that profilers look at, and the one place that notes them.

Notes are taken only while a timeline is current. Hot paths ask `WATCH.on` first; all others open a `span`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from itertools import count
from threading import current_thread, get_ident
from time import perf_counter_ns
from typing import Any, NamedTuple
from weakref import ref

from .setting import WATCH, Setting

now = perf_counter_ns
"""The clock of all events."""


class TracerEventType(Enum):
    """Kinds of events. The first ones have Paddle's names and values."""

    Operator = 0
    Dataloader = 1
    ProfileStep = 2
    Kernel = 4
    Memcpy = 5
    UserDefined = 7
    Forward = 9
    Backward = 10
    Optimization = 11
    PythonUserDefined = 14
    InferMeta = 17
    GradNode = 18
    Program = 19
    Instruction = 20
    Launch = 21
    Free = 22
    QueueWait = 23
    EventWait = 24

    @property
    def is_wait(self) -> bool:
        """Whether the thread does nothing meanwhile."""
        return self in (TracerEventType.QueueWait, TracerEventType.EventWait)

    @property
    def is_work(self) -> bool:
        """Whether it is a single operator that computes, eagerly or in a program."""
        return self in (TracerEventType.Operator, TracerEventType.Instruction)


class Event(NamedTuple):
    """One event: from `start` to `end`, in nanoseconds of a clock of the process, in the thread of this number.

    Negative numbers are the lanes of devices that work by themselves.
    """

    kind: TracerEventType
    name: str
    start: int
    end: int
    thread: int
    args: Mapping[str, Any]


class Sample(NamedTuple):
    """How many bytes of arrays were alive at a time, as far as the timeline knows; `maker`: the operator that made one
    just then, empty where one went."""

    time: int
    bytes: int
    maker: str = ""


NO_ARGS: Mapping[str, Any] = {}


class Timeline:
    """The events of one recording. Threads add to it at the same time.

    record_shapes: operators note the metas of their inputs. profile_memory: and the memory of what they make.
    with_flops: and how much arithmetic they take, where that is known. record_places: eager operators note the user's
    line, as those of programs always do.
    """

    def __init__(
        self,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_flops: bool = False,
        record_places: bool = False,
    ) -> None:
        self.record_shapes = record_shapes
        self.profile_memory = profile_memory
        self.with_flops = with_flops
        self.record_places = record_places
        self.threads: dict[int, str] = {}
        self.runs = count()
        """Numbers for runs of programs."""
        self.started = now()
        self.ended = 0
        # Plain tuples: making an Event takes six times as long. Appending to a list is atomic, so nothing is locked.
        self._events: list[tuple[Any, ...]] = []
        self._later: list[Callable[[], None]] = []
        self._memory: list[tuple[int, int, str]] = []
        self._alive: dict[int, Any] = {}

    def add(self, kind: TracerEventType, name: str, start: int, end: int, args: Mapping[str, Any] = NO_ARGS) -> None:
        """Note what this thread did from `start` to `end`."""
        thread = get_ident()
        if thread not in self.threads:
            self.threads[thread] = current_thread().name
        self._events.append((kind, name, start, end, thread, args))

    def add_later(
        self, kind: TracerEventType, name: str, start: Callable[[], int], end: Callable[[], int], lane: str,
        args: Mapping[str, Any],
    ) -> None:  # fmt: skip
        """Note what a device does on its own; the functions tell the times when the recording is over."""

        def add() -> None:
            thread = next((t for t, known in self.threads.items() if t < 0 and known == lane), -1 - len(self.threads))
            self.threads[thread] = lane
            self._events.append((kind, name, start(), end(), thread, args))

        self._later.append(add)

    def allocated(self, array: Any, maker: str) -> None:
        """Note the memory of an array that the operator `maker` has made, and the time when it goes."""
        while getattr(array, "base", None) is not None:
            array = array.base
        key = id(array)
        if key in self._alive or not hasattr(array, "nbytes") or not type(array).__weakrefoffset__:
            return  # known, a list, or a NumPy scalar
        count = array.nbytes

        def gone(_: Any) -> None:
            self._alive.pop(key, None)
            self._memory.append((now(), -count, ""))

        self._alive[key] = ref(array, gone)
        self._memory.append((now(), count, maker))

    def samples(self) -> list[Sample]:
        """How much memory of arrays that operators made while recording was in use, at every change."""
        found, total = [], 0
        for time, change, maker in sorted(self._memory):
            total += change
            found.append(Sample(time, total, maker))
        return found

    def __len__(self) -> int:
        return len(self._events)

    def close(self) -> None:
        """Note the end of the recording."""
        for add in self._later:
            add()
        self._later.clear()
        self.ended = now()

    def events(self) -> list[Event]:
        """All events; those of one thread that contain others come before them."""
        return sorted((Event(*event) for event in self._events), key=lambda e: (e.thread, e.start, -e.end))


TIMELINE: Setting[Timeline | None] = Setting("timeline", None, WATCH)
"""The timeline that events are noted on, if any."""

READER: Setting[Callable[[int], None] | None] = Setting("reader", None)
"""Who is told how many nanoseconds a data loader took to give a batch."""


@contextmanager
def span(kind: TracerEventType, name: str, **args: Any) -> Iterator[None]:
    """Note the block as an event, if a timeline is current."""
    timeline = TIMELINE.get() if WATCH.on else None
    if timeline is None:
        yield
        return
    start = now()
    try:
        yield
    finally:
        timeline.add(kind, name, start, now(), args)
