"""Results for people (a table) and for programs (JSON lines)."""

import json
import os
import platform
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timezone
from math import isclose
from pathlib import Path
from statistics import geometric_mean

from benchmarks.contenders import OURS_EAGER, OURS_STATIC
from benchmarks.measure import ROOT, Result

# Frameworks round differently; after a few steps of training their losses still agree this well if the maths does.
TOLERANCE = 2e-3
_COLUMNS = "{:16} {:>12} {:>9} {:>9} {:>12} {:>10} {:>10}  {}"


@dataclass(frozen=True)
class Run:
    """What all results of one run share."""

    commit: str
    machine: dict[str, str | int | float]
    date: str


def this_run(threads: int | None) -> Run:
    """Return the commit, the machine and the time of this run."""
    machine: dict[str, str | int | float] = {
        "system": platform.platform(),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        "threads": threads or "default",
        "load": round(load(), 2),
    }
    return Run(_commit(), machine, datetime.now(timezone.utc).isoformat(timespec="seconds"))


def load() -> float:
    """Return the machine's load average over the last minute; 0 where the system does not tell."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def _processor() -> str:
    """Return the processor's name where the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def _commit() -> str:
    """Return the commit that is checked out, marked if files differ from it."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def table(title: str, results: list[Result]) -> str:
    """Return the results as text: times, ratios to vitrify (above 1 means slower than vitrify), first calls, memory."""
    lines = [title, _COLUMNS.format("", "a step, us", "/static", "/eager", "first, ms", "peak, MiB", "grown, MiB", "")]
    expected = next((r.value for r in results if r.error is None), 0.0)
    lines += [_row(result, results, expected) for result in results]
    return "\n".join(lines)


def _row(result: Result, results: list[Result], expected: float) -> str:
    name = result.contender.name
    if result.error is not None:
        return f"{name:16} failed: {result.error.splitlines()[0][:100]}"
    ratios = [_ratio(result, ours, results) for ours in (OURS_STATIC.name, OURS_EAGER.name)]
    agrees = isclose(result.value, expected, rel_tol=TOLERANCE, abs_tol=1e-6)
    note = "" if agrees else f"value {result.value:.6g} differs from {expected:.6g}"
    times = f"{result.median * 1e6:.1f}", *ratios, f"{result.first_call * 1e3:.1f}"
    return _COLUMNS.format(name, *times, *_memory(result), note).rstrip()


def _memory(result: Result) -> tuple[str, str]:
    """Return the peak of the whole process, and what of it came after the model was built, in MiB."""
    if result.peak is None or result.built is None:
        return "-", "-"
    return f"{result.peak / 2**20:.1f}", f"{(result.peak - result.built) / 2**20:.1f}"


def _ratio(result: Result, ours: str, results: list[Result]) -> str:
    base = next((r for r in results if r.contender.name == ours and r.error is None), None)
    return "-" if base is None else f"{result.median / base.median:.2f}"


def json_lines(workload: str, results: Iterable[Result], run: Run) -> Iterable[str]:
    """Yield one JSON object a contender; times in microseconds."""
    for r in results:
        yield json.dumps(
            {
                "workload": workload,
                "contender": r.contender.name,
                "median_us": r.median * 1e6 if r.rounds else None,
                "rounds_us": [seconds * 1e6 for seconds in r.rounds],
                "steps_a_round": r.steps,
                "first_call_us": r.first_call * 1e6,
                "peak_bytes": r.peak,
                "built_bytes": r.built,
                "value": r.value,
                "error": r.error,
                "versions": r.versions,
                "commit": run.commit,
                "machine": run.machine,
                "date": run.date,
            }
        )


def summary(found: dict[str, list[Result]]) -> str:
    """Return a line a workload, static over eager and the best peer over the better of our two, and their mean."""
    lines = ["workload".ljust(20) + "static/eager".rjust(14) + "best peer/ours".rjust(16)]
    leads = []
    for workload, results in found.items():
        times = {r.contender: r.median for r in results if r.error is None}
        ours = [times[c] for c in (OURS_EAGER, OURS_STATIC) if c in times]
        peers = [time for c, time in times.items() if c.peer != "vitrify"]
        ratio = f"{times[OURS_STATIC] / times[OURS_EAGER]:.2f}" if len(ours) == 2 else "-"
        leads += [min(peers) / min(ours)] if peers and ours else []
        lead = f"{leads[-1]:.2f}" if peers and ours else "-"
        lines.append(workload.ljust(20) + ratio.rjust(14) + lead.rjust(16))
    if len(leads) > 1:
        lines.append("geometric mean".ljust(34) + f"{geometric_mean(leads):.2f}".rjust(16))
    return "\n".join(lines)
