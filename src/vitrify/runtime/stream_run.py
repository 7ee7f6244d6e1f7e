"""Running a program on the streams of a device: kernels are queued, events keep them in order, memory is given back.

The host queues instructions in the order of the schedule. It waits only where it needs a value itself: for attributes
that tensors give, for conditions of control flow, for what is printed. What lies on the host is copied to the device
first and what is fetched is copied back, on streams of their own; what is on the device stays there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..device.late_frees import LateFrees
from ..device.stream_device import StreamDevice
from ..ir.program import Operator
from .access import HOST, Access, memory_of
from .blocks import Blocks
from .costs import bytes_of, seconds
from .dependencies import Dependencies, find_dependencies
from .failure import explain_transfer, raise_if_other
from .instruction import Frame, Instruction, alike
from .liveness import last_users
from .streams import COMPUTE, D2H, H2D, Schedule, Stream, assign_streams, launch_order, place_events

Explain = Callable[[int, Exception, Frame], Exception]


@dataclass(frozen=True)
class StreamPlan:
    """A program for streams: copies in, instructions, copies out, each with its stream and events.

    `frees[i]`: slots of which i is a last user; `strays`: slots used on another stream than the one that their memory
    goes back to, which may happen only when that use is over. `resident`: slots that are on the device already and
    belong to others; None where all that a run is given and gives is the host's.
    """

    instructions: tuple[Instruction | None, ...]
    accesses: tuple[Access, ...]
    order: Dependencies
    schedule: Schedule
    frees: tuple[tuple[int, ...], ...]
    last: dict[int, tuple[int, ...]]
    strays: frozenset[int]
    fetched: tuple[int, ...]
    fed: int
    resident: frozenset[int] | None = None

    @staticmethod
    def of(
        instructions: Sequence[Instruction],
        inputs: int,
        outputs: Sequence[int],
        constants: Sequence[int],
        width: int = 2,
        sequential: bool = False,
        resident: Collection[int] | None = None,
    ) -> StreamPlan:
        """The plan of lowered instructions; the first `inputs` slots are fed, `outputs` are fetched.

        sequential: each waits for the one before it. Where some are
        `resident`, only the others are copied in, and outputs stay on the device.
        """
        fetched = tuple(dict.fromkeys(outputs))
        there = () if resident is None else resident
        copies = [Access((), (slot,)) for slot in (*range(inputs), *constants) if slot not in there]
        back = [Access((slot,), ()) for slot in fetched] if resident is None else []
        accesses = [*copies, *(i.access for i in instructions), *back]
        kinds = [H2D] * len(copies) + [_KINDS[i.operator.op.moves] for i in instructions] + [D2H] * len(back)
        costs = [1e-5] * len(copies) + [seconds(i.operator) for i in instructions] + [1e-5] * len(back)
        order = find_dependencies(accesses, sequential=sequential)
        launches = launch_order(order, costs, kinds)
        streams = assign_streams(order, launches, kinds, costs, width)
        on_host = [i for i, access in enumerate(accesses) if HOST in access.effects]
        schedule = place_events(accesses, order, launches, streams, frozenset(on_host))
        last = last_users(accesses, order, keep=() if resident is None else (*there, *fetched))
        frees: list[list[int]] = [[] for _ in accesses]
        for slot, users in last.items():
            for index in users:
                frees[index].append(slot)
        parts = [*[None] * len(copies), *instructions, *[None] * len(back)]
        inner = [bool(part is not None and blocks_of(part)) for part in parts]
        return StreamPlan(
            tuple(parts), tuple(accesses), order, schedule, tuple(map(tuple, frees)), last,
            _strays(accesses, streams, inner), fetched, len(copies), None if resident is None else frozenset(there),
        )  # fmt: skip

    def __str__(self) -> str:
        """A line for each instruction in the order in which the host queues them: its stream, and whom it waits for."""
        return "\n".join(self._line(index) for index in self.schedule.order)

    def _line(self, index: int) -> str:
        schedule, instruction = self.schedule, self.instructions[index]
        (slot,) = (0,) if instruction is not None else self.accesses[index].writes or self.accesses[index].reads
        copy = f"copy {'in' if self.accesses[index].writes else 'out'} s{slot}"
        parts = [f"{index:3} {schedule.stream[index]!s:9} {copy if instruction is None else instruction}"]
        parts += [f"the host waits for {a}" for a in schedule.stops[index]]
        parts += [f"waits for {a} ({schedule.stream[a]})" for a in schedule.waits[index]]
        parts += ["records an event"] * (index in schedule.records)
        return "; ".join(parts)

    def operator_of(self, index: int) -> Operator | None:
        """The operator of an instruction; of a copy in the first that reads it, of a copy out the last that made it."""
        slots = {*self.accesses[index].reads, *self.accesses[index].writes}
        instruction = self.instructions[index]
        if instruction is not None:
            return instruction.operator
        there = [i for i in self.instructions if i is not None]
        if index < self.fed:
            return next((i.operator for i in there if slots.intersection(i.reads)), None)
        return next((i.operator for i in reversed(there) if slots.intersection(i.writes)), None)


_KINDS = {None: COMPUTE, "h2d": H2D, "d2h": D2H}
_INNER = Stream("inner")  # some stream of a block's


def blocks_of(instruction: Instruction) -> list[Any]:
    """The lowered blocks that an instruction runs."""
    return [v for v in instruction.attrs.values() if hasattr(v, "n_outputs")]


def _strays(accesses: Sequence[Access], streams: Sequence[Stream], inner: Sequence[bool]) -> frozenset[int]:
    """Slots whose memory, or that of what they are views of, belongs to another stream than one that uses them.

    inner: whether an instruction runs blocks, on whichever of whose streams the memory of its results was made.
    """
    home: dict[int, Stream] = {}
    for access, stream, has_blocks in zip(accesses, streams, inner):
        for slot in access.writes:
            home.setdefault(slot, _INNER if has_blocks else stream)
    memory = memory_of(accesses)
    return frozenset(
        slot
        for access, stream in zip(accesses, streams)
        for slot in (*access.reads, *access.writes)
        if any(home.get(part, stream) != stream for part in memory[slot])
    )


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
            return self._explaining(index, instruction)(*values)  # type: ignore[no-any-return]
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

    def _explaining(self, index: int, instruction: Instruction) -> Callable[..., Any]:
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
