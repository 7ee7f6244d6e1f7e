"""Graphs of work: what a device was given while a stream captured, to be launched again as one piece.

A device with graphs has `GraphDevice`'s methods. While a stream captures, nothing runs, and the host may neither wait
for the device nor exchange values with it.
"""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import AbstractContextManager
from typing import Any, Protocol

from ..core.errors import VitrifyError
from .stream_device import StreamDevice


class GraphCaptureError(VitrifyError, RuntimeError):
    """A program cannot be captured as a graph of the device; the message names what stands in the way."""


class GraphDevice(StreamDevice, Protocol):
    """A device that captures graphs."""

    def begin_capture(self, stream: Hashable) -> None:
        """Let `stream` take note of what it is given, and so every stream that waits for an event of it."""

    def end_capture(self, stream: Hashable) -> Any:
        """The graph of what was given since; raises GraphCaptureError if something was refused meanwhile."""

    def launch_graph(self, graph: Any, stream: Hashable) -> None:
        """Queue all of a graph on a stream."""

    def private_memory(self) -> AbstractContextManager[Any]:
        """A context in which memory comes from a pool of its own, which lives as long as the context object."""

    def fill(self, stream: Hashable, buffer: Any, value: Any) -> None:
        """Copy an array, of the host or the device, into `buffer`, an array of the device."""
