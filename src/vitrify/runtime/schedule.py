"""What threads need to know of a program, computed once: what waits for what, what is urgent, what memory there is."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from sys import getrefcount

import numpy as np

from ..core.cache import BoundedCache
from .access import HOST
from .budget import Account, Budget, take
from .dependencies import Dependencies, members
from .instruction import Frame, Instruction
from .liveness import last_users
from .streams import critical_paths

WORTH = 1.05
"""How many times faster a run must be to use more memory than the program's order needs."""
MAX_BUDGETS = 16


@dataclass(frozen=True)
class Schedule:
    """What threads need to know of a program.

    `waiting`: for each instruction how many others it waits for; `after`: those that wait for it; `frees`: slots that
    it is one of the last to use; `references`: for each such slot how many last users it has; `before`: which ones it
    waits for; `n_inputs`: how many of the first slots a run is given.
    """

    instructions: tuple[Instruction, ...]
    costs: tuple[float, ...]
    kept: frozenset[int]
    n_inputs: int
    waiting: tuple[int, ...]
    after: tuple[tuple[int, ...], ...]
    rank: tuple[tuple[float, int], ...]
    on_caller: frozenset[int]
    frees: tuple[tuple[int, ...], ...]
    references: dict[int, int]
    width: int
    before: tuple[tuple[int, ...], ...]
    _budgets: BoundedCache[tuple[frozenset[int], int], Budget] = field(repr=False)

    @staticmethod
    def of(
        instructions: Sequence[Instruction],
        order: Dependencies,
        costs: Sequence[float],
        kept: frozenset[int],
        n_inputs: int,
    ) -> Schedule:
        """The schedule of instructions in this order."""
        users = last_users([i.access for i in instructions], order, kept)
        frees: list[list[int]] = [[] for _ in instructions]
        for slot, last in users.items():
            for index in last:
                frees[index].append(slot)
        urgency = critical_paths(order, costs)
        return Schedule(
            tuple(instructions),
            tuple(costs),
            kept,
            n_inputs,
            tuple(mask.bit_count() for mask in order.direct),
            tuple(order.successors),
            tuple((-urgent, index) for index, urgent in enumerate(urgency)),
            frozenset(i for i, instruction in enumerate(instructions) if HOST in instruction.access.effects),
            tuple(map(tuple, frees)),
            {slot: len(last) for slot, last in users.items()},
            max(1, round(sum(costs) / max(max(urgency, default=1.0), 1e-12))),
            tuple(tuple(members(mask)) for mask in order.direct),
            BoundedCache("memory budgets of a program", MAX_BUDGETS),
        )

    def budget(self, frame: Frame, threads: int) -> Budget:
        """How much memory a run on so many threads may use."""
        key = (_owned(frame, self.n_inputs), threads)
        return self._budgets.get_or_build(key, lambda: self._budget(*key))

    def _budget(self, owned: frozenset[int], threads: int) -> Budget:
        """What the order of the program needs; one buffer more for each helper where that pays."""
        tight = Budget.of(self.instructions, self.kept, owned)
        if not tight.binds or threads < 2:
            return tight
        loose = tight.more((threads - 1) * max(tight.makes))
        return loose if makespan(self, tight, threads) > WORTH * makespan(self, loose, threads) else tight


def _references(frame: Frame, count: int) -> list[int]:
    return [getrefcount(frame[slot]) for slot in range(count)]


_ALONE = _references([object()], 1)[0]


def _owned(frame: Frame, count: int) -> frozenset[int]:
    """The inputs whose memory goes when the run gives them up: nobody else refers to them."""
    alone = (slot for slot, references in enumerate(_references(frame, count)) if references == _ALONE)
    return frozenset(slot for slot in alone if isinstance(frame[slot], np.ndarray) and frame[slot].base is None)


def makespan(schedule: Schedule, budget: Budget, threads: int) -> float:
    """How long so many threads take if instructions take what they are estimated to."""
    account = Account(budget)
    waiting, references = [*schedule.waiting], dict(schedule.references)
    queue = [schedule.rank[i] for i, count in enumerate(waiting) if not count]
    heapq.heapify(queue)
    running: list[tuple[float, int]] = []
    time = 0.0
    while queue or running:
        while len(running) < threads and (index := take(queue, account)) is not None:
            account.started(index)
            heapq.heappush(running, (time + schedule.costs[index], index))
        time, index = heapq.heappop(running)
        account.ended(index)
        for slot in schedule.frees[index]:
            references[slot] -= 1
            if not references[slot]:
                account.freed(slot)
        for after in schedule.after[index]:
            waiting[after] -= 1
            if not waiting[after]:
                heapq.heappush(queue, schedule.rank[after])
    return time
