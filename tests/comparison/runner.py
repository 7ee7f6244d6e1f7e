"""A worker process in some environment, asked case by case; one that hangs or dies is replaced."""

from __future__ import annotations

import json
import select
from dataclasses import dataclass

from tests.peers import START_SECONDS, Peer


@dataclass(frozen=True)
class Verdict:
    """Whether a case passed; `why` not; `eager` is the class of what the eager function raised, if it did."""

    passed: bool
    why: str
    eager: str | None = None


class Runner(Peer):
    """Asks a framework, in the environment of an interpreter, about cases."""

    def __init__(self, python: str, framework: str, timeout: float) -> None:
        super().__init__(python, "tests.comparison.worker", framework, timeout)

    def ask(self, table: str, name: str) -> Verdict:
        """Return the verdict on a case."""
        if self.process is None:
            self.launch()
            self._answer(START_SECONDS)
        self.send(f"{table} {name}\n")
        line = self._answer(self.timeout)
        if line is None:
            self.stop()
            return Verdict(False, "timeout: it did not end")
        if not line:
            self.stop()
            return Verdict(False, "crash: the process ended")
        return Verdict(**json.loads(line))

    def _answer(self, seconds: float) -> bytes | None:
        """The line that answers; empty when the process ended, None when it took too long."""
        ready, _, _ = select.select([self.output], [], [], seconds)
        return self.output.readline() if ready else None
