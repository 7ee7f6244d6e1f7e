"""How long to wait for what other threads and devices do."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from ..core.config import HANG_SECONDS
from ..core.errors import HangError

GRACE = 1.0
"""Seconds that kernels have to end in when the user interrupts a run."""


def patience() -> float | None:
    """Seconds without any progress after which a wait is given up; None: never."""
    return HANG_SECONDS.value or None


def patience_after(err: BaseException) -> float | None:
    """Seconds that what still computes has to end in, now that a run has failed with `err`."""
    if isinstance(err, HangError):
        return 0.0
    return patience() if isinstance(err, Exception) else GRACE


def await_progress(
    ended: Callable[[float | None], bool], progress: Callable[[], int], report: Callable[[], str]
) -> None:
    """Wait until `ended(seconds)` says so; raises HangError with the report when nothing got on meanwhile."""
    limit = patience()
    before = progress()
    while not ended(limit):
        now = progress()
        if now == before:
            give_up(limit, report())
        before = now


def give_up(seconds: float | None, report: str) -> NoReturn:
    """Raise the error that tells who waits for what."""
    raise HangError(
        f"nothing has ended for {seconds or 0:g} s\n{report}",
        hint="the flag hang_seconds (VITRIFY_HANG_SECONDS) says how long to wait; 0 waits for ever",
    )
