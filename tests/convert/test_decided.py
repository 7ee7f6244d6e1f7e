"""Searches that start from infinity: what is found in whole numbers stays whole, as in eager code."""

import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare
from vitrify.core.errors import ArgumentError

VALUES = [3, 1, 2], [4, 0, 7, 5, 9, 0], [2, 2, 2], [5, 1]


def smallest(v):
    best = float("inf")
    for a in v:
        if a < best:
            best = a
    return best


def smallest_by_min(v):
    best = float("inf")
    for a in v:
        best = min(best, a)
    return best


def largest_with_place(v):
    best, place = -float("inf"), None
    for n in range(v.shape[0]):
        if v[n] > best:
            best, place = v[n], n
    return best, place


def smallest_of_some(v):
    best = float("inf")
    for a in v:
        if a > 1 and a < best:
            best = a
    return best * 2


def found_or_not(v):
    best = float("inf")
    for a in v:
        if a > 4:
            best = min(best, a)
    return best + 1 if best < float("inf") else -1


def known_before_the_loop(v):
    low = float("inf")
    while low > 3:
        low = v.max() if low == float("inf") else low - 1
    return low


def compared_as_a_tensor(v):
    return (v < float("inf")).all(), (v != float("nan")), v >= float("inf")


def compared_then_changed(v):
    flag = v.max() < float("inf")
    flag.logical_not_()
    return v if flag else v + 1


SEARCHES = [
    smallest, smallest_by_min, largest_with_place, smallest_of_some, found_or_not, known_before_the_loop,
    compared_as_a_tensor, compared_then_changed,
]  # fmt: skip


@pytest.mark.parametrize("search", SEARCHES, ids=lambda f: f.__name__)
def test_searches(search):
    compare(search, *[(values,) for values in VALUES])


def several_at_once(v):
    if v < float("inf"):
        return v
    return -v


@pytest.mark.parametrize("full_graph", [True, False])
def test_several_numbers_at_once_have_no_truth(full_graph):
    for run in (several_at_once, paddle.jit.to_static(several_at_once, full_graph=full_graph)):
        with pytest.raises(ArgumentError, match="element"):
            run(paddle.to_tensor([3, 1, 2]))
        assert run(paddle.to_tensor([3])).tolist() == [3]
