"""The interface of devices that run work on streams. Streams keep the order of what they are given; events tie them.

Two devices have it: `cpu_streams`, whose streams are threads, and `simulated`, which finds what is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any, Protocol


class StreamDevice(Protocol):
    """What the runtime asks of a device. Values are the device's own; arrays are NumPy's."""

    def put(self, stream: Hashable, array: Any) -> Any:
        """A copy of an array of the host on the device, made on `stream`."""

    def launch(
        self, stream: Hashable, compute: Callable[..., Any], inputs: Sequence[Any], count: int, views: bool,
        overwrites: int | None, effects: Collection[str] = (),
    ) -> list[Any]:  # fmt: skip
        """Queue a kernel, which gives a tuple; returns the values that its `count` outputs will be.

        With `views` outputs may share memory with inputs; `overwrites` is the position of the input whose memory the
        output takes over; kernels with one of the `effects` keep the order in which they were queued.
        """

    def record(self, stream: Hashable) -> Any:
        """An event that passes when all that was queued on `stream` so far is done."""

    def wait(self, stream: Hashable, event: Any) -> None:
        """Let what is queued on `stream` from now on wait for an event."""

    def synchronize(self, event: Any) -> None:
        """Let the host wait for an event."""

    def passed(self, event: Any) -> bool:
        """Whether an event has passed."""

    def read(self, value: Any) -> Any:
        """The array that a value holds; the host must have waited for whoever wrote it."""

    def free(self, value: Any) -> None:
        """Give the memory of a value back to the stream on which it was made."""
