"""Pausing Python's search for unreachable cycles while much is made that stays."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

LEAST = 500_000
"""So many objects grow old before all are looked at, and at least as many as there were the last time."""


class _Pauses:
    """The blocks that are open in all threads: the collector belongs to the process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._open = 0
        self._was_enabled = False
        self._looks = 0  # at all objects, by whomever
        self._known = 0  # objects that there were at the latest
        self._aged = 0  # objects since then that are old because of a pause
        self._frozen_at = -1  # so many looks had been when somebody else had frozen objects

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
        Python itself would never look at it again while programs are built, as it counts what collections left over:
        so that is done here once as much has grown old as there was.
        """
        is_due = False
        with self._lock:
            self._open -= 1
            if self._open == 0 and self._was_enabled:
                is_due = not self._is_frozen() and self._age() > max(LEAST, self._known)
                gc.enable()
        if is_due:
            gc.collect()

    def _is_frozen(self) -> bool:
        """Whether somebody else has frozen objects.

        Python counts them one by one, which takes as long as tracing a small function where a process has frozen all
        that it imported: it is asked again after the next look at all objects.
        """
        looks: int = gc.get_stats()[-1]["collections"]
        if looks != self._frozen_at and gc.get_freeze_count():
            self._frozen_at = looks
        return looks == self._frozen_at

    def _age(self) -> int:
        """Let all objects be old; how many became so since all were looked at.

        Freezing and thawing moves objects without looking at them; what somebody else has frozen stays so.
        """
        young, middle, _ = gc.get_count()
        looks = gc.get_stats()[-1]["collections"]
        gc.freeze()
        if looks != self._looks:
            self._looks, self._known, self._aged = looks, gc.get_freeze_count(), 0
        gc.unfreeze()
        self._aged += young + middle * gc.get_threshold()[0]
        return self._aged


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
