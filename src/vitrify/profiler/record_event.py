"""RecordEvent: a stretch of the user's own code as an event."""

from __future__ import annotations

from contextlib import ContextDecorator
from types import TracebackType

from ..core.timeline import TIMELINE, TracerEventType, now


class RecordEvent(ContextDecorator):
    """An event of the user's, in a `with` block or between `begin` and `end`; also a decorator.

    It is noted while a Profiler records, and costs next to nothing otherwise. In a compiled function it covers the
    trace; what runs later are the program's instructions. Source: paddle.profiler.RecordEvent.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.profiler.RecordEvent("prepare"):
        ...     x = paddle.ones([2])
    """

    def __init__(self, name: str, event_type: TracerEventType = TracerEventType.PythonUserDefined) -> None:
        self.name = name
        self.event_type = event_type
        self._starts: list[int] = []

    def begin(self) -> None:
        """Let the event start."""
        if TIMELINE.get() is not None:
            self._starts.append(now())

    def end(self) -> None:
        """Let it end; nothing happens if it has not begun while a Profiler recorded."""
        timeline = TIMELINE.get()
        start = self._starts.pop() if self._starts else None
        if timeline is not None and start is not None and start >= timeline.started:
            timeline.add(self.event_type, self.name, start, now())

    def _recreate_cm(self) -> RecordEvent:  # a decorated function may run in many threads at once
        return RecordEvent(self.name, self.event_type)

    def __enter__(self) -> RecordEvent:
        self.begin()
        return self

    def __exit__(self, kind: type[BaseException] | None, err: BaseException | None, tb: TracebackType | None) -> None:
        self.end()
