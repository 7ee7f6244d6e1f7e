"""Where dicts and sets are made that get keys which only a run knows: learned from a trace that failed.

The next trace makes a `GraphTable` there, which costs more for each key, and so is made nowhere else. The place of one
that a call is given is that among its arguments; for one that the user's state holds a table stands in.
"""

from __future__ import annotations

from typing import Any

from ...core.source import Loc
from ...ir.builder import current_builder
from ..values.foreign import ForeignError
from ..values.learned_sites import LearnedSites, line_here

Site = Any  # Loc | Argument


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


class TableSites(LearnedSites):
    """Where dicts and sets are made as tables."""

    error = NumberKeyError


def _sites() -> TableSites | None:
    build = current_builder()
    return None if build is None else build.table_sites


def here() -> Loc | None:
    """The line of the user's that makes a container now; None where no program is built."""
    return None if _sites() is None else line_here(3)


def may_be_table(owner: Any) -> bool:
    """Whether a table may be made in place of this container; not where that was no help."""
    sites = _sites()
    return sites is not None and not sites.is_off and isinstance(owner, (dict, set))


def is_table_site() -> bool:
    """Whether what is made now is to be a table."""
    sites = _sites()
    return sites is not None and bool(sites.known) and here() in sites.known
