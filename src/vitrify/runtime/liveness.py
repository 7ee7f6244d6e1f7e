"""Liveness: after which operator each slot is dead, so that its buffer can go."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


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
