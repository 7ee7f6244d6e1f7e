"""Where arrays of NumPy's are made that a program must hold: learned from a trace that failed.

What a trace writes to an array of Python's is there at once, on all paths, and gone in the next run. Where an item is
known only when the program runs, or a tensor decides whether it is written, or random numbers are put into an array,
the next trace makes the array at that place a value of the program. Elsewhere arrays stay Python's, which costs less.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import UnsupportedError
from ...ir.builder import current_builder
from ..values.learned_sites import LearnedSites, line_here


class ArraySiteError(UnsupportedError):
    """An array of Python's is changed where a program must; `site`: where the trace made it, if it did."""

    site: Any = None

    def of(self, array: Any) -> ArraySiteError:
        """The error, about this array."""
        build = current_builder()
        while self.site is None and build is not None and isinstance(array, np.ndarray):
            self.site, array = build.made.site_of(array), array.base
        return self


class ArraySites(LearnedSites):
    """Where arrays are made as values of the program."""

    error = ArraySiteError


def ask_for_program(array: Any) -> None:
    """Raise ArraySiteError for an array that the trace made, if the next trace may make it one of the program."""
    build = current_builder()
    sites = None if build is None else build.array_sites
    if sites is None or sites.is_off or not isinstance(array, np.ndarray):
        return
    error = ArraySiteError(
        "an array of NumPy's is given what only a run of the program knows",
        hint="make a tensor of it, or convert with full_graph=False",
    ).of(array)
    if error.site is not None:
        raise error


def here() -> Any:
    """The line of the user's that makes an array now."""
    return line_here(3)


def is_array_site() -> bool:
    """Whether an array that is made now is to be one of the program."""
    build = current_builder()
    sites = None if build is None else build.array_sites
    return sites is not None and bool(sites.known) and here() in sites.known
