"""How the host waits for a GPU: by asking, so that a device that hangs is reported instead of waited for for ever."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Hashable
from typing import Any

from .patience import await_progress

_NOT_READY = 600  # cudaErrorNotReady
_SHORTEST, _LONGEST = 1e-5, 1e-3
MAX_MARKS = 64


def passes(xp: Any, event: Any, seconds: float | None) -> bool:
    """Whether an event passes within so many seconds (None: wait for it); raises what CUDA raises.

    The pauses between two questions grow with the time waited: a short wait is short, a long one costs no core.
    """
    query = xp.cuda.runtime.eventQuery
    start = time.monotonic()
    pause = _SHORTEST
    while query(event.ptr) == _NOT_READY:
        if seconds is not None and time.monotonic() - start >= seconds:
            return False
        time.sleep(pause)
        pause = min(1.25 * pause, _LONGEST)
    event.synchronize()  # at once: it has passed, or CUDA tells what failed
    return True


class Marks:
    """The latest events of each stream, with what the stream was given last before them: what a report is made of."""

    def __init__(self, xp: Any) -> None:
        self._xp = xp
        self._of: dict[Hashable, deque[tuple[Any, Any]]] = {}

    def add(self, stream: Hashable, event: Any, given: Any) -> None:
        """Note an event behind all that the stream was given, the last of it `given`."""
        found = self._of.get(stream)
        if found is None:
            found = self._of[stream] = deque(maxlen=MAX_MARKS)
        found.append((event, given))

    def drop_passed(self) -> None:
        """Hold on to nothing that is done. Not while a stream captures: CUDA lets nobody ask then."""
        for marks in self._of.values():
            while marks and self._has_passed(marks[0][0]):
                marks.popleft()

    def wait(self, event: Any) -> None:
        """Let the host wait; raises HangError when no event has passed for as long as the flag hang_seconds says."""
        await_progress(lambda seconds: passes(self._xp, event, seconds), self.passed, lambda: self._report(event))

    def passed(self) -> int:
        """How many events have passed. The thread of the streams may add some meanwhile."""
        return sum(self._has_passed(event) for marks in list(self._of.values()) for event, _ in list(marks))

    def _has_passed(self, event: Any) -> bool:
        return bool(self._xp.cuda.runtime.eventQuery(event.ptr) != _NOT_READY)

    def _report(self, awaited: Any) -> str:
        behind = [f"stream {key}" for key, marks in self._of.items() if any(e is awaited for e, _ in marks)]
        return "\n".join([f"  the caller waits for {behind[0] if behind else 'an event'}", *self.lines()])

    def lines(self) -> list[str]:
        """What each stream is not past, a line each."""
        found = []
        for stream, marks in list(self._of.items()):
            left = [given for event, given in list(marks) if not self._has_passed(event)]
            what = f"is not past {_named(left[0])}, {len(left) - 1} more events behind" if left else "is idle"
            found.append(f"  stream {stream} {what}")
        return found


def _named(given: Any) -> str:
    return "what it was given" if given is None else str(given)
