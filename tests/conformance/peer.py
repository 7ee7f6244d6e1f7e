"""A worker process in some environment, asked case by case; one that hangs or dies is replaced."""

from __future__ import annotations

import base64
import os
import pickle
import select
import time
from collections import deque
from typing import Any

from tests.conformance.generated import TABLE
from tests.conformance.spec import Case
from tests.peers import START_SECONDS, Peer


def question_of(table: str, number: int, case: Case) -> str:
    """Return the question about a case: its place in a table of rows; what was generated travels by value."""
    return base64.b64encode(pickle.dumps(case)).decode() if table == TABLE else f"{table} {number}"


class Runner(Peer):
    """Asks a framework, in the environment of an interpreter, about cases."""

    def __init__(self, python: str, framework: str, timeout: float) -> None:
        super().__init__(python, "tests.conformance.worker", framework, timeout)
        self.buffer = b""
        self.pending: deque[str] = deque()

    def start(self) -> None:
        """Start the worker if there is none, and wait until the framework is imported."""
        if self.process is None:
            self.buffer = b""
            self.launch()
            self._receive(START_SECONDS)

    def ask(self, question: str) -> None:
        """Send a question; `answer` waits for what comes back. Several may be asked ahead."""
        self.start()
        self.pending.append(question + "\n")
        self.send(self.pending[-1])

    def answer(self) -> dict[str, Any]:
        """Return the record that answers the oldest question; that of a worker that hangs or died is made up here."""
        content = self._receive(self.timeout)
        self.pending.popleft()
        if content:
            record: dict[str, Any] = pickle.loads(content)
            return record
        self.stop()
        if self.pending:  # the next worker answers what this one was still asked
            self.start()
            self.send("".join(self.pending))
        return {"kind": "timeout" if content is None else "crash"}

    def _receive(self, seconds: float) -> bytes | None:
        """The answer; empty when the process ended, None when it took too long."""
        end = time.monotonic() + seconds
        while len(self.buffer) < 8 or len(self.buffer) < 8 + int.from_bytes(self.buffer[:8], "little"):
            ready, _, _ = select.select([self.output], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                return None
            chunk = os.read(self.output.fileno(), 1 << 16)
            if not chunk:
                return b""
            self.buffer += chunk
        size = 8 + int.from_bytes(self.buffer[:8], "little")
        content, self.buffer = self.buffer[8:size], self.buffer[size:]
        return content
