"""A worker process in some environment, asked case by case; one that hangs or dies is replaced."""

from __future__ import annotations

import json
import os
import select
import subprocess
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

ROOT = Path(__file__).parent.parent.parent
START_SECONDS = 120.0


@dataclass(frozen=True)
class Verdict:
    """Whether a case passed; `why` not; `eager` is the class of what the eager function raised, if it did."""

    passed: bool
    why: str
    eager: str | None = None


class Runner:
    """Asks a framework, in the environment of an interpreter, about cases."""

    def __init__(self, python: str, framework: str, timeout: float) -> None:
        self.command = [python, "-m", "tests.comparison.worker", framework]
        self.python = python
        self.framework = framework
        self.timeout = timeout
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, kind: type[BaseException] | None, err: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def version(self) -> str:
        """Return the framework's version."""
        code = f"import {self.framework}; print({self.framework}.__version__)"
        done = subprocess.run([self.python, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
        return done.stdout.split()[-1]

    def stop(self) -> None:
        """End the worker, if there is one."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def ask(self, table: str, name: str) -> Verdict:
        """Return the verdict on a case."""
        if self.process is None:
            self.process = subprocess.Popen(
                self.command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                env={**os.environ, "GLOG_minloglevel": "3"},
            )  # fmt: skip
            self._answer("\n", START_SECONDS)
        line = self._answer(f"{table} {name}\n", self.timeout)
        if line is None:
            self.stop()
            return Verdict(False, "timeout: it did not end")
        if not line:
            self.stop()
            return Verdict(False, "crash: the process ended")
        return Verdict(**json.loads(line))

    def _answer(self, question: str, seconds: float) -> bytes | None:
        """The line that answers; empty when the process ended, None when it took too long."""
        assert self.process is not None
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(question.encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            return b""
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        return self.process.stdout.readline() if ready else None
