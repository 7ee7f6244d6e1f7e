"""Watching instructions run: what profilers and checks of results hook into. Nothing is called while nobody watches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter_ns
from typing import Protocol

from ..core.config import CHECK_NAN_INF
from ..core.setting import Setting
from ..ops.finite import check_finite
from .instruction import Frame, Instruction


class Recorder(Protocol):
    """Something that is told what ran when."""

    def record(self, name: str, kind: str, start: int, end: int) -> None:
        """`name` ran in this thread from `start` to `end`, in nanoseconds of `time.perf_counter_ns`."""


WATCH: Setting[Recorder | None] = Setting("recorder", None)
NAN_CHECK = CHECK_NAN_INF.setting


@contextmanager
def recording(recorder: Recorder) -> Iterator[None]:
    """Tell `recorder` of all that runs, in every thread, until the block ends."""
    before = WATCH.get()
    WATCH.set(recorder)
    try:
        yield
    finally:
        WATCH.set(before)


class Watcher:
    """Runs instructions for those who watch them."""

    __slots__ = ("checks", "recorder")

    def __init__(self, recorder: Recorder | None, checks: bool) -> None:
        self.recorder = recorder
        self.checks = checks

    def run(self, instruction: Instruction, frame: Frame) -> None:
        """Run one instruction on a frame."""
        outputs = instruction.dead if self.checks else ()
        start = perf_counter_ns()
        if self.checks:  # its results may die where they are made
            results = instruction.compute(*[frame[s] for s in instruction.reads])
            for slot, value in zip(instruction.writes, results if instruction.operator.op.multiple else (results,)):
                frame[slot] = value
            check_finite(instruction.operator.op.name, [frame[s] for s in instruction.writes])
            for slot in outputs:
                frame[slot] = None
        else:
            instruction.step(frame)
        if self.recorder is not None:
            self.recorder.record(instruction.operator.op.name, "operator", start, perf_counter_ns())


def current_watcher() -> Watcher | None:
    """Who watches now, or None."""
    recorder, checks = WATCH.get(), NAN_CHECK.get()
    return Watcher(recorder, checks) if recorder is not None or checks else None
