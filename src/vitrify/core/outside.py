"""What changes the state of training happens between the runs of programs, not in them."""

from __future__ import annotations

from .errors import UnsupportedError
from .modes import recorder


def outside_programs(what: str) -> None:
    """Refuse `what` while a program is being recorded: it would be done once then, and never when the program runs.

    Raises UnsupportedError.
    """
    if recorder.get() is not None:
        raise UnsupportedError(
            f"{what} cannot be part of a program yet",
            hint="call it outside the to_static function; the loss computed inside is differentiated as usual",
        )
