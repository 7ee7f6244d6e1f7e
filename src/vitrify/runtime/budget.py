"""How far threads may run ahead of a program's order: as far as memory allows.

In order, a program needs the bytes that are live at each of its instructions. Whoever starts an instruction early
makes its output early, and all instructions that it has overtaken then run with so many bytes more. It may start if
none of them comes to stand above the *budget*. The first instruction that is not done may always start, for it adds
nothing. So no schedule uses more than the budget, however long kernels take, and none comes to a halt.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter

import numpy as np

from .access import memory_of
from .costs import allocated, bytes_of
from .instruction import Instruction
from .liveness import Lives

Queue = list[tuple[float, int]]
"""Instructions that may start, as a heap: the negative of how urgent each is, and its number."""
LEAST_BYTES = 1 << 20
"""A program whose buffers take less together uses what memory it likes: to account for it would take longer."""


@dataclass(frozen=True)
class Budget:
    """The bytes that a program may have in use, and what is needed to keep to them.

    `makes`: what each instruction allocates; `reaches`: for each slot the buffers that it holds.
    """

    bytes: int
    lives: Lives
    live: tuple[int, ...]
    makes: tuple[int, ...]
    reaches: tuple[tuple[int, ...], ...]

    @staticmethod
    def of(instructions: Sequence[Instruction], kept: Collection[int], owned: Collection[int]) -> Budget:
        """What a program needs in its order, if it gives up the inputs `owned`."""
        accesses = [i.access for i in instructions]
        sizes: dict[int, int] = {}
        makes = []
        for instruction, access in zip(instructions, accesses):
            for slot, value in zip(access.reads, instruction.operator.inputs):
                if slot in owned:
                    sizes.setdefault(slot, bytes_of(value))
            new = (0,) if access.overwrites else allocated(instruction.operator)
            sizes.update(zip(access.writes, new))
            makes.append(sum(new))
        lives = Lives.of(accesses, sizes, kept, shapes_hold=True)
        live = lives.live
        reaches = tuple(tuple(part for part in reached if part in lives.sizes) for reached in memory_of(accesses))
        return Budget(max(live, default=0), lives, live, tuple(makes), reaches)

    def more(self, bytes_: int) -> Budget:
        """A budget of so many bytes more."""
        return Budget(self.bytes + bytes_, self.lives, self.live, self.makes, self.reaches)

    @cached_property
    def binds(self) -> bool:
        """Whether runs must keep account: all buffers together take more, and enough to care."""
        return sum(self.lives.sizes.values()) > max(self.bytes, LEAST_BYTES)


class Account:
    """What one run uses of its budget: the bytes with which each instruction to come will run, if no other is early."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.profile = np.array(budget.live, np.int64)
        self.first = 0  # the first instruction that is not done
        self.done = bytearray(len(budget.live))
        self.holders = dict(budget.lives.holders)

    def admits(self, index: int) -> bool:
        """Whether an instruction may start now."""
        size = self.budget.makes[index]
        if index == self.first or not size:
            return True
        return bool(self.profile[self.first : index].max() + size <= self.budget.bytes)

    def started(self, index: int) -> None:
        """An instruction has started."""
        self._add(self.first, index, self.budget.makes[index])

    def ended(self, index: int) -> None:
        """An instruction is done."""
        self.done[index] = 1
        if index == self.first:
            found = self.done.find(0, index)
            self.first = found if found >= 0 else len(self.done)

    def freed(self, slot: int) -> None:
        """A slot holds nothing any more."""
        lives = self.budget.lives
        for part in self.budget.reaches[slot]:
            self.holders[part] -= 1
            if not self.holders[part]:
                self._add(self.first, lives.last[part] + 1, -lives.sizes[part])

    def _add(self, start: int, end: int, size: int) -> None:
        if size and start < end:
            self.profile[start:end] += size


def take(queue: Queue, account: Account | None) -> int | None:
    """The most urgent instruction of a queue, or the first of the program if that one needs too much memory.

    None if neither may start now.
    """
    if not queue:
        return None
    if account is None or account.admits(queue[0][1]):
        return heapq.heappop(queue)[1]
    first = min(queue, key=itemgetter(1))
    if not account.admits(first[1]):
        return None
    queue.remove(first)
    heapq.heapify(queue)
    return first[1]
