"""Finding races by vector clocks: which accesses of memory are ordered, in every schedule, and which are not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable
from dataclasses import dataclass, field
from typing import Any

from .pool import Block

HOST = "host"
Clock = dict[Hashable, int]
"""For each stream the number of its last kernel that is known to be done."""
Stamp = tuple[Hashable, int]
"""A kernel: its stream and its number there."""


@dataclass(eq=False)
class Memory:
    """A piece of the device's memory, and who touched it last; `replaced` were in its place before."""

    number: int
    stream: Hashable
    block: Block
    address: int
    size: int
    replaced: list[Memory] = field(default_factory=list)
    writer: Stamp | None = None
    readers: list[Stamp] = field(default_factory=list)
    users: int = 0
    is_pinned: bool = False
    occupants: list[Any] = field(default_factory=list)

    def overlaps(self, other: Memory) -> bool:
        """Whether they have bytes in common."""
        return self.address < other.address + other.size and other.address < self.address + self.size

    def covers(self, other: Memory) -> bool:
        """Whether it has all of the other's bytes."""
        return self.address <= other.address and other.address + other.size <= self.address + self.size


class Races:
    """What each stream, and the host, knows to be done; `violations` tells what was touched without knowing it."""

    def __init__(self) -> None:
        self.violations: list[str] = []
        self.clocks: dict[Hashable, Clock] = defaultdict(dict)
        self._effects: dict[str, Stamp] = {}
        self._learnt = 0  # how often the host has waited
        self._told: dict[Hashable, int] = {}  # how often it had when a stream learnt from it

    def found(self, text: str) -> None:
        """Note a violation."""
        self.violations.append(text)

    def stamp(self, stream: Hashable) -> Stamp:
        """A new kernel of a stream; what the host waited for is done before it."""
        self.learn_of_host(stream)
        clock = self.clocks[stream]
        number = clock[stream] = clock.get(stream, 0) + 1
        return stream, number

    def host_knows(self, clock: Clock) -> None:
        """The host has waited for what a clock says."""
        learn(self.clocks[HOST], clock)
        self._learnt += 1

    def learn_of_host(self, stream: Hashable) -> None:
        """Let a stream know what the host does, from which all that it is given next comes."""
        if self._told.get(stream) != self._learnt:
            learn(self.clocks[stream], self.clocks[HOST])
            self._told[stream] = self._learnt

    def knows(self, stream: Hashable, kernel: Stamp) -> bool:
        """Whether a kernel is done before whatever the stream is given next."""
        return knows(self.clocks[stream], kernel)

    def note_effects(self, effects: Collection[str], kernel: Stamp) -> None:
        """A kernel has effects: it may not overtake the one before that has the same."""
        stream = kernel[0]
        for kind in effects:
            before = self._effects.get(kind)
            if before is not None and not self.knows(stream, before):
                self.found(f"a {kind} kernel on {stream} may overtake one on {before[0]}")
            self._effects[kind] = kernel

    def read(self, memory: Memory, kernel: Stamp) -> None:
        """A kernel reads memory."""
        writer = memory.writer
        if writer is not None and not knows(self.clocks[kernel[0]], writer):
            self._race(memory, kernel, writer, "reads", "writes")
        memory.readers.append(kernel)

    def write(self, memory: Memory, kernel: Stamp) -> None:
        """A kernel writes memory."""
        clock, writer = self.clocks[kernel[0]], memory.writer
        if writer is not None and not knows(clock, writer):
            self._race(memory, kernel, writer, "writes", "writes")
        for reader in memory.readers:
            if reader != kernel and not knows(clock, reader):
                self._race(memory, kernel, reader, "writes", "reads")
        memory.writer, memory.readers = kernel, []

    def _race(self, memory: Memory, kernel: Stamp, other: Stamp, does: str, did: str) -> None:
        self.found(
            f"a kernel on {kernel[0]} {does} memory {memory.number}, which a kernel on {other[0]} {did}: no event "
            "lets it wait"
        )


def learn(clock: Clock, other: Clock) -> None:
    """Let a clock know what another one does."""
    known = clock.get
    for stream, stamp in other.items():
        if known(stream, 0) < stamp:
            clock[stream] = stamp


def knows(clock: Clock, kernel: Stamp) -> bool:
    """Whether a clock says that a kernel is done."""
    stream, stamp = kernel
    return clock.get(stream, 0) >= stamp
