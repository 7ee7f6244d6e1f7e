"""The process that runs one workload in one framework: it builds the case, then runs rounds when asked to.

It reads one JSON command a line and answers with one JSON line: `prepare`, then `round` as often as wanted. Its
environment is the framework's own, so it imports nothing but NumPy, the framework and this package.
"""

import gc
import json
import os
import platform
import sys
import traceback
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from inspect import signature
from pathlib import Path
from time import perf_counter
from typing import Any, TextIO

from benchmarks.case import Case

# Steps after which values are compared: enough for an error in a gradient or an update to show.
STEPS_TO_COMPARE = 5
# Lengths of a round that warming up takes, at least and at most; and how much the pace of a step may still change.
LEAST_WARMING, MOST_WARMING, ALIKE = 4, 20, 0.2
# Steps in which the most memory is looked for.
PEAK_STEPS = 3
PACKAGES = {"vitrify": ("vitrify", "numpy"), "paddle": ("paddlepaddle",), "torch": ("torch",), "jax": ("jax", "jaxlib")}


def build(workload: str, function: str, peer: str, mode: str) -> Case:
    """Return the workload's case in the framework `peer`."""
    maker: Callable[..., Case] = getattr(import_module(f"benchmarks.workloads.{workload}"), function)
    arguments = {"paddle": lambda: import_module(peer), "compiled": lambda: mode == "compiled"}
    return maker(*(arguments[name]() for name in signature(maker).parameters))


def run(case: Case, steps: int) -> float:
    """Return the seconds that so many steps take."""
    start = perf_counter()
    for _ in range(steps):
        result = case.step()
    case.sync(result)
    return perf_counter() - start


def steps_for(case: Case, seconds: float) -> int:
    """Return how many steps fill about this time, after warming up until the pace has settled.

    Compilers that start with their first steps would else be timed at work: a few such steps take as long as thousands
    of later ones, and rounds of so few would begin with cold caches and end before they are warm.
    """
    steps, pace, spent = 1, 0.0, 0.0
    while True:
        taken = run(case, steps)
        spent += taken
        before, pace = pace, taken / steps
        is_steady = taken >= seconds / 4 and spent >= LEAST_WARMING * seconds and abs(pace - before) <= ALIKE * pace
        if is_steady or spent >= MOST_WARMING * seconds:
            return max(1, round(seconds / pace))
        steps = max(1, min(10 * steps, round(seconds / 2 / max(pace, 1e-9)), 1 << 20))


def memory(entry: str) -> int | None:
    """Return the bytes of memory that Linux tells of: VmRSS, what the process has now, VmHWM, its most; else None."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith(f"{entry}:")), None)


def peak_memory(work: Callable[[], object]) -> int | None:
    """Return the most memory that the process had during some work, in bytes; None where the system does not tell."""
    gc.collect()
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # the peak begins anew
    except OSError:
        return None
    work()
    return memory("VmHWM")


def versions(peer: str) -> dict[str, str]:
    """Return the versions of Python and of the framework's packages."""
    found = {"python": platform.python_version()}
    for package in PACKAGES[peer]:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "from source"
    return found


def serve(workload: str, function: str, peer: str, mode: str) -> Iterator[dict[str, Any]]:
    """Yield the answer to `prepare`, then one to each `round`; each is sent the time that a round should take."""
    seconds = yield {}
    case = build(workload, function, peer, mode)
    built = memory("VmRSS")
    start = perf_counter()
    first = case.step()
    case.sync(first)
    first_call = perf_counter() - start
    for _ in range(STEPS_TO_COMPARE - 1):
        first = case.step()
    answer = {"first_call": first_call, "value": case.value(first), "versions": versions(peer)}
    del first
    steps = steps_for(case, seconds)
    yield {**answer, "steps": steps, "built": built, "peak": peak_memory(lambda: run(case, PEAK_STEPS))}
    while True:
        gc.collect()
        yield {"seconds": run(case, steps) / steps}


def main(commands: TextIO, answers: TextIO, workload: str, function: str, peer: str, mode: str) -> None:
    """Answer every command until there are no more."""
    service: Any = serve(workload, function, peer, mode)
    next(service)
    for line in commands:
        try:
            answer = service.send(json.loads(line))
        except Exception as error:  # noqa: BLE001  (whatever a framework raises is the answer)
            traceback.print_exc()
            answer = {"error": f"{type(error).__name__}: {str(error).strip()[:500]}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    # Frameworks print to standard output as they like: answers go through a copy, all other output to the log.
    with os.fdopen(os.dup(1), "w") as private:
        os.dup2(2, 1)
        main(sys.stdin, private, *sys.argv[1:])
