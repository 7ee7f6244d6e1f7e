"""Arrays of NumPy's that a function makes and fills with what only a run knows, on a path or in a loop."""

import random

import numpy as np
import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare
from vitrify.core.errors import UnsupportedError

ROWS = [([1.0, 2.0, 3.0], 3), ([-1.0, -2.0, 0.5], 0), ([0.5, -0.25, 4.0], 4)]
CALLS = [(x, np.array(n)) for x, n in ROWS]


def an_item(x, n):
    found = np.zeros(3)
    found[0] = x[0].item()
    return found


def items_by_path(x, n):
    found = np.zeros(3)
    for i in range(3):
        if x[i] > 0:
            found[i] = x[i].item()
    return found, found.sum()


def filled_in_a_loop(x, n):
    buffer = np.zeros(5, dtype="float32")
    for i in range(n):
        buffer[i] = float(x.sum()) + i
    return buffer.sum(), paddle.to_tensor(buffer)


def read_in_a_loop(x, n):
    best = np.full(2, -1e9)
    for i in range(n):
        value = float((x * i).sum())
        if value > best[0]:
            best[1] = best[0]
            best[0] = value
        elif value > best[1]:
            best[1] = value
    return best


def counted_until(x, n):
    found = np.zeros(3, dtype="int32")
    for i in range(n):
        if i % 2 == 0:
            continue
        found[int(i) % 3] += 1
        if found[1] > 1:
            break
    else:
        found[2] = 9
    return found


def two_paths(x, n):
    found = np.ones((2, 3))
    if x.sum() > 0:
        found *= 2
    else:
        found[0] = 5
    return found, x * float(found.sum())


def another_name(x, n):
    found = np.ones(3)
    other = found
    if x.sum() > 0:
        found += x.numpy()
    return other, found is other


def of_a_tensor_and_its_copy(x, n):
    found = x.numpy()
    copied = found.copy()
    if x.sum() > 0:
        found[0] = 5
        copied[1] = 7
    return found, copied, x


def in_an_object(x, n):
    class Ring:
        def __init__(self):
            self.held = np.zeros(3)
            self.given = 0

        def add(self, value):
            self.held[self.given % 3] = float(value)
            self.given += 1

    ring = Ring()
    for i in range(n):
        ring.add(x.sum() * i)
    return ring.held, ring.given


def in_containers(x, n):
    found = np.zeros(3)
    by_name, listed = {"a": found}, [found]
    if x.sum() > 0:
        by_name["a"][1] = 2
    return listed, by_name, found


def changed_by_a_function(x, n):
    def put(array, values):
        if values.sum() > 0:
            array[0] = values[0].item()
        return array

    first = np.zeros(2)
    return put(first, x), put(np.ones(2), x), first


def before_and_behind_a_raise(x, n):
    found = np.zeros(3)
    try:
        if x.sum() > 0:
            raise ValueError
        found[0] = 1
    except ValueError:
        found[1] = 2
    return found


def shuffled(x, n):
    np.random.seed(3)
    random.seed(2)
    found, other = np.arange(6), np.arange(5)
    np.random.shuffle(found)
    random.shuffle(other)
    return x * float(found[0]), found, other


@pytest.mark.parametrize(
    "function",
    [
        an_item,
        items_by_path,
        filled_in_a_loop,
        read_in_a_loop,
        counted_until,
        two_paths,
        another_name,
        of_a_tensor_and_its_copy,
        in_an_object,
        in_containers,
        changed_by_a_function,
        before_and_behind_a_raise,
        shuffled,
    ],
    ids=lambda f: f.__name__,
)
def test_as_in_eager_code(function):
    compare(function, *CALLS)


def test_a_view_that_a_path_writes_to_is_refused():
    def through_a_view(x):
        found = np.zeros(3)
        rest = found[1:]
        if x.sum() > 0:
            rest[0] = 3.0
        return found

    with pytest.raises(UnsupportedError, match="an item of ndarray changes an object"):
        paddle.jit.to_static(through_a_view, full_graph=True)(paddle.ones([2]))


def test_an_array_from_before_is_refused():
    held = np.zeros(3)

    def written(x):
        if x.sum() > 0:
            held[0] = x[0].item()
        return x

    with pytest.raises(UnsupportedError, match="an item of ndarray changes an object"):
        paddle.jit.to_static(written, full_graph=True)(paddle.ones([2]))
    assert held[0] == 0
