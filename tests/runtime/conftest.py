"""What tests of runs share."""

from __future__ import annotations

import _thread
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from coverage import Coverage


@pytest.fixture
def interruptible(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Ctrl-C comes out of whatever it falls into, although Python, by itself, loses some.

    One inside coverage's own code ends the process, or leaves a lock locked for which all wait: lines stay uncounted.
    One inside a destructor is ignored, and Python says so: it is pressed once more.
    """
    others = sys.unraisablehook

    def press_again(ignored: Any) -> None:
        if isinstance(ignored.exc_value, KeyboardInterrupt):
            _thread.interrupt_main()
        else:
            others(ignored)

    monkeypatch.setattr(sys, "unraisablehook", press_again)
    counting = Coverage.current()
    if counting is None:
        yield
        return
    counting.stop()
    yield
    counting.start()
