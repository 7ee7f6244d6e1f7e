"""Where we differ from Paddle on purpose, and why. An entry that matches no differing case is stale."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class Deliberate:
    """A class of differences: patterns of the case's text and of the kind of difference, and the reason."""

    case: str
    kind: str
    reason: str

    def covers(self, case: str, kind: str) -> bool:
        """Say whether this is the reason for a difference."""
        return fnmatchcase(kind, self.kind) and fnmatchcase(case.replace("[", "("), self.case.replace("[", "("))


DELIBERATE: tuple[Deliberate, ...] = ()


def reason_for(case: str, kind: str) -> Deliberate | None:
    """Return the entry that explains a difference, if one does."""
    return next((entry for entry in DELIBERATE if entry.covers(case, kind)), None)
