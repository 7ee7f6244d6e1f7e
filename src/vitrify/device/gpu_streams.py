"""Streams and events of GPUs for users: `paddle.device.Stream`, `Event` and what goes with them.

They are CuPy's, so kernels of eager ops go to the stream that is current here, and programs start behind it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..core.errors import ArgumentError
from ..core.place import CUDAPlace, as_place, current_place, is_compiled_with_cuda
from .cuda_memory import cupy
from .user_waits import await_device, await_event

_HIGH, _NORMAL = 1, 2


class NoDeviceError(ArgumentError, RuntimeError, TypeError):
    """What only a GPU has was asked of another place."""


def gpu_place(what: str, device: Any = None) -> Any:
    """The GPU that `device` names (a place, its name or number; None: the current place); raises NoDeviceError."""
    place = current_place() if device is None else CUDAPlace(device) if type(device) is int else as_place(device)
    if not place.is_gpu_place() or not is_compiled_with_cuda():
        hint = "paddle.set_device('gpu:0')"
        raise NoDeviceError(f"{what}: device should be a gpu, but received {place!r}", hint=hint)
    return place


class Event:
    """A point in a stream's work. Raises NoDeviceError without a GPU. Source: paddle.device.Event.

    Example:
        >>> import vitrify as paddle
        >>> if paddle.device.is_available():
        ...     event = paddle.device.Event()
        ...     event.record()
        ...     event.synchronize()
        ...     assert event.query()
    """

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> None:
        self.device = gpu_place("Event")
        self.event_base = cupy().cuda.Event(blocking, not enable_timing, interprocess)

    def record(self, stream: Stream | None = None) -> None:
        """Stand behind all that the stream, by default the current one, was given so far."""
        (current_stream() if stream is None else stream).stream_base.record(self.event_base)

    def query(self) -> bool:
        """Whether the work before it is done."""
        return bool(self.event_base.done)

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this event to another; both were made with enable_timing."""
        return float(cupy().cuda.get_elapsed_time(self.event_base, end_event.event_base))

    def synchronize(self) -> None:
        """Wait until the work before it is done; raises HangError, with what each thread waits for, when it hangs."""
        await_event(self.device.index, self.event_base, "an event")


class Stream:
    """A queue of a GPU. priority: 1 is high, 2 normal. Source: paddle.device.Stream.

    Raises NoDeviceError without a GPU, ArgumentError for other priorities.

    Example:
        >>> import vitrify as paddle
        >>> if paddle.device.is_available():
        ...     stream = paddle.device.Stream()
        ...     with paddle.device.stream_guard(stream):
        ...         y = paddle.ones([2], device="gpu") + 1
        ...     stream.synchronize()
    """

    def __init__(self, device: Any = None, priority: int = _NORMAL, stream_base: Any = None) -> None:
        self.device = gpu_place("Stream", device)
        if priority not in (_HIGH, _NORMAL):
            raise ArgumentError(f"Stream: priority is 1 (high) or 2 (normal), but received {priority!r}")
        with cupy().cuda.Device(self.device.index):
            made = stream_base or cupy().cuda.Stream(non_blocking=True, priority=-1 if priority == _HIGH else 0)
        self.stream_base = made

    def wait_event(self, event: Event) -> None:
        """Let what comes later wait for an event."""
        self.stream_base.wait_event(event.event_base)

    def wait_stream(self, stream: Stream) -> None:
        """Let what comes later wait for all that another stream was given so far."""
        self.wait_event(stream.record_event())

    def record_event(self, event: Event | None = None) -> Event:
        """An event behind all that was given so far."""
        found = Event() if event is None else event
        found.record(self)
        return found

    def query(self) -> bool:
        """Whether all work is done."""
        return bool(self.stream_base.done)

    def synchronize(self) -> None:
        """Wait until all work is done; raises HangError, with what each thread waits for, when it hangs."""
        with cupy().cuda.Device(self.device.index):
            event = self.stream_base.record(cupy().cuda.Event(disable_timing=True))
        await_event(self.device.index, event, f"stream {self.stream_base.ptr:#x}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self.stream_base == other.stream_base

    def __hash__(self) -> int:
        return hash(self.stream_base)


def current_stream(device: Any = None) -> Stream:
    """The stream that kernels go to. Source: paddle.device.current_stream. Raises NoDeviceError without a GPU.

    Example:
        >>> import vitrify as paddle
        >>> if paddle.device.is_available():
        ...     paddle.device.current_stream(0).synchronize()
    """
    place = gpu_place("current_stream", device)
    with cupy().cuda.Device(place.index):
        return Stream(place, stream_base=cupy().cuda.get_current_stream())


def set_stream(stream: Stream) -> Stream:
    """Let kernels go to `stream` from now on; returns the stream before. Source: paddle.device.set_stream.

    Example:
        >>> import vitrify as paddle
        >>> if paddle.device.is_available():
        ...     before = paddle.device.set_stream(paddle.device.Stream(0))
        ...     after = paddle.device.set_stream(before)
    """
    before = current_stream(stream.device)
    with cupy().cuda.Device(stream.device.index):
        stream.stream_base.use()
    return before


@contextmanager
def stream_guard(stream: Stream | None = None) -> Iterator[None]:
    """Let kernels go to `stream` inside the block; None changes nothing. Source: paddle.device.stream_guard.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.device.stream_guard(None):
        ...     print(paddle.ones([1]).tolist())
        [1.0]
    """
    if stream is None:
        yield
        return
    with cupy().cuda.Device(stream.device.index), stream.stream_base:
        yield


StreamContext = stream_guard


def synchronize(device: Any = None) -> None:
    """Wait for all that a GPU was given; raises HangError, with what each thread waits for, when it hangs.

    Source: paddle.device.synchronize.
    Raises NoDeviceError without a GPU.

    Example:
        >>> import vitrify as paddle
        >>> if paddle.device.is_available():
        ...     paddle.device.synchronize("gpu:0")
    """
    await_device(gpu_place("synchronize", device).index)


def is_current_stream_capturing() -> bool:
    """Whether the current stream captures a graph. Source: paddle.device.is_current_stream_capturing.

    Example:
        >>> import vitrify as paddle
        >>> paddle.device.is_current_stream_capturing()
        False
    """
    return current_place().is_gpu_place() and bool(current_stream().stream_base.is_capturing())


__all__ = [
    "Event", "NoDeviceError", "Stream", "StreamContext", "current_stream", "is_current_stream_capturing", "set_stream",
    "stream_guard", "synchronize",
]  # fmt: skip
