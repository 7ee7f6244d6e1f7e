"""When a profiler records: states, and schedulers that choose one for each step."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TypeAlias

from ..core.errors import ArgumentError


class ProfilerState(Enum):
    """What a profiler does in a step. RECORD_AND_RETURN: it records, and hands over what it has when the step ends.

    Source: paddle.profiler.ProfilerState.

    Example:
        >>> import vitrify as paddle
        >>> steps = paddle.profiler.make_scheduler(closed=1, ready=1, record=2, repeat=1)
        >>> [steps(i).name for i in range(4)]
        ['CLOSED', 'READY', 'RECORD', 'RECORD_AND_RETURN']
    """

    CLOSED = 0
    READY = 1
    RECORD = 2
    RECORD_AND_RETURN = 3

    @property
    def records(self) -> bool:
        """Whether events are noted."""
        return self in (ProfilerState.RECORD, ProfilerState.RECORD_AND_RETURN)


class ProfilerTarget(Enum):
    """Devices that can be profiled. Source: paddle.profiler.ProfilerTarget.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.profiler.Profiler(targets=[paddle.profiler.ProfilerTarget.CPU]) as profiler:
        ...     x = paddle.ones([2]) + 1
    """

    CPU = 0
    GPU = 1
    XPU = 2
    CUSTOM_DEVICE = 3


Scheduler: TypeAlias = Callable[[int], ProfilerState]


def make_scheduler(*, closed: int, ready: int, record: int, repeat: int = 0, skip_first: int = 0) -> Scheduler:
    """A function from the number of a step to its state: `closed`, `ready` and `record` steps, over and over.

    The last of the steps recorded is RECORD_AND_RETURN. repeat: how many such cycles there are, 0 for no end.
    skip_first: how many steps come before the first cycle. Raises ArgumentError for numbers that make no cycle.
    Source: paddle.profiler.make_scheduler.

    Example:
        >>> scheduler = make_scheduler(closed=1, ready=1, record=2, repeat=1)
        >>> [scheduler(step).name for step in range(5)]
        ['CLOSED', 'READY', 'RECORD', 'RECORD_AND_RETURN', 'CLOSED']
    """
    if min(closed, ready, repeat, skip_first) < 0 or record < 1:
        raise ArgumentError(
            f"make_scheduler: closed={closed}, ready={ready}, record={record}, repeat={repeat}, "
            f"skip_first={skip_first} make no cycle",
            hint="record is 1 or more, the others 0 or more",
        )
    cycle = closed + ready + record

    def state_of(step: int) -> ProfilerState:
        place = step - skip_first
        if place < 0 or (repeat and place >= repeat * cycle):
            return ProfilerState.CLOSED
        place %= cycle
        if place < closed + ready:
            return ProfilerState.CLOSED if place < closed else ProfilerState.READY
        return ProfilerState.RECORD if place < cycle - 1 else ProfilerState.RECORD_AND_RETURN

    return state_of


def as_scheduler(given: Scheduler | tuple[int, int] | None) -> Scheduler:
    """The scheduler that is meant: all steps for None, steps in [start, end) for a pair."""
    if given is None:
        return lambda step: ProfilerState.RECORD
    if callable(given):
        return given
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise ArgumentError(f"Profiler: scheduler is a function, a pair (start, end) or None, but received {given!r}")
    start, end = max(given[0], 0), given[1]
    if end <= start:
        raise ArgumentError(f"Profiler: scheduler=({given[0]}, {end}) has no steps")
    ready = min(start, 1)
    return make_scheduler(closed=start - ready, ready=ready, record=end - start, repeat=1)
