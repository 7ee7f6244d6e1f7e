"""Streams of the CPU: each is a thread that does what it is given, in order. NumPy's kernels run side by side."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Hashable, Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Event, Thread, local
from typing import Any

import numpy as np

from ..core.timeline import TracerEventType, span
from .patience import await_progress
from .values import copied, owned


@dataclass(eq=False)
class Value:
    """An array that a stream has made, or will."""

    stream: Hashable
    array: Any = None


class StreamEvent(Event):
    """Passes when its stream gets there."""

    def __init__(self, stream: Hashable) -> None:
        super().__init__()
        self.stream = stream

    def __str__(self) -> str:
        return f"stream {self.stream}"


@dataclass(eq=False)
class _Stream:
    """A thread with its queue: (context, what to run, the kernel or event that it is about)."""

    name: Hashable
    queue: SimpleQueue[tuple[Context, Callable[[], object], Any] | None] = field(default_factory=SimpleQueue)
    doing: Any = None
    done: int = 0

    def start(self) -> None:
        """Start the thread."""
        Thread(target=self.serve, name=f"stream {self.name}", daemon=True).start()

    def serve(self) -> None:
        """Do what the queue says until it says None; hold on to nothing while it is empty."""
        while (work := self.queue.get()) is not None:
            context, run, self.doing = work
            context.run(run)
            self.done += 1
            self.doing = work = context = run = None  # type: ignore[assignment]

    def __str__(self) -> str:
        doing = self.doing
        what = "is idle" if doing is None else f"{'waits for' if isinstance(doing, Event) else 'computes'} {doing}"
        return f"  stream {self.name} {what}" + (f", {self.queue.qsize()} more queued" if self.queue.qsize() else "")


class CpuStreams:
    """A device whose streams are threads, started when they are first used; they end with the device."""

    caller: Hashable | None = None
    counts_references = True

    def __init__(self) -> None:
        self._streams: dict[Hashable, _Stream] = {}
        self._dropping = False
        self.failure: BaseException | None = None

    def __del__(self) -> None:
        for stream in self._streams.values():
            stream.queue.put(None)

    def put(self, stream: Hashable, array: Any) -> Any:
        """The array itself: the host and the device have one memory."""
        return Value(stream, array) if hasattr(array, "dtype") or isinstance(array, list) else array

    def take(self, stream: Hashable, value: Any) -> Any:
        """A copy of an array: others may write into it."""
        return self.launch(stream, _copied, [value], 1, False, None)[0] if isinstance(value, Value) else value

    def launch(
        self, stream: Hashable, compute: Callable[..., Any], inputs: Sequence[Any], count: int, views: bool,
        overwrites: int | None, effects: Collection[str] = (), sizes: Sequence[int] = (),
    ) -> list[Any]:  # fmt: skip
        """Queue a kernel."""
        outputs = [Value(stream) for _ in range(count)]
        self._push(stream, lambda: self._compute(compute, inputs, outputs, views, overwrites), compute)
        return outputs

    def record(self, stream: Hashable) -> StreamEvent:
        """An event that passes when the thread gets there."""
        event = StreamEvent(stream)
        self._push(stream, event.set)
        return event

    def wait(self, stream: Hashable, event: StreamEvent) -> None:
        """Let the thread wait."""
        self._push(stream, lambda: _pass(event), event)

    def synchronize(self, event: StreamEvent) -> None:
        """Let the caller wait; raises what a kernel raised, or HangError."""
        await_progress(event.wait, self._progress, lambda: self._report(event))
        self.check()

    def passed(self, event: StreamEvent) -> bool:
        """Whether the thread got there."""
        return event.is_set()

    def read(self, value: Any) -> Any:
        """The array."""
        return value.array if isinstance(value, Value) else value

    def free(self, value: Any) -> None:
        """Forget the array, behind all that its stream was given before."""
        if isinstance(value, Value):
            self._push(value.stream, lambda: setattr(value, "array", None))

    def finish(self) -> None:
        """Wait for all streams; raises the first exception of a kernel."""
        for event in [self.record(stream) for stream in self._streams]:
            self.synchronize(event)

    def stamp(self, stream: Hashable) -> None:
        """None: kernels run in threads of the host."""

    def check(self) -> None:
        """Raise the first exception of a kernel."""
        if self.failure is not None:
            raise self.failure

    def abandon(self, seconds: float | None) -> bool:
        """Drop what is queued, and wait for what computes; whether all of it ended in time."""
        self._dropping = True
        ended = all(event.wait(seconds) for event in [self.record(stream) for stream in self._streams])
        self._dropping = not ended
        self.failure = None
        return ended

    def release(self) -> None:
        """Let the next run of this thread have it."""
        _idle.devices.append(self)

    def _progress(self) -> int:
        return sum(stream.done for stream in self._streams.values())

    def _report(self, event: StreamEvent) -> str:
        return "\n".join([f"  the caller waits for {event}", *map(str, self._streams.values())])

    def _push(self, name: Hashable, run: Callable[[], object], about: Any = None) -> None:
        stream = self._streams.get(name)
        if stream is None:
            stream = self._streams[name] = _Stream(name)
            stream.start()
        stream.queue.put((copy_context(), run, about))  # random numbers and modes are the caller's

    def _compute(
        self, compute: Callable[..., Any], inputs: Sequence[Any], outputs: list[Value], views: bool,
        overwrites: int | None,
    ) -> None:  # fmt: skip
        if self.failure is not None or self._dropping:
            return
        arrays = [v.array if isinstance(v, Value) else v for v in inputs]
        options = {} if overwrites is None else {"out": arrays[overwrites]}
        try:
            results = compute(*arrays, **options)
            if not (views or options):
                results = owned(results, arrays, np.may_share_memory)
        except BaseException as err:  # noqa: BLE001 - it is raised where the caller waits
            self.failure = self.failure or err
            return
        for value, array in zip(outputs, results):
            value.array = array


def _pass(event: Event) -> None:
    with span(TracerEventType.EventWait, "wait for an event"):
        event.wait()


def _copied(array: Any) -> Any:
    with span(TracerEventType.Memcpy, "copy out"):
        return copied(array)


class _Idle(local):
    """The devices of a thread that no run uses now."""

    def __init__(self) -> None:
        self.devices: list[CpuStreams] = []


_idle = _Idle()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _idle.devices.clear())  # a forked process has no threads but its own


def cpu_streams() -> CpuStreams:
    """A device that no run uses now; `release` keeps its threads for the next run."""
    return _idle.devices.pop() if _idle.devices else CpuStreams()
