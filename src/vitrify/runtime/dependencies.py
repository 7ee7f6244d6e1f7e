"""Which instruction must wait for which: hazards from the order of accesses, and the fewest edges that say so.

Sets of instructions are integers whose bit i stands for instruction i: unions and subset tests of thousands of
instructions are single operations on them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from .access import Access, memory_of


def members(mask: int) -> Iterator[int]:
    """The numbers in a set, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


@dataclass(frozen=True)
class Dependencies:
    """Edges between instructions numbered in program order, which is one valid order.

    `before[i]`: all instructions that must be done when i starts; `direct[i]`: those of them that i has to wait for
    itself, because no other of them waits for them.
    """

    before: tuple[int, ...]
    direct: tuple[int, ...]
    found: int
    """How many edges the accesses gave, before redundant ones were removed."""

    @property
    def edges(self) -> list[tuple[int, int]]:
        """All pairs (a, b) where b waits for a itself."""
        return [(a, b) for b, mask in enumerate(self.direct) for a in members(mask)]

    @property
    def successors(self) -> list[tuple[int, ...]]:
        """For each instruction those that wait for it themselves."""
        found: list[list[int]] = [[] for _ in self.direct]
        for a, b in self.edges:
            found[a].append(b)
        return [tuple(after) for after in found]

    def happens_before(self, a: int, b: int) -> bool:
        """Whether a is done when b starts, in every schedule."""
        return bool(self.before[b] >> a & 1)


def find_dependencies(
    accesses: Sequence[Access], *, sequential: bool = False, deterministic: bool = False
) -> Dependencies:
    """The dependencies of a list of instructions.

    With `sequential` each waits for the one before it, with `deterministic` those that have effects wait for all
    before them: then what they do does not depend on how far others have come.
    """
    wanted = _sequential(len(accesses)) if sequential else _hazards(accesses)
    if deterministic:
        wanted = [(1 << i) - 1 if accesses[i].effects else mask for i, mask in enumerate(wanted)]
    before: list[int] = []
    direct: list[int] = []
    for mask in wanted:
        reached = 0
        kept = 0
        # The latest first: what one of them waits for need not be waited for again.
        while mask:
            latest = mask.bit_length() - 1
            kept |= 1 << latest
            reached |= before[latest] | 1 << latest
            mask &= ~reached
        before.append(reached)
        direct.append(kept)
    return Dependencies(tuple(before), tuple(direct), sum(mask.bit_count() for mask in wanted))


def all_edges(accesses: Sequence[Access]) -> list[tuple[int, int]]:
    """All pairs (a, b) where b must not overtake a, those included that others imply."""
    return [(a, b) for b, mask in enumerate(_hazards(accesses)) for a in members(mask)]


def _sequential(count: int) -> list[int]:
    return [1 << index - 1 if index else 0 for index in range(count)]


def _hazards(accesses: Sequence[Access]) -> list[int]:
    """For each instruction the earlier ones that it must not overtake."""
    memory = memory_of(accesses)
    writers: dict[int, int] = {}  # memory -> those that wrote it last, in a row without reads between
    readers: dict[int, int] = {}  # memory -> those that read it since
    slot_writer: dict[int, int] = {}  # a slot is a name, too: who rebinds it waits for those who look it up
    slot_readers: dict[int, int] = {}
    effects: dict[str, int] = {}
    wanted = []
    for index, access in enumerate(accesses):
        mask = 0
        bit = 1 << index
        for slot in access.reads:
            mask |= slot_writer.get(slot, 0)  # read after write
            if slot not in access.shapes:
                mask |= _union(writers, memory[slot])
        for slot in access.writes:
            mask |= slot_writer.get(slot, 0) | slot_readers.get(slot, 0)  # write after write, write after read
        changed = frozenset().union(*(memory[slot] for slot in access.overwrites)) if access.overwrites else ()
        mask |= _union(writers, changed) | _union(readers, changed)
        mask |= _union(effects, access.effects)
        for slot in access.reads:
            slot_readers[slot] = slot_readers.get(slot, 0) | bit
            if slot not in access.shapes:
                for part in memory[slot]:
                    readers[part] = readers.get(part, 0) | bit
        for slot in access.writes:
            slot_writer[slot], slot_readers[slot] = bit, 0
        for part in changed:
            writers[part], readers[part] = bit, 0
        for kind in access.effects:
            effects[kind] = bit
        wanted.append(mask & ~bit)
    return wanted


def _union(table: dict[int, int] | dict[str, int], keys: Iterable[int] | Iterable[str]) -> int:
    mask = 0
    for key in keys:
        mask |= table.get(key, 0)  # type: ignore[arg-type]
    return mask
