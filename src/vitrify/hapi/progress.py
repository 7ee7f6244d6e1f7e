"""The line that shows how far a loop is."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any, TextIO

_WIDTH = 30


def shown(value: Any) -> str:
    """A number or a list of them as text."""
    if isinstance(value, (list, tuple)):
        return " ".join(map(shown, value))
    number = float(value)
    return f"{number:.4f}" if abs(number) > 1e-3 or number == 0 else f"{number:.4e}"


def bar(share: float) -> str:
    """A bar that is filled to `share` of its width.

    >>> bar(0.5)
    '━━━━━━━━━━━━━━━╸──────────────'
    """
    filled = min(int(share * _WIDTH), _WIDTH)
    return ("━" * filled + "╸" + "─" * _WIDTH)[:_WIDTH]


def duration(seconds: float) -> str:
    """A time as people say it.

    >>> [duration(s) for s in (0.0021, 3.4, 75, 4000)]
    ['2ms', '3s', '1:15', '1:06:40']
    """
    if seconds < 1:
        return f"{seconds * 1000:.0f}ms"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02}:{rest:02}"
    return f"{minutes}:{rest:02}" if minutes else f"{rest}s"


class Progress:
    """Prints steps of a loop: as one line that moves with verbose 1 on a terminal, else as a line each."""

    def __init__(self, steps: int | None, verbose: int = 1, stream: TextIO | None = None) -> None:
        self.steps = steps
        self.stream = sys.stdout if stream is None else stream
        self.moving = verbose == 1 and self.stream.isatty()
        self.start = time.perf_counter()

    def show(self, step: int, values: Mapping[str, Any], last: bool = False) -> None:
        """Print that `step` steps are done, with these values."""
        spent = time.perf_counter() - self.start
        each = spent / max(step, 1)
        parts = [f"step {step}/{self.steps or '?'}", *[f"{name}: {shown(v)}" for name, v in values.items()]]
        parts.append(f"{duration(each)}/step")
        if not self.moving:
            self.stream.write(" - ".join(parts) + "\n")
        else:
            left = f" - {duration(each * (self.steps - step))} left" if self.steps and not last else ""
            front = bar(step / self.steps) + " " if self.steps else ""
            self.stream.write(f"\r\x1b[2K{front}{' - '.join(parts)}{left}" + ("\n" if last else ""))
        self.stream.flush()


__all__ = ["Progress", "bar", "duration", "shown"]
