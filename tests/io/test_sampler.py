"""Samplers give the indices that Paddle's give, and say what is wrong with their arguments."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.io import (
    BatchSampler,
    DistributedBatchSampler,
    IterableDataset,
    RandomSampler,
    Sampler,
    SequenceSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
    random_split,
)


def test_sequence_and_base():
    assert (list(SequenceSampler("abc")), len(SequenceSampler("abc"))) == ([0, 1, 2], 3)
    with pytest.raises(NotImplementedError, match="__iter__"):
        iter(Sampler())


def test_random_draws_from_numpys_generator():
    np.random.seed(0)
    found = list(RandomSampler(range(5)))
    assert found == [2, 0, 1, 3, 4]  # as Paddle with the same seed
    assert len(RandomSampler(range(5), num_samples=3)) == 3
    assert len(list(RandomSampler(range(2), replacement=True, num_samples=10))) == 10
    assert list(RandomSampler(range(5), num_samples=2, generator=iter([4, 3, 2]))) == [4, 3]


def test_weighted():
    np.random.seed(0)
    found = list(WeightedRandomSampler(np.array([0.1, 0.0, 0.9]), 1000))
    assert set(found) == {0, 2}
    assert 850 < found.count(2) < 950
    assert sorted(WeightedRandomSampler([1, 2, 3], 3, replacement=False)) == [0, 1, 2]
    assert len(WeightedRandomSampler([1.0], 4)) == 4


def test_subset():
    paddle.seed(0)
    found = list(SubsetRandomSampler([7, 5, 3, 1]))
    paddle.seed(0)
    assert found == [[7, 5, 3, 1][i] for i in paddle.randperm(4).tolist()]


def test_orders_are_drawn_in_static_mode():
    paddle.enable_static()
    try:
        assert sorted(SubsetRandomSampler([7, 5, 3])) == [3, 5, 7]
        assert [len(part) for part in random_split(range(5), [2, 3])] == [2, 3]
    finally:
        paddle.disable_static()


def test_length_of_a_subset():
    assert len(SubsetRandomSampler([7, 5])) == 2


def test_batches():
    assert list(BatchSampler(range(5), batch_size=2)) == [[0, 1], [2, 3], [4]]
    assert list(BatchSampler(range(5), batch_size=2, drop_last=True)) == [[0, 1], [2, 3]]
    assert [len(BatchSampler(range(5), batch_size=2, drop_last=drop)) for drop in (False, True)] == [3, 2]
    assert list(BatchSampler(sampler=[3, 1, 2], batch_size=2)) == [[3, 1], [2]]
    assert sorted(i for batch in BatchSampler(range(5), shuffle=True, batch_size=2) for i in batch) == [0, 1, 2, 3, 4]


def test_distributed_batches_are_paddles():
    def of(rank, **options):
        return list(DistributedBatchSampler(range(7), 2, num_replicas=2, rank=rank, **options))

    assert of(0) == [[0, 1], [4, 5]]
    assert of(1) == [[2, 3], [6, 0]]
    assert of(1, drop_last=True) == [[2, 3], [6, 0]]
    assert of(1, shuffle=True) == [[1, 0], [5, 4]]
    alone = DistributedBatchSampler(range(3), 2)
    assert (list(alone), len(alone)) == ([[0, 1], [2]], 2)


def test_distributed_shuffles_anew_each_epoch():
    sampler = DistributedBatchSampler(range(7), 2, num_replicas=2, rank=1, shuffle=True)
    first, second = list(sampler), list(sampler)
    assert (first, second) == ([[1, 0], [5, 4]], [[1, 6], [3, 5]])  # as Paddle
    sampler.set_epoch(0)
    assert list(sampler) == first


class Count(IterableDataset):
    def __iter__(self):
        return iter(())


BAD = {
    "replacement": (TypeError, lambda: RandomSampler(range(5), replacement=3)),
    "num_samples": (ValueError, lambda: RandomSampler(range(5), num_samples=0)),
    "too many": (ValueError, lambda: RandomSampler(range(5), num_samples=6)),
    "weights 2-D": (ValueError, lambda: WeightedRandomSampler([[1.0, 2.0]], 3)),
    "weights negative": (ValueError, lambda: WeightedRandomSampler([1.0, -2.0], 3)),
    "weights zero": (ValueError, lambda: WeightedRandomSampler([0.0, 0.0], 3)),
    "weights too few": (ValueError, lambda: WeightedRandomSampler([1.0, 0.0], 2, replacement=False)),
    "weighted number": (ValueError, lambda: WeightedRandomSampler([1.0], 0)),
    "weighted replacement": (TypeError, lambda: WeightedRandomSampler([1.0], 1, replacement=None)),
    "no subset": (ValueError, lambda: SubsetRandomSampler([])),
    "neither": (ValueError, lambda: BatchSampler()),
    "both": (ValueError, lambda: BatchSampler(range(5), sampler=[1])),
    "iterable": (TypeError, lambda: BatchSampler(Count())),
    "no sampler": (TypeError, lambda: BatchSampler(sampler=3)),
    "shuffled sampler": (ValueError, lambda: BatchSampler(sampler=[1], shuffle=True)),
    "shuffle": (TypeError, lambda: BatchSampler(range(5), shuffle=3)),
    "batch_size": (ValueError, lambda: BatchSampler(range(5), batch_size=0)),
    "batch_size type": (ValueError, lambda: BatchSampler(range(5), batch_size="a")),
    "drop_last": (TypeError, lambda: BatchSampler(range(5), drop_last=1)),
    "rank": (ValueError, lambda: DistributedBatchSampler(range(5), 1, num_replicas=2, rank=2)),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments(name):
    kind, make = BAD[name]
    with pytest.raises(kind, match="Sampler"):
        make()
