"""Giving back what several streams use: only when each of them has passed what it was given before."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")


class Timeline(Protocol):
    """What must be known of streams: events, and whether they have passed."""

    def record(self, stream: Hashable) -> Any:
        """An event that passes when all that was queued on `stream` so far is done."""

    def passed(self, event: Any) -> bool:
        """Whether an event has passed."""

    def synchronize(self, event: Any) -> None:
        """Let the host wait for an event."""


class LateFrees(Generic[T]):
    """Things that are given back by `release` once streams have passed what they were given until now."""

    def __init__(self, timeline: Timeline, release: Callable[[T], None]) -> None:
        self._timeline = timeline
        self._release = release
        self._waiting: list[tuple[T, list[Any]]] = []

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, item: T, streams: Iterable[Hashable]) -> None:
        """Give `item` back when all of these streams have passed this point; at once if there are none."""
        events = [self._timeline.record(stream) for stream in streams]
        if events:
            self._waiting.append((item, events))
        else:
            self._release(item)

    def poll(self) -> None:
        """Give back what can be given back now."""
        if not self._waiting:
            return
        passed = self._timeline.passed
        waiting, self._waiting = self._waiting, []
        for item, events in waiting:
            while events and passed(events[-1]):
                events.pop()
            if events:
                self._waiting.append((item, events))
            else:
                self._release(item)

    def flush(self) -> None:
        """Give everything back; the caller knows that all streams have passed it."""
        waiting, self._waiting = self._waiting, []
        for item, _ in waiting:
            self._release(item)

    def drain(self) -> None:
        """Wait for all streams concerned and give everything back."""
        waiting, self._waiting = self._waiting, []
        for item, events in waiting:
            for event in events:
                self._timeline.synchronize(event)
            self._release(item)
