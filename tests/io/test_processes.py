"""Worker processes: seeds, shared memory, errors and deaths, epochs, and that nothing is left behind."""

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import textwrap
from multiprocessing import active_children

import numpy as np
import pytest

import vitrify as paddle
from tests.io.rows import Rows
from vitrify.core.timeline import READER
from vitrify.io import DataLoader, Dataset, IterableDataset, get_worker_info


def lists(batches):
    return [batch.tolist() for batch in batches]


# -- random numbers ---------------------------------------------------------------------------------------------------

DRAWS = {
    "numpy": (np.random.seed, lambda i: np.random.randint(2**31)),
    "python": (random.seed, lambda i: random.randrange(2**31)),
    "tensor": (paddle.seed, lambda i: paddle.randint(0, 2**31, [1]).item()),
}


@pytest.mark.parametrize("source", DRAWS)
def test_seeding_a_generator_seeds_it_in_the_workers(source):
    seed, draw = DRAWS[source]
    loader = DataLoader(Rows(draw, 6), num_workers=2)
    seed(5)
    first, second = lists(loader), lists(loader)
    seed(5)
    assert lists(loader) == first
    assert len({x for (x,) in first + second}) == 12  # neither workers nor epochs draw the same


# -- what batches are made of -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [True, False])
def test_large_batches(share):
    def make(index):
        image = np.arange(30000.0).reshape(100, 300) + index
        return {"image": image, "part": image[:, ::7], "empty": np.zeros((0, 3), "int8"), "name": "x", "n": [index]}

    plain = list(DataLoader(Rows(make, 4), batch_size=2))
    sent = list(DataLoader(Rows(make, 4), batch_size=2, num_workers=2, use_shared_memory=share))
    for expected, batch in zip(plain, sent, strict=True):
        assert batch["name"] == ["x", "x"]
        for key in ("image", "part", "empty"):
            assert batch[key].dtype == expected[key].dtype
            np.testing.assert_array_equal(batch[key].numpy(), expected[key].numpy())


def test_batches_outlive_their_workers_and_are_writable():
    batches = list(DataLoader(Rows(lambda i: np.full(5000, i, "float64"), 4), num_workers=1))
    batches[1][:] = 7
    del batches[0]
    assert [b.sum().item() for b in batches] == [35000, 10000, 15000]


def test_tensors_of_every_kind_come_back():
    def make(index):
        return paddle.full([3000], index, "bfloat16"), paddle.to_tensor(1 + 2j), paddle.to_tensor([True])

    half, number, flag = next(iter(DataLoader(Rows(make, 4), batch_size=None, num_workers=1)))
    assert (half.dtype, number.dtype, flag.dtype) == (paddle.bfloat16, paddle.complex64, paddle.bool)
    assert number.item() == 1 + 2j


def test_a_batch_that_cannot_be_sent_says_so():
    loader = DataLoader(Rows(lambda i: i), num_workers=1, collate_fn=lambda samples: lambda: samples)
    with pytest.raises((AttributeError, TypeError, Exception), match="pickle"):
        list(loader)
    assert not active_children()


# -- errors -----------------------------------------------------------------------------------------------------------


class OwnError(ValueError):
    """Made of two arguments, but pickled with one."""

    def __init__(self, what, where):
        super().__init__(f"{what} at {where}")
        self.where = where


def raises(error):
    def make(index):
        raise error

    return make


def test_an_error_keeps_its_class_and_brings_its_traceback():
    with pytest.raises(OwnError, match="broken at 3") as caught:
        list(DataLoader(Rows(raises(OwnError("broken", 3))), num_workers=1))
    assert caught.value.where == 3
    (note,) = caught.value.__notes__
    assert note.startswith("raised in DataLoader worker 0:\n")
    assert "test_processes.py" in note and "raise error" in note


def test_an_error_of_a_local_class_comes_as_its_base():
    class LocalError(KeyError):
        pass

    with pytest.raises(KeyError, match="gone"):
        list(DataLoader(Rows(raises(LocalError("gone", lambda: 0))), num_workers=1))


def test_an_error_of_the_init_function():
    with pytest.raises(OwnError, match="init"):
        list(DataLoader(Rows(int), num_workers=2, worker_init_fn=lambda i: raises(OwnError("init", i))(i)))
    assert not active_children()


def test_an_error_of_the_sampler_ends_the_workers():
    def sampler():
        yield [0]
        raise OwnError("sampler", 1)

    with pytest.raises(OwnError):
        list(DataLoader(Rows(int), batch_sampler=sampler(), num_workers=2))
    assert not active_children()


DEATHS = {
    "killed": (
        lambda i: os.kill(os.getpid(), signal.SIGKILL),
        r"worker 0 \(process \d+\) was killed by signal SIGKILL",
    ),
    "exit": (lambda i: sys.exit(3), "ended with exit code 3"),
}


@pytest.mark.parametrize("how", DEATHS)
def test_a_worker_that_dies_is_named(how):
    make, message = DEATHS[how]
    with pytest.raises(RuntimeError, match=message):
        list(DataLoader(Rows(make, 4), num_workers=1))
    assert not active_children()


# -- epochs -----------------------------------------------------------------------------------------------------------


class Shard(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        return iter(range(info.id, 7, info.num_workers))


def test_persistent_workers_stay():
    loader = DataLoader(Rows(lambda i: os.getpid()), num_workers=2, persistent_workers=True)
    first = lists(loader)
    assert lists(loader) == first and len(active_children()) == 2
    del loader
    assert not active_children()


def test_persistent_workers_begin_anew_after_a_loop_left_early():
    loader = DataLoader(Rows(lambda i: i, 9), num_workers=2, persistent_workers=True)
    for batch in loader:
        if batch.item() == 1:
            break
    assert lists(loader) == [[i] for i in range(9)]
    inside = [(a.item(), b.item()) for a in loader for b in loader]  # the inner loop gets workers of its own
    assert inside == [(a, b) for a in range(9) for b in range(9)]


def test_persistent_workers_of_an_iterable_dataset():
    loader = DataLoader(Shard(), batch_size=2, num_workers=2, persistent_workers=True)
    assert lists(loader) == lists(loader) == [[0, 2], [1, 3], [4, 6], [5]]


def test_persistent_workers_are_made_anew_after_an_error():
    loader = DataLoader(Rows(lambda i: 1 // (i - 2)), num_workers=2, persistent_workers=True)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            list(loader)
        assert not active_children()


# -- ways to start and to end -----------------------------------------------------------------------------------------


def run(code, **options):
    source = textwrap.dedent(code)
    return subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=60, **options)


class Square(Dataset):
    """Importable, so that a spawned process finds it."""

    def __getitem__(self, index):
        return np.full(4000, index**2)

    def __len__(self):
        return 3


@pytest.mark.slow
def test_spawned_workers(monkeypatch):
    monkeypatch.setattr(multiprocessing, "get_start_method", lambda allow_none=False: "spawn")
    assert [batch[0, 0].item() for batch in DataLoader(Square(), num_workers=1)] == [0, 1, 4]
    assert not active_children()


@pytest.mark.slow
def test_ctrl_c_ends_the_workers_and_the_loop():
    found = run("""
        import os, signal, sys, time
        from multiprocessing import active_children
        from vitrify.io import DataLoader, Dataset
        signal.signal(signal.SIGINT, signal.default_int_handler)
        class Slow(Dataset):
            def __getitem__(self, i):
                if i == 6:
                    os.killpg(0, signal.SIGINT)  # what a terminal does
                    time.sleep(30)
                return i
            def __len__(self):
                return 9
        try:
            for batch in DataLoader(Slow(), num_workers=2, prefetch_factor=1):
                sys.stdout.write(f"{batch.item()}\\n")  # at once: `print` can be interrupted before the line ends
        except KeyboardInterrupt:
            print("interrupted", active_children())
    """, start_new_session=True)  # fmt: skip
    assert found.stderr == ""
    assert found.stdout.startswith("0\n1\n2\n") and found.stdout.endswith("\ninterrupted []\n")


def test_ctrl_c_between_two_batches_ends_the_workers():
    def interrupt(seconds):
        raise KeyboardInterrupt

    batches = iter(DataLoader(Rows(lambda i: i, 9), num_workers=2))
    next(batches)
    with READER.scope(interrupt), pytest.raises(KeyboardInterrupt) as caught:
        next(batches)
    assert caught.tb is not None and not active_children()  # before the traceback lets go of its frames


@pytest.mark.slow
def test_workers_end_with_a_program_that_is_killed():
    found = run("""
        import os, signal
        from vitrify.io import DataLoader, Dataset
        class Numbers(Dataset):
            def __getitem__(self, i):
                return i
            def __len__(self):
                return 100
        loader = iter(DataLoader(Numbers(), num_workers=2))
        print(next(loader).item(), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """)
    # `run` returns when nobody holds the output's pipe any more: neither the program nor its workers.
    assert (found.returncode, found.stdout) == (-signal.SIGKILL, "0\n")


@pytest.mark.slow
def test_a_loop_that_never_ends_with_the_program():
    found = run("""
        from vitrify.io import DataLoader, Dataset
        class Numbers(Dataset):
            def __getitem__(self, i):
                return i
            def __len__(self):
                return 100
        loader = DataLoader(Numbers(), num_workers=2, persistent_workers=True)
        running = iter(loader)
        next(running)
    """)
    assert (found.returncode, found.stderr) == (0, "")
