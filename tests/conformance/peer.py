"""A worker process in some environment, asked case by case; one that hangs or dies is replaced."""

from __future__ import annotations

import os
import pickle
import select
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).parent.parent.parent
START_SECONDS = 120.0


class Runner:
    """Asks a framework, in the environment of an interpreter, about cases."""

    def __init__(self, python: str, framework: str, timeout: float) -> None:
        self.python = python
        self.framework = framework
        self.timeout = timeout
        self.command = [python, "-m", "tests.conformance.worker", framework]
        self.process: subprocess.Popen[bytes] | None = None
        self.buffer = b""

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, kind: type[BaseException] | None, err: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def version(self) -> str:
        """Return the framework's version."""
        code = f"import {self.framework}; print({self.framework}.__version__)"
        done = subprocess.run([self.python, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
        return done.stdout.split()[-1]

    def start(self) -> None:
        """Start the worker if there is none, and wait until the framework is imported."""
        if self.process is not None:
            return
        self.buffer = b""
        self.process = subprocess.Popen(
            self.command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, "GLOG_minloglevel": "3", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        self._send("\n")
        self._receive(START_SECONDS)

    def stop(self) -> None:
        """End the worker, if there is one."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def ask(self, table: str, number: int) -> None:
        """Send a question; `answer` waits for what comes back."""
        self.start()
        self._send(f"{table} {number}\n")

    def answer(self) -> dict[str, Any]:
        """Return the record that answers; that of a worker that hangs or died is made up here."""
        content = self._receive(self.timeout)
        if content:
            record: dict[str, Any] = pickle.loads(content)
            return record
        self.stop()
        return {"kind": "timeout" if content is None else "crash"}

    def _send(self, question: str) -> None:
        assert self.process is not None
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(question.encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the answer will be empty

    def _receive(self, seconds: float) -> bytes | None:
        """The answer; empty when the process ended, None when it took too long."""
        assert self.process is not None
        assert self.process.stdout is not None
        end = time.monotonic() + seconds
        while len(self.buffer) < 8 or len(self.buffer) < 8 + int.from_bytes(self.buffer[:8], "little"):
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                return None
            chunk = os.read(self.process.stdout.fileno(), 1 << 16)
            if not chunk:
                return b""
            self.buffer += chunk
        size = 8 + int.from_bytes(self.buffer[:8], "little")
        content, self.buffer = self.buffer[8:size], self.buffer[size:]
        return content
