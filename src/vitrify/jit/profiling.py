"""profile: how long each instruction of a call takes, beside the user's line that it comes from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..core.config import BENCHMARK
from ..core.source import Loc
from ..core.timeline import TIMELINE, Event, Timeline
from ..profiler.result import ProfilerResult, own_times
from ..profiler.tables import table

RUNS = 10
WIDEST = 60


@dataclass
class Cost:
    """One instruction of a program, or one operator at one line of eager code: nanoseconds over all runs.

    program: "run_program forward", "Executor.run" and so on; "" in blocks that others run, "eager" outside programs.
    own: without what instructions inside it took, least: of one call. where: the user's line, None where it is not
    known.
    """

    program: str
    operator: str
    where: Loc | None
    calls: int = 0
    own: int = 0
    least: int = 0

    def add(self, own: int) -> None:
        """Count one call."""
        self.least = min(self.least, own) if self.calls else own
        self.calls += 1
        self.own += own


@dataclass(frozen=True)
class CallProfile:
    """What `profile` found out. `str()` of it is for reading.

    costs: the most expensive first. result: all events, for `summary_text` and traces; runs: how many it covers.
    """

    costs: tuple[Cost, ...]
    result: ProfilerResult
    runs: int

    def __str__(self) -> str:
        whole = sum(cost.own for cost in self.costs)
        lines = [
            [
                f"{cost.program} {cost.operator}".strip(),
                f"{cost.calls / self.runs:g}",
                f"{cost.own / self.runs / 1e3:.1f}",
                f"{cost.own / cost.calls / 1e3:.1f}",
                f"{cost.least / 1e3:.1f}",
                f"{cost.own / whole:.1%}" if whole else "-",
                _line(cost.where),
            ]
            for cost in self.costs
        ]
        head = ("Instruction", "Calls", "us a run", "us a call", "Least", "Share", "Line")
        time = self.result.duration / self.runs / 1e3
        foot = f"{whole / self.runs / 1e3:.1f} us in instructions, of {time:.1f} us a run ({self.runs} runs)"
        return "\n".join([table("Instructions", head, lines, left=(0, 6)), foot])


def _line(where: Loc | None) -> str:
    if where is None:
        return ""
    text = f"{where.file.rpartition('/')[2]}:{where.line}  {where.text}"
    return text if len(text) <= WIDEST else text[: WIDEST - 3] + "..."


def profile(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> CallProfile:
    """How long each instruction takes when `fn(*args, **kwargs)` runs, and the line that it comes from.

    fn: a compiled function, a Layer, any function, or `Executor.run` with a program. It is called once to build what it
    builds, and ten times for the figures: under `FLAGS_benchmark`, so that instructions run one by one.

    Example:
        >>> import vitrify as paddle
        >>> fn = paddle.jit.to_static(lambda x: paddle.tanh(x) * 2)
        >>> found = paddle.jit.profile(fn, paddle.ones([100, 100]))
        >>> sorted(cost.operator for cost in found.costs)
        ['multiply', 'tanh']
    """
    fn(*args, **kwargs)
    timeline = Timeline(record_places=True)
    with BENCHMARK.scope(True), TIMELINE.scope(timeline):
        for _ in range(RUNS):
            fn(*args, **kwargs)
    timeline.close()
    result = ProfilerResult.of(timeline)
    return CallProfile(tuple(sorted(_costs(result.work), key=lambda cost: -cost.own)), result, RUNS)


def _costs(events: list[Event]) -> list[Cost]:
    found: dict[Any, Cost] = {}
    for event, own in zip(events, own_times(events)):
        program, where = event.args.get("program", "eager"), event.args.get("where")
        key = (program, event.args.get("index"), event.name, where)
        cost = found.setdefault(key, Cost(program, event.name, where))
        cost.add(own)
    return list(found.values())
