"""Programs that end in an exception: what eager code changes before it raises is changed by running it eagerly.

A program changes Python objects and the tensors it was given once it is through. One that raises has changed nothing
yet, so the function itself can run from the start: with the same random numbers, and without what is printed already.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from threading import get_ident
from typing import Any

from ..core.lazy import lazy_module
from ..core.rng import default_generator
from ..ir.program import Block

_MARK = "_vitrify_unfinished"
# Only what raises asks for it; a program that was loaded runs without what converts Python.
_told = lazy_module("vitrify.convert.guards.told")
_log_records = lazy_module("vitrify.eager.log_records")


class Unfinished:
    """A run of a program that an exception ended before its changes were done, or a trace, which does nothing at all.

    `block` is what ran, None for a trace; `state` that of the random numbers when it began; `printed` says how many
    characters it printed to which stream, and how many records it gave which logger.
    """

    def __init__(self, block: Block | None = None, state: Any = None, printed: Mapping[Any, int] | None = None) -> None:
        self._block = block
        self._state = state
        self._printed: Mapping[Any, int] = {} if printed is None else printed

    @property
    def is_of_trace(self) -> bool:
        """Whether no program ran: the exception ended a trace."""
        return self._block is None

    def mark(self, err: Exception) -> None:
        """Let `err` tell of this run, if it can be done again: nobody but the console was told of what it did."""
        if self._block is None or _told.is_repeatable(self._block):
            setattr(err, _MARK, self)

    @contextmanager
    def again(self) -> Iterator[None]:
        """Draw the same random numbers inside; what this thread printed or logged it does not print or log again."""
        if self._block is None:
            yield
            return
        if self._state is not None:
            default_generator().set_state(self._state)
        out, err = (self._printed.get(name, 0) for name in ("stdout", "stderr"))
        logged = {logger: count for logger, count in self._printed.items() if not isinstance(logger, str)}
        with redirect_stdout(_Muted(sys.stdout, out)), redirect_stderr(_Muted(sys.stderr, err)):
            if not logged:
                yield
                return
            with _log_records.dropping_records(logged):
                yield


def unfinished(err: Exception) -> Unfinished | None:
    """The run that `err` ended, if it has to be done again; asked once."""
    found: Unfinished | None = vars(err).pop(_MARK, None)
    return found


class _Muted(io.TextIOBase):
    """A stream that drops the first characters that one thread writes."""

    def __init__(self, stream: Any, count: int) -> None:
        self._stream = stream
        self._left = count
        self._thread = get_ident()

    def write(self, text: str) -> int:
        """Write what other threads say, and what was not said yet."""
        drop = min(self._left, len(text)) if get_ident() == self._thread else 0
        self._left -= drop
        if drop < len(text):
            self._stream.write(text[drop:])
        return len(text)

    def flush(self) -> None:
        """Flush the stream."""
        self._stream.flush()
