"""Failures of our own while a function is traced: the function runs all the same, and whoever runs it is told."""

from __future__ import annotations

import warnings
from pathlib import PurePath

from ..convert.values.user_errors import is_internal
from ..core.source import innermost_user_loc, user_stacklevel


class FaultWarning(UserWarning):
    """vitrify failed while it traced a function that runs eagerly: part of it runs as Python, with right results."""


def fault(err: BaseException) -> str | None:
    """What is to be said of a failed trace that is a fault of ours; None where it refused what it cannot do.

    Only of a function that runs eagerly: else the error is the user's own.
    """
    if not is_internal(err):
        return None
    tb = err.__traceback__
    while tb is not None and tb.tb_next is not None:
        tb = tb.tb_next
    assert tb is not None
    place = f"{PurePath(tb.tb_frame.f_code.co_filename).name}:{tb.tb_lineno}"
    return f"vitrify failed while tracing it, which is a fault of vitrify: {type(err).__name__}: {err} ({place})"


def warn_of_fault(name: str, err: BaseException) -> bool:
    """Warn if a failed trace of the function `name`, which runs eagerly, is a fault of ours; whether it is."""
    said = fault(err)
    if said is None:
        return False
    loc = innermost_user_loc(err.__traceback__)
    where = "" if loc is None else f"\n  {loc.report()}"
    warnings.warn(
        f"to_static: {name} runs as Python, or in segments, with the same results: {said}{where}\n  please report it; "
        "to_static(full_graph=True) with VITRIFY_DEBUG=1 shows the whole traceback",
        FaultWarning,
        stacklevel=user_stacklevel(),
    )
    return True


def release_frames(err: BaseException) -> None:
    """Let go of the frames that an exception and those before it passed: they hold what callers have in variables.

    A generator of theirs, say, is then closed where eager code does it.
    """
    passed: BaseException | None = err
    while passed is not None:
        passed.__traceback__ = None
        passed = passed.__cause__ or passed.__context__
