"""DataLoader: iterating over a dataset in batches of Tensors."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import Any
from weakref import finalize

from ..core.dispatch import in_dynamic_mode
from ..core.errors import ArgumentError
from ..core.place import as_place, current_place
from ..core.sequences import as_list
from .collate import as_tensors
from .dataset import IterableDataset, NoLengthError
from .fetching import DONE, Fetcher
from .processes import Plan, WorkerPool
from .sampler import BatchSampler
from .timing import timed


class DataLoader:
    """Iterates over `dataset` in batches, each a list (or dict) of Tensors.

    batch_size, shuffle, drop_last: how batches are made, or batch_sampler instead of them. batch_size None: samples
    are taken as they are. collate_fn: makes a batch of a list of samples (`default_collate_fn` by default).
    num_workers: processes that make batches ahead, in order, prefetch_factor batches each; 0 makes each batch when it
    is asked for. Batches come back through shared memory if use_shared_memory. What a worker raises is raised by the
    loop, as the same class, with the worker's traceback in a note; a worker that is killed raises a RuntimeError.
    timeout: seconds to wait for a batch, 0 for ever. worker_init_fn(id): called first in each worker. Random numbers of
    workers (NumPy's, Python's and vitrify's) are seeded from the caller's generators. persistent_workers: they stay for
    the next loop. Processes start by a fork on Linux, where nothing needs to be picklable, or in the way chosen by
    `multiprocessing.set_start_method`. places: where the Tensors go, the current place by default. return_list: False
    gives [a dict from the names of `feed_list` to Tensors], which an Executor takes as its feed; eager code without
    `feed_list` gets lists. use_buffer_reader and
    reader_buffer_size are accepted for Paddle's sake and change nothing. Raises ArgumentError for arguments that
    exclude each other. Source: paddle.io.DataLoader.

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
        self.prefetch_factor = _positive("prefetch_factor", prefetch_factor)
        self.timeout = _not_negative("timeout", timeout)
        self.worker_init_fn = worker_init_fn
        self.return_list = return_list
        self._names = None if return_list else _names_of(feed_list)
        self.use_shared_memory = use_shared_memory
        self.persistent_workers = persistent_workers
        self.places = places if places is None or isinstance(places, (list, tuple)) else [places]
        if isinstance(dataset, IterableDataset):
            _check_iterable(shuffle, batch_sampler)
        self.batch_sampler = _sampler(dataset, batch_sampler, batch_size, shuffle, drop_last)
        self.batch_size = getattr(self.batch_sampler, "batch_size", batch_size)
        self.drop_last = drop_last
        batched = self.batch_sampler is not None
        self._fetcher = Fetcher(dataset, collate_fn, self.batch_size, drop_last, batched)
        self._pool: WorkerPool | None = None

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
        with closing(self._by_caller() if self.num_workers == 0 else self._by_workers()) as batches:
            # Ctrl-C that comes between two batches would leave `batches`, and the workers, to the traceback's end.
            for batch in timed(as_tensors(batch, self._place(), fresh) for batch, fresh in batches):
                yield batch if self._names is None else _by_name(self._names, batch)

    # -- batches, and whether nobody else holds their arrays -----------------------------------------------------------

    def _by_caller(self) -> Generator[tuple[Any, bool], None, None]:
        make = self._fetcher.start()
        fresh = self.collate_fn is None and self._fetcher.batched
        for task in self._fetcher.tasks(self.batch_sampler):
            batch = make(task)
            if batch is DONE:
                return
            yield batch, fresh

    def _by_workers(self) -> Generator[tuple[Any, bool], None, None]:
        kept = self._pool
        pool = kept if kept is not None and not kept.busy else WorkerPool(self._plan())
        if self.persistent_workers and kept is None:
            self._pool = kept = pool
            finalize(self, pool.stop)
        try:
            for batch in pool.batches(self._fetcher.tasks(self.batch_sampler)):
                yield batch, True
        except GeneratorExit:
            raise
        except BaseException:  # an answer may have been read in part: these workers are no more use
            if pool is kept:
                self._pool = None
            pool.stop()
            raise
        finally:
            if pool is not kept:
                pool.stop()

    def _plan(self) -> Plan:
        return Plan(
            self._fetcher,
            self.num_workers,
            self.prefetch_factor,
            self.timeout,
            self.worker_init_fn,
            self.use_shared_memory,
        )

    def _place(self) -> Any:
        return current_place() if not self.places else as_place(self.places[0])


def _not_negative(name: str, value: Any) -> Any:
    if value < 0:
        raise ArgumentError(f"DataLoader: {name} must not be negative, got {value}")
    return value


def _positive(name: str, value: int) -> int:
    if value <= 0:
        raise ArgumentError(f"DataLoader: {name} must be positive, got {value}")
    return value


def _names_of(feed_list: Any) -> list[str] | None:
    """The names of the variables that the batches are fed to; None in eager mode, where lists are all there is."""
    if not feed_list and in_dynamic_mode():
        return None
    if not feed_list:
        raise ArgumentError("DataLoader: return_list=False needs feed_list, the variables of a program to feed")
    return [var if isinstance(var, str) else var.name for var in feed_list]


def _by_name(names: list[str], batch: Any) -> list[dict[str, Any]]:
    parts = as_list(batch)
    if len(parts) != len(names):
        raise ArgumentError(f"DataLoader: a batch has {len(parts)} parts, feed_list has {len(names)} variables")
    return [dict(zip(names, parts))]


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
