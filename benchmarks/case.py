"""What a workload gives the worker: one step to repeat, and how to look at its result."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


def _nothing(result: Any) -> None:
    """Wait for nothing: the step is done when it returns."""


@dataclass(frozen=True)
class Case:
    """A workload in one framework, built and ready to run.

    `step` does the work once; `value` turns its result into a number that must agree between frameworks; `sync` waits
    until a result is there, where a step returns before its work is done.
    """

    step: Callable[[], Any]
    value: Callable[[Any], float]
    sync: Callable[[Any], object] = _nothing
