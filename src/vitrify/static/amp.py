"""`paddle.static.amp`: what model code marks for mixed precision."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def fp16_guard() -> Iterator[None]:
    """A block whose operators may run in float16, where a program is cast as a whole.

    vitrify chooses per operator (`paddle.amp.auto_cast`), so the mark has no effect.
    Source: paddle.static.amp.fp16_guard.

    >>> with fp16_guard():
    ...     pass
    """
    yield


__all__ = ["fp16_guard"]
