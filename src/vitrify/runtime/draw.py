"""A lowered program as text and pictures: its dependencies, the streams and events it gets, when memory goes."""

from __future__ import annotations

from collections.abc import Iterator

from .costs import bytes_of
from .dependencies import all_edges, find_dependencies
from .interpreter import InterpreterCore
from .liveness import last_users
from .stream_plan import StreamPlan


def drawn_dependencies(core: InterpreterCore) -> str:
    """The dependencies as a Mermaid graph: solid arrows are waited for, dotted ones follow from others."""
    accesses = [i.access for i in core.instructions]
    order = find_dependencies(accesses)
    found, kept = all_edges(accesses), set(order.edges)
    lines = ["graph TD"]
    lines += [f'  i{n}["{n}: {i.operator.op.name}"]' for n, i in enumerate(core.instructions)]
    lines += [f"  i{a} {'-->' if (a, b) in kept else '-.->'} i{b}" for a, b in found]
    return "\n".join(lines)


def drawn_instructions(core: InterpreterCore) -> str:
    """The instructions, numbered, with the variables that their slots stand for."""
    lines = []
    for number, instruction in enumerate(core.instructions):
        made = ", ".join(f"%{core.names[slot]}" for slot in instruction.writes)
        lines.append(f"{number:3}  {instruction}  # {made}")
    return "\n".join(lines)


def drawn_streams(core: InterpreterCore, plan: StreamPlan) -> str:
    """The plan in the order in which the host queues it: stream, what runs, whom it waits for."""
    stream, order = plan.schedule.stream, plan.schedule.order
    return "\n".join(f"{stream[i]!s:9} {_named(core, plan, i)}{_waits(core, plan, i)}" for i in order)


def _named(core: InterpreterCore, plan: StreamPlan, index: int) -> str:
    instruction = plan.instructions[index]
    if instruction is not None:
        return f"{index - plan.fed}: {instruction.operator.op.name}"
    access = plan.accesses[index]
    (slot,) = access.writes or access.reads
    return f"copy {'in' if access.writes else 'out'} %{core.names.get(slot, f's{slot}')}"


def _waits(core: InterpreterCore, plan: StreamPlan, index: int) -> str:
    schedule = plan.schedule
    waits = [f"waits for {_named(core, plan, a)} on {schedule.stream[a]}" for a in schedule.waits[index]]
    stops = [f"the host waits for {_named(core, plan, a)}" for a in schedule.stops[index]]
    records = ["records an event"] if index in schedule.records else []
    return "".join(f"; {part}" for part in (*stops, *waits, *records))


def memory_rows(core: InterpreterCore) -> Iterator[tuple[str, int, str, str]]:
    """Yield for each buffer its variable, its bytes, who makes it and after whom it goes; or that it is kept."""
    accesses = [i.access for i in core.instructions]
    last = last_users(accesses, find_dependencies(accesses), core.kept)
    for number, instruction in enumerate(core.instructions):
        for slot, variable in zip(instruction.writes, instruction.operator.outputs):
            into = instruction.access.overwrites
            made = f"{number}" + (f", in the buffer of %{core.names[into[0]]}" if into else "")
            goes = ", ".join(map(str, last[slot])) if slot in last else "the run: it is given out"
            yield core.names[slot], bytes_of(variable), made, goes


def drawn_memory(core: InterpreterCore) -> str:
    """The table of the garbage collection, in Markdown."""
    lines = ["| buffer | bytes | made by | goes after |", "|---|---:|---|---|"]
    lines += [f"| %{name} | {size} | {made} | {goes} |" for name, size, made, goes in memory_rows(core)]
    return "\n".join(lines)
