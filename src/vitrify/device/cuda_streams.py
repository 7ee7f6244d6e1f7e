"""Streams of an NVIDIA GPU, by CuPy: work is queued on CUDA streams, values are CuPy's arrays.

Streams are non-blocking, so nothing waits for CUDA's default stream; the events of a run tie them to the stream on
which the caller works. Memory comes from CuPy's pool of the stream on which a kernel runs and goes back there when
nothing refers to an array any more. Copies between host and device pass through page-locked memory, so that they run
beside computation.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from threading import Lock, current_thread, local
from typing import Any
from weakref import WeakSet

import numpy as np

from ..core.timeline import now
from .cuda_capture import PrivateMemory, graph_of_capture
from .cuda_memory import cupy
from .cuda_waits import Marks, passes
from .values import owned

CALLER = "caller"
# CUDA's priorities: lower numbers go first. What others wait for, copies and communication, goes before computation.
_PRIORITY = {"communication": -2, "h2d": -1, "d2h": -1}


class Staging:
    """Page-locked memory for copies that are under way; CuPy's pool gets it back when the copy's event has passed."""

    def __init__(self, xp: Any) -> None:
        self._xp = xp
        self._busy: list[tuple[Any, Any]] = []

    def like(self, shape: Sequence[int], dtype: Any) -> np.ndarray[Any, Any]:
        """A page-locked array of the host, which goes with its last user; `hold` keeps it until a copy is done."""
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        return np.ndarray(tuple(shape), dtype, buffer=self._xp.cuda.alloc_pinned_memory(max(size, 1)))

    def hold(self, array: np.ndarray[Any, Any], event: Any) -> None:
        """Keep `array` until `event` has passed."""
        self._busy = [(kept, until) for kept, until in self._busy if not until.done]
        self._busy.append((array, event))


class Landing:
    """A copy that is on its way to the host: page-locked memory that holds it when the stream is done."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array


class CudaStreams:
    """The streams of GPU number `index`, made when they are first used, for one thread of the host."""

    caller: Hashable | None = CALLER
    counts_references = True

    def __init__(self, index: int = 0) -> None:
        self.xp = cupy()
        self.device = self.xp.cuda.Device(index)
        self._streams: dict[Hashable, Any] = {}
        self._staging = Staging(self.xp)
        self.marks = Marks(self.xp)
        self.thread = current_thread().name
        self._given: dict[Hashable, Any] = {}  # what each stream was given last

    def stream(self, key: Hashable) -> Any:
        """CuPy's stream for one of the runtime's; the caller's is the one that is current in CuPy."""
        if key == CALLER:
            with self.device:
                return self.xp.cuda.get_current_stream()
        found = self._streams.get(key)
        if found is None:
            with self.device:
                priority = _PRIORITY.get(getattr(key, "kind", ""), 0)
                found = self._streams[key] = self.xp.cuda.Stream(non_blocking=True, priority=priority)
        return found

    def put(self, stream: Hashable, array: Any) -> Any:
        """An array of the host, copied through page-locked memory while other streams compute."""
        if isinstance(array, (list, tuple)):
            return type(array)([self.put(stream, item) for item in array])
        if not hasattr(array, "dtype"):
            return array
        queue = self.stream(stream)
        with self.device, queue:
            if not isinstance(array, (np.ndarray, np.generic)):
                return array if array.device == self.device else array.copy()
            made = self.xp.empty(array.shape, array.dtype)
            if array.size:
                staged = self._staging.like(array.shape, array.dtype)
                staged[...] = array
                made.set(staged, queue)
                self._staging.hold(staged, queue.record(self._event()))
        return made

    def take(self, stream: Hashable, value: Any) -> Any:
        """A copy that lands in page-locked memory."""
        if isinstance(value, (list, tuple)):
            return [self.take(stream, item) for item in value]
        if not hasattr(value, "dtype") or isinstance(value, (np.ndarray, np.generic)):
            return value
        queue = self.stream(stream)
        with self.device, queue:
            source = self.xp.ascontiguousarray(value).reshape(value.shape)
            landing = self._staging.like(value.shape, value.dtype)
            if value.size:
                source.get(stream=queue, out=landing, blocking=False)
        return Landing(landing)

    def launch(
        self, stream: Hashable, compute: Callable[..., Any], inputs: Sequence[Any], count: int, views: bool,
        overwrites: int | None, effects: Collection[str] = (), sizes: Sequence[int] = (),
    ) -> list[Any]:  # fmt: skip
        """Let CuPy queue the kernels of `compute` on a stream."""
        options = {} if overwrites is None else {"out": inputs[overwrites]}
        self._given[stream] = compute
        with self.device, self.stream(stream):
            results: Iterable[Any] = compute(*inputs, **options)
            if not (views or options):
                results = owned(results, inputs, self.xp.may_share_memory)
        return list(results)

    def record(self, stream: Hashable) -> Any:
        """An event behind all that was queued so far."""
        queue = self.stream(stream)
        with self.device:
            event = queue.record(self._event())
        self.marks.add(stream, event, self._given.pop(stream, None))
        return event

    def wait(self, stream: Hashable, event: Any) -> None:
        """Let a stream wait; the host does not."""
        with self.device:
            self.stream(stream).wait_event(event)

    def synchronize(self, event: Any) -> None:
        """Let the host wait; raises HangError when nothing gets on."""
        self.marks.wait(event)

    def passed(self, event: Any) -> bool:
        """Ask the driver."""
        return bool(event.done)

    def read(self, value: Any) -> Any:
        """The array of the host: what has landed there, or a copy that the host waits for now."""
        if isinstance(value, list):
            return [self.read(item) for item in value]
        if isinstance(value, Landing):
            return value.array.copy()  # the page-locked memory is for the next copy
        if not hasattr(value, "dtype") or isinstance(value, (np.ndarray, np.generic)):
            return value
        landing = self.take(CALLER, value)
        self.synchronize(self.record(CALLER))
        return self.read(landing)

    def free(self, value: Any) -> None:
        """Nothing to do: an array that nothing refers to goes back to its stream's pool by itself."""

    def stamp(self, stream: Hashable) -> Callable[[], int]:
        """A timing event; how long it is after the first one is added to the time of that one."""
        queue = self.stream(stream)
        with self.device:
            origin, at = self._clock
            event = queue.record(self.xp.cuda.Event())

        def time() -> int:
            self.synchronize(event)
            milliseconds: float = self.xp.cuda.get_elapsed_time(origin, event)
            return at + round(milliseconds * 1e6)

        return time

    @cached_property
    def _clock(self) -> tuple[Any, int]:
        """An event and the time of the host when it had passed."""
        event = self.stream(CALLER).record(self.xp.cuda.Event())
        self.synchronize(event)
        return event, now()

    def check(self) -> None:
        """Nothing to do: CuPy raises where a kernel is launched, CUDA where the host waits."""

    def finish(self) -> None:
        """Let the host wait for all streams."""
        for event in [self.record(stream) for stream in self._streams]:
            self.synchronize(event)

    # -- graphs -----------------------------------------------------------------------------------------------------

    def begin_capture(self, stream: Hashable) -> None:
        """Let CUDA note what this thread gives to the stream."""
        queue = self.stream(stream)
        with self.device, queue:
            queue.begin_capture(self.xp.cuda.runtime.streamCaptureModeThreadLocal)

    def end_capture(self, stream: Hashable) -> Any:
        """CUDA's graph, as `graph_of_capture` says."""
        queue = self.stream(stream)
        with self.device, queue:
            return graph_of_capture(self.xp, queue)

    def launch_graph(self, graph: Any, stream: Hashable) -> None:
        """Launch it."""
        queue = self.stream(stream)
        with self.device, queue:
            graph.launch(queue)

    def private_memory(self) -> AbstractContextManager[Any]:
        """A pool that nobody else allocates from."""
        return PrivateMemory(self.xp)

    def fill(self, stream: Hashable, buffer: Any, value: Any) -> None:
        """A copy on the stream, from the host through page-locked memory."""
        source = self.put(stream, value)
        with self.device, self.stream(stream):
            buffer[...] = source

    def abandon(self, seconds: float | None) -> bool:
        """Wait for what was queued, which CUDA cannot drop. Streams that hang are left to themselves."""
        events = [self.record(stream) for stream in self._streams]
        ended = all(passes(self.xp, event, seconds) for event in events)
        if not ended:
            _current.devices.pop(self.device.id, None)
        return ended

    def release(self) -> None:
        """The runs of a thread share its streams; of what is done nothing is kept."""
        if not self.stream(CALLER).is_capturing():
            self.marks.drop_passed()

    def _event(self) -> Any:
        return self.xp.cuda.Event(disable_timing=True)


class _Current(local):
    def __init__(self) -> None:
        self.devices: dict[int, CudaStreams] = {}


_current = _Current()
_of_all_threads: WeakSet[CudaStreams] = WeakSet()
_threads_lock = Lock()


def cuda_streams(index: int = 0) -> CudaStreams:
    """The streams of GPU number `index` for this thread, kept between runs."""
    found = _current.devices.get(index)
    if found is None:
        found = _current.devices[index] = CudaStreams(index)
        with _threads_lock:
            _of_all_threads.add(found)
    return found


def streams_of_all_threads(index: int) -> list[CudaStreams]:
    """The streams of GPU number `index` that threads have used, those that hung included."""
    with _threads_lock:
        known = [*_of_all_threads]
    return sorted((s for s in known if s.device.id == index), key=lambda s: s.thread)
