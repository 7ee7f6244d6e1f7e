"""Liveness: after which instructions each slot is dead, so that its buffer can go."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .access import Access
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
