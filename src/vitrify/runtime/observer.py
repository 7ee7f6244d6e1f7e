"""Runs that are looked at: what checks, profilers and `FLAGS_benchmark` want of each instruction.

A core has one observer for each of its runs, and none while nothing is on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any

from ..core.config import BENCHMARK, CHECK_NAN_INF
from ..core.inspector import INSPECTORS, Inspector, dtype_of
from ..core.lazy import lazy_module
from ..core.timeline import TIMELINE, Timeline, TracerEventType, now
from ..device.api import wait_for
from ..ops.failure import metas_of
from ..ops.work import operations
from .instruction import Frame, Instruction

_finite = lazy_module("vitrify.ops.finite")


class Timings:
    """How often the instructions of a program ran under `FLAGS_benchmark`, and how long that took in all."""

    def __init__(self, count: int) -> None:
        self.calls = [0] * count
        self.nanoseconds = [0] * count
        self._lock = Lock()

    def add(self, index: int, nanoseconds: int) -> None:
        """Count one more run of an instruction."""
        with self._lock:
            self.calls[index] += 1
            self.nanoseconds[index] += nanoseconds

    def text(self, index: int) -> str:
        """What is known of an instruction; empty if it never ran so."""
        calls = self.calls[index]
        return f"{calls} x {self.nanoseconds[index] / calls / 1e3:.1f} us" if calls else ""


class Observer:
    """Runs instructions and notes what was asked for: one for each run.

    `timings` is there under `FLAGS_benchmark`; then every instruction waits for its device. `after`: for each
    instruction those that it waited for, for arrows between lanes. `label`: what the program is called. `inspectors`:
    who else looks at results.
    """

    __slots__ = ("after", "finite", "inspectors", "label", "number", "timeline", "timings")

    def __init__(
        self,
        timeline: Timeline | None,
        finite: bool,
        timings: Timings | None,
        after: Sequence[Sequence[int]] = (),
        label: str = "",
        inspectors: Sequence[Inspector] = (),
    ) -> None:
        self.label = label
        self.timeline = timeline
        self.finite = finite
        self.inspectors = inspectors
        self.timings = timings
        self.after = after
        self.number = -1 if timeline is None else next(timeline.runs)

    def run(self, index: int, instruction: Instruction, frame: Frame) -> None:
        """Run an instruction on a frame, and free what dies behind it. Raises NotFiniteError where that is checked."""
        dtype = dtype_of([frame[slot] for slot in instruction.reads]) if self.inspectors else None
        start = now()
        instruction.bare(frame)
        results = [frame[slot] for slot in instruction.writes]
        if self.timings is not None:
            wait_for(results)
            self.timings.add(index, now() - start)
        if self.timeline is not None:
            self.note(index, instruction, start, now(), frame, results)
        if self.finite:
            operator = instruction.operator
            _finite.check_finite(operator.op.name, results, [var.name for var in operator.outputs])
        for inspector in self.inspectors:
            inspector.saw(instruction.operator.op, dtype or dtype_of(results), results)
        del results
        if instruction.dead:
            start = now()
            for slot in instruction.dead:
                frame[slot] = None
            self.noted(TracerEventType.Free, "free", start, buffers=len(instruction.dead))

    def note(
        self, index: int, instruction: Instruction, start: int, end: int, frame: Frame | Mapping[int, Any], results: Any
    ) -> None:
        """Note that an instruction ran from `start` to `end`."""
        timeline = self.timeline
        assert timeline is not None
        name = instruction.operator.op.name
        timeline.add(TracerEventType.Instruction, name, start, end, self.facts(index, instruction, frame))
        self.made(instruction, results)

    def made(self, instruction: Instruction, results: Sequence[Any]) -> None:
        """Note the memory of results."""
        if self.timeline is not None and self.timeline.profile_memory:
            for array in results:
                self.timeline.allocated(array, instruction.operator.op.name)

    def facts(self, index: int, instruction: Instruction, frame: Frame | Mapping[int, Any]) -> dict[str, Any]:
        """What is known of one run of an instruction."""
        timeline = self.timeline
        assert timeline is not None
        operator = instruction.operator
        where = operator.locs[0] if operator.locs else None
        args: dict[str, Any] = {"run": self.number, "index": index, "where": where, "program": self.label}
        if index < len(self.after):
            args["after"] = self.after[index]
        if timeline.record_shapes or timeline.with_flops:
            metas = metas_of([frame[slot] for slot in instruction.reads])
            args["inputs"] = metas if timeline.record_shapes else None
            if timeline.with_flops:
                args["flops"] = operations(operator.op, metas[: len(metas) - operator.ref_count], operator.attrs)
        return args

    def watching(self, index: int, instruction: Instruction, kernel: Callable[..., Any]) -> Callable[..., Any]:
        """A kernel that notes when it runs, in whatever thread that is."""
        if self.timeline is None:
            return kernel

        def compute(*arrays: Any, **options: Any) -> Any:
            start = now()
            results = kernel(*arrays, **options)
            self.note(index, instruction, start, now(), dict(zip(instruction.reads, arrays)), results)
            return results

        return compute

    def checking(self, check: Callable[[Instruction, Frame], None], instruction: Instruction, frame: Frame) -> None:
        """Run the meta rule of an instruction."""
        start = now()
        check(instruction, frame)
        self.noted(TracerEventType.InferMeta, f"{instruction.operator.op.name} (program) infer_meta", start)

    def noted(self, kind: TracerEventType, name: str, start: int, **args: Any) -> None:
        """Note what this thread did from `start` to now."""
        if self.timeline is not None:
            self.timeline.add(kind, name, start, now(), args)

    @property
    def looks(self) -> bool:
        """Whether what operators give is looked at, and not only when they run."""
        return self.finite or bool(self.inspectors)

    @contextmanager
    def freeing(self, count: int) -> Iterator[None]:
        """Note that the block frees so many buffers."""
        start = now()
        yield
        self.noted(TracerEventType.Free, "free", start, buffers=count)


def observer_of(core: Any, after: Sequence[Sequence[int]] = ()) -> Observer | None:
    """The observer of one run of a core; None if nothing is on in this thread or task."""
    timeline, finite, timed = TIMELINE.get(), CHECK_NAN_INF.value, BENCHMARK.value
    inspectors = INSPECTORS.get()
    if timeline is None and not finite and not timed and not inspectors:
        return None
    return Observer(timeline, finite, core.timings if timed else None, after, core.label, inspectors)
