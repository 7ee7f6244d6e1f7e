"""Samplers: in which order, and in which batches, the samples of a dataset are taken."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Iterator, Sequence, Sized
from typing import Any

import numpy as np

from ..core.errors import ArgumentError, DTypeError
from .dataset import IterableDataset, drawn_order


class Sampler:
    """Base of the samplers: a subclass defines `__iter__` over indices. Source: paddle.io.Sampler.

    Example:
        >>> from vitrify.io import Sampler
        >>> class Backwards(Sampler):
        ...     def __iter__(self):
        ...         return reversed(range(len(self.data_source)))
        >>> list(Backwards("abc"))
        [2, 1, 0]
    """

    def __init__(self, data_source: Sized | None = None) -> None:
        self.data_source: Any = data_source

    def __iter__(self) -> Iterator[Any]:
        """The indices."""
        raise NotImplementedError(f"{type(self).__name__} must define __iter__")


class SequenceSampler(Sampler):
    """0, 1, 2, ... Source: paddle.io.SequenceSampler.

    Example:
        >>> from vitrify.io import SequenceSampler
        >>> list(SequenceSampler("abc"))
        [0, 1, 2]
    """

    def __iter__(self) -> Iterator[int]:
        """The indices."""
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        """How many indices there are."""
        return len(self.data_source)


class RandomSampler(Sampler):
    """Indices in random order, drawn from NumPy's global generator, as Paddle does.

    replacement: draw each independently. num_samples: how many, all by default. generator: an iterator of indices to
    take them from instead. Raises DTypeError and ArgumentError for arguments out of range.
    Source: paddle.io.RandomSampler.

    Example:
        >>> from vitrify.io import RandomSampler
        >>> sorted(RandomSampler("abc"))
        [0, 1, 2]
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator[int, None, None] | None = None,
    ) -> None:
        super().__init__(data_source)
        if not isinstance(replacement, bool):
            raise DTypeError(f"RandomSampler: replacement must be a bool, got {type(replacement).__name__}")
        total = len(data_source)
        if num_samples is not None and (not isinstance(num_samples, int) or num_samples <= 0):
            raise ArgumentError(f"RandomSampler: num_samples must be a positive integer, got {num_samples}")
        if num_samples is not None and num_samples > total and not replacement:
            raise ArgumentError(
                f"RandomSampler: num_samples must not exceed the {total} samples without replacement, got {num_samples}"
            )
        self.replacement = replacement
        self.generator = generator
        self._num_samples = num_samples

    @property
    def num_samples(self) -> int:
        """How many indices are drawn."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        """The indices."""
        total, count = len(self.data_source), self.num_samples
        if self.generator is not None:
            return (index for _, index in zip(range(count), self.generator))
        drawn = (
            np.random.choice(total, count, replace=True) if self.replacement else np.random.permutation(total)[:count]
        )
        return iter(drawn.tolist())

    def __len__(self) -> int:
        """How many indices are drawn."""
        return self.num_samples


class WeightedRandomSampler(Sampler):
    """`num_samples` indices drawn with probabilities in proportion to `weights`, from NumPy's global generator.

    Raises ArgumentError unless weights are a 1-D list of numbers that are not negative, not all 0, and enough for
    drawing without replacement. Source: paddle.io.WeightedRandomSampler.

    Example:
        >>> from vitrify.io import WeightedRandomSampler
        >>> list(WeightedRandomSampler([0.0, 1.0], num_samples=2))
        [1, 1]
    """

    def __init__(self, weights: Any, num_samples: int, replacement: bool = True) -> None:
        super().__init__()
        if not isinstance(num_samples, int) or num_samples <= 0:
            raise ArgumentError(f"WeightedRandomSampler: num_samples must be a positive integer, got {num_samples}")
        if not isinstance(replacement, bool):
            raise DTypeError(f"WeightedRandomSampler: replacement must be a bool, got {type(replacement).__name__}")
        self.weights = _probabilities(weights)
        self.num_samples = num_samples
        self.replacement = replacement
        possible = int(np.count_nonzero(self.weights))
        if not replacement and num_samples > possible:
            raise ArgumentError(
                f"WeightedRandomSampler: without replacement at most {possible} can be drawn, got {num_samples}"
            )

    def __iter__(self) -> Iterator[int]:
        """The indices."""
        return iter(np.random.choice(len(self.weights), self.num_samples, self.replacement, self.weights).tolist())

    def __len__(self) -> int:
        """How many indices are drawn."""
        return self.num_samples


def _probabilities(weights: Any) -> Any:
    array = np.asarray(weights, np.float64)
    if array.ndim != 1 or (array < 0).any() or not 0 < array.sum() < np.inf:
        raise ArgumentError(
            f"WeightedRandomSampler: weights must be a list of numbers, none negative and not all 0, got {weights}"
        )
    return array / array.sum()


class SubsetRandomSampler(Sampler):
    """The given indices in the order of `randperm`, which `paddle.seed` decides. Source: paddle.io.SubsetRandomSampler.

    Example:
        >>> from vitrify.io import SubsetRandomSampler
        >>> sorted(SubsetRandomSampler([7, 5]))
        [5, 7]
    """

    def __init__(self, indices: Sequence[int]) -> None:
        super().__init__()
        if len(indices) == 0:
            raise ArgumentError("SubsetRandomSampler: indices must not be empty")
        self.indices = indices

    def __iter__(self) -> Iterator[int]:
        """The indices."""
        return (self.indices[i] for i in drawn_order(len(self.indices)))

    def __len__(self) -> int:
        """How many indices there are."""
        return len(self.indices)


def _positive(owner: str, batch_size: Any) -> int:
    if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
        raise ArgumentError(f"{owner}: batch_size must be a positive integer, got {batch_size}")
    return batch_size


def _flag(owner: str, name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise DTypeError(f"{owner}: {name} must be a bool, got {type(value).__name__}")
    return value


class BatchSampler(Sampler):
    """Lists of `batch_size` indices: of a dataset, in order or shuffled, or of a sampler.

    drop_last: leave out a last batch that is not full. Raises ArgumentError unless exactly one of dataset and sampler
    is given. Source: paddle.io.BatchSampler.

    Example:
        >>> from vitrify.io import BatchSampler
        >>> list(BatchSampler("abcde", batch_size=2))
        [[0, 1], [2, 3], [4]]
    """

    def __init__(
        self,
        dataset: Sized | None = None,
        sampler: Any = None,
        shuffle: bool = False,
        batch_size: int = 1,
        drop_last: bool = False,
    ) -> None:
        super().__init__(dataset)
        if (dataset is None) == (sampler is None):
            raise ArgumentError("BatchSampler: give either dataset or sampler")
        if isinstance(dataset, IterableDataset):
            raise DTypeError("BatchSampler: dataset must have a length, got an IterableDataset")
        if not isinstance(shuffle, bool):
            raise DTypeError(f"BatchSampler: shuffle must be a bool, got {type(shuffle).__name__}")
        if sampler is not None:
            if not isinstance(sampler, Iterable):
                raise DTypeError(f"BatchSampler: sampler must be iterable, got {type(sampler).__name__}")
            if shuffle:
                raise ArgumentError("BatchSampler: shuffle is decided by the sampler", hint="use a RandomSampler")
        elif dataset is not None:
            sampler = RandomSampler(dataset) if shuffle else SequenceSampler(dataset)
        self.sampler = sampler
        self.shuffle = shuffle
        self.batch_size = _positive("BatchSampler", batch_size)
        self.drop_last = _flag("BatchSampler", "drop_last", drop_last)

    def __iter__(self) -> Iterator[list[int]]:
        """The batches."""
        batch: list[int] = []
        for index in self.sampler:
            batch.append(index)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self) -> int:
        """How many batches there are."""
        count = len(self.sampler)
        return count // self.batch_size if self.drop_last else math.ceil(count / self.batch_size)


class DistributedBatchSampler(BatchSampler):
    """The batches of one process out of `num_replicas`, which share a dataset without overlap.

    The dataset is filled up with its own first samples so that every process has equally many. shuffle: the order
    depends on the epoch (`set_epoch`) alone, so that all processes agree. Without num_replicas and rank it is one
    process out of one. Source: paddle.io.DistributedBatchSampler.

    Example:
        >>> from vitrify.io import DistributedBatchSampler
        >>> list(DistributedBatchSampler("abcde", 2, num_replicas=2, rank=1))
        [[2, 3], [0]]
    """

    def __init__(
        self,
        dataset: Sized,
        batch_size: int,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = False,
        drop_last: bool = False,
    ) -> None:
        super().__init__(dataset, None, _flag("DistributedBatchSampler", "shuffle", shuffle), batch_size, drop_last)
        self.dataset = dataset
        self.nranks = 1 if num_replicas is None else _positive("DistributedBatchSampler", num_replicas)
        self.local_rank = 0 if rank is None else rank
        if not 0 <= self.local_rank < self.nranks:
            raise ArgumentError(f"DistributedBatchSampler: rank must be in [0, {self.nranks}), got {rank}")
        self.epoch = 0
        self.num_samples = math.ceil(len(dataset) / self.nranks)
        self.total_size = self.num_samples * self.nranks

    def __iter__(self) -> Iterator[list[int]]:
        """The batches of this process."""
        order = np.resize(np.arange(len(self.dataset)), self.total_size)
        if self.shuffle:
            np.random.RandomState(self.epoch).shuffle(order)
            self.epoch += 1
        self.sampler = self._share(order).tolist()
        return super().__iter__()

    def _share(self, order: Any) -> Any:
        """This process's indices: whole batches in turn, and an equal share of what is left over."""
        turn = self.batch_size * self.nranks
        whole = len(order) // turn * turn
        mine = order[:whole].reshape(-1, self.nranks, self.batch_size)[:, self.local_rank].reshape(-1)
        rest = order[whole:]
        each = len(rest) // self.nranks
        return np.concatenate([mine, rest[self.local_rank * each : (self.local_rank + 1) * each]])

    def __len__(self) -> int:
        """How many batches this process has."""
        full = self.num_samples // self.batch_size
        return full if self.drop_last else math.ceil(self.num_samples / self.batch_size)

    def set_epoch(self, epoch: int) -> None:
        """Shuffle for this epoch next; every process calls it with the same number."""
        self.epoch = epoch
