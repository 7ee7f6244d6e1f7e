"""How a lowered program runs, in a line: what the analyses chose and found."""

from __future__ import annotations

from collections.abc import Iterator

from .dependencies import find_dependencies
from .interpreter import InterpreterCore
from .liveness import last_users


def summary(core: InterpreterCore) -> str:
    """The mode and why, and how many instructions, streams, events, writes in place and early frees there are."""
    return f"runs in mode {core.choice.mode} ({core.choice.reason}): {', '.join(_parts(core))}"


def _parts(core: InterpreterCore) -> Iterator[str]:
    accesses = [i.access for i in core.instructions]
    yield counted(len(accesses), "instruction")
    if core.plans is not None:
        schedule = core.plan().schedule
        yield counted(len(schedule.streams), "stream")
        yield counted(len(schedule.records), "event")
        stops = sum(map(len, schedule.stops))
        if stops:
            yield f"{counted(stops, 'wait')} of the host"
    yield f"{counted(sum(bool(a.overwrites) for a in accesses), 'write')} in place"
    order = core.choice.order or find_dependencies(accesses, sequential=True)
    made = {slot for access in accesses for slot in access.writes}
    early = 0 if core.options.gc == "none" else len(made & last_users(accesses, order, core.kept).keys())
    yield f"{counted(early, 'buffer')} freed before the end"


def counted(number: int, noun: str) -> str:
    """`number` of something, in words."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
