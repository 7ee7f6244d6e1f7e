"""Running a program on the streams of a device: kernels are queued, events keep them in order, memory is given back.

The host queues instructions in the order of the schedule. It waits only where it needs a value itself: for attributes
that tensors give, for conditions of control flow, for what is printed. What lies on the host is copied to the device
first and what is fetched is copied back, on streams of their own; what is on the device stays there.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..device.late_frees import LateFrees
from ..device.stream_device import StreamDevice
from .blocks import Blocks
from .costs import bytes_of
from .failure import explain_transfer, raise_if_other
from .instruction import Frame, Instruction, alike
from .stream_plan import StreamPlan, blocks_of
from .streams import Stream

Explain = Callable[[int, Exception, Frame], Exception]


@dataclass(frozen=True, eq=False)
class _Kernel:
    """What a stream computes; what it raises says which operator and line of the user's it was."""

    index: int
    instruction: Instruction
    explain: Explain

    def __call__(self, *arrays: Any, **options: Any) -> Any:
        try:
            if options and not _takes_result(options["out"], arrays):
                options = {}  # a new array, whatever memory was meant for it
            made = self.instruction.compute(*arrays, **options)
            return tuple(made) if self.instruction.operator.op.multiple else (made,)
        except Exception as err:
            frame: Any = dict(zip(self.instruction.reads, arrays))
            raise_if_other(self.explain(self.index, err, frame), err)
            raise

    def __str__(self) -> str:
        return self.instruction.placed


def _takes_result(out: Any, arrays: Sequence[Any]) -> bool:
    """Whether what a kernel makes of the arrays may be written into one of them; sizes may be known only now."""
    return alike(arrays) and np.broadcast_shapes(*[a.shape for a in arrays]) == out.shape


class StreamRun:
    """One run of a plan on a device. `gc`: "fast", "event" or "none", see ExecutionOptions.

    origin: the stream on which the values given were made and for which the results are; None: the host.
    """

    def __init__(
        self, plan: StreamPlan, device: StreamDevice, explain: Explain, gc: str = "fast", origin: Hashable | None = None
    ) -> None:
        self.plan = plan
        self.device = device
        self.explain = explain
        self.gc = gc
        self.origin = origin
        self.events: dict[int, Any] = {}
        self.references = {slot: len(users) for slot, users in plan.last.items()}
        self.parked: LateFrees[Any] = LateFrees(device, device.free)
        self.at = 0

    def run(self, frame: Frame) -> dict[int, Any]:
        """The fetched slots: as arrays of the host, or as values of the device where the plan lets them stay there."""
        results: dict[int, Any] = {}
        try:
            if self.origin is not None:
                self._start()
            for index in self.plan.schedule.order:
                self.at = index
                self._queue(index, frame, results)
            return self._fetched(results) if self.plan.resident is None else self._left(frame)
        except Exception as err:
            # What a kernel raised says already where it was.
            raise_if_other(explain_transfer(self.plan.operator_of(self.at), err), err)
            raise

    def _start(self) -> None:
        """Let all streams wait for what the origin was given before."""
        start = self.device.record(self.origin)
        for stream in self.plan.schedule.streams:
            self.device.wait(stream, start)

    def _queue(self, index: int, frame: Frame, results: dict[int, Any]) -> None:
        schedule = self.plan.schedule
        stream = schedule.stream[index]
        for awaited in schedule.stops[index]:
            self._await(awaited)
        for awaited in schedule.waits[index]:
            self.device.wait(stream, self.events[awaited])
        self._launch(index, stream, frame, results)
        if index in schedule.records:
            self.events[index] = self.device.record(stream)
        self._collect(index, frame)

    def _fetched(self, results: dict[int, Any]) -> dict[int, Any]:
        """Wait for everything, and hand out what was copied back."""
        self._await_end()
        outputs = {slot: self.device.read(results[slot]) for slot in self.plan.fetched}
        for value in results.values():
            self.device.free(value)
        self.parked.flush()
        return outputs

    def _await_end(self) -> None:
        """Let the host wait for all streams."""
        for event in [self.device.record(stream) for stream in self.plan.schedule.streams]:
            self.device.synchronize(event)

    def _await(self, index: int) -> None:
        """Let the host wait for an instruction."""
        self.device.synchronize(self.events[index])

    def _left(self, frame: Frame) -> dict[int, Any]:
        """Let the origin wait for everything; what is fetched stays where it is."""
        for stream in self.plan.schedule.streams:
            self.device.wait(self.origin, self.device.record(stream))
        # Memory of any of these streams may be free from here on, and was used on others.
        end = self.device.record(self.origin)
        for stream in self.plan.schedule.streams:
            self.device.wait(stream, end)
        self.parked.flush()
        return {slot: frame[slot] for slot in self.plan.fetched}

    def _launch(self, index: int, stream: Stream, frame: Frame, results: dict[int, Any]) -> None:
        instruction = self.plan.instructions[index]
        access = self.plan.accesses[index]
        if instruction is None and index < self.plan.fed:
            (slot,) = access.writes
            frame[slot] = self.device.put(stream, frame[slot])
        elif instruction is None:
            (slot,) = access.reads
            results[slot] = self._taken(stream, frame[slot])
        else:
            for slot, value in zip(access.writes, self._made(index, instruction, stream, frame)):
                frame[slot] = value

    def _taken(self, stream: Stream, value: Any) -> Any:
        """A copy for the host."""
        return self.device.take(stream, value)

    def _made(self, index: int, instruction: Instruction, stream: Stream, frame: Frame) -> Sequence[Any]:
        """The values that an instruction gives, or will."""
        access, op = instruction.access, instruction.operator.op
        values = [self._seen(frame[s]) if s in access.on_host else frame[s] for s in access.reads]
        if op.moves == "h2d":
            return [self.device.put(stream, self._seen(values[0]))]
        if op.moves == "d2h":
            return [self._taken(stream, values[0])]
        if op.on_host:
            return self._explaining(index, instruction)(*values)
        if blocks_of(instruction):
            return Blocks(self, stream, instruction).outputs(values)
        target = access.reads.index(access.overwrites[0]) if access.overwrites else None
        kernel = self._explaining(index, instruction)
        count, views = len(access.writes), bool(access.views)
        sizes = [bytes_of(v) for v in instruction.operator.outputs]
        return self.device.launch(stream, kernel, values, count, views, target, access.effects, sizes)

    def _seen(self, value: Any) -> Any:
        """What the host sees of a value that it has waited for; raises what a kernel raised before."""
        self.device.check()
        return self.device.read(value)

    def _explaining(self, index: int, instruction: Instruction) -> Callable[..., Sequence[Any]]:
        """The kernel; what it raises says which operator and line of the user's it was."""
        return _Kernel(index - self.plan.fed, instruction, self.explain)

    def _collect(self, index: int, frame: Frame) -> None:
        """Give back what nothing needs any more, as soon as the strategy allows."""
        if self.gc == "none":
            return
        for slot in self.plan.frees[index]:
            self.references[slot] -= 1
            if self.references[slot]:
                continue
            value, frame[slot] = frame[slot], None
            if self.gc == "fast" and slot not in self.plan.strays:
                self.device.free(value)  # its own stream gets it: whatever comes next there comes later
                continue
            self.parked.add(value, {self.plan.schedule.stream[user] for user in self.plan.last[slot]})
        self.parked.poll()


class NotedStreamRun(StreamRun):
    """A run that a device notes as a graph: nothing is freed, and streams are free when they have been waited for."""

    def _left(self, frame: Frame) -> dict[int, Any]:
        for stream in self.plan.schedule.streams:
            self.device.wait(self.origin, self.device.record(stream))
        return {slot: frame[slot] for slot in self.plan.fetched}
