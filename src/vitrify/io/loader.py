"""DataLoader: iterating over a dataset in batches of Tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

from ..core.errors import ArgumentError
from ..core.place import as_place, current_place
from .collate import as_tensors, default_collate_fn
from .dataset import IterableDataset, NoLengthError
from .sampler import BatchSampler
from .timing import timed
from .workers import DONE, Worker, WorkerInfo, in_turn

Task = Callable[[], Any]


class DataLoader:
    """Iterates over `dataset` in batches, each a list (or dict) of Tensors.

    batch_size, shuffle, drop_last: how batches are made, or batch_sampler instead of them. batch_size None: samples
    are taken as they are. collate_fn: makes a batch of a list of samples (`default_collate_fn` by default).
    num_workers: threads that make batches ahead, in order, prefetch_factor batches each; 0 makes each batch when it
    is asked for. Workers are threads, not processes: NumPy and file reading run in parallel, pure Python does not, and
    nothing needs to be picklable. What a worker raises is raised by the loop. timeout: seconds to wait for a batch, 0
    for ever. worker_init_fn(id): called first in each worker. places: where the Tensors go, the current place by
    default. feed_list, return_list, use_buffer_reader, reader_buffer_size, use_shared_memory and persistent_workers
    are accepted for Paddle's sake and change nothing. Raises ArgumentError for arguments that exclude each other.
    Source: paddle.io.DataLoader.

    Example:
        >>> import vitrify as paddle
        >>> data = paddle.io.TensorDataset([paddle.arange(5)])
        >>> [batch[0].tolist() for batch in paddle.io.DataLoader(data, batch_size=2)]
        [[0, 1], [2, 3], [4]]
    """

    def __init__(
        self,
        dataset: Any,
        feed_list: Any = None,
        places: Any = None,
        return_list: bool = True,
        batch_sampler: Any = None,
        batch_size: int | None = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        num_workers: int = 0,
        use_buffer_reader: bool = True,
        reader_buffer_size: int = 2,
        prefetch_factor: int = 2,
        use_shared_memory: bool = True,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        persistent_workers: bool = False,
    ) -> None:
        self.dataset = dataset
        self.collate_fn = collate_fn
        self.num_workers = _not_negative("num_workers", num_workers)
        self.prefetch_factor = max(1, prefetch_factor)
        self.timeout = _not_negative("timeout", timeout)
        self.worker_init_fn = worker_init_fn
        self.return_list = return_list
        self.places = places if places is None or isinstance(places, (list, tuple)) else [places]
        if isinstance(dataset, IterableDataset):
            _check_iterable(shuffle, batch_sampler)
        self.batch_sampler = _sampler(dataset, batch_sampler, batch_size, shuffle, drop_last)
        self.batch_size = getattr(self.batch_sampler, "batch_size", batch_size)
        self.drop_last = drop_last

    def __len__(self) -> int:
        """The number of batches; raises a ValueError for an IterableDataset."""
        if isinstance(self.dataset, IterableDataset):
            raise NoLengthError("DataLoader: an IterableDataset has no length")
        return len(self.dataset if self.batch_sampler is None else self.batch_sampler)

    def __call__(self) -> Iterator[Any]:
        """A new iterator over the batches."""
        return iter(self)

    def __iter__(self) -> Iterator[Any]:
        """A new iterator over the batches."""
        batches = self._by_caller() if self.num_workers == 0 else self._with_workers()
        return timed(batches)

    def _by_caller(self) -> Iterator[Any]:
        return (batch for task in self._tasks() if (batch := task()) is not DONE)

    def _with_workers(self) -> Iterator[Any]:
        count = self.num_workers
        workers = [Worker(WorkerInfo(i, count, self.dataset), self.worker_init_fn) for i in range(count)]
        tasks = self._each_workers_tasks() if isinstance(self.dataset, IterableDataset) else self._tasks()
        try:
            yield from in_turn(workers, tasks, count * self.prefetch_factor, self.timeout or None)
        finally:
            for worker in workers:
                worker.stop()

    # -- tasks: each makes one batch ----------------------------------------------------------------------------------

    def _tasks(self) -> Iterator[Task]:
        """Functions that make the batches of one epoch, in order."""
        if isinstance(self.dataset, IterableDataset):
            return _until_done(_Batches(self))
        if self.batch_sampler is None:
            return (partial(self._sample, i) for i in range(len(self.dataset)))
        return (partial(self._batch, indices) for indices in self.batch_sampler)

    def _each_workers_tasks(self) -> Iterator[Task]:
        """For an IterableDataset: the batches of each worker's own iterator in turn."""
        running = [_Batches(self) for _ in range(self.num_workers)]
        while any(not batches.done for batches in running):
            yield from running

    def _batch(self, indices: list[int]) -> Any:
        return self.collated([self.dataset[i] for i in indices])

    def _sample(self, index: int) -> Any:
        return self.converted(self.dataset[index])

    def collated(self, samples: list[Any]) -> Any:
        """One batch of Tensors, made of samples."""
        collate = self.collate_fn
        if collate is None:
            return as_tensors(default_collate_fn(samples), self._place(), fresh=True)
        return as_tensors(collate(samples), self._place(), fresh=False)

    def converted(self, sample: Any) -> Any:
        """A sample that is a batch already, as Tensors."""
        return as_tensors(sample if self.collate_fn is None else self.collate_fn(sample), self._place(), fresh=False)

    def _place(self) -> Any:
        return current_place() if not self.places else as_place(self.places[0])


class _Batches:
    """The batches of one iterator over an IterableDataset, one a call, then DONE."""

    def __init__(self, loader: DataLoader) -> None:
        self._loader = loader
        self._samples: Iterator[Any] | None = None
        self.done = False

    def __call__(self) -> Any:
        if self._samples is None:  # made here, so that it is the worker that runs the dataset's __iter__
            self._samples = iter(self._loader.dataset)
        size = self._loader.batch_size
        samples = list(islice(self._samples, size or 1))
        if not samples or (size is not None and len(samples) < size and self._loader.drop_last):
            self.done = True
            return DONE
        return self._loader.converted(samples[0]) if size is None else self._loader.collated(samples)


def _until_done(batches: _Batches) -> Iterator[Task]:
    while not batches.done:
        yield batches


def _not_negative(name: str, value: Any) -> Any:
    if value < 0:
        raise ArgumentError(f"DataLoader: {name} must not be negative, got {value}")
    return value


def _check_iterable(shuffle: bool, batch_sampler: Any) -> None:
    if shuffle:
        raise ArgumentError("DataLoader: an IterableDataset cannot be shuffled", hint="shuffle inside its __iter__")
    if batch_sampler is not None:
        raise ArgumentError("DataLoader: an IterableDataset takes no batch_sampler")


def _sampler(dataset: Any, batch_sampler: Any, batch_size: int | None, shuffle: bool, drop_last: bool) -> Any:
    """The batch sampler that the arguments ask for, or None; raises ArgumentError when they exclude each other."""
    if batch_sampler is not None:
        if batch_size != 1 or shuffle or drop_last:
            raise ArgumentError("DataLoader: batch_size, shuffle and drop_last cannot be given with batch_sampler")
        return batch_sampler
    if batch_size is None or isinstance(dataset, IterableDataset):
        if batch_size is not None and batch_size <= 0:
            raise ArgumentError(f"DataLoader: batch_size must be positive or None, got {batch_size}")
        return None
    return BatchSampler(dataset, shuffle=shuffle, batch_size=batch_size, drop_last=drop_last)
