"""Running a program by several threads: what does not depend on each other computes at once.

The caller's thread takes part. It alone runs instructions with effects on the host (prints, callbacks), so that user
code sees the thread it expects; all others are for whoever is free: the most urgent first, as far as memory allows
(`runtime.budget`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from contextvars import copy_context
from functools import partial
from heapq import heapify, heappush
from threading import Condition, Lock, get_ident
from threading import enumerate as all_threads

from ..core.timeline import TracerEventType, now
from ..device.patience import give_up, patience, patience_after
from .budget import Account, take
from .instruction import Frame
from .observer import Observer
from .options import ExecutionOptions
from .plan import core_count
from .pool import pool
from .schedule import Schedule

Explain = Callable[[int, Exception, Frame], Exception]
SHOWN = 8
"""How many waiting instructions a report names."""


def run_threads(
    schedule: Schedule, frame: Frame, explain: Explain, options: ExecutionOptions, observer: Observer | None = None
) -> None:
    """Run all instructions on a frame. Raises the first exception, when no other thread computes any more."""
    threads = core_count(options)
    helpers = pool(threads - 1) if threads > 1 else None
    budget = schedule.budget(frame, threads)
    account = Account(budget) if budget.binds else None
    run = _Run(schedule, frame, explain, observer, options.deterministic, account)
    try:
        if helpers is not None:
            for _ in range(min(threads, schedule.width + 1) - 1):
                helpers.submit(partial(copy_context().run, run.help))
        run.lead()
    except BaseException as err:
        if run.stop(patience_after(err)):
            run.frame = []
        elif helpers is not None:
            helpers.renew()
        raise
    run.frame = []  # a helper that has not noticed the end yet keeps no arrays alive


class _Run:
    """One run: counts, queues and the frame, all changed under one lock; kernels run outside of it."""

    def __init__(
        self,
        schedule: Schedule,
        frame: Frame,
        explain: Explain,
        observer: Observer | None,
        in_order: bool,
        account: Account | None,
    ) -> None:
        self.schedule = schedule
        self.frame = frame
        self.explain = explain
        self.observer = observer
        self.in_order = in_order
        self.account = account
        self.holds_back = False  # some thread waits although instructions are ready: they need too much memory
        self.waiting = list(schedule.waiting)
        self.references = dict(schedule.references)
        self.left = len(schedule.instructions)
        self.lock = Lock()
        self.changed = Condition(self.lock)
        self.patience = patience()
        self.failure: BaseException | None = None
        self.failed = len(schedule.instructions)
        self.unfinished = (1 << self.failed) - 1 if in_order else 0
        self.stopped = False
        self.busy: dict[int, int] = {}  # thread -> instruction
        ready = [schedule.rank[i] for i, count in enumerate(self.waiting) if not count]
        self.for_all = [rank for rank in ready if rank[1] not in schedule.on_caller]
        self.for_caller = [rank for rank in ready if rank[1] in schedule.on_caller]
        heapify(self.for_all)
        heapify(self.for_caller)

    def help(self) -> None:
        """Take part, in a thread of the pool, until nothing is left."""
        try:
            index = self._next(is_caller=False)
            while index is not None:
                index = self._ran(index, is_caller=False)
        except BaseException as err:  # noqa: BLE001 - it is raised in the caller's thread
            self._fail(-1, err)

    def lead(self) -> None:
        """Take part in the caller's thread; returns when everything is done."""
        index = self._next(is_caller=True)
        while index is not None:
            index = self._ran(index, is_caller=True)
        if self.failure is not None:
            raise self.failure

    def stop(self, seconds: float | None) -> bool:
        """Start nothing any more; whether all that still computes ended in time."""
        mine = get_ident()
        with self.lock:
            self.stopped = True
            self.failure = None
            self.changed.notify_all()
            return self.changed.wait_for(lambda: all(thread == mine for thread in self.busy), seconds)

    def _next(self, is_caller: bool) -> int | None:
        with self.lock:
            return self._take(is_caller)

    def _take(self, is_caller: bool) -> int | None:
        """The next instruction for this thread, once there is one; None when none will come."""
        while not self._is_over():
            index = self._ready(is_caller)
            if index is not None:
                if index > self.failed:
                    continue  # in the order of the program it is not reached
                self.busy[get_ident()] = index
                if self.account is not None:
                    self.account.started(index)
                return index
            if not self._has_waited(is_caller):
                return None  # the caller goes on alone: it may be in code of the user's, which takes its time
        return None

    def _ready(self, is_caller: bool) -> int | None:
        """An instruction that this thread may start now, out of its queue."""
        index = take(self.for_caller, self.account) if is_caller else None
        if index is None:
            index = take(self.for_all, self.account)
            self.holds_back |= index is None and bool(self.for_all)
        return index

    def _has_waited(self, is_caller: bool) -> bool:
        """Wait for a change; False for a helper that has waited for long enough, where the caller raises HangError."""
        left, start = self.left, now()
        woken = self.changed.wait(self.patience)
        if self.observer is not None:
            self.observer.noted(TracerEventType.QueueWait, "queue wait", start)
        hangs = not woken and left == self.left
        if hangs and is_caller:
            give_up(self.patience, self._report())
        return not hangs

    def _ran(self, index: int, is_caller: bool) -> int | None:
        """Run an instruction, account for it, and give the next one."""
        instruction = self.schedule.instructions[index]
        try:
            if self.observer is not None:
                self.observer.run(index, instruction, self.frame)
            else:
                instruction.step(self.frame)
        except Exception as err:  # noqa: BLE001 - it is raised in the caller's thread
            self._fail(index, self.explain(index, err, self.frame))  # in no variable, see `raise_if_other`
            return self._next(is_caller)
        with self.lock:
            self.busy.pop(get_ident(), None)
            self.unfinished &= ~(1 << index)
            return self._account(index, is_caller)

    def _fail(self, index: int, failure: BaseException) -> None:
        """Remember what is to be raised: the first one, or the one that comes first in the order of the program."""
        with self.lock:
            self.busy.pop(get_ident(), None)
            self.unfinished &= ~(1 << max(index, 0))
            if self.failure is None or (self.in_order and index < self.failed):
                self.failure, self.failed = failure, index
            self.changed.notify_all()

    def _is_over(self) -> bool:
        """Whether nothing more will be started."""
        if self.stopped or not self.left:
            return True
        return self.failure is not None and not self.unfinished & ((1 << max(self.failed, 0)) - 1)

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
            if self.account is not None:
                for slot in dead:
                    self.account.freed(slot)

    def _account(self, index: int, is_caller: bool) -> int | None:
        schedule = self.schedule
        self.left -= 1
        if self.account is not None:
            self.account.ended(index)
        self._free(schedule.frees[index])
        released = 0
        for after in schedule.after[index]:
            self.waiting[after] -= 1
            if not self.waiting[after]:
                queue = self.for_caller if after in schedule.on_caller else self.for_all
                heappush(queue, schedule.rank[after])
                released += 1
        if released > 1 or self.holds_back or self.for_caller or not self.left or self.failure or self.stopped:
            self.holds_back = False
            self.changed.notify_all()
        return self._take(is_caller)

    def _report(self) -> str:
        """What each thread does, and what the instructions that have not started wait for."""
        instructions = self.schedule.instructions
        names = {thread.ident: thread.name for thread in all_threads()}
        busy = [f"  {names.get(ident)} computes {instructions[i].placed}" for ident, i in self.busy.items()]
        running = set(self.busy.values())
        waiting = [i for i, count in enumerate(self.waiting) if count]
        unfinished = running.union(waiting, (index for _, index in (*self.for_all, *self.for_caller)))
        lines = [f"  {self.left} of {len(instructions)} instructions are left; the caller waits for the others", *busy]
        for index in waiting[:SHOWN]:
            awaited = [str(instructions[a]) for a in sorted(unfinished) if index in self.schedule.after[a]]
            lines.append(f"  {instructions[index].placed} waits for {'; '.join(awaited)}")
        if len(waiting) > SHOWN:
            lines.append(f"  and {len(waiting) - SHOWN} more wait")
        return "\n".join(lines)
