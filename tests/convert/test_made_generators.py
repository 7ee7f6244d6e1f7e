"""Generators of random numbers that a function makes from a seed: each run draws what eager code draws."""

import random
import threading

import numpy as np
import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare
from vitrify.core.errors import UnsupportedError

ROWS = [([1.0, 2.0],), ([-1.0, -2.0],), ([5.0, 6.0],)]


def of_numpy(x):
    generator = np.random.default_rng(0)
    if x.sum() > 0:
        x = x + float(generator.random())
    noise = paddle.to_tensor(generator.normal(size=2).astype("float32"))
    return x + noise, generator.integers(0, 10), x[paddle.to_tensor(generator.permutation(2))]


def of_numpy_as_it_was(x):
    state = np.random.RandomState(seed=3)
    items = [1, 2, 3, 4]
    state.shuffle(items)
    return x + paddle.to_tensor(state.rand(2).astype("float32")), items, state.randint(0, 100)


def of_python(x):
    generator = random.Random(5)
    while x.sum() < 10:
        x = x + generator.random() + 0.5
    return x, generator.randint(0, 5), generator.choice([1, 2, 3]), generator.sample([1, 2, 3], 2)


def from_a_seed_of_the_run(x):
    generator = random.Random(int(x.abs().sum()))
    first = generator.random()
    generator.seed(1)
    return x * first, generator.random()


def by_the_path(x):
    generator = random.Random(1) if x.sum() > 0 else random.Random(2)
    return x * generator.random()


def of_several(x):
    def noise(seed):
        return np.random.default_rng(seed).normal(size=(2,)).astype("float32")

    return x + paddle.to_tensor(noise(1)) * paddle.to_tensor(noise(2)), noise(1)


class Dropping:
    def __init__(self, seed):
        self.generator = random.Random(seed)

    def __call__(self, x):
        return x * 0 if self.generator.random() < 0.5 else x


def held_by_an_object(x):
    drop = Dropping(4)
    return drop(x) + drop(x * 2) + drop(x * 4)


def shuffles_an_array(x):
    generator = np.random.default_rng(2)
    values = np.tile(x.numpy()[:, None], (2, 3))
    generator.shuffle(values)
    return paddle.to_tensor(values)


@pytest.mark.parametrize(
    "function",
    [
        of_numpy, of_numpy_as_it_was, of_python, from_a_seed_of_the_run, by_the_path, of_several, held_by_an_object,
        shuffles_an_array,
    ],
)  # fmt: skip
def test_draws_are_those_of_eager_code(function):
    compare(function, *ROWS)


def test_runs_in_threads_draw_from_their_own():
    def function(x):
        generator = random.Random(5)
        for _ in range(20):
            x = x + generator.random()
        return x

    static = paddle.jit.to_static(function, full_graph=True)
    expected = function(paddle.zeros([1])).item()
    assert static(paddle.zeros([1])).item() == pytest.approx(expected)
    found = []
    threads = [
        threading.Thread(target=lambda: found.extend(static(paddle.zeros([1])).item() for _ in range(30)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == pytest.approx([expected] * 120)


def test_one_that_leaves_or_is_made_again_and_again_is_refused():
    def given_back(x):
        return random.Random(1)

    def in_turns(x):
        while x.sum() < 10:
            x = x + random.Random(1).random() + 1
        return x

    with pytest.raises(UnsupportedError, match="made inside is given back or kept"):
        paddle.jit.to_static(given_back, full_graph=True)(paddle.ones([1]))
    with pytest.raises(UnsupportedError, match="made in a loop or recursion that a tensor stops"):
        paddle.jit.to_static(in_turns, full_graph=True)(paddle.ones([1]))
