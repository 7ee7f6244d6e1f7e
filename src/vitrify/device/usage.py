"""Counting memory: how much is in use, and how much was at most."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Gauge:
    """An amount that goes up and down. `peak` is the largest since it was last reset, `total` all that was added.

    >>> gauge = Gauge()
    >>> gauge.add(300); gauge.add(-200); gauge
    Gauge(now=100, peak=300, total=300)
    """

    now: int = 0
    peak: int = 0
    total: int = 0

    def add(self, amount: int) -> None:
        """Go up, or with a negative amount down."""
        self.now += amount
        if amount > 0:
            self.total += amount
            if self.now > self.peak:
                self.peak = self.now

    def reset_peak(self) -> None:
        """Let the peak be what is in use now."""
        self.peak = self.now


@dataclass
class Usage:
    """The memory of one device, or of one of its streams, in bytes.

    Fields:
        allocated: what live arrays occupy.
        reserved: what the device's memory was taken for, live or kept for later arrays.
        arrays: how many live arrays there are; its total is how many there ever were.
    """

    allocated: Gauge = field(default_factory=Gauge)
    reserved: Gauge = field(default_factory=Gauge)
    arrays: Gauge = field(default_factory=Gauge)

    def reset_peaks(self) -> None:
        """Let all peaks be what is in use now."""
        for gauge in (self.allocated, self.reserved, self.arrays):
            gauge.reset_peak()

    def as_dict(self) -> dict[str, int]:
        """All numbers by name, such as `allocated_bytes.peak`.

        >>> Usage().as_dict()["reserved_bytes.current"]
        0
        """
        named = {"allocated_bytes": self.allocated, "reserved_bytes": self.reserved, "arrays": self.arrays}
        found: dict[str, int] = {}
        for name, gauge in named.items():
            found |= {f"{name}.current": gauge.now, f"{name}.peak": gauge.peak, f"{name}.total": gauge.total}
        return found
