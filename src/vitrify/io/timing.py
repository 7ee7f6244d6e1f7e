"""Telling profilers how long batches take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..core.timeline import READER, TracerEventType, now, span

END = object()


def timed(batches: Iterator[Any]) -> Iterator[Any]:
    """The batches; who listens is told how long each was waited for."""
    while True:
        start = now()
        with span(TracerEventType.Dataloader, "DataLoader"):
            batch = next(batches, END)
        listener = READER.get()
        if listener is not None:
            listener(now() - start)
        if batch is END:
            return
        yield batch
