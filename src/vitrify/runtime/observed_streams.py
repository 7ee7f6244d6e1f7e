"""Runs on streams that are looked at: launches and waits of the host, kernels and copies on their streams."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from ..core.timeline import TracerEventType, now
from ..device.stream_device import StreamDevice
from .instruction import Frame, Instruction
from .observer import Observer
from .stream_run import Explain, StreamPlan, StreamRun
from .streams import Stream


class ObservedStreamRun(StreamRun):
    """A StreamRun that tells an observer what happens. Under `FLAGS_benchmark` each instruction is waited for."""

    def __init__(
        self, plan: StreamPlan, device: StreamDevice, explain: Explain, gc: str, observer: Observer,
        origin: Hashable | None = None,
    ) -> None:  # fmt: skip
        super().__init__(plan, device, explain, gc, origin)
        self.observer = observer

    def _await(self, index: int) -> None:
        start = now()
        super()._await(index)
        self.observer.noted(TracerEventType.EventWait, f"wait for {self._name(index)}", start)

    def _launch(self, index: int, stream: Stream, frame: Frame, results: dict[int, Any]) -> None:
        start = now()
        super()._launch(index, stream, frame, results)
        self.observer.noted(TracerEventType.Launch, f"{self._name(index)} launch", start, stream=str(stream))
        timings = self.observer.timings
        if timings is not None and self.plan.instructions[index] is not None:
            self.device.synchronize(self.device.record(stream))
            timings.add(index - self.plan.fed, now() - start)

    def _name(self, index: int) -> str:
        instruction = self.plan.instructions[index]
        if instruction is not None:
            return instruction.operator.type
        return "copy in" if index < self.plan.fed else "copy out"

    def _taken(self, stream: Stream, value: Any) -> Any:
        start = now()
        taken = super()._taken(stream, value)
        self.observer.noted(TracerEventType.Memcpy, "copy out", start)
        return taken

    def _explaining(self, index: int, instruction: Instruction) -> Callable[..., Any]:
        return self.observer.watching(index, instruction, super()._explaining(index, instruction))

    def _collect(self, index: int, frame: Frame) -> None:
        if not self.plan.frees[index] and not self.parked:
            return
        with self.observer.freeing(len(self.plan.frees[index])):
            super()._collect(index, frame)
