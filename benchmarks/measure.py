"""Running contenders against each other: one process each, alive together, asked for one round at a time."""

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import sleep
from types import MappingProxyType, TracebackType
from typing import Any

from benchmarks.contenders import Contender

ROOT = Path(__file__).parent.parent
# Before each round: threads of the process before it wait for work in a loop for some ten milliseconds.
_PAUSE = 0.1
_QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "GLOG_minloglevel": "3", "PYTHONWARNINGS": "ignore", "JAX_PLATFORMS": "cpu"}


@dataclass
class Result:
    """What one contender did on one workload; times in seconds, `rounds` a step.

    `peak`: the most bytes of memory that the process has while steps run; `built`: those that it has before the first,
    with all libraries and the model. None where the system does not tell.
    """

    contender: Contender
    first_call: float = 0.0
    value: float = 0.0
    peak: float | None = None
    built: float | None = None
    steps: int = 0
    rounds: list[float] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    error: str | None = None

    @property
    def median(self) -> float:
        """The median time of a step, in seconds."""
        return median(self.rounds)


class WorkerError(RuntimeError):
    """A worker could not do what it was asked; the message is its own, or the end of its log."""


class Worker:
    """A contender's process. `ask` sends one command and returns the answer."""

    def __init__(
        self,
        python: str,
        workload: str,
        contender: Contender,
        threads: int | None,
        settings: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        # Closed with the process, in __exit__.
        self._log = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        c = contender
        self._process = subprocess.Popen(
            [python, "-m", "benchmarks.worker", workload, c.function, c.peer, c.mode],
            cwd=ROOT,
            env={**_environment(c, threads), **settings},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )

    def ask(self, command: float) -> dict[str, Any]:
        """Return the worker's answer; raises WorkerError for a failure, or a process that ended."""
        assert self._process.stdin and self._process.stdout
        try:
            print(json.dumps(command), file=self._process.stdin, flush=True)
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise WorkerError(f"the process ended: {self._log_end()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise WorkerError(answer["error"])
        return answer

    def _log_end(self) -> str:
        self._log.seek(0)
        return self._log.read().strip()[-500:]

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._process.kill()
        self._process.communicate()
        self._log.close()


def _environment(contender: Contender, threads: int | None) -> dict[str, str]:
    """Return the worker's environment: this package on the path, vitrify's source for vitrify, a thread limit."""
    paths = [str(ROOT), str(ROOT / "src")] if contender.peer == "vitrify" else [str(ROOT)]
    limits = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "VITRIFY_NUM_THREADS")
    threaded = dict.fromkeys(limits, str(threads)) if threads else {}
    return {**os.environ, **_QUIET, **threaded, "PYTHONPATH": os.pathsep.join(paths)}


def contest(
    workload: str,
    pythons: Mapping[Contender, str],
    rounds: int,
    seconds: float,
    threads: int | None,
    say: Callable[[str], None],
) -> list[Result]:
    """Return a result for each contender, its rounds taken in turn with the others' so that all meet the same load."""
    with ExitStack() as stack:
        workers = {c: stack.enter_context(Worker(python, workload, c, threads)) for c, python in pythons.items()}
        results = [_prepare(workers[c], c, seconds, say) for c in workers]
        running = [result for result in results if result.error is None]
        for number in range(rounds):
            say(f"round {number + 1} of {rounds}")
            # Each round starts with another contender, so that none always follows the same one.
            for result in _rotated(running, number):
                _one_round(workers[result.contender], result, seconds)
    return results


def _prepare(worker: Worker, contender: Contender, seconds: float, say: Callable[[str], None]) -> Result:
    say(f"preparing {contender.name}")
    try:
        return Result(contender, **worker.ask(seconds))
    except WorkerError as error:
        return Result(contender, error=str(error))


def _one_round(worker: Worker, result: Result, seconds: float) -> None:
    if result.error is None:
        sleep(_PAUSE)
        try:
            result.rounds.append(worker.ask(seconds)["seconds"])
        except WorkerError as error:
            result.error = str(error)


def _rotated(results: list[Result], by: int) -> Iterable[Result]:
    start = by % max(len(results), 1)
    return results[start:] + results[:start]
