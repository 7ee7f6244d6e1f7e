"""The plan of a run on streams: copies in, instructions, copies out, each with its stream, its events and its frees."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..ir.program import Operator
from .access import HOST, Access, memory_of
from .costs import seconds
from .dependencies import Dependencies, find_dependencies
from .instruction import Instruction
from .liveness import last_users
from .streams import COMPUTE, D2H, H2D, Schedule, Stream, assign_streams, launch_order, place_events


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
        parts = (*[None] * len(copies), *instructions, *[None] * len(back))
        accesses = (*copies, *(i.access for i in instructions), *back)
        order = find_dependencies(accesses, sequential=sequential)
        kinds = [H2D] * len(copies) + [_KINDS[i.operator.op.moves] for i in instructions] + [D2H] * len(back)
        schedule = _schedule(parts, accesses, order, kinds, width)
        last = last_users(accesses, order, keep=() if resident is None else (*there, *fetched))
        return StreamPlan(
            parts, accesses, order, schedule, _frees(last, len(accesses)), last,
            _strays(parts, accesses, schedule.stream), fetched, len(copies),
            None if resident is None else frozenset(there),
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
_COPY_SECONDS = 1e-5


def blocks_of(instruction: Instruction) -> list[Any]:
    """The lowered blocks that an instruction runs."""
    return [v for v in instruction.attrs.values() if hasattr(v, "n_outputs")]


def _schedule(
    parts: Sequence[Instruction | None], accesses: Sequence[Access], order: Dependencies, kinds: Sequence[str],
    width: int,
) -> Schedule:  # fmt: skip
    """Order, streams and events of instructions and copies."""
    costs = [_COPY_SECONDS if part is None else seconds(part.operator) for part in parts]
    launches = launch_order(order, costs, kinds)
    streams = assign_streams(order, launches, kinds, costs, width)
    on_host = frozenset(i for i, access in enumerate(accesses) if HOST in access.effects)
    return place_events(accesses, order, launches, streams, on_host)


def _frees(last: Mapping[int, Sequence[int]], count: int) -> tuple[tuple[int, ...], ...]:
    """For each instruction the slots of which it is a last user."""
    found: list[list[int]] = [[] for _ in range(count)]
    for slot, users in last.items():
        for index in users:
            found[index].append(slot)
    return tuple(map(tuple, found))


def _strays(
    parts: Sequence[Instruction | None], accesses: Sequence[Access], streams: Sequence[Stream]
) -> frozenset[int]:
    """Slots whose memory, or that of what they are views of, belongs to another stream than one that uses them.

    Where an instruction runs blocks, the memory of its results was made on some stream of theirs.
    """
    home: dict[int, Stream] = {}
    for part, access, stream in zip(parts, accesses, streams):
        for slot in access.writes:
            home.setdefault(slot, _INNER if part is not None and blocks_of(part) else stream)
    memory = memory_of(accesses)
    return frozenset(
        slot
        for access, stream in zip(accesses, streams)
        for slot in (*access.reads, *access.writes)
        if any(home.get(part, stream) != stream for part in memory[slot])
    )
