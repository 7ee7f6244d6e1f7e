"""`Counter.most_common` and `elements` where a tensor decides which keys are there, or gives the counts."""

from collections import Counter

import pytest

from tests.end_to_end.differential import compare

ROWS = [([0.1, 0.7, -0.2],), ([-1.0, -2.0, -3.0],), ([2.0, 3.0, 4.0],)]


def counted_by_sign(x):
    counts = Counter()
    for v in x:
        counts["p" if v > 0 else "n"] += 1
    return [counts.most_common(n) for n in (None, 1, 0, -1, 9)]


def counted_at_once(x):
    return Counter("p" if v > 0 else "n" for v in x).most_common()[0][0]


def sums_of_tensors(x):
    sums = Counter()
    for key, v in zip("abc", x):
        sums[key] += v
    return sums.most_common(2), [key for key, _ in sums.most_common()]


def changed_on_one_path(x):
    counts = Counter(["b", "a"])
    if x.sum() > 0:
        counts["a"] += 1
    if x[0] > 0:
        counts["z"] += 2
    ((key, n),) = counts.most_common(1)
    return key, n, list(counts.elements()), next(counts.elements())


def in_a_loop(x):
    counts = Counter()
    while x.sum() < 8:
        counts["a" if x[0] > 1 else "b"] += 1
        x = x.abs() + 0.5
    return counts.most_common(), x


@pytest.mark.parametrize(
    "function", [counted_by_sign, counted_at_once, sums_of_tensors, changed_on_one_path, in_a_loop]
)
def test_most_common(function):
    compare(function, *ROWS)
