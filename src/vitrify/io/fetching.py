"""Making batches, in the caller's process or a worker's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice, repeat
from typing import Any

from .collate import default_collate_fn, default_convert_fn
from .dataset import IterableDataset

DONE = object()
"""What an iterable dataset gives when it has no more batches."""


@dataclass(frozen=True)
class Fetcher:
    """How a batch is made: from which dataset, of how many samples, put together by what. Batches hold arrays."""

    dataset: Any
    collate_fn: Callable[..., Any] | None
    batch_size: int | None
    drop_last: bool
    batched: bool

    @property
    def iterable(self) -> bool:
        """Whether the dataset itself says which sample is next."""
        return isinstance(self.dataset, IterableDataset)

    def tasks(self, batch_sampler: Any) -> Iterator[Any]:
        """What to make, batch after batch: indices, one index, or None for whatever comes next."""
        if self.iterable:
            return repeat(None)
        return iter(range(len(self.dataset)) if batch_sampler is None else batch_sampler)

    def start(self) -> Callable[[Any], Any]:
        """A function that makes the batch of a task, for one epoch."""
        return _Batches(self) if self.iterable else self._of_indices

    def _of_indices(self, task: Any) -> Any:
        if self.batched:
            return self.collated([self.dataset[i] for i in task])
        return self.converted(self.dataset[task])

    def collated(self, samples: list[Any]) -> Any:
        """One batch, made of samples."""
        return (self.collate_fn or default_collate_fn)(samples)

    def converted(self, sample: Any) -> Any:
        """A sample that is a batch already."""
        return (self.collate_fn or default_convert_fn)(sample)


class _Batches:
    """The batches of one iterator over an IterableDataset, one a call, then DONE."""

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher
        self._samples: Iterator[Any] | None = None

    def __call__(self, task: Any) -> Any:
        fetcher = self._fetcher
        if self._samples is None:  # made here, so that it is the worker that runs the dataset's __iter__
            self._samples = iter(fetcher.dataset)
        size = fetcher.batch_size
        samples = list(islice(self._samples, size or 1))
        if not samples or (size is not None and len(samples) < size and fetcher.drop_last):
            return DONE
        return fetcher.converted(samples[0]) if size is None else fetcher.collated(samples)
