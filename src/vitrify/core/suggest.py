"""Naming what a user may have meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A question that names the known names most like `name`; None when none is like it.

    >>> did_you_mean("imgae", ["image", "label"])
    "did you mean 'image'?"
    """
    found = get_close_matches(name, list(known), n=2)
    return f"did you mean {' or '.join(map(repr, found))}?" if found else None
