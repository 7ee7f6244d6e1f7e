"""ProfilerResult: what was recorded, and the figures that follow from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..core.timeline import Event, Sample, Timeline, TracerEventType

Interval = tuple[int, int]


@dataclass(frozen=True)
class ProfilerResult:
    """Events, nanoseconds; `start` and `end` of the recording.

    Fields:
        events: those of one lane in the order of their start, what contains others first.
        lanes: the name of each thread or stream, by its number.
        samples: how many bytes of arrays that operators made were in use, at every change.
    """

    events: tuple[Event, ...]
    lanes: Mapping[int, str]
    samples: tuple[Sample, ...]
    start: int
    end: int

    @staticmethod
    def of(timeline: Timeline) -> ProfilerResult:
        """What a closed timeline holds; events that were not over when it was closed are left out."""
        events = [e for e in timeline.events() if timeline.started <= e.start and e.end <= timeline.ended]
        samples = [s for s in timeline.samples() if s.time <= timeline.ended]
        return ProfilerResult(tuple(events), dict(timeline.threads), tuple(samples), timeline.started, timeline.ended)

    @property
    def duration(self) -> int:
        """How long the recording took."""
        return self.end - self.start

    def of_kind(self, *kinds: TracerEventType) -> list[Event]:
        """The events of these kinds."""
        return [event for event in self.events if event.kind in kinds]

    @property
    def work(self) -> list[Event]:
        """Operators, eager ones and those of programs, also those that run others."""
        return [event for event in self.events if event.kind.is_work]

    @property
    def busy(self) -> list[Event]:
        """Operators and copies: when a lane does something."""
        return [event for event in self.events if event.kind.is_work or event.kind is TracerEventType.Memcpy]


def own_times(events: Sequence[Event]) -> list[int]:
    """For each event its duration without those of the events inside it, of those given, in the same lane."""
    found = [event.end - event.start for event in events]
    open_events: list[int] = []
    for index, event in enumerate(events):
        while open_events and not _contains(events[open_events[-1]], event):
            open_events.pop()
        if open_events:
            found[open_events[-1]] -= event.end - event.start
        open_events.append(index)
    return found


def _contains(outer: Event, inner: Event) -> bool:
    return outer.thread == inner.thread and inner.start < outer.end


@dataclass
class Row:
    """Events of one name: how many, and nanoseconds. `own`: without the events inside them."""

    name: str
    calls: int = 0
    total: int = 0
    own: int = 0
    most: int = 0
    least: int = 0

    @property
    def average(self) -> float:
        """The average duration."""
        return self.total / self.calls

    def add(self, duration: int, own: int) -> None:
        """Count one event."""
        self.least = duration if not self.calls else min(self.least, duration)
        self.most = max(self.most, duration)
        self.calls += 1
        self.total += duration
        self.own += own


def rows(events: Sequence[Event], name_of: Callable[[Event], str] = lambda event: event.name) -> list[Row]:
    """The events by name."""
    found: dict[str, Row] = {}
    for event, own in zip(events, own_times(events)):
        name = name_of(event)
        found.setdefault(name, Row(name)).add(event.end - event.start, own)
    return list(found.values())


def united(events: Iterable[Event]) -> list[Interval]:
    """The stretches of time in which at least one of the events runs."""
    found: list[Interval] = []
    for start, end in sorted((event.start, event.end) for event in events):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def length(intervals: Iterable[Interval]) -> int:
    """How long they are together."""
    return sum(end - start for start, end in intervals)


@dataclass(frozen=True)
class Overlap:
    """How long at least one lane computed or copied, and how long more than one did."""

    some: int
    several: int


def overlap(result: ProfilerResult) -> Overlap:
    """How much the lanes of a result computed and copied at the same time."""
    changes: list[tuple[int, int]] = []
    for lane in result.lanes:
        for start, end in united(event for event in result.busy if event.thread == lane):
            changes += [(start, 1), (end, -1)]
    some = several = running = last = 0
    for time, change in sorted(changes):
        some += (time - last) * (running > 0)
        several += (time - last) * (running > 1)
        running, last = running + change, time
    return Overlap(some, several)
