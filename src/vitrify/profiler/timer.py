"""How long steps and their data take, and how many samples a second that makes."""

from __future__ import annotations

from ..core.timeline import now


class StepTimer:
    """Times steps. `read` is told what data loaders take; what happened since the last `info` is averaged by it."""

    def __init__(self) -> None:
        self._since = now()
        self._reading = 0
        self._has_reader = False
        self._unit: str | None = None
        self._fresh = _Average()
        self._steps: list[tuple[float, float, float]] = []
        """Reader cost, batch cost and instances a second of each step."""

    def read(self, nanoseconds: int) -> None:
        """Count the time that a data loader took."""
        self._has_reader = True
        self._reading += nanoseconds

    def step(self, samples: int | None) -> None:
        """A step is over, in which so many samples were seen."""
        at = now()
        batch, reader = (at - self._since) / 1e9, self._reading / 1e9
        self._since, self._reading = at, 0
        self._unit = "steps" if samples is None else self._unit if self._unit not in (None, "steps") else "samples"
        count = 1 if samples is None else samples
        self._fresh.add(reader, batch, count)
        self._steps.append((reader, batch, count / batch if batch else 0.0))

    def info(self, unit: str | None) -> str:
        """The averages of the steps since the last call; empty if there were none."""
        found, self._fresh = self._fresh, _Average()
        if not found.steps:
            return ""
        if unit is not None and self._unit != "steps":
            self._unit = unit
        reader = f" reader_cost: {found.reader / found.steps:.5f} s" if self._has_reader else ""
        return f"{reader} batch_cost: {found.batch / found.steps:.5f} s ips: {found.rate:.3f} {self._unit}/s"

    def summary(self) -> str:
        """Average, maximum and minimum over all steps; the first is left out if there are more, for it warms up."""
        steps = self._steps[1:] or self._steps
        if not steps:
            return "no steps"
        columns = dict(zip(("reader_cost", "batch_cost", "ips"), zip(*steps)))
        lines = []
        if self._has_reader:
            lines.append(f"Reader Ratio: {sum(columns['reader_cost']) / sum(columns['batch_cost']):.3%}")
        else:
            del columns["reader_cost"]
        lines.append(f"Time Unit: s, IPS Unit: {self._unit}/s")
        lines.append("|" + "|".join(f"{head:^17}" for head in ("", "avg", "max", "min")) + "|")
        for name, values in columns.items():
            cells = (sum(values) / len(values), max(values), min(values))
            lines.append("|" + "|".join(f"{cell:^17}" for cell in (name, *(f"{c:.5f}" for c in cells))) + "|")
        return "\n".join(lines)


class _Average:
    """Sums over some steps."""

    def __init__(self) -> None:
        self.steps = self.samples = 0
        self.reader = self.batch = 0.0

    def add(self, reader: float, batch: float, samples: int) -> None:
        """Count one step."""
        self.steps += 1
        self.samples += samples
        self.reader += reader
        self.batch += batch

    @property
    def rate(self) -> float:
        """Samples a second."""
        return self.samples / self.batch if self.batch else 0.0
