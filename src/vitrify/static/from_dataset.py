"""Programs that run over a dataset: a batch at a time, with a line about what was fetched now and then."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..core.errors import ArgumentError, DTypeError

_Run = Callable[[Mapping[str, Any], list[Any]], list[Any]]


class Feeds(Protocol):
    """What can be gone through: `paddle.distributed.QueueDataset` and `InMemoryDataset`."""

    def feeds(self) -> Iterator[Mapping[str, Any]]:
        """Yield what is fed, batch by batch."""


@dataclass
class Watch:
    """What is shown of a run: fetched values with what they are called, and every how many batches.

    handler has `var_dict`, `period_secs` and `handler(values)`, which is called with the values of the variables when
    as many seconds have passed, as Paddle's FetchHandler.
    """

    fetches: list[Any]
    names: list[str]
    period: int
    handler: Any = None
    since: float = field(default_factory=time.monotonic)

    def wanted(self) -> list[Any]:
        """What is to be fetched."""
        return [*self.fetches, *(self.handler.var_dict.values() if self.handler else ())]

    def show(self, number: int, values: Sequence[Any]) -> None:
        """Print the values of a batch when it is its turn, and call the handler when it is time."""
        if self.fetches and number % self.period == 0:
            shown = [f"{name}[{value.size}]:[{_numbers(value)}]" for name, value in zip(self.names, values)]
            print(", ".join([f"time: [{time.strftime('%Y-%m-%d %H:%M:%S')}], batch: [{number}]", *shown]))
        if self.handler and time.monotonic() - self.since >= self.handler.period_secs:
            self.since = time.monotonic()
            self.handler.handler(dict(zip(self.handler.var_dict, values[len(self.fetches) :])))


def _numbers(value: Any) -> str:
    return " ".join(f"{number:g}" for number in np.asarray(value).reshape(-1).tolist())


def watch(fetch_list: Any, fetch_info: Any, print_period: int, handler: Any) -> Watch:
    """Return what to show; the names are those of the variables where `fetch_info` says none.

    Raises ArgumentError for another number of names than of variables, or a period below 1.
    """
    fetches = list(fetch_list or ())
    names = list(fetch_info or [value if isinstance(value, str) else value.name for value in fetches])
    if len(names) != len(fetches):
        raise ArgumentError(f"fetch_info has {len(names)} texts for {len(fetches)} variables of fetch_list")
    if print_period < 1:
        raise ArgumentError(f"print_period must be at least 1, got {print_period}")
    return Watch(fetches, names, print_period, handler)


def run_over(dataset: Feeds | None, run: _Run, watched: Watch, debug: bool) -> None:
    """Run every batch. debug: print how many there were, and in what time.

    Raises DTypeError unless `dataset` is one.
    """
    if dataset is None or not hasattr(dataset, "feeds"):
        raise DTypeError(
            f"dataset: expects a QueueDataset or InMemoryDataset, got {type(dataset).__name__}",
            hint="paddle.distributed.QueueDataset(); feed a DataLoader's batches to Executor.run",
        )
    start = time.perf_counter()
    number = 0
    for number, feed in enumerate(dataset.feeds(), 1):
        watched.show(number, run(feed, watched.wanted()))
    if debug:
        print(f"{number} batches in {time.perf_counter() - start:.3f} s")
