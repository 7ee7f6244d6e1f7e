"""Programs that end in an exception: what eager code changes before it raises is changed by running it after all.

A program changes Python objects and the tensors it was given once it is through. One that raises has changed nothing
yet, so the function itself can run from the start: with the same random numbers, and without what is printed already.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from threading import get_ident
from typing import Any

from ..convert.guards.told import is_repeatable
from ..core.rng import default_generator
from ..ir.program import Block

_MARK = "_vitrify_unfinished"


class Unfinished:
    """A run of a program that an exception ended before its changes were done, or a trace, which does nothing at all.

    `block` is what ran, None for a trace; `state` that of the random numbers when it began.
    """

    def __init__(self, block: Block | None = None, state: Any = None) -> None:
        self._block = block
        self._state = state

    def mark(self, err: Exception) -> None:
        """Let `err` tell of this run, if it can be done again: nobody but the console was told of what it did."""
        if self._block is None or is_repeatable(self._block):
            setattr(err, _MARK, self)

    @contextmanager
    def again(self) -> Iterator[None]:
        """Draw the same random numbers inside; what this thread printed it does not print again."""
        if self._block is None:
            yield
            return
        if self._state is not None:
            default_generator().set_state(self._state)
        with redirect_stdout(_Muted(sys.stdout)), redirect_stderr(_Muted(sys.stderr)):
            yield


def unfinished(err: Exception) -> Unfinished | None:
    """The run that `err` ended, if it has to be done again; asked once."""
    found: Unfinished | None = vars(err).pop(_MARK, None)
    return found


class _Muted(io.TextIOBase):
    """A stream that drops what one thread writes."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._thread = get_ident()

    def write(self, text: str) -> int:
        """Write what other threads say."""
        if get_ident() != self._thread:
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush the stream."""
        self._stream.flush()
