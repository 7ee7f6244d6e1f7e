"""Streams of the CPU: each is a thread that does what it is given, in order. NumPy's kernels run side by side."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Event, Thread, local
from typing import Any

import numpy as np

from ..core.timeline import TracerEventType, span
from .values import copied, owned

_Work = tuple[Context, Callable[[], None]]


@dataclass(eq=False)
class Value:
    """An array that a stream has made, or will."""

    stream: Hashable
    array: Any = None


class CpuStreams:
    """A device whose streams are threads, started when they are first used; they end with the device."""

    caller: Hashable | None = None
    counts_references = True

    def __init__(self) -> None:
        self._queues: dict[Hashable, SimpleQueue[_Work | None]] = {}
        self.failure: BaseException | None = None

    def __del__(self) -> None:
        for queue in self._queues.values():
            queue.put(None)

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
        self._push(stream, lambda: self._compute(compute, inputs, outputs, views, overwrites))
        return outputs

    def record(self, stream: Hashable) -> Event:
        """An event that passes when the thread gets there."""
        event = Event()
        self._push(stream, event.set)
        return event

    def wait(self, stream: Hashable, event: Event) -> None:
        """Let the thread wait."""
        self._push(stream, lambda: _pass(event))

    def synchronize(self, event: Event) -> None:
        """Let the caller wait."""
        event.wait()

    def passed(self, event: Event) -> bool:
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
        for event in [self.record(stream) for stream in self._queues]:
            event.wait()
        self.check()

    def stamp(self, stream: Hashable) -> None:
        """None: kernels run in threads of the host."""

    def check(self) -> None:
        """Raise the first exception of a kernel."""
        if self.failure is not None:
            failure, self.failure = self.failure, None
            raise failure

    def _push(self, stream: Hashable, work: Callable[[], None]) -> None:
        queue = self._queues.get(stream)
        if queue is None:
            queue = self._queues[stream] = SimpleQueue()
            Thread(target=_serve, args=(queue,), name=f"stream {stream}", daemon=True).start()
        queue.put((copy_context(), work))  # random numbers and modes are the caller's

    def _compute(
        self, compute: Callable[..., Any], inputs: Sequence[Any], outputs: list[Value], views: bool,
        overwrites: int | None,
    ) -> None:  # fmt: skip
        if self.failure is not None:
            return
        arrays = [v.array if isinstance(v, Value) else v for v in inputs]
        options = {} if overwrites is None else {"out": arrays[overwrites]}
        try:
            results = compute(*arrays, **options)
            if not (views or options):
                results = owned(results, arrays, np.may_share_memory)
        except BaseException as err:  # noqa: BLE001 - it is raised where the caller waits
            self.failure = err
            return
        for value, array in zip(outputs, results):
            value.array = array


def _pass(event: Event) -> None:
    with span(TracerEventType.EventWait, "wait for an event"):
        event.wait()


def _copied(array: Any) -> Any:
    with span(TracerEventType.Memcpy, "copy out"):
        return copied(array)


def _serve(queue: SimpleQueue[_Work | None]) -> None:
    while (work := queue.get()) is not None:
        context, run = work
        context.run(run)


class _Current(local):
    device: CpuStreams | None = None


_current = _Current()


def cpu_streams() -> CpuStreams:
    """The device of this thread, kept between runs so that its streams need not be started again."""
    if _current.device is None:
        _current.device = CpuStreams()
    return _current.device
