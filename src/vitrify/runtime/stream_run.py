"""Running a program on the streams of a device: kernels are queued, events keep them in order, memory is given back.

The host queues instructions in the order of the schedule. It waits only where it needs a value itself: for attributes
that tensors give, for control flow, for what is printed. What is fed is copied to the device first and what is fetched
is copied back, on streams of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..device.stream_device import StreamDevice
from .access import HOST, Access, memory_of
from .costs import seconds
from .dependencies import Dependencies, find_dependencies
from .instruction import Frame, Instruction
from .liveness import last_users
from .streams import COMPUTE, D2H, H2D, Schedule, Stream, assign_streams, launch_order, place_events

Explain = Callable[[int, Exception, Frame], Exception]


@dataclass(frozen=True)
class StreamPlan:
    """A program for streams: copies in, instructions, copies out, each with its stream and events.

    `frees[i]`: slots of which i is a last user; `strays`: slots used on another stream than the one that their memory
    goes back to, which may happen only when that use is over.
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

    @staticmethod
    def of(
        instructions: Sequence[Instruction],
        inputs: int,
        outputs: Sequence[int],
        constants: Sequence[int],
        width: int = 2,
        sequential: bool = False,
    ) -> StreamPlan:
        """The plan of lowered instructions; the first `inputs` slots are fed, `outputs` are fetched.

        sequential: each waits for the one before it, and so does the host before it runs one itself.
        """
        fetched = tuple(dict.fromkeys(outputs))
        copies = [Access((), (slot,)) for slot in (*range(inputs), *constants)]
        back = [Access((slot,), ()) for slot in fetched]
        accesses = [*copies, *(i.access for i in instructions), *back]
        kinds = [H2D] * len(copies) + [COMPUTE] * len(instructions) + [D2H] * len(back)
        costs = [1e-5] * len(copies) + [seconds(i.operator) for i in instructions] + [1e-5] * len(back)
        order = find_dependencies(accesses, sequential=sequential)
        launches = launch_order(order, costs, kinds)
        streams = assign_streams(order, launches, kinds, costs, width)
        on_host = [i for i, access in enumerate(accesses) if HOST in access.effects]
        schedule = place_events(accesses, order, launches, streams, frozenset(on_host if sequential else ()))
        last = last_users(accesses, order, keep=())
        frees: list[list[int]] = [[] for _ in accesses]
        for slot, users in last.items():
            for index in users:
                frees[index].append(slot)
        parts = [*[None] * len(copies), *instructions, *[None] * len(back)]
        return StreamPlan(
            tuple(parts), tuple(accesses), order, schedule, tuple(map(tuple, frees)), last,
            _strays(accesses, streams), fetched, len(copies),
        )  # fmt: skip


def _strays(accesses: Sequence[Access], streams: Sequence[Stream]) -> frozenset[int]:
    """Slots whose memory, or that of what they are views of, belongs to another stream than one that uses them."""
    home: dict[int, Stream] = {}
    for access, stream in zip(accesses, streams):
        for slot in access.writes:
            home.setdefault(slot, stream)
    memory = memory_of(accesses)
    return frozenset(
        slot
        for access, stream in zip(accesses, streams)
        for slot in (*access.reads, *access.writes)
        if any(home.get(part, stream) != stream for part in memory[slot])
    )


class StreamRun:
    """One run of a plan on a device. `gc`: "fast", "event" or "none", see ExecutionOptions."""

    def __init__(self, plan: StreamPlan, device: StreamDevice, explain: Explain, gc: str = "fast") -> None:
        self.plan = plan
        self.device = device
        self.explain = explain
        self.gc = gc
        self.events: dict[int, Any] = {}
        self.references = {slot: len(users) for slot, users in plan.last.items()}
        self.parked: list[tuple[Any, list[Any]]] = []

    def run(self, frame: Frame) -> dict[int, Any]:
        """The fetched slots as arrays of the host."""
        schedule = self.plan.schedule
        results: dict[int, Any] = {}
        for index in schedule.order:
            stream = schedule.stream[index]
            for awaited in schedule.stops[index]:
                self._await(awaited)
            for awaited in schedule.waits[index]:
                self.device.wait(stream, self.events[awaited])
            self._launch(index, stream, frame, results)
            if index in schedule.records:
                self.events[index] = self.device.record(stream)
            self._collect(index, frame)
        end = [self.device.record(stream) for stream in schedule.streams]
        for event in end:
            self.device.synchronize(event)
        outputs = {slot: self.device.read(results[slot]) for slot in self.plan.fetched}
        for value in (*results.values(), *(value for value, _ in self.parked)):
            self.device.free(value)
        return outputs

    def _await(self, index: int) -> None:
        """Let the host wait for an instruction."""
        self.device.synchronize(self.events[index])

    def _launch(self, index: int, stream: Stream, frame: Frame, results: dict[int, Any]) -> None:
        instruction = self.plan.instructions[index]
        access = self.plan.accesses[index]
        if instruction is None and index < self.plan.fed:
            (slot,) = access.writes
            frame[slot] = self.device.put(stream, frame[slot]) if hasattr(frame[slot], "dtype") else frame[slot]
        elif instruction is None:
            (slot,) = access.reads
            (results[slot],) = self.device.launch(stream, self._copying(), [frame[slot]], 1, False, None)
        elif HOST in access.effects or any(hasattr(v, "n_outputs") for v in instruction.attrs.values()):
            self._run_on_host(index, instruction, stream, frame)
        else:
            inputs = [frame[s] for s in access.reads]
            target = access.reads.index(access.overwrites[0]) if access.overwrites else None
            kernel = self._explaining(index, instruction)
            made = self.device.launch(
                stream, kernel, inputs, len(access.writes), bool(access.views), target, access.effects
            )
            for slot, value in zip(access.writes, made):
                frame[slot] = value

    def _copying(self) -> Callable[..., Any]:
        """The kernel that copies what is fetched."""
        return _copied

    def _explaining(self, index: int, instruction: Instruction) -> Callable[..., Any]:
        """The kernel; what it raises says which operator and line of the user's it was."""

        def compute(*arrays: Any, **options: Any) -> Any:
            try:
                made = instruction.compute(*arrays, **options)
                return tuple(made) if instruction.operator.op.multiple else (made,)
            except Exception as err:
                found = self.explain(index - self.plan.fed, err, dict(zip(instruction.reads, arrays)))  # type: ignore[arg-type]
                if found is err:
                    raise
                raise found from None

        return compute

    def _run_on_host(self, index: int, instruction: Instruction, stream: Stream, frame: Frame) -> None:
        """Control flow and effects: the host has waited for their inputs and computes itself."""
        compute = self._explaining(index, instruction)
        for slot, array in zip(instruction.writes, compute(*[self.device.read(frame[s]) for s in instruction.reads])):
            frame[slot] = self.device.put(stream, array) if hasattr(array, "dtype") else array

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
            streams = {self.plan.schedule.stream[user] for user in self.plan.last[slot]}
            self.parked.append((value, [self.device.record(stream) for stream in streams]))
        waiting, self.parked = self.parked, []
        for value, events in waiting:
            if all(self.device.passed(event) for event in events):
                self.device.free(value)
            else:
                self.parked.append((value, events))


def _copied(array: Any) -> Any:
    return (array.copy() if hasattr(array, "dtype") else array,)
