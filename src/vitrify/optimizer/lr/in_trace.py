"""Schedulers in traced code: they step when the program has run, and their rate is an input of it."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import partial
from typing import Any

from ...core.errors import UnsupportedError


def scheduled_rate(training: Any, scheduler: Any) -> Any:
    """The rate in force, as an input of the program."""
    calls = [(call.method, call.args, call.kwargs) for call in training.calls_of(scheduler)]
    read = partial(rate_after, scheduler, calls)
    return training.number((id(scheduler), "rate", len(calls)), f"{type(scheduler).__name__}()", read)


def rate_after(scheduler: Any, calls: Sequence[Any]) -> float:
    """The rate once these methods are called, which leave the scheduler itself alone."""
    if calls:
        scheduler = copy.deepcopy(scheduler)
        scheduler.verbose = False
    for method, args, kwargs in calls:
        getattr(scheduler, method)(*args, **kwargs)
    return float(scheduler())


def check_late_calls(training: Any, scheduler: Any) -> None:
    """Raise UnsupportedError where the rate depends on a call whose arguments only the run knows."""
    for call in training.calls_of(scheduler):
        if any(hasattr(value, "stop_gradient") for value in (*call.args, *call.kwargs.values())):
            raise UnsupportedError(
                f"the rate of {type(scheduler).__name__} after {call.method}() of a tensor in the same run",
                hint="step the scheduler behind the optimizer, at the end of the function",
            )
