"""How a lowered program runs, as text: in a line, or instruction by instruction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .dependencies import find_dependencies
from .liveness import last_users
from .on_streams import stream_plan

if TYPE_CHECKING:
    from .interpreter import InterpreterCore


def summary(core: InterpreterCore) -> str:
    """The mode and why, and how many instructions, streams, events, writes in place and early frees there are."""
    return f"runs in mode {core.choice.mode} ({core.choice.reason}): {', '.join(_parts(core))}"


def _parts(core: InterpreterCore) -> Iterator[str]:
    accesses = [i.access for i in core.instructions]
    yield counted(len(accesses), "instruction")
    if core.plans is not None:
        schedule = stream_plan(core).schedule
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


def listing(core: InterpreterCore) -> str:
    """How a program runs and why, and its instructions: the slots that each frees are those dead behind it.

    What `FLAGS_benchmark` has measured stands beside them.
    """
    n_inputs = core.surroundings.n_inputs
    slots = ", ".join(f"s{slot} = %{name}" for slot, name in sorted(core.names.items()) if slot < n_inputs)
    refused = f"; no graph after all: {core.graphs.refused}" if core.graphs and core.graphs.refused else ""
    lines = [f"{core.choice.mode}: {core.choice.reason}{refused}", f"inputs {slots}", *_instruction_lines(core)]
    lines.append("outputs " + ", ".join(f"s{slot} = %{core.names.get(slot, '')}" for slot in core.outputs))
    for variant in core.variants.values():
        if any(variant.timings.calls):
            lines += ["timed, operator by operator:", *_instruction_lines(variant)]
    return "\n".join(lines)


def _instruction_lines(core: InterpreterCore) -> Iterator[str]:
    for index, instruction in enumerate(core.instructions):
        freed = "".join(f" s{slot}" for slot in instruction.dead)
        notes = [f"frees{freed}" if freed else "", core.timings.text(index)]
        yield f"  {instruction}" + (f"  # {', '.join(filter(None, notes))}" if any(notes) else "")
