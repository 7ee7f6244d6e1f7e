"""How much memory arrays of the host take: counted by `tracemalloc` inside a `with` block, and not at all outside."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

from ..core.errors import ArgumentError
from . import memory
from .usage import Gauge, Usage


@contextmanager
def count_host_memory() -> Iterator[None]:
    """Count the memory of arrays that are made inside the block, for `memory_allocated("cpu")` and its kin.

    Python's own objects count too, among them the modules that a first call imports (a few megabytes). Counting makes
    Python two to four times slower. Blocks may nest; the outermost one's peak begins anew with it.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.device.count_host_memory():
        ...     x = paddle.ones([4000, 4000])  # far more than the modules that a first call imports
        ...     del x
        ...     paddle.device.max_memory_allocated("cpu") >= 64_000_000 > paddle.device.memory_allocated("cpu")
        True
    """
    mine = not tracemalloc.is_tracing()
    if mine:
        tracemalloc.start()
    try:
        yield
    finally:
        if mine:
            tracemalloc.stop()


class HostMemory:
    """The memory of the host, as far as it is counted: NumPy's arrays, and Python's own objects."""

    @property
    def usage(self) -> Usage:
        """What is in use now and was at most; raises ArgumentError outside `count_host_memory`."""
        if not tracemalloc.is_tracing():
            raise ArgumentError(
                "the memory of the host is not counted now",
                hint='wrap what is to be measured in "with paddle.device.count_host_memory():"',
            )
        now, peak = tracemalloc.get_traced_memory()
        return Usage(Gauge(now, peak, peak), Gauge(now, peak, peak))

    def reset_peaks(self) -> None:
        """Let the peak be what is in use now."""
        if tracemalloc.is_tracing():
            tracemalloc.reset_peak()

    def empty_cache(self) -> None:
        """Give the memory of freed arrays back to the system."""
        memory.give_back()
