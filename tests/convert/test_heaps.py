"""`heapq` and `bisect` where a tensor decides how items compare, or how many there are."""

import bisect
import heapq

import pytest

from tests.end_to_end.differential import compare

CALLS = ([3.0, -1.0, 2.0, 5.0],), ([-2.0, 4.0, 1.0, -1.0],), ([-1.0, -1.0, -1.0, -1.0],)


def with_places(x):
    heap = []
    for i, v in enumerate(x):
        heapq.heappush(heap, (v, i))
    return [heapq.heappop(heap)[1] for _ in range(len(x))]


def the_largest_so_far(x):
    heap = []
    for v in x:
        heapq.heappush(heap, v)
        if len(heap) > 2:
            heapq.heappop(heap)
    return heap


def exchanged_at_the_top(x):
    heap = list(x)
    heapq.heapify(heap)
    return heapq.heapreplace(heap, x.mean()), heapq.heappushpop(heap, x.sum()), heap


def of_those_that_count(x):
    heap, found = [], []
    for v in x:
        if v > 0:
            heapq.heappush(heap, v)
    while heap:
        found.append(heapq.heappop(heap))
    return found


def shortest_ways(x):
    lengths = {0: [(1, 0), (2, 2)], 1: [(2, 1)], 2: [(3, 3)], 3: []}
    found = [float("inf")] * 4
    found[0] = 0.0
    heap = [(0.0, 0)]
    while heap:
        so_far, place = heapq.heappop(heap)
        if so_far > found[place]:
            continue
        for there in lengths:
            for known, number in lengths[there]:
                if place == there:
                    length = so_far + abs(x[number].item())
                    if length < found[known]:
                        found[known] = length
                        heapq.heappush(heap, (length, known))
    return found


def nothing_left(x):
    heap = []
    if x.sum() > 0:
        heap.append(x[0])
    return heapq.heappop(heap)


def best_of_all(x):
    return heapq.nlargest(2, x), heapq.nsmallest(3, list(x), key=lambda v: -v), heapq.nsmallest(-1, list(x))


def kept_sorted(x):
    values = []
    for v in x:
        bisect.insort(values, v)
    return values, bisect.bisect_left(values, x[0]), bisect.bisect(values, x.mean(), 1, 3)


def by_key(x):
    values = sorted(x, key=lambda v: -v)
    bisect.insort_left(values, x.mean(), key=lambda v: -v)
    return values, bisect.bisect_left(values, -1.0, key=lambda v: -v)


def graded(x):
    return ["low", "middle", "high"][bisect.bisect([0.0, 2.5], x[0])]


def of_numbers(x):
    heap = [3, 1, 2]
    heapq.heapify(heap)
    heapq.heappush(heap, 0)
    return x * heapq.heappop(heap) + heap[0] + bisect.bisect_left([1, 2, 3], 2)


CASES = [
    with_places, the_largest_so_far, exchanged_at_the_top, of_those_that_count, shortest_ways, nothing_left,
    best_of_all, kept_sorted, by_key, graded, of_numbers,
]  # fmt: skip


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_as_in_eager_code(function):
    compare(function, *CALLS)
