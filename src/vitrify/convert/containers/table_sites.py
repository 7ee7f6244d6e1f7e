"""Where dicts and sets are made that get keys which only a run knows: learned from a trace that failed.

The next trace makes a `GraphTable` there, which costs more for each key, and so is made nowhere else. The place of one
that a call is given is that among its arguments; for one that the user's state holds a table stands in.
"""

from __future__ import annotations

from typing import Any

from ...core.source import Loc, user_frames
from ...ir.builder import current_builder
from ..values.foreign import ForeignError

MAX_SITES = 16
Site = Any  # Loc | Argument


class TableSites:
    """The places that the traces of one function have learned of. `is_off`: tables do not help there."""

    def __init__(self) -> None:
        self.known: set[Site] = set()
        self.is_off = False

    def learn_of(self, err: BaseException) -> bool:
        """Whether another trace may do better: there is a place that was not known."""
        site = err.site if isinstance(err, NumberKeyError) else None
        if site is None or self.is_off or site in self.known or len(self.known) >= MAX_SITES:
            return False
        self.known.add(site)
        return True

    def give_up(self, err: BaseException, stood_in: bool) -> bool:
        """Whether another trace may do better without tables. stood_in: some stood for containers of the user's."""
        was_used = (bool(self.known) or stood_in or isinstance(err, NumberKeyError)) and not self.is_off
        self.known.clear()
        self.is_off = self.is_off or was_used
        return was_used


class NumberKeyError(ForeignError):
    """A dict or set gets a key that only the run knows; `site`: where it was made, if a table may be made there.

    One without a place of its own is of the user's state, where a table may stand in for it.
    """

    site: Site | None = None

    def of(self, owner: Any) -> NumberKeyError:
        """The error, about this container."""
        if may_be_table(owner):
            self.site = getattr(owner, "site", None)
            self.container = None if self.site is not None else owner
        return self


def _sites() -> TableSites | None:
    build = current_builder()
    return None if build is None else build.table_sites


def here() -> Loc | None:
    """The line of the user's that makes a container now; None where no program is built."""
    if _sites() is None:
        return None
    frames = user_frames(3, limit=1)
    return frames[0] if frames else None


def may_be_table(owner: Any) -> bool:
    """Whether a table may be made in place of this container; not where that was no help."""
    sites = _sites()
    return sites is not None and not sites.is_off and isinstance(owner, (dict, set))


def is_table_site() -> bool:
    """Whether what is made now is to be a table."""
    sites = _sites()
    return sites is not None and bool(sites.known) and here() in sites.known
