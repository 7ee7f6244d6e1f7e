"""Pausing Python's search for unreachable cycles while much is made that stays."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock


class _Pauses:
    """The blocks that are open in all threads: the collector belongs to the process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._open = 0
        self._was_enabled = False

    def begin(self) -> None:
        """Count one more block; the first finds out whether there is anything to pause."""
        with self._lock:
            if self._open == 0:
                self._was_enabled = gc.isenabled()
                gc.disable()
            self._open += 1

    def end(self) -> None:
        """Count one less; after the last, all is as it was.

        What is there then counts as old: the next collections of what is young would else go over all of it, twice.
        Freezing and thawing moves objects without looking at them; what somebody else has frozen stays so.
        """
        with self._lock:
            self._open -= 1
            if self._open == 0 and self._was_enabled:
                if not gc.get_freeze_count():
                    gc.freeze()
                    gc.unfreeze()
                gc.enable()


_PAUSES = _Pauses()


@contextmanager
def collection_paused() -> Iterator[None]:
    """Look for no cycles inside the block: imports, reading and tracing make objects by the ten thousand, which stay.

    >>> with collection_paused():
    ...     gc.isenabled()
    False
    """
    _PAUSES.begin()
    try:
        yield
    finally:
        _PAUSES.end()
