"""Datasets: samples by index, or one after the other; and datasets made of others."""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Generic, TypeVar

from ..core.errors import ArgumentError, DTypeError, IndexRangeError, UserCodeError
from ..core.modes import recorder, scoped
from ..ops.random import randperm

T = TypeVar("T")


class NoLengthError(UserCodeError, RuntimeError, ValueError, TypeError):
    """Something that is only iterated over was asked for its length or for one item.

    It is a TypeError too, so that `list(dataset)` takes it for a missing length hint and goes on.
    """


class Dataset(Generic[T]):
    """Samples by index: a subclass defines `__getitem__` and `__len__`. Source: paddle.io.Dataset.

    Example:
        >>> from vitrify.io import Dataset
        >>> class Squares(Dataset):
        ...     def __getitem__(self, index):
        ...         return index * index
        ...     def __len__(self):
        ...         return 4
        >>> Squares()[3]
        9
    """

    def __getitem__(self, idx: int) -> T:
        """The sample at `idx`."""
        raise NotImplementedError(f"{type(self).__name__} must define __getitem__")

    def __len__(self) -> int:
        """The number of samples."""
        raise NotImplementedError(f"{type(self).__name__} must define __len__")


class IterableDataset(Dataset[T]):
    """Samples one after the other: a subclass defines `__iter__`. Source: paddle.io.IterableDataset.

    With DataLoader workers each worker iterates over the whole dataset, unless `__iter__` takes its share as
    `get_worker_info()` says.

    Example:
        >>> from vitrify.io import IterableDataset
        >>> class Count(IterableDataset):
        ...     def __iter__(self):
        ...         return iter(range(3))
        >>> list(Count())
        [0, 1, 2]
    """

    def __iter__(self) -> Iterator[T]:
        """A new iterator over the samples."""
        raise NotImplementedError(f"{type(self).__name__} must define __iter__")

    def __getitem__(self, idx: int) -> T:
        """Not available; raises a RuntimeError."""
        raise NoLengthError(f"{type(self).__name__} is iterated over: it has no items by index")

    def __len__(self) -> int:
        """Not available; raises a RuntimeError."""
        raise NoLengthError(f"{type(self).__name__} is iterated over: it has no length")


class TensorDataset(Dataset[tuple[Any, ...]]):
    """Sample i is the tuple of row i of each tensor; raises ArgumentError unless they have equally many rows.

    Source: paddle.io.TensorDataset.

    Example:
        >>> import vitrify as paddle
        >>> data = paddle.io.TensorDataset([paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([0, 1])])
        >>> [part.tolist() for part in data[1]]
        [[3, 4], 1]
    """

    def __init__(self, tensors: Sequence[Any]) -> None:
        rows = [t.shape[0] for t in tensors]
        if not rows or any(n != rows[0] for n in rows):
            raise ArgumentError(f"TensorDataset: tensors must have the same number of rows, got {rows}")
        self.tensors = tensors

    def __getitem__(self, idx: int) -> tuple[Any, ...]:
        """Row `idx` of each tensor."""
        return tuple(t[idx] for t in self.tensors)

    def __len__(self) -> int:
        """The number of rows."""
        return int(self.tensors[0].shape[0])


def _not_empty(owner: str, datasets: Iterable[Any]) -> list[Any]:
    found = list(datasets)
    if not found:
        raise ArgumentError(f"{owner}: datasets must not be empty")
    return found


class ComposeDataset(Dataset[tuple[Any, ...]]):
    """Sample i is made of the fields of sample i of each dataset; raises ArgumentError unless lengths are equal.

    Source: paddle.io.ComposeDataset.

    Example:
        >>> from vitrify.io import ComposeDataset, Subset
        >>> ComposeDataset([Subset([1, 2], [0, 1]), Subset([3, 4], [0, 1])])[1]
        (2, 4)
    """

    def __init__(self, datasets: Sequence[Dataset[Any]]) -> None:
        self.datasets = _not_empty("ComposeDataset", datasets)
        lengths = [len(d) for d in self.datasets]
        if len(set(lengths)) != 1:
            raise ArgumentError(f"ComposeDataset: datasets must have the same length, got {lengths}")

    def __getitem__(self, idx: int) -> tuple[Any, ...]:
        """The fields of sample `idx` of each dataset."""
        fields: list[Any] = []
        for dataset in self.datasets:
            sample = dataset[idx]
            fields += sample if isinstance(sample, (list, tuple)) else [sample]
        return tuple(fields)

    def __len__(self) -> int:
        """The number of samples."""
        return len(self.datasets[0])


class ChainDataset(IterableDataset[Any]):
    """The samples of one iterable dataset after the other; raises DTypeError for others.

    Source: paddle.io.ChainDataset.

    Example:
        >>> from vitrify.io import ChainDataset, IterableDataset
        >>> class Count(IterableDataset):
        ...     def __iter__(self):
        ...         return iter(range(2))
        >>> list(ChainDataset([Count(), Count()]))
        [0, 1, 0, 1]
    """

    def __init__(self, datasets: Sequence[IterableDataset[Any]]) -> None:
        self.datasets = _not_empty("ChainDataset", datasets)
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise DTypeError(f"ChainDataset: expects IterableDatasets, got {type(dataset).__name__}")

    def __iter__(self) -> Iterator[Any]:
        """The samples of all datasets."""
        for dataset in self.datasets:
            yield from dataset


class ConcatDataset(Dataset[Any]):
    """The samples of the first dataset, then those of the second, and so on. Source: paddle.io.ConcatDataset.

    Raises ArgumentError for no datasets, DTypeError for iterable ones, IndexRangeError for an index outside.

    Example:
        >>> from vitrify.io import ConcatDataset
        >>> ConcatDataset([[1, 2], [3]])[2]
        3
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = _not_empty("ConcatDataset", datasets)
        if any(isinstance(d, IterableDataset) for d in self.datasets):
            raise DTypeError("ConcatDataset: expects datasets with a length, got an IterableDataset")
        self.cumulative_sizes = list(accumulate(len(d) for d in self.datasets))

    def __getitem__(self, idx: int) -> Any:
        """The sample at `idx` of all samples in order."""
        total = len(self)
        if not -total <= idx < total:
            raise IndexRangeError(f"ConcatDataset: index must be in [{-total}, {total}), got {idx}")
        idx %= total
        which = bisect.bisect_right(self.cumulative_sizes, idx)
        return self.datasets[which][idx - (self.cumulative_sizes[which - 1] if which else 0)]

    def __len__(self) -> int:
        """The number of samples of all datasets together."""
        return self.cumulative_sizes[-1]


class Subset(Dataset[T]):
    """The samples of `dataset` at `indices`. Source: paddle.io.Subset.

    Example:
        >>> from vitrify.io import Subset
        >>> Subset("abcd", [3, 0])[0]
        'd'
    """

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, idx: int) -> T:
        """The sample at `indices[idx]`."""
        sample: T = self.dataset[self.indices[idx]]
        return sample

    def __len__(self) -> int:
        """The number of indices."""
        return len(self.indices)


def drawn_order(count: int) -> list[int]:
    """The numbers below `count` as `randperm` puts them: now, in static mode too, where data are read as ever."""
    building = recorder.get()
    with scoped(recorder, building if getattr(building, "tracing", False) else None):
        order: list[int] = randperm(count).tolist()
    return order


def random_split(dataset: Any, lengths: Sequence[float], generator: Any | None = None) -> list[Subset[Any]]:
    """Subsets of `dataset` of the given lengths, or shares of it when they sum to 1, drawn without overlap.

    The order is that of `randperm`, so `paddle.seed` decides it; `generator` is not used. Raises ArgumentError unless
    lengths sum to the length of the dataset. Source: paddle.io.random_split.

    Example:
        >>> from vitrify.io import random_split
        >>> [len(part) for part in random_split(range(10), [0.7, 0.3])]
        [7, 3]
    """
    counts = _counts(len(dataset), lengths)
    if sum(counts) != len(dataset):
        raise ArgumentError(f"random_split: lengths {list(lengths)} must sum to the length {len(dataset)} or to 1")
    order = drawn_order(sum(counts))
    ends = list(accumulate(counts))
    return [Subset(dataset, order[end - count : end]) for end, count in zip(ends, counts)]


def _counts(total: int, lengths: Sequence[float]) -> list[int]:
    """Lengths as counts: shares are rounded down, and the rest goes round one by one."""
    if not math.isclose(sum(lengths), 1) or sum(lengths) == total == 1:
        return [int(n) for n in lengths]
    if any(not 0 <= share <= 1 for share in lengths):
        raise ArgumentError(f"random_split: shares must be in [0, 1], got {list(lengths)}")
    counts = [math.floor(total * share) for share in lengths]
    for i in range(total - sum(counts)):
        counts[i % len(counts)] += 1
    return counts
