"""Traces: a result as JSON that Chrome (chrome://tracing) and Perfetto show, and back."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import ArgumentError, FileFormatError
from ..core.timeline import Event, Sample, TracerEventType
from .result import ProfilerResult

if TYPE_CHECKING:
    from .profiler import Profiler

SCHEMA = "vitrify-1"


def as_trace(result: ProfilerResult) -> dict[str, Any]:
    """The result in Chrome's trace event format: a lane for each thread and stream, times in microseconds."""
    process = os.getpid()
    lanes = {thread: number for number, thread in enumerate(_in_order(result), 1)}
    events = [
        *_names(result, process, lanes),
        *(_complete(event, result.start, process, lanes) for event in result.events),
        *_flows(result, process, lanes),
        *_memory(result, process),
    ]
    return {
        "schemaVersion": SCHEMA,
        "displayTimeUnit": "ns",
        "traceEvents": events,
        "duration": _microseconds(result.duration),
    }


def _in_order(result: ProfilerResult) -> list[int]:
    """The lanes: the thread of the profiler's steps first, then by name."""
    steps = {event.thread for event in result.of_kind(TracerEventType.ProfileStep)}
    return sorted(result.lanes, key=lambda thread: (thread not in steps, result.lanes[thread], thread))


def _microseconds(nanoseconds: int) -> float:
    return nanoseconds / 1e3


def _names(result: ProfilerResult, process: int, lanes: Mapping[int, int]) -> Iterator[dict[str, Any]]:
    yield {"ph": "M", "name": "process_name", "pid": process, "tid": 0, "args": {"name": "vitrify"}}
    for thread, lane in lanes.items():
        common = {"ph": "M", "pid": process, "tid": lane}
        yield {**common, "name": "thread_name", "args": {"name": result.lanes[thread]}}
        yield {**common, "name": "thread_sort_index", "args": {"sort_index": lane}}


def _complete(event: Event, start: int, process: int, lanes: Mapping[int, int]) -> dict[str, Any]:
    return {
        "ph": "X",
        "name": event.name,
        "cat": event.kind.name,
        "pid": process,
        "tid": lanes[event.thread],
        "ts": _microseconds(event.start - start),
        "dur": _microseconds(event.end - event.start),
        "args": {name: _plain(value) for name, value in event.args.items() if value is not None},
    }


def _plain(value: Any) -> Any:
    """What JSON can hold: a place in the source as file:line, metas as text."""
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "file") and hasattr(value, "line"):
        return f"{value.file}:{value.line}"
    return value if isinstance(value, (int, float, str)) else str(value)


def _flows(result: ProfilerResult, process: int, lanes: Mapping[int, int]) -> Iterator[dict[str, Any]]:
    """Arrows from the end of an instruction to the start of one on another lane that waited for it."""
    found = {
        (event.args["run"], event.args["index"]): event
        for event in result.of_kind(TracerEventType.Instruction)
        if "run" in event.args
    }
    number = 0
    for (run, _), event in found.items():
        for earlier in event.args.get("after", ()):
            source = found.get((run, earlier))
            if source is None or source.thread == event.thread or source.end > event.start:
                continue
            number += 1
            common = {"name": "dependency", "cat": "dependency", "id": number, "pid": process}
            last = max(source.start, source.end - 1)  # inside the slice, or nothing would hold the arrow
            yield {**common, "ph": "s", "tid": lanes[source.thread], "ts": _microseconds(last - result.start)}
            begin = _microseconds(event.start - result.start)
            yield {**common, "ph": "f", "bp": "e", "tid": lanes[event.thread], "ts": begin}


def _memory(result: ProfilerResult, process: int) -> Iterator[dict[str, Any]]:
    for sample in result.samples:
        yield {
            "ph": "C",
            "name": "memory",
            "cat": sample.maker,
            "pid": process,
            "tid": 0,
            "ts": _microseconds(sample.time - result.start),
            "args": {"bytes in use": sample.bytes},
        }


def write_trace(result: ProfilerResult, path: str | os.PathLike[str]) -> None:
    """Write the trace of a result to a file; its folder is made."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(as_trace(result)), encoding="utf-8")


def load_profiler_result(filename: str | os.PathLike[str]) -> ProfilerResult:
    """What `Profiler.export` wrote to a file. Raises FileFormatError for other files.

    Source: paddle.profiler.load_profiler_result.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.profiler.Profiler(on_trace_ready=lambda p: p.export("/tmp/trace.json")):
        ...     y = paddle.ones([2]) + 1
        >>> [event.name for event in paddle.profiler.load_profiler_result("/tmp/trace.json").work]
        ['full', 'add']
    """
    try:
        trace = json.loads(Path(filename).read_text(encoding="utf-8"))
    except ValueError:
        trace = None
    if not isinstance(trace, dict) or trace.get("schemaVersion") != SCHEMA:
        raise FileFormatError(f"{filename}: this is no trace that Profiler.export has written")
    records = trace["traceEvents"]
    lanes = {r["tid"]: r["args"]["name"] for r in records if r["ph"] == "M" and r["name"] == "thread_name"}
    events = [_event(record) for record in records if record["ph"] == "X"]
    samples = [Sample(_nanoseconds(r["ts"]), r["args"]["bytes in use"], r["cat"]) for r in records if r["ph"] == "C"]
    return ProfilerResult(tuple(events), lanes, tuple(samples), 0, _nanoseconds(trace["duration"]))


def _nanoseconds(microseconds: float) -> int:
    return round(microseconds * 1e3)


def _event(record: Mapping[str, Any]) -> Event:
    start = _nanoseconds(record["ts"])
    kind = TracerEventType[record["cat"]]
    return Event(kind, record["name"], start, start + _nanoseconds(record["dur"]), record["tid"], record["args"])


def export_chrome_tracing(dir_name: str, worker_name: str | None = None) -> Callable[[Profiler], None]:
    """A function for `Profiler(on_trace_ready=...)`: it writes each trace to a file of its own in a folder.

    worker_name: how the files' names begin, the host's name and the process number by default.
    Source: paddle.profiler.export_chrome_tracing.

    Example:
        >>> import vitrify as paddle
        >>> ready = paddle.profiler.export_chrome_tracing("/tmp/traces", "worker0")
        >>> with paddle.profiler.Profiler(on_trace_ready=ready):
        ...     y = paddle.ones([2]) + 1
    """
    worker = worker_name or f"host_{socket.gethostname()}pid_{os.getpid()}"

    def export(profiler: Profiler) -> None:
        time = datetime.now().strftime("%Y_%m_%d_%H_%M_%S_%f")
        profiler.export(os.path.join(dir_name, f"{worker}_time_{time}.paddle_trace.json"))

    return export


def export(result: ProfilerResult | None, path: str, format: str) -> None:
    """Write a result to a file. Raises ArgumentError if there is none, or for a format that is not JSON."""
    if format != "json":
        raise ArgumentError(
            f"export: format is 'json', but received {format!r}", hint="load_profiler_result reads the JSON back"
        )
    if result is None:
        raise ArgumentError("export: nothing was recorded", hint="call it when a step was recorded and is over")
    write_trace(result, path)
