"""Naming what a user may have meant."""

from __future__ import annotations

from collections.abc import Iterable

from .lazy import lazy_module

_difflib = lazy_module("difflib")  # imported where something is wrong


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A question that names the known names most like `name`; None when none is like it.

    >>> did_you_mean("imgae", ["image", "label"])
    "did you mean 'image'?"
    """
    found = _difflib.get_close_matches(name, list(known), n=2)
    return f"did you mean {' or '.join(map(repr, found))}?" if found else None
