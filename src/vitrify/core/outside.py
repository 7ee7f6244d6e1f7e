"""Refusing, while a program is built, what changes the state of training: it belongs between the runs of programs."""

from __future__ import annotations

from .errors import UnsupportedError
from .modes import recorder


def outside_programs(what: str, *, but_written: bool = False) -> None:
    """Refuse `what` while a program is being recorded: it would be done once then, and never when the program runs.

    but_written: let it pass where a program is written by hand, whose author means it to be done now.
    Raises UnsupportedError.
    """
    builder = recorder.get()
    if builder is not None and not (but_written and getattr(builder, "persistables", None) is not None):
        raise UnsupportedError(
            f"{what} cannot be part of a program yet",
            hint="call it outside the to_static function; the loss computed inside is differentiated as usual",
        )
