"""A process in the environment of some framework, which runs a module of ours and answers questions."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from types import TracebackType
from typing import IO, TypeVar

ROOT = Path(__file__).parent.parent
START_SECONDS = 120.0
PATHS = {"PYTHONPATH": str(ROOT / "src")}  # the vitrify beside these tests, wherever another one is installed
P = TypeVar("P", bound="Peer")


class Peer:
    """Runs `python -m module framework` while there is something to ask."""

    def __init__(self, python: str, module: str, framework: str, timeout: float) -> None:
        self.python = python
        self.framework = framework
        self.timeout = timeout
        self.command = [python, "-m", module, framework]
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self: P) -> P:
        return self

    def __exit__(self, kind: type[BaseException] | None, err: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def version(self) -> str:
        """Return the framework's version."""
        code = f"import {self.framework}; print({self.framework}.__version__)"
        done = subprocess.run([self.python, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
        return done.stdout.split()[-1]

    def launch(self) -> None:
        """Start the process; it answers the empty question when the framework is imported."""
        self.process = subprocess.Popen(
            self.command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, **PATHS, "GLOG_minloglevel": "3", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        self.send("\n")

    def stop(self) -> None:
        """End the process, if there is one."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def send(self, question: str) -> None:
        """Send a line. If the process has ended, its output has as well."""
        assert self.process is not None
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(question.encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            pass

    @property
    def output(self) -> IO[bytes]:
        """What the process writes."""
        assert self.process is not None
        assert self.process.stdout is not None
        return self.process.stdout
