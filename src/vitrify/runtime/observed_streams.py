"""Runs on streams that are looked at: launches and waits of the host, kernels and copies on their streams."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from ..core.timeline import TracerEventType, now
from ..device.stream_device import StreamDevice
from .instruction import Frame, Instruction
from .observer import Observer
from .stream_plan import StreamPlan
from .stream_run import Explain, StreamRun
from .streams import Stream


class ObservedStreamRun(StreamRun):
    """A StreamRun that tells an observer what happens. Under `FLAGS_benchmark` each instruction is waited for."""

    def __init__(
        self, plan: StreamPlan, device: StreamDevice, explain: Explain, gc: str, observer: Observer,
        origin: Hashable | None = None,
    ) -> None:  # fmt: skip
        super().__init__(plan, device, explain, gc, origin)
        self.observer = observer
        observer.after = plan.schedule.waits
        # Whether the device works by itself, so that it must be asked when it did what.
        used = plan.schedule.streams
        self.stamps = observer.timeline is not None and bool(used) and device.stamp(used[0]) is not None

    def _await(self, index: int) -> None:
        start = now()
        super()._await(index)
        self.observer.noted(TracerEventType.EventWait, f"wait for {self._name(index)}", start)

    def _await_end(self) -> None:
        start = now()
        super()._await_end()
        self.observer.noted(TracerEventType.EventWait, "wait for all streams", start)

    def _launch(self, index: int, stream: Stream, frame: Frame, results: dict[int, Any]) -> None:
        start = now()
        if self.stamps:
            self._launch_stamped(index, stream, frame, results)
        else:
            super()._launch(index, stream, frame, results)
        self.observer.noted(TracerEventType.Launch, f"{self._name(index)} launch", start, stream=str(stream))
        timings = self.observer.timings
        if timings is not None and self.plan.instructions[index] is not None:
            self.device.synchronize(self.device.record(stream))
            timings.add(index - self.plan.fed, now() - start)

    def _launch_stamped(self, index: int, stream: Stream, frame: Frame, results: dict[int, Any]) -> None:
        """Launch an instruction between two points in time of its stream, which become its event there."""
        timeline, instruction = self.observer.timeline, self.plan.instructions[index]
        moves = instruction is None or instruction.operator.op.moves
        args = {} if instruction is None else self.observer.facts(index, instruction, frame)
        start = self.device.stamp(stream)
        super()._launch(index, stream, frame, results)
        end = self.device.stamp(stream)
        if instruction is not None:
            self.observer.made(instruction, [frame[slot] for slot in instruction.writes])
            if instruction.operator.op.on_host:
                return  # it was noted where it ran
        assert timeline is not None and start is not None and end is not None
        kind = TracerEventType.Memcpy if moves else TracerEventType.Instruction
        timeline.add_later(kind, self._name(index), start, end, f"stream {stream}", args)

    def _name(self, index: int) -> str:
        instruction = self.plan.instructions[index]
        if instruction is not None:
            return instruction.operator.op.name
        return "copy in" if index < self.plan.fed else "copy out"

    def _explaining(self, index: int, instruction: Instruction) -> Callable[..., Any]:
        kernel = super()._explaining(index, instruction)
        if self.stamps and not instruction.operator.op.on_host:
            return kernel
        return self.observer.watching(index, instruction, kernel)

    def _collect(self, index: int, frame: Frame) -> None:
        if not self.plan.frees[index] and not self.parked:
            return
        with self.observer.freeing(len(self.plan.frees[index])):
            super()._collect(index, frame)
