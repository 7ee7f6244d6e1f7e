"""Errors of this package; each says who must act (see `core.errors`)."""

from __future__ import annotations

from ..core.errors import UnsupportedError


class NoSourceError(UnsupportedError):
    """The source text of a function is not available, so it cannot be converted."""


class UnsupportedFunctionError(UnsupportedError):
    """A function of a kind that is never converted: generator, coroutine, async generator."""
