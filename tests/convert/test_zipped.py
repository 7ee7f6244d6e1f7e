"""Python's own sequences, gone through beside a list whose length a tensor says."""

import pytest

from tests.end_to_end.differential import compare


def kept(x):
    return [v for v in x if v > -1]


def with_a_range(x):
    total = x.sum()
    for v, i in zip(kept(x), range(2)):
        total = total + v * i
    return total


def behind_a_range(x):
    total = x.sum()
    for i, v in zip(range(5, 0, -2), kept(x)):
        total = total + v * i
    return total


def with_a_list_of_tensors(x):
    return sum([p * q for p, q in zip(kept(x), [x[0], x[1] * 3])], x.sum())


def mapped_with_a_tuple(x):
    return sum(list(map(lambda p, q: p * q, kept(x), (1.0, 2.0, 3.0))), x.sum())


def left_early(x):
    total = x.sum()
    for v, n in zip(kept(x), [1, 2, 3]):
        if v > 2:
            break
        total = total + v * n
    return total


@pytest.mark.parametrize(
    "function",
    [with_a_range, behind_a_range, with_a_list_of_tensors, mapped_with_a_tuple, left_early],
    ids=lambda f: f.__name__,
)
def test_zipped(function):
    compare(function, ([1.0, -2.0, 3.0],), ([-5.0, -4.0, -3.0],), ([1.0, 2.0, 3.0],))
