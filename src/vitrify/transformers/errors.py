"""Errors of this package; each says who must act (see `core.errors`)."""

from __future__ import annotations

from ..core.errors import UnsupportedError
from .nodes import Node


class NoSourceError(UnsupportedError):
    """The source text of a function is not available, so it cannot be converted."""


class UnsupportedFunctionError(UnsupportedError):
    """A function of a kind that is never converted: generator, coroutine, async generator."""


class Refusal(Exception):
    """Raised by a transformer for a node that cannot be converted; the pipeline makes it an UnsupportedError.

    Transformers know nodes, not files, so the location is filled in where the file is known.
    """

    def __init__(self, message: str, *, node: Node, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.node = node
        self.hint = hint
