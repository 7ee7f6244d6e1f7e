"""itertools given numbers and flags that only a run knows: how many items there are is known to the run alone."""

from collections import deque
from itertools import compress, islice, repeat

import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare
from vitrify.core.errors import UnsupportedError

CALLS = ([3.0, -1.0, 2.0, 5.0],), ([1.0, 4.0, 1.0, -1.0],), ([-1.0, -1.0, -1.0, -1.0],), ([-4.0, 1.0, 2.0, 3.0],)


def first_items(x):
    return list(islice(x, int(x[0])))


def between(x):
    n = abs(int(x[0]))
    total = 0
    for v in islice(x, 1, n):
        total = total + v
    return total, list(islice(range(10), n, 8, 2)), list(enumerate(islice(x, n, None))), list(islice("abcd", n))


def flagged(x):
    return list(compress(x, x > 0)), list(compress(range(9), [v > 1 for v in x])), sum(compress([1, 2, 3, 4], x < 2))


def repeated(x):
    for _ in repeat(None, int(x[0])):
        x = x * 2
    return x, list(repeat(3, int(x[1])))


@pytest.mark.parametrize("function", [first_items, between, flagged, repeated], ids=lambda f: f.__name__)
def test_as_in_eager_code(function):
    compare(function, *CALLS)


def test_a_deque_as_long_as_a_tensor_says_runs_as_python():
    def latest(v, n):
        kept = deque(maxlen=int(n))
        for t in v:
            kept.append(int(t))
        return list(kept)

    v, n = paddle.to_tensor([1, 2, 3]), paddle.to_tensor(2)
    with pytest.raises(UnsupportedError, match="needs the value of a tensor"):
        paddle.jit.to_static(latest, full_graph=True)(v, n)
    assert paddle.jit.to_static(latest)(v, n) == [2, 3]
