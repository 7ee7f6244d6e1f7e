"""Which stream runs each instruction, and the events that keep streams in step.

A stream runs what it is given in order. So an edge inside one stream needs nothing; one across streams needs an event,
recorded behind the first instruction and waited for before the second, unless the second's stream knows already that
the first is done; one to an instruction whose values the host needs makes the host wait.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from .access import Access
from .dependencies import Dependencies, members

COMPUTE, H2D, D2H, COMMUNICATION = "compute", "h2d", "d2h", "communication"
DIRECT, EVENT, SYNCHRONIZE = "direct", "event", "synchronize"


class Stream(NamedTuple):
    """A queue of a device: what it is for, and its number among those.

    A tuple, for it is a key wherever things are known of streams.
    """

    kind: str = COMPUTE
    number: int = 0

    def __str__(self) -> str:
        return self.kind if self.kind != COMPUTE else f"{self.kind}{self.number}"


@dataclass(frozen=True)
class Schedule:
    """In which order the host launches instructions, where, and what must be waited for.

    `waits[i]`: the instructions whose events the stream of i waits for first; `stops[i]`: those that the host itself
    waits for before it launches i; `records`: those behind which an event is recorded.
    """

    order: tuple[int, ...]
    stream: tuple[Stream, ...]
    waits: tuple[tuple[int, ...], ...]
    stops: tuple[tuple[int, ...], ...]
    classes: dict[tuple[int, int], str]

    @cached_property
    def records(self) -> frozenset[int]:
        """Instructions that someone waits for."""
        return frozenset(a for waited in (*self.waits, *self.stops) for a in waited)

    @cached_property
    def streams(self) -> tuple[Stream, ...]:
        """All streams that are used."""
        return tuple(sorted(set(self.stream)))


def critical_paths(order: Dependencies, costs: Sequence[float]) -> list[float]:
    """For each instruction the time from its start to the end of everything that waits for it."""
    found = list(costs)
    for index in range(len(costs) - 1, -1, -1):
        for earlier in members(order.direct[index]):
            found[earlier] = max(found[earlier], costs[earlier] + found[index])
    return found


def launch_order(order: Dependencies, costs: Sequence[float], kinds: Sequence[str]) -> tuple[int, ...]:
    """A valid order: communication as early as it can be, then what the most other work waits for."""
    urgency = critical_paths(order, costs)
    waiting = [mask.bit_count() for mask in order.direct]
    successors = order.successors

    def rank(index: int) -> tuple[bool, float, int]:
        return kinds[index] != COMMUNICATION, -urgency[index], index

    ready = [rank(i) for i, n in enumerate(waiting) if not n]
    heapq.heapify(ready)
    found = []
    while ready:
        index = heapq.heappop(ready)[-1]
        found.append(index)
        for after in successors[index]:
            waiting[after] -= 1
            if not waiting[after]:
                heapq.heappush(ready, rank(after))
    return tuple(found)


def assign_streams(
    order: Dependencies, launches: Sequence[int], kinds: Sequence[str], costs: Sequence[float], width: int
) -> tuple[Stream, ...]:
    """The stream of each instruction: `width` compute streams at most, one for each other kind.

    An instruction goes on where one that it waits for ended; a second one that waits for the same starts another chain,
    on the stream that has the least to do.
    """
    chosen: dict[int, Stream] = {}
    tail: dict[Stream, int] = {}
    load: dict[Stream, float] = {}
    for index in launches:
        if kinds[index] != COMPUTE:
            stream = Stream(kinds[index])
        else:
            ends = [chosen[a] for a in members(order.direct[index]) if kinds[a] == COMPUTE and tail[chosen[a]] == a]
            unused = [Stream(COMPUTE, n) for n in range(width) if Stream(COMPUTE, n) not in tail]
            idle = unused[:1] or sorted((s for s in tail if s.kind == COMPUTE), key=lambda s: (load[s], s))[:1]
            stream = max(ends, key=lambda s: (load[s], s)) if ends else idle[0]
        chosen[index] = stream
        tail[stream] = index
        load[stream] = load.get(stream, 0.0) + costs[index]
    return tuple(chosen[i] for i in range(len(kinds)))


class _Known:
    """How far each stream has seen the others come: positions in their queues."""

    def __init__(self, streams: Sequence[Stream], launches: Sequence[int]) -> None:
        self.stream = streams
        self.launched = {index: number for number, index in enumerate(launches)}
        self.position: dict[int, int] = {}
        self.at: dict[int, dict[Stream, int]] = {}  # instruction -> what its stream knew when it was done

    def seen(self, index: int, known: dict[Stream, int]) -> bool:
        return known.get(self.stream[index], -1) >= self.position[index]

    def learn(self, known: dict[Stream, int], index: int) -> None:
        for stream, position in self.at[index].items():
            known[stream] = max(known.get(stream, -1), position)

    def missing(self, wanted: Sequence[int], known: dict[Stream, int]) -> list[int]:
        """Those of `wanted` that must be waited for: the latest launched first, for it may know of the others."""
        found = []
        for index in sorted(wanted, key=self.launched.__getitem__, reverse=True):
            if not self.seen(index, known):
                self.learn(known, index)
                found.append(index)
        return found


def place_events(
    accesses: Sequence[Access],
    order: Dependencies,
    launches: Sequence[int],
    streams: Sequence[Stream],
    stopping: frozenset[int] = frozenset(),
) -> Schedule:
    """The schedule with the fewest waits that this order and these streams allow.

    stopping: instructions before which the host itself waits for all that they wait for.
    """
    state = _Known(streams, launches)
    queues: dict[Stream, dict[Stream, int]] = {}
    host: dict[Stream, int] = {}
    lengths: dict[Stream, int] = {}
    producers = _producers(accesses)
    waits: list[tuple[int, ...]] = [()] * len(accesses)
    stops: list[tuple[int, ...]] = [()] * len(accesses)
    classes: dict[tuple[int, int], str] = {}
    for index in launches:
        stream = streams[index]
        known = queues.setdefault(stream, {})
        needed = list(members(order.direct[index]))
        read = {producers[index, slot] for slot in accesses[index].on_host if (index, slot) in producers}
        if index in stopping:
            read.update(needed)
        stops[index] = tuple(state.missing(sorted(read), host))
        for other, position in host.items():  # what the host knows, all that it launches from now on knows
            known[other] = max(known.get(other, -1), position)
        for a in needed:
            same = streams[a] == stream
            classes[a, index] = SYNCHRONIZE if a in read else DIRECT if same else EVENT
        waits[index] = tuple(state.missing(needed, known))
        state.position[index] = lengths.get(stream, 0)
        lengths[stream] = state.position[index] + 1
        known[stream] = state.position[index]
        state.at[index] = dict(known)
    return Schedule(tuple(launches), tuple(streams), tuple(waits), tuple(stops), classes)


def _producers(accesses: Sequence[Access]) -> dict[tuple[int, int], int]:
    """(instruction, slot that it reads) -> the instruction that wrote the slot last before it."""
    writer: dict[int, int] = {}
    found = {}
    for index, access in enumerate(accesses):
        for slot in (*access.reads, *access.on_host):
            if slot in writer:
                found[index, slot] = writer[slot]
        for slot in access.writes:
            writer[slot] = index
    return found
