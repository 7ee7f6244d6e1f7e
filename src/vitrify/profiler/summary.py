"""A result as text: which operators take the time, how busy the lanes are, how much memory is in use when."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from itertools import groupby
from typing import NamedTuple

from ..core.errors import ArgumentError
from ..core.size_text import size_text
from ..core.timeline import Event, TracerEventType
from .result import ProfilerResult, Row, length, overlap, rows, united
from .tables import chart, table

FORWARD_PROGRAM = "run_program forward"
UNITS = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}


class SortedKeys(Enum):
    """By what rows are sorted, largest first. Times of a GPU's operators are those of their launches, so the GPU keys
    sort as the CPU keys do.
    Source: paddle.profiler.SortedKeys.

    Example:
        >>> import vitrify as paddle
        >>> paddle.profiler.SortedKeys.CPUTotal.name
        'CPUTotal'
    """

    CPUTotal = 0
    CPUAvg = 1
    CPUMax = 2
    CPUMin = 3
    GPUTotal = 4
    GPUAvg = 5
    GPUMax = 6
    GPUMin = 7


class SummaryView(Enum):
    """The tables of a summary. Source: paddle.profiler.SummaryView.

    Example:
        >>> import vitrify as paddle
        >>> paddle.profiler.SummaryView.OperatorView.name
        'OperatorView'
    """

    DeviceView = 0
    OverView = 1
    ModelView = 2
    DistributedView = 3
    KernelView = 4
    OperatorView = 5
    MemoryView = 6
    MemoryManipulationView = 7
    UDFView = 8


class Style(NamedTuple):
    """How tables are written."""

    sorted_by: SortedKeys
    op_detail: bool
    thread_sep: bool
    time_unit: str

    def time(self, nanoseconds: float) -> str:
        """A time in the chosen unit."""
        return f"{nanoseconds / UNITS[self.time_unit]:.3f}"

    def rank(self, row: Row) -> float:
        """What rows are sorted by."""
        measures = (row.total, row.average, row.most, row.least)
        return -measures[self.sorted_by.value % len(measures)]


HEAD = ("Name", "Calls", "Total", "Own", "Avg", "Max", "Min", "Own share")


def summary_text(
    result: ProfilerResult,
    sorted_by: SortedKeys = SortedKeys.CPUTotal,
    op_detail: bool = True,
    thread_sep: bool = False,
    time_unit: str = "ms",
    views: SummaryView | Sequence[SummaryView] | None = None,
) -> str:
    """The tables as text; those that would be empty are left out. Raises ArgumentError for an unknown unit."""
    if time_unit not in UNITS:
        raise ArgumentError(f"summary: time_unit is one of {tuple(UNITS)}, but received {time_unit!r}")
    style = Style(sorted_by, op_detail, thread_sep, time_unit)
    wanted = [views] if isinstance(views, SummaryView) else list(SummaryView) if views is None else list(views)
    parts = [_VIEWS[view](result, style) for view in SummaryView if view in wanted and view in _VIEWS]
    head = f"{len(result.events)} events in {style.time(result.duration)} {time_unit}; times in {time_unit}"
    return "\n\n".join([head, *filter(None, parts)])


def _share(part: float, whole: float) -> str:
    return f"{part / whole:.1%}" if whole else "-"


# -- devices ----------------------------------------------------------------------------------------------------------


def _devices(result: ProfilerResult, style: Style) -> str:
    """How each lane spent its time, and how much they did at once."""
    whole = result.duration
    lines = []
    for lane, name in result.lanes.items():
        mine = [event for event in result.events if event.thread == lane]
        computing = length(united(e for e in result.busy if e.thread == lane))
        waiting = length(united(e for e in mine if e.kind.is_wait))
        rest = max(0, whole - computing - waiting)
        cells = [style.time(computing), _share(computing, whole), _share(waiting, whole), _share(rest, whole)]
        lines.append([name, *cells])
    both = overlap(result)
    foot = (
        f"no operator or copy runs: {_share(whole - both.some, whole)} of the time; "
        f"several lanes are busy: {_share(both.several, both.some)} of the time in which one is"
    )
    return table("Lanes", ("Lane", "Operators", "Share", "Waiting", "Python, idle"), lines) + "\n" + foot


# -- events by kind ---------------------------------------------------------------------------------------------------


def _overview(result: ProfilerResult, style: Style) -> str:
    """Events by kind; time that several threads share counts once."""
    lines = []
    for kind in TracerEventType:
        events = result.of_kind(kind)
        if events:
            time = length(united(events))
            lines.append([kind.name, str(len(events)), style.time(time), _share(time, result.duration)])
    lines.sort(key=lambda cells: -float(cells[2]))
    return table("Overview", ("Event type", "Calls", "Time", "Share"), lines)


_STAGES = (TracerEventType.Dataloader, TracerEventType.Forward, TracerEventType.Backward, TracerEventType.Optimization)


def _model(result: ProfilerResult, style: Style) -> str:
    """What the steps are made of."""
    steps = result.of_kind(TracerEventType.ProfileStep)
    whole = sum(event.end - event.start for event in steps) or result.duration
    lines = [["ProfileStep", str(len(steps)), *_measures(steps, style), _share(whole, whole)]] if steps else []
    left = whole
    for kind in _STAGES:
        events = _outermost([event for event in result.events if _stage_of(event) is kind])
        if events:
            time = sum(event.end - event.start for event in events)
            left -= time
            lines.append([f"  {kind.name}", str(len(events)), *_measures(events, style), _share(time, whole)])
    if lines:
        lines.append(["  Others", "-", style.time(left), "-", "-", "-", _share(left, whole)])
    return table("Model", ("Stage", "Calls", "Total", "Avg", "Max", "Min", "Share"), lines)


def _stage_of(event: Event) -> TracerEventType:
    """The kind of an event; the forward program of a compiled function is a forward pass."""
    is_forward = event.kind is TracerEventType.Program and event.name == FORWARD_PROGRAM
    return TracerEventType.Forward if is_forward else event.kind


def _outermost(events: Sequence[Event]) -> list[Event]:
    """Those that are in no other of them."""
    found: list[Event] = []
    for event in events:
        if not found or found[-1].thread != event.thread or event.start >= found[-1].end:
            found.append(event)
    return found


def _measures(events: Sequence[Event], style: Style) -> list[str]:
    times = [event.end - event.start for event in events]
    return [style.time(t) for t in (sum(times), sum(times) / len(times), max(times), min(times))]


# -- events by name ---------------------------------------------------------------------------------------------------


def _cells(row: Row, whole: float, style: Style, name: str | None = None) -> list[str]:
    times = (row.total, row.own, row.average, row.most, row.least)
    return [name or row.name, str(row.calls), *map(style.time, times), _share(row.own, whole)]


def _operator_name(event: Event) -> str:
    return event.name + (" (program)" if event.kind is TracerEventType.Instruction else "")


def _operators(result: ProfilerResult, style: Style) -> str:
    """Operators by name; shares are of the time of all operators."""
    details = _details(result) if style.op_detail else {}
    parts = []
    for title, events in _by_lane(result.work, result, style):
        found = sorted(rows(events, _operator_name), key=style.rank)
        whole = sum(row.own for row in found)
        lines = []
        for row in found:
            lines.append(_cells(row, whole, style))
            lines += [_cells(part, row.total, style, f"  {part.name}") for part in details.get(row.name, ())]
        parts.append(table(f"Operators{title}", HEAD, lines))
    flops = sum(event.args.get("flops", 0.0) for event in result.work)
    if flops:
        rate = flops / length(united(event for event in result.work if event.args.get("flops")))
        parts.append(f"arithmetic: {flops / 1e9:.3f} GFLOP, {rate:.2f} GFLOP/s in operators whose cost is known")
    return "\n\n".join(parts)


def _details(result: ProfilerResult) -> dict[str, list[Row]]:
    """The rows of what eager operators are made of, by operator."""
    found: dict[str, list[Row]] = {}
    for row in rows(result.of_kind(TracerEventType.Kernel, TracerEventType.InferMeta)):
        found.setdefault(row.name.rpartition(" ")[0], []).append(row)
    return found


def _by_lane(events: Sequence[Event], result: ProfilerResult, style: Style) -> Iterator[tuple[str, Sequence[Event]]]:
    if not style.thread_sep:
        if events:
            yield "", events
        return
    for lane, group in groupby(events, key=lambda event: event.thread):
        yield f" of {result.lanes[lane]}", list(group)


def _named(title: str, *kinds: TracerEventType) -> Callable[[ProfilerResult, Style], str]:
    """A view of the events of these kinds by name."""

    def view(result: ProfilerResult, style: Style) -> str:
        parts = []
        for lane, events in _by_lane(result.of_kind(*kinds), result, style):
            found = sorted(rows(events), key=style.rank)
            whole = sum(row.own for row in found)
            parts.append(table(f"{title}{lane}", HEAD, [_cells(row, whole, style) for row in found]))
        return "\n\n".join(parts)

    return view


# -- memory -----------------------------------------------------------------------------------------------------------


def _memory(result: ProfilerResult, style: Style) -> str:
    """The memory of arrays that operators made, over time."""
    if not result.samples:
        return ""
    peak = max(result.samples, key=lambda sample: sample.bytes)
    at = style.time(peak.time - result.start)
    head = f"Memory of what operators made: peak {size_text(peak.bytes)} at {at} {style.time_unit}, by {peak.maker}"
    times = [(sample.time, sample.bytes) for sample in result.samples]
    return "\n".join([head, *chart(times, result.start, result.end, size_text)])


_VIEWS: dict[SummaryView, Callable[[ProfilerResult, Style], str]] = {
    SummaryView.DeviceView: _devices,
    SummaryView.OverView: _overview,
    SummaryView.ModelView: _model,
    SummaryView.KernelView: _named("Kernels of eager operators", TracerEventType.Kernel),
    SummaryView.OperatorView: _operators,
    SummaryView.MemoryView: _memory,
    SummaryView.MemoryManipulationView: _named("Copies", TracerEventType.Memcpy),
    SummaryView.UDFView: _named("User-defined events", TracerEventType.PythonUserDefined, TracerEventType.UserDefined),
}
