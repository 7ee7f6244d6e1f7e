"""DataLoader: batches in order, with and without workers; errors reach the loop."""

import multiprocessing
import os
import time
from multiprocessing import active_children

import numpy as np
import pytest

import vitrify as paddle
from tests.io.rows import Rows
from vitrify.io import BatchSampler, DataLoader, IterableDataset, TensorDataset, get_worker_info

WORKERS = [0, 1, 3]


class Count(IterableDataset):
    def __init__(self, size=5):
        self.size = size

    def __iter__(self):
        return iter(range(self.size))


def shared(found):
    """Everything that batches hold, Tensors as lists."""
    if isinstance(found, paddle.Tensor):
        return found.tolist()
    if isinstance(found, dict):
        return {key: shared(value) for key, value in found.items()}
    return [shared(value) for value in found] if isinstance(found, list) else found


def pair(index):
    return np.full(2, index, "float32"), index


@pytest.mark.parametrize("workers", WORKERS)
def test_batches_in_order(workers):
    loader = DataLoader(Rows(pair), batch_size=2, num_workers=workers)
    assert len(loader) == 3
    expected = [[[[0, 0], [1, 1]], [0, 1]], [[[2, 2], [3, 3]], [2, 3]], [[[4, 4]], [4]]]
    assert [shared(batch) for batch in loader] == expected
    assert [shared(batch) for batch in loader()] == expected  # a second epoch


def test_dtypes_of_fields():
    image, label = next(iter(DataLoader(Rows(pair), batch_size=2)))
    assert (image.dtype, label.dtype) == (paddle.float32, paddle.int64)
    assert image.stop_gradient


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda i: i, [0, 1]),
        (lambda i: i * 0.5, [0.0, 0.5]),
        (lambda i: i > 0, [False, True]),
        (lambda i: np.int32(i), [0, 1]),
        (lambda i: {"a": i, "b": [i]}, {"a": [0, 1], "b": [[0, 1]]}),
        (lambda i: ("x", i), [["x", "x"], [0, 1]]),
        (lambda i: b"x", [b"x", b"x"]),
        (lambda i: paddle.to_tensor([i]), [[0], [1]]),
        (lambda i: (i, (i, [i])), [[0, 1], [[0, 1], [[0, 1]]]]),
    ],
)
def test_samples_of_any_kind(make, expected):
    assert shared(next(iter(DataLoader(Rows(make), batch_size=2)))) == expected


def test_numpy_float64_stays_float64():
    assert next(iter(DataLoader(Rows(lambda i: 0.5)))).dtype is paddle.float64


def test_without_batches():
    loader = DataLoader(Rows(pair), batch_size=None)
    assert len(loader) == 5
    assert [shared(sample) for sample in loader] == [[[i, i], i] for i in range(5)]


def test_drop_last_and_shuffle():
    np.random.seed(0)
    found = [shared(batch) for batch in DataLoader(Rows(lambda i: i), batch_size=2, shuffle=True, drop_last=True)]
    np.random.seed(0)
    assert [i for batch in found for i in batch] == np.random.permutation(5)[:4].tolist()


def test_own_collate_function_and_sampler():
    sampler = BatchSampler(Rows(pair), batch_size=3)
    loader = DataLoader(Rows(pair), batch_sampler=sampler, collate_fn=lambda samples: (len(samples), samples[0][0]))
    assert loader.batch_size == 3
    assert [shared(batch) for batch in loader] == [[3, [0.0, 0.0]], [2, [3.0, 3.0]]]


def test_own_collate_function_without_batches():
    assert shared(list(DataLoader(Rows(lambda i: i, 2), batch_size=None, collate_fn=lambda i: -i))) == [0, -1]


def test_arrays_of_a_dataset_are_copied():
    array = np.zeros(2)
    (sample,) = DataLoader(Rows(lambda i: array, 1), batch_size=None)
    array[:] = 1
    assert sample.tolist() == [0, 0]


def test_places():
    (batch,) = DataLoader(Rows(pair, 1), places=paddle.CPUPlace())
    assert batch[0].place == paddle.CPUPlace()


def test_tensor_dataset():
    loader = DataLoader(TensorDataset([paddle.arange(4), paddle.ones([4, 2])]), batch_size=4)
    assert shared(list(loader)) == [[[0, 1, 2, 3], [[1, 1]] * 4]]


# -- iterable datasets ------------------------------------------------------------------------------------------------


def test_iterable_dataset():
    assert shared(list(DataLoader(Count(), batch_size=2))) == [[0, 1], [2, 3], [4]]
    assert shared(list(DataLoader(Count(), batch_size=2, drop_last=True))) == [[0, 1], [2, 3]]
    assert shared(list(DataLoader(Count(), batch_size=None))) == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="no length"):
        len(DataLoader(Count()))


def test_each_worker_iterates_over_an_iterable_dataset():
    found = shared(list(DataLoader(Count(3), batch_size=2, num_workers=2)))
    assert found == [[0, 1], [0, 1], [2], [2]]


def test_workers_take_their_share():
    class Shared(IterableDataset):
        def __iter__(self):
            info = get_worker_info()
            return iter(range(info.id, 7, info.num_workers))

    found = shared(list(DataLoader(Shared(), batch_size=2, num_workers=3)))
    assert sorted(i for batch in found for i in batch) == list(range(7))


# -- workers ----------------------------------------------------------------------------------------------------------


def test_worker_info():
    def told(index):
        info = get_worker_info()
        return info.id, info.num_workers, len(info.dataset), info.seed

    np.random.seed(0)
    found = [[field.item() for field in batch] for batch in DataLoader(Rows(told, 4), num_workers=2)]
    assert [batch[:3] for batch in found] == [[0, 2, 4], [1, 2, 4], [0, 2, 4], [1, 2, 4]]
    assert found[1][3] == found[0][3] + 1
    assert get_worker_info() is None


def test_workers_are_processes_and_the_init_function_runs_once_in_each():
    ready = []
    loader = DataLoader(Rows(lambda i: (os.getpid(), *ready), 6), num_workers=2, worker_init_fn=ready.append)
    found = [[field.item() for field in batch] for batch in loader]
    assert [batch[1:] for batch in found] == [[0], [1]] * 3
    assert len({pid for pid, _ in found} - {os.getpid()}) == 2
    assert ready == [] and not active_children()


def fails_at(index, at):
    if index == at:
        raise KeyError("sample is missing")
    return index


@pytest.mark.parametrize("workers", WORKERS)
def test_what_a_dataset_raises_reaches_the_loop(workers):
    loader = iter(DataLoader(Rows(lambda i: fails_at(i, 3)), num_workers=workers))
    assert [shared(next(loader)) for _ in range(3)] == [[0], [1], [2]]
    with pytest.raises(KeyError, match="sample is missing") as caught:
        next(loader)
    if workers:
        assert "raised in DataLoader worker" in caught.value.__notes__[0]
    assert not active_children()


def test_leaving_the_loop_ends_the_workers():
    loader = iter(DataLoader(Rows(lambda i: i, 1000), num_workers=2, prefetch_factor=2))
    assert shared(next(loader)) == [0]
    assert len(active_children()) == 2
    loader.close()
    assert not active_children()


def test_workers_run_ahead_at_the_same_time():
    meeting = multiprocessing.get_context("fork").Barrier(2)  # passed only by two at once
    loader = DataLoader(Rows(lambda i: meeting.wait(20) * 0, 8), num_workers=2)
    assert shared(list(loader)) == [[0]] * 8


def test_timeout():
    loader = iter(DataLoader(Rows(lambda i: time.sleep(30)), num_workers=1, timeout=0.05))
    with pytest.raises(RuntimeError, match=r"no batch within its timeout of 0\.05 seconds"):
        next(loader)


def test_a_timeout_that_the_dataset_raises_is_its_own():
    def late(index):
        raise TimeoutError("no such host")

    with pytest.raises(TimeoutError, match="no such host"):
        list(DataLoader(Rows(late), num_workers=1, timeout=5))


def test_workers_run_in_the_modes_of_the_loop():
    with paddle.no_grad():
        assert shared(list(DataLoader(Rows(lambda i: paddle.is_grad_enabled(), 1), num_workers=1))) == [[False]]


# -- errors -----------------------------------------------------------------------------------------------------------

BAD = {
    "shuffled iterable": (ValueError, lambda: DataLoader(Count(), shuffle=True)),
    "sampled iterable": (ValueError, lambda: DataLoader(Count(), batch_sampler=[[0]])),
    "iterable in batches of none": (ValueError, lambda: DataLoader(Count(), batch_size=0)),
    "batches of none": (ValueError, lambda: DataLoader(Rows(pair), batch_size=0)),
    "workers": (ValueError, lambda: DataLoader(Rows(pair), num_workers=-1)),
    "nothing ahead": (ValueError, lambda: DataLoader(Rows(pair), num_workers=1, prefetch_factor=0)),
    "timeout": (ValueError, lambda: DataLoader(Rows(pair), timeout=-1)),
    "two batch sizes": (ValueError, lambda: DataLoader(Rows(pair), batch_sampler=[[0]], batch_size=2)),
    "objects": (TypeError, lambda: list(DataLoader(Rows(lambda i: object())))),
    "shapes": (ValueError, lambda: list(DataLoader(Rows(lambda i: np.ones(i)), batch_size=2))),
    "fields": (ValueError, lambda: list(DataLoader(Rows(lambda i: [0] * i), batch_size=3))),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments(name):
    kind, make = BAD[name]
    with pytest.raises(kind, match=r"DataLoader|BatchSampler"):
        make()
