"""Places at which the next trace makes something else than Python does: learned from a trace that failed."""

from __future__ import annotations

from typing import Any, ClassVar

from ...core.source import Loc, user_frames

MAX_SITES = 16


class LearnedSites:
    """The places that the traces of one function have learned of. `is_off`: they do not help there.

    Subclasses say which `error` tells of a place, by its attribute `site`.
    """

    error: ClassVar[type[BaseException]]

    def __init__(self) -> None:
        self.known: set[Any] = set()
        self.is_off = False

    def learn_of(self, err: BaseException) -> bool:
        """Whether another trace may do better: there is a place that was not known."""
        site = getattr(err, "site", None) if isinstance(err, self.error) else None
        if site is None or self.is_off or site in self.known or len(self.known) >= MAX_SITES:
            return False
        self.known.add(site)
        return True

    def give_up(self, is_concerned: bool = False) -> bool:
        """Whether another trace may do better, or say better what is wrong, without them.

        is_concerned: whether they mattered for the last trace although no place is known.
        """
        was_used = (bool(self.known) or is_concerned) and not self.is_off
        self.known.clear()
        self.is_off = self.is_off or was_used
        return was_used


def line_here(skip: int) -> Loc | None:
    """The line of the user's that makes something now; `skip`: frames of ours above this one that are left out."""
    frames = user_frames(skip + 1, limit=1)
    return frames[0] if frames else None
