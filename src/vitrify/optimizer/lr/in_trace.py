"""Schedulers in traced code: they step when the program has run. What they say meanwhile is found on copies of them.

Where it is known how often they have stepped, that is an input of the program, read before each run. Where a tensor
decides it, or a metric that the run computes does, the program asks when it gets there.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from ...core.errors import UnsupportedError
from ...core.lazy import lazy_module
from ...ir.graph_tensor import as_number
from ...ops.methods import TensorMethods

# The converter, which a trace has imported and eager training needs none of.
_calls, _host = lazy_module("vitrify.convert.host.calls"), lazy_module("vitrify.convert.host.value")

RATE = "()"
"""What stands for the rate in force among the names of attributes."""
_MOST_STEPS = 100_000  # of a run; samples of a count may be any number


def step_in_trace(training: Any, scheduler: Any, args: tuple[Any, ...]) -> None:
    """Let the scheduler step when the program has run; what it prints is printed where the program comes by."""
    training.after_run(scheduler, "_step_silently" if scheduler.verbose else "step", args, {})
    if scheduler.verbose:
        calls, count = _taken(training, scheduler)
        methods = [call.method for call in calls]
        _calls.call_later(partial(_report_after, scheduler, methods), count, *_taken_apart(calls))


def scheduled_rate(training: Any, scheduler: Any) -> Any:
    """The rate in force."""
    return said_in_trace(training, scheduler, RATE)


def said_in_trace(training: Any, scheduler: Any, name: str) -> Any:
    """What an attribute of the scheduler holds, or its rate is, after the steps traced so far."""
    calls, count = _taken(training, scheduler)
    methods = [call.method for call in calls]
    if not isinstance(count, TensorMethods) and not any(map(_is_of_run, calls)):
        read = partial(said_after, scheduler, name, methods, count, *[call.args for call in calls])
        label = f"{type(scheduler).__name__}.{name}"
        return training.number((id(scheduler), name, len(calls), count), label, read)
    found = _host.host_call(partial(said_after, scheduler, name, methods), count, *_taken_apart(calls))
    return as_number(found.tensor(in_full=True)) if isinstance(found, _host.HostValue) else found


def _taken(training: Any, scheduler: Any) -> tuple[Sequence[Any], Any]:
    """The steps that wait for the end of the run: those with what they are given, and how many come behind these."""
    return training.calls_of(scheduler), training.count_of(scheduler)


def _is_of_run(call: Any) -> bool:
    return any(isinstance(value, TensorMethods) for value in call.args)


def _taken_apart(calls: Sequence[Any]) -> list[Any]:
    """What calls are given, with what the run computes as NumPy's arrays of it."""
    return [tuple([_host.array_of(v) if isinstance(v, TensorMethods) else v for v in call.args]) for call in calls]


def said_after(scheduler: Any, name: str, methods: Sequence[str], count: int, *given: Any) -> Any:
    """What an attribute holds, or the rate is, once these methods are called, and `step` so many times more.

    The scheduler itself stays as it is.
    """
    if methods or count:
        scheduler = _after(scheduler, methods, count, given)
    found = scheduler() if name == RATE else scheduler.get_lr() if name == "get_lr" else getattr(scheduler, name)
    return float(found) if name in (RATE, "get_lr") else found


def _after(scheduler: Any, methods: Sequence[str], count: int, given: Sequence[Any]) -> Any:
    """A copy of a scheduler, once these methods are called, and `step` so many times more."""
    scheduler = copy.deepcopy(scheduler)
    scheduler.verbose = False
    for method, args in zip(methods, given):
        getattr(scheduler, method)(*args)
    for _ in range(min(int(count), _MOST_STEPS)):
        scheduler.step()
    return scheduler


def _report_after(scheduler: Any, methods: Sequence[str], count: int, *given: Any) -> None:
    """Print what the last of these steps prints."""
    moved = _after(scheduler, methods if count else methods[:-1], max(int(count) - 1, 0), given)
    moved.verbose = True
    moved.step(*(() if count else given[-1]))


def reading(training: Any, scheduler: Any, name: str, value: Any) -> Any:
    """What code reads as `scheduler.name`, which held `value` before the steps that wait for the end of the run.

    Raises UnsupportedError for what a program cannot tell.
    """
    is_ours = type(scheduler).get_lr.__module__.startswith("vitrify.")
    if name == "get_lr" and (is_ours or training.has_stepped(scheduler)):
        return partial(said_in_trace, training, scheduler, name)
    if name == "state_dict":
        return partial(_state, training, scheduler)
    if not training.has_stepped(scheduler) or name in ("step", "__call__", "__class__"):
        return value
    if type(value) in (int, float):
        return said_in_trace(training, scheduler, name)
    raise UnsupportedError(
        f"{name} is read after {type(scheduler).__name__}.step(), which is called when the program has run",
        hint="read it before, or outside of the function",
    )


def _state(training: Any, scheduler: Any) -> dict[str, Any]:
    held: Mapping[str, Any] = scheduler.state_dict()
    return {
        key: said_in_trace(training, scheduler, key) if type(value) in (int, float) else value
        for key, value in held.items()
    }
