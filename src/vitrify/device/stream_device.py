"""The interface of devices that run work on streams. Streams keep the order of what they are given; events tie them.

Three devices have it: `cpu_streams`, whose streams are threads; `cuda_streams`, NVIDIA GPUs by CuPy; and `simulated`,
which finds what is missing. `places` says which is whose.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from .patience import patience_after


class StreamDevice(Protocol):
    """What the runtime asks of a device. Values are the device's own: arrays, lists of them, or None.

    Fields:
        caller: the stream on which those who call programs work with arrays of the device: programs start behind what
            it was given, and it goes on behind them. None where callers have arrays of the host.
        counts_references: whether memory is given back when nothing refers to a value any more, without `free`.
    """

    caller: Hashable | None
    counts_references: bool

    def put(self, stream: Hashable, array: Any) -> Any:
        """A copy of an array of the host (or a list of arrays) on the device, made on `stream`.

        What is on the device already is given back as it is, as is what is no array.
        """

    def take(self, stream: Hashable, value: Any) -> Any:
        """A copy for the host, made on `stream`; `read` shows it when the host has waited for that."""

    def launch(
        self, stream: Hashable, compute: Callable[..., Any], inputs: Sequence[Any], count: int, views: bool,
        overwrites: int | None, effects: Collection[str] = (), sizes: Sequence[int] = (),
    ) -> list[Any]:  # fmt: skip
        """Queue a kernel, which gives a tuple; returns the values that its `count` outputs will be.

        With `views` outputs may share memory with inputs; `overwrites` is the position of the input whose memory the
        output takes over; kernels with one of the `effects` keep the order in which they were queued. `sizes` are the
        bytes of the outputs, as far as they are known, for devices that reserve memory before they compute.
        """

    def record(self, stream: Hashable) -> Any:
        """An event that passes when all that was queued on `stream` so far is done."""

    def wait(self, stream: Hashable, event: Any) -> None:
        """Let what is queued on `stream` from now on wait for an event."""

    def synchronize(self, event: Any) -> None:
        """Let the host wait for an event; raises what a kernel raised, and HangError when nothing gets on."""

    def passed(self, event: Any) -> bool:
        """Whether an event has passed."""

    def read(self, value: Any) -> Any:
        """The array that a value holds; the host must have waited for whoever wrote it."""

    def free(self, value: Any) -> None:
        """Give the memory of a value back to the stream on which it was made."""

    def stamp(self, stream: Hashable) -> Callable[[], int] | None:
        """A point in time of a stream, behind all that was queued: the function waits for it and tells when it was.

        In nanoseconds of the host's clock. None where kernels run in threads of the host, which can tell themselves.
        """

    def check(self) -> None:
        """Raise what a kernel raised, if it is known by now."""

    def finish(self) -> None:
        """Wait until nothing is queued any more; raises as `synchronize` does."""

    def abandon(self, seconds: float | None) -> bool:
        """Drop what is queued and forget the failure; whether all that computes ended in time (None: wait for it)."""

    def release(self) -> None:
        """Let another run have the device, now that all of its work is done."""


@contextmanager
def in_use(device: StreamDevice) -> Iterator[StreamDevice]:
    """The device for one run, whose work is done at the end of the block, or queued where the caller works there.

    When the block or a kernel raises, the rest of the work is dropped; where a kernel does not end in time, the device
    is left to itself.
    """
    try:
        yield device
        if device.caller is None:
            device.finish()
    except BaseException as err:
        if device.abandon(patience_after(err)):
            device.release()
        raise
    device.release()
