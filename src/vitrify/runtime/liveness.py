"""Liveness: after which instructions each slot is dead, so that its buffer can go, and how many bytes are live."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from .access import Access, memory_of
from .dependencies import Dependencies, members


def last_uses(
    reads: Sequence[Sequence[int]], writes: Sequence[Sequence[int]], keep: Iterable[int]
) -> list[tuple[int, ...]]:
    """For each operator, the slots that nothing reads afterwards; slots in `keep` are never listed.

    reads/writes: slots that operator i reads and writes, in program order. A slot written and never read dies where
    it is written.
    """
    kept = set(keep)
    last: dict[int, int] = {}
    for index, (read, written) in enumerate(zip(reads, writes)):
        for slot in (*read, *written):
            last[slot] = index
    dead: list[list[int]] = [[] for _ in reads]
    for slot, index in last.items():
        if slot not in kept:
            dead[index].append(slot)
    return [tuple(sorted(slots)) for slots in dead]


def last_users(accesses: Sequence[Access], order: Dependencies, keep: Iterable[int]) -> dict[int, tuple[int, ...]]:
    """For each slot the instructions of which every one must be done before its buffer can go, in any schedule.

    Of all that use it these are the ones that no other of them waits for, so their number is the slot's reference
    count. Slots in `keep` are not listed.
    """
    kept = set(keep)
    users: dict[int, int] = {}
    for index, access in enumerate(accesses):
        for slot in (*access.reads, *access.writes):
            if slot not in kept:
                users[slot] = users.get(slot, 0) | 1 << index
    return {slot: tuple(members(_latest(mask, order))) for slot, mask in users.items()}


def _latest(mask: int, order: Dependencies) -> int:
    found = 0
    while mask:
        latest = mask.bit_length() - 1
        found |= 1 << latest
        mask &= ~(order.before[latest] | 1 << latest)
    return found


@dataclass(frozen=True)
class Lives:
    """The buffers of a program while its instructions run in order, by the slots that got them when they were made.

    `born` and `last`: the instructions that make a buffer (-1: it was there before) and that use it last, through
    views as well; `holders`: how many slots reach it.
    """

    sizes: Mapping[int, int]
    born: Mapping[int, int]
    last: Mapping[int, int]
    holders: Mapping[int, int]
    count: int

    @staticmethod
    def of(accesses: Sequence[Access], sizes: Mapping[int, int], kept: Collection[int], *, shapes_hold: bool) -> Lives:
        """The lives of the buffers with a size: the bytes that a slot's maker allocates.

        What is reached by a slot in `kept` lives to the end. shapes_hold: so does what is asked for its shape only,
        until it was.
        """
        memory = memory_of(accesses)
        born: dict[int, int] = {}
        last: dict[int, int] = {}
        for index, access in enumerate(accesses):
            for slot in access.writes:
                born.setdefault(slot, index)
            for slot in (*access.reads, *access.writes):
                if shapes_hold or slot not in access.shapes:
                    last.update(dict.fromkeys(memory[slot], index))
        for slot in kept:
            if slot < len(memory):
                last.update(dict.fromkeys(memory[slot], len(accesses) - 1))
        holders: dict[int, int] = {}
        for reached in memory:
            for slot in reached:
                holders[slot] = holders.get(slot, 0) + 1
        sized = {slot: size for slot, size in sizes.items() if size and slot in last}
        return Lives(sized, {slot: born.get(slot, -1) for slot in sized}, last, holders, len(accesses))

    @property
    def live(self) -> tuple[int, ...]:
        """The bytes in use while each instruction runs."""
        change = [0] * (self.count + 1)
        for slot, size in self.sizes.items():
            change[max(self.born[slot], 0)] += size
            change[self.last[slot] + 1] -= size
        return tuple(accumulate(change[: self.count]))
