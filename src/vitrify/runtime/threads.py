"""Running a program by several threads: what does not depend on each other computes at once.

The caller's thread takes part. It alone runs instructions with effects on the host (prints, callbacks), so that user
code sees the thread it expects; all others are for whoever is free, the most urgent first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from contextvars import copy_context
from dataclasses import dataclass
from functools import cache
from heapq import heapify, heappop, heappush
from threading import Condition, Lock, current_thread, get_ident

from ..core.errors import InternalError
from ..core.timeline import TracerEventType, now
from .access import HOST
from .dependencies import Dependencies, members
from .instruction import Frame, Instruction
from .liveness import last_users
from .observer import Observer
from .options import ExecutionOptions
from .plan import core_count
from .streams import critical_paths

Explain = Callable[[int, Exception, Frame], Exception]
PATIENCE = 60.0
"""Seconds without any instruction ending after which a waiting caller reports what all threads do."""


@dataclass(frozen=True)
class Schedule:
    """What threads need to know of a program, computed once.

    `waiting`: for each instruction how many others it waits for; `after`: those that wait for it; `frees`: slots that
    it is one of the last to use; `references`: for each such slot how many last users it has; `before`: which ones it
    waits for.
    """

    instructions: tuple[Instruction, ...]
    waiting: tuple[int, ...]
    after: tuple[tuple[int, ...], ...]
    rank: tuple[tuple[float, int], ...]
    on_caller: frozenset[int]
    frees: tuple[tuple[int, ...], ...]
    references: dict[int, int]
    width: int
    before: tuple[tuple[int, ...], ...]

    @staticmethod
    def of(
        instructions: Sequence[Instruction], order: Dependencies, costs: Sequence[float], kept: frozenset[int]
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
            tuple(mask.bit_count() for mask in order.direct),
            tuple(order.successors),
            tuple((-urgent, index) for index, urgent in enumerate(urgency)),
            frozenset(i for i, instruction in enumerate(instructions) if HOST in instruction.access.effects),
            tuple(map(tuple, frees)),
            {slot: len(last) for slot, last in users.items()},
            max(1, round(sum(costs) / max(max(urgency, default=1.0), 1e-12))),
            tuple(tuple(members(mask)) for mask in order.direct),
        )


def run_threads(
    schedule: Schedule, frame: Frame, explain: Explain, options: ExecutionOptions, observer: Observer | None = None
) -> None:
    """Run all instructions on a frame. Raises the first exception, when no other thread computes any more."""
    threads = core_count(options)
    run = _Run(schedule, frame, explain, observer, options.deterministic)
    helpers = min(threads, schedule.width + 1) - 1
    futures = [_pool(threads).submit(copy_context().run, run.help) for _ in range(helpers)]
    try:
        run.lead()
    finally:
        run.stop()
        for future in futures:
            future.cancel()


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max(threads - 1, 1), thread_name_prefix="vitrify")


class _Run:
    """One run: counts, queues and the frame, all changed under one lock; kernels run outside of it."""

    def __init__(
        self, schedule: Schedule, frame: Frame, explain: Explain, observer: Observer | None, in_order: bool
    ) -> None:
        self.schedule = schedule
        self.frame = frame
        self.explain = explain
        self.observer = observer
        self.in_order = in_order
        self.waiting = list(schedule.waiting)
        self.references = dict(schedule.references)
        self.left = len(schedule.instructions)
        self.changed = Condition(Lock())
        self.failure: BaseException | None = None
        self.failed = len(schedule.instructions)
        self.unfinished = (1 << self.failed) - 1 if in_order else 0
        self.stopped = False
        self.busy: dict[int, str] = {}
        ready = [schedule.rank[i] for i, count in enumerate(self.waiting) if not count]
        self.for_all = [rank for rank in ready if rank[1] not in schedule.on_caller]
        self.for_caller = [rank for rank in ready if rank[1] in schedule.on_caller]
        heapify(self.for_all)
        heapify(self.for_caller)

    def help(self) -> None:
        """Take part, in a thread of the pool, until nothing is left."""
        index = self._next(is_caller=False)
        while index is not None:
            index = self._ran(index, is_caller=False)

    def lead(self) -> None:
        """Take part in the caller's thread; returns when everything is done."""
        index = self._next(is_caller=True)
        while index is not None:
            index = self._ran(index, is_caller=True)
        if self.failure is not None:
            raise self.failure

    def stop(self) -> None:
        """Start nothing any more, and wait for what still computes."""
        with self.changed:
            self.stopped = True
            self.changed.notify_all()
            mine = get_ident()
            while any(thread != mine for thread in self.busy):
                self._wait()

    def _next(self, is_caller: bool) -> int | None:
        with self.changed:
            return self._take(is_caller)

    def _take(self, is_caller: bool) -> int | None:
        """The next instruction for this thread, once there is one; None when none will come."""
        while True:
            if self._is_over():
                return None
            queue = self.for_caller if is_caller and self.for_caller else self.for_all
            if queue:
                index = heappop(queue)[1]
                if index > self.failed:
                    continue  # in the order of the program it is not reached
                self.busy[get_ident()] = f"{current_thread().name}: {self.schedule.instructions[index]}"
                return index
            self._wait()

    def _wait(self) -> None:
        left = self.left
        start = now()
        woken = self.changed.wait(PATIENCE)
        if self.observer is not None:
            self.observer.noted(TracerEventType.QueueWait, "queue wait", start)
        if not woken and left == self.left:
            report = "\n".join(self.busy.values()) or "no thread computes"
            raise InternalError(f"no instruction has ended for {PATIENCE:.0f} s; {self.left} are left\n{report}")

    def _ran(self, index: int, is_caller: bool) -> int | None:
        """Run an instruction, account for it, and give the next one."""
        instruction = self.schedule.instructions[index]
        failure: BaseException | None = None
        try:
            if self.observer is not None:
                self.observer.run(index, instruction, self.frame)
            else:
                instruction.step(self.frame)
        except Exception as err:  # noqa: BLE001 - it is raised in the caller's thread
            failure = self._explained(index, err)
        except BaseException as err:  # noqa: BLE001 - KeyboardInterrupt comes to the caller's thread
            failure = err
        with self.changed:
            self.busy.pop(get_ident(), None)
            self.unfinished &= ~(1 << index)
            if failure is None:
                return self._account(index, is_caller)
            self._fail(index, failure)
            return self._take(is_caller)

    def _fail(self, index: int, failure: BaseException) -> None:
        """Remember what is to be raised: the first one, or the one that comes first in the order of the program."""
        if self.failure is None or (self.in_order and index < self.failed):
            self.failure = failure
            self.failed = index if isinstance(failure, Exception) else -1
        self.changed.notify_all()

    def _is_over(self) -> bool:
        """Whether nothing more will be started."""
        if self.stopped or not self.left:
            return True
        return self.failure is not None and not self.unfinished & ((1 << max(self.failed, 0)) - 1)

    def _explained(self, index: int, err: Exception) -> Exception:
        found = self.explain(index, err, self.frame)
        if found is not err:
            found.__cause__, found.__suppress_context__ = None, True
        return found

    def _free(self, used: Sequence[int]) -> None:
        """Free those slots that were used for the last time."""
        dead = []
        for slot in used:
            self.references[slot] -= 1
            if not self.references[slot]:
                dead.append(slot)
        if dead:
            with self.observer.freeing(len(dead)) if self.observer is not None else nullcontext():
                for slot in dead:
                    self.frame[slot] = None

    def _account(self, index: int, is_caller: bool) -> int | None:
        schedule = self.schedule
        self.left -= 1
        self._free(schedule.frees[index])
        released = 0
        for after in schedule.after[index]:
            self.waiting[after] -= 1
            if not self.waiting[after]:
                queue = self.for_caller if after in schedule.on_caller else self.for_all
                heappush(queue, schedule.rank[after])
                released += 1
        if released > 1 or self.for_caller or not self.left or self.failure is not None:
            self.changed.notify_all()
        return self._take(is_caller)
